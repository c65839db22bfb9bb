"""Adapts the blocking `gradviz.runner` to Qt: one run of a script, its state, its output, its end as signals."""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from PySide6.QtCore import QObject, Qt, Signal

from gradviz.app.console_lines import ConsoleLines
from gradviz.app.texts import tr
from gradviz.errors import GradvizError
from gradviz.protocol import CallCommitted, CallStarted, Message, Started
from gradviz.runner import Callbacks, Connection, Ended, Run, Target
from gradviz.runner.experiments import Held

_PIPE_SIZE = 65_536  # bytes, where the system does not tell (macOS)
_PARTLY_READ = 8_192  # pages that are half read count as full

Phase = Literal["starting", "importing", "running", "stopping", "ended"]


@dataclass(frozen=True, slots=True)
class RunState:
    """What is known of a run. `calls` have been recorded so far; `ended` is there when it is over."""

    target: Target
    recording: str
    phase: Phase = "starting"
    pid: int | None = None
    calls: int = 0
    ended: Ended | None = None

    @property
    def alive(self) -> bool:
        """Whether the script's process may still run."""
        return self.phase != "ended"


class RunAdapter(QObject):
    """Runs a script once, in a thread that waits for its process.

    `let_go` is called in that thread before the recording is finished: whoever reads the file must close it there;
    `complete` when it is finished, to add what is still missing to it.
    `hold` gets, in that thread too, each call at which other seeds can be tried.

    Signals:
        changed(): `state` is another one.
        output_came(): `lines` were fed; sent once until `output_seen` is called.
        call_recorded(): one more call is in the recording.
        call_held(): one more call was given to `hold`.
        ended(): the run is over and the recording complete (`state.ended`).
        failed(str): the run could not be started; a sentence.
    """

    changed = Signal()
    output_came = Signal()
    call_recorded = Signal()
    call_held = Signal()
    ended = Signal()
    failed = Signal(str)
    _posted = Signal(object)

    def __init__(
        self,
        target: Target,
        recording: str,
        lines: ConsoleLines,
        let_go: Callable[[], None],
        hold: Callable[[Held], None],
        complete: Callable[[Ended], Ended],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.state = RunState(target, recording)
        self.lines = lines
        self.began = time.monotonic()
        self._hold = hold
        self._complete = complete
        self._output_told = threading.Event()
        self._child_stdin, self._stdin = os.pipe()
        callbacks = Callbacks(self._started, self._output, self._message, ending=let_go, held=self._held)
        self._run = Run(target, recording, callbacks, stdin=self._child_stdin)
        self._thread = threading.Thread(target=self._work, name="gradviz-run")
        self._posted.connect(self._apply, Qt.ConnectionType.QueuedConnection)

    # -- asked by the window -------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the script."""
        self._thread.start()

    def stop(self) -> None:
        """Ask the script to end; after two seconds it is killed."""
        if self.state.alive and self.state.phase != "stopping":
            self._apply(replace(self.state, phase="stopping"))
            self._run.stop()

    def send_line(self, text: str) -> None:
        """Hand a line to the script's `input()`."""
        if not self.state.alive:
            return
        data = text.encode() + b"\n"
        if len(data) > _room(self._stdin):
            self.lines.note(tr("The script has not read what it was given before; this line was not sent."))
        else:
            # As a terminal would echo it, and before the script can answer.
            self.lines.feed("stdout", data)
            try:
                os.write(self._stdin, data)
            except OSError:
                self.lines.note(tr("The script does not read its input any more."))
        self.output_came.emit()

    def output_seen(self) -> None:
        """The lines so far have been taken: tell of the next ones."""
        self._output_told.clear()

    def close(self) -> None:
        """Stop the script and wait until it and the thread are gone: at most a little more than two seconds."""
        if self._thread.is_alive():
            self._run.stop()
            self._thread.join()
        for descriptor in (self._child_stdin, self._stdin):
            if descriptor >= 0:
                os.close(descriptor)
        self._child_stdin = self._stdin = -1

    @property
    def seconds(self) -> float:
        """How long it has been running, or ran."""
        ended = self.state.ended
        return time.monotonic() - self.began if ended is None else ended.seconds

    # -- in the thread of the run --------------------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            ended = self._complete(self._run.run())
        except GradvizError as error:
            self._post_failure(str(error))
        except OSError as error:
            self._post_failure(tr("The script could not be run: {why}.", why=error))
        else:
            self._posted.emit(ended)

    def _post_failure(self, why: str) -> None:
        self._posted.emit(why)

    def _started(self, pid: int) -> None:
        self._posted.emit(pid)

    def _output(self, stream: str, seconds: float, data: bytes) -> None:
        self.lines.feed(stream, data)
        if not self._output_told.is_set():
            self._output_told.set()
            self.output_came.emit()

    def _message(self, connection: Connection, message: Message) -> None:
        if isinstance(message, Started | CallStarted | CallCommitted):
            self._posted.emit(message)

    def _held(self, held: Held) -> None:
        self._hold(held)
        self._posted.emit(held)

    # -- on the event loop ---------------------------------------------------------------------------------------------

    def _apply(self, news: object) -> None:
        state = self.state
        if isinstance(news, RunState):
            self.state = news
        elif isinstance(news, int):
            self.state = replace(state, pid=news, phase="importing" if state.phase == "starting" else state.phase)
        elif isinstance(news, Started):
            self.state = replace(state, phase="running" if state.phase != "stopping" else state.phase)
        elif isinstance(news, CallCommitted):
            self.state = replace(state, calls=state.calls + 1)
            self.call_recorded.emit()
        elif isinstance(news, CallStarted):
            self.call_recorded.emit()
        elif isinstance(news, Held):
            self.call_held.emit()
        elif isinstance(news, Ended):
            self.state = replace(state, phase="ended", ended=news)
        elif isinstance(news, str):
            self.state = replace(state, phase="ended")
        self.changed.emit()
        if isinstance(news, Ended):
            self.ended.emit()
        elif isinstance(news, str):
            self.failed.emit(news)


def _room(pipe: int) -> float:
    """How many bytes can be written into a pipe before a write would wait, and the window with it."""
    if sys.platform == "win32":
        return math.inf
    import fcntl
    import termios

    waiting = int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4), sys.byteorder)
    size = fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ) if sys.platform == "linux" else _PIPE_SIZE
    return size - _PARTLY_READ - waiting


class Endings(QObject):
    """Runs that nobody looks at any more but whose process has not ended yet."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: dict[RunAdapter, Callable[[], None]] = {}

    def take(self, adapter: RunAdapter, done: Callable[[], None]) -> None:
        """Stop a run; call `done` when it has ended."""
        adapter.setParent(self)
        self._waiting[adapter] = done
        if not adapter.state.alive:
            self._finish(adapter)
            return
        adapter.ended.connect(lambda: self._finish(adapter))
        adapter.failed.connect(lambda _: self._finish(adapter))
        adapter.stop()

    def close(self) -> None:
        """Wait until all have ended."""
        for adapter in tuple(self._waiting):
            self._finish(adapter)

    def _finish(self, adapter: RunAdapter) -> None:
        done = self._waiting.pop(adapter, None)
        if done is not None:
            adapter.close()
            adapter.deleteLater()
            done()
