"""Damaged files in thousands of ways: no crash, no hang, no error but ours, and never a value that was not recorded.

`GRADVIZ_FUZZ=50000 python -m pytest -o timeout=0 tests/store/test_fuzz.py` tries more of them. Done once, on 2026-11-30
(21 minutes): nothing was found. Runs before had found rows of another table on exchanged pages, a message of SQLite's
that Python cannot decode, and a search through 100,000 call numbers.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradviz.errors import GradvizError
from gradviz.model import Recording
from gradviz.store.json_view import json_text
from gradviz.store.reader import close_recording, open_recording
from gradviz.store.tables import TABLES
from tests.store import damage, samples

FILES = int(os.environ.get("GRADVIZ_FUZZ", "2000"))
LONGEST = 5  # seconds of processor time that reading one file may take
ASLEEP = 60  # seconds on the clock, for a wait that ends by itself never; this machine may be busy
PAGE = 4096

# Most files are damaged as disks and copies do it, the others by SQL, with and without right checksums.
BYTES, LOGS, SQL, TRAPPED = FILES // 2, FILES * 2 // 10, FILES * 25 // 100, FILES * 5 // 100


class Hang(BaseException):
    """Reading took too long. No error of ours, and none that is caught anywhere."""


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise Hang

    before = {number: signal.signal(number, stop) for number in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(ASLEEP)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        for number, handler in before.items():
            signal.signal(number, handler)


@cache
def wanted() -> Recording:
    return damage.larger()


@cache
def folder() -> Path:
    """A place in memory where there is one: thousands of files are written."""
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    kept = tempfile.TemporaryDirectory(dir=base, prefix="gradviz-fuzz-")
    folder.kept = kept  # type: ignore[attr-defined]
    return Path(kept.name)


@cache
def finished() -> bytes:
    """A finished recording."""
    path = folder() / "whole.gradviz"
    samples.write(wanted(), path)
    return path.read_bytes()


@cache
def killed() -> tuple[bytes, bytes]:
    """Main file and log of a recording whose writer was killed; the log has about as much as the file."""
    path = folder() / "killed.gradviz"
    script = (
        "import os, pathlib, sys\nfrom tests.store import damage, samples\nfrom gradviz.store.writer import Writer\n"
        "Writer.close = lambda self: os._exit(0)\nsamples.write(damage.larger(), pathlib.Path(sys.argv[1]))\n"
    )
    samples.run_python(script, str(path))
    return path.read_bytes(), path.with_name("killed.gradviz-wal").read_bytes()


def read(main: bytes, log: bytes | None = None) -> None:
    """Write the files, read all that can be read of them, in time; compare with what was recorded."""
    place = folder() / "damaged"
    place.mkdir(exist_ok=True)
    path = place / "r.gradviz"
    path.write_bytes(main)
    if log is not None:
        path.with_name("r.gradviz-wal").write_bytes(log)
    try:
        with time_limit(LONGEST):
            damage.read_and_compare(str(path), wanted())
    finally:
        shutil.rmtree(place)


# Anywhere (places are taken modulo the size), but at times in the header, where a byte means much.
offsets = st.one_of(
    *[st.binary(min_size=4, max_size=4).map(lambda four: int.from_bytes(four, "big"))] * 5, st.integers(0, 120)
)
Damage = tuple[str, int, int, bytes]
damages = st.tuples(
    st.sampled_from(
        [*["flip", "set", "zero", "cut", "swap", "copy page", "random page", "garbage"] * 2, "insert", "remove"]
    ),
    offsets,
    offsets,
    st.binary(min_size=1, max_size=40),
)


def harmed(data: bytes, kind: str, at: int, other: int, noise: bytes) -> bytes:
    """One damage of a file; places are taken modulo its size."""
    size = max(len(data), 1)
    at, other = at % size, other % size
    pages = max(size // PAGE, 1)
    here, there = at % pages * PAGE, other % pages * PAGE
    match kind:
        case "flip":
            return data[:at] + bytes([data[at] ^ (1 << other % 8)]) + data[at + 1 :] if data else data
        case "set":
            return data[:at] + noise + data[at + len(noise) :]
        case "zero":
            return data[:at] + bytes(min(other % 9000, size - at)) + data[at + min(other % 9000, size - at) :]
        case "cut":
            return data[:at]
        case "swap":
            first, second = sorted((here, there))
            if first == second:
                return data
            return (
                data[:first] + data[second : second + PAGE] + data[first + PAGE : second]
                + data[first : first + PAGE] + data[second + PAGE :]
            )  # fmt: skip
        case "copy page":
            return data[:here] + data[there : there + PAGE] + data[here + PAGE :]
        case "insert":
            return data[:at] + noise + data[at:]
        case "remove":
            return data[:at] + data[at + len(noise) :]
        case "random page":
            return data[:here] + (noise * PAGE)[:PAGE] + data[here + PAGE :]
        case _:
            return data[:at] + noise * (other % 200) + data[at + len(noise) * (other % 200) :]


fuzz = settings(
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)


@settings(fuzz, max_examples=BYTES)
@given(st.lists(damages, min_size=1, max_size=4))
def test_damaged_bytes(harm: list[Damage]) -> None:
    data = finished()
    for one in harm:
        data = harmed(data, *one)
    read(data)


@settings(fuzz, max_examples=LOGS)
@given(st.lists(damages, max_size=2), st.lists(damages, max_size=3))
def test_damaged_logs(main_harm: list[Damage], log_harm: list[Damage]) -> None:
    main, log = killed()
    for one in main_harm:
        main = harmed(main, *one)
    for one in log_harm:
        log = harmed(log, *one)
    read(main, log)


values = st.one_of(
    st.none(),
    st.integers(-3, 30),
    st.sampled_from([1 << 31, (1 << 63) - 1, -(1 << 63), 1 << 40, 0x7FFFFFFF]),
    st.floats(),
    st.binary(max_size=60),
    st.sampled_from(
        ["", "x", "[]", "{}", "null", "[[]]", "[1]", "[1e999]", "NaN", "[" * 3000, '{"a": 1}', "\x00", "é"]
    ),
    st.text(max_size=8),
)
changes = st.tuples(
    st.sampled_from(sorted(TABLES)), st.integers(0, 40), st.integers(0, 200), values, st.booleans(), st.booleans()
)


@settings(fuzz, max_examples=SQL)
@given(st.lists(changes, min_size=1, max_size=3))
def test_changed_values(harm: list[tuple[str, int, int, object, bool, bool]]) -> None:
    """Values that no recorder writes. With right checksums anything may be read, but it must be of its type."""
    path = folder() / "sql.gradviz"
    path.write_bytes(lenient())
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=MEMORY")
    connection.execute("PRAGMA synchronous=OFF")
    forged = False
    for one in harm:
        forged |= changed(connection, *one)
    strict(connection)
    connection.close()
    with time_limit(LONGEST):
        if forged:
            read_without_oracle(path)
        else:
            damage.read_and_compare(str(path), wanted())


def changed(
    connection: sqlite3.Connection, table: str, column: int, row: int, value: object, right: bool, insert: bool
) -> bool:
    """Change one value of a row, or add a row that differs in it; tell whether its checksum is right."""
    shape = TABLES[table]
    names = (*shape.columns, "crc")
    rows = connection.execute(shape.select()).fetchall()
    if not rows:
        return False
    old = rows[row % len(rows)]
    at = column % len(names)
    fresh = [*old[:at], value, *old[at + 1 :]]
    if right:
        fresh[-1] = shape.checksum(fresh[:-1])
    try:
        if not insert:
            keys = [old[names.index(name)] for name in shape.key]
            connection.execute(f"DELETE FROM {table} WHERE " + " AND ".join(f"{k}=?" for k in shape.key), keys)
        connection.execute(shape.insert(), fresh)
    except sqlite3.IntegrityError:
        return False  # a key that cannot be
    return right


@cache
def lenient() -> bytes:
    """The finished recording with tables that take NULL everywhere."""
    path = folder() / "lenient.gradviz"
    path.write_bytes(finished())
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA writable_schema=ON")
    connection.execute("UPDATE sqlite_schema SET sql=replace(sql, 'NOT NULL', '/**/')")
    connection.close()
    return path.read_bytes()


def strict(connection: sqlite3.Connection) -> None:
    """Give the tables our statements again."""
    connection.execute("PRAGMA writable_schema=ON")
    connection.execute("UPDATE sqlite_schema SET sql=replace(sql, '/**/', 'NOT NULL')")


def read_without_oracle(path: Path) -> None:
    """Read everything, as JSON too, which goes through every value."""
    try:
        found = open_recording(str(path))
    except GradvizError as error:
        assert str(error)
        return
    try:
        text = "".join(json_text(found))
        assert text.startswith("{") and text.endswith("}")
        found.source.bindings(), found.source.sources(), found.source.output()
    finally:
        close_recording(found)


TRAPS = [
    "ALTER TABLE {0} RENAME TO {1}x",
    "DROP TABLE {0}",
    "DELETE FROM {0}",
    "CREATE TABLE {1}x (a)",
    "CREATE VIEW {1}x AS SELECT 1",
    "CREATE INDEX {1}x ON {0} (crc)",
    "CREATE TRIGGER {1}x AFTER INSERT ON {0} BEGIN SELECT 1; END",
    "ALTER TABLE {0} ADD COLUMN more",
    "PRAGMA user_version=2000",
    "PRAGMA user_version=1001",
    "PRAGMA application_id=1",
    "UPDATE sqlite_schema SET rootpage=(SELECT rootpage FROM sqlite_schema WHERE name='{1}') WHERE name='{0}'",
    "UPDATE sqlite_schema SET rootpage=rootpage+1 WHERE name='{0}'",
    "UPDATE sqlite_schema SET rootpage=99999999 WHERE name='{0}'",
    "UPDATE sqlite_schema SET sql=sql || ' ' WHERE name='{0}'",
    "UPDATE sqlite_schema SET sql=replace(sql, 'TEXT', 'BLOB') WHERE name='{0}'",
    "UPDATE sqlite_schema SET sql=NULL WHERE name='{0}'",
    "UPDATE sqlite_schema SET type='view', sql='CREATE VIEW {0} AS SELECT 1' WHERE name='{0}'",
    "UPDATE {0} SET crc=crc+1",
    "UPDATE OR IGNORE {0} SET crc='x'",
]


@settings(fuzz, max_examples=TRAPPED)
@given(st.lists(st.tuples(st.sampled_from(TRAPS), st.sampled_from(sorted(TABLES)), st.sampled_from(sorted(TABLES))),
                min_size=1, max_size=2))  # fmt: skip
def test_changed_tables(traps: list[tuple[str, str, str]]) -> None:
    path = folder() / "tables.gradviz"
    path.write_bytes(finished())
    for sql, table, other in traps:
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            connection.execute("PRAGMA writable_schema=ON")
            connection.execute(sql.format(table, other))
        except sqlite3.Error:
            pass  # the file is already beyond SQL; it is read all the same
        finally:
            connection.close()
    with time_limit(LONGEST):
        damage.read_and_compare(str(path), wanted())
