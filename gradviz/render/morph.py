"""From one scene to another when groups are folded or unfolded: what stays is moved to its new place."""

from __future__ import annotations

from dataclasses import replace

from gradviz.layout import Curve
from gradviz.render.plan import Box, ScenePlan
from gradviz.render.scene import Scene
from gradviz.render.shapes import Point


def anchors(plan: ScenePlan, old: Scene) -> tuple[Point | None, ...]:
    """For each box of a new plan the place where the old scene had it, for a layout that keeps boxes in place.

    What comes out of a group that was opened, and a group that was folded, has no place yet: it goes where its
    neighbours want it.
    """
    centres = _centres(old)
    return tuple(centres.get(box.id) for box in plan.boxes)


def morphed(old: Scene, new: Scene, alpha: float) -> Scene:
    """The new scene with its boxes at `alpha` in [0, 1] of their way from the old one; links are straight meanwhile.

    A box that was not there comes out of the box which stood for its nodes; a group that was folded starts in the
    middle of what it holds.
    """
    if alpha >= 1.0:
        return new
    positions = []
    for box, (x, y) in zip(new.plan.boxes, new.placement.positions, strict=True):
        start = _origin(box, old)
        sx, sy = (x, y) if start is None else start
        positions.append((sx + (x - sx) * alpha, sy + (y - sy) * alpha))
    curves = tuple(_straight(positions[link.source], positions[link.target]) for link in new.plan.links)
    return Scene(new.plan, replace(new.placement, positions=tuple(positions), curves=curves), moving=True)


def _centres(scene: Scene) -> dict[str, Point]:
    return {box.id: place for box, place in zip(scene.plan.boxes, scene.placement.positions, strict=True)}


def _origin(box: Box, old: Scene) -> Point | None:
    """Where the nodes of a box were in the old scene, on average over the boxes that showed them."""
    places: dict[int, Point] = {}
    for node in box.nodes:
        known = old.plan.box_of_node.get(node)
        if known is not None:
            places[known.index] = old.placement.positions[known.index]
    if not places:
        return None
    xs, ys = zip(*places.values(), strict=True)
    return sum(xs) / len(xs), sum(ys) / len(ys)


def _straight(start: Point, end: Point) -> Curve:
    dx, dy = (end[0] - start[0]) / 3, (end[1] - start[1]) / 3
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    points = (start, (start[0] + dx, start[1] + dy), (end[0] - dx, end[1] - dy), end)
    return Curve(points, middle)
