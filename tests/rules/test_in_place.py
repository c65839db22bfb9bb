"""The rule of a write into a slice: its words hold for what torch sends, and its numbers are torch's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from gradviz.model.numbers import brief
from gradviz.rules import SlotRule, rules_at
from gradviz.rules.values import array_of
from gradviz.store.reader import close_recording, open_recording
from gradviz.worker.in_process import record


def scaled(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """The slice is multiplied: its gradient is times 3."""
    y = x * 1
    y[1:].mul_(3.0)
    return y


def overwritten(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """The slice gets another value: nothing of x is left there."""
    y = x * 1
    y[0] = w.sum()
    return y


def into_zeros(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """The base needs no gradient: only what was written has a rule."""
    y = torch.zeros(4)
    y[0:2] = w
    return y


Case = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def rules_of(folder: Path, case: Case) -> tuple[list[SlotRule], torch.Tensor, torch.Tensor]:
    """The rules at the CopySlices node, x and w with their gradients; what the words say is checked on the way."""
    x = torch.tensor([1.0, 2.0, 5.0], requires_grad=True)
    w = torch.tensor([3.0, -4.0], requires_grad=True)
    with record(folder / "r.gradviz"):
        y = case(x, w)
        y.backward(torch.arange(1.0, 1.0 + y.numel()))
    recording = open_recording(str(folder / "r.gradviz"))
    graph, detail = recording.graph(1), recording.detail(1)
    node = next(node for node in graph.nodes if node.op == "CopySlices")
    run = next(run for run in detail.executions if run.node == node.id)
    rules = list(rules_at(graph, node, run))
    for rule in rules:
        arrived, left = array_of(run.grad_outputs[0]), array_of(run.grad_inputs[rule.slot])
        assert arrived is not None
        assert left is not None
        assert rule.numbers == f"{brief(run.grad_outputs[0])} → {brief(run.grad_inputs[rule.slot])}"
    close_recording(recording)
    return rules, x, w


def test_a_slice_that_is_scaled(tmp_path: Path) -> None:
    (rule,), x, _ = rules_of(tmp_path, scaled)
    assert rule.notation == "∂L/∂base = ∂L/∂y outside the slice, what the write hands on inside it"
    assert rule.where == ("2 of 3 elements differing, all of them inside the slice",)
    assert rule.numbers == "[1, 2, 3] → [1, 6, 9]"
    assert x.grad is not None
    assert x.grad.tolist() == [1, 6, 9]  # x * 1 hands on what came


def test_a_slice_that_is_overwritten(tmp_path: Path) -> None:
    (base, value), x, w = rules_of(tmp_path, overwritten)
    assert base.where == ("0 where they differ: what stood in the slice was overwritten (or multiplied by 0)",)
    assert base.numbers == "[1, 2, 3] → [0, 2, 3]"
    assert x.grad is not None
    assert w.grad is not None
    assert x.grad.tolist() == [0, 2, 3]
    assert value.notation == "∂L/∂input1 = what the write hands on of (∂L/∂y) inside its slice"
    assert value.numbers == "[1, 2, 3] → 1"
    assert w.grad.tolist() == [1, 1]


def test_a_base_without_gradient(tmp_path: Path) -> None:
    (rule,), _, w = rules_of(tmp_path, into_zeros)
    assert rule.notation == "∂L/∂w = what the write hands on of (∂L/∂y) inside its slice"
    assert rule.numbers == "[1, 2, 3, 4] → [1, 2]"
    assert w.grad is not None
    assert w.grad.tolist() == [1, 2]


@pytest.mark.parametrize("case", [scaled, overwritten])
def test_without_an_execution_there_are_words_and_no_numbers(tmp_path: Path, case: Case) -> None:
    with record(tmp_path / "r.gradviz"):
        case(torch.ones(3, requires_grad=True), torch.ones(2)).sum().backward()
    recording = open_recording(str(tmp_path / "r.gradviz"))
    graph = recording.graph(1)
    node = next(node for node in graph.nodes if node.op == "CopySlices")
    (rule, *_) = rules_at(graph, node)
    assert (rule.where, rule.numbers) == ((), None)
    close_recording(recording)
