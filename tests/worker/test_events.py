"""What changes `.grad` and parameters between calls, in the right place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from tests.worker.inspecting import record, values


def test_a_training_loop(tmp_path: Path) -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.5)
    with record(tmp_path) as found:
        for _ in range(2):
            optimizer.zero_grad()
            (w * w).sum().backward()
            optimizer.step()
    assert found.events() == [
        ("optimizer_step", 2, ("w",)),
        ("grad_cleared", 2, ("w",)),
        ("optimizer_step", None, ("w",)),
    ]
    step, cleared, _ = found.recording.events
    # w - 0.5 * 2 w = 0
    assert step.norms == ((pytest.approx(5**0.5), 0.0),) and cleared.detail == "to None"
    assert step.place is not None and cleared.place is not None
    assert (step.place.file, step.place.line - cleared.place.line) == (__file__, 2)


def test_cleared_to_zero_and_by_hand(tmp_path: Path) -> None:
    model = nn.Linear(2, 1)
    with record(tmp_path) as found:
        model(torch.ones(2)).sum().backward()
        model.zero_grad(set_to_none=False)
        model(torch.ones(2)).sum().backward()
        model.weight.grad = None
        model.bias.grad.zero_()
        model(torch.ones(2)).sum().backward()
        model.bias.grad = torch.tensor([9.0])
    assert found.events() == [
        ("grad_cleared", 2, ("model.bias", "model.weight")),  # in the order in which the call met them
        ("grad_cleared", 3, ("model.bias",)),
        ("grad_cleared", 3, ("model.weight",)),
        ("grad_assigned", None, ("model.bias",)),
    ]
    zero, by_hand, none, assigned = found.recording.events
    assert [zero.detail, none.detail, by_hand.detail, assigned.detail] == ["to zero", "to None", "to zero", None]
    assert assigned.norms == ((1.0, 9.0),)
    assert values(found.accumulation("model.bias", "2").before) == [0.0]


@pytest.mark.parametrize("size", [3, 300])
def test_clipping_and_writes_by_hand(tmp_path: Path, size: int) -> None:
    """Also of tensors that are too large to be compared whole, and by ways that no version counter sees."""
    w = torch.full((size,), 2.0, requires_grad=True)
    with record(tmp_path) as found:
        (w * w).sum().backward()
        nn.utils.clip_grad_norm_([w], 1.0)
        (w * w).sum().backward()
        w.grad.data.mul_(0.5)
        w.data -= 1.0
        (w * w).sum().backward()
        with torch.no_grad():
            w.add_(1.0)
    assert found.events() == [
        ("grad_assigned", 2, ("w",)),
        ("grad_assigned", 3, ("w",)),
        ("value_changed", 3, ("w",)),
        ("value_changed", None, ("w",)),
    ]
    norm = size**0.5
    clipped, halved, moved, _ = found.recording.events
    assert clipped.norms[0] == pytest.approx((4 * norm, 1.0), rel=1e-4)
    assert halved.norms[0][1] == pytest.approx(halved.norms[0][0] / 2)  # type: ignore[operator]
    assert moved.norms[0] == pytest.approx((2 * norm, norm))


def test_nothing_is_made_up(tmp_path: Path) -> None:
    """Calls change `.grad` themselves, and nested calls, and hooks: no event tells of it."""
    w, other = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with record(tmp_path, complete=False) as found:
        for _ in range(3):
            h = w * 2
            h.register_hook(lambda g: g * 2)
            (h + other).sum().backward()
            torch.autograd.grad((w * 3).sum(), w)
            other.grad.norm()
    assert found.events() == []


def test_a_changing_row_of_a_large_table(tmp_path: Path) -> None:
    table = nn.Embedding(10_000, 4)
    with record(tmp_path) as found:
        table(torch.tensor([1])).sum().backward()
        with torch.no_grad():
            table.weight[777] += 5.0
        table(torch.tensor([1])).sum().backward()
    assert found.events() == [("value_changed", 2, ("table.weight",))]


def test_scaled_gradients(tmp_path: Path) -> None:
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    scaler = torch.amp.GradScaler("cpu")
    with record(tmp_path) as found:
        scaler.scale((w * w).sum() / 2).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_([w], 1.0)
        scaler.step(optimizer)
        scaler.update()
    kinds = [kind for kind, _, _ in found.events()]
    assert kinds == ["grad_assigned", "grad_assigned", "optimizer_step"]
    unscaled, clipped, step = found.recording.events
    assert [unscaled.detail, clipped.detail] == ["unscale_", "clip_grad_norm_"]
    assert unscaled.norms[0] == pytest.approx((5 * 65536.0, 5.0), rel=1e-4)
    assert clipped.norms[0] == pytest.approx((5.0, 1.0), rel=1e-4)
    assert step.norms[0] == pytest.approx((5.0, 4.9), rel=1e-4)


def test_leaves_that_are_gone_cost_nothing(tmp_path: Path) -> None:
    with record(tmp_path, max_values=2) as found:
        for _ in range(20):
            x = torch.randn(50, requires_grad=True)
            (x * 2).sum().backward()
            del x
    assert found.events() == []
    leaves = {
        node.id for call in found.calls for node in found.recording.graph(call.number).nodes if node.kind == "leaf"
    }
    assert len(leaves) == 20  # a tensor at the address of an earlier one is another leaf


def test_tensors_may_be_swapped(tmp_path: Path) -> None:
    """`torch.utils.swap_tensors` refuses tensors that anyone holds weakly."""
    model: Any = nn.Linear(2, 2)
    before = torch.__future__.get_swap_module_params_on_conversion()
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        with record(tmp_path) as found:
            model(torch.ones(2)).sum().backward()
            model.double()
            model(torch.ones(2).double()).sum().backward()
            model.load_state_dict({name: tensor.clone() for name, tensor in model.state_dict().items()})
    finally:
        torch.__future__.set_swap_module_params_on_conversion(before)
    weights = [node.id for label in "12" for node in found.graph(label).nodes if node.name == "model.weight"]
    assert len(weights) == 2 and weights[0] == weights[1]
