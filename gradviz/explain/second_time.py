"""second-time: backward through nodes whose saved values an earlier call has freed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gradviz.explain import words
from gradviz.explain.carried import carried_names, detaching
from gradviz.explain.facts import Facts
from gradviz.explain.page import Page
from gradviz.explain.written import root_name, same_line
from gradviz.model import Call, Finding, Graph, Node
from gradviz.texts import tr, trn

_MESSAGE = "Trying to backward through the graph a second time"

PAGE = Page(
    code="second-time",
    title="Backward through a part of the graph that was freed",
    cause=(
        "A node keeps the values that its backward needs, and a backward call without `retain_graph=True` frees them "
        "as it goes. Here a later call meets nodes that an earlier one has freed. Either both calls share a part on "
        "purpose (two losses of one output), or the later graph reaches back by accident: a hidden state, a generated "
        "image, a value computed once before the loop still carries the graph that made it."
    ),
    example="""\
import torch

w = torch.tensor(0.9, requires_grad=True)
state = torch.tensor(1.0)
for step in range(2):
    state = torch.tanh(w * state)
    loss = (state - 1) ** 2
    loss.backward()
""",
    remedy=(
        "A state that is carried from step to step: cut it with `state = state.detach()`. Two losses of one graph: add "
        "them and call backward once. One loss that must not train a part: pass `part.detach()` to it. Something "
        "computed before the loop: compute it again in each step. Only when the same graph is really needed twice: "
        "`retain_graph=True` at the earlier call."
    ),
    fixed="""\
import torch

w = torch.tensor(0.9, requires_grad=True)
state = torch.tensor(1.0)
for step in range(2):
    state = torch.tanh(w * state.detach())
    loss = (state - 1) ** 2
    loss.backward()
""",
    errors=(
        (
            _MESSAGE,
            "which earlier call freed which nodes; which tensor carries the old graph; which remedy fits",
        ),
    ),
)


@dataclass(frozen=True)
class _Meeting:
    """The failing call, the earlier one, and what they share: `carriers` are the shared nodes nearest the root."""

    call: Call
    earlier: Call
    graph: Graph
    shared: tuple[Node, ...]
    carriers: tuple[Node, ...]


def find(facts: Facts) -> Iterator[Finding]:
    """A finding for each call that met freed nodes."""
    for call in facts.failed:
        assert call.error is not None
        if _MESSAGE in call.error.message:
            meeting = _meeting(facts, call)
            yield _unknown(facts, call) if meeting is None else _finding(facts, meeting)
    yield from _read_afterwards(facts)


def _meeting(facts: Facts, call: Call) -> _Meeting | None:
    """The last earlier call that freed nodes of this one, that of the failing node where it is known."""
    graph = facts.graph(call.number)
    mine = {node.id: node for node in graph.nodes if node.kind != "leaf"}
    for earlier in reversed([c for c in facts.calls if c.number < call.number and c.engine]):
        if earlier.retain_graph or (earlier.error is not None and not earlier.complete):
            continue
        freed = _ran(facts, earlier) & mine.keys()
        if freed and (call.failed_node is None or call.failed_node in freed):
            shared = tuple(node for node in graph.nodes if node.id in freed)
            return _Meeting(call, earlier, graph, shared, _carriers(graph, call, freed))
    return None


def _ran(facts: Facts, call: Call) -> set[int]:
    """The nodes that ran in a call, so whose saved values are gone."""
    executions = facts.detail(call.number).executions
    if executions:
        return {execution.node for execution in executions}
    return {node.id for node in facts.graph(call.number).nodes}


def _carriers(graph: Graph, call: Call, freed: set[int]) -> tuple[Node, ...]:
    """The shared nodes that a node of the new part, or the root, leads to directly."""
    roots = {root.node for root in call.roots}
    shared = [node for node in graph.nodes if node.id in freed]
    nearest = [
        node
        for node in shared
        if node.id in roots or any(edge.source not in freed for edge in graph.incoming.get(node.id, ()))
    ]
    return tuple(nearest or shared[:1])


def _finding(facts: Facts, meeting: _Meeting) -> Finding:
    call, earlier = meeting.call, meeting.earlier
    roots = {root.node for root in call.roots}
    if roots & {node.id for node in meeting.shared}:
        how, advice = _same_root(facts, meeting)
    elif _carried_on(facts, meeting):
        how, advice = _state(facts, meeting)
    elif same_line(call.place, earlier.place):
        how, advice = _before_loop(facts, meeting)
    else:
        how, advice = _two_losses(facts, meeting)
    message = tr(
        "{earlier} has freed {nodes} that {call} needs again: {how}.",
        earlier=words.start(words.call_at(facts, earlier)),
        nodes=trn("{n} node", "{n} nodes", len(meeting.shared)),
        call=words.call_word(call),
        how=how,
    )
    node = call.failed_node if call.failed_node is not None else meeting.carriers[0].id
    show = tuple(node.id for node in meeting.shared)
    return Finding("second-time", "error", call.number, node, call.place, message, advice, show)


def _same_root(facts: Facts, meeting: _Meeting) -> tuple[str, str]:
    name = words.code(root_name(facts, meeting.call))
    how = tr("both start from {root}", root=name)
    advice = tr(
        "Pass {retain} to the call in {line} if you mean to go through this graph twice; otherwise compute {root} "
        "again before the second call.",
        retain=words.code("retain_graph=True"),
        line=words.line(facts, meeting.earlier.place),
        root=name,
    )
    return how, advice


def _carried_on(facts: Facts, meeting: _Meeting) -> bool:
    """Tell whether a shared tensor was made by a line that has run again since: a state carried from step to step."""
    shared = {node.id for node in meeting.shared}
    fresh = {
        (node.place.file, node.place.line)
        for node in meeting.graph.nodes
        if node.id not in shared and node.kind != "leaf" and node.place is not None
    }
    return any(
        node.place is not None and (node.place.file, node.place.line) in fresh for node in meeting.carriers
    ) and (same_line(meeting.call.place, meeting.earlier.place))


def _state(facts: Facts, meeting: _Meeting) -> tuple[str, str]:
    names = carried_names(facts, meeting.carriers) or _names(facts, meeting)
    where = words.listed(_lines(facts, meeting.carriers))
    if not names:
        how = tr("a tensor made in {where} still carries the graph of the earlier step", where=where)
        advice = tr("Detach what is carried from one step to the next before it is used again.")
        return how, advice
    shown = words.codes(names)
    how = trn(
        "{names} (made in {where}) still carries the graph of the earlier step",
        "{names} (made in {where}) still carry the graph of the earlier step",
        len(names),
        names=shown,
        where=where,
    )
    advice = tr(
        "Cut it between the steps: {detach}. Only to train through several steps at once add the losses and call "
        "backward once at the end.",
        detach=words.listed([words.code(detaching(facts, name)) for name in names[:2]]),
    )
    return how, advice


def _before_loop(facts: Facts, meeting: _Meeting) -> tuple[str, str]:
    names = _names(facts, meeting)
    shown = words.codes(names) if names else words.node_text(facts, meeting.carriers[0])
    where = words.listed(_lines(facts, meeting.carriers))
    how = trn(
        "{names} was computed once, in {where}, and used by both",
        "{names} were computed once, in {where}, and used by both",
        len(names),
        names=shown,
        where=where,
    )
    advice = tr(
        "Compute {names} again in each step (move {where} into the loop), or detach it if what made it is not to be "
        "trained. {retain} in {line} would keep it, as long as nothing changes its inputs between the steps.",
        names=shown,
        where=where,
        retain=words.code("retain_graph=True"),
        line=words.line(facts, meeting.earlier.place),
    )
    return how, advice


def _two_losses(facts: Facts, meeting: _Meeting) -> tuple[str, str]:
    names = _names(facts, meeting)
    shown = words.codes(names) if names else words.node_text(facts, meeting.carriers[0])
    first, second = root_name(facts, meeting.earlier), root_name(facts, meeting.call)
    how = tr(
        "{first} and {second} both depend on {names}",
        first=words.code(first),
        second=words.code(second),
        names=shown,
    )
    detach = words.code(f"{names[0]}.detach()") if names else words.code(".detach()")
    part = tr(
        "If {first} is not to train what made {names}, compute it from {detach}.",
        first=words.code(first),
        names=shown,
        detach=detach,
    )
    line = words.line(facts, meeting.earlier.place)
    if _stepped_between(facts, meeting):
        advice = tr(
            "{part} If it is, compute {names} again after the optimizer step; {retain} in {line} would then fail on "
            "the changed weights.",
            part=part,
            names=shown,
            retain=words.code("retain_graph=True"),
            line=line,
        )
        return how, advice
    advice = tr(
        "Add the two and call backward once, {sum}, or pass {retain} to the call in {line}. {part}",
        sum=words.code(f"({first} + {second}).backward()"),
        retain=words.code("retain_graph=True"),
        line=line,
        part=part,
    )
    return how, advice


def _stepped_between(facts: Facts, meeting: _Meeting) -> bool:
    return any(
        event.kind == "optimizer_step"
        and event.before_call is not None
        and meeting.earlier.number < event.before_call <= meeting.call.number
        for event in facts.recording.events
    )


def _names(facts: Facts, meeting: _Meeting) -> list[str]:
    """What the script calls the shared tensors: the node's own name, else a binding that held it."""
    found: list[str] = []
    for node in meeting.carriers:
        name = facts.name_of(meeting.graph, node)
        if name is not None and name not in found:
            found.append(name)
    return found


def _lines(facts: Facts, nodes: tuple[Node, ...]) -> list[str]:
    return list(dict.fromkeys(words.line(facts, node.place) for node in nodes))


def _unknown(facts: Facts, call: Call) -> Finding:
    """The earlier call is not in the recording (past a limit, or a direct engine call)."""
    message = tr(
        "{call} needs nodes whose saved values were freed by an earlier backward that is not in this recording.",
        call=words.start(words.call_at(facts, call)),
    )
    advice = tr(
        "Pass {retain} to the earlier call, or compute the shared part again.", retain=words.code("retain_graph=True")
    )
    return Finding("second-time", "error", call.number, call.failed_node, call.place, message, advice)


def _read_afterwards(facts: Facts) -> Iterator[Finding]:
    """A saved value of a node that was read after the backward that freed it: no call failed."""
    outcome, place = facts.recording.outcome, facts.end_place
    if place is None or _MESSAGE not in (outcome.message or "") or any(map(facts.died_at, facts.failed)):
        return
    text = facts.line_text(place)
    if "backward" in text or "grad(" in text:  # a call that the recording does not hold
        message = tr("{code} goes through nodes that an earlier backward has freed.", code=words.code(text))
        advice = tr("Pass {retain} to the earlier call, or compute the shared part again.",
                    retain=words.code("retain_graph=True"))  # fmt: skip
        yield Finding("second-time", "error", None, None, place, message, advice)
        return
    message = tr(
        "{code} reads a saved value of a node after the backward that freed it.",
        code=words.code(text) if text else words.start(words.line(facts, place)),
    )
    advice = tr("Read it before the call, or pass {retain} to the call.", retain=words.code("retain_graph=True"))
    yield Finding("second-time", "error", None, None, place, message, advice)
