"""Orders the vertices inside each rank so that few segments cross."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence

from gradviz.layout.proper import Proper
from gradviz.layout.reinsert import reinsert

Layers = list[list[int]]

WORK = 60_000
"""Vertices times rounds times starts: a small graph is ordered from several starts, each with up to 24 sweeps."""
ROUNDS = 24
REFINEMENTS = 4
REFINED = 3000
"""Up to so many vertices long edges are laid anew, at most four times each."""
PATIENCE = 12
"""After so many sweeps without fewer crossings there will be none: ties are turned in cycles of four."""
MIDDLE = 6000
"""Above so many vertices only three sweeps are made: the time per box must not grow with the graph."""


def orders(proper: Proper, anchors: Sequence[float | None] = ()) -> list[Layers]:
    """Return the best orders found: one, or for a small graph several (no two equal) with equally few crossings.

    Args:
        proper: the layered graph.
        anchors: for each box its wanted place across the flow; boxes that have one keep their order.
    """
    if any(anchor is not None for anchor in anchors):
        return [_from_anchors(proper, anchors)]
    size = len(proper.rank)
    start = _walk(proper, proper.down, _main_line_inside(proper))
    if size > MIDDLE:
        return [_sweeps(proper, start, 3, 0, keep_best=False)]
    starts = [start, _walk(proper, proper.up, proper.up), _walk(proper, proper.down, proper.down)]
    starts += [_walk(proper, near, [others[::-1] for others in near]) for near in (proper.up, proper.down)]
    found: list[tuple[int, Layers]] = []
    for start in starts[: max(1, WORK // (ROUNDS * size))]:
        layers = _sweeps(proper, start, min(ROUNDS, WORK // size), 3, keep_best=True)
        found.append((_refine(proper, layers, frozenset()), layers))
    fewest = min(crossings for crossings, _ in found)
    best: list[Layers] = []
    for crossings, layers in found:
        if crossings == fewest and layers not in best:
            best.append(layers)
    return best


def count_crossings(proper: Proper, layers: Layers) -> int:
    """Return how many pairs of segments cross."""
    place = places(proper, layers)
    total = 0
    for layer in layers:
        seen: list[int] = []
        for vertex in layer:
            ends = sorted([place[target] for target in proper.down[vertex]])
            if seen:
                total += sum([len(seen) - bisect_right(seen, end) for end in ends])
            for end in ends:
                insort(seen, end)
    return total


def places(proper: Proper, layers: Layers) -> list[int]:
    """Return the index of each vertex in its layer."""
    place = [0] * len(proper.rank)
    for layer in layers:
        for number, vertex in enumerate(layer):
            place[vertex] = number
    return place


def _walk(proper: Proper, following: list[list[int]], turns: Sequence[Sequence[int]]) -> Layers:
    """Lay the vertices in the order of a depth-first walk, which draws a tree without a crossing.

    Args:
        proper: the layered graph.
        following: `proper.down` to begin at the sources, `proper.up` to begin at the leaves.
        turns: the same neighbours in the order in which they are walked to.
    """
    preceding = proper.up if following is proper.down else proper.down
    layers: Layers = [[] for _ in range(max(proper.rank) + 1)]
    seen = [False] * len(proper.rank)
    stack = [vertex for vertex in reversed(range(len(proper.rank))) if not preceding[vertex]]
    while stack:
        vertex = stack.pop()
        if not seen[vertex]:
            seen[vertex] = True
            layers[proper.rank[vertex]].append(vertex)
            stack.extend(reversed(turns[vertex]))
    return layers


def _main_line_inside(proper: Proper) -> list[list[int]]:
    """Return the vertices' next ones with the one that leads farthest, if there is one, between the others."""
    depth = proper.depths
    turns = []
    for near in proper.down:
        greatest = max([depth[vertex] for vertex in near], default=0)
        farthest = [vertex for vertex in near if depth[vertex] == greatest]
        if len(farthest) == 1:
            aside = [vertex for vertex in near if vertex != farthest[0]]
            turns.append([*aside[::2], *farthest, *aside[1::2]])
        else:
            turns.append(near)
    return turns


def _sweeps(proper: Proper, layers: Layers, rounds: int, swaps: int, *, keep_best: bool) -> Layers:
    """Sort every layer by the mean place of its neighbours in the layer before, forwards and backwards in turn."""
    place = places(proper, layers)
    best = [list(layer) for layer in layers] if keep_best else layers
    fewest = count_crossings(proper, layers) if keep_best else -1
    best_round = 0
    for number in range(rounds if fewest else 0):
        forwards = number % 2 == 0
        neighbours = proper.up if forwards else proper.down
        for layer in layers if forwards else reversed(layers):
            _sort_layer(layer, place, neighbours, ties_turned=number % 4 >= 2)
        if swaps:
            _swap_neighbours(proper, layers, frozenset(), place, swaps)
        crossings = count_crossings(proper, layers) if keep_best else fewest
        if crossings < fewest:
            fewest, best, best_round = crossings, [list(layer) for layer in layers], number
        if not fewest or number - best_round >= PATIENCE:
            break
    return best


def _sort_layer(layer: list[int], place: list[int], neighbours: list[list[int]], *, ties_turned: bool) -> None:
    """Sort the vertices that have neighbours among the places that they hold; the others stay."""
    if len(layer) < 2:
        return
    slots, movable = [], []
    for number, vertex in enumerate(layer):
        near = neighbours[vertex]
        if near:
            mean = place[near[0]] if len(near) == 1 else sum([place[other] for other in near]) / len(near)
            slots.append(number)
            movable.append((mean, -number if ties_turned else number, vertex))
    movable.sort()
    for number, (_, _, vertex) in zip(slots, movable, strict=True):
        layer[number] = vertex
        place[vertex] = number


def _refine(proper: Proper, layers: Layers, fixed: frozenset[int]) -> int:
    """Swap neighbours and lay long edges anew while there are fewer crossings; return how many are left."""
    _swap_neighbours(proper, layers, fixed, places(proper, layers), 12)
    crossings = count_crossings(proper, layers)
    for _ in range(REFINEMENTS if len(layers) and len(proper.rank) <= REFINED else 0):
        if not crossings:
            break
        reinsert(proper, layers)
        _swap_neighbours(proper, layers, fixed, places(proper, layers), 12)
        before, crossings = crossings, count_crossings(proper, layers)
        if crossings >= before:
            break
    return crossings


def _swap_neighbours(proper: Proper, layers: Layers, fixed: frozenset[int], place: list[int], rounds: int) -> None:
    """Swap vertices side by side while that removes crossings; two of `fixed` are never swapped."""
    for _ in range(rounds):
        gained = False
        for layer in layers:
            for number in range(len(layer) - 1):
                left, right = layer[number], layer[number + 1]
                if left in fixed and right in fixed:
                    continue
                if _gain(proper, place, left, right) > 0:
                    layer[number], layer[number + 1] = right, left
                    place[left], place[right] = number + 1, number
                    gained = True
        if not gained:
            return


def _gain(proper: Proper, place: list[int], left: int, right: int) -> int:
    """Return how many crossings less there are when two vertices side by side are swapped."""
    gain = 0
    for neighbours in (proper.up, proper.down):
        before, after = neighbours[left], neighbours[right]
        if not before or not after:
            continue
        if len(before) == len(after) == 1:
            one, other = place[before[0]], place[after[0]]
            gain += (other < one) - (other > one)
            continue
        ends = sorted([place[other] for other in after])
        for vertex in before:
            one = place[vertex]
            gain += bisect_left(ends, one) - (len(ends) - bisect_right(ends, one))
    return gain


def _from_anchors(proper: Proper, anchors: Sequence[float | None]) -> Layers:
    """Order by the places that the boxes had; what is new goes to the mean of its neighbours."""
    size = len(proper.rank)
    wanted: list[float | None] = [*anchors, *[None] * (size - len(anchors))]
    queue = [vertex for vertex in range(size) if wanted[vertex] is not None]
    for vertex in queue:
        for other in (*proper.up[vertex], *proper.down[vertex]):
            if wanted[other] is None:
                near = [wanted[third] for third in (*proper.up[other], *proper.down[other])]
                known = [value for value in near if value is not None]
                wanted[other] = sum(known) / len(known)
                queue.append(other)
    layers = proper.layers()
    for layer in layers:
        layer.sort(key=lambda vertex: wanted[vertex] or 0.0)
    fixed = frozenset(box for box, anchor in enumerate(anchors) if anchor is not None)
    if size <= MIDDLE:
        _refine(proper, layers, fixed)
    return layers
