"""summed-outputs: a seed of ones on a root of several numbers, or several roots of one tensor in one call."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from gradviz.explain import words
from gradviz.explain.facts import Facts
from gradviz.explain.page import Page
from gradviz.explain.repeated import Repeats
from gradviz.explain.written import root_name, with_seed
from gradviz.model import Call, Finding, Root
from gradviz.model.numbers import shape_text
from gradviz.texts import tr

PAGE = Page(
    code="summed-outputs",
    title="A seed of ones adds the gradients of all outputs",
    cause=(
        "The Jacobian of a root with m numbers has m rows, one for each number. A backward computes `seed @ Jacobian`: "
        "one combination of the rows, not the rows themselves. A seed of ones, and several roots in one call, give the "
        "sum of all rows. That is what `tf.gradients(y, x)` and `tape.gradient(y, x)` compute too."
    ),
    example="""\
import torch

x = torch.tensor([1., 2.], requires_grad=True)
y = torch.stack([x[0] * x[1], x.sum()])
print(torch.autograd.grad(y, x, grad_outputs=torch.ones_like(y)))
""",
    remedy=(
        "Right as it is where each number of the root depends on its own number of the input only (an elementwise "
        "function; a network that treats each row of a batch alone): then the sum holds each derivative by itself. For "
        "one row give a one-hot seed. For all rows use `torch.autograd.functional.jacobian`, or "
        "`torch.autograd.grad(..., grad_outputs=torch.eye(m), is_grads_batched=True)`."
    ),
    fixed="""\
import torch

x = torch.tensor([1., 2.], requires_grad=True)
print(torch.autograd.functional.jacobian(lambda x: torch.stack([x[0] * x[1], x.sum()]), x))
""",
)


def find(facts: Facts) -> Iterator[Finding]:
    """A finding for each line that adds several outputs by its seed."""
    repeats = Repeats(facts)
    for call in facts.looked_at:
        if call.error is not None or call.batched or not call.engine:
            continue
        index = next((index for index, root in enumerate(call.roots) if _ones(root)), None)
        if index is not None:
            repeats.add(call.place, _ones_finding(facts, call, index))
        elif _slices(facts, call):
            repeats.add(call.place, _slices_finding(facts, call))
        elif _several(call):
            repeats.add(call.place, _several_finding(facts, call))
    yield from repeats.findings()


def _ones(root: Root) -> bool:
    """Tell whether a root of several numbers was given a seed of ones."""
    if not root.seed_given or root.seed is None or root.shape is None or prod(root.shape) < 2:
        return False
    numbers = root.seed.numbers
    if numbers is not None:
        return all(number == 1 for number in numbers)
    measured = root.seed.statistics
    return measured is not None and measured.nan == 0 and measured.inf == 0 and measured.min == measured.max == 1


def _several(call: Call) -> bool:
    """Tell whether `grad` got several roots without seeds: it looks as if it would answer for each."""
    return call.api == "torch.autograd.grad" and len(call.roots) > 1 and not any(r.seed_given for r in call.roots)


def _several_finding(facts: Facts, call: Call) -> Finding:
    roots = [root_name(facts, call, index) for index in range(len(call.roots))]
    names = _targets(facts, call)
    message = tr(
        "One call of {grad} got the roots {roots}; it returns for {names} the gradient of their sum, not one for each.",
        grad=words.code("grad"),
        roots=words.codes(roots),
        names=words.codes(names) if names else tr("the inputs"),
    )
    advice = tr(
        "Right where the sum is wanted ({tf} give it too). For each root alone call {grad} once for each, the first "
        "ones with {retain}.",
        tf=words.codes(["tf.gradients", "tape.gradient"]),
        grad=words.code("torch.autograd.grad"),
        retain=words.code("retain_graph=True"),
    )
    show = tuple(root.node for root in call.roots if root.node is not None)
    return Finding("summed-outputs", "info", call.number, show[0] if show else None, call.place, message, advice, show)


def _slices(facts: Facts, call: Call) -> bool:
    """Tell whether `grad` got several roots that are parts of one tensor, as if it would answer for each."""
    if call.api != "torch.autograd.grad" or len(call.roots) < 2 or not call.inputs:
        return False
    graph = facts.graph(call.number)
    owners = set()
    for root in call.roots:
        node = None if root.node is None else graph.by_id.get(root.node)
        if node is None or node.short_op not in ("Select", "Slice", "Unbind", "Split", "Narrow", "Index"):
            return False
        below = graph.outgoing.get(node.id, ())
        owners.add((node.id if node.short_op in ("Unbind", "Split") else below[0].target) if below else node.id)
    return len(owners) == 1


def _ones_finding(facts: Facts, call: Call, index: int) -> Finding:
    root = call.roots[index]
    name = root_name(facts, call, index)
    shape = root.shape or ()
    message = tr(
        "{root} has {count} numbers (shape {shape}) and the seed is all ones: {where} the sum of the {count} rows of "
        "the Jacobian, the same as from {sum}.",
        root=words.code(name),
        count=prod(shape),
        shape=shape_text(shape),
        where=_where(facts, call),
        sum=words.code(f"{name}.sum()"),
    )
    advice = tr(
        "Right where each number of {root} depends on its own number of the input only. For one row pass a seed that "
        "is 1 at one place and 0 elsewhere: {one}; for all rows use {jacobian}. ({tf} give this sum too.)",
        root=words.code(name),
        one=words.code(with_seed(facts, call, "e_i", index)),
        jacobian=words.code("torch.autograd.functional.jacobian"),
        tf=words.codes(["tf.gradients", "tape.gradient"]),
    )
    show = () if root.node is None else (root.node,)
    experiment = f"torch.eye({prod(shape)})[0].reshape({shape_text(shape)})"
    return Finding("summed-outputs", "info", call.number, root.node, call.place, message, advice, show, experiment)


def _where(facts: Facts, call: Call) -> str:
    names = _targets(facts, call)
    if not call.accumulates:
        of = words.codes(names) if names else tr("the inputs")
        return tr("what is returned for {names} is", names=of)
    return tr("what arrives at {names} is", names=words.codes(names) if names else tr("the leaves"))


def _targets(facts: Facts, call: Call) -> list[str]:
    """The names that receive a gradient."""
    if call.inputs is not None:
        return list(dict.fromkeys(entry.name for entry in call.inputs if entry.name))
    return [node.name for node in facts.graph(call.number).nodes if node.kind == "leaf" and node.name]


def _slices_finding(facts: Facts, call: Call) -> Finding:
    names = _targets(facts, call)
    inputs = call.inputs or ()
    message = tr(
        "One call of {grad} got {count} roots that are parts of one tensor; it returns for {names} the sum over all "
        "{count} roots, not one gradient for each.",
        grad=words.code("grad"),
        count=len(call.roots),
        names=words.codes(names) if names else tr("the inputs"),
    )
    if len({(entry.node, entry.output_nr) for entry in inputs}) < len(inputs):
        message += " " + tr(
            "The same input stands {count} times in the list, so the same sum is returned {count} times.",
            count=len(inputs),
        )
    advice = tr(
        "Call {grad} once for each root with {retain}, or use {jacobian}, which gives all rows.",
        grad=words.code("torch.autograd.grad"),
        retain=words.code("retain_graph=True"),
        jacobian=words.code("torch.autograd.functional.jacobian"),
    )
    show = tuple(root.node for root in call.roots if root.node is not None)
    node = show[0] if show else None
    return Finding("summed-outputs", "warning", call.number, node, call.place, message, advice, show)
