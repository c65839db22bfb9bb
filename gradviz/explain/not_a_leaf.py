"""The part of grad-none that tells of names which went from a leaf to the result of an operation."""

from __future__ import annotations

from gradviz.explain import words
from gradviz.explain.facts import Facts
from gradviz.explain.reads import Read
from gradviz.explain.remade import Remade, as_leaf
from gradviz.explain.source import text_of
from gradviz.model import Call, Finding, Level
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
        in_place = text_of(found.value).replace(f"{name} - ", f"{name} -= ", 1)
        code = in_place if in_place.startswith(f"{name} -= ") else f"{name}.copy_(...)"
        return tr(
            "Change the values of the leaf itself: {block} {code}, then clear {grad}.",
            block=words.code("with torch.no_grad():"),
            code=words.code(code),
            grad=words.code(f"{name}.grad"),
        )
    leaf = as_leaf(found.value) if found.inline else None
    if leaf is not None:
        return tr("Make it a leaf last: {code}.", code=words.code(f"{name} = {leaf}"))
    return tr(
        "Give the result another name and read {grad} of the leaf; or call {retain} before the backward to keep the "
        "gradient of the result.",
        grad=words.code(f"{name}.grad"),
        retain=words.code(f"{name}.retain_grad()"),
    )
