"""Going through the graph by keyboard, and what a box depends on. Pure functions over a `Scene`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

from gradviz.render import Scene
from gradviz.render.shapes import Bounds

Way = Literal["left", "right", "up", "down"]
Flow = Literal["upstream", "downstream"]
_WAYS = {"left": (-1.0, 0.0), "right": (1.0, 0.0), "up": (0.0, -1.0), "down": (0.0, 1.0)}
_NARROW = 1.5
_ASIDE = 2.0  # a pixel to the side counts as so many ahead


def next_box(scene: Scene, box: int | None, way: Way) -> int | None:
    """The box that lies nearest in a direction: one that is linked to `box` if there is any, else any.

    Without a box the first root is where to begin.
    """
    if box is None:
        return first_box(scene)
    linked, everything = _neighbours(scene, box), range(len(scene.plan.boxes))
    for others, cone in ((linked, _NARROW), (everything, _NARROW), (everything, math.inf)):
        found = _ahead(scene, box, way, others, cone)
        if found is not None:
            return found
    return None


def first_box(scene: Scene) -> int | None:
    """The box at which a seed enters, else the first one."""
    for boxes in scene.plan.boxes_with_seeds.values():
        return boxes[0].index
    return 0 if scene.plan.boxes else None


def reached(scene: Scene, boxes: Iterable[int], flow: Flow) -> frozenset[int]:
    """`boxes` and all that they get gradient from (upstream) or hand gradient to (downstream), at any remove."""
    along: dict[int, list[int]] = {}
    for link in scene.plan.links:
        start, end = (link.source, link.target) if flow == "downstream" else (link.target, link.source)
        along.setdefault(start, []).append(end)
    found = set(boxes)
    waiting = list(found)
    while waiting:
        for other in along.get(waiting.pop(), ()):
            if other not in found:
                found.add(other)
                waiting.append(other)
    return frozenset(found)


def _neighbours(scene: Scene, box: int) -> frozenset[int]:
    ends = [(link.source, link.target) for link in scene.plan.links]
    return frozenset(b if a == box else a for a, b in ends if box in (a, b))


def _ahead(scene: Scene, box: int, way: Way, others: Iterable[int], cone: float) -> int | None:
    """The nearest of `others` that lies ahead, at most `cone` times as far aside."""
    x, y = _centre(scene.cards[box])
    dx, dy = _WAYS[way]
    best, least = None, math.inf
    for other in others:
        ox, oy = _centre(scene.cards[other])
        ahead = (ox - x) * dx + (oy - y) * dy
        aside = abs((ox - x) * dy) + abs((oy - y) * dx)
        cost = ahead + _ASIDE * aside
        if other != box and ahead > 1.0 and aside <= cone * ahead and cost < least:
            best, least = other, cost
    return best


def _centre(card: Bounds) -> tuple[float, float]:
    return (card[0] + card[2]) / 2, (card[1] + card[3]) / 2
