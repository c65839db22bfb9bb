"""Seeds as texts: what is pasted and typed reads back as the same numbers."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from gradviz.app.seed_texts import first_seed, literal, one_hot, pasted, shaped
from gradviz.model import Root, TensorValue


@pytest.mark.parametrize(
    ("text", "shape", "expected"),
    [
        ("1\t2\n3\t4\n", (2, 2), [[1, 2], [3, 4]]),
        ("1, 2, 3", (3,), [1, 2, 3]),
        ("1 2 3 4", (2, 2), [[1, 2], [3, 4]]),
        ("[[1, 2], [3, 4]]", (4,), [1, 2, 3, 4]),
        ("-1.5e3", (), -1500.0),
        ("[1, 2]", (3,), [1, 2]),  # the check tells what differs
        ("1 2\n3 4", (5,), [[1, 2], [3, 4]]),
        ("[1, 2,]", (2,), [1, 2]),
    ],
)
def test_pasted_numbers(text: str, shape: tuple[int, ...], expected: Any) -> None:
    found = pasted(text, shape)
    assert found is not None
    assert eval(found) == expected


@pytest.mark.parametrize("text", ["", "hello", "[]", "['a']"])
def test_no_numbers(text: str) -> None:
    assert pasted(text, (2,)) is None


def test_a_printed_tensor_is_read_back() -> None:
    """As torch prints it, in fixed and in scientific notation."""
    for tensor in (torch.tensor([[1.0, 0.5], [2e-3, 4.0]]), torch.tensor([[1e-9, 1.0], [1e9, -1.0]])):
        text = pasted(repr(tensor), (2, 2))
        assert text is not None
        torch.testing.assert_close(torch.tensor(eval(text)), tensor, rtol=1e-4, atol=1e-4)


def test_literals_are_read_back() -> None:
    numbers = [0.0, 1.0, -2.5, 1 / 3, 1e20, 1e-300, float("inf"), float("-inf")]
    assert eval(literal(numbers)) == numbers
    assert math.isnan(eval(literal(float("nan"))))
    assert literal([[1.0, 0.5]]) == "[[1, 0.5]]"


def test_shapes() -> None:
    assert shaped(list(range(8)), (2, 2, 2)) == torch.arange(8).reshape(2, 2, 2).tolist()
    assert one_hot((1, 2)) == "one_hot(1, 2)"
    assert one_hot(()) == "ones"


def root(shape: tuple[int, ...], seed: TensorValue | None, given: bool) -> Root:
    return Root("tensor", "y", 0, 0, shape, "float32", seed, given)


def test_the_first_seed_is_the_scripts_own_where_it_fits() -> None:
    given = TensorValue((2,), "float32", data=torch.tensor([1.0, 0.5]).numpy().tobytes())
    assert first_seed(root((2,), given, True)) == "[1, 0.5]"
    assert first_seed(root((2,), given, False)) == "ones"  # implicit
    assert first_seed(root((3,), given, True)) == "ones"  # it is why the call failed
    assert first_seed(root((2,), None, False)) == "ones"
    assert first_seed(None) == "ones"
