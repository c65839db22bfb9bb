"""The layered engine of our own: linear in boxes and edges, never recursive, no box overlaps another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from gradviz.layout.across import across
from gradviz.layout.along import frame
from gradviz.layout.order import orders
from gradviz.layout.parts import FlowPicture, Part, earlier_places, pack, split
from gradviz.layout.proper import Proper, Wanted, build
from gradviz.layout.ranks import acyclic, ranks
from gradviz.layout.routes import Router
from gradviz.layout.rows import plan_breaks
from gradviz.layout.scene import scene
from gradviz.layout.values import Curve, LayoutGraph, Placement
from gradviz.model.collector import held_collector

BREADTH_WORTH = 3.0
"""How many units of edges across the flow a unit of the picture's breadth is worth."""


@dataclass(frozen=True)
class LayeredEngine:
    """Places any graph in time linear in its size."""

    name: str = "layered"

    def place(self, graph: LayoutGraph) -> Placement:
        """Return the placement of `graph`; the same graph gives the same numbers."""
        with held_collector():
            parts = split(graph)
            pictures = [_place_part(graph, part) for part in parts]
            return scene(graph, pack(graph, parts, pictures), self.name)


def _place_part(graph: LayoutGraph, part: Part) -> FlowPicture:
    if len(part.boxes) == 1 and not part.edges:
        return FlowPicture([(0.0, 0.0)], [])
    local = acyclic(len(part.boxes), part.edges)
    wanted = Wanted(
        sizes=part.sizes,
        edges=local,
        labels=part.labels,
        ranks=ranks(part.sizes, local, graph),
        stub_size=graph.stub_size if graph.horizontal else graph.stub_size[::-1],
        stub_span=graph.stub_span,
    )
    proper = build(wanted)
    earlier = earlier_places(part, wanted.ranks)
    breaks = plan_breaks(proper, proper.layers(), graph, earlier.ahead)
    _turn_labels(proper, breaks)
    pulls = () if breaks or min(earlier.ahead, default=0) < 0 else earlier.places
    layers, coordinates = min(
        (
            (layers, across(proper, layers, graph.node_gap, pulls, frozenset(breaks)))
            for layers in orders(proper, earlier.places)
        ),
        key=lambda found: _looseness(proper, found[1]),
    )
    bands = frame(proper, layers, coordinates, graph.rank_gap, breaks)
    centres = [
        (bands.middle(proper.rank[box]), bands.across(proper.rank[box], coordinates[box]))
        for box in range(proper.boxes)
    ]
    curves = Router(proper, bands, coordinates, local).curves()
    for number, (before, after) in enumerate(zip(part.edges, local, strict=True)):
        if before != after:
            curves[number] = _turn(curves[number])
    return FlowPicture(centres, curves)


def _looseness(proper: Proper, coordinates: Sequence[float]) -> float:
    """How far edges go across the flow in all, and how broad the picture is: less of both reads better."""
    breadth = max(coordinates) - min(coordinates)
    pairs = [(upper, lower) for upper, near in enumerate(proper.down) for lower in near]
    moves = sum([abs(coordinates[lower] - coordinates[upper]) for upper, lower in pairs])
    return round(BREADTH_WORTH * breadth + moves, 3)


def _turn_labels(proper: Proper, breaks: Sequence[int]) -> None:
    """Keep the room of labels in rows that run back on the other side: there the picture is turned by half a turn."""
    for vertex in proper.labels.values():
        if bisect_right(breaks, proper.rank[vertex]) % 2:
            proper.low[vertex], proper.high[vertex] = proper.high[vertex], proper.low[vertex]


def _turn(curve: Curve) -> Curve:
    """Return the curve of an edge that was turned round to break a cycle, from its true source to its target."""
    stub = None if curve.stub is None else (_turn(curve.stub[1]), _turn(curve.stub[0]))
    return Curve(curve.points[::-1], curve.label, stub)
