"""Numbers as text: four digits, and nothing that is not zero looks like zero."""

from __future__ import annotations

import math

import pytest

from gradviz.model import TensorValue
from gradviz.model.numbers import brief, number_text, shape_text
from tests.recordings import tensor


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (12.0, "12"),
        (0.0, "0"),
        (-0.0, "0"),
        (1 / 3, "0.3333"),
        (1.2e-07, "1.2e-07"),
        (123456.0, "123456"),
        (1234567.0, "1.235e+06"),
        (12345.678, "1.235e+04"),
        (-19.5, "-19.5"),
        (math.nan, "nan"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (1 + 2j, "1+2j"),
        (0.5 - 1.25j, "0.5-1.25j"),
        (True, "True"),
        (7, "7"),
        (10**30, "1e+30"),
        (5e-324, "4.941e-324"),
    ],
)
def test_a_number(number: complex, text: str) -> None:
    assert number_text(number) == text


def test_what_is_not_zero_never_reads_zero() -> None:
    for exponent in range(-300, 300, 7):
        text = number_text(1.2345678 * 10.0**exponent)
        assert float(text) == pytest.approx(1.2345678 * 10.0**exponent, rel=5e-4)


def test_shapes_and_small_tensors() -> None:
    assert [shape_text(shape) for shape in ((), (3,), (2, 3))] == ["()", "(3,)", "(2, 3)"]
    assert brief(None) == "None"
    assert brief(tensor([[10.0, 100.0]])) == "[[10, 100]]"
    assert brief(tensor(4.0)) == "4"
    assert brief(tensor([3.0] * 16)) == "‖12‖ (16,)"
    assert brief(TensorValue((0, 3), "float32", data=b"")) == "[] (0, 3)"
    assert brief(TensorValue((5, 5), "quint8", unreadable="quantised")) == "? (5, 5)"
