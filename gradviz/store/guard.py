"""Guards the file descriptors that SQLite holds in the user's process.

A script may close descriptors that are not its own (`os.closerange`). The next file that it opens then gets the
number that SQLite still writes to. So the identity of each descriptor is noted and compared before every use.
"""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass

Identity = tuple[int, int]  # st_dev, st_ino
LOG, INDEX = "-wal", "-shm"
SIDES = ("", LOG, INDEX)  # what SQLite puts beside the name of a database


@dataclass(frozen=True)
class Held:
    """What a process holds of a recording: the identity of each file, and the descriptors that were opened on it."""

    path: str
    files: dict[str, Identity]  # by side
    descriptors: dict[int, str]  # number -> side; empty where the system has none (Windows)

    @staticmethod
    def note(path: str) -> Held:
        """Look at the files of the recording at `path` and at the descriptors of this process (Linux and macOS)."""
        files = {side: found for side in SIDES if (found := identity_of(path + side)) is not None}
        sides = {identity: side for side, identity in files.items()}
        numbers = {number: sides.get(identity_of(number) or (-1, -1)) for number in _open_numbers()}
        return Held(path, files, {number: side for number, side in numbers.items() if side is not None})

    def untouched(self) -> bool:
        """Tell whether every descriptor still belongs to the file that it was opened for."""
        return all(identity_of(number) == self.files[side] for number, side in self.descriptors.items())

    def at_home(self) -> bool:
        """Tell whether the recording is still the file at its path."""
        return identity_of(self.path) == self.files.get("")

    def open(self, side: str) -> tuple[int, bool] | None:
        """Return a descriptor to read the file `side` from, and whether it was opened for that; None: it is lost."""
        for number, of in self.descriptors.items():
            if of == side and identity_of(number) == self.files[side]:
                return number, False
        try:
            number = os.open(self.path + side, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
        except OSError:
            return None
        if identity_of(number) == self.files.get(side):
            return number, True
        os.close(number)
        return None


def identity_of(file: int | str) -> Identity | None:
    """Device and inode of a descriptor or path, None when it is closed or missing."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def make_immortal(thing: object) -> None:
    """Keep `thing` alive beyond the interpreter's end.

    Deallocation closes a connection, and closing writes the log back and deletes it. That must not happen when the
    descriptors are no longer ours, nor in a fork's child, where they are the parent's.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def _open_numbers() -> list[int]:
    for folder in ("/proc/self/fd", "/dev/fd"):
        try:
            return [int(name) for name in os.listdir(folder) if name.isdigit()]
        except OSError:
            continue
    return []
