"""The timeline shows the numbers that were worked out by hand, at any moment and in any order of asking."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from itertools import pairwise
from types import FrameType

import pytest

from gradviz.model import CallDetail, Event, Graph, Place
from gradviz.playback import Frame, Timeline, story
from tests import recordings as made


def timeline(recording: made.Recording, order: str = "engine") -> Timeline:
    return Timeline(recording, story(recording), order)


def shown(frame: Frame, node: int) -> float | None:
    arrival = frame.node(node).gradient()
    return None if arrival is None or arrival.value is None else arrival.value.item()


def grads(frame: Frame) -> dict[str, float | None]:
    states = [frame.leaf(1), *frame.retained(0), *frame.retained(2)]
    return {state.name: None if state.total is None else state.total.item() for state in states if state is not None}


def test_two_calls_add_up_as_worked_out_by_hand() -> None:
    line = timeline(made.two_calls())
    assert [beat.label for beat in line.beats] == ["seed", "t2", "t1", "seed", "t3", "t2", "t1"]
    _, after_first = line.call_span(1)
    assert grads(line.state_at(0.0)) == {"t1": None, "t2": None, "t3": None}
    assert grads(line.state_at(after_first)) == {"t1": 4.0, "t2": 1.0, "t3": None}
    assert grads(line.state_at(line.length)) == {"t1": 24.0, "t2": 6.0, "t3": 1.0}


def test_the_parts_of_a_sum_belong_to_their_calls() -> None:
    line = timeline(made.two_calls())
    leaf = line.state_at(line.length).leaf(1)
    assert leaf is not None
    assert [(part.calls, part.value.item()) for part in leaf.parts if part.value] == [((1,), 4.0), ((2,), 20.0)]
    assert leaf.before is not None and leaf.before.item() == 4.0


def test_each_beat_shows_what_arrived_and_what_is_on_its_way() -> None:
    line = timeline(made.two_calls())
    first, end = line.call_span(2)
    assert (first, end) == (3, 7)
    frame = line.state_at(5.5)  # t2 runs in call 2
    assert frame.active == (0,)
    assert [pulse.value.item() for pulse in frame.pulses if pulse.value] == [20.0]
    assert 0.0 < frame.pulses[0].alpha < 1.0
    assert (shown(frame, 2), shown(frame, 0), shown(frame, 1)) == (1.0, 5.0, None)
    assert shown(line.state_at(5.95), 1) == 20.0
    assert [line.state_at(5.5).node(k).phase for k in (2, 0, 1)] == ["done", "active", "waiting"]


def test_a_new_call_starts_pale_and_keeps_grad() -> None:
    line = timeline(made.two_calls())
    frame = line.state_at(3.0)
    assert [frame.node(k).phase for k in (0, 1, 2)] == ["waiting"] * 3
    assert shown(frame, 1) is None
    assert grads(frame) == {"t1": 4.0, "t2": 1.0, "t3": None}


def test_a_node_outside_the_call_is_absent() -> None:
    frame = timeline(made.two_calls()).state_at(1.5)
    assert frame.node(2).phase == "absent"
    assert frame.edge(frame.timeline.stage.edge_index[2, 0, 0, 0]).phase == "absent"


def test_terms_of_a_fan_in_arrive_one_by_one_and_are_added() -> None:
    line = timeline(made.fan_in())
    after_b, after_a, at_y = line.state_at(2.95), line.state_at(3.95), line.state_at(4.5)
    first = after_b.node(3).gradient()
    assert first is not None and first.value is not None
    assert (first.value.item(), len(first.terms), first.expected) == (5.0, 1, 2)
    assert shown(after_a, 3) == 7.0  # 5 + 2, added by us, before the engine's own sum
    assert after_a.node(3).phase == "waiting"
    assert shown(at_y, 3) == 7.0
    assert line.state_at(2.5).node(3).gradient() is None


def test_wave_front_runs_together_what_is_ready_together() -> None:
    line = timeline(made.fan_in(), "wavefront")
    assert [beat.nodes for beat in line.beats if beat.kind == "execution"] == [(0,), (1, 2), (3,), (4,)]
    pulses = line.state_at(2.5).pulses
    assert sorted(pulse.value.item() for pulse in pulses if pulse.value) == [2.0, 5.0]
    final = line.state_at(line.length).leaf(4)
    assert final is not None and final.total is not None and final.total.item() == 21.0


def test_clearing_between_calls_is_a_beat_that_empties_grad() -> None:
    clear = Event("grad_cleared", 2, ("t1",), Place(made.SCRIPT, 12))
    line = timeline(made.two_calls([clear]))
    beat = next(beat for beat in line.beats if beat.kind == "cleared")
    assert beat.nodes == (1,)
    assert grads(line.state_at(beat.index - 0.1))["t1"] == 4.0
    middle = line.state_at(beat.index + 0.5).leaf(1)
    assert middle is not None and middle.change == "cleared" and 0.0 < middle.alpha < 1.0
    assert middle.before is not None and middle.before.item() == 4.0
    assert grads(line.state_at(beat.index + 1))["t1"] is None
    assert grads(line.state_at(line.length)) == {"t1": 20.0, "t2": 6.0, "t3": 1.0}
    assert [mark.kind for mark in line.marks] == ["call", "cleared", "call"]
    assert "line 12" in line.state_at(beat.index + 0.5).sentence


def test_clearing_what_is_empty_is_no_beat() -> None:
    line = timeline(made.two_calls([Event("grad_cleared", 1, ("t1", "t2"))]))
    assert all(beat.kind != "cleared" for beat in line.beats)


def test_an_unseen_clearing_does_not_leave_old_parts() -> None:
    recording = made.loop(2)
    detail = recording.detail(2)
    source = recording.source
    assert isinstance(source, made.MemorySource)
    two = made.tensor(2.0)
    source.details[2] = made.CallDetail(detail.executions, (made.accumulation("w", 0, None, two, two, 1),))
    line = timeline(recording)
    leaf = line.state_at(line.length).leaf(0)
    assert leaf is not None
    assert [part.calls for part in leaf.parts] == [(2,)]


def test_a_leaf_that_is_the_root() -> None:
    line = timeline(made.leaf_root())
    assert [beat.kind for beat in line.beats] == ["seed", "execution"]
    frame = line.state_at(line.length)
    leaf, arrival = frame.leaf(0), frame.node(0).gradient()
    assert leaf is not None and leaf.total is not None and leaf.total.nested() == [[2.0, 2.0], [2.0, 2.0]]
    assert arrival is not None and [term.edge for term in arrival.terms] == [None]
    assert frame.seeds[0].given


def test_a_call_that_fails_before_the_engine_shows_its_error_at_the_root() -> None:
    line = timeline(made.no_seed())
    assert [beat.kind for beat in line.beats] == ["error"]
    frame = line.state_at(line.length)
    assert frame.node(0).phase == "failed"
    assert frame.node(1).phase == "waiting"
    assert frame.sentence == "RuntimeError: grad can be implicitly created only for scalar outputs"
    assert frame.seeds[0].value is None and frame.seeds[0].failed
    assert [mark.kind for mark in line.marks] == ["call", "error"]


def test_a_seed_of_the_wrong_shape_does_not_enter() -> None:
    recording = made.no_seed()
    wrong = replace(recording.calls[0].roots[0], seed=made.tensor([[1.0, 1.0]]), seed_given=True)
    line = timeline(replace(recording, calls=(replace(recording.calls[0], roots=(wrong,)),)))
    assert [beat.kind for beat in line.beats] == ["error"]
    frame = line.state_at(1.0)
    assert frame.node(0).gradient() is None and frame.node(0).phase == "failed"
    assert frame.seeds[0].value is not None and frame.seeds[0].failed


def test_returned_values_are_shown_at_the_inputs() -> None:
    line = timeline(made.returned())
    assert [beat.kind for beat in line.beats] == ["seed", "execution", "returned"]
    before, after = line.state_at(1.95), line.state_at(2.5)
    assert shown(before, 1) == 6.0  # 3 + 3, two edges of one node
    assert [len(frame.node(1).gradient().terms) for frame in (before, after)] == [2, 2]  # type: ignore[union-attr]
    assert shown(after, 1) == 6.0
    assert line.state_at(line.length).node(1).captured
    assert line.state_at(line.length).leaf(1) is None


def test_a_loop_is_played_on_one_set_of_nodes() -> None:
    line = timeline(made.loop(4))
    assert len(line.stage.graph.nodes) == 2
    totals = []
    for number in range(1, 5):
        _, end = line.call_span(number)
        leaf = line.state_at(end - 0.01).leaf(0)
        assert leaf is not None and leaf.total is not None
        totals.append(leaf.total.item())
    assert totals == [1.0, 3.0, 6.0, 10.0]
    third = line.state_at(line.call_span(3)[0] + 1.5)
    y = next(node for node in line.stage.graph.nodes if node.name == "y").id
    assert third.recorded(y).value is not None and third.recorded(y).value.item() == 6.0  # type: ignore[union-attr]


def test_many_calls_are_added_into_one_part() -> None:
    line = timeline(made.loop(9))
    leaf = line.state_at(line.length).leaf(0)
    assert leaf is not None
    assert len(leaf.parts) <= 5
    assert sum(part.value.item() for part in leaf.parts if part.value) == 45.0  # type: ignore[misc]
    assert leaf.parts[0].calls[0] == 1 and leaf.parts[-1].calls == (9,)


def snapshot(frame: Frame) -> tuple[object, ...]:
    graph = frame.timeline.stage.graph
    nodes = tuple((frame.node(n.id), frame.leaf(n.id), frame.retained(n.id)) for n in graph.nodes)
    edges = tuple(frame.edge(i) for i in range(len(graph.edges)))
    return nodes, edges, frame.pulses, frame.sentence, frame.title, frame.seeds


@pytest.mark.parametrize("order", ["engine", "wavefront"])
@pytest.mark.parametrize("make", [made.two_calls, made.fan_in, made.returned, lambda: made.loop(5)])
def test_any_moment_is_the_same_whatever_was_looked_at_before(make: object, order: str) -> None:
    assert callable(make)
    line = timeline(make(), order)
    moments = [line.length * k / 60 for k in range(61)]
    forwards = {t: snapshot(line.state_at(t)) for t in moments}
    shuffled = moments[:]
    random.Random(7).shuffle(shuffled)
    fresh = timeline(make(), order)
    assert all(snapshot(fresh.state_at(t)) == forwards[t] for t in shuffled)


@pytest.mark.parametrize("make", [made.two_calls, made.fan_in, made.no_seed, made.returned, lambda: made.loop(5)])
def test_what_is_not_named_as_changed_has_not_changed(make: object) -> None:
    assert callable(make)
    recording = make()
    source = recording.source
    assert isinstance(source, made.MemorySource)
    for number, detail in source.details.items():  # every second call leaves nothing behind
        left = tuple(replace(a, left=None if number % 2 else a.left) for a in detail.accumulations)
        source.details[number] = replace(detail, accumulations=left)
    line = timeline(recording)
    graph = line.stage.graph
    moments = [line.length * k / 97 for k in range(98)]
    rng = random.Random(3)
    pairs = [*pairwise(moments), (line.length - 0.5, line.length), (line.length, line.length - 1e-7)]
    pairs += [(rng.choice(moments), rng.choice(moments)) for _ in range(200)]
    for a, b in pairs:
        old, new = line.state_at(a), line.state_at(b)
        changes = line.changes(old, new)
        if changes is None:
            continue
        for node in graph.nodes:
            if node.id not in changes.nodes:
                assert old.node(node.id) == new.node(node.id), (a, b, node.name)
                assert old.leaf(node.id) == new.leaf(node.id)
                assert old.retained(node.id) == new.retained(node.id)
        for index in range(len(graph.edges)):
            if index not in changes.edges:
                assert old.edge(index) == new.edge(index), (a, b, index)


def test_time_is_about_a_second_a_beat_and_fifteen_for_any_call() -> None:
    small, large = timeline(made.two_calls()), timeline(made.chain(17_000))
    assert 5.0 < small.seconds <= small.length
    assert 14.0 < large.seconds < 17.0
    for line in (small, large):
        for k in range(50):
            second = line.seconds * k / 49
            assert line.second_at(line.beat_at(second)) == pytest.approx(second, abs=1e-6)
        assert line.beat_at(line.seconds) == line.length
        moments = [line.beat_at(line.seconds * k / 200) for k in range(201)]
        assert moments == sorted(moments)


def test_a_moment_costs_what_changed_and_not_the_whole_graph() -> None:
    """A chain ten times as long runs through as many lines of Python; time itself would depend on the machine."""

    def lines(length: int) -> int:
        line = timeline(made.chain(length))
        graph = line.stage.graph
        _ = line.stage.edge_index, graph.by_id, graph.outgoing, graph.incoming, line.acts[0].recorded
        count = 0

        def trace(frame: FrameType, event: str, argument: object) -> object:
            nonlocal count
            count += event == "line"
            return trace

        before = sys.gettrace()
        sys.settrace(trace)  # type: ignore[arg-type]
        try:
            for k in range(1, 40):
                old, new = line.state_at(line.length * k / 41), line.state_at(line.length * k / 41 + 1)
                changes = line.changes(old, new)
                assert changes is not None
                _ = new.pulses, [new.node(node) for node in changes.nodes], new.sentence
        finally:
            sys.settrace(before)
        return count

    assert lines(20_000) <= 1.1 * lines(2_000)


def test_nothing_recorded_is_said_and_not_an_error() -> None:
    recording = made.recording([])
    assert story(recording) == ()
    frame = timeline(recording).state_at(3.0)
    assert frame.sentence == "The script never called backward()."
    assert frame.pulses == () and frame.active == ()


def test_a_glance_sees_what_was_returned() -> None:
    """What `torch.autograd.grad` returned for x is seen from far away, too: by hand 6, in the last beat."""
    line = timeline(made.returned())
    beat = next(beat for beat in line.beats if beat.kind == "returned")
    assert line.state_at(beat.index - 0.1).glance(1) == ("waiting", None)
    for t, phase in ((beat.index + 0.5, "active"), (float(line.length), "done")):
        seen, value = line.state_at(t).glance(1)
        assert (seen, value.item() if value is not None else None) == (phase, 6.0)
        assert line.state_at(t).node(1).phase == seen


def test_a_call_without_its_graph_is_played_by_what_was_kept() -> None:
    """Of a long loop most calls are a summary: a seed, and what came to leaves that are not on the stage."""
    three = made.tensor(3.0)
    lone = replace(made.accumulation("?", 8, None, three, three, None), name=None)
    detail = CallDetail(accumulations=(lone, made.accumulation("w", 9, None, three, three, None)))
    bare = replace(made.root(made.leaf(0, "loss"), made.tensor(1.0)), node=None)
    line = timeline(made.recording([(made.call(1, [bare], 13, detail="summary"), Graph((), ()), detail)]))
    frame = line.state_at(1.5)
    assert (frame.beat.label if frame.beat else "", frame.active) == (".grad", ())
    assert frame.sentence == "leaf.grad: None → 3; w.grad: None → 3"
    assert line.state_at(float(line.length)).sentence.endswith("leaf.grad = 3, w.grad = 3")
