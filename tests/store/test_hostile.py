"""A script that closes, forks, deletes and interrupts: its files stay its own, and the recording opens."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gradviz.errors import RecordingError
from gradviz.model import Recording
from gradviz.store import database, guard
from gradviz.store import writer as writer_module
from gradviz.store.reader import close_recording, open_recording
from gradviz.store.rows import CallEnd, CallStart
from gradviz.store.writer import Writer
from tests.store import samples

# A script that records by itself: `one(number)` is a call with five executions. Run as a process of its own.
BEFORE = """
import os, sys
from tests.store import samples
from gradviz.store.rows import CallEnd
from gradviz.store.writer import Writer

writer = Writer("r.gradviz", samples.HEADER)
wanted = samples.sample()

def one(number):
    call = samples.call(number, wanted.calls[0].roots)
    writer.begin_call(samples.start_of(writer, call, wanted.graph(1)))
    writer.add_executions(number, samples.executions(writer, wanted.detail(1).executions, True))
    writer.end_call(CallEnd(number))

def open_files():
    for number in range(8):
        file = open(f"user{number}", "w+b", buffering=0)
        file.write(b"user data %d" % number * 1000)
        files.append(file)

files = []
one(1)
"""


def run(script: str, folder: Path, exit_code: int = 0, **more: str) -> str:
    """Run a script after `BEFORE` and return its stderr."""
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1", **more}
    done = subprocess.run(
        [sys.executable, "-c", BEFORE + script], cwd=folder, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == exit_code, done.stderr
    return done.stderr


def opened_calls(path: Path) -> list[int]:
    """The numbers of the calls in a recording; each is compared with what was written."""
    found = open_recording(str(path))
    check_calls(found)
    close_recording(found)
    return [call.number for call in found.calls]


def check_calls(found: Recording) -> None:
    wanted = samples.sample()
    assert found.damage is None
    for call in found.calls:
        assert call.roots == wanted.calls[0].roots
        if call.complete:
            assert found.graph(call.number) == wanted.graph(1)
            assert found.detail(call.number).executions == wanted.detail(1).executions


def users_files_are_whole(folder: Path) -> None:
    names = [path for path in folder.iterdir() if path.name.startswith("user")]
    assert len(names) == 8
    for path in names:
        assert path.read_bytes() == b"user data %d" % int(path.name[4:]) * 1000


@pytest.mark.parametrize("ending", ["writer.close()", "pass", "del writer", "os._exit(0)"])
def test_closed_descriptors_never_carry_our_bytes(tmp_path: Path, ending: str) -> None:
    run(f"os.closerange(3, 256)\nopen_files()\none(2)\none(3)\n{ending}\n", tmp_path)
    users_files_are_whole(tmp_path)
    assert opened_calls(tmp_path / "r.gradviz") == [1, 2, 3]


@pytest.mark.parametrize("ending", ["writer.close()", "pass", "del writer"])
def test_descriptors_closed_after_the_last_call(tmp_path: Path, ending: str) -> None:
    """Closing, and the interpreter's own clearing up, would write the log back through the user's descriptors."""
    run(f"os.closerange(3, 256)\nopen_files()\n{ending}\n", tmp_path)
    users_files_are_whole(tmp_path)
    assert opened_calls(tmp_path / "r.gradviz") == [1]


def test_descriptors_may_be_lost_again_and_again(tmp_path: Path) -> None:
    run(
        "for number in range(2, 6):\n    os.closerange(3, 256)\n    one(number)\nopen_files()\nwriter.close()", tmp_path
    )
    users_files_are_whole(tmp_path)
    assert opened_calls(tmp_path / "r.gradviz") == [1, 2, 3, 4, 5]
    assert not [path for path in tmp_path.iterdir() if "moving" in path.name]


def test_a_single_descriptor_that_points_elsewhere(tmp_path: Path) -> None:
    script = """
open_files()
for number in list(writer._database._held.descriptors)[:1]:
    os.dup2(files[3].fileno(), number)
one(2)
writer.close()
"""
    run(script, tmp_path)
    users_files_are_whole(tmp_path)
    assert opened_calls(tmp_path / "r.gradviz") == [1, 2]


def test_the_recording_goes_on_under_a_new_inode(tmp_path: Path) -> None:
    """SQLite shares its lost descriptors with every new connection to the old inode."""
    script = "before = os.stat('r.gradviz').st_ino\nos.closerange(3, 256)\none(2)\n"
    run(script + "assert os.stat('r.gradviz').st_ino != before\nassert writer.stopped is None", tmp_path)


def test_a_deleted_recording_is_put_back(tmp_path: Path) -> None:
    run("for name in os.listdir('.'): os.unlink(name)\none(2)\nos._exit(0)", tmp_path)
    assert opened_calls(tmp_path / "r.gradviz") == [1, 2]


def test_a_deleted_folder_is_made_again_at_the_end(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "er"
    folder.mkdir(parents=True)
    script = "import shutil\nshutil.rmtree('..', ignore_errors=True)\none(2)\nassert not os.path.exists(writer.path)\n"
    run(script + "writer.close()", folder)
    assert opened_calls(folder / "r.gradviz") == [1, 2]


def test_another_file_in_our_place_is_left_alone(tmp_path: Path) -> None:
    """Also when our descriptors are lost at the same time."""
    for lost in ("", "os.closerange(3, 256)\n"):
        script = f"os.unlink('r.gradviz')\nopen('r.gradviz', 'w').write('mine')\n{lost}one(2)\nprint(writer.stopped)\n"
        run(script + "assert 'another file' in writer.stopped or 'removed' in writer.stopped\nwriter.close()", tmp_path)
        assert (tmp_path / "r.gradviz").read_text() == "mine"
        for path in tmp_path.iterdir():
            path.unlink()


def test_a_forks_child_leaves_the_file_alone(tmp_path: Path) -> None:
    """Its calls do nothing, also while a thread of the parent held the lock; and its end writes no log back."""
    script = """
import threading, time
writer._lock.acquire()
held = threading.Event()
started = os.fork()
if started == 0:
    threading.Thread(target=one, args=(7,)).start()  # another thread than the one that held the lock
    writer.close()
    writer.abandon()
    assert "copy" in writer.stopped
    sys.exit(0)
writer._lock.release()
assert os.waitpid(started, 0)[1] == 0
one(2)
assert os.path.getsize("r.gradviz-wal") > 0
os._exit(0)
"""
    run(script, tmp_path)
    assert opened_calls(tmp_path / "r.gradviz") == [1, 2]


def test_a_child_that_outlives_its_parent_writes_nothing_back(tmp_path: Path) -> None:
    """With the parent's locks gone SQLite would take the child for the last user of the log and delete it."""
    script = """
ours, theirs = os.pipe()
if os.fork() == 0:
    os.close(theirs)
    os.read(ours, 1)  # until the parent has ended
    del writer
    sys.exit(0)
os._exit(0)
"""
    run(script, tmp_path)
    assert (tmp_path / "r.gradviz-wal").exists()
    assert opened_calls(tmp_path / "r.gradviz") == [1]


def test_multiprocessing_children_do_no_harm(tmp_path: Path) -> None:
    script = """
import multiprocessing
context = multiprocessing.get_context("fork")
with context.Pool(2) as pool:
    assert pool.map(one, range(10, 20)) == [None] * 10
one(2)
writer.close()
"""
    run(script, tmp_path)
    assert opened_calls(tmp_path / "r.gradviz") == [1, 2]


def test_a_killed_writer_leaves_all_that_was_written(tmp_path: Path) -> None:
    run("one(2)\nos.kill(os.getpid(), 9)", tmp_path, -signal.SIGKILL)
    assert (tmp_path / "r.gradviz-wal").exists()
    assert opened_calls(tmp_path / "r.gradviz") == [1, 2]
    assert not (tmp_path / "r.gradviz-wal").exists()


def test_a_full_disk_stops_the_recording_and_not_the_script(tmp_path: Path) -> None:
    """A limit on the size of files is what a full disk is to SQLite, a failed write; a script may set one, too."""
    script = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
number = 2
while writer.stopped is None:
    one(number)
    number += 1
one(number)
assert writer.stopped.startswith("Recording stopped: "), writer.stopped
open("calls", "w").write(str(number - 2))
writer.close()
"""
    run(script, tmp_path)
    calls = opened_calls(tmp_path / "r.gradviz")
    last = int((tmp_path / "calls").read_text())
    assert last > 3
    assert calls in (list(range(1, last + 1)), list(range(1, last + 2)))  # the last one may have begun


def test_a_full_disk_at_the_start_is_an_error_that_leaves_nothing(tmp_path: Path) -> None:
    script = """
import resource, signal
from gradviz.errors import RecordingError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))
try:
    Writer("new.gradviz", samples.HEADER)
except RecordingError as error:
    assert "new.gradviz" in str(error)
else:
    raise SystemExit("no error")
assert [name for name in os.listdir(".") if name.startswith("new")] == []
os._exit(0)
"""
    run(script, tmp_path)


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "r.gradviz"
    path.write_bytes(b"something else")
    with pytest.raises(RecordingError, match="exists"):
        Writer(str(path), samples.HEADER)
    assert path.read_bytes() == b"something else"
    with pytest.raises(RecordingError, match="not a gradviz recording"):
        Writer(str(path), None)
    assert [entry.name for entry in tmp_path.iterdir()] == ["r.gradviz"]


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="nowhere"):
        Writer(str(tmp_path / "nowhere" / "r.gradviz"), samples.HEADER)


def test_a_file_that_another_process_holds_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is lost while it is held for a while; when it is never given back the recording stops and says so."""
    monkeypatch.setattr(database, "_BUSY_SECONDS", 0.01)
    writer = Writer(str(tmp_path / "r.gradviz"), samples.HEADER)
    other = sqlite3.connect(tmp_path / "r.gradviz", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    record(writer, 1)
    assert writer.stopped is None
    other.execute("COMMIT")
    record(writer, 2)
    other.execute("BEGIN IMMEDIATE")
    for number in range(3, 6):
        record(writer, number)
    assert writer.stopped is not None and "locked" in writer.stopped
    other.execute("COMMIT")
    other.close()
    writer.close()
    assert opened_calls(tmp_path / "r.gradviz") == [1, 2]


def record(writer: Writer, number: int) -> None:
    wanted = samples.sample()
    call = samples.call(number, wanted.calls[0].roots)
    writer.begin_call(samples.start_of(writer, call, wanted.graph(1)))
    writer.add_executions(number, samples.executions(writer, wanted.detail(1).executions, True))
    writer.end_call(CallEnd(number))


class Stop(BaseException):
    """What a handler of the user's raises."""


@pytest.mark.parametrize(("kind", "step"), [(Stop, 1), (TimeoutError, 3)])
def test_an_interrupt_at_any_line_loses_and_breaks_nothing(
    tmp_path: Path, kind: type[BaseException], step: int
) -> None:
    """An exception is raised before the k-th line that the writer runs, for every k, as a signal handler would.

    A TimeoutError is an OSError, which our own calls raise too.
    """
    path = tmp_path / "r.gradviz"
    writer = Writer(str(path), samples.HEADER)
    at, number, whole = 0, 0, set[int]()
    reached = True
    while reached:
        number += 1
        reached = interrupted(lambda: new_texts_and_call(writer, number), at, kind)  # noqa: B023
        number += 1
        new_texts_and_call(writer, number)
        assert writer.stopped is None
        whole.add(number)
        at += step
    assert at > 50  # so many lines there are
    whole.add(number - 1)  # which came to its end
    writer.close()
    calls = opened_calls(path)
    assert whole <= set(calls) <= set(range(1, number + 1))
    connection = sqlite3.connect(path)
    texts = {text for (text,) in connection.execute("SELECT text FROM strings")}
    connection.close()
    assert {f"text {number}" for number in whole} <= texts


def new_texts_and_call(writer: Writer, number: int) -> None:
    writer.intern(f"text {number}")
    writer.pack("float32", "cpu", (number, 0), b"")
    record(writer, number)


def interrupted(action: object, at: int, kind: type[BaseException]) -> bool:
    """Run `action` with an exception before line `at` of the modules that write; False when there are fewer lines."""
    count = 0
    ours = {module.__file__ for module in (writer_module, database, guard)}

    def trace(frame: object, event: str, argument: object) -> object:
        nonlocal count
        if frame.f_code.co_filename not in ours:  # type: ignore[attr-defined]
            return None
        if event == "line":
            count += 1
            if count == at + 1:
                sys.settrace(None)
                raise kind("a handler of the user's")
        return trace

    before = sys.gettrace()
    sys.settrace(trace)  # type: ignore[arg-type]
    try:
        action()  # type: ignore[operator]
    except kind:
        return True
    finally:
        sys.settrace(before)
    return False


def test_a_handler_that_records_inside_a_transaction(tmp_path: Path) -> None:
    """A signal handler or finaliser may run a backward of its own while we write."""
    path = tmp_path / "r.gradviz"
    writer = Writer(str(path), samples.HEADER)
    inside = []
    plain = writer._database._transact

    def transact(batch: object) -> None:
        if not inside:
            inside.append(1)
            record(writer, 2)
            assert writer.flush()
        plain(batch)  # type: ignore[arg-type]

    writer._database._transact = transact  # type: ignore[method-assign]
    record(writer, 1)
    writer._database._transact = plain  # type: ignore[method-assign]
    writer.close()
    assert opened_calls(path) == [1, 2]


def test_values_that_sqlite_cannot_hold_stop_the_recording_only(tmp_path: Path) -> None:
    path = tmp_path / "r.gradviz"
    writer = Writer(str(path), samples.HEADER)
    record(writer, 1)
    writer.begin_call(CallStart(samples.call(2, parent=1 << 70), [], []))
    assert writer.stopped is not None
    record(writer, 3)
    writer.close()
    assert opened_calls(path) == [1]


def test_threads_may_record_at_once(tmp_path: Path) -> None:
    path = tmp_path / "r.gradviz"
    writer = Writer(str(path), samples.HEADER)
    threads = [threading.Thread(target=record, args=(writer, number)) for number in range(1, 25)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    assert opened_calls(path) == list(range(1, 25))
