"""The size of the gradient along the longest way down from the root: what vanishing and exploding are read from."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from gradviz.explain import words
from gradviz.explain.facts import Facts
from gradviz.explain.values import arrived, bad, has_nan, norm_of
from gradviz.model import Call, CallDetail, Gradient, Graph, Node
from gradviz.model.numbers import number_text

_FEWEST = 8  # a way of fewer operations is no depth to speak of, unless some of them change the norm by much:
_FEWEST_BELOW = 6  # of them those along which it changes
_STEEP = 1e3  # by so much at once
_STEEP_STEPS = 2  # so often, by an operation
_STEEP_RUNS = 3  # that stands so often on the way: what brings in a unit or a scale does so once
_FEW_LARGE = 3  # so many single changes may have a reason of their own
_LEFT_OVER = 100.0  # what must remain without them
_REPEATED = 4  # times that some operation stands on the way


@dataclass(frozen=True)
class Step:
    """A node on the way and the norm of what arrived there (over all its outputs)."""

    node: Node
    norm: float


def ways(facts: Facts) -> Iterator[tuple[Call, tuple[Step, ...]]]:
    """The user's calls, each with its longest way; see `is_deep` for which are worth speaking of."""
    for call in facts.moved:
        if call.parent is None and call.group is None and call.error is None:
            way = longest_way(facts.graph(call.number), facts.detail(call.number))
            if len(way) > _STEEP_STEPS:
                yield call, way


def longest_way(graph: Graph, detail: CallDetail) -> tuple[Step, ...]:
    """The operations from the root to the deepest leaf that ran, with their norms.

    Layers are what "depth" means, so leaves are left out: the gradient of a weight sums over examples and positions
    and is no measure of what is passed on. Nodes whose norm is unknown, zero or nan are left out, and of those where
    it overflows all but the first.
    """
    order = [execution.node for execution in detail.executions]
    norms = {e.node: _norm(arrived(e)) for e in detail.executions}
    depth: dict[int, int] = {}
    above: dict[int, int] = {}
    done: set[int] = set()
    for number in order:  # the engine's order is a topological one; what does not follow it is damage
        done.add(number)
        mine = depth.setdefault(number, 0)
        for edge in graph.outgoing.get(number, ()):
            is_next = edge.target not in done and norms.get(edge.target) is not None
            if is_next and depth.get(edge.target, -1) < mine + 1:
                depth[edge.target] = mine + 1
                above[edge.target] = number
    operations = [n for n in order if n in graph.by_id and graph.by_id[n].kind != "leaf" and n in depth]
    if not operations:
        return ()
    current: int | None = max(operations, key=lambda number: depth[number])
    way: list[int] = []
    while current is not None:
        if current in graph.by_id:
            way.append(current)
        current = above.get(current)
    steps = [Step(graph.by_id[number], norms[number] or 0.0) for number in reversed(way)]
    usable = [step for step in steps if step.norm > 0 and math.isfinite(step.norm)]
    overflowed = [step for step in steps if step.norm == math.inf]
    if usable and overflowed and steps.index(usable[-1]) < steps.index(overflowed[0]):
        usable.append(overflowed[0])
    return tuple(usable)


def _norm(values: tuple[Gradient, ...]) -> float | None:
    """The norm of what arrived; infinite where it overflowed, None where it is not known."""
    if any(map(bad, values)):
        return None if any(map(has_nan, values)) else math.inf
    return norm_of(values)


def is_deep(way: tuple[Step, ...], below: tuple[Step, ...], growing: bool) -> bool:
    """Tell whether a change along a part of a way comes with depth: many operations, or few that each change much."""
    if len(way) >= _FEWEST and len(below) >= _FEWEST_BELOW and is_gradual(below, growing):
        return True
    counts = Counter(step.node.short_op for step in below)
    sign = 1.0 if growing else -1.0
    steep = Counter(
        step.node.short_op
        for step, change in zip(below, ratios(below), strict=False)
        if sign * math.log(change) >= math.log(_STEEP) and counts[step.node.short_op] >= _STEEP_RUNS
    )
    return max(steep.values(), default=0) >= _STEEP_STEPS


def ratios(way: tuple[Step, ...]) -> list[float]:
    """How the norm changes from each step to the next."""
    return [below.norm / here.norm for here, below in itertools.pairwise(way)]


def is_gradual(way: tuple[Step, ...], growing: bool) -> bool:
    """Tell whether a change comes with depth: an operation that repeats, and much left without the largest changes.

    A large matrix, a sum over many rows or a factor at the loss changes the norm at once, however short the way.
    """
    logs = sorted((math.log(change) for change in ratios(way)), reverse=growing)
    rest = math.fsum(logs[_FEW_LARGE:])
    if (rest if growing else -rest) < math.log(_LEFT_OVER):
        return False
    counts = Counter(step.node.short_op for step in way)
    return max(counts.values()) >= _REPEATED


def decisive(way: tuple[Step, ...], growing: bool) -> tuple[int, float]:
    """The step of the line that changed the norm most over all its runs, and by how much its worst run did.

    A layer in a loop counts as one line, so that a single large change at the loss does not hide it.
    """
    changes = ratios(way)
    sign = 1.0 if growing else -1.0
    totals: dict[object, float] = {}
    for step, change in zip(way, changes, strict=False):
        totals[_line(step)] = totals.get(_line(step), 0.0) + sign * math.log(change)
    line = max(totals, key=lambda key: totals[key])
    of_line = [index for index in range(len(changes)) if _line(way[index]) == line]
    worst = max(of_line, key=lambda index: sign * math.log(changes[index]))
    return worst, changes[worst]


def _line(step: Step) -> object:
    place = step.node.place
    return step.node.short_op if place is None else (place.file, place.line)


def way_words(facts: Facts, call: Call, below: tuple[Step, ...], worst: int, factor: float) -> dict[str, object]:
    """The fields of a message about a norm along the depth: where it begins and ends, and its largest step."""
    return {
        "call": words.call_at(facts, call),
        "first": number_text(below[0].norm),
        "top": words.node_text(facts, below[0].node),
        "last": number_text(below[-1].norm),
        "bottom": words.node_text(facts, below[-1].node),
        "count": len(below) - 1,
        "worst": words.node_text(facts, below[worst].node),
        "factor": number_text(factor),
    }
