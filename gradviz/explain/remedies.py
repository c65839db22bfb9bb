"""What makes the derivative of an operation infinite or undefined, and what people do about it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from gradviz.explain import words
from gradviz.explain.values import finite_sample
from gradviz.model import Node
from gradviz.texts import tr

_LARGEST = {"float16": "65504", "bfloat16": "3.39e+38", "float32": "3.403e+38", "float64": "1.798e+308"}


@dataclass(frozen=True)
class Remedy:
    """Why the derivative is not finite, and what to write instead."""

    why: str
    advice: str


def remedy(node: Node) -> Remedy | None:
    """The remedy for a node's operation, None where nothing special is known."""
    build = _TABLE.get(node.short_op)
    return None if build is None else build(node)


def _saved(node: Node, *names: str) -> tuple[float, ...]:
    """The numbers of the first saved tensor of these names that is known."""
    for saved in node.saved:
        if saved.name in names and saved.value is not None:
            return finite_sample(saved.value)
    return ()


def _sqrt(node: Node) -> Remedy:
    numbers = _saved(node, "result")
    if any(number != number for number in numbers):
        why = tr("The square root of a negative number is nan, and so is its derivative.")
    else:
        why = tr("The derivative of the square root, 1 / (2 sqrt(x)), is infinite at 0.")
    advice = tr(
        "Keep its input away from 0: {eps} or {clamp}.",
        eps=words.code("torch.sqrt(x + 1e-12)"),
        clamp=words.code("torch.sqrt(x.clamp(min=1e-12))"),
    )
    return Remedy(why, advice)


def _log(node: Node) -> Remedy:
    numbers = _saved(node, "self")
    if any(number < 0 for number in numbers):
        why = tr("The logarithm of a negative number is nan.")
    else:
        why = tr("The derivative of the logarithm, 1 / x, is infinite at 0.")
    advice = tr(
        "Keep its input away from 0, {clamp}, or use the form that never leaves the logarithm: {forms}.",
        clamp=words.code("torch.log(x.clamp(min=1e-12))"),
        forms=words.codes(["F.logsigmoid", "F.log_softmax", "torch.logsumexp", "torch.xlogy"]),
    )
    return Remedy(why, advice)


def _div(node: Node) -> Remedy:
    why = tr("Its divisor holds 0 (or what overflows to it), and the derivative divides by it.")
    advice = tr(
        "Add a small number to the divisor, {eps}, or choose a safe divisor first with {where}.",
        eps=words.code("a / (b + 1e-12)"),
        where=words.code("torch.where(b == 0, 1.0, b)"),
    )
    return Remedy(why, advice)


def overflow(dtype: str | None) -> str:
    """What to do about numbers beyond the largest one of a type."""
    largest = _LARGEST.get(dtype or "")
    if largest is None:
        return tr("Look at the values that go into it.")
    return tr(
        "{dtype} holds no number beyond {largest}: keep what goes into it smaller, or compute in a wider type.",
        dtype=dtype,
        largest=largest,
    )


def overflows(node: Node) -> bool:
    """Tell whether a product of known numbers is beyond what its type holds; its value itself was not recorded."""
    factors = [finite_sample(saved.value) for saved in node.saved if saved.name in ("self", "other")]
    largest = _LARGEST.get(node.outputs[0].dtype if node.outputs else "")
    if node.short_op != "Mul" or len(factors) != 2 or largest is None:
        return False
    longest = max(map(len, factors))
    if not longest or not all(len(numbers) in (1, longest) for numbers in factors):
        return False
    one, other = (numbers * (longest // len(numbers)) for numbers in factors)
    return any(abs(a * b) > float(largest) and math.isfinite(a * b) for a, b in zip(one, other, strict=True))


def _pow(node: Node) -> Remedy:
    numbers = _saved(node, "self")
    if numbers and all(number > 0 for number in numbers):
        dtype = node.outputs[0].dtype if node.outputs else None
        return Remedy(tr("The power or its derivative, n x^(n - 1), overflows."), overflow(dtype))
    why = tr("The derivative of a power, n x^(n - 1), is infinite at 0 for n below 1 and undefined for negative x.")
    advice = tr("Keep the base away from 0: {code}.", code=words.code("x.clamp(min=1e-12) ** n"))
    return Remedy(why, advice)


def _norm(node: Node) -> Remedy:
    why = tr("A norm has no derivative at the zero vector.")
    advice = tr("Use {safe}, which is smooth there.", safe=words.code("torch.sqrt(x.square().sum() + 1e-12)"))
    return Remedy(why, advice)


def _std(node: Node) -> Remedy:
    why = tr("A standard deviation is a square root: its derivative is not defined for equal values or one value.")
    advice = tr("Use the variance with a small number added: {code}.", code=words.code("(x.var() + 1e-12).sqrt()"))
    return Remedy(why, advice)


def _arc(node: Node) -> Remedy:
    why = tr("The derivative of this function is infinite at 1 and -1, and undefined beyond.")
    advice = tr("Keep its input inside: {code}.", code=words.code("x.clamp(-1 + 1e-7, 1 - 1e-7)"))
    return Remedy(why, advice)


def _atan2(node: Node) -> Remedy:
    why = tr("The angle of the point (0, 0) has no derivative.")
    advice = tr("Add a small number to one of the two where both are 0.")
    return Remedy(why, advice)


def _exp(node: Node) -> Remedy:
    why = tr("The exponential overflows: beyond about 88 in float32 and 11 in float16 its value is infinite.")
    advice = tr(
        "Subtract the largest value first, or use {forms}.",
        forms=words.codes(["torch.softmax", "torch.logsumexp", "F.softplus", "torch.expm1"]),
    )
    return Remedy(why, advice)


def _softmax(node: Node) -> Remedy:
    why = tr("A row in which every entry is -inf (all masked) has no softmax: 0 / 0.")
    advice = tr(
        "Leave at least one entry of each row unmasked, use a large negative number instead of -inf, or set the rows "
        "to 0 afterwards with {where} on the input as well.",
        where=words.code("torch.where"),
    )
    return Remedy(why, advice)


def _mul(node: Node) -> Remedy:
    why = tr("One factor is infinite, nan or so large that the product overflows.")
    advice = tr("Find where that factor became so large; in half precision compute this part in float32.")
    return Remedy(why, advice)


_TABLE: dict[str, Callable[[Node], Remedy]] = {
    "Sqrt": _sqrt,
    "Rsqrt": _sqrt,
    "Log": _log,
    "Log2": _log,
    "Log10": _log,
    "Log1P": _log,
    "Div": _div,
    "Reciprocal": _div,
    "Pow": _pow,
    "Norm": _norm,
    "LinalgVectorNorm": _norm,
    "Std": _std,
    "StdMean": _std,
    "Acos": _arc,
    "Asin": _arc,
    "Atanh": _arc,
    "Acosh": _arc,
    "Atan2": _atan2,
    "Exp": _exp,
    "Exp2": _exp,
    "Expm1": _exp,
    "Sinh": _exp,
    "Cosh": _exp,
    "Softmax": _softmax,
    "LogSoftmax": _softmax,
    "SafeSoftmax": _softmax,
    "Mul": _mul,
}
