"""A recorded tensor: what is known of its shape, type and values."""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gradviz.model.dtypes import ITEM_SIZES, Number, decode, is_complex

# JSON readers and writers recurse about 1,000 levels; a picture of more than a few dimensions says nothing.
_MAX_DEPTH = 64
_MAX_EMPTY = 4096


@dataclass(frozen=True)
class Statistics:
    """Norm in float64 over all elements; min, max, mean over the finite ones (None when there are none)."""

    norm: float
    min: float | None
    max: float | None
    mean: float | None
    nan: int
    inf: int
    zero: int


@dataclass(frozen=True)
class Thumbnail:
    """A large tensor in small: block means `(rows, columns)` row-major, and a histogram of log10 |x|.

    `histogram` holds `(decade, count)` pairs: how many finite non-zero elements have floor(log10 |x|) = decade; of a
    tensor of more than 16,384 elements a regular sample of about that many is counted.
    """

    rows: int
    columns: int
    means: tuple[float, ...]
    histogram: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class TensorValue:
    """A tensor as it was at one moment.

    `shape` is the one that the engine sees; under vmap or `is_grads_batched` `batch` holds the extra leading sizes.
    `data` holds all elements (row-major, little endian, batch first) when they were kept, else `measured` and
    `thumbnail` stand for them. `unreadable` says why there are no values at all.
    """

    shape: tuple[int, ...]
    dtype: str
    device: str = "cpu"
    data: bytes | None = None
    measured: Statistics | None = None
    thumbnail: Thumbnail | None = None
    layout: str = "strided"
    nnz: int | None = None
    batch: tuple[int, ...] = ()
    unreadable: str | None = None

    @property
    def full_shape(self) -> tuple[int, ...]:
        """`batch + shape`: the shape of the values that are kept."""
        return self.batch + self.shape

    @property
    def numel(self) -> int:
        """How many elements the engine sees (without the batch)."""
        return math.prod(self.shape)

    @cached_property
    def numbers(self) -> tuple[Number, ...] | None:
        """All elements, row-major, as Python numbers; None when they were not kept or have no decoder."""
        if self.data is None or (self.dtype not in ITEM_SIZES):
            return None
        return tuple(decode(self.dtype, self.data))

    @cached_property
    def statistics(self) -> Statistics | None:
        """What was measured by the recorder, else computed from the elements; None when unreadable."""
        if self.measured is not None:
            return self.measured
        return None if self.numbers is None else statistics_of(self.numbers, is_complex(self.dtype))

    @cached_property
    def norm(self) -> float | None:
        """The Euclidean norm over all elements, or None when it is not known.

        A picture asks for tens of thousands of norms and for few other statistics, so these are not worked out here.
        """
        if self.measured is not None:
            return self.measured.norm
        if self.data is None or self.dtype not in ITEM_SIZES:
            return None
        if is_complex(self.dtype):
            return statistics_of(self.numbers or (), True).norm
        # Not by way of `numbers`, which would stay in memory.
        return _norm(decode(self.dtype, self.data))

    def item(self) -> Number | None:
        """The number when there is exactly one element, else None."""
        numbers = self.numbers
        return numbers[0] if numbers is not None and len(numbers) == 1 else None

    def nested(self) -> Any:
        """The elements as nested lists of `full_shape` (a bare number when it is `()`).

        None when they were not kept, and for more than 64 dimensions or thousands of empty lists (shape `(10**9, 0)`).
        """
        shape = self.full_shape
        if self.numbers is None or len(shape) > _MAX_DEPTH:
            return None
        if not self.numbers and max((math.prod(shape[:depth]) for depth in range(len(shape))), default=0) > _MAX_EMPTY:
            return None
        return nest(self.numbers, shape)


def statistics_of(numbers: Sequence[Number], is_complex_type: bool = False) -> Statistics:
    """Statistics of plain numbers; of complex ones min, max and mean are None (they have no order).

    As in torch a complex number counts as nan, and as inf, when one of its parts is.
    """
    if is_complex_type:
        parts = [complex(number) for number in numbers]
        nan, inf = sum(map(cmath.isnan, parts)), sum(map(cmath.isinf, parts))
        return Statistics(
            _norm([math.hypot(z.real, z.imag) for z in parts]), None, None, None, nan, inf, parts.count(0)
        )
    reals = [float(number) for number in numbers if not isinstance(number, complex)]
    nan, inf = sum(map(math.isnan, reals)), sum(map(math.isinf, reals))
    finite = list(filter(math.isfinite, reals)) if nan or inf else reals
    norm, zero = _norm(reals), reals.count(0.0)
    if not finite:
        return Statistics(norm, None, None, None, nan, inf, zero)
    return Statistics(norm, min(finite), max(finite), _mean(finite), nan, inf, zero)


def nest(numbers: Sequence[Any], shape: Sequence[int]) -> Any:
    """Fold a row-major sequence into nested lists of `shape`; iterative, so that any depth is safe."""
    if not shape:
        return numbers[0]
    level: list[Any] = list(numbers)
    for position in range(len(shape) - 1, 0, -1):
        size = shape[position]
        count = math.prod(shape[:position])
        level = [level[start * size : (start + 1) * size] for start in range(count)]
    return level


def _norm(reals: Sequence[Any]) -> float:
    """The Euclidean norm; `hypot` scales, so that squares neither overflow nor vanish; nan wins over inf."""
    norm = math.hypot(*reals)
    return math.nan if math.isinf(norm) and any(map(math.isnan, reals)) else norm


def _mean(finite: Sequence[float]) -> float:
    try:
        mean = math.fsum(finite) / len(finite)
    except OverflowError:  # the sum is beyond float64, the mean is not; a power of two changes no digit
        mean = math.fsum(number * 2.0**-64 for number in finite) / len(finite) * 2.0**64
    return min(max(mean, min(finite)), max(finite))  # the division rounds: three equal numbers may have a larger mean
