"""grad-none: a tensor that the script asks for its `.grad` (or trains) has none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gradviz.explain import words
from gradviz.explain.empty_read import meant, of_read
from gradviz.explain.facts import Facts
from gradviz.explain.other_tensor import other_tensor
from gradviz.explain.page import Page
from gradviz.explain.reads import grad_reads
from gradviz.explain.reasons import Reason, cut_between, reason_in
from gradviz.explain.source import text_of
from gradviz.explain.unused import unused
from gradviz.explain.written import root_name, written
from gradviz.model import Call, Finding, Level
from gradviz.texts import tr

PAGE = Page(
    code="grad-none",
    title="Why .grad is None",
    cause=(
        "`backward()` fills `.grad` of the leaves of its graph that require grad, and of nothing else. So `.grad` is "
        "None for a tensor that the root does not depend on; that is cut off on the way (see no-graph); that is the "
        "result of an operation (also of `.to()`, `.cuda()`, `.view()`, `* 0.01`: the new tensor is not the leaf); "
        "that does not require grad; that `inputs=` leaves out; after `torch.autograd.grad`, which returns gradients "
        "instead; and where an operation answers None, which says no gradient rather than zero."
    ),
    example="""\
import torch

w = torch.linspace(1, 8, steps=8, requires_grad=True)
w = w.view(2, 2, 2)
w.sum().backward()
print(w.grad)
""",
    remedy=(
        "Keep the leaf under a name of its own and give what is computed from it another. To start from a changed "
        "tensor, change it first and make it a leaf last: `w = (torch.randn(3) * 0.01).requires_grad_()`, "
        "`torch.randn(3, device=device, requires_grad=True)`. Update a parameter in place under `torch.no_grad()`. "
        "For an intermediate result call `retain_grad()` before the backward."
    ),
    fixed="""\
import torch

w = torch.linspace(1, 8, steps=8, requires_grad=True)
folded = w.view(2, 2, 2)
folded.sum().backward()
print(w.grad)
""",
    errors=(
        (
            "The differentiated Tensor at index 1 appears to not have been used in the graph",
            "the name behind the index, and where it was cut off, bound anew, or that it is not used",
        ),
        ("One of the differentiated Tensors does not require grad", "which one, and the line that made it"),
        (
            "unsupported operand type(s) for *: 'float' and 'NoneType'",
            "whose `.grad` is None, and why: not a leaf any more, cut off, excluded, returned instead",
        ),
        ("'NoneType' object has no attribute 'zero_'", "the same"),
    ),
)

_UNUSED = re.compile(r"The differentiated Tensor at index (\d+) appears to not have been used in the graph")
_UNUSED_SOMEWHERE = "One of the differentiated Tensors appears to not have been used in the graph"
_NO_GRAD = "One of the differentiated Tensors does not require grad"


def find(facts: Facts) -> Iterator[Finding]:
    """Refused and empty answers of `grad`, reads of an empty `.grad`, parameters that no call reaches."""
    for call in facts.failed:
        yield from _refused(facts, call)
    yield from _returned_none(facts)
    told = set[str]()
    for read in grad_reads(facts):
        if read.name not in told:
            finding = of_read(facts, read)
            if finding is not None:
                told |= {read.name, meant(facts, read)}
                yield finding
    yield from unused(facts, told)


def _refused(facts: Facts, call: Call) -> Iterator[Finding]:
    assert call.error is not None
    text = call.error.message
    if found := _UNUSED.search(text):
        yield _input(facts, call, int(found[1]), "error")
    elif _UNUSED_SOMEWHERE in text:
        ids = {node.id for node in facts.graph(call.number).nodes}
        inputs = call.inputs or ()
        for index in [i for i, entry in enumerate(inputs) if entry.node not in ids] or [0]:
            yield _input(facts, call, index, "error")
    elif _NO_GRAD in text:
        yield _not_required(facts, call)


def _returned_none(facts: Facts) -> Iterator[Finding]:
    """`allow_unused=True` that found something unused, once a line."""
    lines = set()
    for call in facts.looked_at:
        code = written(facts, call)
        if code is not None and code.says("materialize_grads"):
            continue
        if call.api == "torch.autograd.grad" and call.error is None and call.place not in lines:
            for index, value in enumerate(facts.detail(call.number).returned or ()):
                if value is None:
                    lines.add(call.place)
                    yield _input(facts, call, index, "info")


def _input(facts: Facts, call: Call, index: int, level: Level) -> Finding:
    name = _input_name(facts, call, index)
    root = words.code(root_name(facts, call))
    shown = words.code(name) if name else tr("input {index}", index=index)
    reason = None if name is None else _known_reason(facts, call, index, name)
    if reason is not None:
        message = tr("There is no gradient for {name}: {why}", name=shown, why=reason.text)
        advice, place = reason.advice, reason.place
    else:
        message = tr(
            "{name} (position {index} of the inputs) is not in the graph of {root}: nothing that {root} was computed "
            "from depends on it.",
            name=shown,
            index=index,
            root=root,
        )
        if any(node.short_op == "Error" for node in facts.graph(call.number).nodes):
            message += " " + tr(
                "The way ends at a backward that is marked {mark}.", mark=words.code("@once_differentiable")
            )
        advice, place = _unused_advice(level, shown, root), call.place
    entry = call.inputs[index] if call.inputs and index < len(call.inputs) else None
    node = reason.node if reason is not None and reason.node is not None else None if entry is None else entry.node
    return Finding("grad-none", level, call.number, node, place or call.place, message, advice, _show(node))


def _known_reason(facts: Facts, call: Call, index: int, name: str) -> Reason | None:
    """Another tensor is meant, or the way is cut; None where nothing but its absence is known."""
    reason = other_tensor(facts, call, index, name)
    return reason or (reason_in(facts, call, name) if cut_between(facts, call, name) is not None else None)


def _unused_advice(level: Level, name: str, root: str) -> str:
    if level == "info":
        return tr(
            "With {allow} its gradient is None; {zeros} gives zeros instead.",
            allow=words.code("allow_unused=True"),
            zeros=words.code("materialize_grads=True"),
        )
    return tr(
        "If {root} was meant to depend on {name}, look at how it is computed; if not, {allow} gives None for it and "
        "{zeros} gives zeros.",
        root=root,
        name=name,
        allow=words.code("allow_unused=True"),
        zeros=words.code("materialize_grads=True"),
    )


def _input_name(facts: Facts, call: Call, index: int) -> str | None:
    entry = call.inputs[index] if call.inputs and index < len(call.inputs) else None
    if entry is not None and entry.name:
        return entry.name
    code = written(facts, call)
    expressions = [] if code is None else code.inputs()
    return text_of(expressions[index]) if index < len(expressions) else None


def _not_required(facts: Facts, call: Call) -> Finding:
    names = [_input_name(facts, call, i) for i, entry in enumerate(call.inputs or ()) if entry.node is None]
    known = [name for name in names if name]
    shown = words.codes(known) if known else tr("One of the inputs")
    message = tr(
        "{names} does not require grad, so {api} cannot differentiate with respect to it.",
        names=shown,
        api=words.code("torch.autograd.grad"),
    )
    first = known[0] if known else "x"
    binding = facts.history.last(first, call, call.place)
    if binding is not None:
        message += " " + tr("It was made in {line}.", line=words.line(facts, binding.place))
    advice = tr("Call {call} before anything is computed from it.", call=words.code(f"{first}.requires_grad_()"))
    return Finding("grad-none", "error", call.number, None, call.place, message, advice)


def _show(node: int | None) -> tuple[int, ...]:
    return () if node is None else (node,)
