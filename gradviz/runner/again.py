"""Runs a recorded script once more to hold one of its calls, with the random state that the recording began with.

The script may have changed on disk, or depend on the time of day; so the value of the root is compared, and whoever
asked is told where it differs.
"""

from __future__ import annotations

import os
import queue
import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace

from gradviz.errors import GradvizError, RecordingError, SeedError
from gradviz.model import Call, Recording, TensorValue
from gradviz.model.numbers import brief
from gradviz.protocol import CallCommitted, Message
from gradviz.runner.experiments import Held
from gradviz.runner.listener import Connection
from gradviz.runner.outcome import sentence
from gradviz.runner.run import Callbacks, Ended, Run
from gradviz.runner.target import Hold, Target
from gradviz.store.reader import close_recording, open_recording, read_fact
from gradviz.texts import tr


def never_again(recording: Recording) -> str | None:
    """Why what was recorded cannot be run again up to a call, in a sentence; None where it can."""
    if not recording.header.in_process:
        return None
    return tr(
        "This is a recorded block of a running program, which cannot be run again up to a call. To try other seeds, "
        "open the script itself, or record it with `gradviz record SCRIPT`."
    )


def target_again(recording: Recording, label: str, in_place: bool = False, base: Target | None = None) -> Target:
    """What must run to come to call `label` again, as it was recorded. `base`, where given, says what ran.

    Raises:
        RecordingError: the recording does not say what ran, or it has no such call.
    """
    header = recording.header
    try:
        recording.call_by_label(label)
    except KeyError:
        raise RecordingError(tr("The recording has no call {label}.", label=label)) from None
    if base is None and (not header.script or not header.executable):
        raise RecordingError(tr("The recording does not say what ran, so it cannot be run again. Record the script."))
    if (why := never_again(recording)) is not None:
        raise RecordingError(why)
    environment = {} if header.hash_seed is None else {"PYTHONHASHSEED": header.hash_seed}
    # The number of threads decides the order in which large sums are added.
    if header.threads is not None and "OMP_NUM_THREADS" not in os.environ:
        environment["OMP_NUM_THREADS"] = str(header.threads)
    ran = base or Target(
        script=None if header.module is not None else header.script,
        module=header.module,
        argv=header.argv,
        python=header.executable,
        cwd=header.cwd,
    )
    held, random = Hold((label,), in_place), read_fact(recording, "random")
    return replace(ran, environment={**ran.environment, **environment}, hold=held, random=random)


def difference(recorded: Recording, again: Recording, label: str) -> str | None:
    """What is different at call `label` of a second run, in a sentence; None where its roots have the same values."""
    try:
        before, after = recorded.call_by_label(label), again.call_by_label(label)
    except KeyError:
        return tr("The script did not come to call {label} again.", label=label)
    if len(before.roots) != len(after.roots) or _line(before) != _line(after):
        return tr("Call {label} is another one this time: the script has changed.", label=label)
    for old, new in zip(before.roots, after.roots, strict=True):
        if not _same(old.value, new.value):
            return tr(
                "{name} is not what it was: {before} then, {after} now.",
                name=old.name or tr("The root"),
                before=brief(old.value),
                after=brief(new.value),
            )
    return None


def _line(call: Call) -> tuple[str, int] | None:
    """Where a call was made; a portable recording knows files without their folders."""
    return None if call.place is None else (os.path.basename(call.place.file), call.place.line)


def _same(a: TensorValue | None, b: TensorValue | None) -> bool:
    if a is None or b is None:
        return a is b
    if a.full_shape != b.full_shape or a.dtype != b.dtype:
        return False
    if a.data is not None and b.data is not None:
        return a.data == b.data
    return a.statistics == b.statistics


class Rerun:
    """One more run of a recorded script, that ends at one call and leaves it held. Blocking; `stop` from any thread.

    `heard` is told, in the thread of the run, how many calls there have been so far.
    """

    def __init__(self, recorded: Recording, label: str, base: Target | None, heard: Callable[[int], None]) -> None:
        """`base` says what runs where the recording does not (see `target_again`).

        Raises:
            RecordingError: nothing says what ran.
        """
        self.difference: str | None = None
        self._recorded, self._label, self._heard = recorded, label, heard
        again = target_again(recorded, label, base=base)
        self._folder = tempfile.TemporaryDirectory(prefix="gradviz-again-")
        path = os.path.join(self._folder.name, "run.gradviz")
        self._target = replace(again, hold=replace(again.hold or Hold((label,)), last=True))
        self._run = Run(self._target, path, Callbacks(message=self._count, held=self._take))
        self._thread = threading.Thread(target=self._work, name="gradviz-again")
        self._news: queue.Queue[Held | Ended | Exception] = queue.Queue()
        self._calls = 0
        self._stopped = False

    def go(self) -> Held:
        """Run until the call is held. A copy is left and the script stopped; a script held in place waits there.

        Raises:
            GradvizError: the script cannot be run, was stopped, or did not come to the call.
        """
        self._thread.start()
        news = self._news.get()
        if isinstance(news, Held):
            try:
                self._compare()
            except BaseException:
                news.end()
                self.close()
                raise
            if news.in_place:
                news.when_released = self.close
            else:
                self.close()
            return news
        self.close()
        raise news if isinstance(news, Exception) else SeedError(self._never_came(news))

    def stop(self) -> None:
        """End the script; `go` then raises."""
        self._stopped = True
        self._run.stop()

    def close(self) -> None:
        """End the script where it still runs, and remove its recording."""
        self._run.stop()
        self._thread.join()
        self._folder.cleanup()

    def _work(self) -> None:
        try:
            self._news.put(self._run.run())
        except (GradvizError, OSError) as error:
            self._news.put(error if isinstance(error, GradvizError) else SeedError(str(error)))

    def _take(self, held: Held) -> None:
        self._news.put(held)

    def _count(self, _: Connection, message: Message) -> None:
        if isinstance(message, CallCommitted):
            self._calls += 1
            self._heard(self._calls)

    def _compare(self) -> None:
        again = open_recording(self._run.recording, live=True)
        try:
            self.difference = difference(self._recorded, again, self._label)
        finally:
            close_recording(again)

    def _never_came(self, ended: Ended) -> str:
        if self._stopped:
            return tr("The script was stopped before it came to call {label}.", label=self._label)
        how = sentence(ended.outcome, self._target.name)
        return tr("The script did not come to call {label} again. {how}", label=self._label, how=how)
