"""Tensors of every kind are recorded, or say why not; no kind makes a recording or the script fail."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from gradviz.model import TensorValue
from gradviz.model.tensors import statistics_of
from gradviz.store import codec
from gradviz.worker.arenas import Arenas
from gradviz.worker.capture import Capture
from gradviz.worker.flow import ANY
from gradviz.worker.intake import Batch, Deferred, Intake, packed, settle
from gradviz.worker.summary import summarise
from tests.worker.inspecting import record, tensor_of, values


class Types:
    """Stands for the writer: gives rows to types, and unpacks what was packed with them."""

    def __init__(self) -> None:
        self.rows: dict[int, codec.TypeRow] = {}

    def type_row(self, dtype: str, device: str, shape: tuple[int, ...]) -> int:
        wanted = codec.TypeRow(dtype, device, shape, codec.bytes_of(dtype, shape))
        found = next((row for row, known in self.rows.items() if known == wanted), None)
        if found is None:
            found = len(self.rows) + 1
            self.rows[found] = wanted
        return found

    def pack(self, dtype: str, device: str, shape: tuple[int, ...], data: bytes) -> bytes:
        return codec.pack_whole(self.type_row(dtype, device, shape), data)

    def value(self, blob: bytes) -> TensorValue:
        value = codec.Unpacker(blob, self.rows).one()
        assert value is not None
        return value


def captured(tensor: Any, whole_up_to: int = 4096) -> TensorValue:
    types = Types()
    capture = Capture(types, whole_up_to)  # type: ignore[arg-type]
    first, second = capture.pack(tensor), capture.pack(tensor)
    assert first == second  # the quick way, known from the first time, gives the same
    return types.value(first)


DENSE = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int8, torch.bool]


@pytest.mark.parametrize("dtype", DENSE)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3)])
def test_dense_tensors_come_back_bit_for_bit(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    tensor = (torch.randn(shape) * 3).to(dtype)
    back = tensor_of(captured(tensor))
    assert back is not None and back.dtype == dtype and torch.equal(back, tensor)


def test_tensors_that_do_not_lie_as_they_look() -> None:
    base = torch.arange(24.0).reshape(2, 3, 4)
    for tensor in (
        base.permute(2, 0, 1),
        base[:, ::2],
        base[..., 1],
        base.expand(5, 2, 3, 4),
        torch.ones(()).expand(3),
    ):
        back = tensor_of(captured(tensor))
        assert back is not None and torch.equal(back, tensor)


def test_complex_numbers_lazy_conjugates_and_negatives() -> None:
    z = torch.tensor([1 + 2j, -3j])
    assert values(captured(z.conj())) == [1 - 2j, 3j]
    assert values(captured(z.conj().imag)) == [-2.0, 3.0]
    large = captured(torch.full((100,), 3 + 4j), whole_up_to=10)
    assert large.data is None and large.statistics is not None
    assert large.statistics.norm == pytest.approx(50.0) and large.statistics.min is None is large.statistics.mean


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_eight_bit_floats_are_widened_for_show(dtype: torch.dtype) -> None:
    tensor = torch.tensor([0.5, -2.0, 1.75]).to(dtype)
    assert list(captured(tensor).numbers or ()) == tensor.float().tolist()


def test_an_efficient_zero_has_no_memory_to_read() -> None:
    assert values(captured(torch._efficientzerotensor((3,)))) == [0.0, 0.0, 0.0]


def test_sparse_gradients() -> None:
    tensor = torch.sparse_coo_tensor([[0, 2, 0]], [1.0, 2.0, 3.0], (4,), check_invariants=True)
    value = captured(tensor)
    assert (value.layout, value.nnz, values(value)) == ("sparse_coo", 3, [4.0, 0.0, 2.0, 0.0])
    large = captured(torch.sparse_coo_tensor([[1, 5, 1]], [1.0, 2.0, 3.0], (100_000,), check_invariants=True))
    statistics = large.statistics
    assert statistics is not None and (large.nnz, large.data, statistics.zero) == (3, None, 99_998)
    assert (statistics.min, statistics.max, statistics.norm) == (0.0, 4.0, pytest.approx(math.hypot(4, 2)))
    assert statistics.mean == pytest.approx(6 / 100_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compressed = torch.tensor([[0.0, 2.0], [1.0, 0.0]]).to_sparse_csr()
    assert values(captured(compressed)) == [[0.0, 2.0], [1.0, 0.0]]


class Wrapped(torch.Tensor):
    """A tensor whose values lie elsewhere, as DTensor's do."""

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> Wrapped:
        made: Wrapped = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise AssertionError("the recorder must not dispatch on it")


class Named(torch.Tensor):
    """A subclass with values of its own that counts what is asked of it."""

    asked = 0

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        Named.asked += 1
        return super().__torch_function__(func, types, args, kwargs)


def test_subclasses() -> None:
    value = captured(Wrapped(torch.ones(2, 3)))
    assert value.shape == (2, 3) and value.unreadable == "values of a Wrapped are not read"
    named = torch.arange(3.0).as_subclass(Named)
    before = Named.asked
    assert values(captured(named)) == [0.0, 1.0, 2.0] and Named.asked == before
    assert values(captured(nn.Parameter(torch.ones(2)))) == [1.0, 1.0]


def test_what_has_no_values_says_so() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
        ragged = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)
        quantised = torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)
    meta = torch.ones(2, 3, device="meta")
    found = [captured(tensor) for tensor in (nested, ragged, quantised, meta)]
    assert all(value.unreadable for value in found)
    assert [value.shape for value in found] == [(), (), (3,), (2, 3)] and found[3].device == "meta"
    assert found[2].dtype == "qint8"


LARGE: list[torch.Tensor] = [
    torch.randn(70, 100),
    torch.randn(5001) * 1e-30,
    torch.randn(13, 500).double() * 1e200,
    torch.full((6000,), 1e-40),
    torch.zeros(90, 90),
    torch.cat([torch.randn(5000), torch.tensor([math.nan, math.inf, -math.inf, 0.0])]),
    torch.full((5000,), math.nan),
    torch.randn(2, 40, 80).bfloat16(),
    torch.randn(8000).half(),
    torch.full((5000,), 3e38),
    torch.randn(300, 90)[:, :45].t(),
]


@pytest.mark.parametrize("at", range(len(LARGE)))
def test_statistics_are_those_of_the_elements(at: int) -> None:
    """The same numbers as counted and added up in plain Python, in float64."""
    tensor = LARGE[at]
    value = captured(tensor)
    wanted = statistics_of(tensor.double().flatten().tolist())
    found = value.statistics
    assert value.data is None and value.shape == tuple(tensor.shape) and found is not None
    assert (found.nan, found.inf, found.zero) == (wanted.nan, wanted.inf, wanted.zero)
    for name in ("norm", "min", "max"):
        one, other = getattr(found, name), getattr(wanted, name)
        assert one == other or one == pytest.approx(other, rel=1e-6, nan_ok=True), name
    if wanted.mean is None or wanted.max is None or wanted.min is None:
        assert found.mean is None
    else:
        assert found.mean == pytest.approx(wanted.mean, rel=1e-6, abs=1e-6 * max(wanted.max, -wanted.min))


def test_a_thumbnail_holds_block_means() -> None:
    tensor = torch.arange(24.0 * 32).reshape(24, 32).repeat(10, 1)
    small = captured(tensor).thumbnail
    assert small is not None and (small.rows, small.columns) == (12, 16)
    wanted = tensor.reshape(12, 20, 16, 2).mean((1, 3))
    assert torch.allclose(torch.tensor(small.means).reshape(12, 16), wanted)
    ragged = torch.randn(125, 50)
    small = captured(ragged).thumbnail
    assert small is not None and (small.rows, small.columns) == (12, 16)
    last = ragged[11 * 10 :, 15 * 3 :].mean()
    assert small.means[-1] == pytest.approx(last.item(), abs=1e-6)


def test_the_histogram_counts_decades() -> None:
    tensor = torch.cat(
        [torch.full((3000,), 0.5), torch.full((2000,), 20.0), torch.zeros(500), torch.tensor([math.inf])]
    )
    small = captured(tensor).thumbnail
    assert small is not None and dict(small.histogram) == {-1: 3000, 1: 2000}


@pytest.mark.parametrize("thumbnails", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_batch_gives_what_one_by_one_gives(thumbnails: bool, dtype: torch.dtype) -> None:
    types = Types()
    capture = Capture(types, 16, thumbnails)  # type: ignore[arg-type]
    intake = Intake(capture, plain=True, thumbnails=thumbnails)
    tensors = [(torch.randn(40, 30) * 10.0**k).to(dtype) for k in range(-3, 30)]
    tensors += [
        torch.zeros(40, 30, dtype=dtype),
        torch.full((40, 30), math.nan, dtype=dtype),
        torch.randn(30, 40).to(dtype).t(),
    ]
    items = [intake.take(tensor) for tensor in tensors]
    for tensor in tensors:
        tensor.zero_()  # the value is that of the moment
    intake.settle()
    again = [(torch.zeros(40, 30, dtype=dtype)) for _ in tensors]
    assert len(items) == len(again)
    torch.manual_seed(0)
    fresh = [(torch.randn(40, 30) * 10.0**k).to(dtype) for k in range(-3, 30)]
    fresh += [
        torch.zeros(40, 30, dtype=dtype),
        torch.full((40, 30), math.nan, dtype=dtype),
        torch.randn(30, 40).to(dtype).t(),
    ]
    for item, tensor in zip(items, fresh, strict=True):
        value, alone = types.value(packed(item)), types.value(capture.pack(tensor))
        assert value.shape == alone.shape == (40, 30) and value.statistics is not None and alone.statistics is not None
        for name in ("norm", "min", "max", "mean"):
            one, other = getattr(value.statistics, name), getattr(alone.statistics, name)
            assert one == other or one == pytest.approx(
                other, rel=1e-5, abs=1e-6 * abs(alone.statistics.norm), nan_ok=True
            )
        assert (value.statistics.nan, value.statistics.zero) == (alone.statistics.nan, alone.statistics.zero)
        assert (value.thumbnail is None) == (not thumbnails) == (alone.thumbnail is None)
        if value.thumbnail is not None and alone.thumbnail is not None:
            assert value.thumbnail.means == pytest.approx(
                alone.thumbnail.means, rel=1e-4, abs=1e-3 * alone.statistics.norm, nan_ok=True
            )


@pytest.mark.parametrize("shape", [(8, 64, 16, 17), (300_001,), (13, 40_000), (12, 70_000), (131_072, 1), (29, 31, 97)])
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_statistics_of_large_tensors_are_torchs(shape: tuple[int, ...], count: int, dtype: torch.dtype) -> None:
    torch.manual_seed(1)
    tensors = (torch.randn(count, *shape) + 0.5).to(dtype)
    for tensor, summary in zip(tensors.double(), summarise(tensors), strict=True):
        found = summary.statistics
        assert (found.min, found.max) == (tensor.min().item(), tensor.max().item())
        assert found.mean == pytest.approx(tensor.mean().item(), rel=2e-6)
        assert found.norm == pytest.approx(tensor.norm().item(), rel=2e-6)


def test_summaries_of_empty_tensors() -> None:
    (summary,) = summarise(torch.zeros(1, 0, 3))
    assert summary.measured == (0.0, None, None, None, 0, 0, 0) and summary.picture is None


def test_batches_grow_and_settle_when_full() -> None:
    types = Types()
    batch = Batch(Capture(types, 1), torch.float32, torch.Size([100]), (1,), False, Arenas())  # type: ignore[arg-type]
    tensors = [torch.full((100,), float(k)) for k in range(200)]
    items = [batch.add(tensor.data_ptr()) for tensor in tensors]
    settle([batch])
    assert [types.value(item.packed).norm for item in items] == pytest.approx([10.0 * k for k in range(200)])


def test_a_transposed_gradient_shares_the_numbers_and_a_slice_does_not() -> None:
    """`cat` sends slices of what it got, and the first one starts where the whole starts."""
    types = Types()
    intake = Intake(Capture(types, 16, False), plain=True, thumbnails=False)  # type: ignore[arg-type]
    whole = torch.randn(40, 30)
    item = intake.take(whole)
    assert isinstance(item, Deferred)
    assert intake.view(whole[:20], whole, item, ANY) is None
    turned = intake.view(whole.t(), whole, item, ANY)
    assert turned is not None
    intake.settle()
    value = types.value(packed(turned))
    assert value.shape == (30, 40) and value.norm == pytest.approx(whole.norm().item(), rel=1e-6)


@pytest.mark.parametrize("size", [100, 1000, 1024, 5001, 70_000, 200_003])
def test_zeros_are_counted_exactly(size: int) -> None:
    """They are counted eight at a time; torch's own count is the oracle, for sizes that divide by nothing, too."""
    torch.manual_seed(size)
    tensors = torch.randn(3, size).relu_()
    tensors[1] = -0.0
    tensors[2, -1] = math.nan
    found = [summary.statistics.zero for summary in summarise(tensors, thumbnails=False)]
    assert found == (size - torch.count_nonzero(tensors, dim=1)).tolist()


def test_every_kind_in_a_backward(tmp_path: Path) -> None:
    """One script with a gradient of each kind: all numbers are right or say why they are not there."""
    table = nn.Embedding(50, 3, sparse=True)
    z = torch.tensor([3 + 4j], requires_grad=True)
    half = torch.tensor([1.0, 2.0], dtype=torch.bfloat16, requires_grad=True)
    named = torch.arange(3.0).as_subclass(Named).requires_grad_()
    meta = torch.ones(2, device="meta", requires_grad=True)
    with record(tmp_path) as found:
        table(torch.tensor([7, 1, 7])).sum().backward()
        table(torch.tensor([7])).sum().backward()
        (z * z.conj()).real.sum().backward()
        (half * 3).sum().backward()
        (named * 2).sum().backward()
        (meta * 2).sum().backward()
    entry = found.accumulation("table.weight", "2")
    assert entry.after is not None and (entry.after.layout, entry.after.nnz) == ("sparse_coo", 4)
    assert values(entry.after)[7] == [3.0, 3.0, 3.0]
    assert values(found.accumulation("z", "3").after) == [6 + 8j]
    after = found.accumulation("half", "4").after
    assert after is not None and (after.dtype, values(after)) == ("bfloat16", [3.0, 3.0])
    assert values(found.accumulation("named", "5").after) == [2.0, 2.0, 2.0]
    assert found.accumulation("meta", "6").after.unreadable == "a meta tensor has no values"  # type: ignore[union-attr]


def test_batched_seeds(tmp_path: Path) -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    with record(tmp_path, complete=False) as found:
        y = x**2
        torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True, retain_graph=True)
        torch.vmap(lambda v: torch.autograd.grad(y, x, v, retain_graph=True))(torch.eye(3))
        torch.vmap(torch.func.grad(lambda t: (t**3).sum()))(torch.arange(6.0).reshape(2, 3))
    for label in ("1", "2"):
        call = found.recording.call_by_label(label)
        seed = call.roots[0].seed
        assert seed is not None and (seed.shape, seed.batch) == ((3,), (3,)) and values(seed) == torch.eye(3).tolist()
        (returned,) = found.detail(label).returned or (None,)
        assert values(returned) == torch.diag(2 * x.detach()).tolist()
        assert call.batched == (label == "1")
    (returned,) = found.detail("3").returned or (None,)
    assert (
        returned is not None
        and returned.batch == (2,)
        and values(returned) == (3 * torch.arange(6.0).reshape(2, 3) ** 2).tolist()
    )
