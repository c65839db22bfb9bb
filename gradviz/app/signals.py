"""Ctrl-C in the terminal, a closed terminal and the end of the session close the window as its button does."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QObject, QTimer

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # the last one is not there on Windows


@contextmanager
def closed_by_signals(owner: QObject, close: Callable[[], None]) -> Iterator[None]:
    """While this lasts `close` is called on the event loop of `owner` instead of the process being ended.

    Python looks for signals between two steps of its own; a timer of the window gives it one several times a second.
    """

    def arrive(number: int, frame: object) -> None:
        QTimer.singleShot(0, owner, close)  # not in the midst of whatever is at work now

    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    # One that is ignored stays so: `nohup gradviz` outlives its terminal.
    heeded = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, arrive) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
