"""Keeps our tracer and our frames out of sight of a script that traces its lines or asks whether a debugger is there.

`sys.gettrace()` tells what it tells without us. A trace function of the script's own gets no event of our frames, and
none at all while our code runs before and after the engine. What a script's function for `sys.setprofile` gets is left
as it is: Python's own `profile` demands that the frames which it is told of are callers of each other.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any

from gradviz.worker.frames import is_ours, without_ours
from gradviz.worker.patches import Patches

# The interpreter's own, which our code goes on using.
_gettrace, _settrace = sys.gettrace, sys.settrace


class Passed:
    """A trace function of the script's own, without the events of our frames."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, frame: FrameType, event: str, arg: Any) -> Any:
        """As a trace function."""
        return None if is_ours(frame.f_code.co_filename) else self.function(frame, event, arg)


class Standing:
    """Stands in the place of a function of Python's; for our own callers it is that function."""

    def __init__(self, original: Callable[..., Any], act: Callable[..., Any], arguments: int) -> None:
        self._original = original
        self._act = act
        self._arguments = arguments
        functools.update_wrapper(self, original)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """As the function of Python's."""
        if is_ours(sys._getframe(1).f_code.co_filename) or kwargs or len(args) != self._arguments:
            return self._original(*args, **kwargs)
        return self._act(*args)

    def __repr__(self) -> str:
        return repr(self._original)


class Unseen:
    """The stand-ins of one recorder."""

    def __init__(self, patches: Patches) -> None:
        self._kept: dict[int, Any] = {}  # thread -> our tracer, while one of the script's own is in its place
        self._hook: Any = None  # the same for `threading.settrace`
        patches.put(sys, "gettrace", Standing(_gettrace, self._get, 0))
        patches.put(sys, "settrace", Standing(_settrace, self._set, 1))
        self._set_hook, self._get_hook = threading.settrace, threading.gettrace
        patches.put(threading, "gettrace", Standing(self._get_hook, self._get_for_threads, 0))
        patches.put(threading, "settrace", Standing(self._set_hook, self._set_for_threads, 1))

    def _get(self) -> Any:
        found = _gettrace()
        if type(found) is Passed:
            return found.function
        return None if _is_ours(found) else found

    def _set(self, function: Any) -> None:
        thread, current = threading.get_ident(), _gettrace()
        if function is None:
            ours = self._kept.pop(thread, None)
            if not _is_ours(current):
                # After `pdb` the frames that run have lost our function, and lines would be taken for others.
                _settrace(ours if ours is not None and _is_followed(sys._getframe(2)) else None)
        elif _is_ours(function):  # a thread starts
            _settrace(function)
        else:
            if _is_ours(current):
                self._kept[thread] = current
            _settrace(Passed(function))

    def _get_for_threads(self) -> Any:
        found = self._get_hook()
        return None if _is_ours(found) else found

    def _set_for_threads(self, function: Any) -> None:
        if _is_ours(current := self._get_hook()):
            self._hook = current
        self._set_hook(self._hook if function is None else function)


class Hush:
    """Takes the script's own trace function away while our code runs. In one thread, used in pairs."""

    def __init__(self) -> None:
        self._trace: Any = None

    @staticmethod
    def is_needed() -> bool:
        """Whether there is such a function now."""
        return type(_gettrace()) is Passed

    def hold(self) -> None:
        """Take it away."""
        if type(trace := _gettrace()) is Passed:
            self._trace = trace
            _settrace(None)

    def release(self) -> None:
        """Put it back."""
        trace, self._trace = self._trace, None
        if trace is not None:
            _settrace(trace)

    def except_in(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, seen by the script's own."""

        def seen(*args: Any, **kwargs: Any) -> Any:
            self.release()
            try:
                return function(*args, **kwargs)
            finally:
                self.hold()

        return seen


class Leaving(AbstractContextManager[None]):
    """Our outermost frame: an exception that leaves it loses our frames from its traceback where it arrives."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            _leave(error)


LEAVING = Leaving()


def _leave(error: BaseException) -> None:
    """Take our frames out of the traceback of an exception where it arrives.

    Only there they are all in it. Who catches it may be no file of the script's: an interactive interpreter, a library.
    (From Python 3.12 on this is left to the tool that watches exceptions.)
    """
    if sys.version_info >= (3, 12) or isinstance(error, RecursionError):
        return
    without_ours(error.__traceback__)
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is not None and frame.f_trace is None:
        frame.f_trace, frame.f_trace_lines = _arrive, False
        if _gettrace() is None:
            _settrace(_follow_nothing)


def _arrive(frame: FrameType, event: str, arg: Any) -> None:
    if event == "exception":
        without_ours(arg[2])
    frame.f_trace_lines = True
    del frame.f_trace
    if _gettrace() is _follow_nothing:
        _settrace(None)


def _follow_nothing(frame: FrameType, event: str, arg: Any) -> None:
    return None


def _is_ours(function: Any) -> bool:
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code is not None and is_ours(code.co_filename)


def _is_followed(frame: FrameType | None) -> bool:
    """Whether the innermost frame that is not ours has our trace function."""
    while frame is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return frame is not None and _is_ours(frame.f_trace)
