"""Every way into the engine is a call, with its roots, seeds, place and numbers."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
import torch
from torch import autograd
from torch.autograd import Variable

from tests.worker.inspecting import Recorded, record, values


def here(offset: int = 0) -> int:
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    return frame.f_back.f_lineno + offset


def apis(found: Recorded) -> list[str]:
    return [call.api for call in found.calls]


def test_two_calls_accumulate(tmp_path: Path) -> None:
    with record(tmp_path) as found:
        t1 = torch.tensor(3.0, requires_grad=True)
        t2 = 4 * t1
        t2.retain_grad()
        t2.backward(retain_graph=True)
        t3 = 5 * t2
        t3.retain_grad()
        t3.backward()
        line = here(-1)
    assert [(call.label, call.place.line if call.place else 0) for call in found.calls] == [
        ("1", line - 3),
        ("2", line),
    ]
    first, second = found.calls
    assert (first.retain_graph, second.retain_graph, first.accumulates, first.create_graph) == (
        True,
        False,
        True,
        False,
    )
    assert [(root.name, root.kind, root.seed_given) for root in second.roots] == [("t3", "tensor", False)]
    assert values(first.roots[0].seed) == 1.0 and values(first.roots[0].value) == 12.0
    one, two = found.accumulation("t1"), found.accumulation("t1", "2")
    assert [values(v) for v in (one.before, one.incoming, one.after, one.left)] == [None, 4.0, 4.0, 4.0]
    assert [values(v) for v in (two.before, two.incoming, two.after, two.left)] == [4.0, 20.0, 24.0, 24.0]
    kept = found.retained("t2", "2")
    assert [values(v) for v in (kept.before, kept.incoming, kept.after, kept.left)] == [1.0, 5.0, 6.0, 6.0]
    assert values(found.retained("t3", "2").after) == 1.0 and values(found.retained("t2").after) == 1.0


def test_the_root_may_be_the_leaf(tmp_path: Path) -> None:
    with record(tmp_path) as found:
        x = torch.full((2, 2), 2.0, requires_grad=True)
        x.backward(x)
        cubic = x * x * x * 2 + x
        x.grad = None
        cubic.backward(torch.ones(2, 2))
        x.grad = None
        (x * x).backward(torch.ones(2, 2))
    (leaf,) = found.graph().nodes
    assert (leaf.kind, leaf.name, leaf.key, leaf.place) == ("leaf", "x", "x", None)
    assert found.calls[0].roots[0].node == leaf.id and found.calls[0].roots[0].seed_name == "x"
    assert [values(found.accumulation("x", label).after)[0][0] for label in "123"] == [2.0, 25.0, 4.0]


def test_calls_that_fail_before_the_engine(tmp_path: Path) -> None:
    a = torch.tensor([[1.0, 2.0]], requires_grad=True)
    b = torch.tensor([[10.0, 20.0, 30.0], [100.0, 200.0, 300.0]], requires_grad=True)
    with record(tmp_path) as found:
        z = a @ b
        for attempt in (
            lambda: z.backward(),
            lambda: z.backward(torch.ones_like(a)),
            lambda: autograd.grad(z, a),
            lambda: autograd.backward([z, z], [torch.ones_like(z), 5]),
            lambda: z.backward(torch.ones_like(z), inputs=[]),
            lambda: autograd.grad(z, [], torch.ones_like(z)),
            lambda: z.backward(torch.ones(1, 3, dtype=torch.complex64)),
        ):
            with pytest.raises((RuntimeError, TypeError)):
                attempt()
        z.backward(torch.tensor([[1.0, 0.0, 0.0]]))
    errors = [(call.engine, call.error and call.error.message.split(":")[0][:50]) for call in found.calls]
    assert errors == [
        (False, "grad can be implicitly created only for scalar out"),
        (False, "Mismatch in shape"),
        (False, "grad can be implicitly created only for scalar out"),
        (False, "gradients can be either Tensors or None, but got i"),
        (False, "`inputs` argument to `backward()` cannot be empty."),
        (False, "`inputs` argument to `grad()` cannot be empty."),
        (False, "For complex Tensors, both grad_output and output a"),
        (True, None),
    ]
    for call in found.calls:
        graph = found.recording.graph(call.number)
        assert {node.op for node in graph.nodes} == {"MmBackward0", "AccumulateGrad"}
        assert call.roots[0].name == "z" and call.place is not None and call.place.file == __file__
    assert values(found.calls[1].roots[0].seed) == [[1.0, 1.0]]
    assert values(found.accumulation("a", "8").after) == [[10.0, 100.0]]
    assert values(found.accumulation("b", "8").after) == [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]


def test_a_root_without_a_graph(tmp_path: Path) -> None:
    with record(tmp_path) as found:
        y = torch.ones(()).argmax().float()
        with pytest.raises(RuntimeError, match="does not require grad"):
            y.backward()
    (call,) = found.calls
    assert call.engine and call.roots[0].node is None and call.roots[0].name == "y"
    assert call.failed_node is None and found.graph().nodes == () and found.detail().executions == ()
    assert call.error is not None and call.error.type == "RuntimeError" and call.error.place == call.place


def test_several_roots_one_behind_the_other(tmp_path: Path) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with record(tmp_path) as found:
        y = x**2
        y.retain_grad()
        z = y**3
        autograd.backward([y, z, z], [torch.tensor([10.0, 100.0]), torch.tensor([1.0, 2.0]), torch.zeros(2)])
    (call,) = found.calls
    assert [(root.name, values(root.seed), root.seed_given) for root in call.roots] == [
        ("y", [10.0, 100.0], True),
        ("z", [1.0, 2.0], True),
        ("z", [0.0, 0.0], True),
    ]
    assert call.roots[1].node == call.roots[2].node
    runs = [run for run in found.detail().executions if run.node == call.roots[0].node]
    assert [values(run.grad_outputs[0]) for run in runs] == [[13.0, 196.0]]
    assert values(found.retained("y").after) == [13.0, 196.0] and values(found.accumulation("x").after) == [26.0, 784.0]


def test_grad_returns_and_accumulates_nothing(tmp_path: Path) -> None:
    x, unused = torch.ones(3, requires_grad=True), torch.ones(2, requires_grad=True)
    with record(tmp_path) as found:
        y = (x * 2).sum()
        autograd.grad(y, [x, unused], allow_unused=True, retain_graph=True)
        autograd.grad(y, [x, unused], materialize_grads=True, retain_graph=True)
        with pytest.raises(RuntimeError, match="index 1 appears to not have been used"):
            autograd.grad(y, [x, unused])
        autograd.grad(x, x, torch.ones(3))
    for label in ("1", "2"):
        detail = found.detail(label)
        assert detail.accumulations == () and detail.returned is not None
        # The zeros of materialize_grads are made by torch's Python after the engine: there it is None.
        assert [values(value) for value in detail.returned] == [[2.0, 2.0, 2.0], None]
        inputs = found.recording.call_by_label(label).inputs
        assert inputs is not None and [(entry.name, entry.node is None) for entry in inputs] == [
            ("x", False),
            ("unused", True),
        ]
    assert found.calls[2].error is not None and found.calls[2].failed_node is None
    assert [run.finished for run in found.detail("3").executions] == [True, True]
    assert [values(value) for value in found.detail("4").returned or ()] == [[1.0, 1.0, 1.0]]


def test_inputs_of_backward(tmp_path: Path) -> None:
    a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    with record(tmp_path) as found:
        h = a * b
        (h * h).backward(inputs=[a, h])
    assert [entry.name for entry in found.detail().accumulations] == ["a"]
    kept = found.retained("h")
    assert [values(v) for v in (kept.before, kept.incoming, kept.after)] == [None, 12.0, 12.0]
    assert values(found.accumulation("a").after) == 36.0 and b.grad is None


def test_gradient_edges(tmp_path: Path) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with record(tmp_path) as found:
        h = x * 5
        out = (h * torch.tensor([2.0, 4.0])).sum()
        edge_h, edge_out = autograd.graph.get_gradient_edge(h), autograd.graph.get_gradient_edge(out)
        autograd.grad(edge_out, edge_h, retain_graph=True)
        autograd.backward(edge_out, torch.tensor(1.0))
    first, second = found.calls
    assert first.roots[0].kind == "edge" and first.roots[0].name is None and first.roots[0].shape is None
    assert first.inputs is not None and first.inputs[0].node == found.graph().edges[1].target
    assert values(found.accumulation("x", "2").after) == [10.0, 20.0]
    assert values(second.roots[0].seed) == 1.0


def test_the_engine_called_directly(tmp_path: Path) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with record(tmp_path) as found:
        y = (x * 7).sum()
        engine = Variable._execution_engine
        engine.run_backward((y,), (torch.ones(()),), False, False, (), allow_unreachable=True, accumulate_grad=True)
        assert engine.is_checkpoint_valid()
    assert apis(found) == ["torch.autograd.Variable._execution_engine.run_backward"]
    assert found.calls[0].roots[0].name == "y" and values(found.accumulation("x").after) == [7.0, 7.0]


def test_public_names(tmp_path: Path) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with record(tmp_path) as found:
        (x * 2).sum().backward()
        autograd.backward((x * 2).sum())
        autograd.grad((x * 2).sum(), x)
        torch.func.grad(lambda t: (t * 2).sum())(x.detach())
        torch.func.vjp(lambda t: t * 2, x.detach())[1](torch.ones(2))
        torch.func.jacrev(lambda t: t * 2)(x.detach())
    assert apis(found) == [
        "torch.Tensor.backward",
        "torch.autograd.backward",
        "torch.autograd.grad",
        "torch.func.grad",
        "torch.func.vjp",
        "torch.func.jacrev",
    ]


def test_functions_that_start_runs_group_them(tmp_path: Path) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    cube = lambda t: (t**3).sum()  # noqa: E731
    with record(tmp_path) as found:
        hessian = autograd.functional.hessian(cube, x)
        assert autograd.gradcheck(lambda t: t * 2, torch.ones(1, dtype=torch.double, requires_grad=True))
        cube(x).backward()
    assert torch.equal(hessian, torch.diag(6 * x.detach()))
    top = found.recording.top_calls
    assert [(call.label, call.api, call.engine) for call in top] == [
        ("1", "torch.autograd.functional.hessian", False),
        ("2", "torch.autograd.gradcheck", False),
        ("3", "torch.Tensor.backward", True),
    ]
    inside = [call for call in found.calls if call.parent == top[0].number]
    assert [(call.label, call.group) for call in inside] == [(f"1.{k}", top[0].api) for k in (1, 2, 3)]
    assert [values((found.detail(call.label).returned or (None,))[0]) for call in inside] == [
        [3.0, 12.0],
        [6.0, 0.0],
        [0.0, 12.0],
    ]
    assert [call.number for call in found.calls] == list(range(1, len(found.calls) + 1))


def test_double_backward_is_told_apart(tmp_path: Path) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    with record(tmp_path) as found:
        y = x**3
        (g,) = autograd.grad(y, x, create_graph=True)
        (h,) = autograd.grad(g, x, create_graph=True)
        h.backward()
    assert x.grad is not None and x.grad.item() == 6.0
    first, second, third = (found.graph(label) for label in "123")
    assert {node.order for node in first.nodes} == {1}
    assert {node.order for node in second.nodes} == {1, 2}
    assert {node.order for node in third.nodes} == {1, 3}  # 6 x does not go back through 3 x ** 2
    shared = {node.id for node in first.nodes} & {node.id for node in second.nodes}
    assert [node.kind for node in first.nodes if node.id in shared] == ["leaf"]


def test_a_graph_walked_again_keeps_its_ids(tmp_path: Path) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    with record(tmp_path) as found:
        y = x * x
        y.backward(retain_graph=True)
        z = y * 3
        z.backward()
        with pytest.raises(RuntimeError, match="second time"):
            z.backward()
    first, second, third = (found.graph(label) for label in "123")
    assert {node.id for node in first.nodes} < {node.id for node in second.nodes}
    assert [node.id for node in second.nodes] == [node.id for node in third.nodes]
    failed = found.calls[2].failed_node
    assert failed == second.nodes[0].id  # it has saved the 3
    runs = found.detail("3").executions
    assert [run.finished for run in runs] == [False] and values(runs[0].grad_outputs[0]) == 1.0


def test_max_values_and_trace_off(tmp_path: Path) -> None:
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    with record(tmp_path, max_values=5, trace=False) as found:
        (x * x).sum().backward()
    after = found.accumulation("x").after
    assert after is not None and after.data is None and after.statistics is not None and after.thumbnail is not None
    assert after.statistics.norm == pytest.approx((4 * sum(k * k for k in range(6))) ** 0.5)
    assert after.thumbnail.means == (0.0, 2.0, 4.0, 6.0, 8.0, 10.0)
    assert all(node.place is None for node in found.graph().nodes)


def test_parameters_that_a_call_does_not_reach_are_noted_once(tmp_path: Path) -> None:
    model = torch.nn.ModuleDict({"used": torch.nn.Linear(2, 1), "spare": torch.nn.Linear(2, 1)})
    frozen = torch.nn.ModuleList([torch.nn.Linear(2, 1, bias=False)]).requires_grad_(False)
    with record(tmp_path) as found:
        for _ in range(3):
            model["used"](torch.ones(1, 2)).sum().backward()
            model["used"](frozen[0].weight).sum().backward()
    noted = [b for b in found.recording.source.bindings() if b.cause == "parameter"]
    assert {(b.name, b.shape, b.requires_grad, b.is_leaf, b.node) for b in noted} == {
        ("model.spare.weight", (1, 2), True, True, None),
        ("model.spare.bias", (1,), True, True, None),
        ("frozen.0.weight", (1, 2), False, True, None),
    }
    assert len(noted) == 3 and {b.before_call for b in noted} == {1}
