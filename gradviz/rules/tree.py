"""The little language of the formulas: expressions as frozen trees, read from text.

A formula is one Python expression without statements, attributes or keywords. It is parsed once; what is shown
(`notation`) and what is computed (`evaluate`) come from the same tree.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import cast

from gradviz.errors import GradvizError
from gradviz.texts import tr

Plain = int | float | bool | str | None | tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, a word, None, or a tuple of whole numbers (a shape or dimensions)."""

    value: Plain


@dataclass(frozen=True, slots=True)
class Name:
    """A gradient that arrived, something that the node saved, or a definition of the formula."""

    name: str


@dataclass(frozen=True, slots=True)
class Negative:
    """`-operand`."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary:
    """`left op right`; `*` is elementwise, `@` the matrix product."""

    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Compare:
    """`[a < b < c]`: 1 where it holds and 0 elsewhere (an Iverson bracket)."""

    ops: tuple[str, ...]
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """`yes if condition else no`; the condition is decided by what the node saved, before anything is shown."""

    condition: Expression
    yes: Expression
    no: Expression


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the table in `functions`."""

    function: str
    arguments: tuple[Expression, ...]


Expression = Constant | Name | Negative | Binary | Compare | Choice | Call

ZERO = Constant(0)

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
    ast.MatMult: "@",
}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
}


class FormulaError(GradvizError):
    """A formula of the data files is not an expression of this language."""


def parse(text: str) -> Expression:
    """Read an expression.

    Raises:
        FormulaError: it holds something that the language does not have.
    """
    try:
        return _convert(ast.parse(text.strip(), mode="eval").body)
    except SyntaxError as error:
        raise FormulaError(tr("The formula {text!r} does not parse: {why}.", text=text, why=error)) from error


def _convert(node: ast.expr) -> Expression:
    match node:
        case ast.Constant(value=int() | float() | str() | None as value):
            return Constant(value)
        case ast.Name(id=name):
            return Name(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _negative(_convert(operand))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return Binary(_BINARY[type(op)], _convert(left), _convert(right))
        case ast.List(elts=[ast.Compare() as condition]):
            return _convert(condition)
        case ast.Compare(left=left, ops=ops, comparators=rest) if all(type(op) in _COMPARE for op in ops):
            return Compare(tuple(_COMPARE[type(op)] for op in ops), tuple(map(_convert, [left, *rest])))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return Choice(_convert(test), _convert(body), _convert(orelse))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            return Call(name, tuple(map(_convert, args)))
        case ast.Tuple(elts=elements):
            parts = [_convert(element) for element in elements]
            if all(isinstance(part, Constant) for part in parts):
                return Constant(tuple(cast(int, part.value) for part in parts if isinstance(part, Constant)))
    raise FormulaError(tr("A formula cannot hold {what!r}.", what=ast.unparse(node)))


def _negative(operand: Expression) -> Expression:
    if isinstance(operand, Constant) and isinstance(operand.value, int | float):
        return Constant(-operand.value)
    return Negative(operand)


def names_in(expression: Expression) -> frozenset[str]:
    """All names that an expression uses."""
    match expression:
        case Name(name):
            return frozenset((name,))
        case Negative(operand):
            return names_in(operand)
        case Binary(_, left, right):
            return names_in(left) | names_in(right)
        case Compare(_, operands) | Call(_, operands):
            return frozenset().union(*map(names_in, operands))
        case Choice(condition, yes, no):
            return names_in(condition) | names_in(yes) | names_in(no)
    return frozenset()
