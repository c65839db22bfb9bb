"""Packed tensors, executions and columns, as they lie in the recording's blobs.

A packed value starts with a tag byte. NONE: undefined. WHOLE: u32 row of tensor_types, u32 length, the bytes.
SAME: u32 order, u16 slot: equal to `grad_inputs[slot]` of execution `order` of the same call.
OTHER: u32 length of a JSON header, the header, u32 length, the payload (bytes of a sparse, batched or otherwise
unusual value, or float32 block means of a summary). MEASURED: u32 row of tensor_types, f64 norm, min, max, mean (nan
for "none finite"), u64 nan, inf, zero: a summary without a picture. BRIEF: u32 row of tensor_types, f64 norm, f32 min,
max, mean, u32 zero: the same of finite numbers that float32 holds. All numbers are little endian.
"""

from __future__ import annotations

import json
import math
import struct
import sys
import zlib
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gradviz.errors import DamagedRecordingError
from gradviz.model import Gradient, Statistics, TensorValue, Thumbnail
from gradviz.model.checking import built, made
from gradviz.model.dtypes import ITEM_SIZES
from gradviz.texts import tr

NONE, WHOLE, SAME, OTHER, MEASURED, BRIEF = range(6)
UNDEFINED = bytes([NONE])
WHOLE_HEAD = struct.Struct("<BII")
SAME_HEAD = struct.Struct("<BIH")
_LENGTH = struct.Struct("<BI")
_MEASURED = struct.Struct("<BI4d3Q")
_BRIEF = struct.Struct("<BId3fI")
MEASURED_BYTES, BRIEF_BYTES = (form.size - _LENGTH.size for form in (_MEASURED, _BRIEF))  # of the numbers
_U32 = struct.Struct("<I")
EXECUTION = struct.Struct("<HHB")
_to_json = json.JSONEncoder(separators=(",", ":")).encode
_LARGEST_FLOAT32 = 3.4028234663852886e38
_MAX_DIMENSIONS = 4096  # torch takes 1,000 and more
_MAX_SIZE = (1 << 63) - 1


Measured = tuple[float, float | None, float | None, float | None, int, int, int]
"""Norm, min, max, mean over the finite elements, counts of nan, inf and zero: the fields of Statistics."""


class TypeRow(NamedTuple):
    """A row of tensor_types; `length` is the bytes of such a value, None where the dtype has no decoder."""

    dtype: str
    device: str
    shape: tuple[int, ...]
    length: int | None

    @property
    def fields(self) -> dict[str, Any]:
        """What a `TensorValue` of this type has of it."""
        return {"shape": self.shape, "dtype": self.dtype, "device": self.device}


# -- packing -------------------------------------------------------------------------------------------------------


def pack_whole(type_id: int, data: bytes) -> bytes:
    """A value that is kept whole: `type_id` is its row in `tensor_types`, `data` its elements."""
    return WHOLE_HEAD.pack(WHOLE, type_id, len(data)) + data


def pack_same(order: int, slot: int) -> bytes:
    """A value that is byte-equal to `grad_inputs[slot]` of the call's execution `order`."""
    return SAME_HEAD.pack(SAME, order, slot)


def pack_measured(type_id: int, measured: Measured) -> bytes:
    """A value of which only the statistics are kept."""
    norm, least, most, mean, *counts = measured
    if least is None or most is None or mean is None:
        least = most = mean = math.nan
    return _MEASURED.pack(MEASURED, type_id, norm, least, most, mean, *counts)


def numbers_head(tag: int, type_id: int) -> bytes:
    """The bytes before the numbers of a MEASURED or BRIEF value, for packing many at once."""
    return _LENGTH.pack(tag, type_id)


def retyped(packed: bytes, type_id: int) -> bytes:
    """A MEASURED or BRIEF value of one type as one of another type."""
    return _LENGTH.pack(packed[0], type_id) + packed[_LENGTH.size :]


def is_whole(packed: bytes) -> bool:
    """Tell whether a packed value holds all elements, row-major."""
    return packed[0] == WHOLE


def norm_in(packed: bytes) -> float | None:
    """The norm of a summary, None of any other packed value."""
    if packed[0] == MEASURED:
        return float(_MEASURED.unpack(packed)[2])
    if packed[0] == BRIEF:
        return float(_BRIEF.unpack(packed)[2])
    if packed[0] == OTHER:
        (length,) = _U32.unpack_from(packed, 1)
        # A text of the header's cannot hold it: there a quotation mark has a backslash before it.
        _, found, rest = packed[5 : 5 + length].partition(b'"measured":[')
        return float(rest.split(b",", 1)[0]) if found else None
    return None


def pack_other(head: Mapping[str, Any], payload: bytes) -> bytes:
    """A value with a JSON header (see `_Head`)."""
    text = _to_json(head).encode()
    return _LENGTH.pack(OTHER, len(text)) + text + _U32.pack(len(payload)) + payload


def picture_packer(head: Mapping[str, Any]) -> Callable[[Measured, int, int, bytes, Sequence[tuple[int, int]]], bytes]:
    """What packs statistics and pictures of one kind of tensor as `pack_other` does, in half of its time.

    It takes the statistics, rows and columns of the block means, these as float32, and the histogram.
    """
    start = _to_json(head)[:-1] + ',"measured":'

    def pack(measured: Measured, rows: int, columns: int, means: bytes, histogram: Sequence[tuple[int, int]]) -> bytes:
        is_finite = measured[4] == measured[5] == 0 and math.isfinite(measured[0]) and None not in measured
        numbers = repr(measured)[1:-1] if is_finite else _to_json(measured)[1:-1]
        counts = ",".join([f"[{decade},{count}]" for decade, count in histogram])
        text = f'{start}[{numbers}],"thumbnail":[{rows},{columns},[{counts}]]}}'.encode()
        return b"".join((_LENGTH.pack(OTHER, len(text)), text, _U32.pack(len(means)), means))

    return pack


def pack_value(value: Gradient) -> bytes:
    """Any value, self-contained; the slow and general way."""
    if value is None:
        return UNDEFINED
    head: dict[str, Any] = {"shape": value.shape, "dtype": value.dtype, "device": value.device}
    payload = value.data or b""
    head["whole"] = value.data is not None
    for name in ("layout", "nnz", "batch", "unreadable"):
        if (item := getattr(value, name)) != getattr(_DEFAULT, name):
            head[name] = item
    if (m := value.measured) is not None:
        head["measured"] = (m.norm, m.min, m.max, m.mean, m.nan, m.inf, m.zero)
    if (small := value.thumbnail) is not None and value.data is None:
        head["thumbnail"] = (small.rows, small.columns, small.histogram)
        payload = struct.pack(f"<{len(small.means)}f", *map(_fitting, small.means))
    return pack_other(head, payload)


_DEFAULT = TensorValue((), "float32")


def _fitting(mean: float) -> float:
    """A block mean that float32 can hold: `struct` refuses a finite number beyond it."""
    return max(-_LARGEST_FLOAT32, min(_LARGEST_FLOAT32, mean)) if abs(mean) < float("inf") else mean


def pack_execution(
    grad_outputs: list[bytes],
    grad_inputs: list[bytes],
    arrived: list[bytes] | None = None,
    finished: bool = True,
    computed: list[bytes] | None = None,
) -> bytes:
    """One execution from packed values; flag 1 = `arrived` follows, 2 = it did not finish, 4 = `computed` follows."""
    flags = (arrived is not None) | (not finished) << 1 | (computed is not None) << 2
    head = EXECUTION.pack(len(grad_outputs), len(grad_inputs), flags)
    return b"".join((head, *grad_outputs, *grad_inputs, *(arrived or ()), *(computed or ())))


def pack_values(values: Iterable[bytes]) -> bytes:
    """A counted list of packed values."""
    parts = list(values)
    return _U32.pack(len(parts)) + b"".join(parts)


def columns_of(rows: Sequence[Sequence[int | None]]) -> list[array[int]]:
    """Rows of ints as int32 columns, None as -1."""
    return [array("i", [-1 if item is None else item for item in column]) for column in zip(*rows, strict=True)]


def pack_columns(columns: Iterable[array[int]]) -> bytes:
    """Compressed int32 columns, one after the other: repeated texts and lines nearly vanish."""
    numbers = array("i")
    for column in columns:
        numbers.extend(column)
    return squeeze(numbers)


def squeeze(numbers: array[int]) -> bytes:
    """Compressed little-endian numbers."""
    if sys.byteorder == "big":
        numbers = array(numbers.typecode, numbers)
        numbers.byteswap()
    return zlib.compress(numbers.tobytes(), 1)


# -- unpacking -----------------------------------------------------------------------------------------------------


def unpack_columns(blob: object, rows: int, columns: int) -> list[list[int]]:
    """Read what `pack_columns` wrote.

    Raises:
        DamagedRecordingError: it is not `columns` columns of `rows` numbers.
    """
    numbers = unsqueeze("i", blob, rows * columns)
    return [numbers[at * rows : (at + 1) * rows] for at in range(columns)]


def unsqueeze(code: str, blob: object, count: int) -> list[int]:
    """Read `count` numbers that `squeeze` wrote; a bomb is not inflated beyond them.

    Raises:
        DamagedRecordingError: it is cut off, or not that many numbers.
    """
    if not isinstance(blob, bytes) or not 0 <= count <= len(blob) * 1100:  # deflate shrinks at most 1,032 times
        raise damaged()
    numbers = array(code)
    size = count * numbers.itemsize
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(blob, size + 1)
    except zlib.error as error:
        raise damaged() from error
    if len(data) != size or not stream.eof:  # at its end zlib has compared its own checksum
        raise damaged()
    numbers.frombytes(data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tolist()


class Unpacker:
    """Reads packed values from one blob. `types` are the rows of tensor_types; a missing one raises there."""

    def __init__(self, blob: bytes, types: Mapping[int, TypeRow]) -> None:
        self._blob = blob
        self._end = len(blob)
        self._types = types
        self._at = 0

    def one(self) -> Gradient:
        """The only value in the blob."""
        value = self.value()
        self._finish()
        return value

    def values(self) -> tuple[Gradient, ...]:
        """A counted list written by `pack_values`."""
        (count,) = _U32.unpack(self._take(_U32.size))
        if count > self._end:
            raise damaged()
        found = tuple([self.value() for _ in range(count)])
        self._finish()
        return found

    def value_at(self, at: int) -> tuple[Gradient, int]:
        """The value at an offset, and where the next one is."""
        self._at = at
        return self.value(), self._at

    def value(self) -> Gradient:
        """The next value; SAME is none, it stands in executions only (`store.executions`).

        Raises:
            DamagedRecordingError: the blob is not in this form.
        """
        blob, at = self._blob, self._at
        tag = blob[at] if at < self._end else -1
        if tag == NONE:
            self._at = at + 1
            return None
        if tag == WHOLE and at + WHOLE_HEAD.size <= self._end:
            _, type_id, length = WHOLE_HEAD.unpack_from(blob, at)
            at += WHOLE_HEAD.size
            kind = self._types[type_id]
            self._at = at + length
            if self._at > self._end or (length != kind.length and kind.length is not None):
                raise damaged()
            return made(TensorValue, kind.fields | {"data": blob[at : self._at]})
        if tag == OTHER:
            return self._other()
        if tag == MEASURED and at + _MEASURED.size <= self._end:
            self._at = at + _MEASURED.size
            return self._measured(*_MEASURED.unpack_from(blob, at)[1:])
        if tag == BRIEF and at + _BRIEF.size <= self._end:
            self._at = at + _BRIEF.size
            *head, zero = _BRIEF.unpack_from(blob, at)[1:]
            return self._measured(*head, 0, 0, zero)
        raise damaged()

    def _measured(self, type_id: int, norm: float, *rest: Any) -> TensorValue:
        least, most, mean = (None if number != number else number for number in rest[:3])
        nan, inf, zero = rest[3:]
        numbers = {"norm": norm, "min": least, "max": most, "mean": mean, "nan": nan, "inf": inf, "zero": zero}
        return made(TensorValue, self._types[type_id].fields | {"measured": made(Statistics, numbers)})

    def _other(self) -> TensorValue:
        self._at += 1
        (length,) = _U32.unpack(self._take(_U32.size))
        head = self._take(length)
        (length,) = _U32.unpack(self._take(_U32.size))
        return _unusual_value(head, self._take(length))

    def _take(self, count: int) -> bytes:
        end = self._at + count
        if end > self._end:
            raise damaged()
        part = self._blob[self._at : end]
        self._at = end
        return part

    def _finish(self) -> None:
        if self._at != self._end:
            raise damaged()


def _unusual_value(text: bytes, payload: bytes) -> TensorValue:
    try:
        head = built(_Head, json.loads(text))
        measured = None if head.measured is None else Statistics(*head.measured)
    except (ValueError, RecursionError) as error:
        raise damaged() from error
    batch, shape = checked_shape(head.batch), checked_shape(head.shape)
    if head.whole and bytes_of(head.dtype, batch + shape) not in (None, len(payload)):
        raise damaged()
    thumbnail = None if head.thumbnail is None else _thumbnail(head.thumbnail, payload)
    data = payload if head.whole else None
    return TensorValue(
        shape, head.dtype, head.device, data, measured, thumbnail, head.layout, head.nnz, batch, head.unreadable
    )


@dataclass(frozen=True)
class _Head:
    """The JSON header of an OTHER value."""

    shape: tuple[int, ...]
    dtype: str
    device: str
    whole: bool
    layout: str = "strided"
    nnz: int | None = None
    batch: tuple[int, ...] = ()
    unreadable: str | None = None
    measured: tuple[float, float | None, float | None, float | None, int, int, int] | None = None
    thumbnail: tuple[int, int, tuple[tuple[int, int], ...]] | None = None


def _thumbnail(head: tuple[int, int, tuple[tuple[int, int], ...]], payload: bytes) -> Thumbnail:
    rows, columns, histogram = head
    if rows < 0 or columns < 0 or rows * columns * 4 != len(payload):
        raise damaged()
    return Thumbnail(rows, columns, struct.unpack(f"<{rows * columns}f", payload), histogram)


def checked_shape(sizes: object) -> tuple[int, ...]:
    """Return a shape that was read from a file.

    Raises:
        DamagedRecordingError: torch has no such shape.
    """
    if not isinstance(sizes, list | tuple) or len(sizes) > _MAX_DIMENSIONS:
        raise damaged()
    if not all(type(size) is int and 0 <= size <= _MAX_SIZE for size in sizes):
        raise damaged()
    return tuple(sizes)


def bytes_of(dtype: str, shape: tuple[int, ...]) -> int | None:
    """How many bytes the values of such a tensor take, None where the dtype has no decoder."""
    size = ITEM_SIZES.get(dtype)
    return None if size is None else size * math.prod(shape)


def damaged() -> DamagedRecordingError:
    """The error for a blob that is not in the form that its version promises."""
    return DamagedRecordingError(tr("A part of this recording is damaged. Record the script again to get it whole."))
