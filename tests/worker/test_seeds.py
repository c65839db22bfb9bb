"""Seeds from text, without a script: values against torch, refusals by their words."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

from gradviz.errors import SeedError
from gradviz.worker.seeds import Target, make

ROOT = torch.arange(6.0).reshape(2, 3)


def target(tensor: torch.Tensor = ROOT) -> Target:
    return Target(tuple(tensor.shape), tensor.dtype, tensor.device, tensor)


def seed(text: str, root: torch.Tensor = ROOT, **variables: Any) -> torch.Tensor:
    made = make(text, target(root), variables)
    assert made.fit.message is None, made.fit.message
    tensor: torch.Tensor = made.tensor
    return tensor


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ones", [[1, 1, 1], [1, 1, 1]]),
        ("zeros", [[0, 0, 0], [0, 0, 0]]),
        ("one_hot(1, 2)", [[0, 0, 0], [0, 0, 1]]),
        ("one_hot(4)", [[0, 0, 0], [0, 1, 0]]),
        ("row(1)", [[0, 0, 0], [1, 1, 1]]),
        ("column(0)", [[1, 0, 0], [1, 0, 0]]),
        ("itself", [[0, 1, 2], [3, 4, 5]]),
        ("root * 2", [[0, 2, 4], [6, 8, 10]]),
        ("2 * ones_like(out) - one_hot(0)", [[1, 2, 2], [2, 2, 2]]),
        ("[[1, 2, 3], [4, 5, 6]]", [[1, 2, 3], [4, 5, 6]]),
        ("G.T", [[1, 1, 1], [1, 1, 1]]),
        (" tensor([[1., 0, 0], [0, 0, -1]]) ", [[1, 0, 0], [0, 0, -1]]),
    ],
)
def test_words_numbers_and_expressions(text: str, expected: list[list[float]]) -> None:
    got = seed(text, out=ROOT, G=torch.ones(3, 2))
    assert got.tolist() == expected and got.dtype == torch.float32


def test_a_seed_is_a_copy() -> None:
    got = seed("G", G=ROOT)
    got.zero_()
    assert ROOT.sum() == 15
    assert not seed("itself", ROOT.clone().requires_grad_()).requires_grad


def test_random_seeds_are_fixed_by_their_number_and_leave_the_generator_alone() -> None:
    before = torch.get_rng_state()
    first, again, other = seed("normal(7)"), seed("normal(7)"), seed("normal(8)")
    assert torch.equal(first, again) and not torch.equal(first, other)
    assert set(seed("signs(3)").reshape(-1).tolist()) <= {1.0, -1.0}
    assert torch.equal(before, torch.get_rng_state())
    assert torch.equal(first, torch.randn(2, 3, generator=torch.Generator().manual_seed(7)))


def test_the_scripts_own_names_win() -> None:
    assert seed("ones", ones=ROOT).tolist() == ROOT.tolist()
    assert seed("ones(2, 3)", ones=torch.ones).tolist() == [[1, 1, 1], [1, 1, 1]]
    assert seed("sum([ROW, ROW])", ROW=ROOT).tolist() == (2 * ROOT).tolist()  # Python's sum, not torch's


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.complex64])
def test_a_seed_takes_the_roots_type(dtype: torch.dtype) -> None:
    root = torch.ones(2, dtype=dtype)
    assert seed("ones", root).dtype == seed("[1, 2]", root).dtype == seed("normal(1)", root).dtype == dtype


def test_a_scalar_root() -> None:
    root = torch.tensor(3.0)
    assert [seed(text, root).item() for text in ("ones", "0.5", "one_hot()", "itself")] == [1.0, 0.5, 1.0, 3.0]


def test_sparse_seeds_are_read_dense() -> None:
    assert seed("G.to_sparse()", G=ROOT).tolist() == ROOT.tolist()


@pytest.mark.parametrize(
    ("text", "given", "says", "nearest"),
    [
        ("torch.ones(2)", (2,), "2 dimensions; the seed has shape (2,), 1", "ones"),
        ("torch.ones(3)", (3,), "2 dimensions", "(torch.ones(3)).expand((2, 3))"),
        ("torch.ones(2, 4)", (2, 4), "dimension 1 is 3 there and 4 here", "ones"),
        ("torch.ones(3, 2)", (3, 2), "dimension 0 is 2 there and 3 here", "(torch.ones(3, 2)).T"),
        ("torch.ones(6)", (6,), "2 dimensions", "(torch.ones(6)).reshape((2, 3))"),
        ("1.0", (), "2 dimensions", "torch.as_tensor(1.0).expand((2, 3))"),
    ],
)
def test_a_shape_that_does_not_fit(text: str, given: tuple[int, ...], says: str, nearest: str) -> None:
    made = make(text, target(), {})
    assert made.tensor is None
    assert made.fit.given == given and made.fit.expected == (2, 3)
    assert made.fit.message is not None and says in made.fit.message
    assert made.fit.nearest == nearest


@pytest.mark.parametrize(
    "text",
    [
        *("torch.ones(2)", "torch.ones(3)", "torch.ones(3, 2)", "torch.ones(6)", "torch.tensor(1.0)"),
        *("2", " 0.1 ", "[1, 2, 3]", "v", "v + v", "[[1, 2], [3, 4], [5, 6]]", "array", "(1, 2, 3)"),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64])
def test_the_nearest_seed_fits(text: str, dtype: torch.dtype) -> None:
    """What is offered is a seed itself, of the same numbers: a list or a number has no `reshape` and no `expand`."""
    variables = {"v": [1.0, 2.0, 3.0], "array": numpy.arange(6.0)}
    root = ROOT.to(dtype)
    nearest = make(text, target(root), variables).fit.nearest
    assert nearest is not None
    got = seed(nearest, root, **variables)
    assert got.shape == (2, 3)
    given = torch.as_tensor(eval(text.strip(), {"torch": torch, **variables}), dtype=dtype).reshape(-1)
    assert nearest == "ones" or set(got.reshape(-1).tolist()) == set(given.tolist())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_real_part_of_a_list_is_offered_as_a_tensor(dtype: torch.dtype) -> None:
    root = torch.ones(2, dtype=dtype)
    nearest = make("[1j, 1 + 1j]", target(root), {}).fit.nearest
    assert nearest is not None and seed(nearest, root).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import os", "not a Python expression"),
        ("x", "raised NameError"),
        ("None", "gives a NoneType"),
        ("'a'", "gives a str"),
        ("[1, [2]]", "not a tensor of numbers"),
        ("one_hot(2, 0)", "raised IndexError"),
        ("one_hot(1, 0, 0)", "3 indices for 2 dimensions"),
        ("row", "wants an index"),
        ("ones(3)", "written without brackets"),
        ("(" * 300 + ")" * 300, "not a Python expression"),
    ],
)
def test_what_is_no_seed(text: str, says: str) -> None:
    with pytest.raises(SeedError, match=says):
        make(text, target(), {})


def test_an_error_whose_text_cannot_be_made() -> None:
    class NastyError(Exception):
        def __str__(self) -> str:
            raise ValueError

    def nasty() -> None:
        raise NastyError

    with pytest.raises(SeedError, match=r"NastyError: <ValueError in __str__>"):
        make("nasty()", target(), {"nasty": nasty})
