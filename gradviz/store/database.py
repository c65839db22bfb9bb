"""A database that is written inside the user's process: each transaction whole or not at all, never elsewhere."""

from __future__ import annotations

import os
import sqlite3
import weakref
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from gradviz.errors import RecordingError
from gradviz.store import check, guard, replace
from gradviz.store.schema import APPLICATION_ID, STATEMENTS, VERSION
from gradviz.store.tables import NUMBERED, Table
from gradviz.texts import tr

Statement = tuple[str, Sequence[Sequence[Any]]]  # an INSERT with its rows
Batch = list[Statement]

_BUSY_SECONDS = 2.0
_LOG_PAGES = 4_000  # 16 MB; when the log has them it is written back, for which the disk itself is waited for
_PATIENCE = 3  # so often in a row another process may hold the file before recording stops
_RAISED = (sqlite3.Error, OSError, OverflowError, ValueError, MemoryError, RecordingError)


class GuardedDatabase:
    """One SQLite file, written by this process alone."""

    def __init__(self, path: str, first: Batch | None) -> None:
        """Create the file at `path` with our tables and the rows of `first`; None: go on with one that is there.

        Raises:
            RecordingError: it cannot be created, there is a file already, or the file that is there is not ours.
        """
        self.path = os.path.abspath(path)  # at once: a script may change directory
        self.stopped: str | None = None  # why nothing is written any more
        self._pid = os.getpid()
        self._patience = _PATIENCE
        self.last_ids: dict[Table, int] = {}  # of a file that was there, in the tables that the writer numbers
        self._connection: sqlite3.Connection | None = None
        made = False
        try:
            if first is None:
                self._go_on()
            else:
                made = _reserve(self.path)
                self._create(first)
        except (*check.SQLITE_ERRORS, OSError) as error:
            if made:
                self._unmake()
            raise cannot_write(self.path, error) from error
        _written_here.add(self)

    @property
    def foreign(self) -> bool:
        """Whether this process is a forked copy of the one that writes."""
        return os.getpid() != self._pid

    def write(self, batch: Batch) -> bool:
        """Write `batch` in one transaction and empty it.

        What a signal handler of the user's raises meanwhile is let through; `batch` is then to be written again, which
        does no harm when it was (rows replace themselves). False: not written, because of a lock (write it again) or
        for good (`stopped`).
        """
        if self.foreign or self.stopped is not None:
            return False
        try:
            self._stand_firm()
            self._transact(batch)
        except _RAISED as error:
            if not _raised_here(error.__traceback__):
                raise
            self._patience -= 1
            if "locked" not in str(error) or not self._patience:
                self.stop(tr("Recording stopped: {why}.", why=_reason(error)))
            return False
        self._patience = _PATIENCE
        return True

    def stop(self, why: str) -> None:
        """Write no more; the first reason stands."""
        self.stopped = self.stopped or why

    def size(self) -> int:
        """Bytes on disk, the write-ahead log included."""
        found = 0
        for side in ("", guard.LOG):
            try:
                found += os.stat(self.path + side).st_size
            except OSError:
                continue
        return found

    def close(self) -> None:
        """Let go of the file, as one plain file where nobody else reads it just then."""
        if self.foreign or self._connection is None:
            return
        connection, self._connection = self._connection, None
        self.stop(tr("The recording is closed."))
        if not self._held.untouched():
            return  # the log stays beside it, and whoever opens it next writes it back
        if not self._held.at_home():
            self._bring_home()
            return
        try:
            connection.execute("PRAGMA busy_timeout=100")
            connection.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.Error as error:
            self.stopped = tr("The recording is closed, its log is still beside it: {why}.", why=error)
        connection.close()

    # -- inside --------------------------------------------------------------------------------------------------

    def _create(self, first: Batch) -> None:
        """Tables and first rows go into the main file itself, so that it opens also when its log is lost."""
        self._connect()
        connection = self._live()
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("PRAGMA journal_mode=MEMORY")
        numbers = f"PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={VERSION};"
        connection.executescript(f"BEGIN; {STATEMENTS} {numbers} COMMIT;")
        self._transact(first)
        self._use_log()

    def _go_on(self) -> None:
        # The script had the path of its recording, and what it put there would run here.
        check.check_head(self.path)
        self._connect()
        try:
            check.check_tables(self._live(), self.path)
        except RecordingError:
            self._live().close()
            raise
        self._live().set_progress_handler(None, 0)
        for table in NUMBERED:
            (last,) = self._live().execute(f"SELECT coalesce(max(id), 0) FROM {table.name}").fetchone()
            self.last_ids[table] = last
        self._held = guard.Held.note(self.path)

    def _unmake(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        for side in guard.SIDES:
            if os.path.exists(self.path + side):
                os.unlink(self.path + side)

    def _bring_home(self) -> None:
        """The script removed the folder of its recording: now that it has ended, make it again."""
        try:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            replace.put_back(self._held)
        except (OSError, RecordingError) as error:
            self.stopped = tr("The recording is lost: {why}.", why=_reason(error))

    def _use_log(self) -> None:
        connection = self._live()
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA wal_autocheckpoint={_LOG_PAGES}")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("BEGIN IMMEDIATE")  # opens the log and its index, so that they can be noted
        connection.execute("COMMIT")
        self._held = guard.Held.note(self.path)

    def _connect(self) -> None:
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=64
        )
        # Only `close` may close it, after a look at its descriptors: deallocation does not look.
        guard.make_immortal(connection)
        self._connection = connection
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("PRAGMA temp_store=MEMORY")  # no further files, whose descriptors could be lost
        connection.execute("PRAGMA mmap_size=0")

    def _live(self) -> sqlite3.Connection:
        if self._connection is None:
            raise RecordingError(tr("it was closed"))
        return self._connection

    def _stand_firm(self) -> None:
        """Look whether all descriptors and the file are still ours, and go on in a copy when they are not.

        SQLite shares its locks and its mapped index between all connections to one inode, so a second connection to
        the same file would still write through the lost numbers. A copy has another inode.
        """
        held = self._held
        if held.untouched():
            if held.at_home():
                return
            if guard.identity_of(os.path.dirname(self.path)) is None:
                return  # its whole folder is gone: the open file lives on, `close` puts it back
        replace.put_back(held)
        self._connect()
        self._live().execute("SELECT count(*) FROM meta").fetchone()
        self._use_log()

    def _transact(self, batch: Batch) -> None:
        connection = self._live()
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        try:
            connection.execute("BEGIN IMMEDIATE")
            for sql, rows in _grouped(batch).items():
                connection.executemany(sql, rows)
            connection.execute("COMMIT")
            batch.clear()
        except BaseException:
            # A signal handler of the user's may raise between any two lines: nothing half-written may stay open.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _grouped(batch: Batch) -> dict[str, list[Sequence[Any]]]:
    """Each statement once with all its rows."""
    grouped: dict[str, list[Sequence[Any]]] = {}
    for sql, rows in batch:
        grouped.setdefault(sql, []).extend(rows)
    return grouped


def _reserve(path: str) -> bool:
    """Make sure that the file is ours: new, or empty. True when it was made here."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666))
        return True
    except FileExistsError:
        if os.stat(path).st_size == 0:
            return False
        raise


def _raised_here(trace: TracebackType | None) -> bool:
    """Tell whether an exception started in our own code, and not in a handler that ran in the midst of it."""
    name = ""
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__", "")
        trace = trace.tb_next
    return name.startswith("gradviz.")


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error) or type(error).__name__


def cannot_write(path: str, error: Exception) -> RecordingError:
    """The error for a recording that cannot be created or changed."""
    return RecordingError(
        tr("The recording {path!r} cannot be written: {why}. Choose another place.", path=path, why=_reason(error))
    )


_written_here: weakref.WeakSet[GuardedDatabase] = weakref.WeakSet()


def _leave_to_parent() -> None:
    """In a fork's child: the files belong to the parent, and closing them would write its log back."""
    for database in list(_written_here):
        database.stop(tr("This process is a copy of the recorded one."))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
