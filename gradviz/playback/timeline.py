"""The timeline: several calls laid end to end in beats, and any moment of them on demand."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property

from gradviz.model import Accumulation, Call, Event, Recording
from gradviz.model.collector import held_collector
from gradviz.playback import words
from gradviz.playback.act import Act, ActBuilder
from gradviz.playback.beats import STILL, Beat, BeatKind, Mark, Order
from gradviz.playback.frame import Changes, Frame
from gradviz.playback.ledger import Track
from gradviz.playback.stage import Stage
from gradviz.texts import tr_picture as tr

_CALL_SECONDS = 15.0  # what a call with any number of executions takes at most
_STORY_SECONDS = 30.0  # longer stories are pressed together
_SLOW_SECONDS = 0.5  # beats that are no executions are not passed over faster than this
_INSTANT = 1e-6  # what a call leaves behind stands just before the first beat of the next one
_EVENT_BEATS: dict[str, BeatKind] = {
    "grad_cleared": "cleared",
    "grad_assigned": "assigned",
    "optimizer_step": "optimizer",
}


class Timeline:
    """What several calls do, beat after beat. Immutable once built; `state_at` is pure.

    Args:
        recording: where the calls are.
        numbers: the numbers of the calls, in the order of playing (see `story`).
        order: "engine": one execution a beat, as recorded; "wavefront": all that is ready together.
    """

    def __init__(self, recording: Recording, numbers: Iterable[int], order: Order = "engine") -> None:
        self.recording = recording
        self.order: Order = order
        with held_collector():
            self._build(numbers)

    def _build(self, numbers: Iterable[int]) -> None:
        recording, order = self.recording, self.order
        self.stage = Stage.of(recording, numbers)
        self.leaves: dict[int, Track] = {}
        self.retained: dict[int, tuple[Track, ...]] = {}
        self._settled: dict[int, set[int]] = {}
        self._names = {node.id: words.short_name(node) for node in self.stage.graph.nodes}
        beats: list[Beat] = []
        acts: list[Act] = []
        for place, call in enumerate(self.stage.calls):
            first = len(beats)
            beats.extend(self._between(self.stage.calls[place - 1] if place else None, call, first))
            detail = recording.detail(call.number)
            builder = ActBuilder(call, self.stage.graphs[place], detail, self.stage, order)
            act, mine = builder.build(first, len(beats), self._names)
            beats.extend(mine)
            acts.append(act)
            self._enter(act)
        self.beats: tuple[Beat, ...] = tuple(beats)
        self.acts: tuple[Act, ...] = tuple(acts)
        self._places = {
            call.number: recording.places[call.number] if call.what_if else place
            for place, call in enumerate(self.stage.calls)
        }
        self._act_ends = [act.end for act in acts]
        self._starts = _second_starts(self.acts, self.beats)
        # Worked out here, where it may take time (a window builds timelines beside its event loop), not in a frame.
        graph = self.stage.graph
        _ = graph.by_id, graph.outgoing, graph.incoming, self.stage.edge_index, self._sources
        for act in self.acts:
            _ = act.recorded, act.failing, act.captured_nodes

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls in the order of playing."""
        return self.stage.calls

    @property
    def length(self) -> int:
        """The number of beats; `t` runs from 0 to this."""
        return len(self.beats)

    @property
    def seconds(self) -> float:
        """How long everything takes at speed 1."""
        return self._starts[-1]

    def beat_at(self, seconds: float) -> float:
        """The moment in beats that is reached after `seconds` at speed 1."""
        if seconds >= self.seconds or not self.beats:
            return float(self.length)
        index = max(bisect_right(self._starts, seconds) - 1, 0)
        return index + (max(seconds, 0.0) - self._starts[index]) / (self._starts[index + 1] - self._starts[index])

    def second_at(self, t: float) -> float:
        """The inverse of `beat_at`."""
        index = min(max(int(t), 0), self.length)
        if index >= self.length:
            return self.seconds
        return self._starts[index] + max(t - index, 0.0) * (self._starts[index + 1] - self._starts[index])

    def still(self, index: int) -> float:
        """The moment of beat `index` at which it is best looked at; the end for an index after the last one."""
        return float(self.length) if index >= self.length else max(index, 0) + STILL

    def call_span(self, number: int) -> tuple[int, int]:
        """First beat and end (the beat after the last) of a call, without the events before it.

        Raises:
            KeyError: the call is not on this timeline.
        """
        act = next((act for act in self.acts if act.call.number == number), None)
        if act is None:
            raise KeyError(number)
        own = (beat.index for beat in self.beats[act.first : act.end] if not beat.events)
        return next(own), act.end

    def place_of_call(self, number: int) -> int | None:
        """The place (from 0) of a call on this timeline, for its shade; None when it is not on it.

        An experiment, which is told by itself, has its place in the recording, after the script's calls.
        """
        return self._places.get(number)

    def state_at(self, t: float) -> Frame:
        """What is shown at `t` beats (limited to the timeline); the same `t` gives the same frame, in any order."""
        if not self.beats:
            return Frame(self, 0.0, None, None, 1.0, True)
        t = min(max(t, 0.0), float(self.length))
        index = min(int(t), self.length - 1)
        act = self.acts[bisect_right(self._act_ends, index)]
        return Frame(self, t, self.beats[index], act, t - index, t >= self.length)

    def end_of(self, number: int) -> Frame:
        """What is there when a call has returned, before anything that happens after it.

        Raises:
            KeyError: the call is not on this timeline.
        """
        _, end = self.call_span(number)
        act = next(act for act in self.acts if act.call.number == number)
        return Frame(self, end - _INSTANT / 2, self.beats[end - 1], act, 1.0, True)

    def changes(self, old: Frame, new: Frame) -> Changes | None:
        """What may differ between two frames of this timeline; None when that may be everything."""
        if old.act is not new.act or old.timeline is not self or new.timeline is not self:
            return None
        if old.beat is None or new.beat is None or old.act is None:
            return Changes(frozenset(), frozenset())
        low, high = sorted((old.beat.index, new.beat.index))
        if high - low > max(64, self.length // 4):
            return None
        nodes: set[int] = set()
        edges: set[int] = set()
        for beat in self.beats[max(low - 1, old.act.first) : high + 1]:
            self._touch(old.act, beat, nodes, edges)
        if max(old.t, new.t) >= old.act.end - _INSTANT:
            nodes.update(self._settled.get(old.act.call.number, ()))
        return Changes(frozenset(nodes), frozenset(edges))

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """The marks of the slider: where calls start, what happens between them, where they fail."""
        found = []
        for act in self.acts:
            for beat in self.beats[act.first : act.end]:
                if beat.events and beat.kind in ("cleared", "assigned", "optimizer"):
                    found.append(Mark(beat.index, beat.kind, beat.label, act.call.number))
            start, _ = self.call_span(act.call.number)
            found.append(Mark(start, "call", act.call.label, act.call.number))
            if act.error_beat is not None:
                found.append(Mark(act.error_beat, "error", self.beats[act.error_beat].label, act.call.number))
        return tuple(found)

    @cached_property
    def _sources(self) -> dict[str, list[str]]:
        return {name: text.splitlines() for name, text in self.recording.source.sources().items()}

    def code_of(self, call: Call | None) -> str | None:
        """What made the call in the script; None when its text was not recorded."""
        if call is None or call.place is None:
            return None
        lines = self._sources.get(call.place.file, [])
        return words.statement(lines[call.place.line - 1], call) if 0 < call.place.line <= len(lines) else None

    def _touch(self, act: Act, beat: Beat, nodes: set[int], edges: set[int]) -> None:
        nodes.update(beat.nodes)
        if beat.kind in ("seed", "error"):
            nodes.update(self.stage.stand_in(root.node) for root in act.call.roots if root.node is not None)
        for node in beat.nodes:
            for edge in self.stage.graph.outgoing.get(node, ()):
                nodes.add(edge.target)
                edges.add(self.stage.edge_index[edge.source, edge.slot, edge.target, edge.output_nr])

    def _between(self, before: Call | None, call: Call, index: int) -> list[Beat]:
        """Beats for what happened to `.grad` between two calls; of the same kind in a row they are one beat."""
        after = 0 if before is None else before.number
        beats: list[Beat] = []
        for event in self.recording.events:
            if event.before_call is None or not after < event.before_call <= call.number:
                continue
            kind = _EVENT_BEATS.get(event.kind)
            if kind is None:
                continue
            nodes = self._affected(event, call)
            if not nodes:
                continue
            if beats and beats[-1].kind == kind:
                last = beats.pop()
                nodes = tuple(sorted({*last.nodes, *nodes}))
                beats.append(Beat(last.index, kind, call.number, last.label, nodes, None, (*last.events, event)))
            else:
                label = {"cleared": tr("clear"), "assigned": tr("set"), "optimizer": tr("step")}[kind]
                beats.append(Beat(index + len(beats), kind, call.number, label, nodes, None, (event,)))
            if kind == "cleared":
                for node in nodes:
                    self._clear(node, beats[-1].index)
        return beats

    def _affected(self, event: Event, call: Call) -> tuple[int, ...]:
        """The stage nodes whose `.grad` the event changes; a clearing only where something was."""
        known = {name: node for node, name in self._names.items()}
        found = {known[name] for name in event.names if name in known}
        if event.kind == "grad_cleared":
            found = {node for node in found if any(track.last.total is not None for track in self._tracks(node))}
        return tuple(sorted(found))

    def _tracks(self, node: int) -> Sequence[Track]:
        leaf = self.leaves.get(node)
        return (*((leaf,) if leaf is not None else ()), *self.retained.get(node, ()))

    def _clear(self, node: int, beat: int) -> None:
        for track in self._tracks(node):
            if track.last.total is not None:
                track.clear(beat)

    def _enter(self, act: Act) -> None:
        """Write the accumulations of a call into the tracks."""
        for entry in act.detail.accumulations:
            track = self.leaves.setdefault(self.stage.stand_in(entry.node), Track(entry.name, 0))
            self._record(track, entry, act)
        for entry in act.detail.retained:
            node = self.stage.stand_in(entry.node)
            tracks = self.retained.get(node, ())
            found = next((track for track in tracks if track.output_nr == entry.output_nr), None)
            if found is None:
                found = Track(entry.name, entry.output_nr)
                self.retained[node] = tuple(sorted((*tracks, found), key=lambda track: track.output_nr))
            self._record(found, entry, act)

    def _record(self, track: Track, entry: Accumulation, act: Act) -> None:
        late = act.end - 1 if act.accumulation_beat is None else act.accumulation_beat
        start = late if entry.order is None else act.beat_of_order.get(entry.order, late)
        track.add(start, act.call.number, entry)
        if track.settle(act.end - _INSTANT, entry.left):
            self._settled.setdefault(act.call.number, set()).add(self.stage.stand_in(entry.node))


def _second_starts(acts: Sequence[Act], beats: Sequence[Beat]) -> list[float]:
    """Start of each beat in seconds at speed 1, and the end: about 1 s a beat, 15 s for a call of any length."""
    lengths: list[float] = []
    for act in acts:
        count = act.end - act.first
        each = _CALL_SECONDS * (1.0 - math.exp(-count / _CALL_SECONDS)) / count
        for beat in beats[act.first : act.end]:
            lengths.append(each if beat.kind == "execution" else max(each, _SLOW_SECONDS))
    total = math.fsum(lengths)
    if total > _STORY_SECONDS:
        # As for one call: twice the limit is never passed, and more calls are never shorter than fewer.
        pressed = _STORY_SECONDS * (2.0 - math.exp(1.0 - total / _STORY_SECONDS))
        lengths = [length * pressed / total for length in lengths]
    starts = [0.0]
    for length in lengths:
        starts.append(starts[-1] + length)
    return starts
