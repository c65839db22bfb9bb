"""Small pictures of large tensors, many at a time: means over blocks, and how many elements each decade has.

A tensor is seen as a table of its last dimension. The passes over its elements leave sums over runs of rows; what is
made of these is little, so it is made later, for all tensors of a call at once. Where a table has few rows, one of
them may be very wide, and the runs are of columns instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ctypes import string_at
from functools import lru_cache
from typing import NamedTuple

import torch

ROWS, COLUMNS = 12, 16
SAMPLE = 16_384
SMALL_SAMPLE = 512
_DECADES = {torch.float32: 47, torch.float64: 326}  # beyond the smallest and the largest number of the type
_WIDE = 1024  # numbers that are added up side by side: a sum over rows of four makes no use of the processor

Histogram = tuple[tuple[int, int], ...]
"""`(decade, count)` pairs of the finite non-zero elements."""


class Picture(NamedTuple):
    """Of one tensor: block means, row-major float32 bytes, and the histogram."""

    rows: int = 0
    columns: int = 0
    means: bytes = b""
    histogram: Histogram = ()


class Sums(NamedTuple):
    """What is left of n tensors of one shape.

    `runs` is `(n, k, across)`: of each of the k runs the sum of its lines, which have `length`. The last run is longer
    by `more` lines, whose sum is `rest`, `(n, across)`. `turned`: the runs are of columns. `samples` is `(n, m)`.
    """

    runs: torch.Tensor
    length: int
    rest: torch.Tensor | None
    more: int
    turned: bool
    samples: torch.Tensor


def sums_of(tensors: torch.Tensor, flat: torch.Tensor, sample: int) -> Sums:
    """Make the passes over `tensors[0]`, `tensors[1]`, ...; nothing of the result is a view of them.

    `flat` has the same elements, a row each; about `sample` of these go into the histogram.
    """
    samples = flat[:, :: -(-flat.shape[1] // sample)].clone()
    count, columns = tensors.shape[0], tensors.shape[-1] if tensors.dim() > 1 else 1
    rows = flat.shape[1] // columns
    table = tensors.reshape(count, rows, columns)
    turned = rows <= ROWS
    if turned:
        table, rows, columns = table.transpose(1, 2), columns, rows
    most = COLUMNS if turned else ROWS
    if rows <= most:
        return Sums(table.clone(), 1, None, 0, turned, samples)
    length = rows // most
    even = most * length
    width = 1 if turned else _side_by_side(length, columns)
    lines = (table if even == rows else table[:, :even]).reshape(count, most, length // width, width * columns).sum(2)
    if width > 1:
        lines = lines.view(count, most, width, columns).sum(2)
    rest = None if even == rows else table[:, even:].sum(1)
    return Sums(lines, length, rest, rows - even, turned, samples)


@lru_cache(maxsize=1024)
def _side_by_side(length: int, columns: int) -> int:
    """How many rows of a run are added up side by side at first: a divisor of their number."""
    most = min(length, _WIDE // columns)
    return next((width for width in range(most, 1, -1) if length % width == 0), 1)


def joined(parts: Sequence[Sums]) -> Sums:
    """The sums of all tensors in `parts`, which are of one shape, with the rest added to the last run."""
    first = parts[0]
    if len(parts) == 1 and first.rest is None:
        return first
    runs = torch.cat([part.runs for part in parts])
    if first.rest is not None:
        runs[:, -1] += torch.cat([part.rest for part in parts if part.rest is not None])
    width = first.samples.shape[1]
    samples = torch.cat([part.samples for part in parts]).view(-1, width)
    return first._replace(runs=runs, rest=None, samples=samples)


def means_of(sums: Sums, size: int) -> torch.Tensor:
    """The means of tensors of `size` elements: `(n,)`, as the tensors are."""
    return (sums.runs.sum((1, 2), dtype=torch.float64) / size).to(sums.runs.dtype)


def pictures(kinds: Sequence[Sums]) -> list[list[Picture]]:
    """The pictures of tensors of several shapes and one type, `joined`."""
    means = _block_means([_divided(sums) for sums in kinds], [sums.turned for sums in kinds])
    histograms = iter(_histograms([sums.samples for sums in kinds]))
    return [[Picture(*blocks, next(histograms)) for blocks in _cut(of_kind)] for of_kind in means]


def _divided(sums: Sums) -> torch.Tensor:
    """Means over the runs."""
    if sums.length == 1 and not sums.more:
        return sums.runs
    means = sums.runs / sums.length
    if sums.more:
        means[:, -1] *= sums.length / (sums.length + sums.more)
    return means


def _block_means(kinds: Sequence[torch.Tensor], turned: Sequence[bool]) -> list[torch.Tensor]:
    """Means over runs of rows (or of columns) -> `(n, rows, columns)` means over blocks, as float32 on the CPU."""
    groups: dict[tuple[bool, torch.Size], list[int]] = {}
    for at, means in enumerate(kinds):
        groups.setdefault((turned[at], means.shape[1:]), []).append(at)
    found: dict[int, torch.Tensor] = {}
    for (is_turned, _), members in groups.items():
        means = kinds[members[0]] if len(members) == 1 else torch.cat([kinds[at] for at in members])
        small = _fitting(means.transpose(1, 2) if is_turned else _column_means(means))
        start = 0
        for at in members:
            end = start + len(kinds[at])
            found[at] = small[start:end]
            start = end
    return [found[at] for at in range(len(kinds))]


def _column_means(rows: torch.Tensor) -> torch.Tensor:
    """`(n, rows, columns)` -> `(n, rows, min(columns, COLUMNS))`; the last run is longer where they do not divide."""
    count, lines, columns = rows.shape
    if columns <= COLUMNS:
        return rows
    length = columns // COLUMNS
    means = rows[:, :, : COLUMNS * length].reshape(count, lines, COLUMNS, length).mean(3)
    if columns % COLUMNS:
        means[:, :, -1] = rows[:, :, (COLUMNS - 1) * length :].mean(2)
    return means


def _fitting(means: torch.Tensor) -> torch.Tensor:
    if means.dtype == torch.float64:
        largest = torch.finfo(torch.float32).max
        means = means.clamp(-largest, largest)
    return means.float().cpu().contiguous()


def _cut(means: torch.Tensor) -> Iterator[tuple[int, int, bytes]]:
    """Rows, columns and bytes of each."""
    count, rows, columns = means.shape
    size = 4 * rows * columns
    data = string_at(means.data_ptr(), count * size)
    for start in range(0, count * size, size):
        yield rows, columns, data[start : start + size]


def _histograms(kinds: Sequence[torch.Tensor]) -> list[Histogram]:
    """Of each row of each kind."""
    samples = _padded(kinds)
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


def _padded(kinds: Sequence[torch.Tensor]) -> torch.Tensor:
    """Rows of all kinds, on the CPU; shorter ones are filled up with zeros, which no decade has."""
    if len(kinds) == 1:
        return kinds[0].cpu()
    rows = torch.zeros((sum(map(len, kinds)), max(samples.shape[1] for samples in kinds)), dtype=kinds[0].dtype)
    at = 0
    for samples in kinds:
        rows[at : at + len(samples), : samples.shape[1]] = samples
        at += len(samples)
    return rows
