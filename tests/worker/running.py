"""Runs the same script under plain python and under `gradviz record`, so that a test can hold them equal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradviz.store.json_view import json_view
from gradviz.store.reader import close_recording, open_recording

CASES = Path(__file__).resolve().parent.parent / "cases"
FAITHFUL = CASES / "faithful"
HOSTILE = CASES / "hostile"


@dataclass(frozen=True)
class Both:
    """Exit status, stdout and stderr of both; the recording as public JSON. Our own lines are cut from `stderr`."""

    plain: tuple[int, bytes, bytes]
    recorded: tuple[int, bytes, bytes]
    said: str
    path: Path

    def info(self) -> dict[str, Any]:
        return info_of(self.path)


def environment() -> dict[str, str]:
    """That of the tests; Python buffers its output as usual, whatever the machine's own setting."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1"}


def plain(words: list[str], cwd: Path, stdin: bytes | None = None) -> tuple[int, bytes, bytes]:
    """Run the interpreter itself."""
    return _run([sys.executable, *words], cwd, stdin)


def recorded(words: list[str], cwd: Path, stdin: bytes | None = None) -> tuple[int, bytes, bytes]:
    """Run `gradviz` with these words."""
    return _run([sys.executable, "-m", "gradviz", *words], cwd, stdin)


def _run(words: list[str], cwd: Path, stdin: bytes | None) -> tuple[int, bytes, bytes]:
    feed: Any = {"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}
    done = subprocess.run(words, cwd=cwd, capture_output=True, timeout=240, env=environment(), **feed)
    return done.returncode, done.stdout, done.stderr


def run_both(
    script: Path, folder: Path, arguments: tuple[str, ...] = (), stdin: bytes | None = None, module: str | None = None
) -> Both:
    """Run a script (or a module, with `script` as the current folder) both ways."""
    path = folder / "recording.gradviz"
    what = ["-m", module] if module is not None else [script.name]
    cwd = script if module is not None else script.parent
    ours = ["--", *arguments] if arguments else []
    first = plain([*what, *arguments], cwd, stdin)
    code, out, error = recorded(["record", *what, "-o", str(path), *ours], cwd, stdin)
    lines = error.splitlines(keepends=True)
    own = [line for line in lines if line.startswith(b"gradviz: ")]
    theirs = b"".join(line for line in lines if not line.startswith(b"gradviz: "))
    return Both(first, (code, out, theirs), b"".join(own).decode(), path)


def info_of(path: Path) -> dict[str, Any]:
    """The public JSON of a recording."""
    recording = open_recording(str(path))
    try:
        found: dict[str, Any] = json.loads(json.dumps(json_view(recording)))
        return found
    finally:
        close_recording(recording)
