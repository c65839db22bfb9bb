"""Reads variables of a running frame without `frame.f_locals`.

Up to Python 3.12 reading `f_locals` of a function changes the program: the dict keeps tensors alive after `del x`, a
snapshot that the script took with `locals()` changes under its eyes, and a write-back can lose a closure's update.
So variables are read where the interpreter keeps them, by its layout up to 3.13 (fixed within a minor version and
tried out on a known frame first). Elsewhere `PyFrame_GetVar` (3.12) or the harmless proxy (3.13 and newer) tells.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator, Sequence
from types import CellType, CodeType, FrameType
from typing import Any

ABSENT: Any = object()
# A frame's variables by position, in the order of `_names`; to ask for an unbound one raises ValueError.
Variables = Any
Slot = tuple[int, ...]  # where a variable can lie; () for none

OPTIMIZED = 0x1  # CO_OPTIMIZED: a function; its variables do not live in a dict
_POINTER = ctypes.sizeof(ctypes.c_void_p)
# An index into an array costs a fraction of an object at an address; no code has so many variables.
_variables_at = (ctypes.py_object * (1 << 20)).from_address
_pointer_at = ctypes.c_void_p.from_address


def slots_of(code: CodeType) -> dict[str, Slot]:
    """The variables of a function's code. An argument that a closure captures had two positions in 3.10."""
    found: dict[str, Slot] = {}
    for position, name in enumerate(_names(code)):
        found[name] = (position, *found.get(name, ()))
    return found


def plain_positions(code: CodeType) -> dict[str, int]:
    """The variables that no closure shares: their position holds the value itself."""
    shared = {*code.co_cellvars, *code.co_freevars}
    return {name: position for position, name in enumerate(code.co_varnames) if name not in shared}


def _names(code: CodeType) -> Iterator[str]:
    captured = code.co_cellvars
    if sys.version_info >= (3, 11):
        captured = tuple(name for name in captured if name not in code.co_varnames)
    yield from (*code.co_varnames, *captured, *code.co_freevars)


def read_all(frame: FrameType) -> dict[str, Any]:
    """All local variables of a frame by name (globals are `frame.f_globals`)."""
    if not frame.f_code.co_flags & OPTIMIZED:
        return dict(frame.f_locals)
    variables = variables_of(frame)
    values = {name: value_at(variables, slot) for name, slot in slots_of(frame.f_code).items()}
    return {name: value for name, value in values.items() if value is not ABSENT}


def value_at(variables: Variables, slot: Slot) -> Any:
    """The value of a variable that may be shared with a closure, ABSENT where it is unbound."""
    for position in slot:
        try:
            value = variables[position]
            return value.cell_contents if type(value) is CellType else value
        except ValueError:  # a null pointer or an empty cell
            continue
    return ABSENT


def _by_layout_of_310(frame: FrameType) -> Variables:
    return _variables_at(id(frame) + 352)


def _by_layout(frame: FrameType) -> Variables:
    return _variables_at(_pointer_at(id(frame) + 24).value + 72)  # type: ignore[operator]


class _ByName:
    """Variables that are read by name. It holds the frame, so nobody may keep it."""

    def __init__(self, frame: FrameType) -> None:
        self._frame = frame
        self._names: Sequence[str] = tuple(_names(frame.f_code))

    def __getitem__(self, position: int) -> Any:
        try:
            return _get_variable(self._frame, self._names[position])
        except (NameError, KeyError):
            raise ValueError from None


class _Unreadable:
    def __init__(self, frame: FrameType) -> None: ...

    def __getitem__(self, position: int) -> Any:
        raise ValueError


def _get_variable(frame: FrameType, name: str) -> Any:
    if sys.version_info >= (3, 13):
        return frame.f_locals[name]
    get_var = ctypes.pythonapi.PyFrame_GetVarString
    get_var.argtypes, get_var.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.py_object
    return get_var(frame, name.encode())


def _choose() -> Callable[[FrameType], Variables]:
    if sys.implementation.name != "cpython":
        return _Unreadable
    # Other builds of CPython (debug, free-threaded) have other layouts.
    is_usual = _POINTER == 8 and not set(getattr(sys, "abiflags", "")) & {"d", "t"}
    layout = _by_layout if sys.version_info >= (3, 11) else _by_layout_of_310
    if sys.version_info < (3, 14) and is_usual and _works(layout):
        return layout
    return _ByName if sys.version_info >= (3, 12) else _Unreadable


def _works(reader: Callable[[FrameType], Variables]) -> bool:
    """Try a reader on a frame whose variables are known: argument, local, captured, free and unbound ones."""
    outer = object()

    def known(argument: object, captured: object) -> tuple[list[Any], object]:
        def inner() -> object:
            return captured

        local = inner
        frame = sys._getframe()
        slots, variables = slots_of(frame.f_code), reader(frame)
        seen = [value_at(variables, slots[name]) for name in ("argument", "captured", "local", "outer", "late")]
        late = outer
        return seen, (local, late)[0]

    first, second = object(), object()
    seen, local = known(first, second)
    wanted = (first, second, local, outer, ABSENT)
    return all(have is want for have, want in zip(seen, wanted, strict=True))


variables_of: Callable[[FrameType], Variables] = _choose()
# Whether variables may be kept for as long as the frame runs without a pause: they are an address then, nothing more.
KEPT = variables_of in (_by_layout, _by_layout_of_310)
