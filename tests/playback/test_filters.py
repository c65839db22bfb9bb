"""Views of a part of the graph, against sets worked out by hand."""

from __future__ import annotations

import pytest

from gradviz.errors import UsageError
from gradviz.model import Edge, Graph
from gradviz.playback import Timeline, story
from gradviz.playback.filters import filtered
from tests import recordings as made


def names(recording: made.Recording, *filters: str, call: str | None = None) -> set[str]:
    timeline = Timeline(recording, story(recording))
    graph = filtered(timeline, filters, call)
    kept = {node.id for node in graph.nodes}
    assert {(e.source, e.target) for e in graph.edges} == {
        (e.source, e.target) for e in timeline.stage.graph.edges if e.source in kept and e.target in kept
    }
    return {node.name or "?" for node in graph.nodes}


def test_parts_of_a_fan_in() -> None:
    recording = made.fan_in()
    assert names(recording) == {"a", "b", "c", "x", "y"}
    assert names(recording, "upstream:b") == {"b", "c"}
    assert names(recording, "downstream:b") == {"b", "y", "x"}
    assert names(recording, "between:c|y") == {"a", "b", "c", "y"}
    assert names(recording, "between:y|c") == set()
    assert names(recording, "no-leaves") == {"a", "b", "c", "y"}
    assert names(recording, "downstream:b", "no-leaves") == {"b", "y"}
    assert names(recording, "upstream:MulBackward0@a.py:4#3") == {"a", "b", "c", "y"}


def test_only_one_call() -> None:
    assert names(made.two_calls(), "call-only", call="1") == {"t1", "t2"}
    assert names(made.two_calls(), "call-only") == {"t1", "t2", "t3"}


def test_what_has_no_gradient() -> None:
    one = made.tensor(1.0)
    y, x, z = made.node(0, "IndexBackward0", "y", line=1), made.leaf(1, "x", line=2), made.leaf(2, "z", line=3)
    detail = made.CallDetail((made.execution(0, 0, [one], [None, one]), made.execution(1, 1, [None])))
    graph = Graph((y, x, z), (Edge(0, 0, 1, 0), Edge(0, 1, 2, 0)))
    recording = made.recording([(made.call(1, [made.root(y, one)], 3), graph, detail)])
    assert names(recording, "no-grad") == {"x", "z"}
    assert names(made.returned(), "no-grad") == set()


def test_a_node_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(UsageError, match=r"'bb'.*It has: 'b', ") as found:
        names(made.fan_in(), "upstream:bb")
    assert all(f"'{name}'" in str(found.value) for name in ("a", "c", "y"))


@pytest.mark.parametrize("word", ["upstream", "sideways:b", "upstream:nobody", "between:c|nobody"])
def test_what_is_no_filter_is_refused(word: str) -> None:
    with pytest.raises(UsageError):
        names(made.fan_in(), word)
