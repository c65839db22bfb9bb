"""What is written by hand between calls is an event that leads to the very line."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from tests.worker.inspecting import Recorded, record

GRADIENTS = [
    ("w.grad = None", "grad_cleared"),
    ("del w.grad", "grad_cleared"),
    ("w.grad.zero_()", "grad_cleared"),
    ("w.grad *= 0", "grad_cleared"),
    ("w.grad.data.zero_()", "grad_cleared"),
    ("w.grad.detach().zero_()", "grad_cleared"),
    ("w.grad, old = None, w.grad", "grad_cleared"),
    ("ws[0].grad = None", "grad_cleared"),
    ("ws[i].grad.zero_()", "grad_cleared"),
    ("named['w'].grad = None", "grad_cleared"),
    ("box.inner.ws[i].grad = None", "grad_cleared"),
    ("[p.grad.zero_() for p in ws]", "grad_cleared"),
    ("for p in ws: p.grad = None", "grad_cleared"),
    ("w.grad = torch.tensor([5.0, 6.0])", "grad_assigned"),
    ("w.grad.mul_(0.5)", "grad_assigned"),
    ("w.grad.data.clamp_(-0.1, 0.1)", "grad_assigned"),
    ("w.grad.data = torch.tensor([8.0, 9.0])", "grad_assigned"),
    ("w.grad[0] = 100.0", "grad_assigned"),
    ("w.grad.data[0] = 100.0", "grad_assigned"),
    ("w.grad.copy_(torch.ones(2))", "grad_assigned"),
    ("torch.nn.utils.clip_grad_value_(ws, 0.1)", "grad_assigned"),
]
VALUES = [
    "w.data -= 0.1 * w.grad",
    "w.data.add_(1.0)",
    "w.data = w.data * 2",
    "w.data[0] = 9.0",
    "ws[i].data.sub_(1.0)",
    "torch.nn.init.zeros_(w)",
    "with torch.no_grad(): w -= w.grad + 1",
    "with torch.no_grad(): w.add_(1.0)",
    "with torch.no_grad(): w[0] = 3.5",
    "with torch.no_grad(): ws[i] -= 1.5",
    "box.inner.w.data.mul_(3.0)",
]


def run(lines: list[str], folder: Path) -> Recorded:
    """Each line runs after a backward of its own; line 4 of the file is the first one."""
    script = ["def run(w, ws, box, named, torch):", "    i = 0", "    (w * w).sum().backward()"]
    for line in lines:
        script += [f"    {line}", "    (w * w).sum().backward()"]
    path = folder / "by_hand.py"
    path.write_text("\n".join(script) + "\n")
    space: dict[str, object] = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    box = SimpleNamespace(inner=SimpleNamespace(w=w, ws=[w]))
    with record(folder) as found:
        space["run"](w, [w], box, {"w": w}, torch)  # type: ignore[operator]
    return found


def test_gradients(tmp_path: Path) -> None:
    events = run([line for line, _ in GRADIENTS], tmp_path).recording.events
    told = [(event.place and event.place.line, event.kind, event.before_call) for event in events]
    assert told == [(4 + 2 * at, kind, at + 2) for at, (_, kind) in enumerate(GRADIENTS)]


def test_values(tmp_path: Path) -> None:
    events = run(VALUES, tmp_path).recording.events
    told = [(event.place and event.place.line, event.kind, event.before_call) for event in events]
    assert told == [(4 + 2 * at, "value_changed", at + 2) for at in range(len(VALUES))]


def test_the_innermost_line_of_the_users(tmp_path: Path) -> None:
    """A function that clears is the place, not its caller; lines that write elsewhere are not."""
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    other = torch.ones(2, requires_grad=True)

    def clear(tensor: torch.Tensor) -> None:
        tensor.grad = None  # here

    with record(tmp_path) as found:
        (w * other).sum().backward()
        clear(w)
        other.grad.add_(w.grad if w.grad is not None else 1.0)  # type: ignore[union-attr] # there
        (w * other).sum().backward()
        w.grad.mul_(2)
        setattr(w, "grad", torch.full((2,), 7.0))  # noqa: B010 - a way that no line tells of
        (w * other).sum().backward()
    text = Path(__file__).read_text().splitlines()
    here, there = (
        next(at for at, line in enumerate(text, 1) if line.endswith(f"# {word}")) for word in ("here", "there")
    )
    places = [(event.names, event.place.line if event.place else None) for event in found.recording.events]
    assert places == [(("w",), here), (("other",), there), (("w",), None)]


@pytest.mark.parametrize("size", [2, 300])
def test_functions_of_torch_that_change_many(size: int, tmp_path: Path) -> None:
    """Clipping, unscaling and loading are told by name, with the calling line, before and after."""
    model = nn.Linear(size, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    state = {name: torch.zeros_like(tensor) for name, tensor in model.state_dict().items()}
    with record(tmp_path) as found:
        scaler.scale(model(torch.ones(size)).sum()).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.zero_grad()
        model.load_state_dict(state)
    told = [(event.kind, event.detail, len(event.names)) for event in found.recording.events]
    assert told == [
        ("grad_assigned", "unscale_", 2),
        ("grad_assigned", "clip_grad_norm_", 2),
        ("grad_cleared", "to None", 2),
        ("value_changed", "load_state_dict", 2),
    ]
    places = [event.place for event in found.recording.events]
    first = places[0].line if places[0] else 0
    assert [place and (place.file, place.line - first) for place in places] == [(__file__, at) for at in range(4)]
    unscaled, clipped, _, _ = found.recording.events
    norms = dict(zip(unscaled.names, unscaled.norms, strict=True))
    assert norms["model.bias"] == (1024.0, 1.0)
    assert norms["model.weight"] == pytest.approx((1024.0 * size**0.5, size**0.5))
    after = dict(zip(clipped.names, clipped.norms, strict=True))
    assert after["model.weight"] == pytest.approx((size**0.5, 0.5 * (size / (size + 1)) ** 0.5), rel=1e-4)
