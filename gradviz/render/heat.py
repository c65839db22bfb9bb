"""A tensor as a small matrix of block means for a heat map."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gradviz.model import TensorValue

MOST_ROWS, MOST_COLUMNS = 16, 32
_WIDTH, _LEAST_WIDTH, _LEAST_HEIGHT, _MOST_HEIGHT = 96.0, 28.0, 14.0, 54.0
_DTYPES = {"float32": "<f4", "float64": "<f8", "float16": "<f2", "int64": "<i8", "int32": "<i4"}


@dataclass(frozen=True, slots=True)
class Heat:
    """Block means `(rows, columns)` row-major, and the size of the map in scene units."""

    rows: int
    columns: int
    values: tuple[float, ...]
    width: float
    height: float


def heat_size(shape: tuple[int, ...]) -> tuple[float, float]:
    """Width and height of the map of a shape: a strip for a vector, proportions kept as far as it can be read."""
    rows, columns = matrix_shape(shape)
    height = min(max(_WIDTH * rows / max(columns, 1), _LEAST_HEIGHT), _MOST_HEIGHT)
    return min(max(height * columns / max(rows, 1), _LEAST_WIDTH), _WIDTH), height


def matrix_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    """A shape as rows and columns: a vector is one row, leading dimensions become rows."""
    return (1, math.prod(shape)) if len(shape) < 2 else (math.prod(shape[:-1]), shape[-1])


@lru_cache(maxsize=2048)
def heat_of(value: TensorValue) -> Heat:
    """The heat map of a value that has elements or a thumbnail; leading dimensions are laid under each other."""
    rows, columns = matrix_shape(value.full_shape)
    width, height = heat_size(value.full_shape)
    if value.data is None and value.thumbnail is not None:
        small = value.thumbnail
        return Heat(small.rows, small.columns, small.means, width, height)
    array = _array(value).reshape(rows, columns)
    means = _block_means(array)
    return Heat(means.shape[0], means.shape[1], tuple(float(v) for v in means.ravel()), width, height)


def _array(value: TensorValue) -> npt.NDArray[np.float64]:
    if value.data is not None and value.dtype in _DTYPES:
        return np.frombuffer(value.data, dtype=_DTYPES[value.dtype]).astype(np.float64)
    numbers = value.numbers or ()
    # A complex number has no sign: its magnitude is shown.
    reals = [abs(number) if isinstance(number, complex) else float(number) for number in numbers]
    return np.array(reals, dtype=np.float64)


def _block_means(array: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Means of blocks, at most 16 x 32 of them; a nan or inf in a block stays visible."""
    means: npt.NDArray[Any] = array
    for axis, most in ((0, MOST_ROWS), (1, MOST_COLUMNS)):
        size = means.shape[axis]
        if size > most:
            starts = np.linspace(0, size, most + 1)[:-1].astype(int)
            counts = np.diff(np.append(starts, size))
            with np.errstate(invalid="ignore"):  # inf - inf
                sums = np.add.reduceat(means, starts, axis=axis)
            means = sums / (counts[:, None] if axis == 0 else counts[None, :])
    return means
