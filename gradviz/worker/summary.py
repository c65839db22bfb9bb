"""Statistics and thumbnails of tensors that are too large to be kept whole, many of one shape at a time.

All functions expect plain dense real tensors on the CPU and are called inside `quiet(below_autograd=True)`. One
tensor at a time costs ten operations of 2 us each; a graph of 20,000 nodes has 30,000 of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from ctypes import string_at
from typing import NamedTuple

import torch

from gradviz.model import Statistics, Thumbnail
from gradviz.store.codec import Measured

ROWS, COLUMNS = 12, 16
SAMPLE = 16_384
SMALL_SAMPLE = 512
_CHUNK = 1024
_LARGE = 65_536  # elements: a pass over so many costs more than a handful of calls into torch
# Between these bounds squares in float32 neither vanish nor overflow, and sums of chunks are right to 1e-6.
_SAFE = (1e-12, 1e15)
_DECADES = {torch.float32: 47, torch.float64: 326}  # beyond the smallest and the largest number of the type
REDUCED = (torch.float32, torch.float64)


class Summary(NamedTuple):
    """One tensor: `norm, min, max, mean, nan, inf, zero` as in Statistics, block means as float32 bytes."""

    measured: Measured
    rows: int = 0
    columns: int = 0
    means: bytes = b""
    histogram: tuple[tuple[int, int], ...] = ()

    @property
    def statistics(self) -> Statistics:
        """The measured part as a value."""
        return Statistics(*self.measured)

    @property
    def thumbnail(self) -> Thumbnail:
        """The small picture as a value."""
        return Thumbnail(self.rows, self.columns, tuple(memoryview(self.means).cast("f").tolist()), self.histogram)


class Reduced(NamedTuple):
    """What is left of n tensors of one shape after the passes over their elements. `careful` is by position.

    `norms` is float64, `lows`, `highs` and `means` as the tensors, `filled` counts what is not zero: all `(n,)`.
    With pictures `blocks` is `(n, rows, columns)`, means over at most ROWS runs of rows, and `samples` `(n, k)`;
    `means` is None where the blocks tell it at less cost than a pass over all elements.
    """

    norms: torch.Tensor
    lows: torch.Tensor
    highs: torch.Tensor
    means: torch.Tensor | None
    filled: torch.Tensor
    careful: dict[int, Measured]
    blocks: torch.Tensor | None
    samples: torch.Tensor | None


def summarise(tensors: torch.Tensor, thumbnails: bool = True) -> list[Summary]:
    """Summarise `tensors[0]`, `tensors[1]`, ...; norm and mean are right to about 1e-6, counts exactly."""
    count = tensors.shape[0]
    size = tensors[0].numel() if count else 0
    if not size:
        return [Summary((0.0, None, None, None, 0, 0, 0))] * count
    sample = SAMPLE if count == 1 and size <= SAMPLE else SMALL_SAMPLE
    return summaries([reduce(tensors, sample if thumbnails else 0)], size)


def reduce(tensors: torch.Tensor, sample: int = 0, lying: torch.Tensor | None = None) -> Reduced:
    """Make the passes over tensors with elements. Nothing of the result is a view of them.

    `sample` elements of each go into its histogram, 0: no pictures. `lying` are the same elements in an order that
    is quicker to read.
    """
    wide = _wide(tensors)
    flat = (wide if lying is None else _wide(lying)).reshape(wide.shape[0], -1)
    norms = _norm_column(flat)
    lows, highs = _extremes(flat)
    careful = _careful(flat, norms, lows, highs)
    blocks = samples = means = None
    if sample:
        blocks = _row_blocks(wide)
        samples = flat[:, :: -(-flat.shape[1] // sample)].clone()
    if blocks is None or flat.shape[1] < _LARGE or flat.shape[1] <= ROWS * wide.shape[-1]:
        means = flat.mean(dim=1)
    return Reduced(norms, lows, highs, means, _filled(flat), careful, blocks, samples)


def summaries(parts: Sequence[Reduced], size: int) -> list[Summary]:
    """The summaries of the tensors in `parts`, which all have one shape with `size` elements."""
    blocks = _joined([part.blocks for part in parts if part.blocks is not None])
    samples = [part.samples for part in parts if part.samples is not None]
    means = _joined([part.means for part in parts if part.means is not None])
    if means is None:
        assert blocks is not None
        means = _means(blocks, size)
    norms, lows, highs, filled = (torch.cat(column).tolist() for column in _columns(parts))
    measured: list[Measured] = [
        (norm, low, high, mean, 0, 0, size - count)
        for norm, low, high, mean, count in zip(norms, lows, highs, means.tolist(), filled, strict=True)
    ]
    for at, entry in _all_careful(parts):
        measured[at] = entry
    if blocks is None:
        return [Summary(entry) for entry in measured]
    small = _block_means(blocks)
    _count, rows_, columns_ = small.shape
    bytes_each = 4 * rows_ * columns_
    address = small.data_ptr()
    histograms = _histograms(torch.cat(samples))
    return [
        Summary(entry, rows_, columns_, string_at(address + bytes_each * at, bytes_each), histograms[at])
        for at, entry in enumerate(measured)
    ]


def packed_numbers(parts: Sequence[Reduced], size: int) -> tuple[bytes, dict[int, Measured]]:
    """As `summaries` without pictures, as bytes: for each norm, min, max, mean as f64, nan, inf, zero as u64.

    Those that need care (not finite, very large, very small, zero) are also given as numbers, by position.
    """
    norms, lows, highs, filled = (torch.cat(column) for column in _columns(parts))
    means = torch.cat([part.means for part in parts if part.means is not None])
    count = norms.shape[0]
    table = torch.zeros((count, 7), dtype=torch.float64)
    for at, column in enumerate((norms, lows, highs, means)):
        table[:, at] = column
    table.view(torch.int64)[:, 6] = size - filled
    return string_at(table.data_ptr(), 56 * count), dict(_all_careful(parts))


def _columns(parts: Sequence[Reduced]) -> tuple[tuple[torch.Tensor, ...], ...]:
    """The norms, lows, highs and counts of what is not zero of all parts."""
    return tuple(zip(*((part.norms, part.lows, part.highs, part.filled) for part in parts), strict=True))


def _all_careful(parts: Sequence[Reduced]) -> Iterator[tuple[int, Measured]]:
    """The positions in all parts of those that needed care, and their statistics."""
    before = 0
    for part in parts:
        for at, entry in part.careful.items():
            yield before + at, entry
        before += part.norms.shape[0]


def _joined(tensors: Sequence[torch.Tensor]) -> torch.Tensor | None:
    return torch.cat(tuple(tensors)) if tensors else None


def measure(tensor: torch.Tensor) -> Statistics:
    """The statistics of one tensor."""
    return summarise(tensor.unsqueeze(0), thumbnails=False)[0].statistics


def norm_of(tensor: torch.Tensor) -> float:
    """The norm of one tensor."""
    flat = _wide(tensor).reshape(1, -1)
    norm: float = _norm_column(flat).item()
    return norm if _SAFE[0] < norm < _SAFE[1] else _scaled_norm(flat)


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    """`tensor` in a type with exact arithmetic for it: halves and 8-bit floats as float32, integers as float64."""
    if tensor.dtype in REDUCED:
        return tensor
    return tensor.to(torch.float32 if tensor.dtype.is_floating_point else torch.float64)


def _careful(flat: torch.Tensor, norms: torch.Tensor, lows: torch.Tensor, highs: torch.Tensor) -> dict[int, Measured]:
    """The statistics of tensors that are not finite, or whose squares may vanish or overflow, by position."""
    # A norm that is nan fails all comparisons.
    least = norms.amin().item() if len(norms) > 1 else norms.item()
    if _SAFE[0] < least and (norms.amax().item() if len(norms) > 1 else least) < _SAFE[1]:
        return {}
    unsafe = (~((norms > _SAFE[0]) & (norms < _SAFE[1]))).nonzero().flatten().tolist()
    rows = flat[unsafe]
    pairs = list(zip(lows[unsafe].tolist(), highs[unsafe].tolist(), strict=True))
    largest = [max(abs(low), abs(high)) for low, high in pairs]
    finite = [at for at, most in enumerate(largest) if 0.0 < most < math.inf]
    filled = _filled(rows).tolist()
    size = flat.shape[1]
    found: dict[int, Measured] = {
        unsafe[at]: (0.0, 0.0, 0.0, 0.0, 0, 0, size) if most == 0.0 else _measure_with_gaps(rows[at])
        for at, most in enumerate(largest)
        if not 0.0 < most < math.inf
    }
    if finite:
        scaled = _scaled(rows[finite], [largest[at] for at in finite])
        for at, norm, mean in zip(finite, *scaled, strict=True):
            found[unsafe[at]] = norm, *pairs[at], mean, 0, 0, size - filled[at]
    return found


def _scaled(rows: torch.Tensor, largest: list[float]) -> tuple[list[float], list[float]]:
    """Norms and means of rows whose squares or sums leave float32: divided by their largest element first."""
    divisors = torch.tensor(largest, dtype=torch.float64)
    unit = rows.double() / divisors.unsqueeze(1)
    norms = torch.linalg.vector_norm(unit, dim=1) * divisors
    return norms.tolist(), (unit.mean(dim=1) * divisors).tolist()


def _norm_column(flat: torch.Tensor) -> torch.Tensor:
    """Norms of rows. Added up in chunks: one float32 sum over 12 million elements is wrong by 5e-4."""
    count, size = flat.shape
    if size <= _CHUNK:
        norms: torch.Tensor = torch.linalg.vector_norm(flat, dim=1)
        return norms.double()
    whole = size - size % _CHUNK
    parts = torch.linalg.vector_norm(flat[:, :whole].reshape(count, -1, _CHUNK), dim=2)
    found: torch.Tensor = torch.linalg.vector_norm(parts, dim=1, dtype=torch.float64)
    if whole < size:
        found = torch.hypot(found, torch.linalg.vector_norm(flat[:, whole:], dim=1).double())
    return found


def _extremes(flat: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The smallest and the largest element of each row. (`aminmax` makes one pass, and takes longer than both.)"""
    return torch.amin(flat, dim=1), torch.amax(flat, dim=1)


def _filled(flat: torch.Tensor) -> torch.Tensor:
    """How many elements of each row are not zero.

    `count_nonzero` mispredicts a branch for each element of a gradient of relu: 6 ms for a million. As flags of a
    byte each, eight added up at a time, it is 0.1 ms.
    """
    size = flat.shape[1]
    flags = flat.to(torch.bool)
    words = size // 8
    group = min(words, 128)  # a byte holds their sum
    whole = 8 * (words - words % group) if group else 0
    if not whole:
        return flags.sum(1)
    part = flags[:, :whole]
    part = part if size % 8 == 0 else part.clone(memory_format=torch.contiguous_format)
    lanes = part.view(torch.int64).view(part.shape[0], -1, group).sum(2)
    found = lanes.view(torch.uint8).sum(1)
    return found if whole == size else found + flags[:, whole:].sum(1)


def _measure_with_gaps(row: torch.Tensor) -> Measured:
    """One tensor that holds nan or inf."""
    nan, inf = int(row.isnan().sum().item()), int(row.isinf().sum().item())
    zero = row.numel() - int(torch.count_nonzero(row).item())
    finite = row[row.isfinite()].double()
    norm = math.nan if nan else math.inf
    if not finite.numel():
        return norm, None, None, None, nan, inf, zero
    # Divided first: a sum of finite elements may overflow, their mean may not.
    mean = (finite / finite.numel()).sum().item()
    return norm, finite.min().item(), finite.max().item(), mean, nan, inf, zero


def _scaled_norm(tensor: torch.Tensor) -> float:
    """The norm in float64, scaled so that squares of very large and very small elements survive."""
    wide = tensor.double()
    largest: float = wide.abs().max().item()
    if largest == 0.0 or not math.isfinite(largest):
        return largest
    return float(torch.linalg.vector_norm(wide / largest).item()) * largest


def _row_blocks(wide: torch.Tensor) -> torch.Tensor:
    """Means over runs of the rows of each tensor, seen as a table of its last dimension: `(count, rows, columns)`."""
    table = wide.reshape(wide.shape[0], -1, wide.shape[-1])
    # One of few rows may be very wide.
    return _run_means(table, ROWS) if table.shape[1] > ROWS else _column_blocks(table).clone()


def _means(blocks: torch.Tensor, size: int) -> torch.Tensor:
    """The mean of each tensor, from means over runs of its rows: the last run is longer where these do not divide."""
    rows = size // blocks.shape[2]
    of_runs = blocks.mean(dim=2, dtype=torch.float64)
    total = of_runs.sum(1) * (rows // ROWS) + of_runs[:, -1] * (rows % ROWS)
    return (total / rows).to(blocks.dtype)


def _column_blocks(table: torch.Tensor) -> torch.Tensor:
    return _run_means(table.transpose(1, 2), COLUMNS).transpose(1, 2)


def _block_means(rows: torch.Tensor) -> torch.Tensor:
    """`(count, rows, columns)` float32 means over blocks, from what `_row_blocks` gave."""
    means = _column_blocks(rows)
    if means.dtype == torch.float64:
        largest = torch.finfo(torch.float32).max
        means = means.clamp(-largest, largest)
    return means.float().contiguous()


def _run_means(table: torch.Tensor, runs: int) -> torch.Tensor:
    """Means over runs of rows: `(count, rows, columns)` -> `(count, min(rows, runs), columns)`.

    The last run is longer where the rows do not divide.
    """
    count, rows, columns = table.shape
    if rows <= runs:
        return table
    length = rows // runs
    even = runs * length
    means = table[:, :even].reshape(count, runs, length, columns).mean(2)
    rest = rows - even
    if rest:
        tail = table[:, even:].sum(1)
        means[:, -1] = (means[:, -1] * length + tail) / (length + rest)
    return means


def _histograms(samples: torch.Tensor) -> Sequence[tuple[tuple[int, int], ...]]:
    """`(decade, count)` pairs of the finite non-zero elements of each row."""
    count = samples.shape[0]
    decades = samples.abs().log10_().floor_()
    # nan and inf go to the highest bin, zero (log10 = -inf) to the lowest; both are dropped.
    end = _DECADES[samples.dtype]
    bins = torch.nan_to_num_(decades, nan=end).clamp_(-end, end).add_(end).long()
    width = 2 * end + 1
    bins += torch.arange(count).unsqueeze(1) * width
    counts = torch.bincount(bins.flatten(), minlength=width * count).view(count, width)
    counts[:, 0] = counts[:, -1] = 0
    places = counts.nonzero(as_tuple=True)
    found: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for row, column, number in zip(places[0].tolist(), places[1].tolist(), counts[places].tolist(), strict=True):
        found[row].append((column - end, number))
    return [tuple(pairs) for pairs in found]
