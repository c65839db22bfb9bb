"""Gives every box a rank: sources first, each edge leads to a later rank. Iterative and linear."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from heapq import heappop, heappush
from math import sqrt

from gradviz.layout.values import LayoutGraph, Point

Edge = tuple[int, int]

CROWD = 12
CROWD_SHARE = 3.0
"""A rank is crowded with more than 12 boxes and more than 3 times the mean."""
BROAD = 10.0
"""A picture that many times broader across the flow than long is made longer."""


def acyclic(count: int, edges: Sequence[Edge]) -> list[Edge]:
    """Return the edges with those turned round that close a cycle; loops (a box to itself) must not be among them."""
    if len(_topological(count, edges)) == count:
        return list(edges)
    back = _back_edges(count, edges)
    return [edge[::-1] if turned else edge for edge, turned in zip(edges, back, strict=True)]


def ranks(sizes: Sequence[Point], edges: Sequence[Edge], graph: LayoutGraph) -> list[int]:
    """Return the rank of each box, 0 for the first, for edges without cycles.

    Longest paths from the sources put a leaf right behind the last box that uses it. Then boxes with slack move to
    where their edges are short. A graph that would be a hundred boxes broad and three long is made longer.

    Args:
        sizes: (along, across) of each box.
        edges: from earlier to later ranks.
        graph: the whole, for its gaps and the shape that is wanted.
    """
    count = len(sizes)
    order = _topological(count, edges)
    into: list[list[int]] = [[] for _ in range(count)]
    out: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        into[target].append(source)
        out[source].append(target)
    rank = [0] * count
    for box in order:
        following = rank[box] + 1
        for target in out[box]:
            if rank[target] < following:
                rank[target] = following
    _tighten(rank, order, into, out)
    narrow = _fitting_width(rank, sizes, graph)
    if narrow:
        rank = _scheduled(order, into, out, narrow)
    lowest = min(rank, default=0)
    return [value - lowest for value in rank]


def _tighten(rank: list[int], order: list[int], into: list[list[int]], out: list[list[int]]) -> None:
    """Move boxes with more targets than sources to their targets, and any that can move out of a crowded rank."""
    width = Counter(rank)
    crowded = max(CROWD, CROWD_SHARE * len(rank) / max(1, len(width)))
    for box in reversed(order):
        if out[box] and (len(out[box]) > len(into[box]) or width[rank[box]] > crowded):
            latest = min([rank[target] for target in out[box]]) - 1
            width[rank[box]] -= 1
            width[latest] += 1
            rank[box] = latest


def _fitting_width(rank: list[int], sizes: Sequence[Point], graph: LayoutGraph) -> int:
    """Return how many boxes a rank should have when the picture would be a broad thread; 0 when it would not be."""
    if not rank:
        return 0
    breadth: defaultdict[int, float] = defaultdict(float)
    thickness: dict[int, float] = {}
    area = 0.0
    for box, size in enumerate(sizes):
        breadth[rank[box]] += size[1] + graph.node_gap
        thickness[rank[box]] = max(size[0] + graph.rank_gap, thickness.get(rank[box], 0.0))
        area += (size[0] + graph.rank_gap) * (size[1] + graph.node_gap)
    if max(breadth.values()) < BROAD * sum(thickness.values()):
        return 0
    mean = sum(breadth.values()) / len(sizes)
    length, height = graph.flow_view
    return max(4, round(sqrt(area * height / length) / mean))


def _scheduled(order: list[int], into: list[list[int]], out: list[list[int]], width: int) -> list[int]:
    """Fill rank after rank with at most `width` boxes whose sources have been placed, those of the last rank first."""
    rank = [-1] * len(order)
    waiting = [len(sources) for sources in into]
    ready = [(0, box) for box in sorted(order) if not waiting[box]]
    current = 0
    while ready:
        chosen = [heappop(ready)[1] for _ in range(min(width, len(ready)))]
        for box in chosen:
            rank[box] = current
        for box in chosen:
            for target in out[box]:
                waiting[target] -= 1
                if not waiting[target]:
                    heappush(ready, (-current, target))
        current += 1
    return rank


def _topological(count: int, edges: Sequence[Edge]) -> list[int]:
    """Kahn's order; boxes on or behind a cycle are missing from it."""
    waiting = [0] * count
    out: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        waiting[target] += 1
        out[source].append(target)
    order = [box for box in range(count) if not waiting[box]]
    for box in order:
        for target in out[box]:
            waiting[target] -= 1
            if not waiting[target]:
                order.append(target)
    return order


def _back_edges(count: int, edges: Sequence[Edge]) -> list[bool]:
    """Mark the edges that lead to a box which a depth-first walk has entered and not left."""
    out: list[list[int]] = [[] for _ in range(count)]
    has_source = [False] * count
    for number, (source, target) in enumerate(edges):
        out[source].append(number)
        has_source[target] = True
    new, open_, done = 0, 1, 2
    state = [new] * count
    back = [False] * len(edges)
    for start in sorted(range(count), key=lambda box: has_source[box]):
        if state[start] != new:
            continue
        state[start] = open_
        stack = [(start, iter(out[start]))]
        while stack:
            box, rest = stack[-1]
            for number in rest:
                target = edges[number][1]
                back[number] = state[target] == open_
                if state[target] == new:
                    state[target] = open_
                    stack.append((target, iter(out[target])))
                    break
            else:
                state[box] = done
                stack.pop()
    return back
