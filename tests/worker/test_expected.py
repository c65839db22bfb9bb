"""A graph like one met before is not asked for its outputs; what is recorded of them is still what torch says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from gradviz.worker.reading import dtype_name, sizes_of
from gradviz.worker.template import Templates
from gradviz.worker.walk import walk
from tests.worker.inspecting import Recorded, record


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many nodes were asked, each time."""
    seen: list[int] = []
    ask = Templates._all_outputs

    def all_outputs(self: Templates, nodes: Any, retained: Any) -> list[int]:
        seen.append(len(nodes))
        return ask(self, nodes, retained)

    monkeypatch.setattr(Templates, "_all_outputs", all_outputs)
    return seen


def outputs_of(root: torch.Tensor) -> list[list[tuple[Any, str]]]:
    """What torch says of the outputs of all nodes of a graph."""
    nodes = walk([root.grad_fn], None, 1000).nodes
    return [[(tuple(sizes_of(m.shape)), dtype_name(m.dtype)) for m in node._input_metadata] for node in nodes]


def recorded_outputs(found: Recorded, label: str) -> list[list[tuple[Any, str]]]:
    nodes = found.graph(label).nodes
    return [[(tuple(output.shape), output.dtype) for output in node.outputs] for node in nodes]


def test_a_graph_like_the_last_one_is_not_asked(asked: list[int], tmp_path: Path) -> None:
    w = torch.ones(3, requires_grad=True)
    with record(tmp_path) as found:
        for _ in range(3):
            root = (w * torch.ones(2, 3)).exp().sum()
            root.backward()
    assert len(asked) == 1
    assert [recorded_outputs(found, label) for label in "123"] == [outputs_of(root)] * 3


Step = Callable[[torch.Tensor, Any], torch.Tensor]
# Of each: what is given in turn, and the step. The same lines make the same nodes of other types and shapes.
STEPS: dict[str, tuple[list[Any], Step]] = {
    "as many elements in another shape": (
        [torch.ones(2, 3), torch.ones(3, 2), torch.ones(6), torch.ones(2, 3)],
        lambda w, x: (x * w.sum()).exp().sum(),
    ),
    "a large one in another shape": (
        [torch.ones(100, 300), torch.ones(300, 100), torch.ones(30_000, 1)],
        lambda w, x: (x * w.sum()).exp().mean(),
    ),
    "another term is broadcast": (
        [torch.ones(3), torch.ones(1), torch.ones(4, 3)],
        lambda w, x: ((x * w.sum()) + w * 2).sum(),
    ),
    "the other term was broadcast": (
        [1, 3, 1, 3],
        lambda w, n: ((w * 2)[:n].exp() + (w * 3)).sum(),
    ),
    "another type": (
        [torch.float32, torch.float64, torch.bfloat16],
        lambda w, dtype: (w.to(dtype) * 2).exp().sum().float(),
    ),
    "a view of another shape": (
        [(2, 15_000), (15_000, 2), (30_000, 1)],
        lambda w, shape: (w.sum() * torch.ones(30_000)).view(shape).t().exp().mean(),
    ),
    "more outputs of a node": (
        [4, 3, 5],
        lambda w, n: (lambda parts: (parts[0] * parts[1]).sum())((w.repeat(20)).split(60 // n)),
    ),
    "an output without a gradient": (
        [torch.ones(2, 3), torch.ones(3, 2)],
        lambda w, x: (x * w.sum()).max(dim=0)[0].exp().sum(),
    ),
    "a gradient that is undefined": (
        [torch.ones(2, 3), torch.ones(3, 2)],
        lambda w, x: _Undefined.apply((x * w.sum()).exp()).sum() + w.sum(),
    ),
    "an empty one": (
        [torch.ones(0, 3), torch.ones(0, 2), torch.ones(3, 0)],
        lambda w, x: (x * w.sum()).exp().sum(),
    ),
    "whole numbers of elements that are complex": (
        [torch.ones(4), torch.ones(2, dtype=torch.complex64), torch.ones(4)],
        lambda w, x: (x * w.sum()).abs().sum(),
    ),
}


class _Undefined(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return x.clone()

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> None:  # type: ignore[override]
        return None


@pytest.mark.parametrize("name", STEPS)
def test_other_types_and_shapes_are_noticed(name: str, tmp_path: Path) -> None:
    given, step = STEPS[name]
    w = torch.ones(3, requires_grad=True)
    wanted = []
    with record(tmp_path) as found:
        for one in given:
            root = step(w, one)
            wanted.append(outputs_of(root))
            root.backward()
    assert [recorded_outputs(found, call.label) for call in found.calls] == wanted


def test_what_does_not_run_is_asked(asked: list[int], tmp_path: Path) -> None:
    wanted = []
    w = torch.ones(3, requires_grad=True)
    with record(tmp_path, complete=False) as found:
        for shape in ((2, 3), (3, 2)):
            x = (torch.ones(shape) * w.sum()).exp()
            root = x.exp().sum()
            wanted.append(outputs_of(root))
            with torch.no_grad():
                x.add_(1)
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                root.backward()
    assert [recorded_outputs(found, label) for label in "12"] == wanted
    assert len(asked) == 2
