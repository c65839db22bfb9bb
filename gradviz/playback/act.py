"""An act: one call on the timeline, compiled so that any moment of it is looked up and not replayed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from gradviz.model import Call, CallDetail, Edge, Execution, Gradient, Graph, Node
from gradviz.playback.beats import ARRIVES, Beat, BeatKind, Order, failing_nodes, groups
from gradviz.playback.stage import Stage
from gradviz.playback.states import Arrival, EdgeState, NodeState, Phase, Term
from gradviz.playback.sums import total
from gradviz.texts import tr_picture as tr


@dataclass(frozen=True)
class Act:
    """A call with the beats at which its nodes run. Node ids in the interface are those of the stage.

    `first` is its first beat (events before the call included), `end` the beat after its last one; a `..._beat` is
    None where there is no such beat. `ran` maps a stage node to the beat at which it runs and its place in
    `detail.executions`, `beat_of_order` the engine's order to the beat.
    """

    call: Call
    graph: Graph
    detail: CallDetail
    stage: Stage
    first: int
    end: int
    seed_beat: int | None
    accumulation_beat: int | None
    returned_beat: int | None
    error_beat: int | None
    ran: dict[int, tuple[int, int]]
    beat_of_order: dict[int, int]

    @cached_property
    def recorded(self) -> dict[int, Node]:
        """Stage node -> the node as this call recorded it, with what only another call knew of the same node."""
        known = self.stage.graph.by_id
        found: dict[int, Node] = {}
        for node in self.graph.nodes:
            place = self.stage.stand_in(node.id)
            if place == node.id and (node.value is None or node.name is None):
                other = known[place]
                if other.value is not node.value or other.name is not node.name:
                    node = replace(node, value=node.value or other.value, name=node.name or other.name)
            found[place] = node
        return found

    @cached_property
    def failing(self) -> frozenset[int]:
        """The stage nodes at which the call's error is shown."""
        return frozenset(map(self.stage.stand_in, failing_nodes(self.call)))

    @cached_property
    def captured(self) -> dict[tuple[int, int], Gradient]:
        """(stage node, output_nr) -> what `torch.autograd.grad` returned for it."""
        if self.detail.returned is None or self.call.inputs is None:
            return {}
        pairs = zip(self.call.inputs, self.detail.returned, strict=False)
        return {(self.stage.stand_in(i.node), i.output_nr): value for i, value in pairs if i.node is not None}

    @cached_property
    def captured_nodes(self) -> frozenset[int]:
        """The stage nodes that are elements of `inputs=` of a call that returned values."""
        return frozenset(node for node, _ in self.captured)

    def execution(self, node: int) -> Execution | None:
        """The run of a stage node in this call."""
        found = self.ran.get(node)
        return None if found is None else self.detail.executions[found[1]]

    def received(self, node: int) -> dict[int, Gradient]:
        """Output number -> what came to a stage node in this call: when it ran, or was captured without running."""
        run = self.execution(node)
        got = dict(enumerate(() if run is None else run.grad_outputs))
        if node in self.captured_nodes:
            got |= {nr: value for (owner, nr), value in self.captured.items() if owner == node}
        return got

    def node_state(self, node: int, t: float) -> NodeState:
        """The state of a stage node at `t` beats."""
        recorded = self.recorded.get(node)
        if recorded is None:
            return NodeState("absent")
        beat, place = self.ran.get(node, (None, None))
        captured = node in self.captured_nodes
        if self.error_beat is not None and t >= self.error_beat and node in self.failing:
            return NodeState("failed", self._arrivals(recorded, t), self._step(place), captured=captured)
        if beat is None or place is None or t < beat:
            done = captured and self.returned_beat is not None and t >= self.returned_beat + 1
            active = captured and self.returned_beat is not None and self.returned_beat <= t
            early: Phase = "done" if done else "active" if active else "waiting"
            return NodeState(early, self._arrivals(recorded, t), captured=captured)
        before = self.detail.executions[place].arrived
        phase: Phase = "active" if t < beat + 1 else "done"
        return NodeState(phase, self._arrivals(recorded, t), self._step(place), before, captured)

    def glance(self, node: int, t: float) -> tuple[Phase, Gradient]:
        """Phase and first gradient of a stage node, without the terms: for pictures of very many nodes."""
        if node not in self.recorded:
            return "absent", None
        if self.error_beat is not None and t >= self.error_beat and node in self.failing:
            return "failed", None
        beat, place = self.ran.get(node, (None, None))
        if beat is None or place is None or t < beat:
            if self.returned_beat is None or t < self.returned_beat or node not in self.captured_nodes:
                return "waiting", None
            value = next((v for v in self.received(node).values() if v is not None), None)
            return ("active" if t < self.returned_beat + 1 else "done"), value
        outputs = self.detail.executions[place].grad_outputs
        value = next((output for output in outputs if output is not None), None)
        return ("active" if t < beat + 1 else "done"), value

    def edge_state(self, edge: Edge, t: float, flow: float) -> EdgeState:
        """The state of a stage edge; `flow` is how far the pulses of the current beat are."""
        if edge.source not in self.recorded:
            return EdgeState("absent")
        left = self.leaving(edge)
        if left is None or t < left[0]:
            return EdgeState("waiting")
        return EdgeState("flowing", flow, left[1]) if t < left[0] + 1 else EdgeState("done", 1.0, left[1])

    def leaving(self, edge: Edge) -> tuple[int, Gradient] | None:
        """The beat at which a gradient leaves along a stage edge, and the gradient; None where none ever does."""
        found = self.ran.get(edge.source)
        if found is None or edge.source not in self.recorded:
            return None
        execution = self.detail.executions[found[1]]
        if not execution.finished or edge.slot >= len(execution.grad_inputs):
            return None
        return found[0], execution.grad_inputs[edge.slot]

    def _step(self, place: int | None) -> int | None:
        return None if place is None else place + 1

    def _arrivals(self, node: Node, t: float) -> tuple[Arrival, ...]:
        stand_in = self.stage.stand_in(node.id)
        terms, expected = self._terms(node, t)
        found = self.ran.get(stand_in)
        settled: dict[int, Gradient] = {}
        if found is not None and t >= found[0]:
            settled = dict(enumerate(self.detail.executions[found[1]].grad_outputs))
        if self.returned_beat is not None and t >= self.returned_beat:
            settled |= {nr: value for (owner, nr), value in self.captured.items() if owner == stand_in}
        arrivals = []
        for nr in sorted(terms.keys() | expected.keys() | settled.keys()):
            mine = tuple(terms.get(nr, ()))
            if nr in settled:
                arrivals.append(Arrival(nr, settled[nr], mine, expected.get(nr, 0)))
            elif mine:
                value, known = total([term.value for term in mine])
                arrivals.append(Arrival(nr, value, mine, expected[nr], known))
        return tuple(arrivals)

    def _terms(self, node: Node, t: float) -> tuple[dict[int, list[Term]], dict[int, int]]:
        """What has come to each output until `t`, and how many terms come to it in all, in the order of arrival."""
        coming: list[tuple[float, int, Term]] = []
        if self.seed_beat is not None:
            for root in self.call.roots:
                if root.node == node.id:
                    coming.append((self.seed_beat + ARRIVES, root.output_nr, Term(None, root.seed)))
        for edge in self.graph.incoming.get(node.id, ()):
            found = self.ran.get(self.stage.stand_in(edge.source))
            if found is None:
                continue
            execution = self.detail.executions[found[1]]
            if execution.finished and edge.slot < len(execution.grad_inputs):
                term = Term(self.stage.edge_of(edge), execution.grad_inputs[edge.slot])
                coming.append((found[0] + ARRIVES, edge.output_nr, term))
        coming.sort(key=lambda item: item[0])
        terms: dict[int, list[Term]] = {}
        expected: dict[int, int] = {}
        for moment, nr, term in coming:
            expected[nr] = expected.get(nr, 0) + 1
            if t >= moment:
                terms.setdefault(nr, []).append(term)
        return terms, expected


class ActBuilder:
    """Makes the beats of one call, after those that are there already."""

    def __init__(self, call: Call, graph: Graph, detail: CallDetail, stage: Stage, order: Order) -> None:
        self._call, self._graph, self._detail, self._stage, self._order = call, graph, detail, stage, order
        self._beats: list[Beat] = []
        self._start = 0

    def build(self, first: int, start: int, names: dict[int, str]) -> tuple[Act, list[Beat]]:
        """Beats from index `start` on (`first` when the events before the call are counted in), and the act.

        `names` maps a stage node to its word on the slider.
        """
        self._start = start
        # A call that fails before the engine (a seed of the wrong shape) lets no seed in: nothing moves.
        entered = self._call.engine or self._call.error is None
        seeded = entered and any(root.seed is not None for root in self._call.roots)
        seed = self._add("seed", tr("seed")) if seeded else None
        ran = self._executions(names)
        late = self._accumulation()
        returned = None
        if self._detail.returned is not None:
            inputs = [i.node for i in self._call.inputs or () if i.node is not None]
            returned = self._add("returned", tr("returned"), map(self._stage.stand_in, inputs))
        failed = None
        if self._call.error is not None:
            failing = sorted(map(self._stage.stand_in, failing_nodes(self._call)))
            failed = self._add("error", self._call.error.type.rsplit(".", 1)[-1], failing)
        if not self._beats:
            self._add("call", tr("call"))
        end = start + len(self._beats)
        orders = {self._detail.executions[place].order: beat for beat, place in ran.values()}
        beats = (seed, late, returned, failed)
        return Act(self._call, self._graph, self._detail, self._stage, first, end, *beats, ran, orders), self._beats

    def _add(self, kind: BeatKind, label: str, nodes: Iterable[int] = (), step: int | None = None) -> int:
        beat = Beat(self._start + len(self._beats), kind, self._call.number, label, tuple(nodes), step)
        self._beats.append(beat)
        return beat.index

    def _executions(self, names: dict[int, str]) -> dict[int, tuple[int, int]]:
        executions, stand_in, call = self._detail.executions, self._stage.stand_in, self._call.number
        ran: dict[int, tuple[int, int]] = {}
        beat = self._start + len(self._beats)
        for places in groups(self._graph, self._detail, self._order):
            nodes = tuple([stand_in(executions[place].node) for place in places])
            label = names.get(nodes[0], "?") if len(nodes) == 1 else f"{len(nodes)} ×"
            self._beats.append(Beat(beat, "execution", call, label, nodes, places[-1] + 1))
            for node, place in zip(nodes, places, strict=True):
                ran[node] = beat, place
            beat += 1
        return ran

    def _accumulation(self) -> int | None:
        """A beat for what was only measured around the call, not at an execution."""
        timed = {execution.order for execution in self._detail.executions}
        entries = (*self._detail.accumulations, *self._detail.retained)
        loose = {self._stage.stand_in(entry.node) for entry in entries if entry.order not in timed}
        return self._add("accumulation", ".grad", sorted(loose)) if loose else None
