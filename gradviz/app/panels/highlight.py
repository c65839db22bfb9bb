"""Which part of a line of Python is what: Pygments' tokens, normalised to a few roles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType

Role = Literal["keyword", "string", "comment", "number", "function", "decorator", "builtin"]

# The first row whose token type contains the token's type decides.
_ROLES: tuple[tuple[_TokenType, Role], ...] = (
    (Comment, "comment"),
    (String, "string"),
    (Number, "number"),
    (Keyword, "keyword"),
    (Operator.Word, "keyword"),
    (Name.Decorator, "decorator"),
    (Name.Function, "function"),
    (Name.Class, "function"),
    (Name.Builtin, "builtin"),
)


@dataclass(frozen=True, slots=True)
class Span:
    """`length` characters from `start` (both in UTF-16 units, as Qt counts) play a role."""

    start: int
    length: int
    role: Role


def highlight(text: str) -> tuple[tuple[Span, ...], ...]:
    """The spans of each line of a Python text; a text that is no Python has few or none."""
    lines: list[list[Span]] = [[]]
    column = 0
    for kind, piece in PythonLexer(stripnl=False, ensurenl=False).get_tokens(text):
        role = _role(kind)
        for place, part in enumerate(piece.split("\n")):
            if place:
                lines.append([])
                column = 0
            length = _units(part)
            if role is not None and length:
                _add(lines[-1], Span(column, length, role))
            column += length
    return tuple(map(tuple, lines))


def _add(line: list[Span], span: Span) -> None:
    """Add a span; one that goes on with the role of the last makes that longer."""
    last = line[-1] if line else None
    if last is not None and last.role == span.role and last.start + last.length == span.start:
        line[-1] = Span(last.start, last.length + span.length, last.role)
    else:
        line.append(span)


def _role(kind: _TokenType) -> Role | None:
    return next((role for token, role in _ROLES if kind in token), None)


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2
