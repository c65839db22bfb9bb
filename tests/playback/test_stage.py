"""Which calls are told together, and on which nodes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gradviz.model import CallDetail, Edge, Graph, Recording
from gradviz.playback import Stage, Timeline, story
from tests import recordings as made


def unrelated() -> Recording:
    """Two computations in one script that share nothing."""
    one, x, y = made.tensor(1.0), made.leaf(1, "x", line=1), made.leaf(3, "y", line=3)
    a, b = made.node(0, "ExpBackward0", "a", line=2), made.node(2, "SinBackward0", "b", line=4)
    parts = []
    for number, (top, bottom) in enumerate(((a, x), (b, y)), start=1):
        detail = CallDetail((made.execution(0, top.id, [one], [one]), made.execution(1, bottom.id, [one])))
        graph = Graph((top, bottom), (Edge(top.id, 0, bottom.id, 0),))
        parts.append((made.call(number, [made.root(top, one)], 2), graph, detail))
    return made.recording(parts)


def twins() -> Recording:
    """a and b come from one line, so they have one key in their own calls; call 3 holds both."""
    one, x = made.tensor(1.0), made.leaf(0, "x", line=1)
    a = made.node(1, "MulBackward0", line=2, key="Mul@f:2#0")
    b = made.node(2, "MulBackward0", line=2, key="Mul@f:2#0")
    c = made.node(3, "AddBackward0", line=5)
    to_x = {n.id: Edge(n.id, 0, 0, 0) for n in (a, b)}
    graphs = [
        Graph((a, x), (to_x[1],)),
        Graph((b, x), (to_x[2],)),
        Graph((c, a, b, x), (Edge(3, 0, 1, 0), Edge(3, 1, 2, 0), to_x[1], to_x[2])),
    ]
    roots = (a, b, c)
    parts = [
        (made.call(k + 1, [made.root(roots[k], one)], len(graph.nodes)), graph, CallDetail())
        for k, graph in enumerate(graphs)
    ]
    return made.recording(parts)


def test_calls_that_share_nodes_are_one_picture() -> None:
    recording = made.two_calls()
    assert story(recording) == (1, 2)
    stage = Stage.of(recording, (1, 2))
    assert sorted(node.name or "" for node in stage.graph.nodes) == ["t1", "t2", "t3"]
    assert len(stage.graph.edges) == 2 and not stage.aliases


def test_what_one_call_knew_of_a_node_is_known_in_the_other() -> None:
    recording = made.two_calls()
    source = recording.source
    assert isinstance(source, made.MemorySource)
    second = source.graphs[2]
    bare = [replace(node, value=None, name=None) if node.id == 0 else node for node in second.nodes]
    source.graphs[2] = Graph(tuple(bare), second.edges)
    frame = Timeline(recording, (1, 2)).state_at(5.5)
    t2 = frame.recorded(0)
    assert t2.name == "t2" and t2.value is not None and t2.value.item() == 12.0


def test_unrelated_calls_are_pictures_of_their_own() -> None:
    recording = unrelated()
    assert story(recording, "1") == (1,)
    assert story(recording, "2") == (2,)
    assert story(recording) == (2,)


def test_equal_graphs_of_a_loop_are_one_graph() -> None:
    stage = Stage.of(made.loop(3), (1, 2, 3))
    assert [node.id for node in stage.graph.nodes] == [1, 0]
    assert stage.stand_in(3) == stage.stand_in(2) == stage.stand_in(1) == 1
    assert stage.edge_of(Edge(3, 0, 0, 0)) == 0


def test_two_nodes_of_one_call_never_share_a_place() -> None:
    recording = twins()
    stage = Stage.of(recording, (1, 2, 3))
    assert not stage.aliases
    assert sorted(node.id for node in stage.graph.nodes) == [0, 1, 2, 3]


def test_a_grouping_call_is_told_by_the_runs_that_it_started() -> None:
    base = made.loop(2)
    head = made.call(1, [], 0, engine=False, api="torch.autograd.functional.jacobian")
    parts = [(head, Graph((), ()), CallDetail())]
    for number in (1, 2):
        inner = made.call(number + 1, base.call(number).roots, 2, label=f"1.{number}", parent=1)
        parts.append((inner, base.graph(number), base.detail(number)))
    recording = made.recording(parts)
    assert story(recording, "1") == (2, 3)
    assert story(recording, "1.2") == (3,)


def test_long_loops_are_not_loaded_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradviz.playback.stage.MOST_NODES", 20)
    recording = made.loop(100)
    numbers = story(recording, "50")
    assert 50 in numbers and len(numbers) <= 10
    source = recording.source
    assert isinstance(source, made.MemorySource)
    assert len({number for _, number in source.reads}) <= 10


def test_an_unknown_call_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        story(made.two_calls(), "7")
