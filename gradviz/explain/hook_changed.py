"""hook-changed: a hook of the script replaced a gradient on its way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from gradviz.explain import words
from gradviz.explain.facts import Facts
from gradviz.explain.history import plain
from gradviz.explain.page import Page
from gradviz.explain.repeated import Repeats
from gradviz.explain.source import Source, dotted, parameters_of, text_of
from gradviz.model import Call, Execution, Finding, Gradient, Graph, Node, Place
from gradviz.model.numbers import brief
from gradviz.texts import tr

PAGE = Page(
    code="hook-changed",
    title="A hook changed a gradient",
    cause=(
        "A hook (`tensor.register_hook`, `node.register_prehook`, a module's backward hook) that returns something "
        "replaces the gradient with it. Everything below then gets the changed one, and the chain rule does not match "
        "any more by itself. `retain_grad()` stores what goes on after the hooks."
    ),
    example="""\
import torch

x = torch.tensor([1., -2., 3.], requires_grad=True)
h = x * 3
h.register_hook(lambda g: g.clamp(-1, 1))
(h * h).sum().backward()
print(x.grad)
""",
    remedy=(
        "Nothing to do where that is what the hook is for. A hook that is only to look must return None: a lambda that "
        "ends in a call such as `print(...)` does."
    ),
    fixed="""\
import torch

x = torch.tensor([1., -2., 3.], requires_grad=True)
h = x * 3
h.register_hook(lambda g: print(g))
(h * h).sum().backward()
print(x.grad)
""",
)


_BEFORE = ("register_hook", "register_prehook", "register_multi_grad_hook", "register_full_backward_pre_hook")
_AFTER = ("register_hook", "register_full_backward_hook", "register_backward_hook")
_OF_MODULES = ("register_full_backward_pre_hook", "register_full_backward_hook", "register_backward_hook")
_LOOKS = ("print", "append", "update", "add")  # what a lambda calls that only looks


@dataclass(frozen=True)
class _Change:
    """One gradient that a hook replaced: at which node, what came, what went on; the line of the hook where known."""

    node: Node
    came: Gradient
    went: Gradient
    hook: Place | None
    code: str


def find(facts: Facts) -> Iterator[Finding]:
    """A finding for each hook that replaced gradients, for all that it replaced in a call."""
    repeats = Repeats(facts)
    for call in facts.moved:
        graph = facts.graph(call.number)
        groups: dict[object, list[_Change]] = {}
        for execution in facts.detail(call.number).executions:
            node = graph.by_id.get(execution.node)
            for change in () if node is None else _changes(facts, graph, node, execution):
                groups.setdefault(change.hook or change.node.key, []).append(change)
        for key, group in groups.items():
            repeats.add((call.place, key), _finding(facts, call, graph, group))
    yield from repeats.findings()


def _changes(facts: Facts, graph: Graph, node: Node, execution: Execution) -> Iterator[_Change]:
    """What hooks before and after a node's own backward changed."""
    sides = (
        (execution.arrived, execution.grad_outputs, _BEFORE),
        (execution.computed, execution.grad_inputs, _AFTER),
    )
    for before, after, methods in sides:
        pairs = [(came, went) for came, went in zip(before or (), after, strict=False) if came != went]
        if before is not None and before != after and not (pairs and all(_is_cast(*pair) for pair in pairs)):
            yield _Change(node, *(pairs[0] if pairs else (None, None)), *_hook(facts, graph, node, methods))


def _is_cast(came: Gradient, went: Gradient) -> bool:
    """Tell whether the engine alone gave a gradient its tensor's dtype (a seed of integers); a hook may not do that."""
    return came is not None and went is not None and came.dtype != went.dtype


def _finding(facts: Facts, call: Call, graph: Graph, group: list[_Change]) -> Finding:
    first = group[0]
    message = tr(
        "In {call} a hook changed the gradient at {node}: {came} arrived, {went} went on.",
        call=words.call_at(facts, call),
        node=words.node_text(facts, first.node),
        came=brief(first.came),
        went=brief(first.went),
    )
    if len(group) > 1:
        others = [words.node_text(facts, change.node) for change in group[1:]]
        message += " " + tr("It changed the gradient at {others}, too.", others=words.listed(others))
    if first.hook is not None:
        message += " " + tr(
            "It is registered in {line}: {code}.", line=words.line(facts, first.hook), code=words.code(first.code)
        )
    advice = tr("Right if the hook is meant to change it; a hook that only looks must return None.")
    place = first.hook or first.node.place or call.place
    show = tuple(dict.fromkeys(change.node.id for change in group))
    return Finding("hook-changed", "info", call.number, first.node.id, place, message, advice, show)


def _hook(facts: Facts, graph: Graph, node: Node, methods: tuple[str, ...]) -> tuple[Place | None, str]:
    """The line that registers the hook: on the node's tensor or module by name, else the only one there is."""
    of_module = node.op.startswith("BackwardHookFunction")
    methods = tuple(method for method in methods if (method in _OF_MODULES) == of_module)
    lines = [line for line in _registrations(facts, methods) if _fits(line[1], methods) and not _only_looks(line[1])]
    found = [line for line in lines if _is_on(facts, graph, node, *line)]
    if not found and len(lines) == 1:
        found = lines
    if not found:
        return None, ""
    source, call = found[0]
    return Place(source.file, call.lineno), text_of(call)


def _registrations(facts: Facts, methods: tuple[str, ...]) -> Iterator[tuple[Source, ast.Call]]:
    for source in facts.sources.values():
        for call in source.walk(ast.Call):
            if isinstance(call, ast.Call) and (dotted(call.func) or _method(call)).rsplit(".", 1)[-1] in methods:
                yield source, call


def _fits(call: ast.Call, methods: tuple[str, ...]) -> bool:
    """`register_hook` of a node runs after its backward, that of a tensor before the one of the node behind it."""
    owner = dotted(call.func.value) or "" if isinstance(call.func, ast.Attribute) else ""
    if _method(call) != "register_hook":
        return True
    return owner.endswith(".grad_fn") != ("register_prehook" in methods)


def _only_looks(call: ast.Call) -> bool:
    hook = call.args[-1] if call.args else None
    inside = hook.body if isinstance(hook, ast.Lambda) else hook
    if isinstance(inside, ast.Name):
        return inside.id in _LOOKS
    return isinstance(inside, ast.Call) and (dotted(inside.func) or "").rsplit(".", 1)[-1] in _LOOKS


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _is_on(facts: Facts, graph: Graph, node: Node, source: Source, call: ast.Call) -> bool:
    """Tell whether a hook is registered on what this node stands for."""
    assert isinstance(call.func, ast.Attribute)
    owner = (dotted(call.func.value) or "").removesuffix(".grad_fn")
    if not owner or (node.place is not None and source.file == node.place.file and call.lineno < node.place.line):
        return False
    if node.module is not None and plain(owner) == plain(node.module) and _method(call) in _OF_MODULES:
        return True
    names = {facts.name_of(graph, node)} | {b.name for b in facts.history.of_node(node.id)}
    if owner in names:
        return True
    for loop in source.ancestors(call):
        if isinstance(loop, ast.For) and owner in {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}:
            modules = list(parameters_of(loop.iter))
            is_below = any(name and plain(name).startswith(f"{plain(m)}.") for name in names for m in modules)
            return node.kind == "leaf" and (is_below or not modules)
    return False
