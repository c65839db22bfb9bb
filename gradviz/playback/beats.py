"""Beats: the steps into which the timeline of several calls is cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gradviz.model import Call, CallDetail, Event, Execution, Graph

BeatKind = Literal["cleared", "assigned", "optimizer", "seed", "execution", "accumulation", "returned", "error", "call"]
Order = Literal["engine", "wavefront"]
MarkKind = Literal["call", "cleared", "assigned", "optimizer", "error"]

# Inside a beat: a pulse leaves, arrives, and what it brought is shown (progress of the beat, in [0, 1]).
LEAVES = 0.12
ARRIVES = 0.82
ADDED = 0.4
STILL = 0.5  # the moment at which a step is best looked at: its pulse is half-way, a sum is complete


@dataclass(frozen=True, slots=True)
class Beat:
    """A step of the timeline.

    `nodes` are the active ones (ids of the stage). `step` counts executions of the call from 1 (the last one of a
    wave). `label` is the word for the slider. `events` are what happened between calls.
    """

    index: int
    kind: BeatKind
    call: int
    label: str
    nodes: tuple[int, ...] = ()
    step: int | None = None
    events: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark on the slider at `t` (in beats)."""

    t: float
    kind: MarkKind
    label: str
    call: int


def waves(graph: Graph, executions: Sequence[Execution]) -> list[tuple[int, ...]]:
    """Group executions (places in the sequence) by wave: all whose gradients can be ready at the same time.

    The wave of an execution is one more than the latest wave of those that bring something to it in this call.
    """
    wave_of: dict[int, int] = {}
    found: list[list[int]] = []
    for place, execution in enumerate(executions):
        before = (wave_of[e.source] for e in graph.incoming.get(execution.node, ()) if e.source in wave_of)
        wave = max(before, default=-1) + 1
        wave_of[execution.node] = wave
        if wave == len(found):
            found.append([])
        found[wave].append(place)
    return [tuple(places) for places in found]


def groups(graph: Graph, detail: CallDetail, order: Order) -> list[tuple[int, ...]]:
    """The executions of a call beat by beat, as places in `detail.executions`."""
    if order == "wavefront":
        return waves(graph, detail.executions)
    return [(place,) for place in range(len(detail.executions))]


def failing_nodes(call: Call) -> frozenset[int]:
    """The recorded nodes at which an error is shown: the failing one, else the roots of a call that did not start."""
    if call.error is None:
        return frozenset()
    if call.failed_node is not None:
        return frozenset((call.failed_node,))
    return frozenset(root.node for root in call.roots if root.node is not None)
