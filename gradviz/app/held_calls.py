"""The calls of a tab at which other seeds can be tried; whatever is asked of them happens off the event loop.

A dialog or a view asks like this, and need not know whether the call has a live snapshot or the script must first be
run again to that call::

    question = held_calls.start(
        "2",                                                      # the call's label; `2?1` means call 2 too
        lambda held, report: held.jacobian("x", progress=report), # in a thread; a `runner.experiments.Held`
        done=self.take, failed=self.tell, progress=self.show,     # on the event loop; progress(done, total)
    )
    question.cancel()     # stop it: `failed` is called with a sentence
    question.drop()       # nobody waits any more: nothing is called
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Literal, TypeVar

from PySide6.QtCore import QObject, Qt, Signal

from gradviz.app.background import Background, Task
from gradviz.app.examples import is_bundled
from gradviz.app.running import Running, file_name
from gradviz.app.session import Session
from gradviz.app.texts import tr, trn
from gradviz.errors import ClosedRecordingError, SeedError
from gradviz.model import Call, Recording
from gradviz.runner import Target
from gradviz.runner.again import Rerun, never_again
from gradviz.runner.experiments import Held, Report

Answer = TypeVar("Answer")
Readiness = Literal["live", "again", "running"]
_THREADS = 3  # a Jacobian that takes minutes, a seed that is checked meanwhile, a script that is run again


class Question(QObject, Generic[Answer]):
    """Something asked of a held call, on its way.

    Signals:
        progressed(int, int): done, total.
    """

    progressed = Signal(int, int)

    def __init__(
        self,
        label: str,
        work: Callable[[Held, Report], Answer],
        done: Callable[[Answer], None],
        failed: Callable[[str], None],
        progress: Callable[[int, int], None] | None,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self.label = label
        self.work = work
        self.over = False
        self._done = done
        self._failed = failed
        self._stop: Callable[[], None] = lambda: None
        if progress is not None:
            self.progressed.connect(progress, Qt.ConnectionType.QueuedConnection)

    def stopped_by(self, stop: Callable[[], None]) -> None:
        """What `cancel` does from here on."""
        self._stop = stop

    def cancel(self) -> None:
        """Stop it; `failed` is called when it has stopped."""
        if not self.over:
            self._stop()

    def drop(self) -> None:
        """Stop it; nothing is called any more."""
        if not self.over:
            stop = self._stop
            self._forget()
            stop()

    def succeed(self, answer: Answer) -> None:
        """Hand over the answer."""
        if not self.over:
            done = self._done
            self._forget()
            done(answer)

    def fail(self, why: str) -> None:
        """Say why there is none."""
        if not self.over:
            failed = self._failed
            self._forget()
            failed(why)

    def _forget(self) -> None:
        """Let go of whoever waited."""
        self.over = True
        self._done = self._failed = self._stop = _nothing
        self.deleteLater()


class HeldCalls(QObject):
    """The held calls of one tab.

    Signals:
        changed(): other calls are held.
        told(str): what the script that is run again is doing; empty when nothing is.
        differed(str, str): a call's label, and what is different there from what was recorded, in a sentence.
        asked(str): the script wants to be run again, and whether it may is not known: `agree` or `refuse`.
    """

    changed = Signal()
    told = Signal(str)
    differed = Signal(str, str)
    asked = Signal(str)
    _counted = Signal(int)

    def __init__(
        self,
        session: Session,
        running: Running,
        target: Callable[[], Target | None],
        parent: QObject | None = None,
    ) -> None:
        """`target` says what the tab runs; None: a recording was opened, which says it itself."""
        super().__init__(parent)
        self._session, self._running, self._target = session, running, target
        self._background = Background(self, threads=_THREADS)
        self._waiting: list[Question[Any]] = []
        self._rerun: Rerun | None = None
        self._task: Task[Held] | None = None
        self._stopping = False
        self._abandoned = False  # nobody waits for the run that is being stopped; who comes now waits for another one
        self._asking = False
        self._agreed: set[str] = set()  # recordings whose script may be run again
        self._differences: dict[str, str] = {}
        self._counted.connect(self._tell_count, Qt.ConnectionType.QueuedConnection)
        running.call_held.connect(self.changed)
        running.restarted.connect(self._differences.clear)
        running.restarted.connect(self.changed)

    # -- what is held --------------------------------------------------------------------------------------------------

    def readiness(self, label: str) -> Readiness:
        """Whether a call is held ("live"), the script must be run "again", or is "running" and must end first."""
        if self._running.snapshots.find(call_label(label)) is not None:
            return "live"
        return "running" if self._running.alive else "again"

    def live(self) -> tuple[str, ...]:
        """The labels of the calls that are held now."""
        return self._running.snapshots.labels()

    def difference(self, label: str) -> str | None:
        """What is different at a call that is held by a second run, in a sentence."""
        return self._differences.get(call_label(label)) if self.readiness(label) == "live" else None

    def pin(self, label: str) -> None:
        """Somebody looks at this call: its snapshot is not the first to make room for others."""
        self._running.snapshots.pin(call_label(label))

    def unpin(self, label: str) -> None:
        """Nobody looks at it any more."""
        self._running.snapshots.unpin(call_label(label))

    def end(self, label: str) -> None:
        """Let go of a call: its snapshot ends."""
        snapshots = self._running.snapshots
        self._background.submit(lambda _: snapshots.let_go(call_label(label)), lambda _: self.changed.emit(), _nothing)

    def close(self) -> None:
        """End every snapshot and whatever runs."""
        for question in tuple(self._waiting):
            question.drop()
        if self._task is not None:
            self._task.cancel()
        self.stop()
        self._running.snapshots.close()
        self._background.close()

    # -- asking --------------------------------------------------------------------------------------------------------

    def start(
        self,
        label: str,
        work: Callable[[Held, Report], Answer],
        done: Callable[[Answer], None],
        failed: Callable[[str], None],
        progress: Callable[[int, int], None] | None = None,
    ) -> Question[Answer]:
        """Do `work` on call `label`, in a thread; then, on the event loop, `done(answer)` or `failed(sentence)`."""
        question = Question(call_label(label), work, done, failed, progress, self)
        held = self._running.snapshots.find(question.label)
        if held is not None:
            self._put(question, held)
        elif self._running.alive:
            name = file_name(self._session.script or "")
            words = tr(
                "Call {label} has no snapshot any more, and {name} is still running: wait until it has ended, or "
                "stop it.",
                label=question.label,
                name=name,
            )
            self._soon(question, words)
        else:
            question.stopped_by(lambda: self._give_up(question))
            self._waiting.append(question)
            self._run_again()
        return question

    def agree(self) -> None:
        """The script may be run again, for this recording from now on."""
        loaded = self._session.loaded
        if loaded is not None:
            self._agreed.add(loaded.path)
        self._asking = False
        self._run_again()

    def refuse(self) -> None:
        """It may not: nothing that waits for it gets an answer."""
        self._asking = False
        self._fail_all(tr("The script was not run again."))

    def stop(self) -> None:
        """End the script that is being run again."""
        self._stopping = True
        if self._rerun is not None:
            self._rerun.stop()

    def _soon(self, question: Question[Any], words: str) -> None:
        """Fail, but not before `start` has returned."""
        self._background.submit(lambda _: words, question.fail, question.fail)

    def _put(self, question: Question[Any], held: Held) -> None:
        """Ask a call that is held."""
        question.stopped_by(held.cancel)
        work, report = question.work, question.progressed.emit
        self._background.submit(lambda task: work(held, report), question.succeed, question.fail)

    # -- running again -------------------------------------------------------------------------------------------------

    def _run_again(self) -> None:
        if self._task is not None or self._asking or not self._waiting:
            return
        loaded = self._session.loaded
        if loaded is None:
            self._fail_all(tr("There is no recording yet."))
            return
        if (why := never_again(loaded.recording)) is not None:
            self._fail_all(why)
            return
        if not self._may_run():
            self._asking = True
            self.asked.emit(self._question())
            return
        self._abandoned = self._stopping = False
        label, recording, base = self._waiting[0].label, loaded.recording, self._target()
        self.told.emit(tr("Running {name} again to call {label} …", name=self._name, label=label))
        self._task = self._background.submit(
            lambda task: self._go(task, lambda: Rerun(recording, label, base, self._counted.emit)),
            lambda held: self._came(label, held),
            lambda why: self._stayed_away(label, why),
        )

    def _go(self, task: Task[Held], made: Callable[[], Rerun]) -> Held:
        """In a thread: run the script, up to the call."""
        try:
            self._rerun = rerun = made()
        except ClosedRecordingError as error:  # moot for a task, but here somebody waits
            raise SeedError(tr("The script was not run again.")) from error
        if task.cancelled or self._stopping:
            rerun.stop()
        held = rerun.go()
        self._running.snapshots.add(held)
        return held

    def _came(self, label: str, held: Held) -> None:
        rerun, self._rerun, self._task = self._rerun, None, None
        self.told.emit("")
        self.changed.emit()
        self._differences.pop(label, None)
        if rerun is not None and rerun.difference is not None:
            self._differences[label] = rerun.difference
            self.differed.emit(label, rerun.difference)
        for question in self._take_waiting(label):
            self._put(question, held)
        self._run_again()

    def _stayed_away(self, label: str, why: str) -> None:
        self._rerun = self._task = None
        self.told.emit("")
        for question in () if self._abandoned else self._take_waiting(label):
            question.fail(why)
        self._run_again()

    def _take_waiting(self, label: str) -> list[Question[Any]]:
        found = [question for question in self._waiting if question.label == label and not question.over]
        self._waiting = [question for question in self._waiting if question.label != label]
        return found

    def _fail_all(self, why: str) -> None:
        waiting, self._waiting = self._waiting, []
        for question in waiting:
            question.fail(why)

    def _give_up(self, question: Question[Any]) -> None:
        """The one who waited has cancelled; a script that runs for nobody is stopped."""
        self._waiting.remove(question)
        question.fail(tr("Cancelled."))
        if not self._waiting:
            self._abandoned = True
            self.stop()

    def _may_run(self) -> bool:
        """Whether the script runs without a question: it is our own, or it was run here, or the user has agreed."""
        loaded, adapter, script = self._session.loaded, self._running.adapter, self._session.script
        assert loaded is not None
        ran_here = adapter is not None and adapter.state.recording == loaded.path
        ours = self._target() is not None and script is not None and is_bundled(script)
        return ran_here or ours or loaded.path in self._agreed

    @property
    def _name(self) -> str:
        loaded = self._session.loaded
        script = self._session.script or ("" if loaded is None else loaded.recording.header.script)
        return file_name(script)

    def _question(self) -> str:
        loaded = self._session.loaded
        assert loaded is not None
        header, base = loaded.recording.header, self._target()
        python = header.executable if base is None else base.python
        return tr(
            "Call {label} is not held any more. To try other seeds there, its script is run again up to that call, "
            "with the random numbers of the recording:\n\n{python} {words}\n\nRun it?",
            label=self._waiting[0].label,
            python=python,
            words=" ".join(base.words() if base is not None else _words(header)),
        )

    def _tell_count(self, calls: int) -> None:
        if self._rerun is not None and self._waiting:
            words = tr("Running {name} again to call {label} …", name=self._name, label=self._waiting[0].label)
            self.told.emit(f"{words} {trn('{n} call so far', '{n} calls so far', calls)}")


def call_label(label: str) -> str:
    """The call that an experiment was made on: `2` for `2?1`."""
    return label.partition("?")[0]


def script_call(recording: Recording | None, label: str) -> Call | None:
    """The script's own call with this label, of an experiment the call that it was made on; None without one."""
    try:
        return None if recording is None else recording.call_by_label(call_label(label))
    except KeyError:
        return None


def _words(header: Any) -> list[str]:
    what = ["-m", header.module] if header.module is not None else [header.script]
    return [*what, *header.argv]


def _nothing(*_: object) -> None:
    """Nobody waits."""
