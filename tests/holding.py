"""Runs a script with calls held, tries things on each, and gives back all that the script did: for comparing."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradviz.model import CallDetail, Recording
from gradviz.runner import Callbacks, Run, Target
from gradviz.runner.experiments import Held
from gradviz.runner.target import Hold
from gradviz.store.reader import close_recording, open_recording


@dataclass
class Did:
    """What a script did: its output, exit status and the files in its folder; and what was learnt on its calls."""

    stdout: bytes
    stderr: bytes
    code: int
    files: dict[str, bytes]
    answers: dict[str, Any] = field(default_factory=dict)
    in_place: set[str] = field(default_factory=set)
    recording: Path = Path()


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "script.py"
    script.write_text(text, encoding="utf-8")
    return script


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".gradviz" and "__pycache__" not in path.parts
    }


def plain(script: Path) -> Did:
    """Under python alone."""
    done = subprocess.run([sys.executable, script.name], cwd=script.parent, capture_output=True, timeout=200)
    return Did(done.stdout, _nameless(done.stderr, script), done.returncode, files_of(script.parent))


def _nameless(text: bytes, script: Path) -> bytes:
    """Without the folder that the script ran in."""
    return text.replace(str(script.parent).encode(), b"FOLDER")


def held(
    script: Path,
    labels: tuple[str, ...] | None,
    work: Callable[[Held], Any],
    in_place: bool = False,
    keep_alive: bool = False,
) -> Did:
    """Under the recorder, with these calls held; `work` is done on each of them beside the script."""
    output: dict[str, bytes] = {"stdout": b"", "stderr": b""}
    answers: dict[str, Any] = {}
    threads: list[threading.Thread] = []
    where: set[str] = set()

    def hear(stream: str, _: float, data: bytes) -> None:
        output[stream] += data

    def meet(each: Held) -> None:
        if each.in_place:
            where.add(each.label)
        thread = threading.Thread(target=do, args=(each,))
        threads.append(thread)
        thread.start()

    def do(each: Held) -> None:
        try:
            answers[each.label] = work(each)
        except BaseException as error:
            answers[each.label] = error
        finally:
            if not keep_alive:
                each.end()

    target = Target(script.name, cwd=str(script.parent), hold=Hold(labels, in_place))
    path = script.parent / "run.gradviz"
    ended = Run(target, str(path), Callbacks(output=hear, held=meet)).run()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive(), "an experiment never came back"
    for answer in answers.values():
        if isinstance(answer, BaseException):
            raise answer
    stderr = _nameless(output["stderr"], script)
    did = Did(output["stdout"], stderr, ended.exit_code, files_of(script.parent), answers, where, path)
    assert not ended.problems, ended.problems
    return did


def same(a: Did, b: Did) -> None:
    """The script did the same, byte for byte."""
    assert a.stdout.decode() == b.stdout.decode()
    assert a.stderr.decode() == b.stderr.decode()
    assert a.code == b.code
    assert a.files == b.files


@dataclass
class Read:
    """The one call of a what-if, read into memory."""

    recording: Recording
    detail: CallDetail

    def grad(self, name: str) -> Any:
        """What came to a leaf."""
        entry = next(entry for entry in self.detail.accumulations if entry.name == name)
        assert entry.incoming is not None
        return entry.incoming.nested()

    def after(self, name: str) -> Any:
        entries = (*self.detail.accumulations, *self.detail.retained)
        found = next(entry for entry in entries if entry.name == name).after
        return None if found is None else found.nested()


def read(path: str) -> Read:
    recording = open_recording(path)
    try:
        return Read(recording, recording.detail(1))
    finally:
        close_recording(recording)


def returned(path: str) -> Any:
    """The first value that a call returned, as nested lists."""
    value = (read(path).detail.returned or (None,))[0]
    return None if value is None else value.nested()
