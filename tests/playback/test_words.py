"""The sentences say what happens in the script's own names and numbers."""

from __future__ import annotations

from gradviz.model import Edge, Event, Graph, Saved
from gradviz.playback import Timeline, story
from gradviz.playback.words import product, statement, sum_text
from tests import recordings as made


def sentences(recording: made.Recording) -> list[str]:
    line = Timeline(recording, story(recording))
    return [line.state_at(line.still(beat.index)).sentence for beat in line.beats] + [
        line.state_at(line.length).sentence
    ]


def test_the_two_calls_told() -> None:
    told = sentences(made.two_calls())
    assert told[0] == "the implicit seed 1 enters at t2"
    assert told[1] == "engine step 1 of 2: t2 hands 1 · 4 = 4 to t1"
    assert told[2] == "engine step 2 of 2: t1.grad: None → 4"
    assert told[5] == "engine step 2 of 3: t2 hands 5 · 4 = 20 to t1"
    assert told[6] == "engine step 3 of 3: t1.grad: 4 + 20 = 24"
    assert told[7] == "after 3 engine steps: t1.grad = 24"


def test_titles_count_the_calls_of_the_user_and_quote_the_script() -> None:
    line = Timeline(made.two_calls(), (1, 2))
    assert line.state_at(0.5).title == "Call 1 of 2   t2.backward(retain_graph=True)"
    assert line.state_at(6.5).title == "Call 2 of 2   t3.backward()"


def test_without_a_source_the_call_is_told_by_its_name() -> None:
    assert Timeline(made.returned(), (1,)).state_at(0.5).title == "Call 1 of 1   torch.autograd.grad(y)"
    assert Timeline(made.fan_in(), (1,)).state_at(0.5).title == "Call 1 of 1   c.backward()"


def test_seeds_errors_and_returned_values() -> None:
    assert sentences(made.leaf_root())[0] == "the seed [[2, 2], [2, 2]] of shape (2, 2) enters at x"
    assert sentences(made.returned())[2:] == ["the call returns 6", "after 1 engine step: returned 6"]


def test_what_happens_between_calls() -> None:
    events = [Event("grad_cleared", 2, ("t1",)), Event("optimizer_step", 2, ("t1",), norms=((3.0, 2.0),))]
    told = sentences(made.two_calls(events))
    assert told[3] == "between the calls: t1.grad cleared"
    assert told[4] == "between the calls: the optimizer moves 1 parameter"


def test_a_product_is_told_only_where_it_is_one() -> None:
    two, three, six, seven = (made.tensor(x) for x in (2.0, 3.0, 6.0, 7.0))
    mul = made.node(0, "MulBackward0", saved=(Saved("self", (), two), Saved("other", (), three)))
    assert product(mul, 0, two, six) == "2 · 3 = 6"
    assert product(mul, 1, three, six) == "3 · 2 = 6"
    assert product(mul, 0, two, seven) is None  # a hook changed it
    assert product(made.node(0, "ExpBackward0"), 0, two, six) is None
    assert product(mul, 0, made.tensor([1.0, 2.0]), six) is None


def test_negative_terms_and_undefined_gradients() -> None:
    state = Timeline(made.two_calls(), (1, 2)).state_at(7.0).leaf(1)
    assert state is not None
    negative = made.accumulation("w", 0, made.tensor(4.0), made.tensor(-3.0), made.tensor(1.0), 0)
    from gradviz.playback.ledger import Track

    track = Track("w", 0)
    track.add(-1.0, 1, made.accumulation("w", 0, None, made.tensor(4.0), made.tensor(4.0), 0))
    track.add(0.0, 2, negative)
    assert sum_text(track.at(2.0)) == "4 − 3 = 1"
    y, x = made.node(0, "IndexBackward0", line=4), made.leaf(1, "x", line=3)
    one = made.tensor(1.0)
    detail = made.CallDetail((made.execution(0, 0, [one], [None]), made.execution(1, 1, [None])))
    graph = Graph((y, x), (Edge(0, 0, 1, 0),))
    told = sentences(made.recording([(made.call(1, [made.root(y, one)], 2), graph, detail)]))
    assert told[1] == "engine step 1 of 2: Index (line 4) hands nothing (undefined) to x"


def test_of_several_statements_in_a_line_the_call_is_quoted() -> None:
    call = made.two_calls().calls[0]
    assert statement("  opt.zero_grad(); loss.backward(); opt.step()", call) == "loss.backward()"
    assert statement("loss.backward()\n", call) == "loss.backward()"
    assert statement("Z.backward(G)  # dz1/dx1; dz2", call) == "Z.backward(G)"
    for line in (
        "a.backward(); b.backward()",
        'print("x;y.backward("); go()',
        "loss.backward(a(1; 2))",
        "train(); x()",
    ):
        assert statement(line, call) == line  # which one, or what a part of it is, is not sure
