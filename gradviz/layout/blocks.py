"""Finds the vertices that lie on one straight line: the main line through the graph, and the inside of long edges."""

from __future__ import annotations

from bisect import bisect_left

from gradviz.layout.order import Layers, places
from gradviz.layout.proper import Proper


def straight_blocks(proper: Proper, layers: Layers, breaks: frozenset[int]) -> list[int]:
    """Return the number of the block of each vertex; a block is a path with one vertex in each rank that it passes.

    The blocks do not cross, so that their order from side to side has no cycle. None goes on into a rank of `breaks`.
    """
    place = places(proper, layers)
    next_in_line = [-1] * len(proper.rank)
    has_previous = [False] * len(proper.rank)
    lines: list[tuple[list[int], list[int]]] = [([], []) for _ in layers]
    for upper, lower in _wanted_pairs(proper, layers):
        if next_in_line[upper] >= 0 or has_previous[lower] or proper.rank[lower] in breaks:
            continue
        starts, ends = lines[proper.rank[upper]]
        here, there = place[upper], place[lower]
        index = bisect_left(starts, here)
        if (index and ends[index - 1] > there) or (index < len(ends) and ends[index] < there):
            continue
        starts.insert(index, here)
        ends.insert(index, there)
        next_in_line[upper] = lower
        has_previous[lower] = True
    return _number(next_in_line, has_previous, layers)


def _wanted_pairs(proper: Proper, layers: Layers) -> list[tuple[int, int]]:
    """Pairs that want one line, the most important first: main lines by the length of their path, then lanes."""
    height, depth = proper.heights, proper.depths
    place = places(proper, layers)
    heavy_up = _heaviest(proper.up, height, place)
    heavy_down = _heaviest(proper.down, depth, place)
    boxes = proper.boxes
    main: list[tuple[int, int, int, int]] = []
    inside: list[tuple[int, int]] = []
    for layer in layers:
        for upper in layer:
            lower = heavy_down[upper]
            if lower >= 0 and heavy_up[lower] == upper:
                main.append((-height[upper] - depth[lower], len(main), upper, lower))
            if upper >= boxes:
                inside += [(upper, other) for other in proper.down[upper] if other >= boxes]
    main.sort()
    return [(upper, lower) for _, _, upper, lower in main] + inside


def _heaviest(neighbours: list[list[int]], weight: list[int], place: list[int]) -> list[int]:
    """Return for each vertex its neighbour of the greatest weight; -1 where there is none.

    Of several with that weight it is the one in the middle of all neighbours, and none when nothing is in the middle.
    """
    result = []
    for near in neighbours:
        if len(near) == 1:
            result.append(near[0])
            continue
        greatest = max([weight[other] for other in near], default=0)
        candidates = [other for other in near if weight[other] == greatest]
        if len(candidates) > 1:
            middle = sorted(near, key=lambda other: place[other])[len(near) // 2]
            candidates = [middle] if len(near) % 2 and middle in candidates else []
        result.append(candidates[0] if candidates else -1)
    return result


def _number(next_in_line: list[int], has_previous: list[bool], layers: Layers) -> list[int]:
    block = [-1] * len(next_in_line)
    count = 0
    for layer in layers:
        for vertex in layer:
            if has_previous[vertex]:
                continue
            member = vertex
            while member >= 0:
                block[member] = count
                member = next_in_line[member]
            count += 1
    return block
