"""Decoding of tensor bytes into Python numbers, without numpy or torch.

Names and widths are torch's own (`torch.dtype`); bytes are little endian, row-major.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Sequence

Number = float | int | bool | complex

_ARRAY_CODES = {
    "float32": "f",
    "float64": "d",
    "int8": "b",
    "uint8": "B",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
}
_COMPLEX_PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}


def is_complex(dtype: str) -> bool:
    """Tell whether `dtype` (a torch name such as "complex64") holds complex numbers."""
    return dtype.startswith("complex")


def decode(dtype: str, data: bytes) -> Sequence[Number]:
    """Return the elements in `data` as Python numbers; a half, bfloat16 or float8 is widened exactly.

    Raises:
        KeyError: the dtype has no decoder (quantised, packed and exotic types).
        ValueError: `data` is not a whole number of elements.
    """
    if len(data) % ITEM_SIZES[dtype]:
        raise ValueError(f"{len(data)} bytes are not a whole number of elements of {dtype}")
    if dtype in _ARRAY_CODES:
        values = array(_ARRAY_CODES[dtype], data)
        if sys.byteorder == "big":
            values.byteswap()
        return values.tolist()
    if dtype == "bool":
        return [byte != 0 for byte in data]
    if dtype == "float16":
        return struct.unpack(f"<{len(data) // 2}e", data)
    if dtype == "bfloat16":
        halves = struct.unpack(f"<{len(data) // 2}H", data)
        return struct.unpack(f"<{len(halves)}f", struct.pack(f"<{len(halves)}I", *(h << 16 for h in halves)))
    if dtype in _COMPLEX_PARTS:
        parts = [float(part) for part in decode(_COMPLEX_PARTS[dtype], data) if not isinstance(part, complex)]
        return [complex(re, im) for re, im in zip(parts[::2], parts[1::2], strict=True)]
    table = _FLOAT8_TABLES[dtype]
    return [table[byte] for byte in data]


def _float8_table(exponent_bits: int, bias: int, specials: str) -> tuple[float, ...]:
    """All 256 values of an 8-bit float with a sign.

    `specials`: "ieee" has inf and nan at the highest exponent; "fn" (finite, nan) only nan, at all bits one; "fnuz"
    (finite, nan, unsigned zero) only nan, in the place of -0. The first two are of the OCP 8-bit floating point
    specification, revision 1.0, the last of "8-bit Numerical Formats for Deep Neural Networks" (arXiv 2206.02915).
    """
    mantissa_bits = 7 - exponent_bits
    top = (1 << exponent_bits) - 1
    table = []
    for byte in range(256):
        sign = -1.0 if byte & 0x80 else 1.0
        exponent = (byte >> mantissa_bits) & top
        mantissa = byte & ((1 << mantissa_bits) - 1)
        if (specials == "fn" and byte & 0x7F == 0x7F) or (specials == "fnuz" and byte == 0x80):
            value = float("nan")
        elif specials == "ieee" and exponent == top:
            value = float("nan") if mantissa else float("inf")
        elif exponent == 0:
            value = mantissa * 2.0 ** (1 - bias - mantissa_bits)
        else:
            value = (1 + mantissa / (1 << mantissa_bits)) * 2.0 ** (exponent - bias)
        table.append(sign * value)
    return tuple(table)


_FLOAT8_TABLES = {
    "float8_e4m3fn": _float8_table(4, 7, "fn"),
    "float8_e5m2": _float8_table(5, 15, "ieee"),
    "float8_e4m3fnuz": _float8_table(4, 8, "fnuz"),
    "float8_e5m2fnuz": _float8_table(5, 16, "fnuz"),
    # A scale: an exponent alone (OCP microscaling formats specification, revision 1.0).
    "float8_e8m0fnu": (*(2.0 ** (byte - 127) for byte in range(255)), float("nan")),
}
ITEM_SIZES = {
    **{name: array(code).itemsize for name, code in _ARRAY_CODES.items()},
    "bool": 1,
    "float16": 2,
    "bfloat16": 2,
    "complex32": 4,
    "complex64": 8,
    "complex128": 16,
    **dict.fromkeys(_FLOAT8_TABLES, 1),
}
