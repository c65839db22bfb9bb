"""Turns a formula into the one that holds at a given node: options decided, neutral factors and zeros gone."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gradviz.rules.functions import FUNCTIONS
from gradviz.rules.tree import (
    ZERO,
    Binary,
    Call,
    Choice,
    Compare,
    Constant,
    Expression,
    Name,
    Negative,
    Plain,
)

_COMPARE: dict[str, Callable[[object, object], bool]] = {
    "is": operator.eq,
    "is not": operator.ne,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True)
class Facts:
    """What is known of a node without any tensor's values.

    `plain`: options that it saved. `undefined`: names of gradients that did not arrive (they count as zero).
    `shapes`: of every tensor that is known. `complex` tells whether conjugates matter.
    """

    plain: Mapping[str, Plain] = field(default_factory=dict)
    undefined: frozenset[str] = frozenset()
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    complex: bool = False


def simplify(expression: Expression, facts: Facts) -> Expression:
    """The expression at a node that `facts` describe; its value is the same."""
    match expression:
        case Name(name):
            if name in facts.undefined:
                return ZERO
            return Constant(facts.plain[name]) if name in facts.plain else expression
        case Negative(operand):
            return _negative(simplify(operand, facts))
        case Binary(op, left, right):
            return _binary(op, simplify(left, facts), simplify(right, facts))
        case Compare(ops, operands):
            return _compare(Compare(ops, tuple(simplify(part, facts) for part in operands)))
        case Choice(condition, yes, no):
            return _choice(simplify(condition, facts), yes, no, facts)
        case Call(function, arguments):
            return _call(Call(function, tuple(simplify(part, facts) for part in arguments)), facts)
    return expression


def _negative(operand: Expression) -> Expression:
    if isinstance(operand, Negative):
        return operand.operand
    number = _number(operand)
    return Negative(operand) if number is None else Constant(-number)


def _binary(op: str, left: Expression, right: Expression) -> Expression:
    a, b = _number(left), _number(right)
    if a is not None and b is not None:
        return _folded(op, a, b)
    if op == "*":
        return _product(left, right, a, b)
    if op == "/" and (a == 0 or b == 1):
        return left
    if op == "**" and b is not None and b in (0, 1):
        return left if b == 1 else Constant(1)
    if op == "@" and (a == 0 or b == 0):
        return ZERO
    if op in "+-" and b == 0:
        return left
    if op in "+-" and a == 0:
        return right if op == "+" else _negative(right)
    if op in "+-" and isinstance(right, Negative):
        return Binary("-" if op == "+" else "+", left, right.operand)
    return Binary(op, left, right)


def _product(left: Expression, right: Expression, a: float | None, b: float | None) -> Expression:
    if a == 0 or b == 0:
        return ZERO
    if a == 1:
        return right
    if b == 1:
        return left
    if a == -1:
        return _negative(right)
    if isinstance(left, Negative):
        return _negative(_binary("*", left.operand, right))
    return Binary("*", left, right)


def _folded(op: str, a: float, b: float) -> Expression:
    match op:
        case "+":
            return Constant(a + b)
        case "-":
            return Constant(a - b)
        case "*":
            return Constant(a * b)
        case "**":
            return Constant(a**b)
        case "/" if b != 0:
            whole = a / b
            return Constant(int(whole) if whole == int(whole) else whole)
    return Binary(op, Constant(a), Constant(b))


def _compare(compare: Compare) -> Expression:
    left = compare.operands[0]
    if len(compare.ops) == 1 and compare.ops[0] in _COMPARE:
        right = compare.operands[1]
        if isinstance(left, Constant) and isinstance(right, Constant):
            return Constant(_COMPARE[compare.ops[0]](left.value, right.value))
        if compare.ops[0] in ("is", "is not") and right == Constant(None):
            return Constant(compare.ops[0] == "is not")  # a tensor: it is there
    return compare


def _choice(condition: Expression, yes: Expression, no: Expression, facts: Facts) -> Expression:
    if isinstance(condition, Constant):
        return simplify(yes if condition.value else no, facts)
    return Choice(condition, simplify(yes, facts), simplify(no, facts))


def _call(call: Call, facts: Facts) -> Expression:
    function = FUNCTIONS[call.function]
    first = call.arguments[0] if call.arguments else None
    if call.function == "conj" and not facts.complex and first is not None:
        return first
    if call.function == "sum_to" and first is not None:
        target = call.arguments[1]
        # What is summed always has the shape of the gradient that arrived: it is a product with it.
        shape = facts.shapes.get("grad")
        if shape is not None and isinstance(target, Constant):
            return first if shape == target.value else Call("sum_to", (first, target, Constant(shape)))
    if function.linear and first == ZERO:
        return ZERO
    values = [part.value for part in call.arguments if isinstance(part, Constant)]
    if function.plain is not None and len(values) == len(call.arguments):
        return Constant(function.plain(*values))
    if call.function == "shape_of" and isinstance(first, Name) and first.name in facts.shapes:
        return Constant(facts.shapes[first.name])
    return call


def _number(expression: Expression | None) -> float | None:
    if isinstance(expression, Constant) and isinstance(expression.value, int | float):
        return expression.value
    return None
