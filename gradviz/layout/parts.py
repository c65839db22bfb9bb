"""Splits a graph into its connected parts and packs their pictures on shelves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt
from statistics import median

from gradviz.layout.ranks import Edge
from gradviz.layout.values import Curve, LayoutGraph, Point

PART_GAP = 1.5
"""Distance of two parts, in distances of two boxes."""


@dataclass
class Part:
    """A connected part; sizes, edges and anchors are local to it and in flow coordinates (along, across).

    Attributes:
        boxes: the boxes' indices in the graph.
        numbers: the edges' places in the graph; loops are in no part.
        sizes: of each box.
        edges: between local boxes.
        labels: size of each edge's label or None.
        anchors: where each box was, or None.
    """

    boxes: list[int] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    sizes: list[Point] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    labels: list[Point | None] = field(default_factory=list)
    anchors: list[Point | None] = field(default_factory=list)


@dataclass(frozen=True)
class FlowPicture:
    """Centres of boxes and curves of edges in coordinates (along, across)."""

    centres: list[Point]
    curves: list[Curve]


def split(graph: LayoutGraph) -> list[Part]:
    """Return the connected parts in the order of their first boxes, or of their anchors where there are some."""
    part_of = _components(len(graph.sizes), graph.edges)
    parts: list[Part] = [Part() for _ in range(max(part_of, default=-1) + 1)]
    local = [0] * len(graph.sizes)
    for box, size in enumerate(graph.sizes):
        part = parts[part_of[box]]
        local[box] = len(part.boxes)
        part.boxes.append(box)
        part.sizes.append(_flow(size, graph.horizontal))
        anchor = graph.anchors[box] if graph.anchors else None
        part.anchors.append(None if anchor is None else _flow_point(anchor, graph.direction))
    for number, (source, target) in enumerate(graph.edges):
        if source != target:
            part = parts[part_of[source]]
            part.numbers.append(number)
            part.edges.append((local[source], local[target]))
            label = graph.edge_labels[number] if graph.edge_labels else None
            part.labels.append(None if label is None else _flow(label, graph.horizontal))
    if graph.anchors:
        parts.sort(key=_anchor_place)
    return parts


def pack(graph: LayoutGraph, parts: Sequence[Part], pictures: Sequence[FlowPicture]) -> FlowPicture:
    """Return one picture of all the parts: shelves across the flow, each about as long as the longest part."""
    if len(parts) == 1 and len(pictures[0].curves) == len(graph.edges):
        return pictures[0]
    bounds = [_bounds(part, picture) for part, picture in zip(parts, pictures, strict=True)]
    gap_along, gap_across = graph.rank_gap, PART_GAP * graph.node_gap
    area = sum((u1 - u0 + gap_along) * (v1 - v0 + gap_across) for u0, v0, u1, v1 in bounds)
    width, height = graph.flow_view
    limit = max([sqrt(area * width / height), *(u1 - u0 for u0, _, u1, _ in bounds)])
    centres: list[Point] = [(0.0, 0.0)] * len(graph.sizes)
    curves = [Curve(())] * len(graph.edges)
    cursor = shelf = tallest = 0.0
    for part, picture, (u0, v0, u1, v1) in zip(parts, pictures, bounds, strict=True):
        if cursor and cursor + u1 - u0 > limit:
            cursor, shelf, tallest = 0.0, shelf + tallest + gap_across, 0.0
        du, dv = cursor - u0, shelf - v0
        for box, (u, v) in zip(part.boxes, picture.centres, strict=True):
            centres[box] = (u + du, v + dv)
        for number, curve in zip(part.numbers, picture.curves, strict=True):
            curves[number] = curve if not du and not dv else _moved(curve, du, dv)
        cursor += u1 - u0 + gap_along
        tallest = max(tallest, v1 - v0)
    return FlowPicture(centres, curves)


def _flow_point(point: Point, direction: str) -> Point:
    along, across = point if direction in ("RL", "LR") else point[::-1]
    return (-along if direction in ("RL", "BT") else along, across)


def _flow(size: Point, horizontal: bool) -> Point:
    return size if horizontal else (size[1], size[0])


def _components(count: int, edges: Sequence[Edge]) -> list[int]:
    """Number the connected parts by their first boxes."""
    near: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        near[source].append(target)
        near[target].append(source)
    part_of = [-1] * count
    parts = 0
    for start in range(count):
        if part_of[start] >= 0:
            continue
        part_of[start] = parts
        found = [start]
        for box in found:
            for other in near[box]:
                if part_of[other] < 0:
                    part_of[other] = parts
                    found.append(other)
        parts += 1
    return part_of


@dataclass(frozen=True)
class EarlierPlaces:
    """Where boxes were before.

    Attributes:
        places: across the flow; in rows that ran back, which are turned by half a turn, the negative of it.
        ahead: below 0 for a box in a row that ran back, above 0 in one that ran forward, 0 where that is not known.
    """

    places: list[float | None]
    ahead: list[int]


def earlier_places(part: Part, ranks: Sequence[int]) -> EarlierPlaces:
    """Return what the anchors tell. Short edges that ran back tell which boxes were in a row that ran back."""
    ahead = [0] * len(part.boxes)
    for source, target in part.edges:
        first, second = part.anchors[source], part.anchors[target]
        if first is not None and second is not None and ranks[target] - ranks[source] <= 2:
            move = second[0] - first[0]
            if abs(move) > (part.sizes[source][0] + part.sizes[target][0]) / 2:
                for box in (source, target):
                    ahead[box] += 1 if move > 0 else -1
    places = [
        None if anchor is None else (-anchor[1] if sign < 0 else anchor[1])
        for anchor, sign in zip(part.anchors, ahead, strict=True)
    ]
    return EarlierPlaces(places, ahead)


def _anchor_place(part: Part) -> float:
    known = [anchor[1] for anchor in part.anchors if anchor is not None]
    return median(known) if known else float("inf")


def _bounds(part: Part, picture: FlowPicture) -> tuple[float, float, float, float]:
    """(least along, least across, greatest along, greatest across) of boxes, curves and labels."""
    along: list[float] = []
    across: list[float] = []
    for (u, v), (length, breadth) in zip(picture.centres, part.sizes, strict=True):
        along += [u - length / 2, u + length / 2]
        across += [v - breadth / 2, v + breadth / 2]
    for curve, label in zip(picture.curves, part.labels, strict=True):
        for piece in curve.stub or (curve,):
            along += [u for u, _ in piece.points]
            across += [v for _, v in piece.points]
        if curve.label is not None and label is not None:
            across += [curve.label[1] - label[1] / 2, curve.label[1] + label[1] / 2]
    return min(along), min(across), max(along), max(across)


def _moved(curve: Curve, du: float, dv: float) -> Curve:
    points = tuple([(u + du, v + dv) for u, v in curve.points])
    label = None if curve.label is None else (curve.label[0] + du, curve.label[1] + dv)
    stub = None if curve.stub is None else (_moved(curve.stub[0], du, dv), _moved(curve.stub[1], du, dv))
    return Curve(points, label, stub)
