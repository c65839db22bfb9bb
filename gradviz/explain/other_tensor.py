"""Why a tensor given to `grad` is not in the graph although what it is called, or made from, is there."""

from __future__ import annotations

import ast

from gradviz.explain import words
from gradviz.explain.cuts import slice_of
from gradviz.explain.definitions import scope_of
from gradviz.explain.facts import Facts
from gradviz.explain.history import seen_from
from gradviz.explain.reasons import Reason
from gradviz.explain.source import dotted, names_in, prefixes, text_of
from gradviz.explain.written import root_name, written
from gradviz.model import Call, Node
from gradviz.texts import tr


def other_tensor(facts: Facts, call: Call, index: int, name: str) -> Reason | None:
    """The name was bound anew, the tensor was made for this call, or it lies beside the way to the root."""
    return _bound_anew(facts, call, name) or _made_for_the_call(facts, call, index) or _beside(facts, call, name)


def _bound_anew(facts: Facts, call: Call, name: str) -> Reason | None:
    """`x = x.clone()` after `y` was computed: the graph holds the tensor that `x` was before."""
    now = facts.history.last(name, call, call.place)
    nodes = facts.graph(call.number).by_id
    if now is None or now.node in nodes:
        return None
    former = [
        b
        for b in seen_from(facts.history.named(name), call.place)
        if b.order < now.order and b.tensor != now.tensor and b.node in nodes
    ]
    if not former:
        return None
    text = tr(
        "{line} bound {name} anew ({code}); {root} was computed from the tensor of {former}, which had that name "
        "before.",
        line=words.line(facts, now.place),
        name=words.code(name),
        code=words.code(facts.line_text(now.place)),
        root=words.code(root_name(facts, call)),
        former=words.line(facts, former[-1].place),
    )
    advice = tr(
        "Give the new tensor another name and differentiate with respect to the one that {root} was computed from; or "
        "compute {root} from the new one.",
        root=words.code(root_name(facts, call)),
    )
    return Reason(text, advice, former[-1].node, now.place)


def _made_for_the_call(facts: Facts, call: Call, index: int) -> Reason | None:
    """`grad(u, x[:, 0:1])`: indexing makes a tensor that nothing was computed from."""
    code = written(facts, call)
    expressions = [] if code is None else code.inputs()
    if index >= len(expressions):
        return None
    expression = expressions[index]
    found = _node_in(facts, call, expression)
    if found is None:
        return None
    name, node = found
    root = words.code(root_name(facts, call))
    text = tr(
        "{code} is a new tensor, made for this call; {root} was computed from {name} itself.",
        code=words.code(text_of(expression)),
        root=root,
        name=words.code(name),
    )
    advice = tr(
        "Differentiate with respect to {name} and take the part of the result; or name the part first and compute "
        "{root} from it.",
        name=words.code(name),
        root=root,
    )
    return Reason(text, advice, node.id, call.place)


def _node_in(facts: Facts, call: Call, expression: ast.expr) -> tuple[str, Node] | None:
    """A tensor of the graph that an expression which is more than its name reads."""
    whole = dotted(expression)
    for name in names_in(expression):
        for part in prefixes(name):
            node = None if part == whole else facts.node_named(call, part)
            if node is not None:
                return part, node
    return None


def _beside(facts: Facts, call: Call, name: str) -> Reason | None:
    """`x = data[:, 0:1]`, but `u = net(data)`: the name holds a part that `u` was not computed from."""
    binding = facts.history.last(name, call, call.place)
    nodes = facts.graph(call.number).by_id
    scope = None if binding is None else scope_of(facts, binding.place, binding.order)
    if binding is None or binding.is_leaf or binding.node in nodes or scope is None or not name.isidentifier():
        return None
    made_from = slice_of(facts, call, ast.Name(id=name, ctx=ast.Load()), scope_of(facts, call.place) or scope).names
    for part, here in made_from:
        source = facts.history.resolve(part, call, here.place, here.below)
        if source is None or source.node not in nodes or source.tensor == binding.tensor:
            continue
        text = tr(
            "it is made from {source} ({code} in {line}), but {root} was computed from {source} without it.",
            source=words.code(source.name),
            code=words.code(facts.line_text(binding.place)),
            line=words.line(facts, binding.place),
            root=words.code(root_name(facts, call)),
        )
        advice = tr(
            "Compute {root} from {name}; or differentiate with respect to {source} and take the part of the result.",
            root=words.code(root_name(facts, call)),
            name=words.code(name),
            source=words.code(source.name),
        )
        return Reason(text, advice, source.node, binding.place)
    return None
