"""What the inspector says of a node, as plain values; groups and edges are in `group_facts`. No widgets."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from gradviz.app.call_words import call_words
from gradviz.app.texts import tr
from gradviz.model import Gradient, Node, Place
from gradviz.model.numbers import brief, shape_text
from gradviz.playback import Arrival, Frame, GradState, Term, Timeline
from gradviz.playback.act import Act
from gradviz.playback.words import short_name, spoken_name
from gradviz.rules import SlotRule, rules_at

Role = Literal["value", "strong", "plain", "error"]
MOST_TERMS = 12
MOST_CALLS = 8
_FEW_GRADS = 4


@dataclass(frozen=True, slots=True)
class Link:
    """Where a click leads: to nodes of the stage, or to a line of the script."""

    nodes: tuple[int, ...] = ()
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """A row: what, its value, and where a click on it leads."""

    label: str
    text: str
    role: Role = "value"
    link: Link | None = None


@dataclass(frozen=True, slots=True)
class Viewable:
    """A tensor that the tensor view can show."""

    label: str
    value: Gradient


@dataclass(frozen=True, slots=True)
class Facts:
    """All that is said of a thing in the current call. `grads` are the `.grad`s that belong to it, at their end."""

    name: str
    subtitle: str
    facts: tuple[Fact, ...]
    grads: tuple[GradState, ...] = ()
    tensors: tuple[Viewable, ...] = ()
    rules: tuple[SlotRule, ...] = ()


def act_of(timeline: Timeline, call: int | None) -> Act:
    """The act of the call with this number (None, or one that is not told: the first)."""
    return next((act for act in timeline.acts if act.call.number == call), timeline.acts[0])


def node_facts(timeline: Timeline, call: int | None, node: int) -> Facts:
    """The facts of a stage node in a call."""
    act = act_of(timeline, call)
    frame = timeline.state_at(act.end - 1e-6)
    recorded = frame.recorded(node)
    facts = (
        *_identity(recorded),
        *_arrived(frame, act, node),
        *_left(timeline, act, node, recorded),
        *_others(timeline, act, node),
        *_saved(recorded),
        *_retained(recorded),
    )
    return Facts(
        short_name(recorded),
        _subtitle(recorded),
        facts,
        tuple(histories(timeline, (node,))),
        tuple(_tensors(frame, act, node, recorded)),
        rules_at(act.graph, recorded, act.execution(node)) if node in act.recorded else (),
    )


def _subtitle(node: Node) -> str:
    parts = [tr("leaf") if node.kind == "leaf" else node.short_op]
    if node.place is not None:
        parts.append(tr("line {n}", n=node.place.line))
    if node.op != node.short_op and node.kind != "leaf":
        parts.append(node.op)
    return " · ".join(parts)


def _identity(node: Node) -> Iterator[Fact]:
    for number, output in enumerate(node.outputs):
        label = tr("shape") if len(node.outputs) == 1 else tr("output {n}", n=number)
        yield Fact(label, f"{shape_text(output.shape)} {output.dtype} {output.device}")
    if node.value is not None:
        yield Fact(tr("data"), brief(node.value))
    if node.place is not None:
        where = f"{os.path.basename(node.place.file)}:{node.place.line}"
        inside = "" if node.place.function == "<module>" else f" {node.place.function}"
        yield Fact(tr("made at"), where + inside, "plain", Link(place=node.place))
    for place in node.stack[1:4]:
        yield Fact(tr("called from"), f"{os.path.basename(place.file)}:{place.line}", "plain", Link(place=place))
    if node.iteration is not None and node.iteration > 1:
        yield Fact(tr("iteration"), str(node.iteration))
    if node.module is not None:
        yield Fact(tr("module"), f"{node.module or '.'}  {node.module_class or ''}".rstrip(), "plain")
    if node.order > 1:
        yield Fact(tr("order"), tr("made by a backward of order {n}", n=node.order - 1), "plain")


def _arrived(frame: Frame, act: Act, node: int) -> Iterator[Fact]:
    state = frame.node(node)
    call = act.call.label
    if state.phase == "absent":
        yield Fact(call_words(call), tr("not in this call's graph"), "plain")
        return
    if not state.arrivals:
        yield Fact(tr("arrived, {call}", call=call_words(call)), tr("nothing: it did not run"), "plain")
    for arrival in state.arrivals:
        label = tr("arrived, {call}", call=call_words(call))
        if len(state.arrivals) > 1:
            label = tr("arrived at output {n}", n=arrival.output_nr)
        yield from _arrival(frame, label, arrival)
    execution = act.execution(node)
    if execution is not None and execution.arrived is not None:
        yield Fact(tr("before your hook"), ", ".join(map(brief, execution.arrived)))


def _arrival(frame: Frame, label: str, arrival: Arrival) -> Iterator[Fact]:
    if len(arrival.terms) == 1:
        origin, link = _origin(frame, arrival.terms[0])
        yield Fact(label, tr("{value} from {origin}", value=brief(arrival.value), origin=origin), "strong", link)
        return
    yield Fact(label, brief(arrival.value), "strong")
    for term in arrival.terms[:MOST_TERMS]:
        origin, link = _origin(frame, term)
        yield Fact("", f"+ {tr('{value} from {origin}', value=brief(term.value), origin=origin)}", "value", link)
    if len(arrival.terms) > MOST_TERMS:
        yield Fact("", tr("and {n} more", n=len(arrival.terms) - MOST_TERMS), "plain")


def _origin(frame: Frame, term: Term) -> tuple[str, Link | None]:
    if term.edge is None:
        return tr("the seed"), None
    source = frame.timeline.stage.graph.edges[term.edge].source
    return spoken_name(frame.recorded(source)), Link(nodes=(source,))


def _left(timeline: Timeline, act: Act, node: int, recorded: Node) -> Iterator[Fact]:
    execution = act.execution(node)
    if execution is None:
        return
    label = tr("left, {call}", call=call_words(act.call.label))
    edges = act.graph.outgoing.get(recorded.id, ())
    for edge in edges[:MOST_TERMS]:
        if edge.slot < len(execution.grad_inputs):
            target = act.graph.by_id[edge.target]
            value = brief(execution.grad_inputs[edge.slot])
            link = Link(nodes=(timeline.stage.stand_in(edge.target),))
            yield Fact(label, tr("{value} to {target}", value=value, target=spoken_name(target)), "strong", link)
            label = ""
    if len(edges) > MOST_TERMS:
        yield Fact("", tr("and {n} more", n=len(edges) - MOST_TERMS), "plain")


def _others(timeline: Timeline, current: Act, node: int) -> Iterator[Fact]:
    here = next(place for place, act in enumerate(timeline.acts) if act is current)
    others = [place for place, act in enumerate(timeline.acts) if act is not current and act.received(node)]
    for place in sorted(sorted(others, key=lambda place: abs(place - here))[:MOST_CALLS]):
        act = timeline.acts[place]
        value = ", ".join(map(brief, act.received(node).values()))
        yield Fact(tr("arrived, {call}", call=call_words(act.call.label)), value)
    if len(others) > MOST_CALLS:
        yield Fact("", tr("and {n} more", n=len(others) - MOST_CALLS), "plain")


def _saved(node: Node) -> Iterator[Fact]:
    label = tr("saved")
    for saved in node.saved:
        if saved.value is not None:
            text = f"{saved.name} = {brief(saved.value)}"
        elif saved.shape is not None:
            text = f"{saved.name} {shape_text(saved.shape)}"
        else:
            text = f"{saved.name} = {saved.text}"
        yield Fact(label, text)
        label = ""


def _retained(node: Node) -> Iterator[Fact]:
    if any(output.retains_grad for output in node.outputs):
        yield Fact(tr("retains grad"), tr("yes"), "plain")


def histories(timeline: Timeline, nodes: Iterable[int]) -> Iterator[GradState]:
    """The final `.grad` of these nodes; where there are few in all, those of the others after them."""
    chosen, all_of_them = frozenset(nodes), {*timeline.retained, *timeline.leaves}
    few = len(all_of_them) <= _FEW_GRADS
    end = timeline.state_at(float(timeline.length))
    for node in sorted(all_of_them, key=lambda node: node not in chosen):
        if few or node in chosen:
            yield from end.retained(node)
            leaf = end.leaf(node)
            if leaf is not None:
                yield leaf


def _tensors(frame: Frame, act: Act, node: int, recorded: Node) -> Iterator[Viewable]:
    for arrival in frame.node(node).arrivals:
        yield Viewable(tr("gradient at output {n}", n=arrival.output_nr), arrival.value)
    execution = act.execution(node)
    for slot, value in enumerate(() if execution is None else execution.grad_inputs):
        yield Viewable(tr("gradient left, slot {n}", n=slot), value)
    leaf = frame.leaf(node)
    if leaf is not None:
        yield Viewable(".grad", leaf.total)
    for state in frame.retained(node):
        yield Viewable(tr("retained .grad"), state.total)
    if recorded.value is not None:
        yield Viewable(tr("data"), recorded.value)
    for saved in recorded.saved:
        if saved.value is not None:
            yield Viewable(tr("saved {name}", name=saved.name), saved.value)
