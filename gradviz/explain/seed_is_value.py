"""seed-is-value: `x.backward(x)`: a tensor of the graph itself is used as the seed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from gradviz.explain import words
from gradviz.explain.cuts import slice_of
from gradviz.explain.definitions import binding_of, scope_of
from gradviz.explain.facts import Facts
from gradviz.explain.page import Page
from gradviz.explain.repeated import Repeats
from gradviz.explain.source import dotted
from gradviz.explain.written import root_name, with_seed, written
from gradviz.model import Accumulation, Call, Finding, Node, Root
from gradviz.model.numbers import brief
from gradviz.texts import tr

PAGE = Page(
    code="seed-is-value",
    title="A value of the graph is used as the seed",
    cause=(
        "`y.backward(v)` does not compute dy/dv. It takes `v` as the gradient that arrives at `y` and pulls it back: "
        "what lands in `x.grad` is the sum of `v[i] * dy[i]/dx`. With `x.backward(x)` the root is the leaf itself, so "
        "`x.grad` is simply the seed, that is the values of `x`; with `y.backward(x)` each term is weighted by a value "
        "of `x`."
    ),
    example="""\
import torch

x = (2 * torch.ones(2, 2)).requires_grad_()
x.backward(x)
print(x.grad)
""",
    remedy=(
        "For the sum of the derivatives of all numbers of `y` pass ones: `y.backward(torch.ones_like(y))`, the same as "
        "`y.sum().backward()`. Where the values are meant as weights, say so with a name of their own and "
        "`.detach()`: `weights = x.detach().clone()`."
    ),
    fixed="""\
import torch

x = (2 * torch.ones(2, 2)).requires_grad_()
x.backward(torch.ones_like(x))
print(x.grad)
""",
)


def find(facts: Facts) -> Iterator[Finding]:
    """A finding for each line whose seed is the root itself or a tensor that the root depends on."""
    repeats = Repeats(facts)
    for call in facts.looked_at:
        if call.error is None and not call.create_graph:
            for index, root in enumerate(call.roots):
                value = _value(facts, call, index) if root.seed_given else None
                if value is not None:
                    repeats.add((call.place, index), _finding(facts, call, index, value))
    yield from repeats.findings()


@dataclass(frozen=True)
class _Weights:
    """What the values of the seed are. `node` is None for a tensor that the root was computed with as a constant."""

    name: str | None
    node: Node | None


def _value(facts: Facts, call: Call, index: int) -> _Weights | None:
    """The tensor of the graph whose values are the seed."""
    root = call.roots[index]
    code = written(facts, call)
    expression = None if code is None else code.seed(index)
    name = root.seed_name if expression is None else dotted(_same_value(expression))
    if name is None:
        return None
    graph = facts.graph(call.number)
    at_root = graph.by_id.get(root.node) if root.node is not None else None
    if at_root is not None and name == root.name:
        return _Weights(at_root.name, at_root)
    found = facts.node_named(call, name)
    if found is not None and _held_then(facts, call, name, found):
        return _Weights(found.name, found) if _same_values(found, root) else None
    return _Weights(name, None) if found is None and _is_constant_of(facts, call, index, name) else None


def _same_value(expression: ast.expr) -> ast.expr:
    """`x` of `x.data`, `x.detach()` and `x.clone()`."""
    while True:
        function = expression.func if isinstance(expression, ast.Call) and not expression.args else expression
        if not isinstance(function, ast.Attribute) or function.attr not in ("data", "detach", "clone"):
            return expression
        expression = function.value


def _is_constant_of(facts: Facts, call: Call, index: int, name: str) -> bool:
    """Tell whether a tensor that does not require grad is among what the root was computed from."""
    binding = facts.history.last(name, call, call.place)
    code, scope = written(facts, call), scope_of(facts, call.place)
    root = None if code is None else code.root(index)
    if binding is None or binding.requires_grad or root is None or scope is None:
        return False
    return any(
        binding_of(facts, call, met, here) == binding
        for met, here in slice_of(facts, call, root, scope).names
        if met == name
    )


def _held_then(facts: Facts, call: Call, name: str, node: Node) -> bool:
    """Tell whether `name` still meant the node's output at the call (it may have been bound again)."""
    binding = facts.history.last(name, call, call.place)
    if binding is None:
        return node.kind == "leaf"
    return binding.requires_grad and (binding.node in (None, node.id))


def _same_values(node: Node, root: Root) -> bool:
    """False only where both values are known and differ."""
    if node.value is None or root.seed is None or node.value.numbers is None or root.seed.numbers is None:
        return True
    return node.value.numbers == root.seed.numbers


def _finding(facts: Facts, call: Call, index: int, value: _Weights) -> Finding:
    root = call.roots[index]
    name = root_name(facts, call, index)
    seed = value.name or name
    node = None if value.node is None else value.node.id
    if node is not None and node == root.node:
        message = tr(
            "{call} uses the value of {root} as the gradient that arrives at {root}.",
            call=words.code(with_seed(facts, call, seed, index)),
            root=words.code(name),
        )
    else:
        message = tr(
            "{call} uses the value of {seed} as the gradient that arrives at {root}, so each derivative is weighted by "
            "a value of {seed}.",
            call=words.code(with_seed(facts, call, seed, index)),
            seed=words.code(seed),
            root=words.code(name),
        )
    message += " " + _result(facts, call, root, value.node)
    advice = tr(
        "The argument is not the tensor to differentiate with respect to. For the derivatives of {root} themselves "
        "pass ones: {ones}.",
        root=words.code(name),
        ones=words.code(with_seed(facts, call, f"torch.ones_like({name})", index)),
    )
    shape = None if root.shape is None else f"torch.ones({tuple(root.shape)})"
    show = tuple(dict.fromkeys(n for n in (root.node, node) if n is not None))
    return Finding("seed-is-value", "warning", call.number, root.node, call.place, message, advice, show, shape)


def _result(facts: Facts, call: Call, root: Root, value: Node | None) -> str:
    found = next((a for a in facts.detail(call.number).accumulations if value and a.node == value.id), None)
    if value is not None and value.id == root.node and value.kind == "leaf":
        return tr(
            "As {root} is a leaf, the seed itself, {seed}, is added to its .grad; that is not dy/dx.",
            root=words.code(value.name or ""),
            seed=brief(root.seed),
        )
    return _landed(found) + tr("This is the seed pulled back through the graph, not dy/dx.")


def _landed(entry: Accumulation | None) -> str:
    if entry is None or entry.incoming is None:
        return ""
    name = words.code(f"{entry.name}.grad") if entry.name else ".grad"
    return tr("{name} receives {value}.", name=name, value=brief(entry.incoming)) + " "
