"""The part of grad-none that tells of names which went from a leaf to another tensor: a result, or a new leaf."""

from __future__ import annotations

import ast

from gradviz.explain import words
from gradviz.explain.facts import Facts
from gradviz.explain.history import happened_before, seen_from
from gradviz.explain.reads import Read
from gradviz.explain.remade import Remade, as_leaf
from gradviz.explain.source import dotted, targets, text_of
from gradviz.model import Accumulation, Binding, Call, Finding, Level
from gradviz.model.numbers import brief
from gradviz.texts import tr


def not_a_leaf(facts: Facts, read: Read, found: Remade, call: Call, level: Level) -> Finding | None:
    """The finding about a name that means the result of an operation; None where the read came before that."""
    name = words.code(read.name)
    if read.place.function == "<module>" and read.place.line < found.binding.place.line and not read.died:
        return None
    text = words.code(text_of(found.statement, 80))
    where = words.line(facts, found.binding.place)
    if found.inline:
        why = tr(
            "{start} makes a leaf and applies an operation to it ({code}); {name} is the result, not the leaf.",
            start=where,
            code=text,
            name=name,
        )
    else:
        why = tr(
            "{start} bound {name} to the result of an operation ({code}); the leaf is the tensor of {leaf}{grad}.",
            start=where,
            name=name,
            code=text,
            leaf=words.line(facts, found.leaf),
            grad=_leaf_gradient(facts, found, call),
        )
    message = tr(
        "{grad} is None because {name} is not a leaf: {why}", grad=words.code(f"{read.name}.grad"), name=name, why=why
    )
    node = found.binding.node
    return Finding(
        "grad-none",
        level,
        call.number,
        node,
        found.binding.place,
        message,
        _remedy(found, read.name),
        () if node is None else (node,),
    )


def _leaf_gradient(facts: Facts, found: Remade, call: Call) -> str:
    """`, and it did receive [1, 1]`: the gradient of the tensor that has lost its name."""
    for entry in facts.detail(call.number).accumulations:
        if found.leaf_node is not None and entry.node == found.leaf_node and entry.incoming is not None:
            return tr(", which did receive {value}", value=brief(entry.incoming))
    return ""


def _remedy(found: Remade, name: str) -> str:
    if found.update:
        return _in_place(found.value, found.binding.name)
    leaf = as_leaf(found.value) if found.inline else None
    if leaf is not None:
        return tr("Make it a leaf last: {code}.", code=words.code(f"{found.binding.name} = {leaf}"))
    return tr(
        "Give the result another name and read {grad} of the leaf; or call {retain} before the backward to keep the "
        "gradient of the result.",
        grad=words.code(f"{name}.grad"),
        retain=words.code(f"{name}.retain_grad()"),
    )


def bound_anew(facts: Facts, read: Read, binding: Binding) -> Finding | None:
    """The finding about a name that means a new leaf since the call that filled the old one's `.grad`."""
    earlier = [b for b in seen_from(facts.history.named(binding.name), read.scope) if b.order < binding.order]
    former = [b for b in earlier if b.is_leaf and b.tensor != binding.tensor and b.node is not None]
    filled = _last_filled(facts, former[-1].node) if former and binding.is_leaf else None
    if filled is None or happened_before(binding, filled[0]):
        return None
    call, entry = filled
    statement = facts.statement_of(binding.place, binding.name)
    message = tr(
        "{grad} is None: {line} bound {name} to a new tensor ({code}) after {call}. The gradient, {value}, went to the "
        "old one.",
        grad=words.code(f"{read.name}.grad"),
        line=words.line(facts, binding.place),
        name=words.code(read.name),
        code=words.code("..." if statement is None else text_of(statement, 80)),
        call=words.call_at(facts, call),
        value=brief(entry.incoming),
    )
    value = next((value for name, value in targets(statement) if name == binding.name), None) if statement else None
    advice = _in_place(value, binding.name)
    return Finding("grad-none", "error", call.number, entry.node, binding.place, message, advice, (entry.node,))


def _last_filled(facts: Facts, node: int | None) -> tuple[Call, Accumulation] | None:
    """The last call that brought a gradient to a leaf, and what it brought."""
    for call in reversed(facts.calls):
        for entry in facts.detail(call.number).accumulations:
            if entry.node == node and entry.incoming is not None:
                return call, entry
    return None


def _in_place(value: ast.expr | None, name: str) -> str:
    """`w -= lr * w.grad` for the value `(w - lr * w.grad).detach()` that `w` is bound to."""
    code = f"{name}.copy_(...)"
    for node in () if value is None else ast.walk(value):
        if isinstance(node, ast.BinOp) and dotted(node.left) == name and isinstance(node.op, ast.Sub | ast.Add):
            code = f"{name} {'-' if isinstance(node.op, ast.Sub) else '+'}= {text_of(node.right)}"
            break
    return tr(
        "Change the values of the leaf itself: {block} {code}, then clear {grad}.",
        block=words.code("with torch.no_grad():"),
        code=words.code(code),
        grad=words.code(f"{name}.grad"),
    )
