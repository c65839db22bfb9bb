"""Opens the SQLite file of a recording safely: is it ours, is it whole, may its log be written back."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gradviz.errors import DamagedRecordingError
from gradviz.store import alive, replace
from gradviz.store.check import SQLITE_ERRORS, Head, cannot_read, check_head, check_tables
from gradviz.store.guard import LOG
from gradviz.texts import tr

_JOURNAL = "-journal"
_BUSY_SECONDS = 5.0


@dataclass(frozen=True)
class Opened:
    """How to connect to a recording for reading.

    `live`: somebody may still write it. A connection to it must not stay open then: it holds a lock that keeps the
    log from being written back, and a script that removes the file makes it go on under another inode.
    `missing` says in a sentence what the file lacks.
    """

    path: str
    options: str
    live: bool = False
    salvage: bool = False
    missing: str | None = None
    folder: tempfile.TemporaryDirectory[str] | None = None

    def connect(self) -> sqlite3.Connection:
        """A new connection.

        Raises:
            sqlite3.Error: the file is gone or may not be read.
        """
        connection = sqlite3.connect(
            f"{Path(self.path).as_uri()}?{self.options}",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=_BUSY_SECONDS,
        )
        try:
            connection.execute("PRAGMA trusted_schema=OFF")
            connection.execute("PRAGMA cell_size_check=ON")
            connection.execute("PRAGMA mmap_size=0")  # a mapped file that is cut short kills the process
            connection.execute("PRAGMA temp_store=MEMORY")
            if self.salvage:
                # Without this SQLite refuses a file that is shorter than its header says, also what is whole in it.
                connection.execute("PRAGMA writable_schema=ON")
        except BaseException:
            connection.close()
            raise
        return connection

    def size(self) -> int:
        """Bytes of the file and of its log."""
        return sum(os.path.getsize(p) for p in (self.path, self.path + LOG) if os.path.exists(p))

    def close(self) -> None:
        """Remove the copy, where one was made."""
        if self.folder is not None:
            self.folder.cleanup()


def open_database(path: str, live: bool = False) -> Opened:
    """Open a recording for reading. `live`: a worker still writes it, so its log is left alone.

    A recording whose worker was killed has a log beside it; it is written back first, or, where the place is
    read-only, a copy of both files is read.

    Raises:
        NotARecordingError: not an SQLite file of ours.
        NewerRecordingError: of a newer major version.
        DamagedRecordingError: cut off before its tables.
        RecordingError: cannot be read.
    """
    path = os.path.abspath(path)
    head = check_head(path)
    problem: Exception | None = None
    for way in _ways(path, head, live):
        try:
            opened = way()
            _try(opened)
        except SQLITE_ERRORS as error:
            problem = error
        except OSError as error:
            raise cannot_read(path, error.strerror or error) from error
        else:
            return opened
    raise DamagedRecordingError(
        tr("The recording {path!r} is cut off or damaged before its first table ({why}).", path=path, why=problem)
    ) from problem


def _try(opened: Opened) -> None:
    try:
        connection = opened.connect()
        try:
            check_tables(connection, opened.path)
        finally:
            connection.close()
    except BaseException:
        opened.close()
        raise


def _ways(path: str, head: Head, live: bool) -> Iterator[Callable[[], Opened]]:
    """The ways to read a file, best first; the next one is tried when SQLite finds the file malformed or locked."""
    if live:
        yield lambda: Opened(path, "mode=ro", live=True)
    elif head.wal_mode:
        yield from _ways_with_log(path)
    elif not os.path.exists(path + _JOURNAL):
        # SQLite takes a last page of which only a part is there for a whole one.
        yield lambda: Opened(path, "mode=ro", missing=_cut(head))
    # A journal is left when a process was killed while it left WAL mode: the file itself is whole. It is not played
    # back, since a stranger's journal can name a file that SQLite would then delete.
    yield lambda: Opened(path, "immutable=1", salvage=True, missing=_cut(head))


def _ways_with_log(path: str) -> Iterator[Callable[[], Opened]]:
    has_log = os.path.exists(path + LOG)
    if has_log and _is_written(path):
        yield lambda: Opened(path, "mode=ro", live=True)
    if os.access(path, os.W_OK) and os.access(os.path.dirname(path), os.W_OK):
        if not os.path.exists(path + _JOURNAL):
            yield lambda: _finished(path)
        yield lambda: Opened(path, "mode=ro", live=True)
    if has_log:
        yield lambda: _copied(path)
    yield lambda: Opened(path, "immutable=1")


def _finished(path: str) -> Opened:
    replace.finish(path, timeout=0.1)
    return Opened(path, "mode=ro")


def _copied(path: str) -> Opened:
    folder = tempfile.TemporaryDirectory(prefix="gradviz-")
    copy = os.path.join(folder.name, "recording.gradviz")
    try:
        for side in ("", LOG):
            shutil.copyfile(path + side, copy + side)
    except BaseException:
        folder.cleanup()
        raise
    return Opened(copy, "mode=ro", folder=folder)


def _is_written(path: str) -> bool:
    """Tell whether the process that made the recording still runs."""
    try:
        connection = Opened(path, "mode=ro").connect()
        try:
            check_tables(connection, path)
            row = connection.execute("SELECT value FROM meta WHERE key='writer'").fetchone()
        finally:
            connection.close()
        return row is not None and alive.is_running(json.loads(row[0]))
    except (sqlite3.Error, ValueError, TypeError, RecursionError):
        return False


def _cut(head: Head) -> str | None:
    if not head.cut_off:
        return None
    there, all_of_it = head.size, head.pages * head.page_size
    return tr("The file is cut off: {there:,} of {all:,} bytes are there.", there=there, all=all_of_it)
