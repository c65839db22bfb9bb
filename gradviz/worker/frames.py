"""Finds the user's lines among Python's frames, and keeps our own frames out of sight."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Callable
from types import CodeType, FrameType, TracebackType
from typing import Any, TypeVar

from gradviz.model import Place

STACK_LIMIT = 32
# Through these a tensor subclass or a mode sees each operation: it is made by the line that calls them.
PASSED_OVER = frozenset({"__torch_function__", "__torch_dispatch__"})
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What of gradviz runs in the user's process; the examples, which are scripts, lie in the same package.
_OURS = (
    *(os.path.join(_PACKAGE, name, "") for name in ("worker", "store", "model")),
    *(os.path.join(_PACKAGE, name) for name in ("protocol.py", "texts.py", "errors.py", "resources.py")),
)
_STDLIB = tuple(os.path.join(path, "") for path in {sysconfig.get_path("stdlib"), os.path.dirname(os.__file__)} if path)
# What our code calls of Python's own library, and what that calls: none of it is a handler of a user's.
_CALLED = (
    *("_collections_abc", "abc", "ast", "codecs", "collections", "contextlib", "copy", "copyreg", "ctypes"),
    *("dataclasses", "dis", "enum", "functools", "genericpath", "hashlib", "importlib", "inspect", "json"),
    *("linecache", "ntpath", "opcode", "operator", "os", "pathlib", "platform", "posixpath", "random", "re", "shutil"),
    *("socket", "sqlite3", "stat", "struct", "sysconfig", "tempfile", "threading", "tokenize", "traceback", "types"),
    *("typing", "warnings", "weakref"),
)
_LIBRARY = (
    *(folder + name + end for folder in _STDLIB for name in _CALLED for end in (".py", os.sep)),
    *("<frozen " + name for name in _CALLED),
)
_INSTALLED = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
# `warnings.warn(stacklevel=2)` passes over frames whose file name holds both words, which is how Python hides its
# import machinery: a FutureWarning of torch's `backward` then names the user's line, not our wrapper.
HIDDEN = "<gradviz importlib._bootstrap>"

_Function = TypeVar("_Function", bound=Callable[..., Any])
_skipped: dict[str, bool] = {}
_paths: dict[str, str] = {}
_start = os.getcwd()


def hidden(function: _Function) -> _Function:
    """Return `function` itself with its code marked, so that warnings raised below it skip its frame."""
    plain: Any = function
    plain.__code__ = _marked(plain.__code__)
    return function


def _marked(code: CodeType) -> CodeType:
    """`code` and all functions defined in it under the hidden file name."""
    inner = tuple(_marked(part) if isinstance(part, CodeType) else part for part in code.co_consts)
    return code.replace(co_filename=HIDDEN, co_consts=inner)


def is_ours(file: str) -> bool:
    """Tell whether a `co_filename` belongs to the recorder."""
    return file == HIDDEN or file.startswith(_OURS)


def is_called(file: str) -> bool:
    """Tell whether a `co_filename` belongs to what our code calls of Python's own library."""
    return file.startswith(_LIBRARY)


def is_torch(file: str) -> bool:
    """Tell whether a `co_filename` belongs to torch itself."""
    return "/torch/" in file.replace("\\", "/") and any(part in file for part in _INSTALLED)


def path_of(file: str) -> str:
    """The absolute path behind a `co_filename`; names in `<>` stay as they are.

    It is taken from the folder in which the recorder started: a script may change directory, or delete its own.
    """
    path = _paths.get(file)
    if path is None:
        path = file if file.startswith("<") else os.path.normpath(os.path.join(_start, file))
        _paths[file] = path
    return path


def function_of(frame: FrameType) -> str:
    """The qualified name of the function that a frame runs (its plain name on Python 3.10)."""
    code = frame.f_code
    name: str = getattr(code, "co_qualname", code.co_name)
    return name


def place_of(frame: FrameType) -> Place:
    """The line that a frame is at."""
    return Place(path_of(frame.f_code.co_filename), frame.f_lineno or 0, function_of(frame))


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame that belongs neither to torch nor to the standard library nor to us."""
    while frame is not None and _skip(frame.f_code):
        frame = frame.f_back
    return frame


def user_stack(frame: FrameType | None) -> tuple[Place, ...]:
    """The places of the user's frames from `frame` outwards, innermost first, at most `STACK_LIMIT`."""
    places: list[Place] = []
    while frame is not None and len(places) < STACK_LIMIT:
        if not _skip(frame.f_code):
            places.append(place_of(frame))
        frame = frame.f_back
    return tuple(places)


def without_ours(trace: TracebackType | None) -> TracebackType | None:
    """Return the traceback with our frames, and what they called, unlinked; its other entries are relinked in place."""
    first = entry = _past_ours(trace)
    while entry is not None:
        following = _past_ours(entry.tb_next)
        if following is not entry.tb_next:
            entry.tb_next = following
        entry = following
    return first


def _past_ours(trace: TracebackType | None) -> TracebackType | None:
    """The first entry that is not ours; of Python's library, or made by it (a dataclass), only below one of ours."""
    below = False
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if is_ours(file):
            below = True
        elif not (below and (file == "<string>" or is_called(file))):
            break
        trace = trace.tb_next
    return trace


def _skip(code: CodeType) -> bool:
    file = code.co_filename
    skip = _skipped.get(file)
    if skip is None:
        skip = _skipped[file] = _decide(file)
    return skip or code.co_name in PASSED_OVER


def _decide(file: str) -> bool:
    if file.startswith("<frozen") or is_ours(file) or is_torch(file):
        return True
    installed = any(part in file for part in _INSTALLED)
    return not installed and file.startswith(_STDLIB)
