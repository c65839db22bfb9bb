"""Leaves without hooks of ours: of them the same is recorded, and where code of the user's may run they have hooks."""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.checkpoint import checkpoint

from gradviz.store.codec import UNDEFINED
from gradviz.worker import bare_leaves, calls
from gradviz.worker.bare_leaves import BareLeaves, Before
from gradviz.worker.leaf_hooks import LeafHooks
from gradviz.worker.walk import Walk
from tests.recorded import record_text
from tests.worker.inspecting import Recorded, record, values

# Graphs of small leaves, at random; the leaves of the first call have hooks in any case.
AT_RANDOM = """import random, sys, torch
random.seed({seed}), torch.manual_seed({seed})
leaves = [torch.randn(random.choice({shapes}), requires_grad=True) for _ in range(12)]
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
            lambda: torch.cat([leaf.reshape(-1), a.reshape(-1)[:1], other.reshape(-1)])[:2].repeat({last} // 2),
        ])())
    ends = [node.sum() for node in nodes[-6:]]
    if step == 3:
        torch.autograd.backward([leaves[0], *ends], [torch.ones_like(leaves[0])] + [None] * len(ends))
    else:
        torch.stack(ends).prod().backward()
"""
HOOK = "leaves[0].exp().grad_fn.register_hook(lambda *_: None)"  # from then on all leaves have hooks of ours


SMALL, LARGE = [(), (2,), (1, 2)], [(), (300,), (2, 300), (40, 1, 300)]  # the largest ones are not kept whole


@pytest.mark.parametrize("shapes", (SMALL, LARGE))
@pytest.mark.parametrize("seed", (1, 2, 3))
def test_nothing_is_recorded_in_another_way(seed: int, shapes: list[tuple[int, ...]], tmp_path: Path) -> None:
    script = AT_RANDOM.format(seed=seed, shapes=shapes, last=shapes[1][0], hook="{hook}")
    bare, hooked = (record_text(script.format(hook=hook), tmp_path).info for hook in ("", HOOK))
    assert len(bare["calls"]) == 4
    assert _timeless(bare["calls"]) == _timeless(hooked["calls"])
    assert bare["nodes"] == hooked["nodes"]


def _timeless(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in call.items() if key != "seconds"} for call in calls]


@pytest.fixture(autouse=True)
def no_handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The signal handlers of the test's runner are not there."""
    monkeypatch.setattr(bare_leaves, "_SIGNALS", (int(signal.SIGTERM),))


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
            (w * 2 + (large * 2).sum()).backward()
        large.grad = None
        (w * 2 + (large * 2).sum()).backward()
    assert len(at_leaves) == 2 + 1 + 1 + 0  # both, then only the large one, which has a `.grad` to add to, then none
    row = found.accumulation("large", "4")
    assert (values(row.before), values(row.after)) == (None, [2.0] * 200) and row.order is not None
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
    bare._only = [None, (0, 0), None, (2, 0)]
    bare._failed, sent = None, [b"what it sent"]
    ran: list[Any] = [(0, [], sent, True), (1, None, [], True), (2, [], sent, True), (3, None, [], True)]
    bare.settle(ran, KeyboardInterrupt())
    assert [index for index, *_ in ran] == [0, 1, 2]
    assert bare._failed is None
    assert bare._changed == [(1, 1, leaves[1].grad)]


W, B, C = range(3)


class Leaves:
    """Three leaves; `spoil` is what the user's code does to the second one inside the engine."""

    def __init__(self) -> None:
        self.all = [torch.tensor(3.0, requires_grad=True) for _ in range(3)]

    def spoil(self, *_: Any) -> None:
        self.all[B].grad = torch.tensor(99.0)

    def passing(self, tensor: torch.Tensor) -> torch.Tensor:
        self.spoil()
        return tensor

    def graph(self) -> torch.Tensor:
        w, b, c = self.all
        return (w * 2 + b * c).exp()


Run = Callable[[], None]


def _node_hook_before(leaves: Leaves) -> tuple[Any, Run]:
    end = leaves.graph()
    assert end.grad_fn is not None
    end.grad_fn.register_hook(leaves.spoil)
    return nullcontext(), end.backward


def _tensor_hook_before(leaves: Leaves) -> tuple[Any, Run]:
    end = leaves.graph()
    end.register_hook(leaves.spoil)
    return nullcontext(), (end * 2).backward


def _saved_through_hooks_before(leaves: Leaves) -> tuple[Any, Run]:
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, leaves.passing):
        return nullcontext(), leaves.graph().backward


def _checkpoint_before(leaves: Leaves) -> tuple[Any, Run]:
    def part(x: torch.Tensor) -> torch.Tensor:
        leaves.spoil()
        return x.exp() * leaves.all[C]

    return nullcontext(), checkpoint(part, leaves.all[W] * leaves.all[B], use_reentrant=False).backward


def _context_around(leaves: Leaves) -> tuple[Any, Run]:
    context = torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, leaves.passing)
    return context, lambda: leaves.graph().backward()  # type: ignore[no-untyped-call]


def _hook_on_the_node_of_a_leaf_before(leaves: Leaves) -> tuple[Any, Run]:
    node: Any = torch.autograd.graph.get_gradient_edge(leaves.all[W]).node
    node.register_hook(leaves.spoil)
    return nullcontext(node), lambda: leaves.graph().backward()  # type: ignore[no-untyped-call]


def _hook_after_another_leaf(leaves: Leaves) -> tuple[Any, Run]:
    def run() -> None:
        handle = leaves.all[W].register_post_accumulate_grad_hook(leaves.spoil)
        (leaves.all[W] * (leaves.all[B] * leaves.all[C])).backward()
        handle.remove()

    return nullcontext(), run


def _arrays_over_each_other(leaves: Leaves) -> tuple[Any, Run]:
    leaves.all[:] = [torch.ones(n, requires_grad=True) for n in (4, 2, 2)]

    def run() -> None:
        array = np.zeros(4, dtype=np.float32)
        for leaf, at in zip(leaves.all, (0, 1, 2), strict=True):
            leaf.grad = torch.from_numpy(array[at : at + len(leaf)])
        sum((leaf * 2).sum() for leaf in leaves.all).backward()  # type: ignore[union-attr]

    return nullcontext(), run


def _wrong_shape(leaves: Leaves) -> tuple[Any, Run]:
    def run() -> None:
        leaves.all[B].data = torch.ones(3)
        with pytest.raises(RuntimeError, match="shape"):
            (leaves.all[W] * 2 * leaves.all[B].sum()).backward()

    return nullcontext(), run


def _failing_after_nothing_came(leaves: Leaves) -> tuple[Any, Run]:
    nothing: Any = torch._C._functions.UndefinedGrad()  # type: ignore[attr-defined]

    def run() -> None:
        saved = leaves.all[B].exp()
        runs_last = saved * leaves.all[C]
        end = nothing(leaves.all[W]) + runs_last
        with torch.no_grad():
            saved.add_(1)
        with pytest.raises(RuntimeError, match="inplace"):
            end.backward()

    return nullcontext(), run


def _requires_none_any_more(leaves: Leaves) -> tuple[Any, Run]:
    def run() -> None:
        end = leaves.graph()
        leaves.all[B].requires_grad_(False)
        leaves.all[B].grad = None
        end.backward()  # type: ignore[no-untyped-call]
        assert leaves.all[B].grad is None

    return nullcontext(), run


@pytest.mark.parametrize(
    "prepare",
    (
        *(_node_hook_before, _tensor_hook_before, _saved_through_hooks_before, _checkpoint_before, _context_around),
        *(_hook_on_the_node_of_a_leaf_before, _hook_after_another_leaf, _arrays_over_each_other, _wrong_shape),
        *(_failing_after_nothing_came, _requires_none_any_more),
    ),
)
def test_what_happens_to_a_leaf_is_the_same_with_hooks(
    prepare: Callable[[Leaves], tuple[Any, Run]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "_current_frames", lambda: {0: None})
    bare = _three_calls(prepare, tmp_path)
    monkeypatch.setattr(calls, "bare_leaves", lambda *_: None)
    hooked = _three_calls(prepare, tmp_path)
    _same(bare, hooked, 3)


def _three_calls(prepare: Callable[[Leaves], tuple[Any, Run]], folder: Path) -> Recorded:
    leaves = Leaves()
    context, run = prepare(leaves)
    with context, record(folder, complete=False) as found:
        for _ in range(2):
            sum((leaf * 3).sum() for leaf in leaves.all).backward()  # type: ignore[union-attr]
        run()
    return found


def _same(one: Recorded, other: Recorded, count: int) -> None:
    assert [call.failed_node for call in one.calls] == [call.failed_node for call in other.calls]
    assert len(one.calls) == count
    for call in one.calls:
        first, second = one.detail(call.label), other.detail(call.label)
        assert first.accumulations == second.accumulations
        assert [(run.node, run.finished) for run in first.executions] == [
            (run.node, run.finished) for run in second.executions
        ]


def test_where_a_signal_may_run_code_it_has_hooks(at_leaves: list[int], tmp_path: Path) -> None:
    w = torch.tensor(3.0, requires_grad=True)
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        with record(tmp_path):
            for _ in range(3):
                (w * 2).backward()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert len(at_leaves) == 3


def test_of_a_graph_that_was_not_walked_to_its_end_it_has_hooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run() -> Recorded:
        w = torch.tensor(3.0, requires_grad=True)
        with record(tmp_path, complete=False, max_nodes=8) as found:
            (w * 1).backward()
            end = w * 2
            for _ in range(20):
                end = end * 1.01
            (end + w.exp()).backward()
        return found

    monkeypatch.setattr(sys, "_current_frames", lambda: {0: None})
    bare = run()
    monkeypatch.setattr(calls, "bare_leaves", lambda *_: None)
    _same(bare, run(), 2)


def test_leaves_that_have_no_number_of_bytes(tmp_path: Path) -> None:
    w = torch.eye(3).to_sparse().requires_grad_()
    with record(tmp_path) as found:
        for _ in range(2):
            torch.sparse.mm(w, torch.ones(3, 1)).sum().backward()  # type: ignore[no-untyped-call]
    assert [found.accumulation("w", label).order for label in "12"] == [2, 2]


def test_a_leaf_that_has_become_a_result_is_read_without_a_warning(tmp_path: Path) -> None:
    """An operation in place made it one: torch warns whoever asks such a tensor for its `.grad`."""
    w = torch.ones(3, requires_grad=True)
    with warnings.catch_warnings(record=True) as heard, record(tmp_path) as found:
        warnings.simplefilter("always")
        (w * 2).sum().backward()
        w.grad = None
        loss = (w * 3).sum()
        w.requires_grad_(False).mul_(torch.ones(3, requires_grad=True))
        with pytest.raises(RuntimeError, match="moved into the graph interior"):
            loss.backward()
    assert [str(one.message) for one in heard] == []
    row = found.accumulation("w", "2")
    assert (values(row.before), values(row.left)) == (None, None)


BECOME_A_RESULT = """import torch
w = torch.ones(3, requires_grad=True)
(w * 2).sum().backward()
loss = (w * 3).sum()
w.requires_grad_(False).mul_(torch.ones(3, requires_grad=True))
try:
    loss.backward()
except RuntimeError:
    assert w.grad.tolist() == [2.0] * 3
"""


def test_a_leaf_that_has_become_a_result_keeps_what_it_had(tmp_path: Path) -> None:
    info = record_text(BECOME_A_RESULT, tmp_path).info
    (row,) = info["calls"][1]["accumulations"]
    assert [row[part]["values"] for part in ("before", "after", "left")] == [[2.0] * 3] * 3
    assert row["order"] is None and info["events"] == []
