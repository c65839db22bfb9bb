"""retain-grad: `.grad` of an intermediate result was read, but nobody asked to keep it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from gradviz.explain import words
from gradviz.explain.aliases import held, is_variable, own_binding
from gradviz.explain.facts import Facts
from gradviz.explain.history import seen_from
from gradviz.explain.page import Page
from gradviz.explain.reads import calls_before, death, grad_reads, top_line
from gradviz.explain.remade import remade
from gradviz.explain.scopes import scope_of_name
from gradviz.explain.source import Source, dotted, targets, text_of, uncalled
from gradviz.model import Binding, Call, Finding, Gradient, Level, Place
from gradviz.model.numbers import brief
from gradviz.texts import tr

_WARNING = "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"

PAGE = Page(
    code="retain-grad",
    title=".grad of an intermediate result",
    cause=(
        "A gradient flows through every intermediate result, but after it has been passed on it is thrown away: only "
        "leaves keep theirs in `.grad`. `retain_grad()` asks to keep it too. It must be called on that very tensor and "
        "before the backward."
    ),
    example="""\
import torch

x = torch.tensor(5., requires_grad=True)
h = x * 3
(h * h).backward()
print(h.grad)
""",
    remedy=(
        "Call `h.retain_grad()` after `h` is made and before the backward, or ask for it: "
        "`torch.autograd.grad(loss, h)`. In gradviz you see the value anyway, on the node of `h`."
    ),
    fixed="""\
import torch

x = torch.tensor(5., requires_grad=True)
h = x * 3
h.retain_grad()
(h * h).backward()
print(h.grad)
""",
    errors=((_WARNING, "the value that `.grad` would have had, and where to call `retain_grad()`"),),
)


def find(facts: Facts) -> Iterator[Finding]:
    """Reads that give None, explained with the value that `.grad` would have had; `retain_grad()` called too late."""
    told = set()
    for name, where, before in _reads(facts):
        binding = _held(facts, name, where, before)
        place = Place(where.file, where.line)
        if binding is None or binding.is_leaf or not binding.requires_grad or (place, name) in told:
            continue
        if remade(facts, own_binding(facts, binding)) is not None:
            continue  # grad-none tells of it
        if not _is_kept(facts, name, binding, where):
            told.add((place, name))
            yield _finding(facts, name, binding, place, before)
        elif _off_the_way(facts, binding):
            told.add((place, name))
            yield _beside(facts, name, binding, place)
    yield from _too_late(facts)


def _reads(facts: Facts) -> Iterator[tuple[str, Place, int | None]]:
    """Name, its scope and the number of the next call, for each read that PyTorch warned of, then for all others."""
    for warning in facts.recording.warnings:
        statement, source = facts.statement(warning.place), facts.source(warning.place)
        if _WARNING in warning.message and warning.place is not None and source is not None and statement is not None:
            for node in ast.walk(statement):
                name = dotted(node.value) if isinstance(node, ast.Attribute) and node.attr == "grad" else None
                if name is not None:
                    yield name, replace(warning.place, function=scope_of_name(source, node, name)), warning.before_call
    for read in grad_reads(facts):
        after = [call for call in facts.user_calls if call not in calls_before(facts, read)]
        yield read.name, read.scope, after[0].number if after else None


def _held(facts: Facts, name: str, place: Place, before: int | None) -> Binding | None:
    """The last binding of `name` at a line of a scope, when the next call was number `before`."""
    found = [
        b
        for b in seen_from(facts.history.named(name), place) or held(facts, name)
        if b.place.file == place.file and (before is None or (b.before_call is not None and b.before_call <= before))
    ]
    above = [b for b in found if b.place.line <= place.line]
    chosen = found if found and found[0].name != name else above or found
    return chosen[-1] if chosen else None


def _is_kept(facts: Facts, name: str, binding: Binding, place: Place) -> bool:
    """Tell whether the gradient of that tensor is kept: asked for by `retain_grad()` or named in `inputs=`."""
    if binding.retains_grad:
        return True
    source = facts.source(place)
    names = {name, binding.name}
    idle = () if source is None else tuple(uncalled(source, "retain_grad"))
    asked = [
        node.lineno
        for node in (() if source is None else source.walk(ast.Attribute))
        if isinstance(node, ast.Attribute)
        and node not in idle
        and node.attr == "retain_grad"
        and dotted(node.value) in names
        and (source is None or scope_of_name(source, node, name) in {place.function, binding.place.function})
    ]
    if any(binding.place.line <= line <= place.line for line in asked):
        return True
    inputs = {entry.node for call in facts.user_calls if call.accumulates for entry in call.inputs or ()}
    retained = {e.node for c in facts.looked_at for e in facts.detail(c.number).retained}
    return binding.node is not None and binding.node in inputs | retained


def _finding(facts: Facts, name: str, binding: Binding, place: Place, before: int | None) -> Finding:
    calls = [call for call in facts.user_calls if call.error is None and (before is None or call.number < before)]
    call, value = _value(facts, calls, binding)
    end = death(facts)
    died = end is not None and (end.file, end.line) == (place.file, place.line)
    made = _made(facts, binding, died)
    message = _why(facts, name, made)
    if call is not None:
        message += " " + tr(
            "In {call} the gradient that flowed through it was {value}.",
            call=words.call_at(facts, call),
            value=brief(value),
        )
    elif not calls:
        message += " " + tr("Besides, no backward had run yet.")
    idle = _uncalled(facts, place, {name, binding.name})
    if idle is not None:
        code = text_of(idle)
        message += " " + tr("{code} in line {line} names the method but does not call it.", code=words.code(code),
                            line=idle.lineno)  # fmt: skip
        advice, place = tr("Write {code}.", code=words.code(f"{code}()")), Place(place.file, idle.lineno)
    elif made is None:
        advice = tr("Call {retain} on each before the backward.", retain=words.code("retain_grad()"))
    else:
        kept = name if own_binding(facts, binding) == binding else made.name
        advice = tr("Call {retain} after that line and before the backward.",
                    retain=words.code(f"{kept}.retain_grad()"))  # fmt: skip
    number = call.number if call is not None else (calls[-1].number if calls else None)
    node = binding.node
    show = () if node is None else (node,)
    level: Level = "error" if died else "warning"
    return Finding("retain-grad", level, number, node, place, message, advice, show)


def _uncalled(facts: Facts, place: Place, names: set[str]) -> ast.Attribute | None:
    """The line `h.retain_grad`, without its parentheses, of the tensor that is read."""
    source = facts.source(place)
    found = () if source is None else uncalled(source, "retain_grad")
    return next((node for node in found if dotted(node.value) in names), None)


def _made(facts: Facts, binding: Binding, died: bool) -> Binding | None:
    """The binding whose line computed the tensor; None where that is a loop, or a list that it was put into.

    Of what a loop goes through it is known only where the script died there.
    """
    own = own_binding(facts, binding)
    statement = facts.statement(own.place)
    bound = [] if statement is None else [name for name, _ in targets(statement)]
    if is_variable(facts, own) or (own != binding and (own.name not in bound or not died)):
        return None
    return own


def _why(facts: Facts, name: str, binding: Binding | None) -> str:
    if binding is None:  # no line says where the tensors were made
        return tr(
            "{grad} is None: {name} is the result of an operation, and only leaves keep their gradient unless {retain} "
            "asks for it.",
            grad=words.code(f"{name}.grad"),
            name=words.code(name),
            retain=words.code("retain_grad()"),
        )
    return tr(
        "{grad} is None: {name} is the result of an operation ({code}), and only leaves keep their gradient unless "
        "{retain} asks for it.",
        grad=words.code(f"{name}.grad"),
        name=words.code(name),
        code=words.code(facts.line_text(binding.place)),
        retain=words.code("retain_grad()"),
    )


def _off_the_way(facts: Facts, binding: Binding) -> bool:
    """Tell whether a tensor that keeps its gradient is in the graph of no call."""
    met = any(b.node is not None for b in facts.history.of_tensor(binding.tensor))
    return not met and facts.is_whole and any(call.error is None and call.engine for call in facts.user_calls)


def _beside(facts: Facts, name: str, binding: Binding, place: Place) -> Finding:
    """`retain_grad()` was called in time, but no gradient ever comes by: a stale view, or a result that nobody used."""
    message = tr(
        "{grad} is None although {retain} asks for it: no call goes through {name}, nothing that was differentiated is "
        "computed from it.",
        grad=words.code(f"{name}.grad"),
        retain=words.code("retain_grad()"),
        name=words.code(name),
    )
    shared = [b for b in facts.history.of_storage(binding.storage or -1) if b.tensor != binding.tensor]
    if shared:
        message += " " + tr(
            "It is a view of {base}, and the graph leads through {base} itself.", base=words.code(shared[-1].name)
        )
    advice = tr("Compute the loss from {name}, or read the gradient of what it is computed from.",
                name=words.code(name))  # fmt: skip
    call = facts.last_call
    return Finding("retain-grad", "warning", None if call is None else call.number, None, place, message, advice)


def _value(facts: Facts, calls: list[Call], binding: Binding) -> tuple[Call | None, Gradient]:
    """The last call that went through the tensor's node, and what arrived there."""
    for call in reversed(calls):
        for execution in facts.detail(call.number).executions:
            if binding.node is not None and execution.node == binding.node and len(execution.grad_outputs) == 1:
                return call, execution.grad_outputs[0]
    return None, None


def _too_late(facts: Facts) -> Iterator[Finding]:
    """`x.retain_grad()` in a line of the script's own code that lies after the backward, with none following."""
    for source in facts.sources.values():
        for node in source.walk(ast.Call):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "retain_grad":
                name = dotted(node.func.value)
                if name is not None and source.function_of(node) is None and source.loop_of(node) is None:
                    yield from _late(facts, source, node, name)


def _late(facts: Facts, source: Source, node: ast.Call, name: str) -> Iterator[Finding]:
    calls = [call for call in facts.user_calls if call.error is None and call.engine]
    lines = [(call, top_line(call, source.file)) for call in calls]
    after = [call for call, line in lines if line is None or line >= node.lineno]
    before = [call for call, line in lines if line is not None and line < node.lineno]
    seen = seen_from(facts.history.named(name), Place(source.file, node.lineno, scope_of_name(source, node, name)))
    bound = [b for b in seen if b.place.line <= node.lineno and not b.is_leaf]
    if after or not before or not bound or bound[-1].node is None:
        return
    call, value = _value(facts, before, bound[-1])
    if call is None:
        return
    place = Place(source.file, node.lineno)
    message = tr(
        "{code} comes after {call}, so it keeps nothing: the gradient {value} had already been passed on.",
        code=words.code(text_of(node)),
        call=words.call_at(facts, call),
        value=brief(value),
    )
    advice = tr("Call it after {name} is made and before the backward.", name=words.code(name))
    number = bound[-1].node
    yield Finding("retain-grad", "warning", call.number, number, place, message, advice, (number,))
