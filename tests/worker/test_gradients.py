"""What moves in a call: custom functions, hooks, None, in-place writes, nested runs, threads. Torch is the oracle."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import autograd, nn
from torch.autograd.function import once_differentiable
from torch.utils.checkpoint import checkpoint

from tests.worker.inspecting import Recorded, record, tensor_of, values


def with_grad(function: Callable[[], None]) -> None:
    """Run `function` in a hook, where torch records nothing by itself."""
    with torch.enable_grad():
        function()


def run_of(found: Recorded, op: str, label: str = "1") -> Any:
    ids = {node.id for node in found.graph(label).nodes if node.op == op}
    return next(run for run in found.detail(label).executions if run.node in ids)


def test_parallel_edges_and_fan_in(tmp_path: Path) -> None:
    x = torch.tensor([3.0], requires_grad=True)
    with record(tmp_path) as found:
        (x * x).backward()
        y = x * 3
        y.retain_grad()
        (2 * y + 5 * y).backward()
    assert [(edge.slot, edge.target) for edge in found.graph().edges] == [(0, 1), (1, 1)]
    assert values(found.accumulation("x").after) == [6.0]
    assert values(found.retained("y", "2").after) == [7.0] and values(found.accumulation("x", "2").after) == [27.0]
    node = found.detail("2").retained[0].node
    assert [values(run.grad_outputs[0]) for run in found.detail("2").executions if run.node == node] == [[7.0]]


def test_hooks_of_the_user_show_what_arrived(tmp_path: Path) -> None:
    x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
    x.register_hook(lambda g: g * 2)
    with record(tmp_path) as found:
        h = x * 3
        h.retain_grad()
        h.register_hook(lambda g: g.clamp(-1, 1))
        (h * h).sum().backward()
    assert torch.equal(h.grad, torch.tensor([1.0, -1.0, 1.0])) and torch.equal(x.grad, torch.tensor([6.0, -6.0, 6.0]))
    clipped = next(run for run in found.detail().executions if run.node == found.retained("h").node)
    assert clipped.arrived is not None
    assert values(clipped.arrived[0]) == [6.0, -12.0, 18.0] and values(clipped.grad_outputs[0]) == [1.0, -1.0, 1.0]
    leaf = next(run for run in found.detail().executions if run.node == found.accumulation("x").node)
    assert leaf.arrived is not None and values(leaf.arrived[0]) == [3.0, -3.0, 3.0]
    assert values(found.accumulation("x").incoming) == [6.0, -6.0, 6.0] == values(found.accumulation("x").after)


def test_hooks_on_nodes(tmp_path: Path) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with record(tmp_path) as found:
        w = x * 3
        w.grad_fn.register_prehook(lambda go: (go[0] * 10,))
        w.grad_fn.register_hook(lambda gi, go: tuple(None if g is None else g + 1 for g in gi))
        w.sum().backward()
    assert torch.equal(x.grad, torch.tensor([31.0, 31.0]))
    run = run_of(found, "MulBackward0")
    assert run.arrived is not None and values(run.arrived[0]) == [1.0, 1.0]
    assert values(run.grad_outputs[0]) == [10.0, 10.0] and values(run.grad_inputs[0]) == [31.0, 31.0]
    assert run.computed is not None and values(run.computed[0]) == [30.0, 30.0] and run.computed[1] is None


def test_hooks_on_nodes_that_only_look(tmp_path: Path) -> None:
    seen: list[Any] = []
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with record(tmp_path) as found:
        w = x * 3
        w.grad_fn.register_hook(lambda gi, go: seen.append(gi[0].tolist()))
        w.sum().backward()
    run = run_of(found, "MulBackward0")
    assert seen == [[3.0, 3.0]] and run.computed is None and values(run.grad_inputs[0]) == [3.0, 3.0]


def test_a_module_s_backward_hook_that_changes(tmp_path: Path) -> None:
    """`register_full_backward_hook` puts a node in front of the module, whose result the hook replaces."""
    layer = torch.nn.Tanh()
    layer.register_full_backward_hook(lambda module, gi, go: (gi[0] * 2,))
    x = torch.zeros(2, requires_grad=True)
    with record(tmp_path) as found:
        layer(x * 3).sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]
    changed = [run for run in found.detail().executions if run.computed is not None]
    assert [(values(run.computed[0]), values(run.grad_inputs[0])) for run in changed] == [([1.0, 1.0], [2.0, 2.0])]


def test_hooks_on_a_custom_node(tmp_path: Path) -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    x = torch.ones(2, requires_grad=True)
    with record(tmp_path) as found:
        y = Double.apply(x)
        y.grad_fn.register_hook(lambda gi, go: (gi[0] + 1,))
        y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    (run,) = [run for run in found.detail().executions if run.computed is not None]
    assert values(run.computed[0]) == [2.0, 2.0] and values(run.grad_inputs[0]) == [3.0, 3.0]


def test_a_large_sum_that_a_hook_changes(tmp_path: Path) -> None:
    """Where a sum of terms cannot be told from what is stored, it is added up while the engine runs."""
    x = torch.ones(100, 100, requires_grad=True)
    with record(tmp_path, max_values=16, complete=False) as found:
        h = x * 2
        h.register_hook(lambda g: g * 10)
        (h.sum() + (h * 3).sum()).backward()
    run = next(run for run in found.detail().executions if run.arrived is not None)
    assert run.arrived is not None and run.arrived[0] is not None and run.grad_outputs[0] is not None
    assert (run.arrived[0].statistics.mean, run.grad_outputs[0].statistics.mean) == (4.0, 40.0)


def test_outputs_that_nobody_used_get_none(tmp_path: Path) -> None:
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    got = []
    with record(tmp_path) as found:
        a0, a1 = a.unbind()
        a0.retain_grad()
        a0.register_hook(got.append)
        (a1 * 3).backward()
    assert got == [None] and a0.grad is None
    run = run_of(found, "UnbindBackward0")
    assert [values(value) for value in run.grad_outputs] == [None, 3.0] and values(run.grad_inputs[0]) == [0.0, 3.0]
    kept = found.retained("a0")
    assert (kept.output_nr, kept.before, kept.incoming, kept.after) == (0, None, None, None)


class SortWithIndex(autograd.Function):
    @staticmethod
    def forward(x: torch.Tensor, idx: int, other: torch.Tensor) -> Any:
        v, i = x.sort()
        return v, i, (v * other).sum()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(output[1])

    @staticmethod
    def backward(ctx: Any, gv: Any, gi: Any, gs: Any) -> Any:
        (i,) = ctx.saved_tensors
        return torch.zeros_like(gv).scatter_(0, i, gv), None, None


def test_a_custom_function_with_three_outputs(tmp_path: Path) -> None:
    x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
    other = torch.tensor([1.0, 1.0, 1.0], requires_grad=True)
    with record(tmp_path) as found:
        v, _, _ = SortWithIndex.apply(x, 0, other)
        (v * torch.tensor([10.0, 20.0, 30.0])).sum().backward()
    node = next(node for node in found.graph().nodes if node.kind == "custom")
    assert (node.op, len(node.outputs), node.short_op) == ("SortWithIndexBackward", 3, "SortWithIndex")
    run = run_of(found, node.op)
    # What the engine brought; the function itself is handed zeros for what is undefined.
    assert [values(value) for value in run.grad_outputs] == [[10.0, 20.0, 30.0], None, None]
    assert [values(value) for value in run.grad_inputs] == [[30.0, 10.0, 20.0], None]  # a number has no slot
    assert [(edge.slot, found.graph().by_id[edge.target].name) for edge in found.graph().outgoing[node.id]] == [
        (0, "x"),
        (1, "other"),
    ]
    assert other.grad is None
    entry = found.accumulation("other")
    assert (entry.before, entry.incoming, entry.after) == (None, None, None)


class Fails(autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
        raise ValueError("not today")


def test_a_custom_backward_that_raises(tmp_path: Path) -> None:
    x = torch.tensor([1.0], requires_grad=True)
    with record(tmp_path) as found:
        y = Fails.apply(x * 5)
        with pytest.raises(ValueError, match="not today"):
            (y * 3).backward()
    (call,) = found.calls
    assert call.error is not None and (call.error.type, call.error.message) == ("ValueError", "not today")
    assert call.error.place is not None and call.error.place.function == "Fails.backward"
    failed = next(node for node in found.graph().nodes if node.id == call.failed_node)
    assert failed.op == "FailsBackward"
    runs = found.detail().executions
    assert [run.finished for run in runs] == [True, False] and values(runs[-1].grad_outputs[0]) == [3.0]


def test_a_node_of_torch_that_raises(tmp_path: Path) -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    with record(tmp_path) as found:
        y = torch.sigmoid(x * 1)
        y[0] = 0.0
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()
    failed = next(node for node in found.graph().nodes if node.id == found.calls[0].failed_node)
    assert failed.op == "SigmoidBackward0"
    runs = found.detail().executions
    assert [run.finished for run in runs] == [True, True, False] and values(runs[-1].grad_outputs[0]) == [0.0, 1.0, 1.0]


def test_a_hook_that_raises(tmp_path: Path) -> None:
    x = torch.tensor([1.0], requires_grad=True)

    def hook(gradient: torch.Tensor) -> None:
        raise KeyError("in a hook")

    with record(tmp_path) as found:
        y = x * 2
        y.register_hook(hook)
        with pytest.raises(KeyError):
            (y * 3).backward()
    failed = next(node for node in found.graph().nodes if node.id == found.calls[0].failed_node)
    assert (failed.op, failed.name) == ("MulBackward0", "y")


def test_retain_grad_follows_the_tensor_past_a_write_in_place(tmp_path: Path) -> None:
    x = torch.ones(2, requires_grad=True)
    seen: list[float] = []
    with record(tmp_path) as found:
        a = x.clone()
        a.register_hook(lambda g: seen.append(g[0].item()))
        a.retain_grad()
        a.mul_(2)
        a.sum().backward()
    kept = found.retained("a")
    assert seen == [2.0] and torch.equal(a.grad, torch.ones(2))
    assert values(kept.after) == [1.0, 1.0] and found.graph().by_id[kept.node].op == "MulBackward0"


def test_grad_writes_dot_grad_of_a_retained_input(tmp_path: Path) -> None:
    x = torch.ones(3, requires_grad=True)
    with record(tmp_path) as found:
        t = x * 2
        t.retain_grad()
        autograd.grad(t.sum(), t)
    assert torch.equal(t.grad, torch.ones(3))
    (entry,) = found.detail().retained
    assert [values(v) for v in (entry.before, entry.after, entry.left)] == [None, [1.0] * 3, [1.0] * 3]
    assert entry.order is None and found.detail().accumulations == ()


def test_an_optimizer_inside_backward(tmp_path: Path) -> None:
    w = torch.tensor(2.0, requires_grad=True)

    def step(p: torch.Tensor) -> None:
        with torch.no_grad():
            p -= 0.1 * p.grad
        p.grad = None

    w.register_post_accumulate_grad_hook(step)
    with record(tmp_path) as found:
        (w * 3).backward()
        (w * 3).backward()
    assert w.grad is None and w.item() == pytest.approx(1.4)
    for label in ("1", "2"):
        entry = found.accumulation("w", label)
        assert [values(v) for v in (entry.before, entry.incoming, entry.after, entry.left)] == [None, 3.0, 3.0, None]
    assert len(w._post_accumulate_grad_hooks) == 1


def test_reentrant_checkpoint_is_a_call_inside_a_node(tmp_path: Path) -> None:
    w = torch.tensor([[1.0]], requires_grad=True)
    x = torch.tensor([[2.0]], requires_grad=True)
    with record(tmp_path) as found:
        checkpoint(lambda t: t @ w, x, use_reentrant=True).sum().backward()
    assert [(call.label, call.parent, call.accumulates) for call in found.calls] == [
        ("1", None, True),
        ("1.1", 1, True),
    ]
    outer, inner = found.calls
    assert found.graph().by_id[inner.parent_node or 0].op == "CheckpointFunctionBackward"
    assert [entry.name for entry in found.detail("1.1").accumulations if entry.name] == ["w"]
    assert values(found.accumulation("w", "1.1").after) == [[2.0]]
    assert [entry.name for entry in found.detail("1").accumulations] == ["x"] and outer.parent is None


def test_a_backward_in_a_hook_and_in_a_custom_backward(tmp_path: Path) -> None:
    side = torch.tensor(2.0, requires_grad=True)

    class Inner(autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
            with torch.enable_grad():
                (side * 5).backward()
            return g * 2

    x = torch.tensor(1.0, requires_grad=True)
    with record(tmp_path) as found:
        y = Inner.apply(x)
        # Its own root's hook: no hook of ours has run yet when it starts a run of the engine.
        y2 = y * 3
        y2.register_hook(lambda g: with_grad(lambda: (side * 7).backward()))
        y2.backward()
    assert [call.label for call in found.calls] == ["1", "1.1", "1.2"]
    ops = [found.graph().by_id[call.parent_node or 0].op for call in found.calls[1:]]
    assert ops == ["MulBackward0", "InnerBackward"]
    assert values(found.accumulation("side", "1.2").before) == 7.0
    assert values(found.accumulation("side", "1.2").after) == 12.0 and values(found.accumulation("x").after) == 6.0


def test_runs_inside_runs_that_share_a_leaf(tmp_path: Path) -> None:
    w = torch.tensor(2.0, requires_grad=True)
    with record(tmp_path, complete=False) as found:
        h = w * 3

        h.register_hook(lambda g: with_grad(lambda: (w * 10).backward()))
        (h * h + w).backward()
    # 10 from inside, and 2 * 9 * w + 1 = 37 from outside.
    assert w.grad is not None and w.grad.item() == 47.0
    assert values(found.accumulation("w", "1.1").incoming) == 10.0
    outer = found.accumulation("w", "1")
    assert [values(v) for v in (outer.before, outer.incoming, outer.after)] == [10.0, 37.0, 47.0]
    assert [entry.name for entry in found.detail("1").accumulations] == ["w"]


def test_threads_share_a_graph(tmp_path: Path) -> None:
    """Each call sees its own gradients only, though all hooks of all calls are on the same nodes."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = x.exp() * 2
    roots = [(h * k).sum() for k in range(1, 5)]
    barrier = threading.Barrier(4)

    def work(k: int) -> None:
        barrier.wait()
        for _ in range(5):
            autograd.grad(roots[k], x, retain_graph=True)

    with record(tmp_path) as found:
        threads = [threading.Thread(target=work, args=(k,), name=f"worker {k}") for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found.calls) == 20 and {call.thread for call in found.calls} == {f"worker {k}" for k in range(4)}
    for call in found.calls:
        k = int(call.thread[-1]) + 1
        detail = found.recording.detail(call.number)
        (returned,) = detail.returned or (None,)
        assert torch.equal(tensor_of(returned), k * 2 * x.detach().exp())  # type: ignore[arg-type]
        assert len(detail.executions) == call.node_count - 1


def test_shared_weights_and_views_in_place(tmp_path: Path) -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    with record(tmp_path) as found:
        layer = w * 1
        layer[0].mul_(5)
        (layer.sum() + (w * w).sum()).backward()
    assert "CopySlices" in {node.op for node in found.graph().nodes}
    assert torch.equal(w.grad, torch.tensor([7.0, 5.0])) and values(found.accumulation("w").after) == [7.0, 5.0]


def test_two_accumulators_of_one_tensor_are_one_leaf(tmp_path: Path) -> None:
    p = nn.Parameter(torch.ones(2))
    with record(tmp_path) as found:
        first = p * 2
        p.data = p.data.double().float()
        accumulator = first.grad_fn.next_functions[0][0]
        del accumulator
        second = p * 3
        (first.sum() + second.sum()).backward()
    assert [node.name for node in found.graph().nodes if node.kind == "leaf"] == ["p"]
    assert torch.equal(p.grad, torch.full((2,), 5.0))
    assert sum(entry.incoming is not None for entry in found.detail().accumulations) >= 1


def test_grad_has_a_graph_of_its_own(tmp_path: Path) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with record(tmp_path) as found:
        with pytest.warns(UserWarning, match="create_graph=True will create a reference cycle") as caught:
            (x**3).sum().backward(create_graph=True)
        g = x.grad
        (g * torch.tensor([1.0, 2.0])).sum().backward()
    assert found.calls[0].create_graph and "/torch/autograd/" in caught[0].filename
    # A second backward adds: 3 x^2 + 6 x v.
    assert values(found.accumulation("x", "2").after) == [9.0, 36.0]
    assert {node.order for node in found.graph("2").nodes if node.kind != "leaf"} >= {2}


def test_seeds_are_as_they_were_when_the_call_started(tmp_path: Path) -> None:
    class Spoils(autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
            return g.mul_(100)

    x = torch.ones(2, requires_grad=True)
    seed = torch.tensor([1.0, 2.0])
    with record(tmp_path, complete=False) as found:
        Spoils.apply(x).backward(seed)
    assert torch.equal(seed, torch.tensor([100.0, 200.0]))
    assert values(found.calls[0].roots[0].seed) == [1.0, 2.0] and values(found.accumulation("x").after) == [
        100.0,
        200.0,
    ]


def test_a_node_that_only_raises(tmp_path: Path) -> None:
    """`once_differentiable` puts a node behind the first derivative that has no number of its own and raises."""

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        @once_differentiable
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 3 * x**2 * g

    x = torch.tensor(2.0, requires_grad=True)
    with record(tmp_path) as found:
        (first,) = torch.autograd.grad(Cube.apply(x) ** 2, x, create_graph=True)
        with pytest.raises(RuntimeError, match="differentiate twice"):
            first.backward()
    assert first.item() == 6 * 2.0**5
    assert [call.error is None for call in found.calls] == [True, False]
    assert any("Error" in node.op for node in found.graph("2").nodes)
