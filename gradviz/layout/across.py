"""Finds the coordinate of every vertex across the flow: straight main lines, symmetric branches, no overlap.

Blocks (see `blocks`) have one coordinate each. They start as a stack about one line and then move, one after the other,
to the mean of their neighbours, as far as the least distances allow; a block that is in the way is pushed along when
that is better for both. No move makes the sum of squares of all edges' ways across greater, so it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from statistics import median

from gradviz.layout.blocks import straight_blocks
from gradviz.layout.order import Layers
from gradviz.layout.proper import Proper

LANE_GAP = 4.0
"""Distance of two passing edges."""
BOX_TO_LANE = 0.5
"""Distance of a box and a passing edge, in distances of two boxes."""
WORK = 60_000
"""Vertices times rounds of moving: many rounds for a small picture, few for a large one."""
ROUNDS = (2, 60)
"""The fewest and the most rounds."""
PUSHED = 40
"""So many blocks are pushed along at most."""
ANCHOR_PULL = 2.0
"""How many edges an anchor pulls as strongly as."""
SNAP = 4.0
"""A bend smaller than this looks like a mistake; it is made straight where there is room."""
SETTLED = 0.05
TOUCHING = 1e-6

Limits = list[list[tuple[int, float]]]


def across(
    proper: Proper,
    layers: Layers,
    gap: float,
    anchors: Sequence[float | None] = (),
    breaks: frozenset[int] = frozenset(),
) -> list[float]:
    """Return the coordinate across the flow of each vertex.

    Args:
        proper: the layered graph.
        layers: the order in each rank.
        gap: least distance of two boxes.
        anchors: where a box was, for boxes that should stay about there.
        breaks: ranks at which a new row begins: nothing needs to be straight there.
    """
    block = straight_blocks(proper, layers, breaks)
    limits = _limits(proper, layers, block, gap)
    pulls = _pulls(proper, block, anchors)
    places = limits.apart(pulls.starts())
    least, most = ROUNDS
    _settle(limits, pulls, places, max(least, min(most, WORK // max(1, len(proper.rank)))))
    _snap(limits, pulls, places)
    return [places[number] for number in block]


@dataclass(frozen=True)
class _Pulls:
    """What pulls each block: its neighbours, one entry an edge, and the places of its anchors."""

    near: list[list[int]]
    anchors: dict[int, list[float]]

    def starts(self) -> list[float]:
        """Return the mean of each block's anchors; where it has none, the middle of all."""
        known = [place for places in self.anchors.values() for place in places]
        starts = [median(known) if known else 0.0] * len(self.near)
        for block, places in self.anchors.items():
            starts[block] = sum(places) / len(places)
        return starts

    def of(self, block: int, places: list[float], group: set[int]) -> tuple[float, float]:
        """Return (sum of moves wanted, weight) of a block, for neighbours outside `group`."""
        here = places[block]
        near = self.near[block]
        values = [places[other] for other in near if other not in group] if group else [places[other] for other in near]
        total = sum(values) - here * len(values)
        weight = float(len(values))
        if self.anchors:
            for anchor in self.anchors.get(block, ()):
                total += ANCHOR_PULL * (anchor - here)
                weight += ANCHOR_PULL
        return total, weight


@dataclass(frozen=True)
class _Limits:
    """The least distances between blocks.

    Attributes:
        order: the blocks, those at smaller coordinates first.
        sides: for each block (other, distance) of those at greater coordinates, and of those at smaller ones.
    """

    order: list[int]
    sides: tuple[Limits, Limits]

    def apart(self, wanted: list[float]) -> list[float]:
        """Return places about `wanted` that keep every distance.

        Blocks are pushed up by those below them, and from the same start down by those above; both results keep every
        distance, so their mean does, and it keeps what is symmetric symmetric.
        """
        after, before = self.sides
        high, low = list(wanted), list(wanted)
        for block in self.order:
            for other, distance in before[block]:
                if (place := high[other] + distance) > high[block]:
                    high[block] = place
        for block in reversed(self.order):
            for other, distance in after[block]:
                if (place := low[other] - distance) < low[block]:
                    low[block] = place
        return [(one + other) / 2 for one, other in zip(low, high, strict=True)]

    def room(self, block: int, places: list[float], way: int) -> float:
        """Return how far a block can move up (way 1) or down (way -1)."""
        here = places[block]
        room = inf
        for other, distance in self.sides[way < 0][block]:
            if (slack := way * (places[other] - here) - distance) < room:
                room = slack
        return room


def _settle(limits: _Limits, pulls: _Pulls, places: list[float], rounds: int) -> None:
    """Move the blocks, one after the other, to where they are pulled."""
    nobody: set[int] = set()
    for number in range(rounds):
        furthest = 0.0
        for block in limits.order if number % 2 else reversed(limits.order):
            if len(near := pulls.near[block]) == 1 and not pulls.anchors:
                move = places[near[0]] - places[block]
            else:
                total, weight = pulls.of(block, places, nobody)
                if not weight:
                    continue
                move = total / weight
            way = 1 if move > 0 else -1
            size = abs(move)
            if size < SETTLED:
                continue
            room = limits.room(block, places, way)
            if room > TOUCHING:
                places[block] += way * min(size, room)
                furthest = max(furthest, min(size, room))
            elif number:
                furthest = max(furthest, _push(limits, pulls, places, block, way))
        if furthest < SETTLED:
            return


def _push(limits: _Limits, pulls: _Pulls, places: list[float], block: int, way: int) -> float:
    """Move a block with all that it touches on its way, if they are pulled there on the whole; return how far."""
    group = {block}
    members = [block]
    room = inf
    sides = limits.sides[way < 0]
    outside: list[tuple[int, int, float]] = []
    for member in members:
        here = places[member]
        for other, distance in sides[member]:
            if other in group:
                continue
            if way * (places[other] - here) - distance > TOUCHING:
                outside.append((member, other, distance))
            elif len(members) == PUSHED:
                return 0.0
            else:
                group.add(other)
                members.append(other)
    total = weight = 0.0
    for member in members:
        own, much = pulls.of(member, places, group)
        total += own
        weight += much
    size = way * total / weight if weight else 0.0
    if size < SETTLED:
        return 0.0
    # What touches a member is a member itself by now.
    for member, other, distance in outside:
        if other not in group and (slack := way * (places[other] - places[member]) - distance) < room:
            room = slack
    size = min(size, room)
    for member in members:
        places[member] += way * size
    return size


def _snap(limits: _Limits, pulls: _Pulls, places: list[float]) -> None:
    """Put blocks that almost have a neighbour's place at just that place, where the distances allow it."""
    for block in limits.order:
        for other in pulls.near[block]:
            move = places[other] - places[block]
            if 0 < abs(move) < SNAP and limits.room(block, places, 1 if move > 0 else -1) >= abs(move):
                places[block] = places[other]
                break


def _limits(proper: Proper, layers: Layers, block: list[int], gap: float) -> _Limits:
    count = max(block, default=-1) + 1
    distances: list[dict[int, float]] = [{} for _ in range(count)]
    boxes, low, high = proper.boxes, proper.low, proper.high
    gaps = (LANE_GAP, BOX_TO_LANE * gap, gap)
    for layer in layers:
        for left, right in pairwise(layer):
            distance = high[left] + low[right] + gaps[(left < boxes) + (right < boxes)]
            known = distances[block[right]]
            known[block[left]] = max(distance, known.get(block[left], 0.0))
    before = [list(known.items()) for known in distances]
    after: Limits = [[] for _ in range(count)]
    for number, known in enumerate(distances):
        for other, distance in known.items():
            after[other].append((number, distance))
    waiting = [len(known) for known in distances]
    order = [number for number in range(count) if not waiting[number]]
    for number in order:
        for other, _ in after[number]:
            waiting[other] -= 1
            if not waiting[other]:
                order.append(other)
    return _Limits(order, (after, before))


def _pulls(proper: Proper, block: list[int], anchors: Sequence[float | None]) -> _Pulls:
    count = max(block, default=-1) + 1
    pulls = _Pulls([[] for _ in range(count)], {})
    for upper, near in enumerate(proper.down):
        mine = block[upper]
        for lower in near:
            if block[lower] != mine:
                pulls.near[mine].append(block[lower])
                pulls.near[block[lower]].append(mine)
    for box, anchor in enumerate(anchors):
        if anchor is not None:
            pulls.anchors.setdefault(block[box], []).append(anchor)
    return pulls
