"""Findings about errors and surprises, from recordings in memory: no torch, each number worked out by hand."""

from __future__ import annotations

import dataclasses

import pytest

from gradviz.explain import findings
from gradviz.model import (
    Binding,
    CallDetail,
    CallError,
    Edge,
    Event,
    Finding,
    Graph,
    Input,
    Place,
    Root,
)
from tests import recordings as made
from tests.explain.hand import binding, carried, failing, only, rebound, vector_call, with_bindings
from tests.recordings import SCRIPT, call, leaf, node, recording, root, tensor


def test_a_vector_root_without_a_seed() -> None:
    finding = only(findings(made.no_seed()), "scalar-only")
    assert (finding.level, finding.call, finding.node) == ("error", 1, 0)
    assert finding.place is not None and finding.place.line == 8
    assert "`Z` has shape (1, 3), that is 3 numbers" in finding.message
    assert "`Z.sum().backward()`" in finding.advice and "`Z.backward(torch.ones_like(Z))`" in finding.advice
    assert finding.experiment == "torch.ones((1, 3))"


def test_two_calls_add_up_and_say_so_without_blame() -> None:
    finding = only(findings(made.two_calls()), "accumulated")
    assert (finding.level, finding.call, finding.node) == ("info", 2, 1)
    assert "4 + 20 = 24" in finding.message


def test_a_clearing_between_the_calls_leaves_nothing_to_say() -> None:
    cleared = Event("grad_cleared", 2, ("t1",))
    assert findings(made.two_calls([cleared])) == ()


def test_a_step_between_the_calls_makes_it_a_warning() -> None:
    """Stepped before and after call 2, never cleared: the second step used 4 + 20."""
    steps = [Event("optimizer_step", before, ("t1",), Place(SCRIPT, 9)) for before in (2, None)]
    finding = only(findings(made.two_calls(steps)), "accumulated")
    assert finding.level == "warning"
    assert "the optimizer step (line 9)" in finding.message


def test_a_sum_that_nobody_used_is_fine() -> None:
    """Another network's step filled t1; its own clearing comes before its own step."""
    events = [
        Event("optimizer_step", 2, ("t1",), Place(SCRIPT, 9)),
        Event("grad_cleared", None, ("t1",), Place(SCRIPT, 14)),
    ]
    found = made.two_calls(events[:1])
    assert findings(dataclasses.replace(found, events=tuple(events))) == ()


def test_a_fan_in_is_no_accumulation() -> None:
    assert findings(made.fan_in()) == ()


def test_the_leaf_as_its_own_seed() -> None:
    finding = only(findings(made.leaf_root()), "seed-is-value")
    assert (finding.level, finding.call, finding.node) == ("warning", 1, 0)
    assert "[[2, 2], [2, 2]]" in finding.message


def test_gradients_that_are_returned_are_fine() -> None:
    assert findings(made.returned()) == ()


def test_a_seed_of_the_shape_of_the_input() -> None:
    a = leaf(1, "A", tensor([[1.0, 2.0]]), line=1)
    b = leaf(2, "B", tensor([[10.0, 20.0, 30.0], [100.0, 200.0, 300.0]]), line=2)
    z = node(0, "MmBackward0", "Z", value=tensor([[210.0, 420.0, 630.0]]), line=3)
    graph = Graph((z, a, b), (Edge(0, 0, 1, 0), Edge(0, 1, 2, 0)))
    text = "A = ...\nB = ...\nZ = A @ B\nZ.backward(torch.ones_like(A))\n"
    message = (
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([1, 2]) and output[0] has a shape of "
        "torch.Size([1, 3])."
    )
    seeded = dataclasses.replace(root(z, tensor([[1.0, 1.0]]), True))
    finding = only(findings(failing(message, graph, seeded, text, 4, engine=False)), "seed-shape")
    assert "dimension 1 is 2 instead of 3" in finding.message
    assert "the shape of `A`" in finding.message
    assert "`Z.backward(torch.ones_like(Z))`" in finding.advice
    assert finding.show == (0, 1)


def test_the_input_where_the_gradient_of_a_scalar_belongs() -> None:
    z = leaf(1, "z", tensor([1.0] * 4), line=1)
    out = node(0, "SumBackward0", "out", value=tensor(4.0), line=2)
    graph = Graph((out, z), (Edge(0, 0, 1, 0),))
    message = (
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([4]) and output[0] has a shape of torch.Size([])."
    )
    text = "z = ...\nout = z.sum()\nout.backward(z)\n"
    finding = only(findings(failing(message, graph, root(out, z.value, True), text, 3, engine=False)), "seed-shape")
    assert "`out` is a single number, of shape ()" in finding.message
    assert "You passed `z`, which `out` depends on" in finding.message
    assert "`out.backward()`" in finding.advice and "`z.grad`" in finding.advice and "tape.gradient" in finding.advice


def test_ones_on_a_vector_add_the_rows() -> None:
    finding = only(findings(vector_call([1.0, 1.0])), "summed-outputs")
    assert (finding.level, finding.call, finding.node) == ("info", 1, 0)
    assert "`y` has 2 numbers (shape (2,))" in finding.message and "`y.sum()`" in finding.message
    assert "`x`" in finding.message


@pytest.mark.parametrize("seed", [[1.0, 0.0], [0.5, 0.5], [1.0, 2.0]])
def test_other_seeds_on_a_vector_are_fine(seed: list[float]) -> None:
    assert findings(vector_call(seed)) == ()


def test_the_sums_of_functional_jacobian_are_not_the_users() -> None:
    assert findings(vector_call([1.0, 1.0], group="torch.autograd.functional.jacobian")) == ()


def test_a_state_carried_through_a_loop_is_to_be_detached() -> None:
    finding = only(findings(carried(4)), "second-time")
    assert (finding.level, finding.call, finding.node, finding.show) == ("error", 2, 0, (0,))
    assert "Call 1 (line 4) has freed 1 node" in finding.message and "`state` (made in line 3)" in finding.message
    assert "`state = state.detach()`" in finding.advice


def test_a_graph_of_the_gradient_keeps_nothing_where_retaining_was_forbidden() -> None:
    """`backward(retain_graph=False, create_graph=True)` frees what it has run through."""
    finding = only(findings(carried(4, create=True)), "second-time")
    assert "Call 1 (line 4) has freed 1 node" in finding.message


def test_two_losses_are_to_be_added() -> None:
    finding = only(findings(carried(5)), "second-time")
    assert "(state + state).backward()" in finding.advice and "`retain_graph=True`" in finding.advice


def test_after_a_step_retaining_would_not_help() -> None:
    finding = only(findings(carried(5, step=True)), "second-time")
    assert "would then fail on the changed weights" in finding.advice


def test_a_retained_graph_is_fine() -> None:
    assert findings(carried(4, retain=True)) == ()


def test_the_writer_is_named_not_only_the_victim() -> None:
    """b = sigmoid(a), b[1] = 2 in line 3: Sigmoid's own result is at version 1."""
    a = leaf(1, "a", tensor([1.0, 2.0]), line=1)
    b = node(0, "SigmoidBackward0", None, value=tensor([0.7, 2.0]), line=2)
    copied = node(2, "CopySlices", "b", value=tensor([0.7, 2.0]), line=3)
    graph = Graph((copied, b, a), (Edge(2, 0, 0, 0), Edge(0, 0, 1, 0)))
    message = (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        "[torch.FloatTensor [2]], which is output 0 of Sigmoid, is at version 1; expected version 0 instead. Hint: ..."
    )
    text = "a = ...\nb = a.sigmoid()\nb[1] = 2\nb.sum().backward()\n"
    made_recording = failing(message, graph, root(copied, tensor([1.0, 1.0])), text, 4, failed_node=0)
    written = binding(2, 3, "b", 2, cause="written", version=1, is_leaf=False, node=2)
    bound = with_bindings(made_recording, binding(0, 1, "a", 1), binding(1, 2, "b", 2, is_leaf=False, node=0), written)
    finding = only(findings(bound), "in-place")
    assert (finding.level, finding.call, finding.node) == ("error", 1, 0)
    assert finding.place is not None and finding.place.line == 3
    assert "needs its own result" in finding.message and "`b[1] = 2`" in finding.message
    assert "version 1 instead of 0" in finding.message and "`b = b.clone()` before `b[1] = 2`" in finding.advice


def test_what_wrote_stands_on_the_line_of_what_it_wrote_to() -> None:
    """`h` was made and written to by one line, so no binding tells of a write."""
    x = leaf(1, "x", tensor([1.0, 2.0]), line=1)
    made_there = node(0, "ExpBackward0", None, value=tensor([5.4, 14.8]), line=2)
    h = node(2, "MulBackward0", "h", value=tensor([5.4, 14.8]), line=2)
    graph = Graph((h, made_there, x), (Edge(2, 0, 0, 0), Edge(0, 0, 1, 0)))
    message = (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        "[torch.FloatTensor [2]], which is output 0 of Exp, is at version 1; expected version 0 instead. Hint: ..."
    )
    for statements, wrote in (("h = x.exp(); h *= 2", True), ("h = x.exp(); g = 2 * h", False)):
        text = f"x = ...\n{statements}\nh.sum().backward()\n"
        failed = failing(message, graph, root(h, tensor([1.0, 1.0])), text, 3, failed_node=0)
        finding = only(findings(failed), "in-place")
        assert finding.place is not None and finding.place.line == (2 if wrote else 3)
        assert ("`h = h * 2`" in finding.advice) == wrote


def test_the_recorded_memory_decides_between_two_writers() -> None:
    """Two tensors of one shape were written to; the error tells whose memory changed."""
    x = leaf(1, "x", tensor([1.0, 2.0]), line=1)
    y = node(0, "PowBackward0", "y", value=tensor([1.0, 4.0]), line=2)
    graph = Graph((y, x), (Edge(0, 0, 1, 0),))
    message = (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        "[torch.FloatTensor [2]] is at version 1; expected version 0 instead. Hint: ..."
    )
    text = "x = ...\ny = x ** 2\nother += 1\nx.data.add_(1)\ny.sum().backward()\n"
    error = CallError("RuntimeError", message, saved="self", storage=7)
    head = call(1, [root(y, tensor([1.0, 1.0]))], 2, line=5, error=error, failed_node=0)
    base = recording([(head, graph, CallDetail())], text)
    bound = with_bindings(
        base,
        binding(0, 3, "other", 3, cause="written", version=1, storage=3),
        binding(1, 4, "x", 1, cause="written", version=1, storage=7),
    )
    finding = only(findings(bound), "in-place")
    assert finding.place is not None and finding.place.line == 4


def no_graph(text: str, line: int, *bound: Binding, name: str = "loss") -> Finding:
    message = "element 0 of tensors does not require grad and does not have a grad_fn"
    top = Root("tensor", name, None, 0, (), "float32", None, False)
    return only(findings(with_bindings(failing(message, Graph((), ()), top, text, line), *bound)), "no-graph")


def test_the_line_that_cut_the_chain() -> None:
    text = "h = ...\nvalue = h.detach()\nloss = (value - 1) ** 2\nloss.backward()\n"
    finding = no_graph(
        text, 4, binding(0, 1, "h", 1), binding(1, 2, "value", 2, requires_grad=False),
        binding(2, 3, "loss", 3, requires_grad=False),
    )  # fmt: skip
    assert finding.place is not None and finding.place.line == 2
    assert "`h.detach()`" in finding.message and "`h`" in finding.advice


def test_what_was_not_tracked_anyway_did_not_cut() -> None:
    """Line 2 detaches a constant; the argmax of line 3 is what cut the scores off."""
    text = "\n".join(
        ["scores = model(x)", "base = offset.detach()", "pick = scores.argmax(1) + base", "loss = pick.float().mean()",
         "loss.backward()", ""]
    )  # fmt: skip
    finding = no_graph(
        text, 5, binding(0, 1, "scores", 1, is_leaf=False), binding(1, 2, "offset", 4, requires_grad=False),
        binding(2, 2, "base", 5, requires_grad=False), binding(3, 3, "pick", 2, requires_grad=False),
        binding(4, 4, "loss", 3, requires_grad=False),
    )  # fmt: skip
    assert finding.place is not None and finding.place.line == 3
    assert "`scores.argmax(1)`" in finding.message


def test_nothing_requires_grad() -> None:
    text = "w = torch.rand(2)\nloss = w.sum()\nloss.backward()\n"
    finding = no_graph(
        text, 3, binding(0, 1, "w", 1, requires_grad=False), binding(1, 2, "loss", 2, requires_grad=False)
    )
    assert finding.place is not None and finding.place.line == 1
    assert "`w` (line 1)" in finding.message and "`requires_grad=True`" in finding.advice


def test_a_tensor_that_grad_did_not_find() -> None:
    x = leaf(1, "x", tensor(1.0), line=1)
    z = node(0, "MulBackward0", "z", value=tensor(1.0), line=3)
    graph = Graph((z, x), (Edge(0, 0, 1, 0),))
    message = "The differentiated Tensor at index 1 appears to not have been used in the graph. Set allow_unused=True"
    text = "x = ...\ny = ...\nz = x * x\ntorch.autograd.grad(z, (x, y))\n"
    given = (Input("x", 1, 0), Input("y", 9, 0))
    made_recording = failing(
        message, graph, root(z, tensor(1.0)), text, 4, api="torch.autograd.grad", inputs=given, accumulates=False
    )
    finding = only(findings(made_recording), "grad-none")
    assert (finding.level, finding.call) == ("error", 1)
    assert "`y` (position 1 of the inputs) is not in the graph of `z`" in finding.message
    assert "`allow_unused=True`" in finding.advice


def test_a_leaf_that_lost_its_name() -> None:
    finding = only(findings(rebound()), "grad-none")
    assert (finding.level, finding.call, finding.node) == ("warning", 1, 0)
    assert finding.place is not None and finding.place.line == 2
    assert "`w = w.view(2)`" in finding.message and "line 1, which did receive [1, 1]" in finding.message
