"""A copy of a process that has told others of itself outlives whatever becomes of the process meanwhile."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Calls `double_fork` with a patience in seconds. The copy tells its process id, and waits until it is let go on.
PROGRAM = """import os, sys
from gradviz.worker import fork
told, go, where, patience = sys.argv[1:]
def tell(words):
    with open(told, "w") as file:
        file.write(f"{words}\\n")
def stop_here():
    tell(os.getpid())
    with open(go) as file:
        file.readline()
def prove():
    fork.allow_writing(told)
    if where == "prove":
        stop_here()
def run(ready):
    stop_here()
    ready()
    tell("lives")
print(fork.double_fork(prove, run, float(patience)))
"""


class Forking:
    """A process that copies itself, with pipes to the copy."""

    def __init__(self, folder: Path, where: str, patience: float) -> None:
        for name in ("told", "go"):
            os.mkfifo(folder / name)
        # Both ends at once: opening waits for nobody.
        self._told, self._go = (os.open(folder / name, os.O_RDWR) for name in ("told", "go"))
        words = [sys.executable, "-c", PROGRAM, str(folder / "told"), str(folder / "go"), where, str(patience)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)

    def hear(self) -> str:
        assert select.select([self._told], [], [], 60)[0], "the copy says nothing"
        return os.read(self._told, 64).decode().strip()

    def let_go(self) -> None:
        os.write(self._go, b"\n")

    def printed(self) -> str:
        return self.process.communicate(timeout=60)[0].strip()

    def close(self) -> None:
        self.let_go()
        self.process.kill()
        self.process.communicate()
        os.close(self._told)
        os.close(self._go)


@contextmanager
def forking(folder: Path, where: str, patience: float) -> Iterator[Forking]:
    made = Forking(folder, where, patience)
    try:
        yield made
    finally:
        made.close()


def test_the_process_is_ended_before_the_copy_is_ready(tmp_path: Path) -> None:
    """As a script that is run again up to a call: whoever hears of the copy needs it no more."""
    with forking(tmp_path, "run", 60) as made:
        made.hear()
        made.process.kill()
        made.process.wait(60)
        made.let_go()
        assert made.hear() == "lives"


def test_a_copy_that_others_know_of_is_not_ended_when_it_is_late(tmp_path: Path) -> None:
    with forking(tmp_path, "run", 0.5) as made:
        number = made.hear()
        assert made.printed() == number
        made.let_go()
        assert made.hear() == "lives"


def test_a_copy_that_hangs_before_anybody_knows_of_it_is_ended(tmp_path: Path) -> None:
    with forking(tmp_path, "prove", 0.5) as made:
        ended = os.pidfd_open(int(made.hear()))
        assert made.printed() == "None"
        assert select.select([ended], [], [], 60)[0]
        os.close(ended)
