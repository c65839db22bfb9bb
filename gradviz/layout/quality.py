"""Tells which of two placements of one graph reads better."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gradviz.layout.values import LayoutGraph, Placement

Array = NDArray[np.float64]

PIECES = 11
"""Straight pieces that stand for one bent cubic: odd, or lines that cross in the middle would meet at ends."""
END = 1e-6
"""An end that touches a line does not cross it: so edges join a lane and leave it."""
TOUCH = 0.03
"""Lines that meet at a smaller angle (its sine) run along each other."""
CELL = 2.0
"""Crossings nearer than this are one: edges in one lane are one line for the eye."""
WORTH = 0.8
"""Crossings are counted, straight lines are not: so another placement must have clearly fewer to be taken."""


def better(graph: LayoutGraph, layered: Placement, other: Placement) -> Placement:
    """Return `other` when its edges cross clearly less often and it is not much smaller in its window."""
    if _zoom(graph, other) < min(graph.legible, WORTH * _zoom(graph, layered)):
        return layered
    mine = crossings(graph, layered)
    return other if mine and crossings(graph, other) < WORTH * mine else layered


def _zoom(graph: LayoutGraph, placement: Placement) -> float:
    size = (placement.width, placement.height)
    return graph.zoom(*(size if graph.horizontal else size[::-1]))


def crossings(graph: LayoutGraph, placement: Placement) -> int:
    """Return in how many places edges cross; edges that come together at a common box do not."""
    edge, start, end = _segments(placement)
    low, high = np.minimum(start, end).T.copy(), np.maximum(start, end).T.copy()
    ends = np.array(graph.edges, dtype=np.int64).reshape(-1, 2)
    found: set[tuple[int, int]] = set()
    for first in range(0, len(edge), 256):
        rows, later = slice(first, first + 256), slice(first, None)
        near = edge[rows, None] < edge[None, later]
        for axis in (0, 1):
            near &= low[axis, rows, None] <= high[axis, None, later]
            near &= low[axis, None, later] <= high[axis, rows, None]
        one, other = np.nonzero(near)
        one, other = one + first, other + first
        crossed, points = _meetings(start[one], end[one], start[other], end[other])
        pairs = np.stack([edge[one[crossed]], edge[other[crossed]]], axis=1)
        points = points[crossed][~_at_common_box(graph, placement, ends[pairs], points[crossed])]
        found.update((int(x), int(y)) for x, y in np.round(points / CELL))
    return len(found)


def _segments(placement: Placement) -> tuple[NDArray[np.int64], Array, Array]:
    """Return edge, start and end of the straight pieces of all curves."""
    owners: list[int] = []
    pieces: list[tuple[tuple[float, float], ...]] = []
    for number, curve in enumerate(placement.curves):
        for part in curve.stub or (curve,):
            for first in range(0, len(part.points) - 1, 3):
                owners.append(number)
                pieces.append(part.points[first : first + 4])
    control = np.array(pieces, dtype=np.float64).reshape(-1, 4, 2)
    t = np.linspace(0.0, 1.0, PIECES + 1)[:, None]
    weights = np.concatenate([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3], axis=1)
    owner = np.array(owners, dtype=np.int64)
    straight = np.any(np.all(control == control[:, :1], axis=1), axis=1)
    line = np.einsum("tk,pkc->ptc", weights, control[~straight])
    edge = np.concatenate([owner[straight], np.repeat(owner[~straight], PIECES)])
    start = np.concatenate([control[straight, 0], line[:, :-1].reshape(-1, 2)])
    end = np.concatenate([control[straight, 3], line[:, 1:].reshape(-1, 2)])
    order = np.argsort(edge, kind="stable")
    order = order[np.any(start != end, axis=1)[order]]
    return edge[order], start[order], end[order]


def _meetings(a: Array, b: Array, c: Array, d: Array) -> tuple[NDArray[np.bool_], Array]:
    """Return for each pair of segments a-b and c-d whether they cross, and where."""
    r, s, between = b - a, d - c, c - a
    determinant = r[:, 0] * s[:, 1] - r[:, 1] * s[:, 0]
    lengths = np.hypot(r[:, 0], r[:, 1]) * np.hypot(s[:, 0], s[:, 1])
    crossed = np.abs(determinant) > TOUCH * lengths
    safe = np.where(crossed, determinant, 1.0)
    t = (between[:, 0] * s[:, 1] - between[:, 1] * s[:, 0]) / safe
    u = (between[:, 0] * r[:, 1] - between[:, 1] * r[:, 0]) / safe
    for share in (t, u):
        crossed &= (share > END) & (share < 1 - END)
    return crossed, a + t[:, None] * r


def _at_common_box(
    graph: LayoutGraph, placement: Placement, ends: NDArray[np.int64], points: Array
) -> NDArray[np.bool_]:
    """Return whether each point is at a box that both edges have as an end; `ends` is (n, 2 edges, 2 ends)."""
    centres = np.array(placement.positions, dtype=np.float64).reshape(-1, 2)
    reach = np.array(graph.sizes, dtype=np.float64).reshape(-1, 2) / 2 + 2.0
    common = np.zeros(len(points), dtype=np.bool_)
    for one in (0, 1):
        for other in (0, 1):
            box = ends[:, 0, one]
            inside = np.all(np.abs(points - centres[box]) <= reach[box], axis=1)
            common |= (box == ends[:, 1, other]) & inside
    return common
