"""Statistics of tensors that are too large to be kept whole, many of one shape at a time.

All functions expect plain dense real tensors on the CPU and are called inside `quiet(below_autograd=True)`. One
tensor at a time costs ten operations of 2 us each; a graph of 20,000 nodes has 30,000 of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from ctypes import string_at
from itertools import repeat
from typing import NamedTuple

import torch

from gradviz.model import Statistics, Thumbnail
from gradviz.store.codec import BRIEF, BRIEF_BYTES, MEASURED, MEASURED_BYTES, Measured
from gradviz.worker.pictures import SAMPLE, SMALL_SAMPLE, Picture, Sums, joined, means_of, pictures, sums_of

_CHUNK = 1024
_LARGEST_U32 = (1 << 32) - 1
_LARGE = 65_536  # elements: a pass over so many costs more than a handful of calls into torch
# Between these bounds squares in float32 neither vanish nor overflow, and sums of chunks are right to 1e-6.
_SAFE = (1e-12, 1e15)
REDUCED = (torch.float32, torch.float64)


class Summary(NamedTuple):
    """One tensor: `norm, min, max, mean, nan, inf, zero` as in Statistics, and what there is to look at."""

    measured: Measured
    picture: Picture | None = None

    @property
    def statistics(self) -> Statistics:
        """The measured part as a value."""
        return Statistics(*self.measured)

    @property
    def thumbnail(self) -> Thumbnail | None:
        """The small picture as a value."""
        if self.picture is None:
            return None
        rows, columns, means, histogram = self.picture
        return Thumbnail(rows, columns, tuple(memoryview(means).cast("f").tolist()), histogram)


class Reduced(NamedTuple):
    """What is left of n tensors of one shape after the passes over their elements. `careful` is by position.

    `norms` is float64, `lows`, `highs` and `means` as the tensors, `filled` counts what is not zero: all `(n,)`.
    `sums` are there where pictures are wanted; `means` is None where these tell it at less cost than a pass over all
    elements.
    """

    norms: torch.Tensor
    lows: torch.Tensor
    highs: torch.Tensor
    means: torch.Tensor | None
    filled: torch.Tensor
    careful: dict[int, Measured]
    sums: Sums | None


def summarise(tensors: torch.Tensor, thumbnails: bool = True) -> list[Summary]:
    """Summarise `tensors[0]`, `tensors[1]`, ...; norm and mean are right to about 1e-6, counts exactly."""
    count = tensors.shape[0]
    size = tensors[0].numel() if count else 0
    if not size:
        return [Summary((0.0, None, None, None, 0, 0, 0))] * count
    sample = SAMPLE if count == 1 and size <= SAMPLE else SMALL_SAMPLE
    return summaries([([reduce(tensors, sample if thumbnails else 0)], size)])[0]


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
    sums = sums_of(wide, flat, sample) if sample else None
    means = flat.mean(dim=1) if sums is None or flat.shape[1] < _LARGE or sums.turned else None
    return Reduced(norms, lows, highs, means, _filled(flat), careful, sums)


Kind = tuple[Sequence[Reduced], int]
"""Tensors of one shape: parts, all with pictures or all without, and the number of elements of each tensor."""


def summaries(kinds: Sequence[Kind]) -> list[list[Summary]]:
    """The summaries of the tensors of each kind."""
    sums = [None if parts[0].sums is None else joined([part.sums for part in parts if part.sums]) for parts, _ in kinds]
    measured = iter(_measured(kinds, sums))
    counts = [sum(len(part.norms) for part in parts) for parts, _ in kinds]
    return [
        [Summary(next(measured), picture) for picture in drawn or repeat(None, count)]
        for drawn, count in zip(_drawn(sums), counts, strict=True)
    ]


def _measured(kinds: Sequence[Kind], sums: Sequence[Sums | None]) -> list[Measured]:
    """The statistics of all tensors, one kind after the other."""
    parts = [part for of_kind, _ in kinds for part in of_kind]
    means: list[torch.Tensor] = []
    sizes: list[int] = []
    for (of_kind, size), found in zip(kinds, sums, strict=True):
        told = [part.means for part in of_kind if part.means is not None]
        means += told or ([] if found is None else [means_of(found, size)])
        sizes += [size] * sum(len(part.norms) for part in of_kind)
    norms, lows, highs, filled = (torch.cat(column).tolist() for column in _columns(parts))
    measured: list[Measured] = [
        (norm, low, high, mean, 0, 0, size - count)
        for norm, low, high, mean, count, size in zip(
            norms, lows, highs, torch.cat(means).tolist(), filled, sizes, strict=True
        )
    ]
    for at, entry in _all_careful(parts):
        measured[at] = entry
    return measured


def _drawn(sums: Sequence[Sums | None]) -> list[list[Picture]]:
    """The pictures of each kind, none where there are no sums."""
    of_type: dict[torch.dtype, list[int]] = {}
    for at, found in enumerate(sums):
        if found is not None:
            of_type.setdefault(found.runs.dtype, []).append(at)
    drawn: list[list[Picture]] = [[] for _ in sums]
    for members in of_type.values():
        for at, of_kind in zip(members, pictures([found for at in members if (found := sums[at])]), strict=True):
            drawn[at] = of_kind
    return drawn


class Numbers(NamedTuple):
    """The statistics of n tensors: `data` has those of each, as they follow the head of a packed value with this `tag`.

    `size` is the bytes of each. Those that need care (not finite, very large, very small, zero) are also in `careful`,
    by position.
    """

    tag: int
    size: int
    data: bytes
    careful: dict[int, Measured]


def packed_numbers(parts: Sequence[Reduced], size: int) -> Numbers:
    """As `summaries` without pictures, for tensors of `size` elements."""
    norms, lows, highs, filled = (torch.cat(column) for column in _columns(parts))
    means = torch.cat([part.means for part in parts if part.means is not None])
    is_brief = lows.dtype == torch.float32 and size <= _LARGEST_U32
    table = (_brief_rows if is_brief else _rows)(norms, lows, highs, means, size - filled)
    tag, width = (BRIEF, BRIEF_BYTES) if is_brief else (MEASURED, MEASURED_BYTES)
    return Numbers(tag, width, string_at(table.data_ptr(), table.nbytes), dict(_all_careful(parts)))


def _brief_rows(
    norms: torch.Tensor, lows: torch.Tensor, highs: torch.Tensor, means: torch.Tensor, zeros: torch.Tensor
) -> torch.Tensor:
    """f64 norm, f32 min, max, mean, u32 zero of each."""
    table = torch.empty((len(norms), 6), dtype=torch.int32)
    table[:, :2] = norms.view(torch.int32).view(-1, 2)
    for at, column in enumerate((lows, highs, means), 2):
        table[:, at] = column.view(torch.int32)
    table[:, 5] = zeros
    return table


def _rows(
    norms: torch.Tensor, lows: torch.Tensor, highs: torch.Tensor, means: torch.Tensor, zeros: torch.Tensor
) -> torch.Tensor:
    """f64 norm, min, max, mean, u64 nan, inf, zero of each."""
    table = torch.zeros((len(norms), 7), dtype=torch.float64)
    for at, column in enumerate((norms, lows, highs, means)):
        table[:, at] = column
    table.view(torch.int64)[:, 6] = zeros
    return table


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
    divisors = torch.tensor(largest, dtype=torch.float64, device=rows.device)
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
    chunks = (flat if whole == size else flat[:, :whole]).reshape(count, -1, _CHUNK)
    parts = torch.linalg.vector_norm(chunks, dim=2)
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
    if whole == size:
        lanes = flags.view(torch.int64).view(flags.shape[0], -1, group)
    else:
        part = flags[:, :whole]
        part = part if size % 8 == 0 else part.clone(memory_format=torch.contiguous_format)
        lanes = part.view(torch.int64).view(part.shape[0], -1, group)
    found = lanes.sum(2).view(torch.uint8).sum(1)
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
