"""Looking calls up; the indexes of a graph."""

from __future__ import annotations

import pytest

from gradviz.model import Edge, Graph
from tests.store import samples


def test_calls_are_found_by_number_and_label() -> None:
    recording = samples.sample()
    assert [recording.call(number).label for number in (1, 2, 3, 4)] == ["1", "2", "2.1", "4"]
    assert recording.call_by_label("2.1").number == 3
    assert [call.number for call in recording.top_calls] == [1, 2, 4]
    for wrong in (0, 5, -1):
        with pytest.raises(KeyError):
            recording.call(wrong)
    with pytest.raises(KeyError):
        recording.call_by_label("2.2")


def test_a_recording_that_lacks_calls_finds_the_others() -> None:
    recording = samples.sample()
    fewer = samples.replace(recording, calls=recording.calls[1:])
    assert fewer.call(3).label == "2.1"
    with pytest.raises(KeyError):
        fewer.call(1)


def test_parallel_edges_are_kept_apart() -> None:
    graph = samples.graph((10, 11, 12, 13, 14), 1, 0)
    assert graph.incoming[14] == (Edge(13, 0, 14, 0), Edge(13, 1, 14, 0))
    assert graph.outgoing[13] == graph.incoming[14]
    assert graph.incoming[10] == graph.outgoing[14] == ()
    assert graph.by_id[12].op == "MyExpBackward"
    assert Graph((), ()).incoming == {}


@pytest.mark.parametrize(
    ("op", "short"),
    [
        ("MulBackward0", "Mul"),
        ("AccumulateGrad", "AccumulateGrad"),
        ("torch::autograd::CopySlices", "CopySlices"),
        ("MyExpBackward", "MyExp"),
        ("CompiledFunctionBackward", "CompiledFunction"),
        ("Backward", "Backward"),
        ("UpsampleBilinear2DBackward1", "UpsampleBilinear2D"),
        ("BackwardHookFunctionBackward", "BackwardHookFunction"),
        ("ForwardBackwardX", "ForwardBackwardX"),
    ],
)
def test_the_name_that_a_picture_shows(op: str, short: str) -> None:
    node = samples.graph((0, 1, 2, 3, 4), None, 0).nodes[0]
    assert samples.replace(node, op=op).short_op == short
