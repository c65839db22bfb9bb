"""Follows lines by `sys.monitoring` (Python 3.12 and newer): cheaper than a trace function, in all threads at once,
and beside any debugger, profiler or coverage tool instead of in its place.
"""

from __future__ import annotations

import dis
import sys
import threading
from collections.abc import Callable
from signal import SIGINT
from types import CodeType, FrameType
from typing import Any

from gradviz.worker.frames import PASSED_OVER, without_ours
from gradviz.worker.interrupts import forgive, unhurried
from gradviz.worker.modules import CALL
from gradviz.worker.threads import Tables, ThreadLines, do_not_compile, user_frames
from gradviz.worker.userfiles import UserFiles

_monitoring: Any = getattr(sys, "monitoring", None)
# 0 to 2 and 5 have names (debugger, coverage, profiler, optimizer); 3 and 4 are anybody's.
_FREE_IDS = (4, 3)


_THREAD_STARTS: Any = getattr(getattr(threading.Thread, "_bootstrap_inner", None), "__code__", None)


def can_monitor() -> bool:
    """Whether this Python has `sys.monitoring` and a number for us in it."""
    return _monitoring is not None and any(_monitoring.get_tool(number) is None for number in _FREE_IDS)


class MonitoringWatch:
    """Events of the user's code objects, and of the function that calls modules."""

    def __init__(self, files: UserFiles, tables: Tables, threads: dict[int, ThreadLines]) -> None:
        self._files = files
        self._tables = tables
        self._threads = threads
        self._tool = next(number for number in _FREE_IDS if _monitoring.get_tool(number) is None)
        self._watched: dict[int, CodeType] = {}
        self._short_loops: dict[int, frozenset[int]] = {}
        _monitoring.use_tool_id(self._tool, "gradviz")
        events = _monitoring.events
        callbacks: dict[int, Callable[..., Any]] = {
            events.PY_START: self._start,
            events.PY_RESUME: self._start,
            events.PY_THROW: self._start,
            events.PY_RETURN: self._return,
            events.PY_YIELD: self._return,
            events.PY_UNWIND: self._unwind,
            events.LINE: self._line,
            events.RAISE: self._raise,
            events.JUMP: self._jump,
        }
        for event, callback in callbacks.items():
            _monitoring.register_callback(self._tool, event, callback)
        do_not_compile(*(callback.__code__ for callback in callbacks.values()))
        lines = self._lines()
        for frame in reversed(user_frames(sys._getframe(1), files)):
            self._watch_code(frame.f_code)
            lines.enter(frame)
        everywhere = events.PY_START | events.PY_RESUME | events.PY_THROW | events.PY_UNWIND | events.RAISE
        _monitoring.set_events(self._tool, everywhere)

    def stop(self) -> None:
        """Take all events away."""
        if _monitoring.get_tool(self._tool) != "gradviz":
            return
        _monitoring.set_events(self._tool, 0)
        for code in self._watched.values():
            _monitoring.set_local_events(self._tool, code, 0)
        _monitoring.free_tool_id(self._tool)

    def _lines(self) -> ThreadLines:
        lines = self._threads.get(threading.get_ident())
        if lines is None:
            lines = self._threads[threading.get_ident()] = ThreadLines(self._tables)
        return lines

    def _watch_code(self, code: CodeType) -> None:
        if id(code) not in self._watched:
            self._watched[id(code)] = code
            events = _monitoring.events
            wanted = events.PY_RETURN if code is CALL else events.LINE | events.PY_RETURN | events.PY_YIELD
            jumps = short_loops(code)
            if jumps and code is not CALL:
                self._short_loops[id(code)] = jumps
                wanted |= events.JUMP
            _monitoring.set_local_events(self._tool, code, wanted)

    # -- callbacks -------------------------------------------------------------------------------------------------

    def _start(self, code: CodeType, offset: int, *_: Any) -> Any:
        try:
            if code is CALL:
                self._watch_code(code)
                self._lines().enter_module(sys._getframe(1))
            elif code.co_filename in self._files and code.co_name not in PASSED_OVER:
                self._watch_code(code)
                self._lines().enter(sys._getframe(1))
            elif code is _THREAD_STARTS:  # it may make nodes without a line of the user's
                self._lines()
            else:
                return None if _ else _monitoring.DISABLE  # an exception thrown in (`_`) cannot be switched off
        except BaseException as error:
            forgive(error)[SIGINT]
        return None

    def _return(self, code: CodeType, offset: int, value: Any) -> None:
        try:
            self._leave(code, sys._getframe(1), value)
        except BaseException as error:
            forgive(error)[SIGINT]

    def _unwind(self, code: CodeType, offset: int, exception: BaseException) -> None:
        try:
            self._leave(code, sys._getframe(1), None)
        except BaseException as error:
            forgive(error)[SIGINT]

    def _leave(self, code: CodeType, frame: FrameType, value: Any) -> None:
        if code is CALL:
            self._lines().leave_module(frame)
        elif id(code) in self._watched:
            self._lines().leave(frame, value)

    def _line(self, code: CodeType, number: int) -> None:
        try:
            frame, lines = sys._getframe(1), self._lines()
            if not lines.is_at(frame, number):  # a branch forward on the same line is an event, too
                lines.line(frame, frame.f_lasti)
        except BaseException as error:
            forgive(error)[SIGINT]

    def _jump(self, code: CodeType, offset: int, target: int) -> None:
        """A loop of one line goes round."""
        try:
            frame, lines = sys._getframe(1), self._lines()
            if offset in self._short_loops.get(id(code), ()):
                line = frame.f_lineno
                if lines.is_at(frame, line) or lines.goes_on_at(frame, line):
                    lines.line(frame, target)
        except BaseException as error:
            forgive(error)[SIGINT]

    def _raise(self, code: CodeType, offset: int, exception: BaseException) -> None:
        try:
            if code.co_filename in self._files:
                without_ours(exception.__traceback__)
        except BaseException as error:
            forgive(error)[SIGINT]


def short_loops(code: CodeType) -> frozenset[int]:
    """The offsets of jumps back to the same line: going round a loop of one line makes no LINE event."""
    found = set()
    line, starts = code.co_firstlineno, dict(dis.findlinestarts(code))
    lines: dict[int, int] = {}
    for instruction in dis.get_instructions(code):
        line = lines[instruction.offset] = starts.get(instruction.offset) or line
        if instruction.opname.startswith("JUMP_BACKWARD") and lines.get(instruction.argval) == line:
            found.add(instruction.offset)
    return frozenset(found)


for _callback in (
    *(MonitoringWatch._start, MonitoringWatch._return, MonitoringWatch._unwind),
    *(MonitoringWatch._line, MonitoringWatch._jump, MonitoringWatch._raise),
):
    unhurried(_callback)  # type: ignore[arg-type]
