"""Reads variables of a running frame without `frame.f_locals`.

Up to Python 3.12 reading `f_locals` of a function changes the program: the dict keeps tensors alive after `del x`, a
snapshot that the script took with `locals()` changes under its eyes, and a write-back can lose a closure's update.
So variables are read where the interpreter keeps them, by its layout up to 3.13 (fixed within a minor version and
tried out on a known frame first). Elsewhere `PyFrame_GetVar` (3.12) or the harmless proxy (3.13 and newer) tells.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from types import CellType, CodeType, FrameType
from typing import Any

ABSENT: Any = object()
Slot = tuple[str, tuple[int, ...]]  # name, positions among the frame's variables
# `read(frame, start_of(frame), slots)`: the start is good as long as the frame runs without a pause.
Reader = Callable[[FrameType, int, Sequence[Slot]], list[Any]]

OPTIMIZED = 0x1  # CO_OPTIMIZED: a function; its variables do not live in a dict
_POINTER = ctypes.sizeof(ctypes.c_void_p)
# An index into an array costs a fraction of an object at an address; no code has so many variables.
_variables_at = (ctypes.py_object * (1 << 20)).from_address
_pointer_at = ctypes.c_void_p.from_address


def slots_of(code: CodeType) -> dict[str, Slot]:
    """The variables of a function's code. An argument that a closure captures had two positions in 3.10."""
    captured = code.co_cellvars
    if sys.version_info >= (3, 11):
        captured = tuple(name for name in captured if name not in code.co_varnames)
    found: dict[str, Slot] = {}
    for position, name in enumerate((*code.co_varnames, *captured, *code.co_freevars)):
        found[name] = (name, (position, *(found[name][1] if name in found else ())))
    return found


def read_all(frame: FrameType) -> dict[str, Any]:
    """All local variables of a frame by name (globals are `frame.f_globals`)."""
    if not frame.f_code.co_flags & OPTIMIZED:
        return dict(frame.f_locals)
    slots = tuple(slots_of(frame.f_code).values())
    values = read(frame, start_of(frame), slots)
    return {slot[0]: value for slot, value in zip(slots, values, strict=True) if value is not ABSENT}


def _by_layout(frame: FrameType, start: int, slots: Sequence[Slot]) -> list[Any]:
    """Read from the interpreter's array of variables."""
    found = []
    variables = _variables_at(start)
    for _, positions in slots:
        value: Any = ABSENT
        for position in positions:
            try:
                value = variables[position]
                if type(value) is CellType:
                    value = value.cell_contents
                break
            except ValueError:  # a null pointer or an empty cell: unbound
                value = ABSENT
        found.append(value)
    return found


def _start_in_310(frame: FrameType) -> int:
    return id(frame) + 352


def _start_in_311(frame: FrameType) -> int:
    return (_pointer_at(id(frame) + 24).value or 0) + 72


def _by_get_var() -> Reader:
    get_var = ctypes.pythonapi.PyFrame_GetVarString
    get_var.argtypes, get_var.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.py_object

    def one(frame: FrameType, name: str) -> Any:
        try:
            return get_var(frame, name.encode())
        except NameError:
            return ABSENT

    return lambda frame, _, slots: [one(frame, name) for name, _ in slots]


def _by_proxy(frame: FrameType, _: int, slots: Sequence[Slot]) -> list[Any]:
    variables = frame.f_locals
    return [variables.get(name, ABSENT) for name, _ in slots]


def _unreadable(frame: FrameType, _: int, slots: Sequence[Slot]) -> list[Any]:
    return [ABSENT] * len(slots)


def _choose() -> Reader:
    if sys.implementation.name != "cpython":
        return _unreadable
    # Other builds of CPython (debug, free-threaded) have other layouts.
    is_usual = _POINTER == 8 and not set(getattr(sys, "abiflags", "")) & {"d", "t"}
    if sys.version_info < (3, 14) and is_usual and _works(_by_layout):
        return _by_layout
    if sys.version_info >= (3, 13):
        return _by_proxy
    return _by_get_var() if sys.version_info >= (3, 12) else _unreadable


def _works(reader: Reader) -> bool:
    """Try a reader on a frame whose variables are known: argument, local, captured, free and unbound ones."""
    outer = object()

    def known(argument: object, captured: object) -> tuple[list[Any], object]:
        def inner() -> object:
            return captured

        local = inner
        frame = sys._getframe()
        slots = slots_of(frame.f_code)
        seen = reader(
            frame, start_of(frame), [slots[name] for name in ("argument", "captured", "local", "outer", "late")]
        )
        late = outer
        return seen, (local, late)[0]

    first, second = object(), object()
    seen, local = known(first, second)
    wanted = (first, second, local, outer, ABSENT)
    return all(have is want for have, want in zip(seen, wanted, strict=True))


start_of: Callable[[FrameType], int] = _start_in_311 if sys.version_info >= (3, 11) else _start_in_310
if sys.version_info >= (3, 14):
    start_of = id  # read by name: nothing to compute
read: Reader = _choose()
