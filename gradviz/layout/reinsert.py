"""Takes long edges out of a layered order and puts each back where it crosses least.

A sweep moves one vertex at a time, so a lane that runs on the wrong side of some boxes stays there: on the way to the
other side it would cross more. Here all vertices of an edge move at once, on the cheapest way through all the ranks,
found exactly by dynamic programming while everything else stays.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gradviz.layout.proper import Proper

Layers = list[list[int]]
Array = NDArray[np.float64]

BEND = 0.01
"""What one place to the side costs, in crossings: of ways with as many crossings the straightest is taken."""


def reinsert(proper: Proper, layers: Layers) -> None:
    """Put every edge that passes ranks, and shares its lane with no other, back on its cheapest way; in place."""
    for chain in proper.chains:
        inner = chain[1:-1]
        if inner and all(len(proper.up[vertex]) == len(proper.down[vertex]) == 1 for vertex in inner):
            _reinsert_one(proper, layers, chain)


def _reinsert_one(proper: Proper, layers: Layers, chain: list[int]) -> None:
    first = proper.rank[chain[0]]
    for vertex in chain[1:-1]:
        layers[proper.rank[vertex]].remove(vertex)
    span = layers[first : first + len(chain)]
    costs = [_slot_costs(proper, upper, lower) for upper, lower in pairwise(span)]
    start, end = span[0].index(chain[0]), span[-1].index(chain[-1])
    slots = _cheapest_way(costs, start, end)
    for vertex, slot in zip(chain[1:-1], slots, strict=True):
        layers[proper.rank[vertex]].insert(slot, vertex)


def _slot_costs(proper: Proper, upper: list[int], lower: list[int]) -> Array:
    """Return the sums from which crossings are read: [i, j] is how many segments start before i and end before j."""
    place = {vertex: number for number, vertex in enumerate(lower)}
    counts = np.zeros((len(upper) + 1, len(lower) + 1))
    for number, vertex in enumerate(upper):
        for other in proper.down[vertex]:
            if other in place:
                counts[number + 1, place[other] + 1] += 1
    result: Array = counts.cumsum(axis=0).cumsum(axis=1)
    return result


def _cheapest_way(sums: list[Array], start: int, end: int) -> list[int]:
    """Return the slot in each rank between the first and the last; slot i is before the vertex that is now at i."""
    total = np.zeros(1)
    sides = (np.array([start]), np.array([start + 1]))
    choices: list[NDArray[np.int64]] = []
    for number, table in enumerate(sums):
        last = number + 1 == len(sums)
        slots = np.arange(table.shape[1])
        ends = (np.array([end]), np.array([end + 1])) if last else (slots, slots)
        cost = total[:, None] + _crossings(table, sides, ends) + BEND * _moves(table, sides[0], ends[0])
        choices.append(np.argmin(cost, axis=0))
        total = cost.min(axis=0)
        sides = ends
    way = [0]
    for choice in reversed(choices[1:]):
        way.append(int(choice[way[-1]]))
    return way[:0:-1]


def _crossings(
    table: Array, begin: tuple[NDArray[np.int64], NDArray[np.int64]], end: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> Array:
    """Return for each begin and end how many segments a new one crosses; (left, right) are the places beside it."""
    left, right = begin
    end_left, end_right = end
    before = table[left][:, -1:] - table[np.ix_(left, end_right)]
    after = table[-1][end_left][None, :] - table[np.ix_(right, end_left)]
    result: Array = before + after
    return result


def _moves(table: Array, begin: NDArray[np.int64], end: NDArray[np.int64]) -> Array:
    """Return how far apart begin and end are, counted from the middle of their ranks."""
    rows, columns = (size - 1 for size in table.shape)
    result: Array = np.abs((begin[:, None] - rows / 2) - (end[None, :] - columns / 2))
    return result
