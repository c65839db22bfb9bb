"""Opening: what is ours opens wherever it lies and however its writer ended; what is not is refused and untouched."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace as replace_fields
from pathlib import Path

import pytest

from gradviz.errors import (
    DamagedRecordingError,
    GradvizError,
    NewerRecordingError,
    NotARecordingError,
    RecordingError,
)
from gradviz.store import replace
from gradviz.store.reader import Reader, close_recording, open_recording
from gradviz.store.rows import CallEnd, CallStart
from gradviz.store.schema import MAJOR, MINOR, STATEMENTS, VERSION
from gradviz.store.tables import META, TABLES
from gradviz.store.writer import Writer
from tests.store import samples
from tests.store.test_hostile import BEFORE, check_calls, record

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "r.gradviz"
    samples.write(samples.sample(), path)
    return path


def changed(path: Path, *statements: str) -> Path:
    """Run SQL on a recording, with the schema writable."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA writable_schema=ON")
    for statement in statements:
        connection.execute(statement)
    connection.close()
    return path


def numbers(path: Path, live: bool = False) -> list[int]:
    found = open_recording(str(path), live)
    assert found.damage is None
    close_recording(found)
    return [call.number for call in found.calls]


# -- what is not ours ------------------------------------------------------------------------------------------------


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    def empty(path: Path) -> None:
        path.write_bytes(b"")

    def text(path: Path) -> None:
        path.write_text("import torch\n" * 100)

    def other_database(path: Path) -> None:
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE t (a)")
        connection.close()

    def folder(path: Path) -> None:
        path.mkdir()

    def pipe(path: Path) -> None:
        os.mkfifo(path)

    makers: list[Callable[[Path], None]] = [empty, text, other_database, folder, pipe]
    for make in makers:
        path = tmp_path / make.__name__
        make(path)
        with pytest.raises(NotARecordingError, match=make.__name__):
            open_recording(str(path))
    with pytest.raises(RecordingError, match="nothing"):
        open_recording(str(tmp_path / "nothing"))


def test_another_programs_database_is_not_touched(tmp_path: Path) -> None:
    """Opening any database in WAL mode for writing would write its log back and delete it."""
    path = tmp_path / "mail.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE t (a)")
    connection.commit()
    before = {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()}
    for live in (False, True):
        with pytest.raises(NotARecordingError):
            open_recording(str(path), live)
    with pytest.raises(NotARecordingError):
        Writer(str(path), None)
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == before
    connection.close()


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"
HOSTILE = {
    "view": ["DROP TABLE strings", f"CREATE VIEW strings AS {ENDLESS} i AS id, 'x' AS text FROM n"],
    "view in a call": ["DROP TABLE sources", f"CREATE VIEW sources AS {ENDLESS} i AS file, 'x' AS text FROM n"],
    "trigger": ["CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM calls; END"],
    "hidden trigger": [
        "CREATE TRIGGER t AFTER INSERT ON output BEGIN DELETE FROM calls; END",
        "UPDATE sqlite_schema SET name='sqlite_t', sql=replace(sql, 'TRIGGER t', 'TRIGGER sqlite_t') WHERE name='t'",
    ],
    "index": ["CREATE INDEX i ON calls (label)"],
    "table": ["CREATE TABLE more (a)"],
    "column": ["ALTER TABLE calls ADD COLUMN more"],
    "fewer columns": ["ALTER TABLE calls DROP COLUMN note"],
    "dropped table": ["DROP TABLE events"],
    "renamed": ["ALTER TABLE events RENAME TO event"],
    "virtual": ["DROP TABLE events", "CREATE VIRTUAL TABLE events USING fts5(a)"],
    "twice": [
        "INSERT INTO sqlite_schema SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema WHERE name='meta'"
    ],
    "types": ["UPDATE sqlite_schema SET type=1 WHERE name='meta'"],
    "older": ["PRAGMA user_version=999"],
    "negative": ["PRAGMA user_version=-5000"],
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_other_tables_are_refused_at_once(recording: Path, kind: str) -> None:
    changed(recording, *HOSTILE[kind])
    before, started = recording.read_bytes(), time.monotonic()
    for live in (False, True):
        with pytest.raises((NotARecordingError, DamagedRecordingError), match=r"r\.gradviz"):
            open_recording(str(recording), live)
    with pytest.raises(RecordingError):
        Writer(str(recording), None)
    assert time.monotonic() - started < 5
    assert recording.read_bytes() == before


def test_a_table_whose_pages_point_at_each_other_ends(recording: Path) -> None:
    """Sixteen pages of 200 children each would be 200 ** 15 rows."""
    connection = sqlite3.connect(recording)
    (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name='strings'").fetchone()
    connection.close()
    data = bytearray(recording.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    leaf, first = bytes(data[(root - 1) * size : root * size]), len(data) // size + 1
    pages = [root, *range(first, first + 15)]
    for level, page in enumerate(pages):
        child = pages[level + 1] if level < 15 else page
        data[(page - 1) * size : page * size] = interior_page(size, child) if level < 15 else leaf
    data[28:32] = (len(data) // size).to_bytes(4, "big")
    recording.write_bytes(data)
    started = time.monotonic()
    found = open_recording(str(recording))
    for call in found.calls:
        try:
            found.graph(call.number)
        except DamagedRecordingError:
            continue
    assert time.monotonic() - started < 5
    close_recording(found)


def interior_page(size: int, child: int) -> bytes:
    """An interior page of a table whose 200 children are all the same page."""
    page = bytearray(size)
    cells = 200
    cell = child.to_bytes(4, "big") + b"\x01"
    at = size - cells * len(cell)
    page[0:12] = b"\x05\x00\x00" + cells.to_bytes(2, "big") + at.to_bytes(2, "big") + b"\x00" + child.to_bytes(4, "big")
    for index in range(cells):
        page[12 + 2 * index : 14 + 2 * index] = (at + index * len(cell)).to_bytes(2, "big")
        page[at + index * len(cell) : at + (index + 1) * len(cell)] = cell
    return bytes(page)


# -- versions --------------------------------------------------------------------------------------------------------


def test_a_newer_major_version_is_refused_by_name(recording: Path) -> None:
    changed(recording, f"PRAGMA user_version={MAJOR + 1}003", "CREATE TABLE more (a)")
    with pytest.raises(NewerRecordingError) as caught:
        open_recording(str(recording))
    assert str(recording) in str(caught.value)
    assert f"{MAJOR + 1}.3" in str(caught.value) and f"{MAJOR}.{MINOR}" in str(caught.value)


def test_a_newer_format_is_refused_also_where_the_header_of_the_file_is_old(recording: Path) -> None:
    row = ("format", json.dumps({"major": MAJOR + 2, "minor": 7}))
    put = "INSERT OR REPLACE INTO meta VALUES ('{}', '{}', {})"
    changed(recording, put.format(*row, META.checksum(row)))
    with pytest.raises(NewerRecordingError) as caught:
        open_recording(str(recording))
    assert str(recording) in str(caught.value)
    assert f"{MAJOR + 2}.7" in str(caught.value) and f"{MAJOR}.{MINOR}" in str(caught.value)


@pytest.mark.parametrize("text", ["no JSON", "[]", '{"major": "2", "minor": 0}', '{"major": 1, "minor": 9}'])
def test_a_format_that_is_no_newer_version_hides_nothing(text: str, recording: Path) -> None:
    row = ("format", text)
    changed(recording, f"INSERT OR REPLACE INTO meta VALUES ('format', '{text}', {META.checksum(row)})")
    found = open_recording(str(recording))
    assert found.calls and found.damage is None
    close_recording(found)


def test_an_older_major_version_is_read(recording: Path) -> None:
    """The examples' recordings in `resources` are some."""
    changed(recording, f"PRAGMA user_version={MAJOR - 1}000")
    found = open_recording(str(recording))
    assert found.calls == samples.sample().calls and found.damage is None
    close_recording(found)


def newer_minor(path: Path, *replaced: tuple[str, str]) -> Path:
    """A recording of the next minor version, made with a schema that has these changes."""
    schema = STATEMENTS
    for old, new in replaced:
        assert old in schema
        schema = schema.replace(old, new)
    fresh = path.with_name("new.gradviz")
    connection = sqlite3.connect(fresh, isolation_level=None)
    connection.executescript(schema)
    connection.execute("ATTACH ? AS old", (str(path),))
    for table in TABLES.values():
        columns = ", ".join((*table.columns, "crc"))
        writable = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table.name})")]
        if set(writable) >= {*table.columns, "crc"}:
            connection.execute(f"INSERT INTO {table.name} ({columns}) SELECT {columns} FROM old.{table.name}")
    connection.execute("DETACH old")
    connection.execute("PRAGMA application_id=0x47525644")
    connection.execute(f"PRAGMA user_version={VERSION + 1}")
    connection.close()
    return fresh


ADDED = (
    (
        "before_call INTEGER, crc INTEGER)",
        "before_call INTEGER, crc INTEGER, memory INTEGER, device TEXT)",
    ),
    ("crc INTEGER, PRIMARY KEY (call, idx)", "crc INTEGER, extra BLOB, PRIMARY KEY (call, idx)"),
    ("CREATE TABLE sources", "CREATE TABLE spans (id INTEGER PRIMARY KEY, name TEXT);\nCREATE TABLE sources"),
)


def test_a_newer_minor_version_is_read(recording: Path) -> None:
    path = newer_minor(recording, *ADDED)
    found = open_recording(str(path))
    wanted = samples.sample()
    assert found.calls == wanted.calls
    assert [found.detail(call.number) for call in found.calls] == [wanted.detail(call.number) for call in wanted.calls]
    close_recording(found)


@pytest.mark.parametrize(
    "replaced",
    [
        ("line INTEGER, before_call INTEGER, crc", "line INTEGER, before_call INTEGER AS (line), crc"),
        (
            "before_call INTEGER, crc INTEGER)",
            "before_call INTEGER, crc INTEGER, twice INTEGER AS (crc * 2))",
        ),
        ("line INTEGER, before_call INTEGER, crc", "line INTEGER, crc"),
        ("label TEXT NOT NULL, api TEXT NOT NULL", "api TEXT NOT NULL, label TEXT NOT NULL"),
        ("CREATE TABLE sources", "CREATE VIEW spans AS SELECT 1;\nCREATE TABLE sources"),
        ("CREATE TABLE sources", "CREATE INDEX spans ON calls (label);\nCREATE TABLE sources"),
        ("CREATE TABLE sources", "CREATE VIRTUAL TABLE spans USING fts5(a);\nCREATE TABLE sources"),
    ],
)
def test_a_newer_minor_version_may_only_add(recording: Path, replaced: tuple[str, str]) -> None:
    path = newer_minor(recording, replaced)
    with pytest.raises(NotARecordingError):
        open_recording(str(path))


# -- writers that were killed, places that are read-only ------------------------------------------------------------


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """A recording of two calls whose writer was killed: its log is beside it."""
    run_writer("one(2)\nos._exit(0)", tmp_path)
    path = tmp_path / "r.gradviz"
    assert path.with_name("r.gradviz-wal").stat().st_size > 0
    return path


def run_writer(script: str, folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-c", BEFORE + script], cwd=folder, env=environment, check=True, timeout=60)


def test_the_log_of_a_killed_writer_is_written_back(killed: Path) -> None:
    assert numbers(killed) == [1, 2]
    assert [path.name for path in killed.parent.iterdir()] == ["r.gradviz"]


def test_a_recording_without_its_log_opens_with_what_the_file_has(killed: Path) -> None:
    """Somebody copied the main file of a running recording: what ran is in it, its calls may not be."""
    copy = killed.with_name("copy.gradviz")
    shutil.copyfile(killed, copy)
    found = open_recording(str(copy))
    assert found.header == samples.HEADER
    assert found.outcome.kind == "running"
    assert found.calls == ()
    close_recording(found)


def test_a_log_that_is_cut_off_gives_the_calls_before(killed: Path) -> None:
    log = killed.with_name("r.gradviz-wal")
    log.write_bytes(log.read_bytes()[:-1000])
    found = open_recording(str(killed))
    assert [call.number for call in found.calls] == [1, 2]
    assert [call.complete for call in found.calls] == [True, False]
    check_calls(found)
    close_recording(found)


@pytest.mark.parametrize("mode", [b"\x01\x01", b"\x02\x02"])
def test_a_journal_beside_it_is_never_played_back(recording: Path, mode: bytes) -> None:
    """A journal can name another file, which SQLite then deletes."""
    data = bytearray(recording.read_bytes())
    data[18:20] = mode
    recording.write_bytes(data)
    victim = recording.with_name("victim")
    victim.write_bytes(b"not a journal of " + b"anything\x00")
    name = str(victim).encode()
    magic = bytes([0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7])
    header = (
        magic + bytes(4) + bytes(4) + (10).to_bytes(4, "big") + (512).to_bytes(4, "big") + (4096).to_bytes(4, "big")
    )
    tail = (0).to_bytes(4, "big") + name + len(name).to_bytes(4, "big") + sum(name).to_bytes(4, "big") + magic
    recording.with_name("r.gradviz-journal").write_bytes(header.ljust(512, b"\x00") + tail)
    before = recording.read_bytes()
    assert numbers(recording) == [1, 2, 3, 4]
    assert victim.exists()
    assert recording.read_bytes() == before


@pytest.fixture
def locked_folder() -> Iterator[Path]:
    """A folder that can be made read-only, reachable for an unprivileged user."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)
        os.chmod(name, 0o755)


def as_nobody(action: Callable[[], None]) -> None:
    """Run `action` in a fork without rights over the files (root may write into any folder)."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if os.getuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            action()
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("live", [False, True])
def test_a_read_only_place_with_a_plain_file(recording: Path, locked_folder: Path, live: bool) -> None:
    path = locked_folder / "r.gradviz"
    shutil.copyfile(recording, path)
    os.chmod(locked_folder, 0o555)

    def read() -> None:
        assert not os.access(locked_folder, os.W_OK)
        assert numbers(path, live) == [1, 2, 3, 4]

    as_nobody(read)


def test_a_read_only_place_with_a_closed_log(killed: Path, locked_folder: Path) -> None:
    """A file in WAL mode whose log was written back and is gone."""
    path = locked_folder / "r.gradviz"
    connection = sqlite3.connect(killed)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    shutil.copyfile(killed, path)
    assert path.read_bytes()[18:20] == b"\x02\x02"
    os.chmod(locked_folder, 0o555)

    def read() -> None:
        assert numbers(path) == [1, 2]

    as_nobody(read)


def test_a_read_only_place_with_a_log_beside(killed: Path, locked_folder: Path) -> None:
    path = locked_folder / "r.gradviz"
    for side in ("", "-wal"):
        shutil.copyfile(str(killed) + side, str(path) + side)
    os.chmod(locked_folder, 0o555)
    temporary = tempfile.gettempdir()
    before = set(os.listdir(temporary))

    def read() -> None:
        assert numbers(path) == [1, 2]
        assert not [name for name in set(os.listdir(temporary)) - before if name.startswith("gradviz-")]

    as_nobody(read)
    assert path.with_name("r.gradviz-wal").exists()


# -- while it is written -----------------------------------------------------------------------------------------------


class Worker:
    """A process that records a call whenever it is told to."""

    def __init__(self, folder: Path) -> None:
        script = "for line in sys.stdin:\n    exec(line)\n    print('done', flush=True)\n"
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", BEFORE + "print('done', flush=True)\n" + script],
            cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._wait()

    def tell(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        self._wait()

    def end(self) -> None:
        self.process.communicate(timeout=60)

    def _wait(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "done\n"


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    worker = Worker(tmp_path)
    yield worker
    worker.end()


def test_a_live_recording_shows_each_call_as_it_comes(tmp_path: Path, worker: Worker) -> None:
    path = tmp_path / "r.gradviz"
    found = open_recording(str(path), live=True)
    for number in (2, 3, 4):
        worker.tell(f"one({number})")
        again = found.source.recording()  # type: ignore[attr-defined]
        assert [call.number for call in again.calls] == list(range(1, number + 1))
        check_calls(again)
    worker.tell("writer.begin_call(samples.start_of(writer, samples.call(5, wanted.calls[0].roots), wanted.graph(1)))")
    again = found.source.recording()  # type: ignore[attr-defined]
    assert [call.complete for call in again.calls] == [True] * 4 + [False]
    assert again.graph(5) == samples.sample().graph(1)
    close_recording(found)


def test_a_live_reader_reads_only_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The window reads the heads after every call; a script makes tens of thousands."""
    writer = Writer(str(tmp_path / "r.gradviz"), samples.HEADER)
    found = open_recording(str(tmp_path / "r.gradviz"), live=True)
    rows: list[int] = []
    fetch = Reader._fetch

    def counting(reader: Reader, into: list[object], sql: str, arguments: tuple[object, ...]) -> None:
        fetch(reader, into, sql, arguments)
        rows.append(len(into))

    monkeypatch.setattr(Reader, "_fetch", counting)
    call = replace_fields(samples.sample().calls[0], note=None)
    for number in range(1, 400):
        writer.begin_call(CallStart(replace_fields(call, number=number, label=str(number), roots=()), [], []))
        writer.add_events([samples.Event("grad_cleared", number, ("w",))])
        writer.end_call(CallEnd(number, seconds=1.0))
        if number % 50 == 0 or number > 390:
            rows.clear()
            again = found.source.recording()  # type: ignore[attr-defined]
            assert [call.number for call in again.calls] == list(range(1, number + 1))
            assert all(call.complete for call in again.calls)
            assert [event.before_call for event in again.events] == list(range(1, number + 1))
            if number == 399:
                assert sum(rows) < 250
    writer.close()
    fresh = open_recording(str(tmp_path / "r.gradviz"))
    assert (fresh.calls, fresh.events) == (again.calls, again.events)
    close_recording(fresh)
    close_recording(found)


def test_a_call_that_goes_on_is_read_again_until_it_has_ended(tmp_path: Path) -> None:
    """Nested calls end before the one that started them, and hundreds may come in between."""
    writer = Writer(str(tmp_path / "r.gradviz"), samples.HEADER)
    found = open_recording(str(tmp_path / "r.gradviz"), live=True)
    writer.begin_call(CallStart(samples.call(1), [], []))
    for number in range(2, 300):
        writer.begin_call(CallStart(samples.call(number, parent=1, label=f"1.{number - 1}"), [], []))
        writer.end_call(CallEnd(number))
    assert not found.source.recording().call(1).complete  # type: ignore[attr-defined]
    writer.end_call(CallEnd(1, seconds=9.0))
    again = found.source.recording()  # type: ignore[attr-defined]
    assert (again.call(1).complete, again.call(1).seconds, len(again.calls)) == (True, 9.0, 299)
    writer.close()
    close_recording(found)


def test_a_live_reader_follows_a_recording_that_moved(tmp_path: Path, worker: Worker) -> None:
    """After its script closed all descriptors the recording goes on under another inode."""
    path = tmp_path / "r.gradviz"
    found = open_recording(str(path), live=True)
    worker.tell("os.closerange(3, 256)")
    worker.tell("one(2)")
    again = found.source.recording()  # type: ignore[attr-defined]
    assert [call.number for call in again.calls] == [1, 2]
    check_calls(again)
    close_recording(found)
    assert numbers(path) == [1, 2]


def test_an_open_live_reader_does_not_keep_the_log(tmp_path: Path, worker: Worker) -> None:
    found = open_recording(str(tmp_path / "r.gradviz"), live=True)
    found.graph(1)
    worker.tell("writer.close()")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.gradviz"]
    assert found.graph(1) == samples.sample().graph(1)
    close_recording(found)


def test_a_running_recording_is_not_finished_under_its_writer(tmp_path: Path, worker: Worker) -> None:
    """Opened without `live`, by another command. The script has read the file: that drops its process's locks."""
    path = tmp_path / "r.gradviz"
    worker.tell("open('r.gradviz').close()")
    assert numbers(path) == [1]
    assert path.with_name("r.gradviz-wal").exists()
    worker.tell("one(2)")
    assert numbers(path) == [1, 2]
    worker.tell("writer.close()")
    assert numbers(path) == [1, 2]


def test_a_reader_says_when_its_file_is_gone(recording: Path) -> None:
    found = open_recording(str(recording), live=True)
    recording.unlink()
    with pytest.raises(RecordingError, match=r"r\.gradviz"):
        found.graph(1)
    close_recording(found)


def test_a_closed_recording_says_so(recording: Path) -> None:
    found = open_recording(str(recording))
    close_recording(found)
    close_recording(found)
    for read in (found.graph, found.detail):
        with pytest.raises(GradvizError, match="closed"):
            read(1)


def test_finish_leaves_a_plain_file(tmp_path: Path) -> None:
    path = tmp_path / "r.gradviz"
    writer = Writer(str(path), samples.HEADER)
    record(writer, 1)
    writer.close()
    replace.finish(str(path))
    assert path.read_bytes()[18:20] == b"\x01\x01"
    assert numbers(path) == [1]


def test_finish_touches_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    for name, kind in (("mine", NotARecordingError), ("nothing", RecordingError)):
        with pytest.raises(kind):
            replace.finish(str(tmp_path / name))
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert (tmp_path / "mine").read_text() == "mine"
