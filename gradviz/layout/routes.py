"""Draws the edges: chains of cubic curves through the vertices of the layered graph.

A curve leaves and enters along the flow, bends only between two ranks and is straight where it passes a rank, so it
cannot meet a box. Coordinates are (along, across) of the picture; `scene` turns them into x and y.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from gradviz.layout.along import Frame
from gradviz.layout.proper import LABEL_RISE, Proper
from gradviz.layout.ranks import Edge
from gradviz.layout.values import Curve, Point

PORT_STEP = 12.0
"""Distance of two edges at the border of a box, where there is room."""
CORNER = 10.0
"""Length at each end of a border where no edge starts: the corner is round."""
BOW = 16.0
"""How far apart the control points of parallel edges are."""
STRAIGHT = 0.5
TURN = (24.0, 0.3, 100.0, 0.06)
"""How far a turn into the next row swings out: at least, a share of its height, and a lesser share of great heights."""


class Router:
    """Makes the curve of each edge of one connected part."""

    def __init__(self, proper: Proper, frame: Frame, coordinates: Sequence[float], edges: Sequence[Edge]) -> None:
        self._proper = proper
        self._frame = frame
        self._coordinates = coordinates
        self._edges = edges
        self._repeats = Counter(edges)
        self._drawn: Counter[Edge] = Counter()
        self._ports = _ports(proper, coordinates, edges)

    def curves(self) -> list[Curve]:
        """Return the curves in the order of the edges."""
        return [self._curve(number, edge) for number, edge in enumerate(self._edges)]

    def _curve(self, number: int, edge: Edge) -> Curve:
        chain = self._proper.chains[number]
        if not chain:
            return self._stubs(number, edge)
        bow = 0.0
        if len(chain) == 2 and self._repeats[edge] > 1:
            sign = self._frame.sign[self._proper.rank[edge[0]]]
            bow = (self._drawn[edge] - (self._repeats[edge] - 1) / 2) * BOW * sign
            self._drawn[edge] += 1
        points = self._through(number, chain, bow)
        label = self._proper.labels.get(number)
        return Curve(tuple(points), None if label is None else self._label(label))

    def _label(self, vertex: int) -> Point:
        rank = self._proper.rank[vertex]
        rise = max(self._proper.low[vertex], self._proper.high[vertex]) + LABEL_RISE
        return self._frame.middle(rank), self._frame.across(rank, self._coordinates[vertex]) - rise / 2

    def _stubs(self, number: int, edge: Edge) -> Curve:
        leaving, entering = self._proper.stubs[number]
        halves = (
            Curve(tuple(self._through(number, [edge[0], leaving], 0.0)), self._centre(leaving)),
            Curve(tuple(self._through(number, [entering, edge[1]], 0.0)), self._centre(entering)),
        )
        return Curve((), None, halves)

    def _centre(self, vertex: int) -> Point:
        rank = self._proper.rank[vertex]
        return self._frame.middle(rank), self._frame.across(rank, self._coordinates[vertex])

    def _through(self, number: int, chain: Sequence[int], bow: float) -> list[Point]:
        if len(chain) == 2:
            return self._direct(number, chain[0], chain[1], bow)
        frame, rank_of = self._frame, self._proper.rank
        knots: list[tuple[float, float, int]] = []
        for vertex in chain:
            rank = rank_of[vertex]
            sign = frame.sign[rank]
            ends = [frame.start[rank], frame.end[rank]]
            places = [self._coordinates[vertex]] * 2
            if vertex == chain[0]:
                ends[0] = self._border(vertex, rank, sign)
                places = [self._port(number, vertex, 0)] * 2
            elif vertex == chain[-1]:
                ends[1] = self._border(vertex, rank, -sign)
                places = [self._port(number, vertex, 1)] * 2
            knots += [(end, frame.across(rank, place), sign) for end, place in zip(ends, places, strict=True)]
        return _smooth(knots, bow)

    def _direct(self, number: int, source: int, target: int, bow: float) -> list[Point]:
        """As `_through` for an edge between neighbouring ranks, by far the most frequent one."""
        frame, ports, boxes = self._frame, self._ports, self._proper.boxes
        first, last = self._proper.rank[source], self._proper.rank[target]
        sign0, sign1 = frame.sign[first], frame.sign[last]
        place0, place1 = self._coordinates[source], self._coordinates[target]
        if source < boxes:
            place0 += ports.get((number, 0), 0.0)
        if target < boxes:
            place1 += ports.get((number, 1), 0.0)
        v0, v1 = frame.base[first] + sign0 * place0, frame.base[last] + sign1 * place1
        leaves, enters = self._border(source, first, sign0), self._border(target, last, -sign1)
        if v0 == v1 and sign0 == sign1 and not bow:
            third = (enters - leaves) / 3
            return [(leaves, v0), (leaves + third, v0), (enters - third, v0), (enters, v0)]
        end, start = frame.end[first], frame.start[last]
        return _smooth([(leaves, v0, sign0), (end, v0, sign0), (start, v1, sign1), (enters, v1, sign1)], bow)

    def _border(self, vertex: int, rank: int, towards: int) -> float:
        """Along coordinate of a box's side; a stub's label is met at its near side."""
        return self._frame.middle(rank) + towards * self._proper.along[vertex] / 2

    def _port(self, number: int, vertex: int, end: int) -> float:
        """Across coordinate where an edge meets a box; a stub's label is met in the middle."""
        offset = self._ports.get((number, end), 0.0) if vertex < self._proper.boxes else 0.0
        return self._coordinates[vertex] + offset


def _smooth(knots: list[tuple[float, float, int]], bow: float) -> list[Point]:
    """Join knots (along, across, direction of travel) by cubic pieces; straight ones in a row become one."""
    kept = [knots[0]]
    for number in range(1, len(knots)):
        knot = knots[number]
        if (knot[0], knot[1]) == kept[-1][:2]:
            continue
        if len(kept) > 1 and kept[-2][1] == kept[-1][1] == knot[1] and kept[-2][2] == kept[-1][2] == knot[2]:
            kept[-1] = knot
        else:
            kept.append(knot)
    points: list[Point] = [kept[0][:2]]
    for (u0, v0, sign0), (u1, v1, sign1) in pairwise(kept):
        if sign0 != sign1:
            furthest = sign0 * (max(sign0 * u0, sign0 * u1) + _swing(abs(v1 - v0)))
            points += [(furthest, v0), (furthest, v1), (u1, v1)]
        elif v0 == v1 and not bow:
            points += [(u0 + (u1 - u0) / 3, v0), (u1 - (u1 - u0) / 3, v1), (u1, v1)]
        else:
            half = (u1 - u0) / 2
            points += [(u0 + half, v0 + bow), (u1 - half, v1 + bow), (u1, v1)]
    return points


def _swing(height: float) -> float:
    """How far a turn swings out: more for a greater one, so that turns nest without touching."""
    least, share, bend, less = TURN
    return least + min(share * height, bend + less * height)


def _ports(proper: Proper, coordinates: Sequence[float], edges: Sequence[Edge]) -> dict[tuple[int, int], float]:
    """Return the offset from the box's middle at which (edge, end 0 or 1) meets the border, where it is not 0."""
    counts = (Counter([source for source, _ in edges]), Counter([target for _, target in edges]))
    meetings: dict[tuple[int, int], list[tuple[float, int, int]]] = {}
    for number, edge in enumerate(edges):
        for end in (0, 1):
            if counts[end][edge[end]] > 1:
                chain = proper.chains[number]
                other = (chain[-2] if end else chain[1]) if chain else proper.stubs[number][end]
                meetings.setdefault((edge[end], end), []).append((coordinates[other], other, number))
    ports: dict[tuple[int, int], float] = {}
    for (box, end), meeting in meetings.items():
        _spread(proper, coordinates[box], box, end, sorted(meeting), ports)
    return ports


def _spread(
    proper: Proper,
    place: float,
    box: int,
    end: int,
    meeting: list[tuple[float, int, int]],
    ports: dict[tuple[int, int], float],
) -> None:
    """Spread the edges at one side of a box; the straight one stays in the middle. Edges of a trunk stay together."""
    slots: list[tuple[float, list[int]]] = []
    last = -1
    for where, other, number in meeting:
        if other == last and other >= proper.boxes:
            slots[-1][1].append(number)
        else:
            slots.append((where, [number]))
        last = other
    straight = [index for index, (where, _) in enumerate(slots) if abs(where - place) < STRAIGHT]
    middle = float(straight[0]) if len(straight) == 1 else (len(slots) - 1) / 2
    room = max(0.0, proper.low[box] - CORNER)
    reach = max(middle, len(slots) - 1 - middle)
    step = min(PORT_STEP, room / reach) if reach else 0.0
    for index, (_, numbers) in enumerate(slots):
        for number in numbers:
            ports[number, end] = (index - middle) * step
