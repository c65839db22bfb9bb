"""Pictures of large tensors: block means and histograms are torch's, of whatever shape, alone or many kinds at once."""

from __future__ import annotations

import math

import pytest
import torch

from gradviz.worker.pictures import COLUMNS, ROWS
from gradviz.worker.summary import Summary, reduce, summaries, summarise

SHAPES = [
    *((5000,), (12, 700), (13, 700), (3, 40_001), (40_001, 3), (8, 64, 16, 17), (65_537, 1), (1, 1), ()),
    *((2, 1 << 17), (4099, 31), (512, 300)),
]


def _runs(size: int, most: int) -> list[slice]:
    """The runs of that many lines: all of one length, but that the last one has what remains."""
    count = min(size, most)
    length = size // count
    return [slice(at * length, size if at == count - 1 else (at + 1) * length) for at in range(count)]


def _check(tensor: torch.Tensor, summary: Summary) -> None:
    table = tensor.double().reshape(-1, tensor.shape[-1] if tensor.dim() else 1)
    rows, columns = _runs(table.shape[0], ROWS), _runs(table.shape[1], COLUMNS)
    small = summary.thumbnail
    assert small is not None and (small.rows, small.columns) == (len(rows), len(columns))
    wanted = torch.stack([table[row, column].mean() for row in rows for column in columns])
    # A sum of float32 is as wrong as its terms are large.
    room = 1e-6 * float(table.abs().max())
    assert torch.allclose(torch.tensor(small.means, dtype=torch.float64), wanted, rtol=1e-5, atol=room)
    decades = dict(small.histogram)
    flat = table.flatten()
    if len(flat) <= 512:
        numbers = flat[flat.isfinite() & (flat != 0)].abs().log10().floor().int().tolist()
        assert decades == {decade: numbers.count(decade) for decade in numbers}
    assert sum(decades.values()) <= min(len(flat), 16_384)


@pytest.mark.parametrize("dtype", (torch.float32, torch.float64, torch.bfloat16))
@pytest.mark.parametrize("shape", SHAPES)
def test_block_means_are_torchs(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    tensors = (torch.randn(3, *shape) + 0.25).to(dtype)
    for tensor, summary in zip(tensors, summarise(tensors), strict=True):
        _check(tensor, summary)
    _check(tensors[1], summarise(tensors[1:2])[0])


def test_many_kinds_at_once_are_as_each_alone() -> None:
    torch.manual_seed(0)
    kinds = [torch.randn(1 + at % 3, *shape) for at, shape in enumerate(SHAPES)]
    kinds += [torch.randn(2, 300, 20).double(), torch.zeros(1, 20, 300), torch.full((2, 9, 9), math.nan)]
    kinds[3][0] *= 1e-20
    reduced = [([reduce(tensors, 512)], tensors[0].numel()) for tensors in kinds]
    split = [([reduce(one.unsqueeze(0), 512) for one in tensors], tensors[0].numel()) for tensors in kinds]
    alone = [summaries([kind])[0] for kind in reduced]
    for together in (summaries(reduced), summaries(split)):
        for one, other, tensors in zip(together, alone, kinds, strict=True):
            assert len(one) == len(other) == len(tensors)
            for here, there, tensor in zip(one, other, tensors, strict=True):
                _same(here, there)
                if bool(tensor.isfinite().all()):
                    _check(tensor, here)


def _same(one: Summary, other: Summary) -> None:
    assert one.picture is not None and other.picture is not None
    assert one.picture.histogram == other.picture.histogram
    assert one.measured[4:] == other.measured[4:]
    for here, there in zip(one.measured[:4], other.measured[:4], strict=True):
        assert here == there or here == pytest.approx(there, rel=1e-5, abs=1e-6, nan_ok=True)


def test_kinds_without_pictures_stand_among_those_with() -> None:
    torch.manual_seed(0)
    first, second = torch.randn(2, 50, 20), torch.randn(3, 30)
    with_picture, without = summaries([([reduce(first, 512)], 1000), ([reduce(second)], 30)])
    assert [summary.picture is None for summary in (*with_picture, *without)] == [False, False, True, True, True]
    assert [summary.statistics.max for summary in without] == second.amax(1).tolist()
