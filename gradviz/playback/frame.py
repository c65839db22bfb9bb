"""What is shown at one moment: asked element by element, so that a frame costs what is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from gradviz.model import Call, Gradient, Node
from gradviz.playback import words
from gradviz.playback.act import Act
from gradviz.playback.beats import ARRIVES, LEAVES, Beat
from gradviz.playback.easing import between, ease_in_out
from gradviz.playback.states import EdgeState, GradState, NodeState, Phase, Pulse, SeedState

if TYPE_CHECKING:
    from gradviz.playback.timeline import Timeline


@dataclass(frozen=True)
class Changes:
    """Which stage nodes and edges (indices) may differ between two frames."""

    nodes: frozenset[int]
    edges: frozenset[int]


@dataclass(frozen=True)
class Frame:
    """The timeline at `t` beats. `beat` and `act` are None when there is no call at all.

    `over` tells that the end of the timeline (or of a call, see `Timeline.end_of`) is reached: nothing is active.
    """

    timeline: Timeline
    t: float
    beat: Beat | None
    act: Act | None
    alpha: float
    over: bool

    @property
    def call(self) -> Call | None:
        """The call that is being played."""
        return None if self.act is None else self.act.call

    @property
    def moment(self) -> float:
        """The time that nodes and edges are asked for: at the end of a call its last beat is over."""
        return float(self.act.end) if self.over and self.act is not None else self.t

    @property
    def active(self) -> tuple[int, ...]:
        """The stage nodes that are active in this beat; of a call without its graph none is there."""
        there = self.timeline.stage.graph.by_id
        return () if self.beat is None or self.over else tuple(node for node in self.beat.nodes if node in there)

    @cached_property
    def flow(self) -> float:
        """How far the pulses of this beat are on their way, eased."""
        return ease_in_out(between(self.alpha, LEAVES, ARRIVES))

    @property
    def title(self) -> str:
        """Which call this is: `Call 2 of 2   t3.backward()`."""
        return words.title(self.timeline.recording, self.call, self.timeline.code_of(self.call))

    @cached_property
    def sentence(self) -> str:
        """What this beat does, in a sentence."""
        return words.sentence(self)

    @cached_property
    def plain_sentence(self) -> str:
        """What this beat does, without the number of the step."""
        return words.sentence(self, counted=False)

    def recorded(self, node: int) -> Node:
        """The node as the current call recorded it (a loop plays other nodes on the same place)."""
        found = None if self.act is None else self.act.recorded.get(node)
        return found or self.timeline.stage.graph.by_id[node]

    def node(self, node: int) -> NodeState:
        """The state of a stage node."""
        return NodeState("absent") if self.act is None else self.act.node_state(node, self.moment)

    def glance(self, node: int) -> tuple[Phase, Gradient]:
        """Phase and first defined gradient of a stage node; what `node` tells, in less time."""
        return ("absent", None) if self.act is None else self.act.glance(node, self.moment)

    def edge(self, index: int) -> EdgeState:
        """The state of the stage edge with this index."""
        if self.act is None:
            return EdgeState("absent")
        return self.act.edge_state(self.timeline.stage.graph.edges[index], self.moment, self.flow)

    def leaf(self, node: int) -> GradState | None:
        """The `.grad` of a leaf; None when none of the calls changes it."""
        track = self.timeline.leaves.get(node)
        return None if track is None else track.at(self.t)

    def retained(self, node: int) -> tuple[GradState, ...]:
        """The `.grad` of the outputs of a node that retain theirs, in the order of outputs."""
        return tuple(track.at(self.t) for track in self.timeline.retained.get(node, ()))

    @cached_property
    def seeds(self) -> tuple[SeedState, ...]:
        """The roots of the current call with their seeds."""
        if self.act is None:
            return ()
        start = self.act.seed_beat
        alpha = 0.0 if start is None else between(self.t - start, LEAVES, ARRIVES)
        failed = self.act.error_beat is not None and self.t >= self.act.error_beat and not self.act.ran
        stand_in = self.timeline.stage.stand_in
        return tuple(
            SeedState(
                place,
                None if root.node is None else stand_in(root.node),
                root.output_nr,
                root.seed,
                root.seed_given,
                ease_in_out(alpha),
                failed,
            )
            for place, root in enumerate(self.act.call.roots)
        )

    @cached_property
    def pulses(self) -> tuple[Pulse, ...]:
        """What is on its way in this beat."""
        if self.beat is None or self.act is None or self.over or not 0.0 < self.flow < 1.0:
            return ()
        if self.beat.kind == "seed":
            return tuple(
                Pulse(None, place, self.flow, root.seed)
                for place, root in enumerate(self.act.call.roots)
                if root.seed is not None
            )
        if self.beat.kind != "execution":
            return ()
        edges = self.timeline.stage.graph.outgoing
        found = []
        for node in self.beat.nodes:
            for edge in edges.get(node, ()):
                state = self.act.edge_state(edge, self.t, self.flow)
                if state.phase == "flowing" and state.value is not None:
                    key = (edge.source, edge.slot, edge.target, edge.output_nr)
                    found.append(Pulse(self.timeline.stage.edge_index[key], None, self.flow, state.value))
        return tuple(found)
