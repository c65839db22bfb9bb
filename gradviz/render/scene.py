"""The scene: the boxes of a plan at the places that a layout gave them, and the ways of its links."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from gradviz.layout import Curve as LaidCurve
from gradviz.layout import Placement
from gradviz.model.collector import held_collector
from gradviz.render.measure import SEED_ARROW, SEED_GAP, SeedPlan
from gradviz.render.outlines import MOST_OUTLINED, OUTLINE_TITLE, Outline, outlines_of
from gradviz.render.plan import Box, Link, ScenePlan
from gradviz.render.shapes import Bounds, Point, united

Array = NDArray[np.float64]

MARGIN = 40.0
ARROW = 10.0
STUB_REACH = (35.0, 9.0)  # of a stub's label, from its centre
_LINE_ROOM = 8.0  # around the points of a way, for the line and the arrow
_CORNER = 14.0  # ends of links keep this far from a card's corners
_SAMPLES = 12  # straight pieces per Bezier piece when lengths are measured


@dataclass(frozen=True)
class Route:
    """The way of a link from border to border: 3n+1 points, its label's centre, two stubs where it is too long.

    Links of one box may share a stub: `shared` is how many do, and only one of them has `drawn` set.
    """

    points: tuple[Point, ...]
    label: Point | None = None
    stubs: tuple[Route, Route] | None = None
    shared: int = 1
    drawn: bool = True

    @cached_property
    def _lengths(self) -> tuple[list[Point], list[float]]:
        places = flattened(self.points)
        lengths = [0.0]
        for a, b in pairwise(places):
            lengths.append(lengths[-1] + math.dist(a, b))
        return places, lengths

    def at(self, alpha: float) -> Point:
        """The point at this share of the way's length. Two stubs are one way with a jump in the middle."""
        if self.stubs is not None:
            return self.stubs[0].at(alpha * 2) if alpha < 0.5 else self.stubs[1].at(alpha * 2 - 1)
        places, lengths = self._lengths
        wanted = min(max(alpha, 0.0), 1.0) * lengths[-1]
        index = min(max(bisect_right(lengths, wanted) - 1, 0), len(places) - 2)
        step = lengths[index + 1] - lengths[index]
        share = (wanted - lengths[index]) / step if step else 0.0
        (x0, y0), (x1, y1) = places[index], places[index + 1]
        return x0 + (x1 - x0) * share, y0 + (y1 - y0) * share

    def meets(self, x: float, y: float, within: float) -> bool:
        """Whether its line is at most `within` away from a point, or the label of a stub is there."""
        if self.label is not None:
            dx, dy = abs(x - self.label[0]), abs(y - self.label[1])
            if dx <= STUB_REACH[0] and dy <= STUB_REACH[1]:
                return True
        return _distance((x, y), flattened(self.points)) <= within

    @property
    def pieces(self) -> tuple[Route, ...]:
        """The ways that are drawn."""
        return self.stubs if self.stubs is not None else (self,)

    @cached_property
    def bounds(self) -> Bounds:
        """What holds the way (its control points) with room for the line and the arrow."""
        points = [point for piece in self.pieces if piece.drawn for point in piece.points]
        if not points:
            return 0.0, 0.0, 0.0, 0.0
        xs, ys = zip(*points, strict=True)
        return min(xs) - _LINE_ROOM, min(ys) - _LINE_ROOM, max(xs) + _LINE_ROOM, max(ys) + _LINE_ROOM


@dataclass(frozen=True)
class Scene:
    """A plan with places. All lengths are scene units, y down. `moving`: its boxes are on their way elsewhere."""

    plan: ScenePlan
    placement: Placement
    moving: bool = False

    @cached_property
    def cards(self) -> tuple[Bounds, ...]:
        """The card of each box."""
        found = []
        for box, (x, y) in zip(self.plan.boxes, self.placement.positions, strict=True):
            left, top = round(x - box.card.width / 2), round(y - box.card.height / 2)
            found.append((left, top, left + box.card.width, top + box.card.height))
        return tuple(found)

    @cached_property
    def routes(self) -> tuple[Route, ...]:
        """The way of each link, its ends moved onto the cards' borders."""
        links = zip(self.plan.links, self.placement.curves, strict=True)
        with held_collector():
            return _shared(tuple(self._route(link, curve) for link, curve in links))

    @cached_property
    def bounds(self) -> Bounds:
        """What holds everything that is ever drawn, with a margin."""
        frames = [outline.bounds for outline in self.outlines] if self.plan.boxes else [(0.0, 0.0, 0.0, 0.0)]
        whole = np.concatenate([self._reaches, self._ways, _columns(frames)], axis=1)
        (left, top), (right, bottom) = whole[:2].min(axis=1).tolist(), whole[2:].max(axis=1).tolist()
        return left - MARGIN, top - MARGIN, right + MARGIN, bottom + MARGIN

    @cached_property
    def outlines(self) -> tuple[Outline, ...]:
        """The frames of unfolded groups, outer ones first."""
        if self.moving or len(self.plan.boxes) > MOST_OUTLINED:
            return ()
        reaches = {box.index: self.reach(box) for box in self.plan.boxes}
        return outlines_of(self.plan, reaches, [self.link_bounds(link) for link in self.plan.links])

    def outline_at(self, x: float, y: float) -> Outline | None:
        """The innermost frame whose title strip is at a point."""
        for outline in reversed(self.outlines):
            left, top, right, _ = outline.bounds
            if left <= x <= right and top <= y <= top + OUTLINE_TITLE:
                return outline
        return None

    def link_bounds(self, link: Link) -> Bounds:
        """The way of a link with its label."""
        route = self.routes[link.index]
        if not any(piece.drawn for piece in route.pieces):
            return self.cards[link.source]
        if link.label is None:
            return route.bounds
        width, height = link.label
        x, y = route.label or route.at(0.5)
        return united([route.bounds, (x - width / 2 - 2, y - height / 2 - 2, x + width / 2 + 2, y + height / 2 + 2)])

    def reach(self, box: Box) -> Bounds:
        """The card of a box with its halo, seeds, badges and error."""
        left, top, right, bottom = self.cards[box.index]
        near = (left - 12.0, top - 12.0, right + 12.0, bottom + 12.0)
        if not (box.card.badges or box.card.errors or box.card.seeds):
            return near
        found = [near]
        if box.card.below:
            half = (box.card.core_width - box.card.width) / 2
            found.append((left - half, top, right + half, bottom + box.card.below))
        found.extend(rect for call in box.card.seeds for rect, _ in self.seed_rects(box, call).values())
        return united(found)

    def seed_rects(self, box: Box, call: int) -> dict[int, tuple[Bounds, SeedPlan]]:
        """Place in the roots of `call` -> where that seed's box is, and its plan."""
        plans = box.card.seeds.get(call, {})
        left, top, right, bottom = self.cards[box.index]
        width = sum(plan.size[0] for plan in plans.values()) + SEED_GAP * (len(plans) - 1)
        height = max((plan.size[1] for plan in plans.values()), default=0.0)
        x, base = float(round((left + right - width) / 2)), top - SEED_ARROW
        if not self.plan.horizontal:
            x, base = right + SEED_ARROW, float(round((top + bottom + height) / 2))
        found: dict[int, tuple[Bounds, SeedPlan]] = {}
        for place, plan in plans.items():
            found[place] = ((x, base - plan.size[1], x + plan.size[0], base), plan)
            x += plan.size[0] + SEED_GAP
        return found

    def box_of(self, node: int) -> Box | None:
        """The box that shows a stage node."""
        return self.plan.box_of_node.get(node)

    def box_at(self, x: float, y: float) -> Box | None:
        """The box whose card is at a point."""
        left, top, right, bottom = self._cards
        found = np.flatnonzero((left <= x) & (x <= right) & (top <= y) & (y <= bottom))
        return self.plan.boxes[int(found[0])] if len(found) else None

    def boxes_in(self, area: Bounds) -> Sequence[int]:
        """The indices of the boxes whose reach may touch an area, in order."""
        return range(len(self.plan.boxes)) if self._whole(area) else _touching(self._reaches, area)

    def link_at(self, x: float, y: float, within: float) -> Link | None:
        """The nearest link whose line is at most `within` away from a point."""
        best, nearest = None, within
        for index in _touching(self._ways, (x - within, y - within, x + within, y + within)):
            for piece in self.routes[index].pieces:
                distance = _distance((x, y), flattened(piece.points))
                if distance <= nearest:
                    best, nearest = self.plan.links[index], distance
        return best

    def stub_at(self, x: float, y: float, within: float) -> Box | None:
        """The box to which the stub at a point (its line or label) leads; none of one that many links share."""
        reach = within + STUB_REACH[0]
        for index in _touching(self._ways, (x - reach, y - reach, x + reach, y + reach)):
            link = self.plan.links[index]
            for piece, end in zip(self.routes[index].stubs or (), (link.target, link.source), strict=False):
                if piece.drawn and piece.shared == 1 and piece.meets(x, y, within):
                    return self.plan.boxes[end]
        return None

    def _whole(self, area: Bounds) -> bool:
        left, top, right, bottom = self.bounds  # with a margin, in which nothing is
        inside = area[0] <= left + MARGIN and area[1] <= top + MARGIN
        return inside and area[2] >= right - MARGIN and area[3] >= bottom - MARGIN

    def links_in(self, area: Bounds) -> Sequence[int]:
        """The indices of the links whose line or label may touch an area, in order."""
        return range(len(self.plan.links)) if self._whole(area) else _touching(self._ways, area)

    @cached_property
    def _cards(self) -> Array:
        return _columns(self.cards)

    @cached_property
    def _reaches(self) -> Array:
        with held_collector():
            return _columns([self.reach(box) for box in self.plan.boxes])

    @cached_property
    def _ways(self) -> Array:
        """As `link_bounds`; of the links that are one way without a label, by far the most, all at once."""
        plain = [link.index for link in self.plan.links if link.label is None and self.routes[link.index].points]
        rest = sorted(set(range(len(self.plan.links))).difference(plain))
        found = np.empty((4, len(self.plan.links)))
        with held_collector():
            found[:, rest] = _columns([self.link_bounds(self.plan.links[index]) for index in rest])
        if plain:
            ways = [self.routes[index].points for index in plain]
            points = np.fromiter(chain.from_iterable(chain.from_iterable(ways)), np.float64).reshape(-1, 2)
            starts = np.cumsum([0, *map(len, ways[:-1])])
            found[:2, plain] = np.minimum.reduceat(points, starts).T - _LINE_ROOM
            found[2:, plain] = np.maximum.reduceat(points, starts).T + _LINE_ROOM
        return found

    def _route(self, link: Link, curve: LaidCurve) -> Route:
        if curve.stub is not None:
            leaving, entering = curve.stub
            return Route(
                (),
                curve.label,
                (
                    Route(self._attached(leaving.points, link.source, None), leaving.label),
                    Route(self._attached(entering.points, None, link.target), entering.label),
                ),
            )
        return Route(self._attached(curve.points, link.source, link.target), curve.label)

    def _attached(self, points: Sequence[Point], source: int | None, target: int | None) -> tuple[Point, ...]:
        """Move the ends of a way, which end at the space kept free, onto the cards."""
        moved = list(points)
        horizontal = self.plan.horizontal
        for box, end, control in ((source, 0, 1), (target, -1, -2)):
            if box is None:
                continue
            x, y = moved[end]
            nx, ny = moved[end] = self._on_card(box, x, y)
            if nx != x or ny != y:
                # Along the flow the control point stays, so that the line leaves straight.
                cx, cy = moved[control]
                moved[control] = (cx, cy + ny - y) if horizontal else (cx + nx - x, cy)
        return tuple(moved)

    def _on_card(self, index: int, x: float, y: float) -> Point:
        left, top, right, bottom = self.cards[index]
        card = self.plan.boxes[index].card
        if self.plan.horizontal:
            inside = min(max(y, top + _CORNER), bottom - _CORNER)
            return (left if abs(x - left) <= abs(x - right) else right), inside
        inside = min(max(x, left + _CORNER), right - _CORNER)
        foot = bottom + len(card.badges) * 35.0
        return inside, (top if abs(y - top) <= abs(y - bottom) else foot)


def _shared(routes: tuple[Route, ...]) -> tuple[Route, ...]:
    """Give each stub that several links share to the first of them."""
    count = Counter(piece.points for route in routes if route.stubs for piece in route.stubs)
    if not count:
        return routes
    seen: set[tuple[Point, ...]] = set()
    found = []
    for route in routes:
        if route.stubs is not None:
            pieces = []
            for piece in route.stubs:
                pieces.append(replace(piece, shared=count[piece.points], drawn=piece.points not in seen))
                seen.add(piece.points)
            route = replace(route, stubs=(pieces[0], pieces[1]))
        found.append(route)
    return tuple(found)


def _columns(bounds: Sequence[Bounds]) -> Array:
    """Bounds as (4, n): each of left, top, right, bottom in one row."""
    return np.array(bounds, dtype=np.float64).reshape(-1, 4).T.copy()


def _touching(bounds: Array, area: Bounds) -> list[int]:
    """Which of the bounds (4, n) share more than a border with an area."""
    left, top, right, bottom = bounds
    found: list[int] = np.flatnonzero(
        (left < area[2]) & (area[0] < right) & (top < area[3]) & (area[1] < bottom)
    ).tolist()
    return found


def flattened(points: Sequence[Point]) -> list[Point]:
    """A chain of cubic Bezier pieces (3n+1 points) as a line of straight pieces."""
    if len(points) < 4:
        return list(points)
    found = [points[0]]
    for start in range(0, len(points) - 3, 3):
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = points[start : start + 4]
        for step in range(1, _SAMPLES + 1):
            t = step / _SAMPLES
            u = 1.0 - t
            a, b, c, d = u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t
            found.append((a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3))
    return found


def _distance(point: Point, line: Sequence[Point]) -> float:
    """The distance of a point from a line of straight pieces."""
    best = math.inf
    for (ax, ay), (bx, by) in pairwise(line):
        dx, dy = bx - ax, by - ay
        square = dx * dx + dy * dy
        share = ((point[0] - ax) * dx + (point[1] - ay) * dy) / square if square else 0.0
        share = min(max(share, 0.0), 1.0)
        best = min(best, math.hypot(point[0] - ax - share * dx, point[1] - ay - share * dy))
    return best
