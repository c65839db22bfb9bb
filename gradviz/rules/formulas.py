"""Reads the data files of formulas: the backward rule of each op, one expression per input."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import tomllib

from gradviz.resources import resource
from gradviz.rules.functions import FUNCTIONS
from gradviz.rules.tree import Binary, Call, Choice, Compare, Expression, FormulaError, Negative, parse
from gradviz.texts import tr

FILES = (
    "arithmetic",
    "functions",
    "activations",
    "losses",
    "reductions",
    "matrices",
    "layers",
    "indexing",
    "views",
    "linalg",
)

_RESERVED = ("inputs", "outputs", "where")


@dataclass(frozen=True)
class Formula:
    """The backward rule of an op.

    `inputs` are the parameters' names, one per slot; an op with any number of inputs has one name, `each`.
    `outputs` are the names of its outputs. `gradients` maps an input to the expression of its gradient, `where`
    holds definitions that those use, in order.
    """

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    gradients: dict[str, Expression]
    where: dict[str, Expression]

    def input(self, slot: int) -> str | None:
        """The name of the input behind a slot."""
        if self.inputs == ("each",):
            return "each"
        return self.inputs[slot] if slot < len(self.inputs) else None


@cache
def formulas() -> dict[str, Formula]:
    """All formulas by op (`MulBackward0`).

    Raises:
        FormulaError: a data file is not in the form that it should have.
    """
    found: dict[str, Formula] = {}
    for name in FILES:
        text = resource("formulas", f"{name}.toml").read_text(encoding="utf-8")
        for op, entry in tomllib.loads(text).items():
            for each in op.split("|"):
                found[each] = _formula(each, entry)
    return found


def _formula(op: str, entry: dict[str, Any]) -> Formula:
    where = {name: _checked(text) for name, text in entry.get("where", {}).items()}
    gradients = {name: _checked(text) for name, text in entry.items() if name not in _RESERVED}
    inputs = tuple(entry.get("inputs", gradients))
    if not set(gradients) <= set(inputs):
        raise FormulaError(tr("The formula of {op} has a gradient for an input that it does not have.", op=op))
    return Formula(op, inputs, tuple(entry.get("outputs", ())), gradients, where)


def _checked(text: str) -> Expression:
    expression = parse(text)
    unknown = functions_in(expression) - FUNCTIONS.keys()
    if unknown:
        raise FormulaError(tr("The formula {text!r} calls unknown functions: {names}.", text=text, names=unknown))
    return expression


def functions_in(expression: Expression) -> set[str]:
    """The functions that an expression calls."""
    match expression:
        case Negative(operand):
            return functions_in(operand)
        case Binary(_, left, right):
            return functions_in(left) | functions_in(right)
        case Compare(_, operands):
            return set[str]().union(*map(functions_in, operands))
        case Choice(condition, yes, no):
            return functions_in(condition) | functions_in(yes) | functions_in(no)
        case Call(function, arguments):
            return {function}.union(*map(functions_in, arguments))
    return set()
