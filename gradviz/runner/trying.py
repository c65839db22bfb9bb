"""Runs a script up to a call and tries things there: what a command does that has no window."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Generic, TypeVar

from gradviz.runner.experiments import Held
from gradviz.runner.run import Callbacks, Ended, Run
from gradviz.runner.target import Target

T = TypeVar("T")


class Trial(Generic[T]):
    """One run whose held call is given to `work`, in a thread beside the run.

    With `whole` the script runs to its end afterwards, else it is stopped as soon as `work` is done.
    """

    def __init__(
        self,
        target: Target,
        recording: str,
        work: Callable[[Held], T],
        whole: bool = True,
        sinks: tuple[int | None, int | None] = (None, None),
        callbacks: Callbacks | None = None,
    ) -> None:
        self.result: T | None = None
        self.error: BaseException | None = None
        self.held: Held | None = None
        self._work = work
        self._whole = whole
        self._thread: threading.Thread | None = None
        given = callbacks or Callbacks()
        self._run = Run(target, recording, replace(given, held=self._begin), sinks=sinks)

    @property
    def run_of_script(self) -> Run:
        """The run, to stop it or to pass signals on."""
        return self._run

    def go(self) -> Ended:
        """Run the script; when this returns the work is done and nothing of it is left but its files.

        Raises:
            GradvizError: the script cannot be started, or what `work` raised.
        """
        try:
            ended = self._run.run()
        finally:
            if self._thread is not None:
                self._thread.join()
        if self.error is not None:
            self.close()
            raise self.error
        return ended

    def close(self) -> None:
        """Let go of the held call and of the files of its experiments."""
        if self.held is not None:
            self.held.end()
            self.held = None

    def _begin(self, held: Held) -> None:
        if self._thread is not None:  # one call is all that was asked for
            held.end()
            return
        self.held = held
        self._thread = threading.Thread(target=self._do, args=(held,), name="gradviz-trial")
        self._thread.start()

    def _do(self, held: Held) -> None:
        try:
            self.result = self._work(held)
        except Exception as error:
            self.error = error  # raised again by `go`, in the thread that asked
        finally:
            if not self._whole:
                self._run.stop()
            if held.in_place:
                held.release()
