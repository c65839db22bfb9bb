"""A `with gradviz.record(...)` block: how it ended is in the recording, and nothing of that reaches the block."""

from __future__ import annotations

import linecache
import os
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import gradviz
from gradviz.model import Header, Outcome, Recording
from gradviz.store.reader import close_recording, open_recording
from gradviz.worker.budget import Options
from gradviz.worker.monitor import can_monitor
from gradviz.worker.recorder import Recorder
from tests.worker.running import environment


def one_call() -> None:
    torch.ones(2, requires_grad=True).mul(2).sum().backward()


def head_of(path: Path) -> tuple[Recording, dict[str, str]]:
    """A recording and its texts; it must be one plain file."""
    assert [file.name for file in path.parent.iterdir() if file.name.startswith(path.name)] == [path.name]
    recording = open_recording(str(path))
    try:
        return recording, recording.source.sources()
    finally:
        close_recording(recording)


def test_a_block_that_ends(tmp_path: Path) -> None:
    path = tmp_path / "r.gradviz"
    with gradviz.record(path):
        one_call()
    recording, sources = head_of(path)
    assert recording.outcome == Outcome("finished")
    assert recording.header.in_process and recording.header.script == __file__ and recording.header.argv == ()
    assert sources[__file__] == Path(__file__).read_text(encoding="utf-8")


def test_a_block_that_is_returned_from(tmp_path: Path) -> None:
    def inside() -> str:
        with gradviz.record(tmp_path / "r.gradviz"):
            return "value"

    assert inside() == "value"
    assert head_of(tmp_path / "r.gradviz")[0].outcome.kind == "finished"


class Unprintable(Exception):  # noqa: N818
    def __str__(self) -> str:
        raise ValueError("no words")


def failing(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("two\nlines"), "two\nlines"),
        (KeyboardInterrupt(), ""),
        (Unprintable(), "<ValueError in __str__>"),
    ],
)
def test_an_exception_reaches_the_user_unchanged(
    trace: bool, error: BaseException, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "r.gradviz"
    error.__traceback__ = None  # of the run before with this exception
    seen: list[BaseException] = []
    try:
        with gradviz.record(path, trace=trace):
            one_call()
            failing(error)
    except BaseException as caught:
        seen.append(caught)
    assert seen == [error] and error.__context__ is None and error.__cause__ is None
    frames = traceback.extract_tb(error.__traceback__)
    assert [frame.name for frame in frames] == ["test_an_exception_reaches_the_user_unchanged", "failing"]
    found = head_of(path)[0].outcome
    assert (found.kind, found.type, found.message) == ("raised", type(error).__name__, message)
    assert (found.file, found.line) == (__file__, failing.__code__.co_firstlineno + 1)
    assert found.traceback is not None and "failing(error)" in found.traceback


@pytest.mark.parametrize("trace", [True, False])
def test_an_error_of_the_engine_shows_no_frame_of_ours(trace: bool, tmp_path: Path) -> None:
    def script() -> list[tuple[str, int | None]]:
        try:
            torch.ones(2, requires_grad=True).mul(2).backward()
        except RuntimeError as error:
            cause = error
        try:
            raise KeyError("later") from cause
        except KeyError as error:
            later = error
        raise later

    def frames(function: Callable[[], object]) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        try:
            function()
        except KeyError as error:
            for one in (error, error.__cause__):
                assert one is not None
                found += [(frame.filename, frame.name) for frame in traceback.extract_tb(one.__traceback__)[-3:]]
        return found

    def in_block() -> None:
        with gradviz.record(tmp_path / "r.gradviz", trace=trace):
            script()

    assert frames(in_block)[-3:] == frames(script)[-3:]


@pytest.mark.parametrize(("code", "status"), [(None, 0), (0, 0), (3, 3), ("words", 1)])
def test_a_block_that_leaves_the_program(code: object, status: int, tmp_path: Path) -> None:
    with pytest.raises(SystemExit), gradviz.record(tmp_path / "r.gradviz"):
        sys.exit(code)  # type: ignore[arg-type]
    assert head_of(tmp_path / "r.gradviz")[0].outcome == Outcome("exited", status)


def test_a_recorder_by_hand(tmp_path: Path) -> None:
    header = Header("by_hand.py", (), "3", "2", sys.executable, str(tmp_path))
    recorder = Recorder(str(tmp_path / "r.gradviz"), header, Options())
    recorder.attach()
    one_call()
    recorder.detach()
    recorder.close()
    recording, _ = head_of(tmp_path / "r.gradviz")
    assert recording.outcome == Outcome("finished") and len(recording.calls) == 1


def test_a_decorated_function(tmp_path: Path) -> None:
    gradviz.record(tmp_path / "r.gradviz")(one_call)()
    assert len(head_of(tmp_path / "r.gradviz")[0].calls) == 1


def test_a_fork_inside_the_block_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r.gradviz"
    with gradviz.record(path):
        child = os.fork()
        if child == 0:
            try:
                with gradviz.record(tmp_path / "child.gradviz"):
                    one_call()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        one_call()
    assert len(head_of(path)[0].calls) == 1
    assert len(head_of(tmp_path / "child.gradviz")[0].calls) == 1


# What happens to a whole process; the words after the file's name say what.
PROGRAM = """
import os, shutil, sys, gradviz, torch
path, what = sys.argv[1:]

def block():
    if what == "full":
        import resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        limit = os.path.getsize(path) + 50_000
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    for _ in range(100 if what == "full" else 1):
        x = torch.randn(4000, requires_grad=True)
        (x * 2).square().sum().backward()
    if what == "folder":
        shutil.rmtree(os.path.dirname(path))
    if what == "forked" and os.fork() == 0:
        (x * 2).sum().backward()
        raise RuntimeError("the child")
    if what == "forked":
        os.wait()
    if what == "closed":
        sys.stderr.close()
        os.closerange(0, 256)

if what == "by hand":
    context = gradviz.record(path)
    context.__enter__()
    block()
    raise IndexError("at the end")
with gradviz.record(path):
    block()
if what != "closed":
    print("after the block")
"""


def program(what: str, folder: Path) -> tuple[subprocess.CompletedProcess[str], Path, Path]:
    script = folder / "program.py"
    script.write_text(PROGRAM)
    (folder / "made").mkdir()
    path = folder / "made" / "r.gradviz"
    words = [sys.executable, str(script), str(path), what]
    return subprocess.run(words, capture_output=True, text=True, env=environment(), timeout=120), path, script


def test_a_script_that_never_leaves_its_block(tmp_path: Path) -> None:
    done, path, script = program("by hand", tmp_path)
    assert done.returncode == 1 and done.stderr.endswith("IndexError: at the end\n")
    recording, sources = head_of(path)
    assert (recording.outcome.type, recording.outcome.file) == ("IndexError", str(script))
    assert recording.header.script == str(script) and recording.header.argv == (str(path), "by hand")
    assert sources == {str(script): PROGRAM}


def test_a_child_that_leaves_the_block(tmp_path: Path) -> None:
    done, path, _ = program("forked", tmp_path)
    assert (done.returncode, done.stdout) == (0, "after the block\n")
    assert done.stderr.endswith("RuntimeError: the child\n") and "gradviz" not in done.stderr
    recording, _ = head_of(path)
    assert recording.outcome.kind == "finished" and len(recording.calls) == 1


@pytest.mark.parametrize("what", ["full", "folder", "closed"])
def test_a_recording_that_cannot_be_written_harms_nobody(what: str, tmp_path: Path) -> None:
    done, path, _ = program(what, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ("" if what == "closed" else "after the block\n")
    told = [line for line in done.stderr.splitlines() if line.startswith("gradviz: ")]
    assert len(told) == (what == "full") and (done.stderr == "" or told)
    recording = open_recording(str(path))
    try:
        assert 1 <= len(recording.calls) < 100
        assert recording.outcome.kind == ("running" if what == "full" else "finished")
    finally:
        close_recording(recording)


def test_a_tracer_of_the_programs_own_stays(tmp_path: Path) -> None:
    """Coverage or a debugger: where there is one place for tracers it is theirs, and the recording has no lines."""

    def own(frame: object, event: str, arg: object) -> None:
        return None

    before = sys.gettrace()
    sys.settrace(own)
    try:
        with gradviz.record(tmp_path / "r.gradviz"):
            inside = sys.gettrace()
            one_call()
        after = sys.gettrace()
    finally:
        sys.settrace(before)
    assert inside is own and after is own
    recording, _ = head_of(tmp_path / "r.gradviz")
    assert len(recording.calls) == 1
    assert [note[:36] for note in recording.header.notes] == ["The program has a tracer of its own "] * (
        not can_monitor()
    )


def test_python_with_a_command(tmp_path: Path) -> None:
    text = "import gradviz, torch\nwith gradviz.record('r.gradviz'):\n    torch.ones(2).sum().backward()\n"
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", text], capture_output=True, env=environment(), cwd=tmp_path, timeout=120
    )
    assert done.returncode == 1
    recording, sources = head_of(tmp_path / "r.gradviz")
    assert recording.header.script == "<string>" and sources == {"<string>": text}
    assert recording.calls[0].place is not None and recording.calls[0].place.line == 3
    assert (recording.outcome.file, recording.outcome.line) == ("<string>", 3)


CELL = "with gradviz.record(path):\n    x = torch.ones(2, requires_grad=True)\n    y = x * 2\n    y.sum().backward()\n"


@pytest.mark.parametrize(("named", "script"), [(True, "study.ipynb"), (False, "1234.py")])
def test_a_cell_of_a_notebook(named: bool, script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As IPython's kernel runs it: the name of a file that is not there, the text in linecache."""
    name = str(tmp_path / "ipykernel_77" / "1234.py")
    monkeypatch.setitem(linecache.cache, name, (len(CELL), None, CELL.splitlines(keepends=True), name))
    if named:
        monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "study.ipynb"))
    space = {"gradviz": gradviz, "torch": torch, "path": tmp_path / "r.gradviz", "__name__": "__main__"}
    exec(compile(CELL, name, "exec"), space)
    recording, sources = head_of(tmp_path / "r.gradviz")
    assert os.path.basename(recording.header.script) == script
    assert sources[name] == CELL
    (call,) = recording.calls
    assert call.place is not None and (call.place.file, call.place.line) == (name, 4)
