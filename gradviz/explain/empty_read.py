"""The part of grad-none that tells why a `.grad` that the script reads is None."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from gradviz.explain import words
from gradviz.explain.aliases import is_variable, last_held, own_binding, parameter
from gradviz.explain.facts import Facts
from gradviz.explain.freezing import freezes
from gradviz.explain.history import plain, seen_from
from gradviz.explain.not_a_leaf import bound_anew, not_a_leaf
from gradviz.explain.reads import Read, calls_before
from gradviz.explain.reasons import Reason, outside, reason_in
from gradviz.explain.remade import remade
from gradviz.explain.source import text_of, uncalled
from gradviz.explain.written import root_name
from gradviz.model import Binding, Call, Finding, Level, Place
from gradviz.texts import tr


def of_read(facts: Facts, read: Read) -> Finding | None:
    """Why `name.grad` at a line is None; None where it is not, or where another code tells."""
    binding = last_held(facts, read.name, None, read.scope) or parameter(facts, read.name)
    if binding is None or not is_variable(facts, binding):
        return _of_tensor(facts, read, binding)
    if not read.died:  # which of the many tensors is meant is known only of the one that was there at the end
        return None
    own = own_binding(facts, binding)
    if own.name == read.name:
        return _of_element(facts, read, binding)
    now = replace(own, requires_grad=binding.requires_grad)  # `p.requires_grad = True` may lie between
    found = _of_tensor(facts, replace(read, name=own.name), now)
    if found is None:
        return None
    was = tr("{variable} was {name} there.", variable=words.code(read.name), name=words.code(own.name))
    return replace(found, message=f"{found.message} {was}")


def meant(facts: Facts, read: Read) -> str:
    """The own name of the tensor that a read means, where the script died with the variable of a loop."""
    binding = last_held(facts, read.name, None, read.scope)
    return read.name if binding is None or not read.died else own_binding(facts, binding).name


def _of_element(facts: Facts, read: Read, binding: Binding) -> Finding | None:
    """Of a tensor that has no name but that of the loop it is known only whether the last call went to it."""
    calls = calls_before(facts, read)
    if not calls or not binding.is_leaf or not binding.requires_grad:
        return None
    met = binding.node is not None and binding.node in facts.graph(calls[-1].number).by_id
    if met or not facts.is_whole:
        return None
    reason = outside(facts, calls[-1], read.name)
    message = tr("{grad} is None: {why}", grad=words.code(f"{read.name}.grad"), why=reason.text)
    return Finding("grad-none", "error", calls[-1].number, None, reason.place or read.place, message, reason.advice)


def _of_tensor(facts: Facts, read: Read, binding: Binding | None) -> Finding | None:
    calls = calls_before(facts, read)
    level: Level = "error" if read.died else "warning"
    kept = _kept_nothing(facts, read.name, calls)
    if binding is not None and not binding.is_leaf and kept is None:
        found = remade(facts, binding)
        return None if found is None or not calls else not_a_leaf(facts, read, found, calls[-1], level)
    if not calls:
        return _never_called(facts, read) if read.died else None
    if read.died and binding is not None and (anew := bound_anew(facts, read, binding)) is not None:
        return anew
    was_filled = _filled(facts, read, facts.calls)
    if was_filled:
        cleared = _cleared(facts, read, calls) if read.died else None
        if cleared is not None or not read.died or _filled(facts, read, calls[-1:]):
            return cleared
    if not facts.is_whole:
        return None
    if binding is not None and not binding.requires_grad:
        return _no_flag(facts, read, binding, calls[-1], level)
    if binding is None and kept is None and not _is_known(facts, read.name, calls):
        return None
    reason = kept or _first_reason(facts, read.name, calls[-1:] if was_filled else calls)
    if not facts.is_whole:  # a graph that was looked at for the reason cannot be read
        return None
    message = tr("{grad} is None: {why}", grad=words.code(f"{read.name}.grad"), why=reason.text)
    place = reason.place or read.place
    call = calls[-1].number
    return Finding("grad-none", level, call, reason.node, place, message, reason.advice, _show(reason.node))


def _never_called(facts: Facts, read: Read) -> Finding | None:
    """No backward had run when the script died of a None: forgotten, or named without being called."""
    bare = next(uncalled(read.source, "backward"), None)
    grad = words.code(f"{read.name}.grad")
    if bare is None:
        message = tr("{grad} is None: no backward had run by then.", grad=grad)
        advice = tr("Call {backward} on the loss first.", backward=words.code(".backward()"))
        if _clears(read):
            advice = tr("Write {clear}, which clears what is there and needs nothing to be there.",
                        clear=words.code(f"{read.name}.grad = None"))  # fmt: skip
        return Finding("grad-none", "error", None, None, read.place, message, advice)
    code = text_of(bare)
    message = tr("{grad} is None: {code} in line {line} names the method but does not call it.", grad=grad,
                 code=words.code(code), line=bare.lineno)  # fmt: skip
    advice = tr("Write {code}.", code=words.code(f"{code}()"))
    return Finding("grad-none", "error", None, None, Place(read.place.file, bare.lineno), message, advice)


def _clears(read: Read) -> bool:
    """Tell whether the read is `w.grad.zero_()`, also behind `.data`."""
    return any(isinstance(a, ast.Attribute) and a.attr == "zero_" for a in read.source.ancestors(read.node))


def _cleared(facts: Facts, read: Read, calls: list[Call]) -> Finding | None:
    """The gradient was there, and a clearing took it before the script died of its absence."""
    clearings = [e for e in facts.recording.events if e.kind == "grad_cleared" and read.name in e.names]
    if not clearings or clearings[-1].before_call is not None:
        return None
    clearing = clearings[-1]
    message = tr(
        "{grad} is None: {line} cleared it after {call}.",
        grad=words.code(f"{read.name}.grad"),
        line=words.line(facts, clearing.place),
        call=words.call_at(facts, calls[-1]),
    )
    advice = tr(
        "Read it before it is cleared, or clear with {zeros}, which leaves zeros instead of None.",
        zeros=words.code("zero_grad(set_to_none=False)"),
    )
    node = facts.node_named(calls[-1], read.name)
    number = None if node is None else node.id
    return Finding("grad-none", "error", calls[-1].number, number, clearing.place or read.place, message, advice,
                   _show(number))  # fmt: skip


def _is_known(facts: Facts, name: str, calls: list[Call]) -> bool:
    """Tell whether a name that no binding tells of is a tensor: a leaf of a graph, or a parameter beside one."""
    wanted = plain(name)
    return parameter(facts, name) is not None or any(
        node.kind == "leaf" and node.name is not None and plain(node.name) == wanted
        for call in calls
        for node in facts.graph(call.number).nodes
    )


def _first_reason(facts: Facts, name: str, calls: list[Call]) -> Reason:
    """The reason from the last call that has the leaf in its graph, else from the last call."""
    for call in reversed(calls):
        node = facts.node_named(call, name)
        if node is not None and node.kind == "leaf":
            return reason_in(facts, call, name)
    return reason_in(facts, calls[-1], name)


def _kept_nothing(facts: Facts, name: str, calls: list[Call]) -> Reason | None:
    """`retain_grad()` was called, but only an undefined gradient came by."""
    for call in reversed(calls):
        for entry in facts.detail(call.number).retained:
            if entry.name == name and entry.incoming is None:
                root = words.code(root_name(facts, call))
                text = tr(
                    "nothing that {root} ({call}) was computed from uses it, so its gradient is undefined: None, not "
                    "zero.",
                    root=root,
                    call=words.call_at(facts, call),
                )
                advice = tr("Nothing to do if that is meant; otherwise let {root} depend on it.", root=root)
                return Reason(text, advice, entry.node, None)
    return None


def _filled(facts: Facts, read: Read, calls: Iterable[Call]) -> bool:
    """Tell whether any of some calls brought a gradient to the leaf that is read, not to one of that name elsewhere."""
    wanted = plain(read.name)
    named = facts.history.named(read.name)
    nodes = {binding.node for binding in seen_from(named, read.scope)} - {None}
    # A function to which another one handed the leaf has no binding of its own, when the other called it the same.
    is_own = any(binding.place.function == read.scope.function for binding in named)
    others = {binding.node for binding in named} - nodes if is_own else set()
    return any(
        ((entry.name is not None and plain(entry.name) == wanted and entry.node not in others) or entry.node in nodes)
        and entry.incoming is not None
        for call in calls
        for entry in (*facts.detail(call.number).accumulations, *facts.detail(call.number).retained)
    )


def _no_flag(facts: Facts, read: Read, binding: Binding, call: Call, level: Level) -> Finding | None:
    """The tensor does not require grad: frozen by hand, or never asked to."""
    frozen = next((f for f in freezes(facts) if f.holds(read.name)), None)
    name = words.code(read.name)
    if frozen is not None:
        why = tr(
            "it was frozen in {line} ({code}).",
            line=words.line(facts, frozen.place),
            code=words.code(facts.line_text(frozen.place)),
        )
        place = frozen.place
    else:
        place = _origin(facts, binding, read)
        why = tr("it does not require grad (made in {line}).", line=words.line(facts, place))
        if binding.cause == "parameter":
            why = tr("it does not require grad.")
        elif facts.history.first_of(binding).cause == "argument":
            why = tr("it does not require grad (it came as an argument, {line}).", line=words.line(facts, place))
    message = tr("{grad} is None: {why}", grad=words.code(f"{read.name}.grad"), why=why)
    advice = tr(
        "If {name} is to have a gradient, set {flag} before anything is computed from it.",
        name=name,
        flag=words.code(f"{read.name}.requires_grad_()"),
    )
    return Finding("grad-none", level, call.number, None, place, message, advice)


def _origin(facts: Facts, binding: Binding, read: Read) -> Place:
    """Where a tensor was made; of a parameter of a module that is not known, and the read stands for it."""
    return read.place if binding.cause == "parameter" else facts.history.first_of(binding).place


def _show(node: int | None) -> tuple[int, ...]:
    return () if node is None else (node,)
