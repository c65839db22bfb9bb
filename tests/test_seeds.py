"""The four documents that started the project: each of their questions is answered with the right numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.recorded import CASES, Recorded, record

SEEDS = CASES / "seeds"


@pytest.fixture
def recorded(request: pytest.FixtureRequest, tmp_path: Path) -> Recorded:
    name: str = request.param
    return record(SEEDS / f"{name}.py", tmp_path)


def of(name: str) -> Any:
    return pytest.mark.parametrize("recorded", [name], indirect=True)


@of("two_calls")
def test_two_calls_add_up(recorded: Recorded) -> None:
    assert recorded.exit_code == 0
    assert [recorded.left(1, "t1"), recorded.left(1, "t2")] == [4.0, 1.0]
    assert [recorded.left(2, "t1"), recorded.left(2, "t2"), recorded.left(2, "t3")] == [24.0, 6.0, 1.0]
    entry = next(entry for entry in recorded.calls[1]["accumulations"] if entry["name"] == "t1")
    assert [entry[part]["values"] for part in ("before", "incoming", "after")] == [4.0, 20.0, 24.0]


@of("two_calls")
def test_both_calls_are_on_one_picture(recorded: Recorded) -> None:
    first, second = recorded.calls
    assert set(first["nodes"]) < set(second["nodes"])
    assert [(node["name"], node["line"]) for node in recorded.info["nodes"] if node["kind"] == "operation"] == [
        ("t2", 5),
        ("t3", 10),
    ]


@of("leaf_is_root")
def test_a_leaf_that_is_the_root_receives_the_seed(recorded: Recorded) -> None:
    (call,) = recorded.calls
    root = recorded.node(call["roots"][0]["node"])
    assert (root["kind"], root["name"]) == ("leaf", "x")
    assert call["roots"][0]["seed"]["values"] == [[2.0, 2.0], [2.0, 2.0]]
    assert call["roots"][0]["seed_given"] is True
    assert recorded.left(1, "x") == [[2.0, 2.0], [2.0, 2.0]]


@pytest.mark.parametrize(
    ("recorded", "value"), [("identity_ones", 1.0), ("cubic", 25.0), ("square", 4.0)], indirect=["recorded"]
)
def test_powers_of_two(recorded: Recorded, value: float) -> None:
    assert recorded.left(1, "x") == [[value, value], [value, value]]


@pytest.mark.parametrize(
    ("recorded", "message", "seed_shape"),
    [
        ("matmul_no_seed", "grad can be implicitly created only for scalar outputs", None),
        ("matmul_wrong_seed", "Mismatch in shape: grad_output[0] has a shape of torch.Size([1, 2])", [1, 2]),
    ],
    indirect=["recorded"],
)
def test_a_wrong_seed_is_a_call_with_its_graph(recorded: Recorded, message: str, seed_shape: list[int] | None) -> None:
    assert recorded.exit_code == 1
    (call,) = recorded.calls
    root = call["roots"][0]
    assert call["engine"] is False
    assert call["error"]["type"] == "RuntimeError"
    assert message in call["error"]["message"]
    assert (root["name"], root["shape"]) == ("Z", [1, 3])
    assert (None if root["seed"] is None else root["seed"]["shape"]) == seed_shape
    assert {recorded.node(number)["name"] for number in call["nodes"]} == {"Z", "A", "B"}
    assert recorded.info["outcome"]["kind"] == "raised"


@of("matmul_one_hot")
def test_one_hot_through_a_matrix_product(recorded: Recorded) -> None:
    assert recorded.calls[0]["roots"][0]["seed"]["values"] == [[1.0, 0.0, 0.0]]
    assert recorded.left(1, "A") == [[10.0, 100.0]]
    assert recorded.left(1, "B") == [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]


@of("hadamard_one_hot")
def test_one_hot_through_a_broadcast(recorded: Recorded) -> None:
    assert recorded.left(1, "A1") == [[100.0, 0.0, 0.0]]
    assert recorded.left(1, "B1") == [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]


@of("mm_one_hot")
def test_one_hot_through_mm(recorded: Recorded) -> None:
    assert recorded.left(1, "A11") == [[0.0, 0.0], [10.0, 100.0]]
    assert recorded.left(1, "B11") == [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]


@of("mse_grad")
def test_autograd_grad_returns_and_does_not_accumulate(recorded: Recorded) -> None:
    (call,) = recorded.calls
    assert call["api"] == "torch.autograd.grad"
    assert call["roots"][0]["value"]["values"] == 42.25
    assert [value["values"] for value in call["returned"]] == [[[-19.5, -19.5], [-19.5, -19.5]]]
    assert (call["accumulates"], call["accumulations"]) == (False, [])


@of("grad_no_seed")
def test_a_caught_error_is_still_a_call(recorded: Recorded) -> None:
    (call,) = recorded.calls
    assert recorded.exit_code == 0
    assert "scalar outputs" in call["error"]["message"]
    assert recorded.info["outcome"]["kind"] == "finished"


@of("grad_ones")
def test_grad_with_ones(recorded: Recorded) -> None:
    returned = [call["returned"][0]["values"] for call in recorded.calls]
    assert returned == [[[6.0, 6.0], [6.0, 6.0]], [[1.0, 1.0], [1.0, 1.0]]]


@of("sum_of_jacobian")
def test_ones_give_the_sum_over_the_rows_of_the_jacobian(recorded: Recorded) -> None:
    summed, *rest = [call for call in recorded.calls if call["engine"]]
    ours = [call for call in rest if call["group"] is None]
    rows = [call for call in rest if call["group"] is not None]
    assert summed["returned"][0]["shape"] == [10, 3]
    assert {call["group"] for call in rows} == {"torch.autograd.functional.jacobian"}
    assert (len(rows), len(ours)) == (20, 2)
    # Row (b, o) of the Jacobian is zero outside block b; the sum over o is what ones gave, up to float64 rounding.
    for batch in range(10):
        blocks = [rows[2 * batch + output]["returned"][0]["values"] for output in range(2)]
        assert all(value == 0.0 for block in blocks for at, row in enumerate(block) if at != batch for value in row)
        sums = [a + b for a, b in zip(blocks[0][batch], blocks[1][batch], strict=True)]
        assert sums == pytest.approx(summed["returned"][0]["values"][batch], abs=1e-14)


@of("eigen_symeig")
def test_symeig_stops_the_script_before_any_call(recorded: Recorded) -> None:
    outcome = recorded.info["outcome"]
    assert recorded.calls == []
    assert (outcome["kind"], outcome["type"], outcome["line"]) == ("raised", "RuntimeError", 9)
    assert "torch.linalg.eigh" in outcome["message"]


@of("eigen_seed_shape")
def test_the_eigenvector_script_stops_at_its_seed(recorded: Recorded) -> None:
    (call,) = recorded.calls
    assert "Mismatch in shape" in call["error"]["message"]
    root = call["roots"][0]
    assert (root["name"], root["shape"], root["seed"]["shape"]) == ("out", [], [164])


@of("eigen_right")
def test_the_eigenvector_script_without_a_seed(recorded: Recorded) -> None:
    assert recorded.exit_code == 0
    leaf = next(entry for entry in recorded.calls[0]["accumulations"] if entry["name"] == "z")
    assert (leaf["left"]["shape"], leaf["left"]["dtype"]) == ([164], "float64")
    assert recorded.stdout == "torch.Size([164])\n"
