"""What the window says of the sum behind a gradient, as plain values. No widgets; runs in a thread."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gradviz.app.call_words import call_words
from gradviz.app.inspector_facts import act_of
from gradviz.app.texts import tr, trn
from gradviz.model import Call, Edge, Graph, Node
from gradviz.model.dtypes import is_complex
from gradviz.model.numbers import number_text
from gradviz.playback import Timeline
from gradviz.playback.act import Act
from gradviz.playback.words import short_name, spoken_name
from gradviz.render.plan import ScenePlan
from gradviz.rules.paths import Behind, Path, sum_behind

_MOST_NAMES = 7
_MOST_FACTORS = 8
_MOST_TERMS = 6
_TOLERANCE = 1e-5  # of single precision, over a few additions


@dataclass(frozen=True, slots=True)
class Route:
    """Where a path is on the stage: ids of nodes, places of edges in the stage's list."""

    nodes: frozenset[int]
    edges: frozenset[int]

    def on(self, plan: ScenePlan) -> tuple[frozenset[int], frozenset[int]]:
        """The boxes and links of a picture (indices) that show it."""
        boxes = frozenset(box.index for node in self.nodes if (box := plan.box_of_node.get(node)) is not None)
        return boxes, frozenset(link.index for link in plan.links if not self.edges.isdisjoint(link.edges))


@dataclass(frozen=True, slots=True)
class Way:
    """A path in words: the names on it, `1 · 5 · 3 = 15` or where it begins, what it brought, and where it is."""

    names: str
    product: str
    amount: float
    route: Route


@dataclass(frozen=True, slots=True)
class Sum:
    """The gradient of one element as a sum. `words` says it as `x = 15 + 6 = 21`, `note` what must be known of it.

    `is_recorded`: the elements are, so another one can be asked for.
    """

    words: str
    note: str
    ways: tuple[Way, ...]
    is_recorded: bool = True


@dataclass(frozen=True, slots=True)
class Target:
    """Where the sum can be asked for: a node of a call, with the shapes of its outputs that got something."""

    node: int
    name: str
    shapes: tuple[tuple[int, tuple[int, ...]], ...]  # output number, shape


def target_of(timeline: Timeline, call: int | None, node: int) -> Target | None:
    """The outputs of a stage node at which real numbers arrived in a call; None where there are none."""
    act = act_of(timeline, call)
    if node not in act.recorded:
        return None
    recorded, execution = act.recorded[node], act.execution(node)
    if execution is not None:
        got = {number for number, value in enumerate(execution.grad_outputs) if value is not None}
    else:  # `torch.autograd.grad` runs no leaf
        got = {edge.output_nr for edge in act.graph.incoming.get(recorded.id, ())}
    shapes = tuple(
        (number, output.shape)
        for number, output in enumerate(recorded.outputs)
        if number in got and not is_complex(output.dtype) and math.prod(output.shape) > 0
    )
    return Target(node, short_name(recorded), shapes) if shapes else None


def sum_of(
    timeline: Timeline,
    call: int | None,
    target: Target,
    output_nr: int,
    index: Sequence[int],
    check: Callable[[], None] = lambda: None,
) -> Sum:
    """The sum behind the element at `index` of what arrived at an output."""
    act = act_of(timeline, call)
    recorded = act.recorded[target.node]
    element = _flat(recorded.outputs[output_nr].shape, index)
    behind = sum_behind(act.call, act.graph, act.detail, recorded.id, element, output_nr, check)
    name = target.name + (f"[{', '.join(map(str, index))}]" if index else "")
    ways = tuple(_way(act, path) for path in behind.paths)
    return Sum(_words(name, act.call, behind), _note(behind), ways, behind.recorded is not None)


def _flat(shape: tuple[int, ...], index: Sequence[int]) -> int:
    place = 0
    for size, here in zip(shape, index, strict=True):
        place = place * size + here
    return place


def _words(name: str, call: Call, behind: Behind) -> str:
    if behind.recorded is None:
        return tr("Only a summary of this gradient was recorded, so its elements cannot be followed.")
    said = call_words(call.label)
    amounts = [path.amount for path in behind.paths]
    total = number_text(behind.recorded)
    if not amounts:
        return tr("Nothing came to {name} in {call}.", name=name, call=said)
    if len(amounts) == 1:
        return tr("{name} got {total} in {call}, along one path.", name=name, total=total, call=said)
    terms = _sum_text(amounts[:_MOST_TERMS])
    if len(amounts) > _MOST_TERMS or behind.unlisted:
        terms += " + …"
    count = len(amounts) + behind.unlisted
    return tr("{name} got {terms} = {total} in {call}, along {n} paths.",
              name=name, terms=terms, total=total, call=said, n=count)  # fmt: skip


def _sum_text(amounts: Sequence[float]) -> str:
    text = number_text(amounts[0])
    for amount in amounts[1:]:
        sign, size = ("−", number_text(-amount)) if amount < 0 else ("+", number_text(amount))
        text += f" {sign} {size}"
    return text


def _note(behind: Behind) -> str:
    parts = []
    if behind.unlisted:
        rest = behind.total - math.fsum(path.amount for path in behind.paths)
        parts.append(
            trn("{n} more path brings {x}.", "{n} more paths bring {x} together.", behind.unlisted, x=number_text(rest))
        )
    if not behind.listed:
        parts.append(tr("There are more paths than can be listed: those that meet on the way are shown from there on."))
    recorded = behind.recorded
    if recorded is not None and behind.paths and math.isfinite(recorded + behind.total):
        scale = max(abs(recorded), *(abs(path.amount) for path in behind.paths))
        if abs(recorded - behind.total) > _TOLERANCE * scale:
            parts.append(tr("Added up they are {x}.", x=number_text(behind.total)))
    return " ".join(parts)


def _way(act: Act, path: Path) -> Way:
    graph = act.graph
    names = [_name(graph, node) for node in path.nodes]
    if len(names) > _MOST_NAMES:
        kept = _MOST_NAMES // 2
        left_out = len(names) - 2 * kept
        names = [*names[:kept], tr("… {n} nodes …", n=left_out), *names[-kept:]]
    return Way(" → ".join(names), _product(act, path), path.amount, _route(act, path))


def _name(graph: Graph, node: int) -> str:
    return short_name(graph.by_id[node])


def _product(act: Act, path: Path) -> str:
    """`1 · 5 · 3 = 15` where every step is a number, else where the path begins."""
    start: Node = act.graph.by_id[path.start]
    if path.root is None:
        at = tr("begins at {name} with all that arrived there", name=spoken_name(start))
        return at if path.seed is None else tr("{begins}: {x}", begins=at, x=number_text(path.seed))
    factors = [step.factor for step in path.steps]
    if path.seed is None or None in factors:
        return tr("from the seed of {name}", name=act.call.roots[path.root].name or spoken_name(start))
    known = [factor for factor in factors if factor is not None]
    ones = sum(factor == 1.0 for factor in known)
    if len(known) > _MOST_FACTORS:
        known = [factor for factor in known if factor != 1.0]
    if len(known) > _MOST_FACTORS:
        return tr("seed {x}, {n} factors", x=number_text(path.seed), n=len(factors))
    product = " · ".join([_factor(path.seed), *map(_factor, known)])
    hidden = len(factors) - len(known)
    text = f"{product} = {number_text(path.amount)}"
    return tr("{product}, and {n} times 1", product=text, n=ones) if hidden else text


def _factor(number: float) -> str:
    text = number_text(number)
    return f"({text})" if text.startswith("-") else text


def _route(act: Act, path: Path) -> Route:
    stage = act.stage
    edges = frozenset(stage.edge_of(edge) for edge in _edges(path))
    return Route(frozenset(map(stage.stand_in, path.nodes)), edges)


def _edges(path: Path) -> list[Edge]:
    return [step.edge for step in path.steps]
