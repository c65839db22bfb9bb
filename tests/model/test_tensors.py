"""Statistics and nested values against torch, and where torch's own sums overflow against exact arithmetic."""

from __future__ import annotations

import ctypes
import math
import time
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gradviz.model import TensorValue
from gradviz.model.numbers import brief
from gradviz.model.tensors import Statistics, nest, statistics_of

any_float = st.floats(width=64)
any_complex = st.complex_numbers(allow_nan=True, allow_infinity=True)


def value_of(tensor: torch.Tensor) -> TensorValue:
    tensor = tensor.contiguous()
    data = ctypes.string_at(tensor.data_ptr(), tensor.numel() * tensor.element_size())
    return TensorValue(tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."), data=data)


def same(found: float | None, wanted: float | None, tolerance: float = 1e-12) -> bool:
    if found is None or wanted is None:
        return found is wanted
    if math.isnan(wanted):
        return math.isnan(found)
    return found == wanted or math.isclose(found, wanted, rel_tol=tolerance, abs_tol=5e-324)


def by_torch(tensor: torch.Tensor) -> Statistics:
    wide = tensor.to(torch.complex128 if tensor.is_complex() else torch.float64).reshape(-1)
    norm = torch.linalg.vector_norm(wide).item()
    nan, inf = int(wide.isnan().sum()), int(wide.isinf().sum())
    zero = int((wide == 0).sum())
    finite = wide[wide.isfinite()]
    if tensor.is_complex() or not finite.numel():
        return Statistics(norm, None, None, None, nan, inf, zero)
    return Statistics(norm, finite.min().item(), finite.max().item(), finite.mean().item(), nan, inf, zero)


@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 4), (2, 3, 4), (0,), (3, 0), (0, 3)])
@pytest.mark.parametrize(
    "name", ["float32", "float64", "float16", "bfloat16", "int64", "uint8", "bool", "complex64", "float8_e5m2"]
)
def test_statistics_are_those_of_torch(shape: tuple[int, ...], name: str) -> None:
    torch.manual_seed(3)
    dtype = getattr(torch, name)
    tensor = torch.randn(shape, dtype=torch.complex64 if dtype.is_complex else torch.float32).mul(3).to(dtype)
    found = value_of(tensor).statistics
    assert found is not None
    wanted = by_torch(tensor)
    assert (found.nan, found.inf, found.zero) == (wanted.nan, wanted.inf, wanted.zero)
    for field in ("norm", "min", "max", "mean"):
        assert same(getattr(found, field), getattr(wanted, field), 1e-9), field


@given(st.lists(any_float | st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf, 5e-324, 1e308]), max_size=30))
def test_counts_extremes_and_mean_are_exact(numbers: list[float]) -> None:
    found = statistics_of(numbers)
    tensor = torch.tensor(numbers, dtype=torch.float64)
    assert (found.nan, found.inf) == (int(tensor.isnan().sum()), int(tensor.isinf().sum()))
    assert found.zero == int((tensor == 0).sum())
    finite = [number for number in numbers if math.isfinite(number)]
    assert (found.min, found.max) == ((min(finite), max(finite)) if finite else (None, None))
    if finite:
        exact = sum(map(Fraction, finite)) / len(finite)
        assert found.mean is not None and min(finite) <= found.mean <= max(finite)
        # A sum that cancels has fewer right digits than its terms; the scale of the terms is what counts.
        assert abs(Fraction(found.mean) - exact) <= Fraction(max(map(abs, finite))) * Fraction(1, 10**15) + Fraction(
            5e-324
        )


@given(st.lists(any_float, min_size=1, max_size=30))
def test_a_norm_neither_overflows_nor_vanishes(numbers: list[float]) -> None:
    """torch squares: 1e200 becomes inf and 1e-200 zero. Here the true norm is wanted."""
    found = statistics_of(numbers).norm
    if any(map(math.isnan, numbers)):
        assert math.isnan(found)
    elif any(map(math.isinf, numbers)):
        assert found == math.inf
    else:
        squared = sum(Fraction(number) ** 2 for number in numbers)
        tiny, near = Fraction(5e-324), Fraction(1, 10**14)
        if math.isinf(found):
            assert squared > Fraction(1.7976931348623157e308) ** 2 * (1 - near)
            return
        low, high = Fraction(found) * (1 - near) - tiny, Fraction(found) * (1 + near) + tiny
        assert max(low, Fraction(0)) ** 2 <= squared <= high**2


@pytest.mark.parametrize(
    "numbers",
    [
        [complex(3, 4)],
        [complex(math.nan, math.inf)],
        [complex(math.nan, 1), complex(1, math.inf)],
        [0j, complex(-0.0, 0.0), 1j],
        [complex(math.inf, 0), complex(-math.inf, 0)],
        [],
    ],
)
def test_complex_numbers_count_as_in_torch(numbers: list[complex]) -> None:
    tensor = torch.tensor(numbers, dtype=torch.complex128)
    found, wanted = value_of(tensor).statistics, by_torch(tensor)
    assert found is not None
    assert (found.min, found.max, found.mean) == (None, None, None)
    assert (found.nan, found.inf, found.zero) == (wanted.nan, wanted.inf, wanted.zero)
    assert same(found.norm, wanted.norm)


@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3), (2, 1, 3), (0,), (2, 0), (0, 2), (1,) * 64])
def test_nested_lists_are_those_of_torch(shape: tuple[int, ...]) -> None:
    tensor = torch.arange(math.prod(shape), dtype=torch.float32).reshape(shape)
    assert value_of(tensor).nested() == tensor.tolist()


def test_a_batch_comes_first() -> None:
    tensor = torch.arange(12.0).reshape(3, 2, 2)
    value = TensorValue((2, 2), "float32", data=value_of(tensor).data, batch=(3,))
    assert (value.nested(), value.full_shape, value.numel) == (tensor.tolist(), (3, 2, 2), 4)


def test_shapes_beyond_use_are_not_unfolded() -> None:
    """torch has tensors of 1,000 dimensions and of 10 ** 9 empty rows."""
    started = time.monotonic()
    assert TensorValue((1,) * 65, "float32", data=bytes(4)).nested() is None
    assert TensorValue((10**9, 0), "float32", data=b"").nested() is None
    assert TensorValue((10**15, 10**9, 0, 7), "float32", data=b"").nested() is None
    assert TensorValue((0, 10**9), "float32", data=b"").nested() == []
    assert TensorValue((10**18,) * 60, "float32").numel == 10**1080
    assert time.monotonic() - started < 1


def test_what_was_not_kept_is_none() -> None:
    measured = Statistics(1.0, 0.0, 1.0, 0.5, 0, 0, 3)
    value = TensorValue((100,), "float32", measured=measured)
    assert (value.numbers, value.nested(), value.item(), value.statistics, value.norm) == (
        *(None, None, None),
        *(measured, 1.0),
    )
    odd = TensorValue((3,), "qint8", data=b"abc")
    assert (odd.numbers, odd.nested(), odd.statistics, odd.norm) == (None, None, None, None)
    one = value_of(torch.tensor([[2.5]]))
    assert (one.item(), value_of(torch.tensor([1.0, 2.0])).item()) == (2.5, None)


@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))
def test_nest_counts(a: int, b: int, c: int) -> None:
    nested = nest(list(range(a * b * c)), (a, b, c))
    assert [len(nested), *{len(row) for row in nested}] == [a, *([b] if a else [])]
    assert [x for row in nested for cell in row for x in cell] == list(range(a * b * c))


def test_a_tensor_of_many_dimensions_is_told_by_norm_and_shape() -> None:
    assert brief(TensorValue((1,) * 65, "float32", data=bytes(4))).startswith("‖0‖ (1, 1, ")
