"""What is measured of a placement: overlapping boxes, edges through boxes, labels on boxes, crossings of edges.

Written for truth and not for speed, and independent of the code under test.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import hypot

from gradviz.layout import Curve, LayoutGraph, Placement, Point

Rectangle = tuple[float, float, float, float]
Segment = tuple[Point, Point]

SLACK = 0.05
"""Coordinates are rounded to hundredths."""
PIECES = 11
"""Straight pieces that stand for one cubic: odd, or lines that cross in the middle would meet at ends."""

END = 1e-6
TOUCH = 0.03
"""Lines that meet at a smaller angle (its sine) run along each other; edges that share a lane do."""


def box(centre: Point, size: Point, grow: float = 0.0) -> Rectangle:
    """Return (left, top, right, bottom)."""
    half_width, half_height = size[0] / 2 + grow, size[1] / 2 + grow
    return centre[0] - half_width, centre[1] - half_height, centre[0] + half_width, centre[1] + half_height


def boxes(graph: LayoutGraph, placement: Placement) -> list[Rectangle]:
    """Return the boxes' rectangles."""
    return [box(centre, size) for centre, size in zip(placement.positions, graph.sizes, strict=True)]


def overlaps(rectangles: list[Rectangle]) -> list[tuple[int, int]]:
    """Return the pairs that overlap, by sorting along x."""
    order = sorted(range(len(rectangles)), key=lambda number: rectangles[number][0])
    active: list[int] = []
    found = []
    for number in order:
        left, top, _, bottom = rectangles[number]
        active = [other for other in active if rectangles[other][2] - SLACK > left]
        for other in active:
            if rectangles[other][1] < bottom - SLACK and rectangles[other][3] > top + SLACK:
                found.append((other, number))
        active.append(number)
    return found


def polyline(curve: Curve) -> list[Point]:
    """Return points along a chain of cubics."""
    points = list(curve.points[:1])
    for start in range(0, len(curve.points) - 1, 3):
        a, b, c, d = curve.points[start : start + 4]
        for step in range(1, PIECES + 1):
            t = step / PIECES
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            x, y = (sum(w * p[axis] for w, p in zip(weights, (a, b, c, d), strict=True)) for axis in (0, 1))
            points.append((x, y))
    return points


def lines(placement: Placement) -> list[tuple[int, list[Point]]]:
    """Return (edge, polyline) for every curve and every half of a stub."""
    result = []
    for number, curve in enumerate(placement.curves):
        result += [(number, polyline(part)) for part in curve.stub or (curve,)]
    return result


def through_boxes(graph: LayoutGraph, placement: Placement) -> set[tuple[int, int]]:
    """Return (edge, box) where an edge runs through a box, its own two ends included."""
    rectangles = [box(c, s, -1.0) for c, s in zip(placement.positions, graph.sizes, strict=True)]
    grid = _Grid(rectangles)
    return {
        (number, hit)
        for number, points in lines(placement)
        for segment in pairwise(points)
        for hit in grid.near(segment)
        if _meets(segment, rectangles[hit])
    }


def labels_on_boxes(graph: LayoutGraph, placement: Placement) -> set[tuple[int, int]]:
    """Return (edge, box) where the label of an edge lies on a box."""
    rectangles = boxes(graph, placement)
    found = set()
    for number, label in label_rectangles(graph, placement):
        for other, rectangle in enumerate(rectangles):
            if overlaps([label, rectangle]):
                found.add((number, other))
    return found


def label_rectangles(graph: LayoutGraph, placement: Placement) -> list[tuple[int, Rectangle]]:
    """Return the room of each label, and of each stub's once."""
    found = []
    for number, curve in enumerate(placement.curves):
        if curve.label is not None and graph.edge_labels and graph.edge_labels[number]:
            size = graph.edge_labels[number]
            assert size is not None
            found.append((number, box(curve.label, size)))
    stubs = {stub.label: number for number, curve in enumerate(placement.curves) for stub in curve.stub or ()}
    return found + [(number, box(label, graph.stub_size)) for label, number in stubs.items() if label]


def crossings(graph: LayoutGraph, placement: Placement) -> int:
    """Return in how many points edges cross; meeting at a common box is none, and edges on one line count as one."""
    ends = [frozenset(edge) for edge in graph.edges]
    segments: list[tuple[int, Segment]] = []
    for number, points in lines(placement):
        segments += [(number, pair) for pair in pairwise(points) if pair[0] != pair[1]]
    grid = _Grid([_around(segment) for _, segment in segments])
    hits: set[tuple[int, int]] = set()
    for index, (number, segment) in enumerate(segments):
        for other_index in grid.near(segment):
            other, other_segment = segments[other_index]
            if other_index <= index or other == number:
                continue
            point = _crossing(segment, other_segment)
            if point is None or _at_common_box(graph, placement, ends[number] & ends[other], point):
                continue
            hits.add((round(point[0] / 2), round(point[1] / 2)))
    return len(hits)


class _Grid:
    """Finds the rectangles near a segment by cells."""

    def __init__(self, rectangles: list[Rectangle], cell: float = 200.0) -> None:
        self._cell = cell
        self._members: dict[tuple[int, int], list[int]] = defaultdict(list)
        for number, rectangle in enumerate(rectangles):
            for key in self._cells(rectangle):
                self._members[key].append(number)

    def near(self, segment: Segment) -> set[int]:
        return {number for key in self._cells(_around(segment)) for number in self._members.get(key, ())}

    def _cells(self, rectangle: Rectangle) -> Iterator[tuple[int, int]]:
        left, top, right, bottom = (int(value // self._cell) for value in rectangle)
        for column in range(left, right + 1):
            for row in range(top, bottom + 1):
                yield column, row


def _around(segment: Segment) -> Rectangle:
    (x0, y0), (x1, y1) = segment
    return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


def _meets(segment: Segment, rectangle: Rectangle) -> bool:
    """Clip the segment to the rectangle (Liang-Barsky); whether something is left."""
    (x0, y0), (x1, y1) = segment
    dx, dy = x1 - x0, y1 - y0
    left, top, right, bottom = rectangle
    first, last = 0.0, 1.0
    for direction, distance in ((-dx, x0 - left), (dx, right - x0), (-dy, y0 - top), (dy, bottom - y0)):
        if direction == 0:
            if distance < 0:
                return False
        elif direction < 0:
            first = max(first, distance / direction)
        else:
            last = min(last, distance / direction)
    return first < last


def _crossing(one: Segment, other: Segment) -> Point | None:
    """Return where two segments cross; an end that touches is no crossing: so edges join a lane and leave it."""
    (ax, ay), (bx, by) = one
    (cx, cy), (dx, dy) = other
    rx, ry, sx, sy = bx - ax, by - ay, dx - cx, dy - cy
    determinant = rx * sy - ry * sx
    if abs(determinant) <= TOUCH * hypot(rx, ry) * hypot(sx, sy):
        return None
    t = ((cx - ax) * sy - (cy - ay) * sx) / determinant
    u = ((cx - ax) * ry - (cy - ay) * rx) / determinant
    inside = END < t < 1 - END and END < u < 1 - END
    return (ax + t * rx, ay + t * ry) if inside else None


def _at_common_box(graph: LayoutGraph, placement: Placement, common: Iterable[int], point: Point) -> bool:
    """Whether a point is at a box that both edges have as an end: there they come together, they do not cross."""
    for number in common:
        left, top, right, bottom = box(placement.positions[number], graph.sizes[number], 2.0)
        if left <= point[0] <= right and top <= point[1] <= bottom:
            return True
    return False
