"""Recordings as files: put in the place of a lost one, finished, saved under another name."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from gradviz.errors import RecordingError
from gradviz.store.check import check_head
from gradviz.store.guard import INDEX, LOG, Held, identity_of
from gradviz.texts import tr

_CHUNK = 1 << 20


def put_back(held: Held) -> None:
    """Put byte-equal copies, with other inodes, in the place of a recording and of its log.

    They are read from the descriptors that are still ours, else by path. The `-shm` index is removed: SQLite builds
    it anew from the log. Nothing that is not ours is replaced.

    Raises:
        RecordingError: a file of the recording is lost, or another one has its name.
        OSError: the files cannot be copied.
    """
    fresh = {}
    try:
        for side in ("", LOG):
            if side in held.files:
                fresh[side] = _copy(held, side)
        for side in (LOG, INDEX, ""):
            if identity_of(held.path + side) not in (None, held.files.get(side)):
                raise RecordingError(tr("the script put another file in the place of {path!r}", path=held.path + side))
        if identity_of(held.path + INDEX) is not None:
            os.unlink(held.path + INDEX)
        for side in reversed(list(fresh)):
            os.replace(fresh.pop(side), held.path + side)
    finally:
        for name in fresh.values():
            os.unlink(name)


def _copy(held: Held, side: str) -> str:
    """Copy one file of a recording beside it and return the copy's name."""
    opened = held.open(side)
    if opened is None:
        raise RecordingError(tr("the script removed {path!r}", path=held.path + side))
    source, is_ours = opened
    name = f"{held.path}.{os.getpid()}.moving{side}"
    target = -1
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        target = os.open(name, flags, os.fstat(source).st_mode & 0o777)
        os.lseek(source, 0, os.SEEK_SET)  # SQLite seeks before each use of its own
        while part := os.read(source, _CHUNK):
            _write_all(target, part)
    except OSError:
        if target >= 0:
            os.unlink(name)
        raise
    finally:
        if target >= 0:
            os.close(target)
        if is_ours:
            os.close(source)
    return name


def _write_all(target: int, part: bytes) -> None:
    while part:
        part = part[os.write(target, part) :]


def finish(path: str, timeout: float = 5.0) -> None:
    """Make a recording one plain file: write the log back and leave WAL mode. `timeout` in seconds, for its users.

    Raises:
        RecordingError: it is not a recording.
        sqlite3.Error: the file is damaged, in use, or its place is read-only.
    """
    check_head(path)
    uri = f"{Path(path).absolute().as_uri()}?mode=rw"  # never makes a file where there is none
    connection = sqlite3.connect(uri, uri=True, timeout=timeout, isolation_level=None)
    try:
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("PRAGMA mmap_size=0")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode=DELETE")
    finally:
        connection.close()
