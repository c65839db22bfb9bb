"""in-place: a tensor that a node needs for its backward was changed after the node had saved it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from gradviz.explain import words
from gradviz.explain.definitions import returns
from gradviz.explain.facts import Facts
from gradviz.explain.page import Page
from gradviz.explain.source import names_in, targets, text_of
from gradviz.explain.writers import (
    Writer,
    base_written,
    embedding_lookup,
    in_chain,
    in_place_module,
    module_in_place,
    on_the_line,
    out_of_place,
    read_while_filled,
    writer_of,
)
from gradviz.explain.written import root_name
from gradviz.model import Call, Finding, Graph, Node, Place
from gradviz.model.numbers import shape_text
from gradviz.texts import tr

_CHANGED = "has been modified by an inplace operation"
_LEAF = "leaf Variable that requires grad is being used in an in-place operation"
_MANY_VIEWS = "is a view and is being modified inplace"

PAGE = Page(
    code="in-place",
    title="A saved tensor was changed in place",
    cause=(
        "Each tensor counts how often it was written to (its version). A node notes the version of what it saves for "
        "its backward, and raises when the backward finds another one, since the gradient would be wrong. Which "
        "operation minds depends on its formula: `exp`, `sigmoid`, `tanh`, `sqrt` and `relu` save their own result, "
        "`x * y` and `x ** 2` save their inputs, `x + y` saves nothing. So the same write can be harmless after one "
        "operation and fatal after another. PyTorch names the victim; the line to change is the one that wrote."
    ),
    example="""\
import torch

a = torch.tensor([1., 2., 3.], requires_grad=True)
b = a.sigmoid()
b[1] = 2
b.sum().backward()
""",
    remedy=(
        "Write the result to a new tensor: `x = x + y` instead of `x += y`, `x.relu()` instead of `x.relu_()`, "
        "`inplace=False` in modules; for an assignment to an element take a copy first, `b = b.clone()`, or use "
        "`torch.where`. Where an optimizer step lies between forward and backward, run the forward again after it. "
        "Update parameters under `torch.no_grad()` and after the backward."
    ),
    fixed="""\
import torch

a = torch.tensor([1., 2., 3.], requires_grad=True)
b = a.sigmoid()
b = b.clone()
b[1] = 2
b.sum().backward()
""",
    errors=(
        (
            "one of the variables needed for gradient computation has been modified by an inplace operation",
            "the line that wrote, the node that suffers, both versions, and the same line written out of place",
        ),
        (
            "a leaf Variable that requires grad is being used in an in-place operation",
            "whether it is an update (`no_grad`) or part of the computation",
        ),
        (
            "a view of a leaf Variable that requires grad is being used in an in-place operation",
            "which buffer needs no `requires_grad`",
        ),
        ("Output 0 of Unbind is a view and is being modified inplace", "the line out of place"),
    ),
)

_DETAILS = re.compile(
    r"\[torch\.(?:\w+\.)?\w+ \[([\d, ]*)\]\](?:, which is output (\d+) of ([\w:]+),)? is at version (\d+); "
    r"expected version (\d+)"
)


_VIEWS = ("T", "Transpose", "AsStrided", "View", "UnsafeView", "Unsqueeze", "Squeeze", "Expand", "Permute", "ToCopy",
          "Select", "Slice", "Narrow", "Unbind", "Split", "Diagonal", "Alias")  # fmt: skip
_MOST_AROUND = 40
_ANY = 1 << 30  # a version that the message does not tell


@dataclass(frozen=True)
class _Victim:
    """The node that cannot run, and the tensor that it saved: its shape, versions, and what it may be called."""

    node: Node | None
    own_result: bool
    shape: tuple[int, ...]
    found: int
    expected: int
    names: tuple[str, ...]
    storages: frozenset[int]


def find(facts: Facts) -> Iterator[Finding]:
    """A finding for each call that met a changed tensor, and for a write that PyTorch refused at once."""
    for call in facts.failed:
        assert call.error is not None
        if _CHANGED in call.error.message:
            yield _finding(facts, call)
    outcome, place = facts.recording.outcome, facts.end_place
    if place is not None and not any(map(facts.died_at, facts.failed)):
        if _LEAF in (outcome.message or ""):
            yield _refused_leaf(facts, place, (outcome.message or "").startswith("a view"))
        elif _MANY_VIEWS in (outcome.message or ""):
            yield _refused_view(facts, place)


def _finding(facts: Facts, call: Call) -> Finding:
    victim = _victim(facts, call)
    versions = (victim.expected, victim.found)
    writer = writer_of(facts, call, victim.shape, versions, victim.names, victim.storages)
    if writer is None and victim.own_result and victim.node is not None:
        writer = in_chain(facts, victim.node.place) or on_the_line(facts, victim.node.place)
    writer = writer or in_place_module(facts) or embedding_lookup(facts, call)
    message = _needs(facts, victim) + " " + _wrote(facts, call, victim, writer)
    advice = _advice(facts, call, victim, writer)
    node = None if victim.node is None else victim.node.id
    place = call.place if writer is None or writer.place is None else writer.place
    show = () if node is None else (node,)
    return Finding("in-place", "error", call.number, node, place, message, advice, show)


def _victim(facts: Facts, call: Call) -> _Victim:
    assert call.error is not None
    graph = facts.graph(call.number)
    node = None if call.failed_node is None else graph.by_id.get(call.failed_node)
    details = _DETAILS.search(call.error.message)
    if details is None:
        return _Victim(
            node, False, (), 1 << 30, 0, _names_around(facts, graph, node, None), _memory(facts, graph, node)
        )
    shape = tuple(int(size) for size in details[1].replace(" ", "").split(",") if size)
    maker = None if details[3] is None else details[3].rsplit("::", 1)[-1]
    own = node is not None and maker is not None and node.short_op == maker
    names = _names_around(facts, graph, node, maker)
    memory = _memory(facts, graph, node)
    return _Victim(node, own, shape, int(details[4]), int(details[5]), names, memory)


def _memory(facts: Facts, graph: Graph, node: Node | None) -> frozenset[int]:
    """The memory of what a node saved, as far as bindings tell: its own output's and its inputs'."""
    if node is None:
        return frozenset()
    around = _around(graph, node)
    near = {one.id for one in around}
    # A line that fills a tensor made a node each time it ran, and of a loop only the first and last are bound.
    filling = {(one.place.file, one.place.line) for one in around if one.short_op == "CopySlices" and one.place}
    bound = [
        b
        for b in facts.history.all
        if (b.node in near and b.cause != "written")
        or (b.cause == "written" and (b.place.file, b.place.line) in filling)
    ]
    return frozenset(b.storage for b in bound if b.storage is not None)


def _names_around(facts: Facts, graph: Graph, node: Node | None, maker: str | None) -> tuple[str, ...]:
    """Names of the node's own output and of what it was made from, the one that `maker` made first."""
    if node is None:
        return ()
    near = _around(graph, node)
    own_first = maker is not None and node.short_op == maker
    near.sort(key=lambda n: (maker is not None and n.short_op != maker, n.id == node.id and not own_first))
    names: list[str] = []
    for one in near:
        name = facts.name_of(graph, one)
        names += [name] if name else []
        names += [binding.name for binding in facts.history.of_node(one.id)]
    return tuple(dict.fromkeys(names))


def _around(graph: Graph, node: Node) -> list[Node]:
    """A node and what it was made from, through views, which share the memory and its version."""
    near = [node]
    waiting = _made_from(graph, node)
    while waiting and len(near) < _MOST_AROUND:
        one = waiting.pop(0)
        near.append(one)
        if one.short_op in _VIEWS:
            waiting += [below for below in _made_from(graph, one) if below not in near]
    return near


def _made_from(graph: Graph, node: Node) -> list[Node]:
    return [graph.by_id[edge.target] for edge in graph.outgoing.get(node.id, ()) if edge.target in graph.by_id]


def _needs(facts: Facts, victim: _Victim) -> str:
    shape = shape_text(victim.shape)
    if victim.node is None:
        return tr("A node needs a tensor of shape {shape} as it was when it ran.", shape=shape)
    who = words.node_text(facts, victim.node)
    if victim.own_result:
        return tr("The backward of {who} needs its own result, of shape {shape}, as it was.", who=who, shape=shape)
    return tr("The backward of {who} needs a tensor of shape {shape} that it saved, as it was.", who=who, shape=shape)


def _wrote(facts: Facts, call: Call, victim: _Victim, writer: Writer | None) -> str:
    versions = tr("version {found} instead of {expected}", found=victim.found, expected=victim.expected)
    if victim.found == _ANY:
        versions = tr("another version")
    if writer is None or writer.place is None:
        return tr("It was changed in place before {call} ({versions}).", call=words.call_word(call), versions=versions)
    where = words.line(facts, writer.place)
    if writer.step is not None and writer.step.kind == "optimizer_step":
        return tr(
            "The optimizer step in {where} has changed it since: {names} ({versions}).",
            where=where,
            names=words.codes(_stepped(victim, writer)),
            versions=versions,
        )
    text = facts.line_text(writer.place)
    if writer.module is not None:
        return tr(
            "{code} ({where}) works on its input in place and has overwritten it ({versions}).",
            code=words.code(writer.module),
            where=where,
            versions=versions,
        )
    return tr(
        "{start} has written into {name} since: {code} ({versions}).",
        start=words.start(where),
        name=words.code(writer.name) if writer.name else tr("it"),
        code=words.code(text),
        versions=versions,
    )


def _stepped(victim: _Victim, writer: Writer) -> list[str]:
    assert writer.step is not None
    mine = [name for name in victim.names if name in writer.step.names]
    return mine or list(writer.step.names)


def _advice(facts: Facts, call: Call, victim: _Victim, writer: Writer | None) -> str:
    if writer is None:
        return tr(
            "Look for operations that end in an underscore, {inplace}, {augmented} and assignments to elements between "
            "the forward pass and this call, and write their result to a new tensor.",
            inplace=words.code("inplace=True"),
            augmented=words.code("+="),
        )
    if writer.step is not None and writer.step.kind == "optimizer_step":
        return tr(
            "Call backward before the optimizer step (all losses first, then {step}), or compute {root} again after "
            "it.",
            step=words.code("optimizer.step()"),
            root=words.code(root_name(facts, call)),
        )
    if writer.module is not None:
        return tr("Leave out {flag} there.", flag=words.code("inplace=True"))
    if writer.limited:
        return tr(
            "An embedding with {flag} rescales its weight when it is used: compute with {clone} before that.",
            flag=words.code("max_norm="),
            clone=words.code(f"{writer.name}.clone()"),
        )
    if writer.is_leaf:
        return tr(
            "{name} is a parameter: change it after the backward in {line}, not between the forward pass and it.",
            name=words.code(writer.name or ""),
            line=words.line(facts, call.place),
        )
    return _advice_on_line(facts, writer)


def _advice_on_line(facts: Facts, writer: Writer) -> str:
    """What to write instead of the statement that wrote."""
    made = module_in_place(facts, writer.statement)
    if made is not None:
        return tr("Leave out {flag} in {line}.", flag=words.code("inplace=True"), line=words.line(facts, made))
    read = read_while_filled(writer.statement)
    if read is not None:
        return tr(
            "Read a copy, {copy}, or collect the parts in a list and join them at the end with {stack}.",
            copy=words.code(f"{read}.clone()"),
            stack=words.code("torch.stack"),
        )
    rewritten = out_of_place(writer.statement, writer.name)
    if rewritten is None or writer.statement is None:
        return tr("Write the result of that line to a new tensor, or make the change after the backward.")
    if rewritten.endswith(".clone()"):
        return tr(
            "Change a copy: put {clone} before {write} (or use {where}); the backward then finds what it saved.",
            clone=words.code(rewritten),
            write=words.code(text_of(writer.statement)),
            where=words.code("torch.where"),
        )
    advice = tr("Write the result to a new tensor: {code}.", code=words.code(rewritten))
    if _is_argument(facts, writer):
        advice += " " + tr(
            "{name} is an argument, so the caller does not see the new one: return it and bind it there.",
            name=words.code(writer.name or ""),
        )
    return advice


def _is_argument(facts: Facts, writer: Writer) -> bool:
    """Tell whether the tensor that a line writes to came into its function as an argument and is not returned."""
    source = facts.source(writer.place)
    function = None if source is None or writer.statement is None else source.function_of(writer.statement)
    if source is None or function is None:
        return False
    given = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    bound = {name for node in ast.walk(function) if isinstance(node, ast.Assign) for name, _ in targets(node)}
    given_back = {name for value, _ in returns(function, source) for name in names_in(value)}
    return writer.name in given and writer.name not in bound | given_back


def _refused_leaf(facts: Facts, place: Place, view: bool) -> Finding:
    statement = facts.statement(place)
    name = base_written(statement)
    what = words.code(name) if name else tr("a leaf that requires grad")
    text = facts.line_text(place)
    message = tr(
        "{code} writes in place to {name}, {what}; autograd could not tell its old value from its new one.",
        code=words.code(text),
        name=what,
        what=tr("a view of a leaf that requires grad") if view else tr("a leaf that requires grad"),
    )
    if ".grad" in text:
        advice = tr(
            "An update of a parameter is not part of the graph: put it under {block}, and clear {grad} afterwards.",
            block=words.code("with torch.no_grad():"),
            grad=words.code(f"{name}.grad" if name else ".grad"),
        )
    elif isinstance(statement, ast.Assign | ast.AugAssign) and _in_subscript(statement):
        advice = tr(
            "A buffer that is filled needs no {flag}: make it without, gradients still flow through what is put in. "
            "Or fill a copy: {clone}.",
            flag=words.code("requires_grad=True"),
            clone=words.code(f"{name} = {name}.clone()" if name else ".clone()"),
        )
    elif name is not None and "." in name:  # a parameter of a module cannot be replaced by a plain tensor
        advice = tr("Change the values under {block}.", block=words.code("with torch.no_grad():"))
    else:
        new = out_of_place(statement, name)
        advice = tr(
            "Make a new tensor, {new}, or change the values under {block} when they are not to be tracked.",
            new=words.code(new or f"{name} = {name} + ..."),
            block=words.code("with torch.no_grad():"),
        )
    return Finding("in-place", "error", None, _leaf_id(facts, name), place, message, advice)


def _in_subscript(statement: ast.Assign | ast.AugAssign) -> bool:
    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    return isinstance(target, ast.Subscript)


def _refused_view(facts: Facts, place: Place) -> Finding:
    statement = facts.statement(place)
    name = base_written(statement)
    message = tr(
        "{code} writes in place to {name}, one of several views that one operation returned ({ops}).",
        code=words.code(facts.line_text(place)),
        name=words.code(name) if name else tr("a tensor"),
        ops=words.codes(["unbind", "split", "chunk"]),
    )
    new = out_of_place(statement, name)
    advice = tr("Write to a new tensor: {new}.", new=words.code(new or f"{name} = {name}.clone()"))
    return Finding("in-place", "error", None, None, place, message, advice)


def _leaf_id(facts: Facts, name: str | None) -> int | None:
    if name is None:
        return None
    for call in reversed(facts.user_calls):
        node = facts.node_named(call, name)
        if node is not None and node.kind == "leaf":
            return node.id
    return None
