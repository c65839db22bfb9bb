"""Ctrl-C during our callbacks: it must reach the script's own line, with none of our frames in the traceback.

Python runs signal handlers wherever it happens to be, and while lines are traced that is often in our code.
"""

from __future__ import annotations

import _thread
import dis
import signal
import sys
from types import FunctionType

from gradviz.worker.quiet import started_here

# What RESUME says of itself after a `yield from`, where the interpreter looks for no signal.
_NO_CHECK = 2


def unhurried(function: FunctionType) -> None:
    """Let a function start without looking for a signal: before its first `try` nothing could catch what that raises.

    Up to Python 3.10 a function whose first statement is `try` starts so by itself.
    """
    if sys.version_info < (3, 11):
        return
    code = function.__code__
    raw = bytearray(code.co_code)
    for offset in range(0, len(raw), 2):
        if raw[offset] == dis.opmap["RESUME"]:
            raw[offset + 1] = _NO_CHECK
            function.__code__ = code.replace(co_code=bytes(raw))
            return


class _Again(dict[int, None]):
    """Asked for a signal's number it raises that signal, without a call that the interpreter would see."""

    __missing__ = _thread.interrupt_main


AGAIN = _Again()
NOTHING: dict[int, None] = {signal.SIGINT: None}


def forgive(error: BaseException) -> dict[int, None]:
    """An exception inside a callback: let the user's own pass, drop what is ours, keep a Ctrl-C for the script.

    Whatever leaves a callback ends the tracing and would carry our frames into the script's traceback.

    Returns:
        A table; to ask it for SIGINT, as the very last thing before returning, gives a Ctrl-C back. A call in its
        place would be a point at which the interpreter looks for signals, and the Ctrl-C would hit us again.

    Raises:
        BaseException: `error`, where a signal handler of the user's raised it on top of our code.
    """
    try:
        # Near the script's own limit of recursion not even a function of ours may be called.
        if isinstance(error, RecursionError) or started_here(error):
            return AGAIN if isinstance(error, KeyboardInterrupt) else NOTHING
    except KeyboardInterrupt:  # one more, while we looked at the first
        return AGAIN
    raise error


unhurried(forgive)  # type: ignore[arg-type]
