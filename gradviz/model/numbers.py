"""Numbers, shapes and small tensors as text: 4 significant digits, never a rounded-away zero."""

from __future__ import annotations

import math

from gradviz.model.dtypes import Number
from gradviz.model.tensors import TensorValue

UNDEFINED = "None"
_WHOLE_UP_TO = 1_000_000
_BRIEF_ELEMENTS = 6


def number_text(number: Number) -> str:
    """A number with 4 significant digits: `12`, `0.3333`, `1.2e-07`, `nan`, `-inf`, `1+2j`.

    Whole numbers below a million keep all their digits; zero of either sign is `0`.
    """
    if isinstance(number, bool):
        return str(number)
    if isinstance(number, complex):
        imaginary = number_text(number.imag)
        return f"{number_text(number.real)}{'' if imaginary.startswith('-') else '+'}{imaginary}j"
    if isinstance(number, int) or (math.isfinite(number) and number == int(number)):
        return str(int(number)) if abs(number) < _WHOLE_UP_TO else f"{number:.4g}"
    return f"{number:.4g}"


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape as Python writes it: `()`, `(3,)`, `(2, 3)`."""
    return str(tuple(shape))


def brief(value: TensorValue | None, elements: int = _BRIEF_ELEMENTS) -> str:
    """A tensor in a few characters: its numbers up to `elements`, else norm and shape; `None` when undefined."""
    if value is None:
        return UNDEFINED
    numbers = value.numbers
    nested = value.nested() if numbers is not None and 0 < len(numbers) <= elements else None
    if nested is not None:
        return _nested_text(nested)
    if value.numel == 0:
        return f"[] {shape_text(value.shape)}"
    norm = value.norm
    head = "?" if norm is None else f"‖{number_text(norm)}‖"
    return f"{head} {shape_text(value.full_shape)}"


def _nested_text(values: object) -> str:
    if isinstance(values, list):
        return f"[{', '.join(map(_nested_text, values))}]"
    assert isinstance(values, float | int | complex)
    return number_text(values)
