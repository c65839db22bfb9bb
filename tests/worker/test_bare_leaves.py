"""Leaves without hooks of ours: of them the same is recorded, and where code of the user's may run they have hooks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from gradviz.store.codec import UNDEFINED
from gradviz.worker.bare_leaves import BareLeaves, Before
from gradviz.worker.leaf_hooks import LeafHooks
from gradviz.worker.walk import Walk
from tests.recorded import record_text
from tests.worker.inspecting import Recorded, record, values

# Graphs of small leaves, at random; the leaves of the first call have hooks in any case.
AT_RANDOM = """import random, sys, torch
random.seed({seed}), torch.manual_seed({seed})
leaves = [torch.randn(random.choice([(), (2,), (1, 2)]), requires_grad=True) for _ in range(12)]
{hook}
for step in range(4):
    for leaf in leaves[:: step + 1]:
        leaf.grad = None
    nodes = [leaves[0] * 1.5]
    for leaf in leaves:
        a, other = random.choice(nodes), random.choice(leaves)
        nodes.append(random.choice([
            lambda: a * leaf, lambda: leaf + a, lambda: (leaf * leaf).tanh() + a,
            lambda: torch.where(a > 0, a * leaf, leaf / 2), lambda: torch.addcmul(a, leaf, other),
            lambda: torch.cat([leaf.reshape(-1), a.reshape(-1)[:1], other.reshape(-1)])[:2],
        ])())
    ends = [node.sum() for node in nodes[-6:]]
    if step == 3:
        torch.autograd.backward([leaves[0], *ends], [torch.ones_like(leaves[0])] + [None] * len(ends))
    else:
        torch.stack(ends).prod().backward()
"""
HOOK = "leaves[0].exp().grad_fn.register_hook(lambda *_: None)"  # from then on all leaves have hooks of ours


@pytest.mark.parametrize("seed", (1, 2, 3))
def test_nothing_is_recorded_in_another_way(seed: int, tmp_path: Path) -> None:
    bare, hooked = (record_text(AT_RANDOM.format(seed=seed, hook=hook), tmp_path).info for hook in ("", HOOK))
    assert len(bare["calls"]) == 4
    assert _timeless(bare["calls"]) == _timeless(hooked["calls"])
    assert bare["nodes"] == hooked["nodes"]


def _timeless(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in call.items() if key != "seconds"} for call in calls]


@pytest.fixture
def at_leaves(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The hooks of leaves that run; there is no other thread, as far as we are told."""
    seen: list[int] = []
    starts = LeafHooks.starts
    monkeypatch.setattr(sys, "_current_frames", lambda: {0: None})
    monkeypatch.setattr(
        LeafHooks, "starts", lambda self, index, gradients: _noted(seen, starts, self, index, gradients)
    )
    return seen


def _noted(seen: list[int], starts: Callable[..., None], hooks: LeafHooks, index: int, gradients: Any) -> None:
    seen.append(index)
    starts(hooks, index, gradients)


def test_a_leaf_has_hooks_once(at_leaves: list[int], tmp_path: Path) -> None:
    w, large = torch.tensor(3.0, requires_grad=True), torch.ones(200, requires_grad=True)
    with record(tmp_path) as found:
        for _ in range(3):
            (w * 2 + (large * large).sum()).backward()
    assert len(at_leaves) == 2 + 1 + 1  # both, then only the large one
    before = [values(found.accumulation("w", label).before) for label in "123"]
    after = [values(found.accumulation("w", label).after) for label in "123"]
    assert (before, after) == ([None, 2.0, 4.0], [2.0, 4.0, 6.0])
    assert _names_run(found, "3") == _names_run(found, "1")


def _names_run(found: Recorded, label: str) -> list[str]:
    nodes = {node.id: node.op for node in found.graph(label).nodes}
    return [nodes[run.node] for run in found.detail(label).executions]


def _hook_on_a_tensor(w: torch.Tensor) -> None:
    (w * 2).register_hook(lambda grad: None)


def _hook_on_a_node(w: torch.Tensor) -> None:
    node: Any = w.exp().grad_fn
    node.register_prehook(lambda grads: None)


def _hook_on_the_leaf(w: torch.Tensor) -> None:
    w.register_post_accumulate_grad_hook(lambda leaf: None)


def _hooks_on_what_is_saved(w: torch.Tensor) -> None:
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor):
        w.exp()


def _shared_gradient(w: torch.Tensor) -> None:
    other = torch.ones((), requires_grad=True)
    w.grad = other.grad = torch.zeros(())
    _LEAVES.append(other)


def _unwritable(w: torch.Tensor) -> None:
    with torch.inference_mode():
        w.grad = torch.zeros(())


_LEAVES: list[torch.Tensor] = []


@pytest.mark.parametrize(
    "change", (_hook_on_a_tensor, _hook_on_a_node, _hook_on_the_leaf, _hooks_on_what_is_saved, _shared_gradient)
)
def test_where_somebody_may_look_it_has_hooks(
    change: Callable[[torch.Tensor], None], at_leaves: list[int], tmp_path: Path
) -> None:
    w = torch.tensor(3.0, requires_grad=True)
    _LEAVES[:] = [w]
    with record(tmp_path) as found:
        (w * 2).backward()
        (w * 2).backward()
        assert len(at_leaves) == 1
        change(w)
        sum(leaf * 2 for leaf in (*_LEAVES, *_LEAVES[1:])).backward()  # type: ignore[union-attr]
        assert len(at_leaves) == 1 + len(_LEAVES)
    # By hand: 2 a call; into the shared gradient, which was zero, go 2 of `w` and 4 of the other one.
    assert values(found.accumulation("w", "3").left) == 6.0


def test_a_gradient_that_cannot_be_written_to_is_where_the_call_failed(at_leaves: list[int], tmp_path: Path) -> None:
    w = torch.tensor(3.0, requires_grad=True)
    with record(tmp_path, complete=False) as found:
        (w * 2).backward()
        _unwritable(w)
        with pytest.raises(RuntimeError, match="inference"):
            (w * 2).backward()
    leaf = next(node.id for node in found.graph("2").nodes if node.kind == "leaf")
    assert found.calls[1].failed_node == leaf


def test_what_did_not_run_after_all_is_taken_out_again() -> None:
    """A Ctrl-C after a node's hook stops the engine before the leaf."""
    leaves = {1: torch.zeros((), requires_grad=True), 3: torch.zeros((), requires_grad=True)}
    leaves[1].grad = torch.ones(())
    bare = BareLeaves.__new__(BareLeaves)
    bare._walk, bare._before = Walk(leaves=leaves), {1: Before(UNDEFINED, 0, 0), 3: Before(UNDEFINED, 0, 0)}
    bare._take, bare._changed = lambda tensor: tensor, []
    ran: list[Any] = [(0, [], [], True), (1, None, [], True), (2, [], [], True), (3, None, [], True)]
    bare.settle(ran, failed=True)
    assert [index for index, *_ in ran] == [0, 1, 2]
    assert bare._changed == [(1, 1, leaves[1].grad)]
