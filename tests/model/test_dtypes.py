"""Every dtype that torch has, decoded and held against torch's own numbers."""

from __future__ import annotations

import ctypes
import math

import pytest
import torch

from gradviz.model.dtypes import ITEM_SIZES, decode, is_complex

DTYPES = sorted({str(value).removeprefix("torch.") for value in vars(torch).values() if isinstance(value, torch.dtype)})
# Quantised values need their scale, bits have no meaning, the narrow integers and float4 are shells for packed bytes.
WITHOUT = {name for name in DTYPES if name.startswith(("q", "bits", "float4"))} | {
    f"{sign}int{width}" for sign in ("", "u") for width in range(1, 8)
}
BYTE_PATTERNS = bytes(range(256)) * 16


def raw(tensor: torch.Tensor) -> bytes:
    return ctypes.string_at(tensor.data_ptr(), tensor.numel() * tensor.element_size())


def test_each_dtype_is_decoded_or_known_to_have_no_numbers() -> None:
    assert set(DTYPES) - WITHOUT == set(ITEM_SIZES)
    for name in ITEM_SIZES:
        dtype = getattr(torch, name)
        assert ITEM_SIZES[name] == dtype.itemsize
        assert is_complex(name) == dtype.is_complex


@pytest.mark.parametrize("name", sorted(ITEM_SIZES))
def test_all_bit_patterns_decode_as_in_torch(name: str) -> None:
    tensor = torch.frombuffer(bytearray(BYTE_PATTERNS), dtype=torch.uint8)
    if name == "bool":  # torch's own bools are 0 and 1
        tensor = tensor & 1
    data = raw(tensor)
    tensor = tensor.view(getattr(torch, name))
    wide = {"complex32": torch.complex128}.get(name, torch.float64 if tensor.is_floating_point() else tensor.dtype)
    wanted = tensor.to(wide).tolist()
    found = decode(name, data)
    assert len(found) == len(wanted) == len(data) // ITEM_SIZES[name]
    assert [repr(number) for number in found] == [repr(number) for number in wanted]


def test_all_halves_decode_as_in_torch() -> None:
    """All 65,536 values of both: subnormals, both zeros, infinities, nans."""
    patterns = torch.arange(-(1 << 15), 1 << 15, dtype=torch.int32).to(torch.int16)
    for name in ("float16", "bfloat16"):
        wanted = patterns.view(getattr(torch, name)).double().tolist()
        assert list(map(repr, decode(name, raw(patterns)))) == list(map(repr, wanted))


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("int64", [-(1 << 63), (1 << 63) - 1, 0]),
        ("uint64", [(1 << 64) - 1, 0, 1 << 63]),
        ("float64", [5e-324, -0.0, 1.7976931348623157e308, math.inf, -math.inf]),
        ("float32", [1.401298464324817e-45, -0.0, 3.4028234663852886e38]),
        ("bool", [True, False]),
        ("complex64", [complex(1.5, -0.0), complex(math.inf, -2)]),
        ("complex128", [complex(5e-324, 1e308)]),
    ],
)
def test_extreme_numbers(name: str, numbers: list[complex]) -> None:
    data = raw(torch.tensor(numbers, dtype=getattr(torch, name)))
    assert list(map(repr, decode(name, data))) == list(map(repr, numbers))


@pytest.mark.parametrize("name", sorted(ITEM_SIZES))
def test_nothing_decodes_to_nothing(name: str) -> None:
    assert list(decode(name, b"")) == []


def test_a_part_of_an_element_is_refused() -> None:
    for name, size in ITEM_SIZES.items():
        if size > 1:
            with pytest.raises(ValueError, match=name):
                decode(name, bytes(2 * size - 1))


def test_a_dtype_without_numbers_is_told() -> None:
    with pytest.raises(KeyError):
        decode("qint8", b"abc")
