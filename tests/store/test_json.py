"""The public JSON: what DESIGN promises, numbers by hand, and the same document in pieces."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

import pytest

from gradviz.model import Finding, Recording, TensorValue
from gradviz.store.json_view import json_text, json_view, tensor_view
from gradviz.store.reader import close_recording, open_recording
from tests.store import damage, public_json, samples

FINDINGS = (
    Finding("scalar-only", "error", 1, 0, samples.HERE, "message", "advice", (0,), "torch.ones(3)"),
    Finding("no-graph", "info", None, None, None, "message", "advice"),
)


@pytest.mark.parametrize("make", [samples.sample, damage.larger])
def test_the_document_is_as_promised(tmp_path: Path, make: Any) -> None:
    samples.write(make(), tmp_path / "r.gradviz")
    found = open_recording(str(tmp_path / "r.gradviz"))
    view = json_view(found, FINDINGS)
    public_json.validate(view)
    public_json.validate(json.loads(json.dumps(view, allow_nan=False)))
    close_recording(found)


@pytest.mark.parametrize("make", [samples.sample, damage.larger])
def test_the_text_in_pieces_is_the_same_document(make: Any) -> None:
    recording: Recording = make()
    pieces = list(json_text(recording, FINDINGS))
    assert len(pieces) > len(recording.calls)
    document = json.loads("".join(pieces))
    document["nodes"].sort(key=lambda node: node["id"])
    document["edges"].sort(key=lambda edge: (edge["source"], edge["slot"]))
    assert document == json.loads(json.dumps(json_view(recording, FINDINGS)))


def test_numbers_by_hand() -> None:
    view = json_view(samples.sample())
    first = view["calls"][0]
    assert first["roots"][0]["seed"]["values"] == 1.0
    assert [run["node"] for run in first["executions"]] == [0, 1, 2, 3, 4]
    assert first["executions"][1]["arrived"][0]["values"] == 3.0
    assert first["executions"][2]["grad_outputs"][0] is None
    assert first["accumulations"][0]["after"]["values"] == 24.0
    assert "output_nr" not in first["accumulations"][0]
    assert first["retained"][0]["output_nr"] == 1
    assert [node["id"] for node in view["nodes"]] == list(range(9))
    assert view["edges"][3:5] == [
        {"source": 3, "slot": 0, "target": 4, "output_nr": 0},
        {"source": 3, "slot": 1, "target": 4, "output_nr": 0},
    ]
    nested = view["calls"][2]
    assert (nested["label"], nested["parent"], nested["parent_node"]) == ("2.1", 2, 7)
    assert nested["returned"][0] is None
    assert nested["returned"][1]["values"] == [[1.0, -2.0], ["inf", 0.5]]
    assert view["calls"][3]["complete"] is False
    assert view["outcome"]["kind"] == "raised" and "traceback" not in view["outcome"]


def test_tensors_by_hand() -> None:
    numbers = tensor_view(samples.floats(1.0, math.nan, -math.inf, 0.0))
    assert numbers == {
        "shape": [4], "dtype": "float32", "device": "cpu", "values": [1.0, "nan", "-inf", 0.0],
        "norm": "nan", "min": 0.0, "max": 1.0, "mean": 0.5, "nan": 1, "inf": 1, "zero": 1,
    }  # fmt: skip
    assert tensor_view(None) is None
    sparse, batched = tensor_view(samples.SPARSE), tensor_view(samples.BATCHED)
    assert sparse is not None and batched is not None
    assert (sparse["layout"], sparse["nnz"], sparse["values"]) == ("sparse_coo", 1, [0.0, 5.0, 0.0])
    assert (batched["batch"], batched["shape"]) == ([3], [2])
    assert batched["values"] == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    unreadable, large = tensor_view(samples.UNREADABLE), tensor_view(samples.LARGE)
    assert unreadable is not None and large is not None
    assert unreadable["unreadable"] == "a meta tensor has no values"
    assert (unreadable["values"], unreadable["norm"]) == (None, None)
    assert (large["values"], large["norm"], large["inf"]) == (None, 12.5, 1)
    truths = tensor_view(TensorValue((2,), "bool", data=b"\x01\x00"))
    assert truths is not None and truths["values"] == [True, False]


def test_a_document_that_breaks_a_promise_is_told() -> None:
    """The validator itself can fail: each change below is one that a reader would stumble over."""
    breaks: list[tuple[Any, ...]] = [
        ("format", 2),
        ("nodes", 0, "kind", "op"),
        ("nodes", 0, "id", 1),
        ("edges", 0, "target", 99),
        ("calls", 0, "parent", 3),
        ("calls", 1, "number", 1),
        ("calls", 0, "executions", 0, "node", 77),
        ("calls", 0, "executions", 1, "order", 0),
        ("calls", 0, "roots", 0, "seed", "norm", 3.0),
        ("calls", 0, "roots", 0, "seed", "values", [1.0]),
        ("calls", 0, "retain_graph", 1),
        ("outcome", "kind", "gone"),
    ]
    for *path, last, value in breaks:
        view = json.loads(json.dumps(json_view(samples.sample())))
        place = view
        for step in path:
            place = place[step]
        assert place[last] != value
        place[last] = value
        with pytest.raises(AssertionError):
            public_json.validate(view)


def test_many_calls_take_time_by_their_number(tmp_path: Path) -> None:
    """Eight times the calls, not sixty-four times the time."""

    def seconds(calls: int) -> float:
        small = samples.sample()
        numbers = range(1, calls + 1)
        source = samples.MemorySource(
            {n: samples.graph([5 * n + k for k in range(5)], n, 9 * n) for n in numbers},
            {n: samples.detail([5 * n + k for k in range(5)], 1.0) for n in numbers},
        )
        path = tmp_path / f"{calls}.gradviz"
        recording = samples.replace(small, calls=tuple(map(samples.call, numbers)), source=source)
        samples.write(recording, path)
        started = time.process_time()
        found = open_recording(str(path))
        assert sum(map(len, json_text(found))) > 1000 * calls
        close_recording(found)
        return time.process_time() - started

    seconds(10)
    few, many = seconds(50), seconds(400)
    assert many < 16 * few
