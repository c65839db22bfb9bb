"""Runs our own code inside the user's: unseen, and without harm when it fails."""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gradviz.store.writer import Writer
from gradviz.texts import tr
from gradviz.worker.pause import Pause
from gradviz.worker.quiet import deep_enough, quiet, started_here
from gradviz.worker.unseen import Hush

NOTES = 20


class Care:
    """One for a recorder. `lock` is held wherever the recorder's own state is read or changed."""

    def __init__(self, writer: Writer) -> None:
        self.lock = threading.RLock()
        self._writer = writer
        self._notes: list[str] = []

    def note(self, text: str) -> None:
        """Add a sentence on what the recording lacks."""
        if text not in self._notes and len(self._notes) < NOTES:
            self._notes.append(text)
            self._writer.set_meta("notes", self._notes)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Inside it a failure of ours ends the block with a note; one of the user's (a signal handler) goes on."""
        try:
            with deep_enough():
                yield
        except Exception as error:
            if not started_here(error):
                raise
            self._give_up(error)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """As `taken`, with the lock held, and unseen by modes and profilers of the user's."""
        with self.taken(), self.lock, quiet():
            yield

    def aside(self, function: Callable[[], None]) -> None:
        """Run `function` alone, with the collector and the trace function held."""
        pause, hush = Pause(), Hush()
        hush.hold()
        pause.hold()
        try:
            with self.alone():
                function()
        finally:
            pause.release()
            hush.release()

    def _give_up(self, error: BaseException) -> None:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(last.filename)}:{last.lineno}"
        what = f"{type(error).__name__}: {error}"
        try:
            self.note(tr("A call was not recorded: {why} ({where}).", why=what, where=where))
        except Exception as another:  # the script has put something else in the place of what we write with
            if not started_here(another):
                raise
            self._writer.stop(tr("Recording stopped: {why}.", why=what))
