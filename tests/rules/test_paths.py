"""The sum behind a gradient: by hand for scalars, and against torch with all other ways detached."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path as File

import pytest
import torch

from gradviz.model import Recording
from gradviz.rules.paths import contributions, sum_behind
from gradviz.store.reader import close_recording, open_recording
from gradviz.worker.in_process import record
from tests import recordings


def behind(recording: Recording, name: str, element: int = 0, call: int = 1):  # type: ignore[no-untyped-def]
    graph, detail = recording.graph(call), recording.detail(call)
    node = next(node.id for node in graph.nodes if node.name == name)
    return sum_behind(recording.call(call), graph, detail, node, element), graph


def test_two_ways_of_scalars() -> None:
    """c = 2 y + 5 y, y = 3 x: x.grad = 1 * 2 * 3 + 1 * 5 * 3 = 21."""
    found, graph = behind(recordings.fan_in(), "x")
    assert [path.amount for path in found.paths] == [15.0, 6.0]
    assert (found.total, found.recorded, found.listed) == (21.0, 21.0, True)
    names = [[graph.by_id[node].name for node in path.nodes] for path in found.paths]
    assert names == [["c", "b", "y", "x"], ["c", "a", "y", "x"]]
    assert [step.factor for step in found.paths[0].steps] == [1.0, 5.0, 3.0]
    assert [step.value for step in found.paths[1].steps] == [1.0, 2.0, 6.0]


def test_a_tensor_used_twice_by_one_node_has_two_ways() -> None:
    """y = x * x: 3 + 3, and torch.autograd.grad runs no node for the leaf."""
    found, _ = behind(recordings.returned(), "x")
    assert [path.amount for path in found.paths] == [3.0, 3.0]
    assert (found.total, found.recorded) == (6.0, 6.0)


def test_the_leaf_that_is_the_root() -> None:
    found, _ = behind(recordings.leaf_root(), "x", 3)
    assert [(path.amount, path.steps) for path in found.paths] == [(2.0, ())]


def test_edges_of_a_fan_in() -> None:
    recording = recordings.fan_in()
    found = contributions(recording.graph(1), recording.detail(1), 3)
    assert sorted(norm for _, norm in found if norm is not None) == [2.0, 5.0]


def recorded(folder: File, run: Callable[[], object]) -> Recording:
    path = folder / "run.gradviz"
    with record(path):
        run()
    return open_recording(str(path))


@pytest.mark.parametrize("element", [0, 2])
def test_vectors_against_torch_with_the_other_ways_detached(tmp_path: File, element: int) -> None:
    torch.manual_seed(0)
    weight = torch.randn(4, 3, dtype=torch.float64)
    x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    kept: list[torch.Tensor] = []

    def forward(x: torch.Tensor, on: int | None = None) -> torch.Tensor:
        h = torch.tanh(weight @ x)
        uses = [h if on in (None, k) else h.detach() for k in range(3)]
        x2 = x if on in (None, 3) else x.detach()
        return (uses[0] * 2).sum() + (uses[1] * torch.arange(4.0)).sum() + uses[2].exp().sum() + (x2 * 0.5).sum()

    def run() -> None:
        kept.append(forward(x))
        kept[0].backward()

    recording = recorded(tmp_path, run)
    graph = recording.graph(1)
    leaf = next(node.id for node in graph.nodes if node.kind == "leaf" and node.outputs[0].shape == (3,))
    found = sum_behind(recording.call(1), graph, recording.detail(1), leaf, element)
    expected = [torch.autograd.grad(forward(x, on), x)[0][element].item() for on in range(4)]
    assert sorted(path.amount for path in found.paths) == pytest.approx(sorted(expected), rel=1e-9)
    assert x.grad is not None
    assert found.total == pytest.approx(x.grad[element].item(), rel=1e-9)
    assert found.recorded == pytest.approx(x.grad[element].item(), rel=1e-12)
    close_recording(recording)


class Opaque(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):  # type: ignore[no-untyped-def]
        return x * 3

    @staticmethod
    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        return grad * 3


def test_where_a_part_cannot_be_followed_the_way_begins_there(tmp_path: File) -> None:
    """Two ways meet at a custom Function of a vector, whose rule is not known: from there on they are one."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    def run() -> None:
        y = Opaque.apply(x)
        ((y * 2).sum() + (y * 5).sum() + x.sum()).backward()

    recording = recorded(tmp_path, run)
    graph = recording.graph(1)
    leaf = next(node.id for node in graph.nodes if node.kind == "leaf")
    found = sum_behind(recording.call(1), graph, recording.detail(1), leaf)
    assert [(path.amount, path.root is None) for path in found.paths] == [(21.0, True), (1.0, False)]
    assert graph.by_id[found.paths[0].start].op == "OpaqueBackward"
    assert found.total == found.recorded == 22.0
    close_recording(recording)


def test_more_ways_than_can_be_listed(tmp_path: File) -> None:
    x = torch.tensor(1.0, requires_grad=True)

    def run() -> None:
        y = x
        for _ in range(16):
            y = y * 0.5 + y * 0.5
        y.backward()

    recording = recorded(tmp_path, run)
    leaf = next(node.id for node in recording.graph(1).nodes if node.kind == "leaf")
    found = sum_behind(recording.call(1), recording.graph(1), recording.detail(1), leaf)
    assert not found.listed and len(found.paths) <= 64
    assert found.recorded == 1.0 and found.total == pytest.approx(1.0, rel=1e-12)
    close_recording(recording)


def leaf_of(recording: Recording) -> int:
    return next(node.id for node in recording.graph(1).nodes if node.kind == "leaf")


def test_of_many_terms_the_largest_are_listed_and_all_are_counted(tmp_path: File) -> None:
    x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    recording = recorded(tmp_path, lambda: sum(x * k for k in range(1, 101)).backward())  # type: ignore[union-attr]
    found = sum_behind(recording.call(1), recording.graph(1), recording.detail(1), leaf_of(recording))
    assert [path.amount for path in found.paths] == [float(k) for k in range(100, 36, -1)]
    assert (found.unlisted, found.total, found.recorded) == (36, 5050.0, 5050.0)
    close_recording(recording)


def test_a_hook_is_part_of_the_whole_and_never_of_a_part(tmp_path: File) -> None:
    """y = 3 x with a hook that clips to 1: two ways come to y (2 and 5), one goes on, and brings 1 * 3."""
    x = torch.tensor(2.0, requires_grad=True)

    def run() -> None:
        y = x * 3
        y.register_hook(lambda grad: grad.clamp(max=1.0))
        (y * 2 + y * 5).backward()

    recording = recorded(tmp_path, run)
    found = sum_behind(recording.call(1), recording.graph(1), recording.detail(1), leaf_of(recording))
    assert [(path.amount, path.root) for path in found.paths] == [(3.0, None)]
    assert recording.graph(1).by_id[found.paths[0].start].name == "y"
    close_recording(recording)


def test_nan_and_what_was_not_kept(tmp_path: File) -> None:
    x = torch.zeros(2, requires_grad=True)
    large = torch.ones(100_000, requires_grad=True)

    def run() -> None:
        (x.sqrt() * 0).sum().backward()
        (large * 2 + large * 3).sum().backward()

    recording = recorded(tmp_path, run)
    first = sum_behind(recording.call(1), recording.graph(1), recording.detail(1), leaf_of(recording))
    assert [path.root for path in first.paths] == [0] and first.total != first.total
    graph = recording.graph(2)
    second = sum_behind(recording.call(2), graph, recording.detail(2), graph.nodes[-1].id)
    assert (second.paths, second.recorded) == ((), None)
    close_recording(recording)


def test_a_search_that_nobody_waits_for_ends() -> None:
    class EnoughError(Exception):
        pass

    def check() -> None:
        raise EnoughError

    recording = recordings.fan_in()
    with pytest.raises(EnoughError):
        sum_behind(recording.call(1), recording.graph(1), recording.detail(1), 4, check=check)
