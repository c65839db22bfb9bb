"""Forward values of nodes, where something in sight of the call holds them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from tests.worker.inspecting import record, values


def test_what_a_variable_holds_is_known(tmp_path: Path) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    box = SimpleNamespace()
    kept = []
    with record(tmp_path) as found:
        y = x + 3
        box.z = y - 1
        kept.append(box.z * 2)
        gone = kept[0] + 5
        gone = gone.sum()
        gone.backward()
    held = [(node.op, values(node.value)) for node in found.graph().nodes if node.kind == "operation"]
    assert held == [
        ("SumBackward0", 24.0),
        ("AddBackward0", None),  # `gone` names its sum now
        ("MulBackward0", [6.0, 8.0]),
        ("SubBackward0", [3.0, 4.0]),
        ("AddBackward0", [4.0, 5.0]),
    ]


def test_a_value_written_over_is_that_of_the_last_node(tmp_path: Path) -> None:
    """A view of what was written to gets another node by being asked for it: it is not asked."""
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    with record(tmp_path) as found:
        y = x * 1
        row = y[0]
        y.mul_(10)
        y.sum().backward()
    held = [(node.name, node.op, values(node.value)) for node in found.graph().nodes if node.kind == "operation"]
    assert held == [
        (None, "SumBackward0", 100.0),
        ("y", "MulBackward0", [[10.0, 20.0], [30.0, 40.0]]),
        ("y", "MulBackward0", None),
    ]
    assert row.tolist() == [10.0, 20.0]


def test_results_of_modules_in_sight_and_of_other_types(tmp_path: Path) -> None:
    """Also of several outputs: only the first one is a node's forward value."""
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    with record(tmp_path) as found:
        outputs = {"first": model[0](torch.ones(1, 2))}
        second = model[1](outputs["first"])
        low, high = second.double().unbind(1)
        (low + high).sum().backward()
    held = {node.op: values(node.value) for node in found.graph().nodes}
    assert held["AddmmBackward0"] == outputs["first"].tolist()
    assert held["TanhBackward0"] == second.tolist()
    assert held["UnbindBackward0"] == low.tolist()


class Seen(torch.Tensor):
    """Takes part in each operation, and computes as a tensor does."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return super().__torch_function__(func, types, args, kwargs or {})


def test_a_call_on_a_subclass_is_made_by_the_line_that_makes_it(tmp_path: Path) -> None:
    x = torch.ones(2).as_subclass(Seen).requires_grad_(True)
    with record(tmp_path) as found:
        y = x * 3
        y.sum().backward()
    (call,) = found.calls
    assert (
        call.place is not None and call.place.function == "test_a_call_on_a_subclass_is_made_by_the_line_that_makes_it"
    )
    assert {node.place.line for node in found.graph().nodes if node.place} == {call.place.line, call.place.line - 1}
    assert [values(node.value) for node in found.graph().nodes if node.name == "y"] == [[3.0, 3.0]]
