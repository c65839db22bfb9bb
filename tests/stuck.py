"""Keeps the native stacks of a test process that stands still: what Python prints of itself ends where C begins.

    python -m tests.stuck PROCESS_ID FILE SECONDS PROGRAM < pings

The test process writes a byte for each test that begins. When none has come for longer than any test may take,
PROGRAM (`gdb`, where there is one) writes the stacks of all threads to FILE; `.ci/run` prints it.
"""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

PATIENCE_S = 320.0  # more than the limit of a test, less than the one at which the process is ended
DEBUGGER = "gdb"
_COMMANDS = ("set pagination off", "thread apply all bt 60")


class Witness:
    """The process beside a test process. Use `begin` for each test, `close` at the end."""

    def __init__(self, file: Path, patience: float = PATIENCE_S, program: str = DEBUGGER) -> None:
        words = [sys.executable, "-m", "tests.stuck", str(os.getpid()), str(file), str(patience), program]
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        assert self._process.stdin is not None
        self._pings = self._process.stdin

    def begin(self) -> None:
        """A test begins."""
        with suppress(BrokenPipeError):  # somebody has ended it
            os.write(self._pings.fileno(), b".")

    def close(self) -> None:
        """All tests have ended."""
        self._pings.close()
        self._process.wait()


def can_witness() -> bool:
    """Whether there is what looks into a process."""
    return shutil.which(DEBUGGER) is not None and hasattr(os, "fork")


def watch(process: int, file: Path, patience: float, program: str) -> None:
    """Wait for pings on stdin; when they stay away, keep the stacks once. Ends with stdin."""
    kept = False
    while True:
        ready = select.select([0], [], [], patience)[0]
        if ready and not os.read(0, 4096):
            return
        if not ready and not kept:
            kept = True
            keep_stacks(process, file, program)


def keep_stacks(process: int, file: Path, program: str) -> None:
    """Write the native stacks of all threads of a process."""
    words = [program, "-batch", "-p", str(process)]
    for command in _COMMANDS:
        words += ["-ex", command]
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as out:
        subprocess.run(words, stdout=out, stderr=subprocess.STDOUT, timeout=60)


if __name__ == "__main__":
    watch(int(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]), sys.argv[4])
