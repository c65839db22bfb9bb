"""How the script ended, as the interpreter knows it at its exit. Works without torch: a script may not import it."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any

from gradviz.protocol import Finished
from gradviz.worker.channel import Channel
from gradviz.worker.frames import is_ours, path_of, without_ours
from gradviz.worker.userfiles import UserFiles


def report_error(order: bytes, trouble: str = "") -> None:
    """Say how a script ended that was not recorded: it never imported torch, or the recorder is in `trouble`."""
    wishes = json.loads(order)
    channel = Channel(wishes["port"], wishes["token"])
    channel.say(Finished(result={"error": last_error(), "problems": [trouble] if trouble else []}))
    channel.close()


def last_error() -> dict[str, Any] | None:
    """The exception that ended the script, as Python's own handler left it; None where it ended otherwise."""
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    return facts_of(error, is_users) if isinstance(error, BaseException) else None


def facts_of(error: BaseException, users: Callable[[str], bool]) -> dict[str, Any]:
    """What is kept of an exception. `users` tells by its name whether a file is the user's own."""
    file, line = where(error, users)
    trace = without_ours(error.__traceback__)
    return {
        "type": type(error).__name__,
        "message": text_of(error),
        "file": file,
        "line": line,
        "traceback": "".join(traceback.format_exception(type(error), error, trace)),
    }


def without_ours_anywhere(error: BaseException) -> None:
    """Take our frames out of the tracebacks of an exception and of those that it came from."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            if (trace := without_ours(one.__traceback__)) is not one.__traceback__:
                one.__traceback__ = trace
            waiting += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]


def text_of(error: BaseException) -> str:
    """`str(error)`; an exception of the user's may fail even there."""
    try:
        return str(error)
    except Exception as failure:
        return f"<{type(failure).__name__} in __str__>"


def where(error: BaseException, users: Callable[[str], bool]) -> tuple[str | None, int | None]:
    """File and line of a syntax error, else of the innermost frame of the user's."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return path_of(error.filename), error.lineno
    found: TracebackType | None = None
    trace = error.__traceback__
    while trace is not None:
        if users(trace.tb_frame.f_code.co_filename):
            found = trace
        trace = trace.tb_next
    return (None, None) if found is None else (path_of(found.tb_frame.f_code.co_filename), found.tb_lineno)


def is_users(file: str) -> bool:
    """Whether a frame is the user's own."""
    main = main_file()
    files = UserFiles(*([os.path.dirname(main)] if main else []))
    return not is_ours(file) and file in files


def main_file() -> str | None:
    """The file that runs as `__main__`."""
    return getattr(sys.modules.get("__main__"), "__file__", None)
