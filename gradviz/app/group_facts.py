"""What the inspector says of a group and of edges, as plain values. No widgets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from gradviz.app.call_words import call_words
from gradviz.app.inspector_facts import Fact, Facts, Link, Viewable, act_of, histories
from gradviz.app.texts import tr, trn
from gradviz.model import Edge, Gradient
from gradviz.model.groups import Group
from gradviz.model.numbers import brief, number_text
from gradviz.playback import Timeline
from gradviz.playback.act import Act
from gradviz.playback.boundary import Boundary
from gradviz.playback.words import short_name, spoken_name

_MOST_OPS = 8
_MOST_EDGES = 10


def group_facts(timeline: Timeline, call: int | None, group: Group, members: Sequence[int]) -> Facts:
    """The facts of a group of stage nodes in a call."""
    act = act_of(timeline, call)
    inside = frozenset(members)
    facts = (
        Fact(tr("nodes"), f"{len(members):,}"),
        *_ops(act, members),
        *_lines(act, members),
        *_border(timeline, act, inside),
        *_crossing(act, inside),
    )
    own = inside & {*timeline.leaves, *timeline.retained}
    grads = tuple(histories(timeline, own)) if own else ()
    return Facts(group.title, " · ".join(filter(None, (_kind(group), group.detail))), facts, grads)


def edge_facts(timeline: Timeline, call: int | None, edges: Sequence[int]) -> Facts:
    """The facts of one stage edge, or of several that are drawn as one, in a call."""
    act = act_of(timeline, call)
    stage = timeline.stage.graph
    if len(edges) > 1:
        return _bundle_facts(act, [stage.edges[index] for index in edges])
    edge = stage.edges[edges[0]]
    source, target = stage.by_id[edge.source], stage.by_id[edge.target]
    facts = [
        Fact(tr("from"), tr("{name}, slot {n}", name=spoken_name(source), n=edge.slot), "plain", Link((edge.source,))),
        Fact(
            tr("to"),
            tr("{name}, output {n}", name=spoken_name(target), n=edge.output_nr),
            "plain",
            Link((edge.target,)),
        ),
    ]
    facts += _values(timeline, act, edge)
    facts += _share(timeline, act, edge)
    value = _value(act, edge)
    name = f"{short_name(source)} → {short_name(target)}"
    return Facts(name, tr("edge"), tuple(facts), (), (Viewable(tr("gradient on the edge"), value),))


def _bundle_facts(act: Act, edges: Sequence[Edge]) -> Facts:
    flowing = [(edge, _value(act, edge)) for edge in edges]
    flowing.sort(key=lambda pair: -(pair[1].norm or 0.0) if pair[1] is not None else 1.0)
    rows = [_edge_row(act, edge, value) for edge, value in flowing[:_MOST_EDGES]]
    if len(edges) > _MOST_EDGES:
        rows.append(Fact("", tr("and {n} more", n=len(edges) - _MOST_EDGES), "plain"))
    return Facts(trn("{n} edge", "{n} edges", len(edges)), tr("drawn as one"), tuple(rows))


def _kind(group: Group) -> str:
    return {
        "all": tr("everything"),
        "module": tr("module"),
        "function": tr("function"),
        "loop": tr("loop"),
        "iteration": tr("iteration"),
        "line": tr("line"),
        "repeat": tr("repeated"),
        "range": tr("range"),
    }[group.kind]


def _ops(act: Act, members: Iterable[int]) -> Iterator[Fact]:
    graph = act.stage.graph.by_id
    counts = Counter(tr("leaf") if graph[n].kind == "leaf" else graph[n].short_op for n in members)
    common = counts.most_common(_MOST_OPS)
    text = ", ".join(f"{op} × {count}" if count > 1 else op for op, count in common)
    more = f", +{len(counts) - len(common)}" if len(counts) > len(common) else ""
    yield Fact(tr("what"), text + more, "plain")


def _lines(act: Act, members: Iterable[int]) -> Iterator[Fact]:
    by_id = act.stage.graph.by_id
    places = sorted({(p.file, p.line) for n in members if (p := by_id[n].place) is not None})
    if places:
        lines = sorted({line for _, line in places})
        text = str(lines[0]) if len(lines) == 1 else f"{lines[0]} … {lines[-1]}"
        first = next(p for n in members if (p := by_id[n].place) is not None and p.line == lines[0])
        yield Fact(tr("lines"), text, "plain", Link(place=first))


def _border(timeline: Timeline, act: Act, inside: frozenset[int]) -> Iterator[Fact]:
    state = Boundary(act, inside, timeline.leaves).at(act.end - 1e-6)
    yield Fact(tr("ran, {call}", call=call_words(act.call.label)), tr("{k} of {n}", k=state.ran, n=state.count))
    for label, norm in (
        (tr("came in"), state.came),
        (tr("left"), state.left),
        (tr(".grad of its leaves"), state.grad),
    ):
        if norm is not None:
            yield Fact(label, f"‖{number_text(norm)}‖", "strong")


def _crossing(act: Act, inside: frozenset[int]) -> Iterator[Fact]:
    """The strongest edges over the border, in both directions."""
    edges = act.stage.graph.edges
    for label, chosen in (
        (tr("in along"), [e for e in edges if e.target in inside and e.source not in inside]),
        (tr("out along"), [e for e in edges if e.source in inside and e.target not in inside]),
    ):
        pairs = [(edge, value) for edge in chosen if (value := _value(act, edge)) is not None]
        pairs.sort(key=lambda pair: -(pair[1].norm or 0.0))
        for edge, value in pairs[:_MOST_EDGES]:
            row = _edge_row(act, edge, value)
            yield Fact(label, row.text, row.role, row.link)
            label = ""
        if len(pairs) > _MOST_EDGES:
            yield Fact("", tr("and {n} more", n=len(pairs) - _MOST_EDGES), "plain")


def _edge_row(act: Act, edge: Edge, value: Gradient) -> Fact:
    by_id = act.stage.graph.by_id
    names = f"{short_name(by_id[edge.source])} → {short_name(by_id[edge.target])}"
    return Fact("", f"{brief(value)}  {names}", "value", Link((edge.source, edge.target)))


def _value(act: Act, edge: Edge) -> Gradient:
    state = act.edge_state(edge, float(act.end), 1.0)
    return state.value if state.phase == "done" else None


def _values(timeline: Timeline, current: Act, edge: Edge) -> Iterator[Fact]:
    for act in sorted(timeline.acts, key=lambda act: act is not current):
        state = act.edge_state(edge, float(act.end), 1.0)
        label = call_words(act.call.label)
        if state.phase == "done":
            yield Fact(label, brief(state.value), "strong" if act is current else "value")
        elif act is current:
            yield Fact(label, tr("nothing: it did not run"), "plain")


def _share(timeline: Timeline, act: Act, edge: Edge) -> Iterator[Fact]:
    """What part of the sum at the target this edge brought, where both are numbers."""
    state = timeline.state_at(act.end - 1e-6).node(edge.target)
    arrival, value = state.gradient(edge.output_nr), _value(act, edge)
    if arrival is None or len(arrival.terms) < 2 or value is None or arrival.value is None:
        return
    part, whole = value.item(), arrival.value.item()
    text = tr("{part} of {whole}", part=brief(value), whole=brief(arrival.value))
    if part is not None and whole and not isinstance(part, complex) and not isinstance(whole, complex):
        text += f"  ({part / whole:.0%})"
    yield Fact(tr("of the sum there"), text)
