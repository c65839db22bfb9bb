"""Packed values: what goes in comes out, and what is not what was packed is refused."""

from __future__ import annotations

import json
import math
import struct
import zlib
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradviz.errors import DamagedRecordingError
from gradviz.model import Execution, Statistics, TensorValue, Thumbnail
from gradviz.store import codec, runs
from gradviz.store.executions import read_executions
from gradviz.store.interned import Interned
from gradviz.store.rows import AccumulationRow
from tests.store import samples

ROWS = {1: codec.TypeRow("float32", "cpu", (2,), 8), 2: codec.TypeRow("qint8", "cpu", (3,), None)}
TYPES = Interned(lambda: ROWS, live=False)

numbers = st.floats(allow_nan=False)
counts = st.integers(0, 1 << 70)
shapes = st.lists(st.integers(0, 3), max_size=3).map(tuple)


@st.composite
def values(draw: st.DrawFn) -> TensorValue:
    shape, batch = draw(shapes), draw(shapes)
    data = None
    if draw(st.booleans()):
        data = draw(st.binary(min_size=math.prod(batch + shape), max_size=math.prod(batch + shape)))
    maybe = st.none() | numbers
    measured = draw(st.none() | st.builds(Statistics, numbers, maybe, maybe, maybe, counts, counts, counts))
    thumbnail = None
    if data is None and draw(st.booleans()):
        rows, columns = draw(st.integers(0, 3)), draw(st.integers(0, 3))
        means = draw(st.lists(st.floats(width=32, allow_nan=False), min_size=rows * columns, max_size=rows * columns))
        pairs = draw(st.lists(st.tuples(st.integers(-400, 400), counts), max_size=3))
        thumbnail = Thumbnail(rows, columns, tuple(means), tuple(pairs))
    layout, nnz = draw(st.sampled_from([("strided", None), ("sparse_csr", 3)]))
    why = draw(st.none() | st.text())
    return TensorValue(shape, "uint8", draw(st.text()), data, measured, thumbnail, layout, nnz, batch, why)


def unpacked(blob: bytes) -> object:
    return codec.Unpacker(blob, TYPES).one()


@given(values())
def test_any_value_comes_back(value: TensorValue) -> None:
    assert unpacked(codec.pack_value(value)) == value


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(
    st.floats(allow_nan=False),
    st.none() | st.tuples(finite, finite, finite),
    st.lists(st.integers(0, 1 << 40), min_size=3, max_size=3),
)
def test_statistics_alone_come_back(norm: float, rest: tuple[float, float, float] | None, found: list[int]) -> None:
    low, high, mean = rest or (None, None, None)
    measured = (norm, low, high, mean, found[0], found[1], found[2])
    packed = codec.pack_measured(1, measured)
    value = unpacked(packed)
    assert value == TensorValue((2,), "float32", "cpu", measured=Statistics(*measured))
    for cut in range(len(packed)):
        with pytest.raises(DamagedRecordingError):
            unpacked(packed[:cut])


def test_undefined_comes_back() -> None:
    assert unpacked(codec.pack_value(None)) is None


any_number = st.floats()
small_counts = st.integers(0, (1 << 64) - 1)


@given(any_number, st.none() | st.tuples(numbers, numbers, numbers), st.tuples(*[small_counts] * 3))
def test_statistics_come_back(
    norm: float, finite: tuple[float, float, float] | None, found: tuple[int, int, int]
) -> None:
    extremes = finite or (None, None, None)
    value = unpacked(codec.pack_measured(1, (norm, *extremes, *found)))
    assert isinstance(value, TensorValue) and value.measured is not None
    assert (value.shape, value.dtype, value.data) == ((2,), "float32", None)
    assert repr(value.measured) == repr(Statistics(norm, *extremes, *found))


floats32 = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(finite, floats32, floats32, floats32, st.integers(0, (1 << 32) - 1))
def test_brief_statistics_come_back(norm: float, low: float, high: float, mean: float, zero: int) -> None:
    data = struct.pack("<d3fI", norm, low, high, mean, zero)
    assert len(data) == codec.BRIEF_BYTES
    packed = codec.numbers_head(codec.BRIEF, 1) + data
    measured = Statistics(norm, low, high, mean, 0, 0, zero)
    assert unpacked(packed) == TensorValue((2,), "float32", "cpu", measured=measured)
    assert codec.norm_in(packed) == norm
    assert codec.retyped(packed, 2) == codec.numbers_head(codec.BRIEF, 2) + data
    for cut in range(len(packed)):
        with pytest.raises(DamagedRecordingError):
            unpacked(packed[:cut])


@given(st.floats(), st.text())
def test_the_norm_of_a_picture_is_found_in_its_header(norm: float, text: str) -> None:
    value = TensorValue((2,), text, '"measured":[7,', measured=Statistics(norm, None, None, None, 1, 0, 0))
    assert repr(codec.norm_in(codec.pack_value(value))) == repr(norm)
    assert codec.norm_in(codec.pack_value(TensorValue((2,), text, '"measured":[7,'))) is None


@given(
    st.floats(), finite, st.integers(0, 1 << 40), st.integers(0, 1), st.lists(st.tuples(st.integers(), st.integers()))
)
def test_a_picture_is_packed_as_any_other_value(
    norm: float, mean: float, zero: int, nan: int, histogram: list[tuple[int, int]]
) -> None:
    head = {"shape": (5, 70), "dtype": "float32", "device": "cpu", "whole": False}
    measured = (norm, -2.5, None, mean, nan, 0, zero)
    blocks = struct.pack("<6f", *range(6))
    whole = {**head, "measured": measured, "thumbnail": (2, 3, histogram)}
    assert codec.picture_packer(head)(measured, 2, 3, blocks, histogram) == codec.pack_other(whole, blocks)


@given(st.lists(values(), max_size=4))
def test_lists_come_back(found: list[TensorValue]) -> None:
    blob = codec.pack_values(map(codec.pack_value, found))
    assert list(codec.Unpacker(blob, TYPES).values()) == found


def test_a_mean_beyond_float32_is_kept_at_its_end() -> None:
    means = (1e300, -1e300, math.inf, -math.inf)
    found = unpacked(codec.pack_value(TensorValue((9,), "float64", thumbnail=Thumbnail(2, 2, means))))
    assert isinstance(found, TensorValue) and found.thumbnail is not None
    largest = float.fromhex("0x1.fffffep+127")
    assert found.thumbnail.means == (largest, -largest, math.inf, -math.inf)


def test_executions_come_back() -> None:
    whole = codec.pack_whole(1, struct.pack("<2f", 1.5, -2.0))
    first = codec.pack_execution([codec.UNDEFINED], [codec.UNDEFINED, codec.pack_value(samples.COMPLEX)])
    second = codec.pack_execution(
        [codec.pack_same(3, 1), codec.UNDEFINED], [whole, codec.pack_whole(2, b"abcde")], [whole, whole], False
    )
    ((before, blob),) = runs.execution_runs([runs.execution(3, 4, first), runs.execution(9, 8, second)], 0)
    found: dict[int, Execution] = {}
    read_executions(blob, TYPES, found)
    value = TensorValue((2,), "float32", "cpu", struct.pack("<2f", 1.5, -2.0))
    odd = TensorValue((3,), "qint8", "cpu", b"abcde")
    assert before == 0
    assert list(found.values()) == [
        Execution(3, 4, (None,), (None, samples.COMPLEX)),
        Execution(9, 8, (samples.COMPLEX, None), (value, odd), (value, value), False),
    ]


@given(st.lists(st.tuples(*[st.sampled_from([b"\x00", b"\x09abc", b"\x09xyz"])] * 4), max_size=5))
def test_values_of_grad_that_repeat_come_back(found: list[tuple[bytes, bytes, bytes, bytes]]) -> None:
    rows = [AccumulationRow(False, "w", 7, 0, at or None, *values) for at, values in enumerate(found)]
    blobs = [blob for _, blob in runs.accumulation_runs(rows)]
    back = [entry for blob in blobs for entry in runs.accumulations_in(blob)]
    assert [tuple(entry[-1]) for entry in back] == found
    assert [entry[:5] for entry in back] == [(False, 7, 0, at or None, "w") for at in range(len(found))]
    same = runs.accumulation_runs([AccumulationRow(False, None, 7, 0, 1, *[bytes(1000)] * 4)])
    assert len(same[0][1]) < 1100


@given(st.lists(st.integers(1, 70_000), max_size=9))
def test_runs_are_short_and_whole(sizes: list[int]) -> None:
    rest = [bytes([at]) * size for at, size in enumerate(sizes)]
    for first, blob in runs.execution_runs(rest, 4):
        assert first == 4 + len(sizes) - len(rest)
        taken: list[bytes] = []
        while sum(map(len, taken)) < len(blob):
            taken.append(rest.pop(0))
        assert b"".join(taken) == blob and (len(blob) <= runs.RUN_BYTES or len(taken) == 1)
    assert not rest


def test_what_was_sent_on_is_the_same_entry_in_one_step() -> None:
    whole = codec.pack_whole(1, bytes(8))
    for left in ([], [whole], [codec.UNDEFINED, whole]):
        data = codec.pack_execution([codec.pack_same(3, 1)], left)
        assert runs.sent_on(7, 1 << 40, 3, 1, len(left), b"".join(left)) == runs.execution(7, 1 << 40, data)
        for got in ([], [whole], [codec.pack_same(3, 1), whole]):
            data = codec.pack_execution(got, left)
            assert runs.simple(7, 1 << 40, got, len(left), b"".join(left)) == runs.execution(7, 1 << 40, data)


packed_none = codec.pack_execution([codec.UNDEFINED], [])


@pytest.mark.parametrize(
    "rows",
    [
        [(1, 0, codec.pack_execution([codec.pack_same(0, 0)], []))],  # of an execution that is not there
        [(0, 0, packed_none), (1, 0, codec.pack_execution([codec.pack_same(0, 0)], []))],  # of a slot that is not
        [(1, 0, packed_none), (1, 0, packed_none)],
        [(0, 0, packed_none[:-1])],
        [(0, 0, packed_none + codec.UNDEFINED)],
        [(0, 0, codec.pack_execution([codec.pack_whole(77, bytes(8))], []))],
        [(0, 0, codec.pack_execution([codec.pack_whole(1, bytes(7))], []))],
        [(0, 0, codec.pack_execution([b"\x09"], []))],
        # One value takes what belongs to the next execution, and the other way round.
        [(0, 0, codec.pack_execution([], [])[:-1]), (1, 0, codec.pack_execution([], []) + b"\x00")],
    ],
)
def test_what_is_no_execution_is_refused(rows: list[tuple[int, int, bytes]]) -> None:
    ((_, blob),) = runs.execution_runs([runs.execution(*row) for row in rows], 0)
    with pytest.raises(DamagedRecordingError):
        read_executions(blob, TYPES, {})


def test_a_run_that_is_cut_anywhere_is_refused() -> None:
    whole = codec.pack_whole(1, bytes(8))
    measured = codec.pack_measured(1, (1.0, 1.0, 1.0, 1.0, 0, 0, 0))
    data = codec.pack_execution([whole], [measured, codec.UNDEFINED])
    ((_, blob),) = runs.execution_runs([runs.execution(0, 0, data)], 0)
    for end in range(1, len(blob)):
        with pytest.raises(DamagedRecordingError):
            read_executions(blob[:end], TYPES, {})


whole = codec.pack_whole(1, bytes(8))
head = {"shape": [2], "dtype": "float32", "device": "cpu", "whole": True}


def other(payload: bytes = bytes(8), text: bytes | None = None, **changes: object) -> bytes:
    """An OTHER value whose header has these changes."""
    text = json.dumps({**head, **changes}).encode() if text is None else text
    return struct.pack("<BI", codec.OTHER, len(text)) + text + struct.pack("<I", len(payload)) + payload


@pytest.mark.parametrize(
    "blob",
    [
        b"",
        b"\x09",
        whole[:-1],
        whole[:5],
        whole + b"\x00",
        codec.pack_whole(1, bytes(7)),
        codec.pack_whole(77, bytes(8)),
        codec.pack_same(0, 0),
        struct.pack("<BII", codec.WHOLE, 1, 0xFFFFFFFF) + bytes(8),
        other(bytes(7)),
        other(shape=[3]),
        other(shape=[-2]),
        other(shape=[2.0]),
        other(shape=[True, 2]),
        other(shape="2"),
        other(shape=[1] * 5000),
        other(shape=[1 << 64, 0], payload=b""),
        other(batch=[2]),
        other(dtype=1),
        other(whole=1),
        other(nnz="3"),
        other(unreadable=[]),
        other(measured=[0, 0, 0, 0, 0, 0]),
        other(measured=["0", 0, 0, 0, 0, 0, 0]),
        other(measured=[None, 0, 0, 0, 0, 0, 0]),
        other(measured={"norm": 0}),
        other(whole=False, thumbnail=[1 << 40, 1 << 40, []]),
        other(whole=False, thumbnail=[-1, -2, []]),
        other(whole=False, thumbnail=[1, 2, [[1]]]),
        other(whole=False, thumbnail=[1, 2, [[1, "2"]]]),
        codec.pack_measured(1, (1.0, 1.0, 1.0, 1.0, 0, 0, 0))[:-1],
        codec.pack_measured(9, (1.0, 1.0, 1.0, 1.0, 0, 0, 0)),
        other(text=b"{"),
        other(text=b"[]"),
        other(text=b"\xff\xfe"),
        other(text=b"[" * 100_000),
        other(text=b'{"shape": [' + b"9" * 10_000 + b"]}"),
        other(text=b'{"shape": [1e999]}'),
    ],
)
def test_what_is_no_value_is_refused(blob: bytes) -> None:
    with pytest.raises(DamagedRecordingError):
        unpacked(blob)


def test_a_count_beyond_the_blob_is_refused() -> None:
    for blob in (struct.pack("<I", 1 << 31), struct.pack("<I", 2) + codec.UNDEFINED):
        with pytest.raises(DamagedRecordingError):
            codec.Unpacker(blob, TYPES).values()


@given(st.lists(st.lists(st.none() | st.integers(0, 2**31 - 1), min_size=3, max_size=3), max_size=30))
def test_columns_come_back(rows: list[list[int | None]]) -> None:
    columns = codec.unpack_columns(codec.pack_columns(codec.columns_of(rows)), len(rows), 3)
    assert [list(row) for row in zip(*columns, strict=True)] == [[-1 if x is None else x for x in row] for row in rows]


def test_a_bomb_is_not_inflated() -> None:
    bomb = zlib.compress(bytes(1 << 26), 9)  # 64 MiB in 64 KiB
    for count in (0, 3, 1 << 23):
        with pytest.raises(DamagedRecordingError):
            codec.unsqueeze("q", bomb, count - 1)
    assert len(codec.unsqueeze("q", bomb, 1 << 23)) == 1 << 23


@pytest.mark.parametrize("count", [-1, 2, 4, 1 << 62])
def test_another_count_of_numbers_is_refused(count: int) -> None:
    with pytest.raises(DamagedRecordingError):
        codec.unsqueeze("q", codec.squeeze(array("q", [1, 2, 3])), count)


def test_a_cut_or_changed_column_is_refused() -> None:
    packed = codec.squeeze(array("q", range(100)))
    for changed in (packed[:-1], packed[:-4], packed[:-1] + bytes([packed[-1] ^ 1]), b"", b"text"):
        with pytest.raises(DamagedRecordingError):
            codec.unsqueeze("q", changed, 100)
