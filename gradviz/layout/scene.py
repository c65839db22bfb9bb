"""Turns a picture in flow coordinates into a placement in scene units, y down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from statistics import median

import numpy as np
from numpy.typing import NDArray

from gradviz.layout.parts import FlowPicture
from gradviz.layout.values import Curve, LayoutGraph, Placement, Point

Array = NDArray[np.float64]

LOOP = 50.0
LOOP_END = 20.0
"""How far the curve of a loop swings out, and how far from the corner it meets the border."""
DIGITS = 2
"""Coordinates are rounded, so that the same graph gives the same text on every machine."""


def scene(graph: LayoutGraph, picture: FlowPicture, engine: str) -> Placement:
    """Return `picture` in the graph's direction, with its corner at the origin or held in place by the anchors."""
    centres = _directed(_array(picture.centres), graph.direction)
    points = _directed(_array(_flat(picture.curves)), graph.direction)
    return placed(graph, centres, points, picture.curves, engine)


def _array(points: list[Point]) -> Array:
    return np.fromiter(chain.from_iterable(points), np.float64, 2 * len(points)).reshape(-1, 2)


def placed(graph: LayoutGraph, centres: Array, points: Array, shape: Sequence[Curve], engine: str) -> Placement:
    """Return the placement of boxes at `centres` and curves shaped like `shape` through `points`.

    Args:
        graph: what was asked.
        centres: (boxes, 2) scene units, y down, any origin.
        points: (n, 2) the curves' points and labels in the order of `shape`.
        shape: curves of which only the structure counts.
        engine: for the placement's `engine`.
    """
    sizes = np.array(graph.sizes, dtype=np.float64).reshape(-1, 2)
    shape, points = _with_loops(graph, centres, points, shape)
    corners = np.concatenate([centres - sizes / 2, centres + sizes / 2, points, *_label_corners(graph, points, shape)])
    low = corners.min(axis=0) if len(corners) else np.zeros(2)
    high = corners.max(axis=0) if len(corners) else np.zeros(2)
    left, top = _held(graph, centres - low)
    move = np.array([left, top]) - low
    curves = _filled(shape, _pairs(points + move))
    width, height = (round(float(value), DIGITS) for value in high - low)
    return Placement(tuple(_pairs(centres + move)), tuple(curves), width, height, engine, None, left, top)


def _directed(flow: Array, direction: str) -> Array:
    along, across = flow[:, 0], flow[:, 1]
    if direction in ("RL", "BT"):
        along = -along
    columns = (along, across) if direction in ("RL", "LR") else (across, along)
    return np.stack(columns, axis=1)


def _flat(curves: Sequence[Curve]) -> list[Point]:
    found: list[Point] = []
    for curve in curves:
        found += curve.points
        if curve.label is not None:
            found.append(curve.label)
        if curve.stub is not None:
            found += _flat(curve.stub)
    return found


def _filled(shape: Sequence[Curve], points: list[Point]) -> list[Curve]:
    """Return curves of the same structure with new points, taken in the order of `_flat`."""
    at = 0

    def fill(curve: Curve) -> Curve:
        nonlocal at
        end = at + len(curve.points)
        mine, label, stub = tuple(points[at:end]), None, None
        at = end
        if curve.label is not None:
            label = points[at]
            at += 1
        if curve.stub is not None:
            stub = (fill(curve.stub[0]), fill(curve.stub[1]))
        return Curve(mine, label, stub)

    return [fill(curve) for curve in shape]


def _label_corners(graph: LayoutGraph, points: Array, shape: Sequence[Curve]) -> list[Array]:
    places: list[int] = []
    halves: list[Point] = []
    at = 0
    stub_half = (graph.stub_size[0] / 2, graph.stub_size[1] / 2)
    for number, curve in enumerate(shape):
        at += len(curve.points)
        if curve.label is not None:
            if graph.edge_labels:
                width, height = graph.edge_labels[number] or (0.0, 0.0)
                places.append(at)
                halves.append((width / 2, height / 2))
            at += 1
        for stub in curve.stub or ():
            at += len(stub.points)
            places.append(at)
            halves.append(stub_half)
            at += 1
    labels, half = points[places], _array(halves)
    return [labels - half, labels + half]


def _held(graph: LayoutGraph, centres: Array) -> Point:
    """Return the picture's corner: where most anchored boxes are about where they were; the origin without anchors."""
    moves = [
        (anchor[0] - float(centres[box, 0]), anchor[1] - float(centres[box, 1]))
        for box, anchor in enumerate(graph.anchors)
        if anchor is not None
    ]
    if not moves:
        return 0.0, 0.0
    return round(median(move[0] for move in moves), DIGITS), round(median(move[1] for move in moves), DIGITS)


def _pairs(values: Array) -> list[Point]:
    rounded = np.round(values, DIGITS) + 0.0  # no minus zero
    return list(map(tuple, rounded.tolist()))


def _with_loops(
    graph: LayoutGraph, centres: Array, points: Array, shape: Sequence[Curve]
) -> tuple[Sequence[Curve], Array]:
    """Return shape and points with a curve at its box for each loop, which the engines leave to this module."""
    loops = {number: box for number, (box, target) in enumerate(graph.edges) if box == target}
    if not loops:
        return shape, points
    curves = _filled(shape, [(x, y) for x, y in points.tolist()])
    for number, box in loops.items():
        x, y = centres[box].tolist()
        curves[number] = _loop((x, y), graph.sizes[box])
    return curves, _array(_flat(curves))


def _loop(centre: Point, size: Point) -> Curve:
    """A loop at the upper right corner of its box."""
    (x, y), (width, height) = centre, size
    right, top = x + width / 2, y - height / 2
    start, end = (right, top + min(height / 4, LOOP_END)), (right - min(width / 4, LOOP_END), top)
    return Curve((start, (right + LOOP, start[1]), (end[0], top - LOOP), end), (right + LOOP / 2, top - LOOP / 2))


def with_note(placement: Placement, note: str | None) -> Placement:
    """Return the placement with another note."""
    return replace(placement, note=note)
