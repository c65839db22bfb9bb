"""The instructions of a code object as short tokens, line by line, equal for all versions of Python."""

from __future__ import annotations

import dis
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Any, NamedTuple

LOADS = ("LOAD_FAST", "LOAD_NAME", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_CLASSDEREF")
# Moves things on the stack between the reading and the writing half of `self.w -= x`.
SHUFFLES = ("SWAP", "COPY", "ROT_", "DUP_")


class Token(NamedTuple):
    """One instruction. `text` is the operator of a BINARY_OP."""

    op: str
    value: Any
    line: int
    text: str


def tokens_of(code: CodeType) -> Iterator[Token]:
    """The instructions by line, those that do two things at once taken apart."""
    line = code.co_firstlineno
    starts = dict(dis.findlinestarts(code))
    for instruction in dis.get_instructions(code):
        line = starts.get(instruction.offset) or line
        op, value = instruction.opname, instruction.argval
        text = instruction.argrepr if op == "BINARY_OP" else ""
        if not isinstance(value, tuple) or not op.startswith(("LOAD_FAST", "STORE_FAST")):
            yield Token(_plain(op), value, line, text)
            continue
        first, second = ("STORE_FAST" if part == "STORE" else "LOAD_FAST" for part in _halves(op))
        yield Token(first, value[0], line, "")
        yield Token(second, value[1], line, "")


def before(tokens: Sequence[Token], at: int) -> int:
    """The index of the instruction before `at`, those that only move things on the stack passed over."""
    at -= 1
    while at >= 0 and tokens[at].op.startswith(SHUFFLES):
        at -= 1
    return at


def _plain(op: str) -> str:
    """`LOAD_FAST_BORROW`, `LOAD_FAST_CHECK`, `LOAD_FROM_DICT_OR_GLOBALS` ... by the name of their family."""
    if op.startswith("LOAD_FAST"):
        return "LOAD_FAST"
    return {"LOAD_FROM_DICT_OR_DEREF": "LOAD_DEREF", "LOAD_FROM_DICT_OR_GLOBALS": "LOAD_GLOBAL"}.get(op, op)


def _halves(op: str) -> tuple[str, str]:
    """`("STORE", "LOAD")` for `STORE_FAST_LOAD_FAST`."""
    first = op.split("_", 1)[0]
    return first, "STORE" if "STORE_FAST" in op[5:] else "LOAD"
