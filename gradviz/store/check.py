"""Is a file a recording of ours? Asked before anything in it is used: a view in a table's place can run for ever."""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from dataclasses import dataclass
from functools import cache

from gradviz.errors import NewerRecordingError, NotARecordingError, RecordingError
from gradviz.store.schema import APPLICATION_ID, MAJOR, MINOR, STATEMENTS, VERSION
from gradviz.texts import tr

# What a query raises: of a damaged schema SQLite quotes bytes that are no text, and Python cannot decode that message.
SQLITE_ERRORS = (sqlite3.Error, UnicodeError)
_MAGIC = b"SQLite format 3\x00"
_HEAD = 100  # bytes of an SQLite file's header
_STEPS_PER_TICK = 100_000
_FEWEST_TICKS = 50
# A row takes at least some bytes of the file and some tens of steps of SQLite's machine.
_STEPS_PER_BYTE = 16


@dataclass(frozen=True)
class Head:
    """What the first 100 bytes of an SQLite file say. `pages` is 0 where they do not know the size."""

    wal_mode: bool
    page_size: int
    pages: int
    size: int  # of the file, in bytes

    @property
    def cut_off(self) -> bool:
        """Whether the file is shorter than it says."""
        return self.pages * self.page_size > self.size


def check_head(path: str) -> Head:
    """Read the header of a recording without SQLite, which would write back the log of any file.

    Raises:
        NotARecordingError: not an SQLite file of ours.
        RecordingError: cannot be read.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would wait for ever
            raise not_ours(path)
        with open(path, "rb") as file:
            head = file.read(_HEAD)
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise cannot_read(path, error.strerror or str(error)) from error
    if len(head) < _HEAD or not head.startswith(_MAGIC) or int.from_bytes(head[68:72], "big") != APPLICATION_ID:
        raise not_ours(path)
    page_size = int.from_bytes(head[16:18], "big")
    # The count of pages stands only when it was written together with the change counter.
    pages = int.from_bytes(head[28:32], "big") if head[24:28] == head[92:96] else 0
    return Head(head[18:20] == b"\x02\x02", 65536 if page_size == 1 else page_size, pages, size)


def check_tables(connection: sqlite3.Connection, path: str) -> None:
    """Compare version and tables with ours.

    Raises:
        NotARecordingError: other tables, views, triggers, indices.
        NewerRecordingError: of a newer major version.
        sqlite3.DatabaseError: cut off or damaged before its first table.
    """
    bound(connection, 0)
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application != APPLICATION_ID or version < 1000:
        raise not_ours(path)
    if version // 1000 > MAJOR:
        raise newer(path, version // 1000, version % 1000)
    rows = connection.execute("SELECT type, name, sql FROM sqlite_schema").fetchall()
    found = {(kind, name): _plain(sql) for kind, name, sql in rows}
    if len(found) != len(rows) or not (found == _expected() or (version > VERSION and _extends(found))):
        raise NotARecordingError(
            tr("The tables of {path!r} are not those of a gradviz recording; it was not opened.", path=path)
        )


def bound(connection: sqlite3.Connection, size: int) -> None:
    """Allow the next query as many steps as an honest recording of `size` bytes can need."""
    left = _FEWEST_TICKS + size * _STEPS_PER_BYTE // _STEPS_PER_TICK

    def tick() -> int:
        nonlocal left
        left -= 1
        return int(left < 0)

    connection.set_progress_handler(tick, _STEPS_PER_TICK)


def _extends(found: dict[tuple[str, str], str]) -> bool:
    """Whether the tables are ours, with columns added at the end, and plain tables beside them."""
    ours = _expected()
    return ours.keys() <= found.keys() and all(
        key[0] == "table" and (sql == ours.get(key) or _may_follow(sql, ours.get(key))) for key, sql in found.items()
    )


def _may_follow(sql: str, ours: str | None) -> bool:
    """Whether a newer minor version may have this CREATE statement: a plain table, which begins like ours."""
    body, _, tail = sql.rpartition(")")
    if not re.fullmatch(r"CREATE TABLE \w+ \([\w ,()]*", body) or tail not in ("", " WITHOUT ROWID"):
        return False
    if re.search(r"\b(AS|CHECK|DEFAULT|COLLATE|GENERATED|REFERENCES|SELECT)\b", body, re.IGNORECASE):
        return False
    if ours is None:
        return True
    mine, _, my_tail = ours.rpartition(")")
    columns, key, names = mine.partition(", PRIMARY KEY (")
    return tail == my_tail and body.startswith(columns.rstrip() + ", ") and (not key or key + names in body)


@cache
def _expected() -> dict[tuple[str, str], str]:
    statements = [part.strip() for part in STATEMENTS.split(";")]
    return {("table", sql.split("(")[0].split()[-1]): sql for sql in statements if sql}


def _plain(sql: object) -> str:
    return sql if isinstance(sql, str) else ""


def newer(path: str, major: int, minor: int) -> NewerRecordingError:
    """The error for a recording of a newer major version."""
    return NewerRecordingError(
        tr(
            "The recording {path!r} has format {found}, this gradviz reads up to {ours}. Install a newer gradviz.",
            path=path,
            found=f"{major}.{minor}",
            ours=f"{MAJOR}.{MINOR}",
        )
    )


def not_ours(path: str) -> NotARecordingError:
    """The error for a file that is something else."""
    return NotARecordingError(
        tr(
            "{path!r} is not a gradviz recording. Open a file that `gradviz record` wrote, or the script itself.",
            path=path,
        )
    )


def cannot_read(path: str, why: object) -> RecordingError:
    """The error for a file that the system does not let us read."""
    return RecordingError(tr("The recording {path!r} cannot be read: {why}.", path=path, why=why))
