"""Why a leaf has no `.grad`: not in the graph, cut off, excluded, returned instead, undefined, cleared."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from gradviz.explain import words
from gradviz.explain.aliases import names_of
from gradviz.explain.cut_words import blamed, cut_text, what_to_do, why
from gradviz.explain.cuts import Cut, slice_of
from gradviz.explain.definitions import scope_of
from gradviz.explain.facts import Facts
from gradviz.explain.source import prefixes
from gradviz.explain.written import root_name, written
from gradviz.model import Call, Graph, Node, Place
from gradviz.texts import tr


@dataclass(frozen=True)
class Reason:
    """Why, what to do, and where: the node that decides and the line to look at."""

    text: str
    advice: str
    node: int | None = None
    place: Place | None = None


def reason_in(facts: Facts, call: Call, name: str) -> Reason:
    """Why `call` brought no gradient to the leaf `name`."""
    graph = facts.graph(call.number)
    leaf = facts.node_named(call, name)
    if leaf is None or leaf.kind != "leaf":
        return outside(facts, call, name)
    if not call.accumulates:
        return _returned(facts, call, leaf)
    if call.inputs is not None and all(entry.node != leaf.id for entry in call.inputs):
        return _excluded(facts, call, leaf)
    return _undefined(facts, call, graph, leaf)


def outside(facts: Facts, call: Call, name: str) -> Reason:
    """Why a leaf that is not in the graph of a call is not there."""
    root = words.code(root_name(facts, call))
    cut = cut_between(facts, call, name)
    if cut is not None:
        text = tr(
            "the way from {root} ({call}) back to {name} is cut: {cut}",
            root=root,
            call=words.call_at(facts, call),
            name=words.code(name),
            cut=cut_text(facts, cut) + " " + why(cut),
        )
        return Reason(text, what_to_do(facts, cut), None, blamed(facts, cut))
    text = tr(
        "it is not in the graph of {root} ({call}): nothing that {root} was computed from depends on it.",
        root=root,
        call=words.call_at(facts, call),
    )
    advice = tr(
        "Check whether {name} was meant to take part in what {root} is computed from.",
        name=words.code(name),
        root=root,
    )
    return Reason(text, advice, None, None)


def cut_between(facts: Facts, call: Call, name: str) -> Cut | None:
    """The cut behind which `name` lies, seen from the call's first root."""
    code = written(facts, call)
    root = None if code is None else code.root()
    scope = scope_of(facts, call.place)
    if root is None or scope is None:
        return None
    names = names_of(facts, name)
    for cut in slice_of(facts, call, root, scope).cuts:
        if cut.tracked is False:
            continue
        if any(_is_or_holds(one, part) for one in names for part in cut.names if part not in _SELF):
            return cut
        behind = slice_of(facts, call, _tuple(cut), scope_of(facts, cut.place) or scope)
        if any(one == part or part in prefixes(one) for one in names for part, _ in behind.names if part not in _SELF):
            return cut
    return None


def _is_or_holds(name: str, part: str) -> bool:
    return name in prefixes(part) or part in prefixes(name)


_SELF = ("self", "torch", "nn", "F")


def _tuple(cut: Cut) -> ast.expr:
    return ast.Tuple(elts=[ast.parse(name, mode="eval").body for name in cut.names], ctx=ast.Load())


def _returned(facts: Facts, call: Call, leaf: Node) -> Reason:
    text = tr(
        "{api} ({call}) returns the gradients and leaves every {grad} as it is.",
        api=words.code(call.api),
        call=words.call_at(facts, call),
        grad=words.code(".grad"),
    )
    advice = tr(
        "Use what {api} returns, or call {backward} to fill {grad}.",
        api=words.code("torch.autograd.grad"),
        backward=words.code(f"{root_name(facts, call)}.backward()"),
        grad=words.code(f"{leaf.name}.grad"),
    )
    return Reason(text, advice, leaf.id, call.place)


def _excluded(facts: Facts, call: Call, leaf: Node) -> Reason:
    names = [entry.name for entry in call.inputs or () if entry.name]
    text = tr(
        "{call} says {inputs}, so only {names} receive a gradient.",
        call=words.call_at(facts, call),
        inputs=words.code("inputs="),
        names=words.codes(names) if names else tr("those tensors"),
    )
    advice = tr(
        "Add {name} to {inputs}, or leave {inputs} out.", name=words.code(leaf.name or ""), inputs=words.code("inputs=")
    )
    return Reason(text, advice, leaf.id, call.place)


def _undefined(facts: Facts, call: Call, graph: Graph, leaf: Node) -> Reason:
    """The leaf was reached, but only an undefined gradient arrived."""
    ran = {execution.node: execution for execution in facts.detail(call.number).executions}
    for edge in graph.incoming.get(leaf.id, ()):
        execution, source = ran.get(edge.source), graph.by_id.get(edge.source)
        if execution is None or source is None or edge.slot >= len(execution.grad_inputs):
            continue
        if execution.grad_inputs[edge.slot] is None:
            who = words.node_text(facts, source)
            text = tr("the backward of {who} returns None for it, which means no gradient at all (not zero).", who=who)
            advice = (
                tr("Return a gradient for that input in {op}.", op=words.code(f"{source.short_op}.backward"))
                if source.kind == "custom"
                else tr("Nothing to do if the result does not depend on it; None stands for that.")
            )
            return Reason(text, advice, source.id, source.place)
    text = tr("no gradient arrived at it in {call}.", call=words.call_at(facts, call))
    return Reason(text, tr("Look at the graph: the edges that lead to it carry no gradient."), leaf.id, call.place)
