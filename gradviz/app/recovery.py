"""The recordings that nobody has saved yet: where they lie, which were left by a crash, which are too many."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

SUFFIX = ".gradviz"
_OPEN = ".open"  # beside a recording that a window has open; holds the process id of that window
_SIDES = ("", "-wal", "-shm", "-journal", _OPEN)
MOST_FILES = 20
MOST_BYTES = 2_000_000_000
MOST_DAYS = 14


@dataclass(frozen=True, slots=True)
class Kept:
    """A recording that was not saved: `crashed` when the window that had it open has vanished."""

    path: str
    name: str
    seconds: float
    size: int
    crashed: bool


class Recovery:
    """A folder with the recordings of this user's runs."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def new_path(self, script: str) -> str:
        """A path for the recording of a run that starts now; it counts as open from here on."""
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        stem = os.path.splitext(os.path.basename(script))[0] or "script"
        stamp = time.strftime("%Y%m%d-%H%M%S")
        number = 0
        while True:
            tail = f"-{number}" if number else ""
            path = os.path.join(self.folder, f"{stem}.{stamp}{tail}{SUFFIX}")
            try:
                with open(path + _OPEN, "x") as file:
                    file.write(str(os.getpid()))
                return path
            except FileExistsError:
                number += 1

    def holds(self, path: str) -> bool:
        """Whether a recording lies here, unsaved."""
        return os.path.dirname(os.path.abspath(path)) == os.path.abspath(self.folder)

    def hold(self, path: str) -> None:
        """Count a recording as open."""
        with open(path + _OPEN, "w") as file:
            file.write(str(os.getpid()))

    def release(self, path: str) -> None:
        """A recording is no longer open; it stays for a while."""
        _remove(path + _OPEN)

    def discard(self, path: str) -> None:
        """Remove a recording with all that belongs to it."""
        for side in _SIDES:
            _remove(path + side)

    def kept(self) -> tuple[Kept, ...]:
        """All recordings that are not open in a living window, the newest first."""
        found = []
        for entry in os.scandir(self.folder) if os.path.isdir(self.folder) else ():
            if not entry.name.endswith(SUFFIX):
                continue
            owner = _owner(entry.path)
            if owner is not None and _alive(owner):
                continue
            status = entry.stat()
            name = entry.name.removesuffix(SUFFIX).rsplit(".", 1)[0]
            found.append(Kept(entry.path, name, status.st_mtime, status.st_size, owner is not None))
        return tuple(sorted(found, key=lambda kept: -kept.seconds))

    def tidy(self, now: float) -> None:
        """Remove recordings that are too old or too many; those that a crash left stay until they are looked at."""
        size = 0
        for place, kept in enumerate(self.kept()):
            size += kept.size
            old = now - kept.seconds > MOST_DAYS * 86400
            if not kept.crashed and (place >= MOST_FILES or size > MOST_BYTES or old):
                self.discard(kept.path)
        self._remove_markers()

    def _remove_markers(self) -> None:
        """A run that failed before its first byte leaves only a marker."""
        for entry in os.scandir(self.folder) if os.path.isdir(self.folder) else ():
            path = entry.path.removesuffix(_OPEN)
            if entry.name.endswith(_OPEN) and not os.path.exists(path):
                owner = _owner(path)
                if owner is None or not _alive(owner):
                    _remove(entry.path)


def _owner(path: str) -> int | None:
    try:
        with open(path + _OPEN) as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


def _alive(process: int) -> bool:
    if os.name == "nt":
        return process == os.getpid()  # a signal of 0 would end the process there
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _remove(path: str) -> None:
    if os.path.exists(path):
        os.unlink(path)
