"""The script of a session: whether it may run, its run, and the recording that grows meanwhile."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from gradviz.app.console_lines import ConsoleLines
from gradviz.app.loading import LiveFile
from gradviz.app.recovery import Recovery
from gradviz.app.run_adapter import Endings, RunAdapter
from gradviz.app.session import Session
from gradviz.app.texts import tr, trn
from gradviz.errors import GradvizError
from gradviz.model import Outcome
from gradviz.runner import Ended, Target, sentence
from gradviz.runner.keeping import keep_in_copy
from gradviz.runner.snapshots import Snapshots
from gradviz.runner.target import Hold

_REFRESH_MS = 400  # calls appear at least so far apart; reading them must not keep the machine busy


class Running(QObject):
    """Runs the script of a session and feeds the session with the growing recording.

    Signals:
        changed(): the state is another one.
        output_came(): there are new lines in `lines`.
        restarted(): a new run begins; the old output is gone.
        call_held(): one more call of the run can be tried with other seeds (`snapshots`).
    """

    changed = Signal()
    output_came = Signal()
    restarted = Signal()
    call_held = Signal()

    def __init__(self, session: Session, recovery: Recovery, endings: Endings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._recovery = recovery
        self._endings = endings
        self._live: LiveFile | None = None
        self._kept_view = session.view
        self._folders: list[tempfile.TemporaryDirectory[str]] = []  # removed when the script has ended
        self.lines = ConsoleLines()
        self.snapshots = Snapshots()
        self.adapter: RunAdapter | None = None
        self._refresh = QTimer(self)
        self._refresh.setSingleShot(True)
        self._refresh.setInterval(_REFRESH_MS)
        self._refresh.timeout.connect(self._read)
        self._clock = QTimer(self)
        self._clock.setInterval(1000)
        self._clock.timeout.connect(self.changed)

    # -- the run -------------------------------------------------------------------------------------------------------

    @property
    def alive(self) -> bool:
        """Whether the script's process may still run."""
        return self.adapter is not None and self.adapter.state.alive

    def start(self, target: Target) -> None:
        """Run the script (again). What was looked at stays chosen."""
        if self.alive:
            return
        self._kept_view = self._session.seen_view() if self._session.story is not None else self._session.view
        self._drop_adapter()
        self.lines.clear()
        path = self._recovery.new_path(target.name)
        self._live = live = LiveFile(path)
        self.snapshots = Snapshots()
        held = replace(target, hold=Hold())
        adapter = RunAdapter(held, path, self.lines, live.let_go, self.snapshots.add, partial(_complete, live), self)
        adapter.call_held.connect(self.call_held)
        adapter.changed.connect(self.changed)
        adapter.output_came.connect(self.output_came)
        adapter.call_recorded.connect(self._schedule)
        adapter.ended.connect(self._finish)
        adapter.failed.connect(self._fail)
        self.adapter = adapter
        self.restarted.emit()
        self.changed.emit()
        adapter.start()
        self._clock.start()

    def stop(self) -> None:
        """Ask the script to end."""
        if self.adapter is not None:
            self.adapter.stop()

    def close(self) -> None:
        """End everything; the recording stays in the recovery folder for a while."""
        self._refresh.stop()
        self._drop_adapter()

    def _drop_adapter(self) -> None:
        self._clock.stop()
        self.snapshots.close()
        adapter, self.adapter = self.adapter, None
        if adapter is not None:
            adapter.disconnect(self)
            path, recovery, folders = adapter.state.recording, self._recovery, self._folders
            self._folders = []
            self._endings.take(adapter, lambda: _release(recovery, path, folders))

    def need(self, folder: tempfile.TemporaryDirectory[str]) -> None:
        """Remove this folder when the script has ended: experiments in it are still to be added to the recording."""
        if self.alive:
            self._folders.append(folder)
        else:
            folder.cleanup()

    # -- the recording -------------------------------------------------------------------------------------------------

    @property
    def live(self) -> LiveFile | None:
        """The recording while the script runs."""
        return self._live if self.alive else None

    def _schedule(self) -> None:
        if not self._refresh.isActive():
            self._refresh.start()

    def _read(self) -> None:
        if self.alive and self._live is not None:
            if self._session.reading:
                self._schedule()  # the last look is not over yet
            else:
                self._session.open_recording(self._live.path, self._live)

    def _finish(self) -> None:
        self._refresh.stop()
        self._clock.stop()
        assert self.adapter is not None
        state = self.adapter.state
        ended = state.ended
        assert ended is not None
        for problem in ended.problems:
            self.lines.note(problem)
        self.lines.note(sentence(ended.outcome, state.target.name))
        self.output_came.emit()
        if self._kept_view.call is not None:
            # What was looked at before the run: the same call, the same step.
            self._session.restore(replace(self._kept_view, camera=self._session.view.camera))
        self._session.open_recording(ended.recording)
        self.changed.emit()

    def _fail(self, why: str) -> None:
        self._clock.stop()
        self.lines.note(why)
        self.output_came.emit()
        self._session.failed.emit(why)
        self.changed.emit()


def _complete(live: LiveFile, ended: Ended) -> Ended:
    """In the thread of the run: add the experiments that were made meanwhile, also when their tab has been closed."""
    if not live.what_ifs:
        return ended
    try:
        keep_in_copy(ended.recording, ended.recording, live.what_ifs)
    except GradvizError as error:
        return replace(ended, problems=(*ended.problems, str(error)))
    return ended


def _release(recovery: Recovery, path: str, folders: Sequence[tempfile.TemporaryDirectory[str]]) -> None:
    recovery.release(path)
    for folder in folders:
        folder.cleanup()


def state_words(session: Session, running: Running) -> str:
    """Where the session stands, in a few words: `recorded 2 calls · finished in 0.4 s · torch 2.13`."""
    adapter = running.adapter
    if adapter is not None and adapter.state.alive:
        return _alive_words(adapter)
    recording = session.recording
    if recording is None:
        return tr("not run yet") if session.script is not None else ""
    parts = [trn("recorded {n} call", "recorded {n} calls", len(recording.top_calls))]
    ended = None if adapter is None else adapter.state.ended
    if ended is not None:
        seconds = seconds_text(ended.seconds)
        verb = {"finished": tr("finished in {t}", t=seconds), "stopped": tr("stopped after {t}", t=seconds)}
        parts.append(verb.get(ended.outcome.kind) or f"{outcome_words(ended.outcome)} · {seconds}")
    elif recording.outcome.kind != "finished":
        parts.append(outcome_words(recording.outcome))
    if recording.header.torch:
        parts.append(f"torch {recording.header.torch}")
    return " · ".join(parts)


def emptiness(session: Session, running: Running) -> str:
    """Why the list of calls is empty."""
    if running.alive:
        return tr("No backward call so far.")
    if session.recording is None:
        return tr("Every backward call of the script appears here.")
    return tr("The script made no backward call.")


def outcome_words(outcome: Outcome) -> str:
    """How a script ended, in a word or two."""
    words: Mapping[str, str] = {
        "finished": tr("finished"),
        "raised": tr("raised {type}", type=outcome.type or tr("an exception")),
        "exited": tr("exited with status {n}", n=outcome.exit_code),
        "killed": tr("ended by signal {n}", n=outcome.signal),
        "stopped": tr("stopped"),
        "lost": tr("how it ended is not known"),
        "running": tr("still running"),
    }
    return words[outcome.kind]


def seconds_text(seconds: float) -> str:
    """A time: `0.4 s`, `12 s`, `3:05 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{int(seconds) // 60}:{int(seconds) % 60:02} min"


def _alive_words(adapter: RunAdapter) -> str:
    state = adapter.state
    if state.phase == "stopping":
        return tr("stopping …")
    parts = [tr("starting …") if state.phase == "starting" else tr("running")]
    if state.phase == "importing":
        parts = [tr("running, torch is not imported yet")]
    if state.calls:
        parts.append(trn("{n} call so far", "{n} calls so far", state.calls))
    parts.append(seconds_text(adapter.seconds))
    return " · ".join(parts)


def file_name(path: str) -> str:
    """The last part of a path, for titles."""
    return os.path.basename(path) or path
