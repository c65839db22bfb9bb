"""opaque: places that autograd, or gradviz, cannot look into, and custom functions that break the rules."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gradviz.explain import words
from gradviz.explain.custom import (
    CustomFunction,
    constant_in,
    custom_class,
    custom_function,
    switched_off_in_backward,
)
from gradviz.explain.facts import Facts
from gradviz.explain.once import with_history
from gradviz.explain.page import Page
from gradviz.explain.repeated import Repeats
from gradviz.explain.source import dotted
from gradviz.model import Call, Execution, Finding, Graph, Node, Place
from gradviz.model.numbers import shape_text
from gradviz.texts import tr, trn

PAGE = Page(
    code="opaque",
    title="A part that cannot be looked into",
    cause=(
        "Some nodes stand for much more than one operation: a region compiled by `torch.compile`, a reentrant "
        "checkpoint (its inside is a backward of its own), a custom `autograd.Function`, whose `backward` is code of "
        "its author. What a custom backward returns is believed: None means no gradient, a wrong shape raises, and "
        "values kept on `ctx` instead of `save_for_backward` are constants for a second derivative. Under `vmap` one "
        "call stands for many, and in a distributed run the gradients are those of one process, before they are "
        "averaged."
    ),
    example="""\
import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.twice = x * 2
        return x ** 2

    @staticmethod
    def backward(ctx, g):
        return ctx.twice * g


x = torch.tensor([3.], requires_grad=True)
y = (Square.apply(x) ** 2).sum()
g, = torch.autograd.grad(y, x, create_graph=True)
h, = torch.autograd.grad(g.sum(), x)
print(g, h)  # x ** 4: 108 and 108
""",
    remedy=(
        "Save tensors with `ctx.save_for_backward` and compute everything that depends on the input again in "
        "`backward`; return one gradient for each input of `forward`, of its shape, and None only for what has none; "
        "test with `torch.autograd.gradcheck` and `gradgradcheck`. To see inside a compiled region run the script with "
        "`TORCH_COMPILE_DISABLE=1`, inside a checkpoint use `use_reentrant=False`."
    ),
    fixed="""\
import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 2

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return 2 * x * g


x = torch.tensor([3.], requires_grad=True)
y = (Square.apply(x) ** 2).sum()
g, = torch.autograd.grad(y, x, create_graph=True)
h, = torch.autograd.grad(g.sum(), x)
print(g, h)  # x ** 4: 108 and 108
""",
    errors=(
        (
            "Function SquareBackward returned an invalid gradient at index 0 - got [7] but expected shape",
            "which `backward` returned it, for which input",
        ),
        (
            "function SquareBackward returned an incorrect number of gradients (expected 2, got 1)",
            "which `backward`, and what it must return",
        ),
        (
            "trying to differentiate twice a function that was marked with @once_differentiable",
            "that the second derivative goes through it, and the way out",
        ),
    ),
)

_SHAPE = re.compile(
    r"Function (\w+) returned an invalid gradient at index (\d+) - got (\[.*?\]) but expected shape "
    r"compatible with (\[.*?\])"
)
_COUNT = re.compile(r"function (\w+) returned an incorrect number of gradients \(expected (\d+), got (\d+)\)")
_ONCE = "trying to differentiate twice a function that was marked with @once_differentiable"


def find(facts: Facts) -> Iterator[Finding]:
    """Custom functions that failed, then what cannot be seen through, once a line."""
    for call in facts.failed:
        yield from _failed(facts, call)
    repeats = Repeats(facts)
    for call in facts.moved:
        graph = facts.graph(call.number)
        for node in graph.nodes:
            finding = _of_node(facts, call, node)
            if finding is not None:
                repeats.add((finding.place, node.short_op), finding)
        for execution in facts.detail(call.number).executions:
            finding = _returned_none(facts, call, graph, execution)
            if finding is not None:
                repeats.add((finding.place, "none"), finding)
        if (finding := _batch(facts, call)) is not None:
            repeats.add((call.place, "batch"), finding)
        if (finding := _under_no_grad(facts, call)) is not None:
            repeats.add((call.place, "no_grad"), finding)
    yield from repeats.findings()
    yield from _distributed(facts)


def _failed(facts: Facts, call: Call) -> Iterator[Finding]:
    assert call.error is not None
    text = call.error.message
    if found := _SHAPE.search(text):
        message = tr(
            "{function} returned a gradient of shape {given} for input {index}, whose shape is {wanted}.",
            function=words.code(f"{found[1].removesuffix('Backward')}.backward"),
            given=found[3],
            index=found[2],
            wanted=found[4],
        )
        advice = tr("A gradient has the shape of its input: sum over what was broadcast, or reshape it.")
        yield _error(facts, call, found[1], message, advice)
    elif found := _COUNT.search(text):
        message = trn(
            "{function} returned {n} gradient, but {forward} has {wanted} inputs.",
            "{function} returned {n} gradients, but {forward} has {wanted} inputs.",
            int(found[3]),
            function=words.code(f"{found[1].removesuffix('Backward')}.backward"),
            forward=words.code("forward"),
            wanted=found[2],
        )
        advice = tr(
            "Return one value for each input of {forward}, in order; None for those that have no gradient.",
            forward=words.code("forward"),
        )
        yield _error(facts, call, found[1], message, advice)
    elif _ONCE in text:
        message = tr(
            "The second derivative goes through a function marked {mark}.", mark=words.code("@once_differentiable")
        )
        advice = tr(
            "Remove the mark if its backward is made of differentiable operations, or avoid {flag}.",
            flag=words.code("create_graph=True"),
        )
        yield _error(facts, call, "", message, advice)


def _error(facts: Facts, call: Call, op: str, message: str, advice: str) -> Finding:
    function = custom_class(facts, op) if op else None
    place = function.place("backward") if function is not None else call.place
    graph = facts.graph(call.number)
    node = call.failed_node
    if node is None:
        node = next((n.id for n in graph.nodes if n.op == op), None)
    return Finding("opaque", "error", call.number, node, place, message, advice, () if node is None else (node,))


def _of_node(facts: Facts, call: Call, node: Node) -> Finding | None:
    if node.op.startswith("CompiledFunction"):
        message = tr(
            "{node} is a whole region compiled by {api}: what happens inside is not recorded.",
            node=words.node_text(facts, node),
            api=words.code("torch.compile"),
        )
        advice = tr("To see inside run the script with {off}.", off=words.code("TORCH_COMPILE_DISABLE=1"))
    elif node.op.startswith("CheckpointFunction"):
        inner = [c for c in facts.calls if c.parent == call.number and c.parent_node in (node.id, None)]
        message = tr(
            "{node} is a reentrant checkpoint: its inside is computed again and has a backward of its own{inner}.",
            node=words.node_text(facts, node),
            inner=f" ({words.call_word(inner[0])})" if inner else "",
        )
        advice = tr("With {flag} the inside is part of this graph.", flag=words.code("use_reentrant=False"))
    elif node.op.startswith("BackwardHookFunction"):
        message = tr(
            "{node} is not an operation of the model: a backward hook of a module put it there.",
            node=words.node_text(facts, node),
        )
        advice = tr("Nothing to do; in-place operations next to it may fail.")
    elif node.kind == "custom" and call.create_graph:
        return _constant(facts, call, node)
    else:
        return None
    return Finding("opaque", "info", call.number, node.id, node.place or call.place, message, advice, (node.id,))


def _constant(facts: Facts, call: Call, node: Node) -> Finding | None:
    function = custom_function(facts, node)
    if function is None:
        return None
    mark = switched_off_in_backward(function)
    if mark is not None:
        return _not_tracked(facts, call, node, function, mark)
    constant = constant_in(function)
    if constant is None:
        return None
    message = tr(
        "{call} builds a graph for a second derivative through {node}, but {backward} uses {kept}, a value of the "
        "forward pass: for the second derivative it counts as a constant, so that one is wrong without a word.",
        call=words.start(words.call_at(facts, call)),
        node=words.node_text(facts, node),
        backward=words.code(f"{node.short_op}.backward"),
        kept=words.code(constant.code if constant.attribute is None else f"ctx.{constant.attribute}"),
    )
    place = function.place("backward")
    return Finding("opaque", "warning", call.number, node.id, place, message, with_history(constant), (node.id,))


def _not_tracked(facts: Facts, call: Call, node: Node, function: CustomFunction, mark: str) -> Finding:
    """The backward runs where nothing is recorded."""
    message = tr(
        "{call} builds a graph for a second derivative through {node}, but {backward} stands under {mark}: what it "
        "returns counts as a constant there.",
        call=words.start(words.call_at(facts, call)),
        node=words.node_text(facts, node),
        backward=words.code(f"{node.short_op}.backward"),
        mark=words.code(mark),
    )
    advice = tr(
        "Remove {mark} if that backward is made of differentiable operations; {check} finds such mistakes.",
        mark=words.code(mark),
        check=words.code("torch.autograd.gradgradcheck"),
    )
    place = function.place("backward")
    return Finding("opaque", "warning", call.number, node.id, place, message, advice, (node.id,))


def _returned_none(facts: Facts, call: Call, graph: Graph, execution: Execution) -> Finding | None:
    """A custom backward that answers None for an input that requires grad."""
    node = graph.by_id.get(execution.node)
    if node is None or node.kind != "custom" or not execution.finished or call.inputs is not None:
        return None
    if not any(gradient is not None for gradient in execution.grad_outputs):
        return None
    for edge in graph.outgoing.get(node.id, ()):
        if edge.slot < len(execution.grad_inputs) and execution.grad_inputs[edge.slot] is None:
            target = graph.by_id.get(edge.target)
            function = custom_function(facts, node)
            name = words.node_text(facts, target) if target is not None else tr("one input")
            message = tr(
                "{backward} returns None for {name}, which requires grad: it gets no gradient from there.",
                backward=words.code(f"{node.short_op}.backward"),
                name=name,
            )
            advice = tr("Right if the result does not depend on it; otherwise return its gradient.")
            place = function.place("backward") if function is not None else (node.place or call.place)
            show = tuple(i for i in (node.id, edge.target) if i is not None)
            return Finding("opaque", "info", call.number, node.id, place, message, advice, show)
    return None


def _batch(facts: Facts, call: Call) -> Finding | None:
    if call.group is not None or call.parent is not None:
        return None
    sizes = next((root.seed.batch for root in call.roots if root.seed is not None and root.seed.batch), None)
    if not sizes:
        return None
    shape = next((root.shape for root in call.roots if root.shape is not None), ())
    count = 1
    for size in sizes:
        count *= size
    message = tr(
        "{call} runs {count} seeds of shape {shape} at once; each gradient shown has one entry for each seed, first.",
        call=words.start(words.call_at(facts, call)),
        count=count,
        shape=shape_text(shape),
    )
    advice = tr("Nothing to do; a call for each seed shows them one by one.")
    node = call.roots[0].node
    return Finding("opaque", "info", call.number, node, call.place, message, advice)


def _under_no_grad(facts: Facts, call: Call) -> Finding | None:
    source, statement = facts.source(call.place), facts.statement(call.place)
    if source is None or statement is None or call.group is not None or call.parent is not None:
        return None
    for block in source.ancestors(statement):
        marks = [i.context_expr for i in block.items] if isinstance(block, ast.With | ast.AsyncWith) else []
        for mark in marks:
            name = dotted(mark.func if isinstance(mark, ast.Call) else mark) or ""
            if name.rsplit(".", 1)[-1] == "no_grad":
                message = tr(
                    "{call} runs under {mode}: that changes nothing for the backward itself, only what is computed "
                    "there is not recorded.",
                    call=words.start(words.call_at(facts, call)),
                    mode=words.code("torch.no_grad()"),
                )
                advice = tr("Move the backward out of the block to make that plain.")
                return Finding("opaque", "info", call.number, None, call.place, message, advice)
    return None


def _distributed(facts: Facts) -> Iterator[Finding]:
    header = facts.recording.header
    if header.world_size is None or header.world_size < 2 or not facts.user_calls:
        return
    call = facts.user_calls[0]
    message = trn(
        "This is process {rank} of {n}: the gradients are its own, before they are averaged over all.",
        "This is process {rank} of {n}: the gradients are its own, before they are averaged over all.",
        header.world_size,
        rank=header.rank,
    )
    advice = tr("Compare with the recordings of the other processes.")
    yield Finding("opaque", "info", call.number, None, Place(header.script, 1), message, advice)
