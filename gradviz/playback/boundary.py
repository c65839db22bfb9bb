"""A set of nodes seen as one: what has come over its border, what has left it, and how much of it has run."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gradviz.model import Edge, Gradient
from gradviz.playback.act import Act
from gradviz.playback.beats import ARRIVES
from gradviz.playback.ledger import Track
from gradviz.playback.states import EdgePhase, Phase


@dataclass(frozen=True, slots=True)
class GroupState:
    """A group at a moment. Norms are over all that crossed the border so far; None when nothing has.

    `ran` of `count` operations have run; `grad` is the norm over the `.grad` of its leaves.
    """

    phase: Phase
    ran: int
    count: int
    came: float | None
    left: float | None
    grad: float | None


@dataclass(frozen=True, slots=True)
class Flow:
    """What flows on one or several edges that are drawn as one. `value` is there when it is a single gradient.

    `norm` is that over all defined gradients so far, None while there are none; `undefined` counts the others.
    """

    phase: EdgePhase
    alpha: float = 0.0
    value: Gradient = None
    norm: float | None = None
    undefined: int = 0


@dataclass
class _Sum:
    """Squared norms by the moment from which they count; looked up with one bisection."""

    moments: list[float] = field(default_factory=list)
    totals: list[float] = field(default_factory=list)

    @staticmethod
    def of(events: Iterable[tuple[float, float]]) -> _Sum:
        made = _Sum()
        total = 0.0
        for moment, square in sorted(events, key=lambda event: event[0]):
            total += square
            made.moments.append(moment)
            made.totals.append(total)
        return made

    def norm(self, t: float) -> float | None:
        place = bisect_right(self.moments, t)
        return None if place == 0 else math.sqrt(max(self.totals[place - 1], 0.0))


class Boundary:
    """The border of a set of stage nodes in one act. Built once, any moment is looked up."""

    def __init__(self, act: Act, members: frozenset[int], leaves: dict[int, Track]) -> None:
        here = members & act.recorded.keys()
        self._present = bool(here)
        self._failing = bool(here & act.failing)
        self._act = act
        self._beats = sorted(act.ran[node][0] for node in here if node in act.ran)
        self._count = len(here)
        came: list[tuple[float, float]] = []
        left: list[tuple[float, float]] = []
        for root in act.call.roots:
            if root.node is not None and act.stage.stand_in(root.node) in members and act.seed_beat is not None:
                came.append((act.seed_beat + ARRIVES, _square(root.seed)))
        graph = act.stage.graph
        inside = sorted(here)
        came += _crossing(act, [e for n in inside for e in graph.incoming[n] if e.source not in members], ARRIVES)
        left += _crossing(act, [e for n in inside for e in graph.outgoing[n] if e.target not in members], 0.0)
        self._came, self._left = _Sum.of(came), _Sum.of(left)
        self._grad = _Sum.of(_changes(leaves[node] for node in sorted(members & leaves.keys())))

    def at(self, t: float) -> GroupState:
        """The state at `t` beats."""
        ran = bisect_right(self._beats, t)
        grad = self._grad.norm(t)
        if not self._present:
            return GroupState("absent", 0, self._count, None, None, grad)
        active = ran > 0 and self._beats[ran - 1] == int(t) and t < self._act.end
        failed = self._failing and self._act.error_beat is not None and t >= self._act.error_beat
        phase: Phase = "failed" if failed else "active" if active else "done" if ran else "waiting"
        return GroupState(phase, ran, self._count, self._came.norm(t), self._left.norm(t), grad)


class Bundle:
    """Several stage edges that are drawn as one, in one act."""

    def __init__(self, act: Act, edges: Iterable[int]) -> None:
        self._act = act
        graph = act.stage.graph
        mine = [graph.edges[index] for index in edges]
        self._present = any(edge.source in act.recorded for edge in mine)
        events: list[tuple[float, float]] = []
        undefined: list[float] = []
        self._beats: list[int] = []
        for edge in mine:
            left = act.leaving(edge)
            if left is None:
                continue
            beat, value = left
            self._beats.append(beat)
            if value is None:
                undefined.append(beat)
            else:
                events.append((beat, _square(value)))
        self._beats.sort()
        self._undefined = sorted(undefined)
        self._sum = _Sum.of(events)

    def at(self, t: float, flow: float) -> Flow:
        """What flows at `t` beats; `flow` is how far the pulses of this beat are."""
        if not self._present:
            return Flow("absent")
        place = bisect_right(self._beats, t)
        if place == 0:
            return Flow("waiting")
        norm, undefined = self._sum.norm(t), bisect_right(self._undefined, t)
        if self._beats[place - 1] == int(t) and t < self._act.end:
            return Flow("flowing", flow, None, norm, undefined)
        return Flow("done", 1.0, None, norm, undefined)


def _crossing(act: Act, edges: Iterable[Edge], delay: float) -> Iterator[tuple[float, float]]:
    """The moments at which defined gradients cross a border, with their squared norms."""
    for edge in edges:
        left = act.leaving(edge)
        if left is not None and left[1] is not None:
            yield left[0] + delay, _square(left[1])


def _square(value: Gradient) -> float:
    norm = None if value is None else value.norm
    return 0.0 if norm is None else norm * norm


def _changes(tracks: Iterable[Track]) -> Iterable[tuple[float, float]]:
    """How the squared norm over several `.grad`s changes, event by event."""
    for track in tracks:
        before = 0.0
        for start, state in zip(track.starts, track.states, strict=True):
            now = _square(state.total)
            yield start, now - before
            before = now
