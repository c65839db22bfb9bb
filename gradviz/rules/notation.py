"""Writes an expression as mathematics, in plain text: `∂L/∂t2 · other`, `Σ₀(∂L/∂Z · A)`, `∂L/∂Z @ Bᵀ`."""

from __future__ import annotations

from collections.abc import Mapping

from gradviz.model.numbers import number_text
from gradviz.rules.functions import CHOICE, FUNCTIONS, POSTFIX, POWER, PRODUCT, SIGN, SUM, Function
from gradviz.rules.tree import Binary, Call, Choice, Compare, Constant, Expression, Name, Negative

ATOM = POSTFIX + 1
GRADIENT = POWER  # ∂L/∂x needs brackets under ᵀ and ², none in a product
_SUPERSCRIPT = str.maketrans("0123456789-.", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻·")
_SUBSCRIPT = str.maketrans("0123456789,", "₀₁₂₃₄₅₆₇₈₉,")
_SIGNS = {"<": "<", "<=": "≤", ">": ">", ">=": "≥", "==": "=", "!=": "≠", "is": "is", "is not": "is not"}

Text = tuple[str, int]  # a text and how tightly it holds together


def notation(expression: Expression, labels: Mapping[str, Text], conjugates: bool = False) -> str:
    """The text of an expression. `labels` are the names' own texts; `conjugates`: the numbers are complex."""
    return _Writer(labels, conjugates).text(expression)[0]


class _Writer:
    """Carries the labels down the tree."""

    def __init__(self, labels: Mapping[str, Text], conjugates: bool) -> None:
        self._labels = labels
        self._conjugates = conjugates

    def text(self, expression: Expression) -> Text:
        match expression:
            case Constant(value):
                return _constant(value)
            case Name(name):
                return self._labels.get(name, (name, ATOM))
            case Negative(operand):
                return f"−{self._at_least(operand, PRODUCT)}", SIGN
            case Binary():
                return self._binary(expression)
            case Compare(ops, operands):
                parts = [self._at_least(operand, SUM) for operand in operands]
                signs = [f" {_SIGNS[op]} {part}" for op, part in zip(ops, parts[1:], strict=True)]
                return f"[{parts[0]}{''.join(signs)}]", ATOM
            case Choice(condition, yes, no):
                texts = [self.text(part)[0] for part in (yes, condition, no)]
                return f"{texts[0]} if {texts[1]}, else {texts[2]}", CHOICE
            case Call():
                return self._call(expression)

    def _at_least(self, expression: Expression, binds: int) -> str:
        text, own = self.text(expression)
        return text if own >= binds else f"({text})"

    def _binary(self, expression: Binary) -> Text:
        op, left, right = expression.op, expression.left, expression.right
        if op in "+-":
            sign = "+" if op == "+" else "−"
            return f"{self._at_least(left, SUM)} {sign} {self._at_least(right, SUM if op == '+' else SIGN)}", SUM
        if op == "**":
            return self._power(left, right)
        if op == "/":
            return f"{self._factor(left, op)} / {self._at_least(right, POWER)}", PRODUCT
        return f"{self._factor(left, op)} {'·' if op == '*' else '@'} {self._factor(right, op)}", PRODUCT

    def _factor(self, expression: Expression, op: str) -> str:
        """A factor; matrix products and elementwise ones never stand beside each other without brackets."""
        matrix = isinstance(expression, Binary) and expression.op == "@"
        mixed = matrix != (op == "@") and isinstance(expression, Binary)
        return self._at_least(expression, POWER if mixed and (matrix or op == "@") else PRODUCT)

    def _power(self, left: Expression, right: Expression) -> Text:
        base = self._at_least(left, ATOM)
        if isinstance(right, Constant) and isinstance(right.value, int | float):
            return base + number_text(right.value).translate(_SUPERSCRIPT), POWER
        return f"{base}^{self._at_least(right, ATOM)}", POWER

    def _call(self, call: Call) -> Text:
        function = FUNCTIONS[call.function]
        if call.function in ("sum_to", "total"):
            return f"Σ{_summed_dims(call)}({self.text(call.arguments[0])[0]})", ATOM
        if call.function == "between":
            return self._between(call), ATOM
        if call.function == "scaled":
            return self._scaled(call)
        return self._filled(function, call)

    def _filled(self, function: Function, call: Call) -> Text:
        needs = function.needs if isinstance(function.needs, tuple) else (function.needs,)
        needs = (*needs, *needs[-1:] * len(call.arguments))
        parts = [self._at_least(argument, binds) for argument, binds in zip(call.arguments, needs, strict=False)]
        text = function.show.format(*parts)
        if call.function in ("H", "times_row") and self._conjugates:
            text = text.removesuffix("ᵀ") + "ᴴ"
        if function.binds == CHOICE and function.show == "{0}":
            return self.text(call.arguments[0])  # says nothing of its own: a change of shape only
        return text, function.binds

    def _between(self, call: Call) -> str:
        value, low, high = call.arguments
        text = self._at_least(value, SUM)
        before = "" if low == Constant(None) else f"{self._at_least(low, SUM)} ≤ "
        after = "" if high == Constant(None) else f" ≤ {self._at_least(high, SUM)}"
        return f"[{before}{text}{after}]"

    def _scaled(self, call: Call) -> Text:
        value, scale = call.arguments
        if scale == Constant(None):
            return self.text(value)
        return self.text(Binary("*", value, scale))


def _constant(value: object) -> Text:
    if isinstance(value, bool | int | float):
        number = number_text(value + 0 if isinstance(value, bool) else value)
        return number, SIGN if number.startswith("-") else ATOM
    if isinstance(value, tuple):
        return str(value), ATOM
    return str(value), ATOM


def _summed_dims(call: Call) -> str:
    """The dimensions of a sum as a subscript, where they are known."""
    rest = [part.value for part in call.arguments[1:] if isinstance(part, Constant)]
    if call.function == "total":
        dims = rest[0] if rest else None
        if not isinstance(dims, int | tuple) or (isinstance(dims, int) and dims < 0):
            return "" if dims is None else _subscript("last" if dims == -1 else str(dims))
        return _subscript(",".join(map(str, dims if isinstance(dims, tuple) else (dims,))))
    if len(rest) == 2 and isinstance(rest[0], tuple) and isinstance(rest[1], tuple):
        target, source = rest[0], rest[1]
        extra = len(source) - len(target)
        kept = (extra + d for d, size in enumerate(target) if size != source[extra + d])
        return _subscript(",".join(map(str, (*range(extra), *kept))))
    return ""


def _subscript(text: str) -> str:
    return text.translate(_SUBSCRIPT) if text.replace(",", "").isdigit() else f"[{text}]"
