"""Holds Python's garbage collector and the trace function while our code runs, never while the user's code looks."""

from __future__ import annotations

# Python's own: a script may stand others in their places, a mock or (see unseen.py) we ourselves.
from gc import disable, enable, isenabled
from sys import gettrace, settrace
from typing import Any


class Pause:
    """One pause, in the thread that started it.

    The collector doubles the cost of a recorded backward, since each hook makes a handful of objects; a trace
    function (our own, coverage) is called for each function of ours, which triples it.
    """

    def __init__(self) -> None:
        self._holds_collector = False
        self._trace: Any = None
        self._users_turn = False

    def hold(self) -> None:
        """Switch both off, where they are on."""
        # Noted first: a signal handler of the user's may raise between any two lines, and then it is put back.
        if isenabled():
            self._holds_collector = True
            disable()
        trace = gettrace()
        if trace is not None:
            self._trace = trace
            settrace(None)

    def release(self) -> None:
        """Put both back as they were."""
        if self._holds_collector:
            enable()
            self._holds_collector = False
        if self._trace is not None:
            settrace(self._trace)
            self._trace = None

    def users_turn(self) -> None:
        """Code of the user's runs now; it must see collector and trace function as the user left them."""
        if self._holds_collector or self._trace is not None:
            self._users_turn = True
            self.release()

    def our_turn(self) -> None:
        """The user's code has ended; if it switched the collector off that is how it stays."""
        if self._users_turn:
            self._users_turn = False
            self.hold()
