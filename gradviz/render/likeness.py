"""Which nodes are shown alike: of a graph of very many nodes only one of each kind needs to be measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from gradviz.model import Gradient, Node
from gradviz.model.dtypes import ITEM_SIZES
from gradviz.model.numbers import number_text
from gradviz.playback import Timeline
from gradviz.playback.act import Act
from gradviz.render.cells import is_grid
from gradviz.render.fonts import NUMBER_BOLD, Fonts

Likeness = tuple[Hashable, ...]
Measure = TypeVar("Measure")


class Alike(Generic[Measure]):
    """Measures one of all nodes of a timeline that are shown alike."""

    def __init__(self, timeline: Timeline, fonts: Fonts) -> None:
        # Each of several calls may show something else at a node; such graphs are smaller.
        self._act: Act | None = timeline.acts[0] if len(timeline.acts) == 1 else None
        self._fonts = fonts
        self._roots = {root.node for act in timeline.acts for root in act.call.roots}
        self._known: dict[Likeness, Measure] = {}

    def once(self, node: Node, measure: Callable[[Node], Measure]) -> Measure:
        """What `measure` gives for the node or for one that is like it."""
        likeness = self.likeness(node)
        if likeness is None:
            return measure(node)
        if likeness not in self._known:
            self._known[likeness] = measure(node)
        return self._known[likeness]

    def likeness(self, node: Node) -> Likeness | None:
        """What the sizes of a node depend on; None where more than gradients along edges came to it."""
        act = self._act
        run = None if act is None else act.execution(node.id)
        if act is None or run is None or run.arrived or node.id in act.captured_nodes or node.id in self._roots:
            return None
        coming = act.graph.incoming.get(node.id, ())
        places: list[int] = []
        shown = [*run.grad_outputs, act.recorded[node.id].value]
        if len(coming) > 1:
            for edge in coming:
                left = act.leaving(edge)
                if left is not None:
                    places.append(edge.output_nr)
                    shown.append(left[1])
        values = [self._value(value, alone=len(coming) < 2) for value in shown]
        return None if None in values else (len(node.outputs), *places, *values)

    def _value(self, value: Gradient, *, alone: bool) -> Likeness | None:
        """What the size of a value depends on; None for grids, and for numbers that are added to others."""
        if value is None:
            return ("none",)
        if value.data is None or value.dtype not in ITEM_SIZES:
            return ("text", value.full_shape, value.layout, value.thumbnail is not None, _odd(value.norm))
        if math.prod(value.full_shape) == 1:
            number = value.item()
            assert number is not None
            return (self._fonts.width(number_text(number), NUMBER_BOLD),) if alone else None
        if not value.data or is_grid(value.full_shape):
            return None
        return ("heat", value.full_shape, value.layout, _odd(value.norm))


def _odd(norm: float | None) -> bool:
    return norm is not None and not math.isfinite(norm)
