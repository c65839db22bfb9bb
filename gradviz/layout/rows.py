"""Decides whether a picture is wrapped into rows, and at which ranks the rows begin."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import sqrt

from gradviz.layout.order import Layers
from gradviz.layout.proper import Proper
from gradviz.layout.values import LayoutGraph

ROW_GAP = 48.0
CLEARLY = 1.5
"""Rows are worth their turns when they make the picture so many times larger in its window."""
LOOSE = 1.2
"""A row is about so much broader than the boxes of its broadest rank put side by side."""
UNEVEN = 8.0
"""How many more edges may be turned to save a row from being its whole length too long or too short."""
KEPT = 2.0
"""Earlier rows are kept until one is so many times longer than the mean, or the picture fits in one row so well."""


def plan_breaks(proper: Proper, layers: Layers, graph: LayoutGraph, ahead: Sequence[int] = ()) -> list[int]:
    """Return the ranks at which a new row begins; none when the picture reads well in one row.

    Args:
        proper: the layered graph.
        layers: its ranks, in any order inside.
        graph: what was asked.
        ahead: for each box below 0 when it was in a row that ran back before, above 0 in one that ran forward.
    """
    sketch = _Sketch(proper, layers, graph)
    single = sketch.zoom(1)
    kept = sketch.earlier_rows(ahead) if any(sign < 0 for sign in ahead) else []
    if single >= graph.legible * (KEPT if kept else 1.0):
        return []
    if kept:
        return kept
    count = max(sketch.candidates(), key=sketch.zoom)
    return sketch.breaks(count) if sketch.zoom(count) >= CLEARLY * single else []


class _Sketch:
    """Sizes of the picture as far as they are known before its boxes have coordinates."""

    def __init__(self, proper: Proper, layers: Layers, graph: LayoutGraph) -> None:
        self._proper = proper
        self._layers = layers
        self._graph = graph
        steps = [
            max([proper.along[vertex] for vertex in layer], default=0.0) + graph.rank_gap * share
            for layer, share in zip(layers, proper.gap_shares, strict=True)
        ]
        self._ends = list(accumulate(steps))
        self._breadths = [
            sum([proper.low[vertex] + proper.high[vertex] + graph.node_gap for vertex in layer]) for layer in layers
        ]

    def candidates(self) -> list[int]:
        """Return the numbers of rows to try, the smallest first."""
        width, height = self._graph.flow_view
        mean = sum(self._breadths) / len(self._breadths)
        ideal = sqrt(self._ends[-1] * height / (width * (mean + ROW_GAP)))
        wanted = {*range(2, 9), *(round(ideal * share) for share in (0.4, 0.55, 0.7, 0.85, 1.0))}
        return sorted(rows for rows in wanted if 2 <= rows <= len(self._layers))

    def zoom(self, rows: int) -> float:
        """Return the scale at which the picture in so many equal rows fits its view."""
        starts = [0, *self._even(rows), len(self._layers)]
        breadth = sum(max(self._breadths[first:last], default=0.0) for first, last in pairwise(starts))
        return self._graph.zoom(self._ends[-1] / rows, LOOSE * breadth + ROW_GAP * (rows - 1))

    def breaks(self, rows: int) -> list[int]:
        """Return the ranks where rows are about equal and few edges are turned; boxes come first in a row."""
        proper, layers = self._proper, self._layers
        slack = max(1, len(layers) // rows // 3)
        length = self._ends[-1]
        breaks: list[int] = []
        for rank in self._even(rows):
            first = breaks[-1] + 1 if breaks else 1
            window = range(max(rank - slack, first), min(rank + slack, len(layers) - 1) + 1)
            turned = {at: sum([len(proper.up[vertex]) for vertex in layers[at]]) for at in window}
            no_box = {at: min(layers[at], default=proper.boxes) >= proper.boxes for at in window}
            if turned:
                uneven = {at: UNEVEN * abs(self._ends[at - 1] - self._ends[rank - 1]) * rows / length for at in window}
                breaks.append(min(window, key=lambda at: (turned[at] + no_box[at] + uneven[at], at)))
        return breaks

    def earlier_rows(self, ahead: Sequence[int]) -> list[int]:
        """Return the ranks at which boxes go from a row of before into the next; none when those rows fit no more."""
        breaks: list[int] = []
        way = 1
        for rank, layer in enumerate(self._layers):
            signs = sum([ahead[vertex] for vertex in layer if vertex < self._proper.boxes])
            if signs * way < 0:
                way = -way
                breaks.append(rank)
        ends = [self._ends[rank - 1] for rank in breaks if rank] + [self._ends[-1]]
        longest = max(last - first for first, last in pairwise([0.0, *ends]))
        return breaks if longest <= KEPT * self._ends[-1] / len(ends) else []

    def _even(self, rows: int) -> list[int]:
        length = self._ends[-1]
        ranks = {bisect_left(self._ends, length * row / rows) + 1 for row in range(1, rows)}
        return sorted(rank for rank in ranks if rank < len(self._layers))
