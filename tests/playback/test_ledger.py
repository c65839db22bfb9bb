"""`.grad` as a sum of parts, in the hard cases: hooks, unknown beginnings, settling."""

from __future__ import annotations

import math
import struct

from gradviz.model import Accumulation, TensorValue
from gradviz.playback.ledger import Track, adds_up, same
from gradviz.playback.sums import total
from tests.recordings import accumulation, tensor


def entry(before: float | None, incoming: float | None, after: float | None) -> Accumulation:
    values = [None if x is None else tensor(x) for x in (before, incoming, after)]
    return accumulation("w", 0, *values, 0)


def test_what_was_there_before_is_a_part_without_a_call() -> None:
    track = Track("w", 0)
    track.add(3.0, 1, entry(10.0, 2.0, 12.0))
    assert [(part.calls, part.value.item()) for part in track.at(4.0).parts if part.value] == [((), 10.0), ((1,), 2.0)]
    assert [part.calls for part in track.at(1.0).parts] == [()]


def test_a_sum_that_a_hook_changed_is_not_told_as_a_sum() -> None:
    track = Track("w", 0)
    track.add(1.0, 1, entry(1.0, 2.0, 50.0))
    state = track.at(2.0)
    assert state.change == "assigned" and [part.calls for part in state.parts] == [()]
    assert state.total is not None and state.total.item() == 50.0


def test_grad_that_a_hook_clears_is_none_after() -> None:
    track = Track("w", 0)
    track.add(1.0, 1, entry(None, 2.0, None))
    assert track.at(2.0).total is None and track.at(2.0).parts == ()


def test_what_is_left_at_the_end_of_the_call_stands() -> None:
    track = Track("w", 0)
    track.add(1.0, 1, entry(None, 2.0, 2.0))
    track.settle(5.0, None)
    assert track.at(4.9).total is not None
    assert track.at(6.0).total is None


def test_zeroed_grad_leaves_no_part_of_earlier_calls() -> None:
    track = Track("w", 0)
    track.add(1.0, 1, entry(None, 2.0, 2.0))
    track.add(5.0, 2, entry(0.0, 3.0, 3.0))
    assert [part.calls for part in track.at(6.0).parts] == [(2,)]


def test_an_undefined_gradient_changes_nothing() -> None:
    track = Track("w", 0)
    track.add(1.0, 1, entry(4.0, None, 4.0))
    assert track.at(2.0).change == "none"


def test_rounding_of_bfloat16_is_a_sum_and_nan_is_one_too() -> None:
    half = [TensorValue((), "bfloat16", data=struct.pack("<f", x)[2:]) for x in (100.0, 1.23, 101.5)]
    assert adds_up(Accumulation("w", 0, 0, half[0], half[1], half[2], half[2]))
    assert adds_up(entry(1.0, math.nan, math.nan))
    assert not adds_up(entry(1.0, 1.0, math.nan))
    assert not adds_up(entry(1.0, 2.0, 4.0))


def test_equality_of_values_as_far_as_known() -> None:
    assert same(tensor([1.0, 2.0]), tensor([1.0, 2.0]))
    assert not same(tensor([1.0, 2.0]), tensor([2.0, 1.0]))
    assert not same(tensor([1.0, 2.0]), tensor([[1.0, 2.0]]))
    assert not same(None, tensor(0.0)) and same(None, None)


def test_sums_of_terms() -> None:
    value, known = total([tensor([1.0, 2.0]), None, tensor([10.0, 20.0])])
    assert known and value is not None and value.nested() == [11.0, 22.0]
    value, known = total([tensor([1 + 2j], "complex64"), tensor([3 - 1j], "complex64")])
    assert known and value is not None and value.nested() == [4 + 1j]
    assert total([None, None]) == (None, True)
    large = TensorValue((100_000,), "float32")
    assert total([large]) == (large, True)
    assert total([large, large]) == (None, False)
