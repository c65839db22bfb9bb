"""Computes an expression with numpy arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gradviz.rules.functions import FUNCTIONS
from gradviz.rules.tree import Binary, Call, Choice, Compare, Constant, Expression, Name, Negative

Array = npt.NDArray[Any]
Value = Array | tuple[Array | None, ...]  # a tuple for what a node saved as a list of tensors

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "@": operator.matmul,
}
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "is": operator.is_,
    "is not": operator.is_not,
}


class UnknownValueError(Exception):
    """The value of a name is not in the recording; `str(error)` is the name."""


def evaluate(expression: Expression, values: Mapping[str, Value]) -> Any:
    """The value of an expression.

    Raises:
        UnknownValueError: a name has no value.
        ValueError, TypeError, IndexError, np.linalg.LinAlgError: shapes or numbers do not fit the formula.
    """
    # Divisions by zero give inf and nan here as they do in torch.
    with np.errstate(all="ignore"):
        return _evaluate(expression, values)


def _evaluate(expression: Expression, values: Mapping[str, Value]) -> Any:
    match expression:
        case Constant(value):
            return value
        case Name(name):
            if name not in values:
                raise UnknownValueError(name)
            return values[name]
        case Negative(operand):
            return -_evaluate(operand, values)
        case Binary(op, left, right):
            return _BINARY[op](_evaluate(left, values), _evaluate(right, values))
        case Compare(ops, operands):
            return _compare(ops, [_evaluate(operand, values) for operand in operands])
        case Choice(condition, yes, no):
            return _evaluate(yes if _evaluate(condition, values) else no, values)
        case Call(function, arguments):
            return FUNCTIONS[function].compute(*(_evaluate(argument, values) for argument in arguments))


def _compare(ops: tuple[str, ...], operands: list[Any]) -> Any:
    holds: Any = True
    for op, left, right in zip(ops, operands, operands[1:], strict=False):
        holds = holds & _COMPARE[op](left, right)
    return np.asarray(holds, dtype=float)
