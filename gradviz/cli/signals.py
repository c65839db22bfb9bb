"""Signals during `gradviz record`: the script gets those that would have been its own."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from types import FrameType

from gradviz.runner import Run

_FROM_KEYBOARD = ("SIGINT", "SIGQUIT")
_FORWARDED = (*_FROM_KEYBOARD, "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")


@contextlib.contextmanager
def forward_signals(run: Run) -> Iterator[None]:
    """Pass signals that are sent to us on to the script, as long as the block runs, and outlive them ourselves."""

    def forward(number: int, _: FrameType | None) -> None:
        # A key goes to the whole foreground group: the script has the signal already, and two are not the same as one.
        if signal.Signals(number).name in _FROM_KEYBOARD and _in_foreground():
            return
        run.send_signal(number)

    before = {}
    for name in _FORWARDED:
        number = getattr(signal, name, None)
        # What is ignored (`nohup`, a job in the background) stays so, for us and for the script.
        if number is not None and signal.getsignal(number) not in (signal.SIG_IGN, None):
            before[number] = signal.signal(number, forward)
    resized = getattr(signal, "SIGWINCH", None)
    if resized is not None:
        before[resized] = signal.signal(resized, lambda *_: run.follow_size())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _in_foreground() -> bool:
    """Whether we are the job that the terminal's keys go to."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
