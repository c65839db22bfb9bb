"""Sums of recorded tensors, for the terms of a fan-in that have arrived before the engine's own sum is known."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from gradviz.model import Gradient, TensorValue
from gradviz.model.dtypes import is_complex

MOST_ELEMENTS = 4096
MOST_TERMS = 16  # more are not added by us: nobody follows them, and every frame would add them all


def total(values: Sequence[Gradient]) -> tuple[Gradient, bool]:
    """The sum of `values` (undefined ones add nothing) and whether it is known.

    One defined value is its own sum. Several (not very many) are added in float64 when all elements are there and
    shapes agree.
    """
    defined = [value for value in values if value is not None]
    if not defined:
        return None, True
    if len(defined) == 1:
        return defined[0], True
    if len(defined) > MOST_TERMS:
        return None, False
    first = defined[0]
    columns = [value.numbers for value in defined]
    if any(c is None for c in columns) or any(v.full_shape != first.full_shape for v in defined):
        return None, False
    if len(columns[0] or ()) > MOST_ELEMENTS:
        return None, False
    rows = zip(*(column for column in columns if column is not None), strict=True)
    if any(is_complex(value.dtype) for value in defined):
        flat = [part for row in rows for z in (sum(row, 0j),) for part in (z.real, z.imag)]
        return _value(first, "complex128", flat), True
    return _value(first, "float64", [sum(float(x.real) for x in row) for row in rows]), True


def _value(like: TensorValue, dtype: str, numbers: list[float]) -> TensorValue:
    data = array("d", numbers)
    return TensorValue(like.shape, dtype, like.device, data.tobytes(), batch=like.batch)
