"""Running a recorded script again to one of its calls: the same random numbers, and a word where it came out else."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from gradviz.errors import RecordingError, SeedError
from gradviz.model import Recording
from gradviz.runner import Callbacks, Run, Target
from gradviz.runner.again import Rerun, difference, target_again
from gradviz.runner.experiments import Held
from gradviz.runner.keeping import keep_in_copy
from gradviz.runner.trying import Trial
from gradviz.store.reader import close_recording, open_recording
from tests.holding import read

RANDOM = """import random, torch
x = torch.randn(3, requires_grad=True)
scale = random.random()
for k in range(3):
    y = (x * torch.rand(3) * scale).sum()
    y.backward()
"""


def record(folder: Path, text: str) -> str:
    script = folder / "script.py"
    script.write_text(text, encoding="utf-8")
    Run(Target("script.py", cwd=str(folder)), str(folder / "first.gradviz"), Callbacks()).run()
    return str(folder / "first.gradviz")


def test_a_call_comes_again_with_the_same_numbers(tmp_path: Path) -> None:
    recording = open_recording(record(tmp_path, RANDOM))
    trial: Trial[str] = Trial(
        target_again(recording, "2"), str(tmp_path / "again.gradviz"), lambda held: held.run(["2.0"]).recording, False
    )
    trial.go()
    again = open_recording(str(tmp_path / "again.gradviz"))
    assert difference(recording, again, "2") is None
    first = recording.detail(2).accumulations[0].incoming
    assert first is not None and trial.result is not None
    assert read(trial.result).grad("x") == [2 * number for number in first.nested()]
    trial.close()
    close_recording(again)
    close_recording(recording)


def test_what_came_out_else_is_told(tmp_path: Path) -> None:
    recording = open_recording(
        record(tmp_path, RANDOM.replace("scale = random", "import os\nscale = os.urandom(1)[0] + random"))
    )
    held: list[Held] = []
    run = Run(target_again(recording, "1"), str(tmp_path / "again.gradviz"), Callbacks(held=held.append))
    run.run()
    again = open_recording(str(tmp_path / "again.gradviz"))
    said = difference(recording, again, "1")
    assert said is not None and said.startswith("y is not what it was")
    for each in held:
        each.end()
    close_recording(again)
    close_recording(recording)


def test_a_call_that_is_not_there(tmp_path: Path) -> None:
    recording = open_recording(record(tmp_path, RANDOM))
    with pytest.raises(RecordingError, match="no call 7"):
        target_again(recording, "7")
    assert difference(recording, recording, "7") == "The script did not come to call 7 again."
    close_recording(recording)


def test_a_rerun_leaves_the_call_held_and_no_script(tmp_path: Path) -> None:
    recording = open_recording(record(tmp_path, RANDOM + "open('end', 'a').write('x')\n"))
    heard: list[int] = []
    rerun = Rerun(recording, "2", None, heard.append)
    held = rerun.go()
    assert rerun.difference is None
    assert heard == [1]
    assert (held.label, held.in_place) == ("2", False)
    first = recording.detail(2).accumulations[0].incoming
    assert first is not None
    assert read(held.run(["2.0"]).recording).grad("x") == [2 * number for number in first.nested()]
    assert (tmp_path / "end").read_text() == "x"  # of the first run: the second was stopped at the call
    held.end()
    close_recording(recording)


def test_a_rerun_that_is_held_in_place_ends_when_it_is_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = open_recording(record(tmp_path, RANDOM + "open('end', 'a').write('x')\n"))
    target = target_again(recording, "2", in_place=True)
    monkeypatch.setattr("gradviz.runner.again.target_again", lambda *_, **__: target)
    rerun = Rerun(recording, "2", None, lambda _: None)
    held = rerun.go()
    assert held.in_place and held.process is not None
    assert read(held.run(["2.0"]).recording).grad("x")
    held.end()
    with pytest.raises(ProcessLookupError):
        os.kill(held.process, 0)
    assert held.over
    close_recording(recording)


def test_a_rerun_that_fails_says_how(tmp_path: Path) -> None:
    recording = open_recording(record(tmp_path, RANDOM))
    (tmp_path / "script.py").write_text("raise ValueError('no')\n", encoding="utf-8")
    with pytest.raises(SeedError, match=r"did not come to call 2 again\. script\.py raised ValueError: no"):
        Rerun(recording, "2", None, lambda _: None).go()
    stopped = Rerun(recording, "2", None, lambda _: None)
    stopped.stop()
    with pytest.raises(SeedError, match="was stopped before it came to call 2"):
        stopped.go()
    close_recording(recording)


def test_a_rerun_whose_recording_cannot_be_read_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recording = open_recording(record(tmp_path, RANDOM))

    def fail(path: str, live: bool) -> Recording:
        (again,) = (thread for thread in threading.enumerate() if thread.name == "gradviz-again")
        assert again.is_alive()
        raise RecordingError(f"no {Path(path).name}, {live}")

    monkeypatch.setattr("gradviz.runner.again.open_recording", fail)
    with pytest.raises(RecordingError, match=r"no run\.gradviz, True"):
        Rerun(recording, "2", None, lambda _: None).go()
    assert "gradviz-again" not in [thread.name for thread in threading.enumerate()]
    close_recording(recording)


def test_an_experiment_on_another_script_gets_nodes_of_its_own(tmp_path: Path) -> None:
    """Run again the numbers of the nodes mean other ones: none of them is taken for a recorded one."""
    path = record(tmp_path, RANDOM)
    recording = open_recording(path)
    before = {node.id for number in (1, 2, 3) for node in recording.graph(number).nodes}
    (tmp_path / "script.py").write_text(RANDOM.replace("(x * torch.rand(3)", "(x.exp() * torch.rand(3)"))
    rerun = Rerun(recording, "2", None, lambda _: None)
    held = rerun.go()
    assert rerun.difference is not None
    what_if = held.run(["1.0"])
    keep_in_copy(path, str(tmp_path / "kept.gradviz"), [what_if])
    held.end()
    close_recording(recording)
    kept = open_recording(str(tmp_path / "kept.gradviz"))
    (call,) = [call for call in kept.calls if call.what_if]
    assert call.label == "2?1"
    assert not {node.id for node in kept.graph(call.number).nodes} & before
    close_recording(kept)
    assert [call.label for call in reread(path).calls] == ["1", "2", "3"]  # the recording itself is not touched


def reread(path: str) -> Recording:
    recording = open_recording(path)
    close_recording(recording)
    return recording
