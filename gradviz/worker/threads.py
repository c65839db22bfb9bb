"""Follows the lines that a thread runs by `sys.settrace`, limited to the user's files (call, line, return, exception).

Inside the callbacks nothing is locked, written or kept: a frame is known by its id only, so that no variable of the
user's lives longer than without us.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from signal import SIGINT
from types import CodeType, FrameType
from typing import Any, Protocol

import torch

from gradviz.worker.bindings import Log
from gradviz.worker.frames import PASSED_OVER, without_ours
from gradviz.worker.interrupts import forgive, unhurried
from gradviz.worker.intervals import UNSEEN, Intervals
from gradviz.worker.lines import EMPTY, Step
from gradviz.worker.modules import CALL, ModuleNames, ModuleStack
from gradviz.worker.observe import Activation, Observer, is_watched
from gradviz.worker.serials import Serials
from gradviz.worker.sites import Sites
from gradviz.worker.userfiles import UserFiles
from gradviz.worker.writes import Writes

sequence_now: Callable[[], int] = torch._C._autograd._get_sequence_nr
gettrace = sys.gettrace


Trace = Callable[[FrameType, str, Any], Any]
_YIELDING = 0x20 | 0x200  # CO_GENERATOR, CO_ASYNC_GENERATOR


class Watch(Protocol):
    """A running observation."""

    def stop(self) -> None:
        """Put everything back."""
        ...


class Tables:
    """What the tracers of all threads share."""

    def __init__(self) -> None:
        self.sites = Sites()
        self.serials = Serials()
        self.log = Log(self.serials)
        self.writes = Writes(self.serials)
        self.modules = ModuleNames(self.sites)

    def forget(self) -> None:
        """Drop all weak references."""
        self.log.forget()
        self.serials.forget()
        self.modules.forget()


class ThreadLines:
    """The running functions of one thread, and the intervals of sequence numbers that their lines made.

    `tracer` is the trace function that must be set for an event to tell the truth, None where nobody can displace us.
    """

    def __init__(self, tables: Tables) -> None:
        self.intervals = Intervals()
        self.tracer: Trace | None = None
        self._sites = tables.sites
        self._observer = Observer(tables.log, tables.sites, self.intervals, tables.modules, tables.writes)
        self._modules = ModuleStack(tables.modules)
        self._last = sequence_now()
        self._top: Activation | None = None
        self._yielded: dict[tuple[int, int], Step] = {}  # code and line

    def enter(self, frame: FrameType) -> None:
        """A function of the user's starts (or a generator goes on)."""
        now = sequence_now()
        if now != self._last:
            self._close(now)
        outer = self._top
        info = self._sites.code(frame.f_code)
        stack = 0 if outer is None else self._sites.stack(outer.stack, outer.info.id, outer.step.line)
        self._top = top = Activation(frame, info, frame.f_lineno, stack, outer)
        if frame.f_lasti > info.first_offset:  # a generator goes on
            top.before = self._yielded.get((info.id, top.step.line))
        elif info.arguments and not is_watched():
            self._observer.arguments(frame, top)

    def line(self, frame: FrameType, offset: int) -> None:
        """A line starts; what was made since the last event belongs to the line before."""
        now = sequence_now()
        if now != self._last:
            self._close(now)
        top = self._top
        if top is None or top.frame != id(frame):
            top = self._resync(frame)
        before = top.step
        try:
            step = top.info.steps[offset]
        except KeyError:
            step = top.info.step(offset, frame.f_lineno)
        # The same line again, with no other between, is a jump back inside a loop of one line. A part of a statement
        # that spreads over several lines has an offset of its own and so a count of its own.
        if step.line == before.line:
            if top.iteration:
                step = before
            elif top.before is not None:  # a generator expression that goes on jumps back in its one line, too
                step = top.before
        if step.look is EMPTY and before.look is EMPTY:
            top.step = step
        elif is_watched():
            top.look_away()
            top.step = step
        else:
            if before.look is not EMPTY:
                self._observer.after(frame, top)
            top.step = step
            if step.look.uses or step.look.writes:
                self._observer.before(frame, top, now)
        step.count += 1
        top.iteration = step.count

    def is_at(self, frame: FrameType, line: int) -> bool:
        """Whether the frame is known to run this line already."""
        top = self._top
        return top is not None and top.frame == id(frame) and top.step.line == line and top.iteration > 0

    def goes_on_at(self, frame: FrameType, line: int) -> bool:
        """Whether a generator has gone on in this line, where it had yielded, and has not reached another one."""
        top = self._top
        return top is not None and top.frame == id(frame) and top.step.line == line and top.before is not None

    def leave(self, frame: FrameType, value: Any) -> None:
        """The function returns `value`, raises or yields."""
        now = sequence_now()
        if now != self._last:
            self._close(now)
        top = self._resync(frame)
        step = top.step
        if step.look is not EMPTY and not is_watched():
            self._observer.after(frame, top)
        if value is not None:
            self._observer.returned(top.info, step.line, value)
        if top.iteration and top.info.code.co_flags & _YIELDING:
            self._yielded[top.info.id, step.line] = step
        self._top = top.parent

    def enter_module(self, frame: FrameType) -> None:
        """A module is called."""
        now = sequence_now()
        if now != self._last:
            self._close(now)
        self._modules.enter(frame)

    def leave_module(self, frame: FrameType) -> None:
        """A module's call ends."""
        now = sequence_now()
        if now != self._last:
            self._close(now)
        self._modules.leave(frame)

    def settle(self) -> None:
        """Close the interval of the line that runs now."""
        now = sequence_now()
        if now != self._last:
            self._close(now)

    def _close(self, now: int) -> None:
        top = self._top
        if top is not None:
            # While the user's own tracer, a debugger or coverage has the thread, no line is better than a wrong one.
            if self.tracer is None or gettrace() is self.tracer:
                stack, module, site = top.step.where
                if stack != top.stack or module != self._modules.current:
                    site = self._site(top)
                self.intervals.add(self._last, now, site, top.iteration)
            else:
                self.intervals.add(self._last, now, UNSEEN, 0)
                self._modules.clear()
        self._last = now

    def _site(self, top: Activation) -> int:
        site = self._sites.site(top.stack, top.info.id, top.step.line, self._modules.current)
        top.step.where = top.stack, self._modules.current, site
        return site

    def _resync(self, frame: FrameType) -> Activation:
        """The activation of `frame`; events may have been lost while somebody else's tracer was set."""
        wanted = id(frame)
        at = self._top
        while at is not None and at.frame != wanted:
            at = at.parent
        if at is None:
            at = Activation(frame, self._sites.code(frame.f_code), frame.f_lineno, 0, None)
        self._top = at
        return at


class SettraceWatch:
    """`sys.settrace` in the thread that attaches, `threading.settrace` for those that start later."""

    def __init__(self, files: UserFiles, tables: Tables, threads: dict[int, ThreadLines]) -> None:
        self._files = files
        self._tables = tables
        self._threads = threads
        self._stopped = False
        self._before = threading.gettrace() if hasattr(threading, "gettrace") else None
        self._thread_hook = self._start_thread
        self._trace = self._watch_this_thread(sys._getframe(1))
        sys.settrace(self._trace)
        threading.settrace(self._thread_hook)

    def stop(self) -> None:
        """Stop in all threads; a tracer that the user set in the meantime stays."""
        self._stopped = True
        if sys.gettrace() is self._trace:
            sys.settrace(None)
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if getattr(frame.f_trace, "__code__", None) in self._codes:
                del frame.f_trace
            frame = frame.f_back
        if getattr(threading, "_trace_hook", None) is self._thread_hook:
            threading.settrace(self._before)

    def _start_thread(self, frame: FrameType, event: str, arg: Any) -> Any:
        """The first event of a new thread: give it a tracer of its own."""
        if self._stopped:
            sys.settrace(None)
            return None
        trace = self._watch_this_thread(None)
        sys.settrace(trace)
        return trace(frame, event, arg)

    def _watch_this_thread(self, running: FrameType | None) -> Trace:
        lines = ThreadLines(self._tables)
        self._threads[threading.get_ident()] = lines
        functions = self._callbacks(lines)
        trace: Trace = functions[0]
        lines.tracer = trace
        for frame in reversed(user_frames(running, self._files)):
            lines.enter(frame)
            frame.f_trace = functions[1]
        self._codes = tuple(function.__code__ for function in functions)
        do_not_compile(*self._codes)
        return trace

    def _callbacks(self, lines: ThreadLines) -> tuple[Any, ...]:
        """The trace function of a thread, and the ones for frames of the user's and for calls of modules."""
        files, known = self._files, self._files.known  # `known` alone where it has the answer: at every call of torch's

        def in_module(frame: FrameType, event: str, arg: Any) -> Any:
            try:
                if event == "return":
                    lines.leave_module(frame)
            except BaseException as error:
                forgive(error)[SIGINT]
            return None if self._stopped else in_module

        def local(frame: FrameType, event: str, arg: Any) -> Any:
            try:
                if event == "line":
                    lines.line(frame, frame.f_lasti)
                elif event == "return":
                    lines.leave(frame, arg)
                elif event == "exception":
                    without_ours(arg[2])
            except BaseException as error:
                forgive(error)[SIGINT]
            return None if self._stopped else local

        def trace(frame: FrameType, event: str, arg: Any) -> Any:
            try:
                code = frame.f_code
                try:
                    is_users = known[code.co_filename]
                except KeyError:
                    is_users = code.co_filename in files
                if not is_users and code is not CALL:
                    return None
                if self._stopped:
                    sys.settrace(None)
                    return None
                if is_users:
                    if code.co_name not in PASSED_OVER:
                        lines.enter(frame)
                        return local
                else:
                    lines.enter_module(frame)
                    frame.f_trace_lines = False
                    return in_module
            except BaseException as error:
                forgive(error)[SIGINT]
            return None

        for function in (trace, local, in_module):
            unhurried(function)  # type: ignore[arg-type]
        return trace, local, in_module


def user_frames(frame: FrameType | None, files: UserFiles) -> list[FrameType]:
    """The user's frames from `frame` outwards, innermost first."""
    found = []
    while frame is not None:
        if frame.f_code.co_filename in files and frame.f_code.co_name not in PASSED_OVER:
            found.append(frame)
        frame = frame.f_back
    return found


def do_not_compile(*codes: CodeType) -> None:
    """Keep `torch.compile` from compiling our callbacks, as it does with any Python frame that runs under it."""
    dynamo: Any = getattr(torch._C, "_dynamo", None)
    tools = getattr(dynamo, "eval_frame", None)
    action = getattr(tools, "_FrameAction", None)
    if tools is None or action is None:  # older than 2.6: its own list of files to skip holds for us
        return
    for code in codes:
        tools.set_code_exec_strategy(code, tools._FrameExecStrategy(action.SKIP, action.SKIP))
