"""A tensor as a matrix to look at: slices of more than two dimensions, numbers, colours, text forms. No Qt."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from gradviz.app.texts import tr
from gradviz.errors import ExportError
from gradviz.model import TensorValue
from gradviz.model.dtypes import Number, is_complex
from gradviz.model.numbers import number_text

_NUMPY = {
    "float16": "<f2", "float32": "<f4", "float64": "<f8", "complex64": "<c8", "complex128": "<c16", "bool": "?",
    "int8": "i1", "uint8": "u1", "int16": "<i2", "uint16": "<u2", "int32": "<i4", "uint32": "<u4",
    "int64": "<i8", "uint64": "<u8",
}  # fmt: skip


@dataclass(frozen=True)
class Slice:
    """Rows and columns of one slice of a tensor. `means` tells that the cells are means of blocks (a thumbnail)."""

    rows: int
    columns: int
    numbers: Sequence[Number]
    means: bool = False

    def at(self, row: int, column: int) -> Number:
        """A cell."""
        return self.numbers[row * self.columns + column]

    @cached_property
    def most(self) -> float:
        """The largest finite magnitude, 0 when there is none."""
        return max((abs(number) for number in self.numbers if math.isfinite(abs(number))), default=0.0)


@lru_cache(maxsize=64)
def array_of(value: TensorValue) -> npt.NDArray[np.generic] | None:
    """All elements as an array of `full_shape`; None when they were not kept. Widened where numpy has no such type."""
    if value.data is None:
        return None
    if value.dtype in _NUMPY:
        return np.frombuffer(value.data, dtype=_NUMPY[value.dtype]).reshape(value.full_shape)
    return None if value.numbers is None else np.array(value.numbers).reshape(value.full_shape)


def leading(value: TensorValue) -> tuple[int, ...]:
    """The sizes of the dimensions before the last two: what a slice must choose from."""
    return value.full_shape[:-2]


def slice_of(value: TensorValue, index: Sequence[int] = ()) -> Slice | None:
    """The matrix at `index` of the leading dimensions; a vector is one row. None when there is nothing to show."""
    array = array_of(value)
    if array is None:
        small = value.thumbnail
        return None if small is None else Slice(small.rows, small.columns, small.means, means=True)
    part = array[tuple(index)] if index else array
    while part.ndim > 2:
        part = part[0]
    matrix = part.reshape(1, -1) if part.ndim < 2 else part
    return Slice(matrix.shape[0], matrix.shape[1], matrix.ravel().tolist())


def histogram(value: TensorValue, bins: int = 24) -> tuple[list[int], float, float]:
    """Counts of the finite elements in `bins` equal bins, and the ends of the range; empty when none are kept."""
    array = array_of(value)
    if array is None or is_complex(value.dtype):
        return [], 0.0, 0.0
    flat = array.astype(np.float64).ravel()
    flat = flat[np.isfinite(flat)]
    if not flat.size:
        return [], 0.0, 0.0
    low, high = float(flat.min()), float(flat.max())
    if low == high or not math.isfinite(high - low):
        return [int(flat.size)], low, high
    counts, _ = np.histogram(flat, bins=bins, range=(low, high))
    return [int(count) for count in counts], low, high


def as_torch(value: TensorValue) -> str:
    """`torch.tensor(...)` with all elements, exactly (each number's shortest text that reads back as itself)."""
    return f"torch.tensor({_nested_repr(value.nested())}, dtype=torch.{value.dtype})"


def as_csv(value: TensorValue) -> str:
    """One line per row of the last dimension, leading dimensions one after another."""
    numbers = value.numbers or ()
    columns = value.full_shape[-1] if value.full_shape else 1
    rows = [numbers[i : i + columns] for i in range(0, len(numbers), max(columns, 1))]
    return "\n".join(",".join(map(repr, row)) for row in rows)


def as_text(value: TensorValue) -> str:
    """The numbers as they are shown."""
    numbers = value.numbers or ()
    columns = value.full_shape[-1] if value.full_shape else 1
    rows = [numbers[i : i + columns] for i in range(0, len(numbers), max(columns, 1))]
    return "\n".join("  ".join(map(number_text, row)) for row in rows)


def as_npy(value: TensorValue) -> bytes:
    """The elements as the bytes of a NumPy file.

    Raises:
        ExportError: the values were not kept.
    """
    array = array_of(value)
    if array is None:
        raise ExportError(tr("Only a summary of this tensor was recorded; there are no values to save."))
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def _nested_repr(values: object) -> str:
    if isinstance(values, list):
        return f"[{', '.join(map(_nested_repr, values))}]"
    if isinstance(values, float) and not math.isfinite(values):
        return f"float('{values}')"
    return repr(values)
