"""`with gradviz.record("x.gradviz"):` around any code: a test, a notebook, another runner."""

from __future__ import annotations

import atexit
import contextlib
import os
import platform
import sys
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

import torch

from gradviz.model import Header, Outcome
from gradviz.texts import tr
from gradviz.worker.budget import Options
from gradviz.worker.frames import path_of, user_frame
from gradviz.worker.last_words import facts_of, main_file, without_ours_anywhere
from gradviz.worker.monitor import can_monitor
from gradviz.worker.recorder import ENDED, Recorder
from gradviz.worker.sources import read
from gradviz.worker.userfiles import UserFiles

if TYPE_CHECKING:
    from os import PathLike

_NOT_SCRIPTS = os.path.join(os.path.dirname(sys.executable), "")  # `pytest`, `jupyter` and their like lie there


def record(path: str | PathLike[str], *, trace: bool = True, **options: Any) -> Block:
    """Record all calls made inside the `with` block into the file `path`, which must not exist.

    `options` are those of `Options` (`max_calls`, `max_values`, ...); `trace=False` leaves lines and names of
    intermediates out and does not touch `sys.settrace`. What the block prints is not recorded.

    Raises:
        RecordingError: the file cannot be created; raised when the block is entered.
    """
    return Block(os.fspath(path), Options(**options), trace)


class Block(contextlib.ContextDecorator):
    """A recorded block. What happens in it reaches the user as it would without us, exceptions too."""

    def __init__(self, path: str, options: Options, trace: bool) -> None:
        self._path = path
        self._options = options
        self._trace = trace
        self._recorder: Recorder | None = None

    def __enter__(self) -> Recorder:
        frame = user_frame(sys._getframe(1))
        header = process_header(frame, self._trace)
        self._is_script = _main_script() is not None
        self._files = UserFiles(os.getcwd())
        recorder = Recorder(self._path, header, self._options, (os.getcwd(),), self._trace and not _is_traced())
        self._pid = os.getpid()
        self._file = None if frame is None else path_of(frame.f_code.co_filename)
        for file in dict.fromkeys((header.script, self._file)):
            if file is not None and (text := text_of_code(file)) is not None:
                recorder.writer.add_source(file, text)
        recorder.attach()
        self._recorder = recorder
        atexit.register(self._at_exit)
        return recorder

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end(error)

    def _is_users(self, file: str) -> bool:
        return file in self._files or path_of(file) == self._file

    def _at_exit(self) -> None:
        """The program has ended inside the block: a context that was entered by hand, say, and never left."""
        error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
        is_end = isinstance(error, BaseException) and self._is_script  # of a session typed by hand, any error
        self._end(error if is_end else None)

    def _end(self, error: BaseException | None) -> None:
        recorder = self._recorder
        if recorder is None:
            return
        recorder.detach()
        if os.getpid() == self._pid:  # else this is a fork inside the block: the file is the parent's
            self._close(recorder, error)
        self._recorder = None
        atexit.unregister(self._at_exit)

    def _close(self, recorder: Recorder, error: BaseException | None) -> None:
        outcome = ENDED if error is None else outcome_of(error, self._is_users)
        if outcome.file is not None and (text := read(outcome.file)) is not None:
            recorder.writer.add_source(outcome.file, text)
        problem = recorder.writer.stopped  # afterwards it says that the file is closed
        recorder.close(outcome)
        if problem is not None or not os.path.exists(recorder.writer.path):
            _tell(problem or recorder.writer.stopped)


def outcome_of(error: BaseException, users: Callable[[str], bool]) -> Outcome:
    """How a block ended that an exception left. Frames of ours are taken out of the exception's tracebacks."""
    if isinstance(error, SystemExit):
        code = error.code
        return Outcome("exited", code if isinstance(code, int) else int(code is not None))
    without_ours_anywhere(error)
    return Outcome("raised", **facts_of(error, users))


def process_header(frame: FrameType | None, trace: bool = True) -> Header:
    """What runs in this process; `frame` is the user's own that enters the block, `trace` whether lines are wanted."""
    script = script_of(frame)
    is_main = script == _main_script()
    return Header(
        script=script,
        argv=tuple(sys.argv[1:]) if is_main else (),
        python=platform.python_version(),
        torch=torch.__version__,
        executable=sys.executable,
        cwd=os.getcwd(),
        threads=torch.get_num_threads(),
        notes=notes_of(trace),
        in_process=True,
    )


def notes_of(trace: bool) -> tuple[str, ...]:
    """What is to be said about the recording as a whole."""
    if not (trace and _is_traced()):
        return ()
    return (tr("The program has a tracer of its own (a debugger, coverage): lines and names are not recorded."),)


def _is_traced() -> bool:
    """Whether the place of our tracer is taken. Python 3.12 has one for each tool."""
    return sys.gettrace() is not None and not can_monitor()


def script_of(frame: FrameType | None) -> str:
    """The user's script; where a tool runs (pytest, a notebook, the interactive Python) the file with the block."""
    script = _main_script()
    if script is not None or frame is None:
        return script or ""
    file = path_of(frame.f_code.co_filename)
    return file if os.path.exists(file) else _notebook(frame) or file


def _main_script() -> str | None:
    main = main_file()
    if main is None or not main.endswith((".py", ".pyw")):
        return None
    path = path_of(main)
    return path if path in UserFiles(os.getcwd()) and not path.startswith(_NOT_SCRIPTS) else None


def _notebook(frame: FrameType) -> str | None:
    """The notebook that a cell belongs to, as Jupyter and VS Code tell it."""
    named = frame.f_globals.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME")
    return path_of(named) if isinstance(named, str) and named.endswith(".ipynb") else None


def text_of_code(file: str) -> str | None:
    """The text of a file of Python, or of typed code that Python remembers."""
    return None if file.endswith(".ipynb") else read(file)


def _tell(problem: str | None) -> None:
    """Say what is missing from the recording. A program may have closed or replaced its streams."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"gradviz: {problem}\n")
