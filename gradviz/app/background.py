"""Work that must not hold the event loop: functions run in threads, their results come back on the loop."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeVar, cast

from PySide6.QtCore import QObject, Qt, Signal

from gradviz.app.texts import tr
from gradviz.errors import ClosedRecordingError, GradvizError

Result = TypeVar("Result")
Answer = TypeVar("Answer")


class Cancelled(Exception):  # noqa: N818 (not a failure: a piece of work that nobody waits for any more)
    """Raised inside a piece of work by `Task.check`."""


class Task(Generic[Result]):
    """A piece of work on its way. Its function gets the task, to look whether it is still wanted."""

    def __init__(
        self,
        work: Callable[[Task[Result]], Result],
        done: Callable[[Result], None],
        failed: Callable[[str], None],
        progress: Callable[[str], None] | None,
    ) -> None:
        self.done = done
        self.failed = failed
        self.progress = progress
        self.result: Result | None = None
        self.error: str | None = None
        self.over = False
        self._work = work
        self._cancelled = threading.Event()
        self._relay: _Relay | None = None

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for it any more."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Neither `done` nor `failed` will be called; the function ends at its next `check`."""
        self._cancelled.set()

    def check(self) -> None:
        """Give up when the task was cancelled. Raises: Cancelled."""
        if self.cancelled:
            raise Cancelled

    def say(self, text: str) -> None:
        """Hand a word about the progress to the event loop."""
        if self._relay is not None and not self.cancelled:
            self._relay.said.emit(self, text)

    def run(self, relay: _Relay) -> None:
        """Do the work (in a thread) and hand the task back."""
        self._relay = relay
        try:
            self.check()
            self.result = self._work(self)
        except (Cancelled, ClosedRecordingError):
            self.cancel()  # a recording is closed when another one is shown, or none: what was asked of it is moot
        except GradvizError as error:
            self.error = str(error)
        except Exception:
            # A mistake of ours must become a sentence in the window and never a silently missing picture.
            self.error = tr("gradviz itself failed here; please report this:\n{trace}", trace=traceback.format_exc())
        relay.ended.emit(self)

    def let_go(self) -> None:
        """Drop all that it was made of, on the event loop: a thread must not drop the last reference to a widget."""
        self._work = _done
        self.done = self.failed = _nothing
        self.progress = self.result = None


class _Relay(QObject):
    """Lives on the event loop; signals that threads emit are delivered there."""

    ended = Signal(object)
    said = Signal(object, str)


class Background(QObject):
    """A few threads for one window.

    Signals:
        busy_changed(bool): whether anything is at work.
    """

    busy_changed = Signal(bool)

    def __init__(self, parent: QObject | None = None, threads: int = 2) -> None:
        super().__init__(parent)
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="gradviz")
        self._tasks: set[Task[object]] = set()
        self._relay = _Relay(self)
        self._relay.ended.connect(self._end, Qt.ConnectionType.QueuedConnection)
        self._relay.said.connect(_say, Qt.ConnectionType.QueuedConnection)

    @property
    def busy(self) -> bool:
        """Whether any task that is still wanted is at work."""
        return any(not task.cancelled for task in self._tasks)

    def submit(
        self,
        work: Callable[[Task[Answer]], Answer],
        done: Callable[[Answer], None],
        failed: Callable[[str], None],
        progress: Callable[[str], None] | None = None,
    ) -> Task[Answer]:
        """Run `work(task)` in a thread; then, on the event loop, `done(result)` or `failed(sentence)`."""
        task = Task(work, done, failed, progress)
        self._tasks.add(cast("Task[object]", task))
        self._pool.submit(task.run, self._relay)
        self.busy_changed.emit(True)
        return task

    def close(self) -> None:
        """Give up what is at work and end the threads."""
        for task in self._tasks:
            task.cancel()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._tasks.clear()

    def _end(self, task: Task[object]) -> None:
        self._tasks.discard(task)
        task.over = True
        if not task.cancelled:
            if task.error is not None:
                task.failed(task.error)
            else:
                task.done(task.result)
        task.let_go()
        self.busy_changed.emit(self.busy)


class Errands:
    """The tasks of one owner: when it closes, none of them calls back any more."""

    def __init__(self, background: Background) -> None:
        self._background = background
        self._tasks: list[Task[Any]] = []

    def submit(
        self,
        work: Callable[[Task[Answer]], Answer],
        done: Callable[[Answer], None],
        failed: Callable[[str], None],
        progress: Callable[[str], None] | None = None,
    ) -> Task[Answer]:
        """As `Background.submit`."""
        self._tasks = [task for task in self._tasks if not task.over]
        task = self._background.submit(work, done, failed, progress)
        self._tasks.append(task)
        return task

    def close(self) -> None:
        """Give up everything."""
        for task in self._tasks:
            task.cancel()
        self._tasks.clear()


def _done(_: Task[Any]) -> Any:
    """Stands in for the work of a task that has been done."""


def _nothing(_: object) -> None:
    """Stands in for the callbacks of a task that has ended."""


def _say(task: Task[object], text: str) -> None:
    if task.progress is not None and not task.cancelled:
        task.progress(text)
