"""Calls that take long write what they have done as they go, so that a kill does not lose it."""

from __future__ import annotations

from pathlib import Path

from tests.worker.running import HOSTILE, info_of, recorded


def test_a_kill_in_the_middle_of_a_long_backward_keeps_what_ran(tmp_path: Path) -> None:
    path = tmp_path / "recording.gradviz"
    code, _, _ = recorded(["record", "killed_in_backward.py", "-o", str(path)], HOSTILE)
    found = info_of(path)
    assert (code, found["outcome"]["kind"], found["outcome"]["signal"]) == (128 + 9, "killed", 9)
    (call,) = found["calls"]
    assert not call["complete"] and call["error"] is None and call["accumulations"] == []
    # 59 nodes of 0.05 s each: a second or more before the kill the last ones were written.
    runs = call["executions"]
    assert 20 <= len(runs) <= 60
    ops = {node["id"]: node["op"] for node in found["nodes"]}
    assert [ops[run["node"]] for run in runs] == ["SumBackward0"] + ["SlowBackward"] * (len(runs) - 1)
    assert [run["order"] for run in runs] == list(range(len(runs)))
    for power, run in enumerate(runs[1:]):
        assert run["grad_outputs"][0]["values"] == [2.0**power] * 2
        assert run["grad_inputs"][0]["values"] == [2.0 ** (power + 1)] * 2
