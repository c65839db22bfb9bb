"""What-ifs added to a recording: what is read back equals what the experiment recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from gradviz.errors import RecordingError
from gradviz.store.merge import add_what_if
from gradviz.store.reader import close_recording, open_recording
from gradviz.worker.in_process import record


def files(folder: Path) -> tuple[str, str]:
    """A script's recording, and one that stands for an experiment: with leaves, retained values and a failure."""
    for name, seed in (("script", [1.0, 1.0]), ("tried", [1.0, 10.0])):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        with record(folder / f"{name}.gradviz"):
            y = x * x
            y.retain_grad()
            y.backward(torch.tensor(seed))
    return str(folder / "script.gradviz"), str(folder / "tried.gradviz")


def test_all_of_an_experiment_comes_along(tmp_path: Path) -> None:
    script, tried = files(tmp_path)
    assert add_what_if(script, tried, 10**9) == 2
    assert add_what_if(script, tried, 10**9) == 3
    one, other = open_recording(script), open_recording(tried)
    assert [call.label for call in one.calls] == ["1", "1?1", "1?2"]
    merged, own = one.call(2), other.call(1)
    assert (merged.roots, merged.api, merged.place, merged.stack) == (own.roots, own.api, own.place, own.stack)
    assert one.detail(2) == other.detail(1)
    assert one.graph(2) == other.graph(1)
    assert one.detail(1).executions and one.outcome == open_and_close(tmp_path)
    close_recording(one)
    close_recording(other)


def open_and_close(folder: Path) -> object:
    found = open_recording(str(folder / "script.gradviz"))
    close_recording(found)
    return found.outcome


def test_nodes_that_are_new_get_numbers_of_their_own(tmp_path: Path) -> None:
    script, tried = files(tmp_path)
    add_what_if(script, tried, 0)
    recording = open_recording(script)
    own = {node.id for node in recording.graph(1).nodes}
    new = [node.id for node in recording.graph(2).nodes]
    assert not own & set(new) and len(set(new)) == len(new)
    call, detail = recording.call(2), recording.detail(2)
    assert call.roots[0].node in new
    assert {run.node for run in detail.executions} == set(new)
    assert {entry.node for entry in (*detail.accumulations, *detail.retained)} <= set(new)
    close_recording(recording)


def test_a_failed_experiment(tmp_path: Path) -> None:
    script, _ = files(tmp_path)
    x = torch.ones(2, requires_grad=True)
    with record(tmp_path / "failed.gradviz"), pytest.raises(RuntimeError):
        (x * 2).backward()
    add_what_if(script, str(tmp_path / "failed.gradviz"), 10**9)
    recording = open_recording(script)
    error = recording.call(2).error
    assert error is not None and error.type == "RuntimeError"
    close_recording(recording)


def test_a_file_that_is_no_recording(tmp_path: Path) -> None:
    script, _ = files(tmp_path)
    (tmp_path / "no.gradviz").write_text("no")
    with pytest.raises(RecordingError):
        add_what_if(script, str(tmp_path / "no.gradviz"), 0)
    recording = open_recording(script)
    assert len(recording.calls) == 1
    close_recording(recording)
