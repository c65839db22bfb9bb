"""What is shown of a node, an edge, a `.grad` and a seed at one moment, as frozen values.

Progress (`alpha`) is in [0, 1]. `None` as a gradient is torch's undefined gradient; "nothing has come yet" is an
empty tuple of terms or a phase, never None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gradviz.model import Gradient

Phase = Literal["absent", "waiting", "active", "done", "failed"]
EdgePhase = Literal["absent", "waiting", "flowing", "done"]
GradChange = Literal["none", "added", "cleared", "assigned"]


@dataclass(frozen=True, slots=True)
class Term:
    """What one edge (its index in the stage's graph) or one seed (`edge` None) brought to an output."""

    edge: int | None
    value: Gradient


@dataclass(frozen=True, slots=True)
class Arrival:
    """The gradient at one output of a node.

    `value` is the recorded sum once the node has run, before that the sum of `terms` where it can be told
    (`summed` is False when there are terms whose sum is not known). `expected` counts the terms that come in all.
    """

    output_nr: int
    value: Gradient
    terms: tuple[Term, ...] = ()
    expected: int = 0
    summed: bool = True

    @property
    def empty(self) -> bool:
        """Whether nothing is there to be shown yet."""
        return not self.terms and self.value is None and self.summed and self.expected > 0


@dataclass(frozen=True, slots=True)
class NodeState:
    """`arrivals` holds one entry for each output at which something is (or was) there.

    `arrived` is what came to each output where a hook of the user's changed it, else None. `step` is the node's place
    (from 1) in the order of the call, None when it has not run.
    """

    phase: Phase
    arrivals: tuple[Arrival, ...] = ()
    step: int | None = None
    arrived: tuple[Gradient, ...] | None = None
    captured: bool = False

    def changed(self, output_nr: int = 0) -> bool:
        """Whether a hook of the user's changed what came to an output."""
        arrival = self.gradient(output_nr)
        if self.arrived is None or arrival is None or output_nr >= len(self.arrived):
            return False
        return self.arrived[output_nr] != arrival.value

    def gradient(self, output_nr: int = 0) -> Arrival | None:
        """The arrival at one output, or None when nothing is there."""
        return next((a for a in self.arrivals if a.output_nr == output_nr), None)


@dataclass(frozen=True, slots=True)
class EdgeState:
    """`value` has meaning when `phase` is "flowing" or "done"."""

    phase: EdgePhase
    alpha: float = 0.0
    value: Gradient = None


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a `.grad` and the calls (numbers) that brought it; no calls: it was there before or set by hand."""

    calls: tuple[int, ...]
    value: Gradient


@dataclass(frozen=True, slots=True)
class GradState:
    """A `.grad` at a moment: `parts` add up to `total`. `before` is what it was before the last change.

    `change` and `alpha` tell how the last change is getting on (alpha 1: settled). With "added" the last part is
    what comes in. `total` None with no parts means that `.grad` is None.
    """

    parts: tuple[Part, ...]
    before: Gradient
    total: Gradient
    change: GradChange = "none"
    alpha: float = 1.0
    name: str | None = None
    output_nr: int = 0


@dataclass(frozen=True, slots=True)
class SeedState:
    """A root of the current call: its place in `call.roots`, the node (stage id) and how far the seed has come."""

    root: int
    node: int | None
    output_nr: int
    value: Gradient
    given: bool
    alpha: float
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Pulse:
    """A dot on its way: along an edge (index), or from a seed (`edge` None, `root` its place in `call.roots`)."""

    edge: int | None
    root: int | None
    alpha: float
    value: Gradient
