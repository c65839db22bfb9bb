"""The stages of the layered engine, each against a hand-computed answer or a plain second implementation."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations, pairwise, product

import pytest

from gradviz.layout import LayoutGraph, place_now
from gradviz.layout.across import across
from gradviz.layout.order import count_crossings, orders
from gradviz.layout.proper import Proper, Wanted, build
from gradviz.layout.ranks import acyclic, ranks
from gradviz.layout.reinsert import reinsert
from gradviz.layout.spans import Trunks, cut_edges
from tests.layout import graphs
from tests.layout.measures import boxes, overlaps

BOX = (100.0, 50.0)
Layers = list[list[int]]


def rank_of(count: int, edges: list[tuple[int, int]]) -> list[int]:
    """Return the ranks of equal boxes."""
    return ranks([BOX] * count, edges, LayoutGraph((BOX,) * count, tuple(edges)))


def proper_of(count: int, edges: list[tuple[int, int]], labels: tuple[tuple[float, float] | None, ...] = ()) -> Proper:
    """Return the proper graph of equal boxes without stubs."""
    return build(Wanted([BOX] * count, edges, labels, rank_of(count, edges), (60.0, 18.0), 1000))


def test_ranks_are_longest_paths() -> None:
    assert rank_of(5, [(0, 1), (1, 2), (2, 3), (0, 3), (3, 4)]) == [0, 1, 2, 3, 4]


def test_a_second_root_stands_before_its_target_and_not_at_the_start() -> None:
    assert rank_of(5, [(0, 1), (1, 2), (2, 3), (4, 3)]) == [0, 1, 2, 3, 2]


def test_a_leaf_stands_behind_the_last_box_that_uses_it() -> None:
    assert rank_of(5, [(0, 1), (1, 2), (0, 3), (2, 3), (1, 4)]) == [0, 1, 2, 3, 2]


def test_terms_of_a_long_sum_stand_near_what_they_sum() -> None:
    steps = 40
    terms = [(0, term) for term in range(1, steps + 1)]
    ends = [(term, steps + term) for term in range(1, steps + 1)]
    chain = [(steps + step, steps + step + 1) for step in range(1, steps)]
    rank = rank_of(2 * steps + 1, terms + ends + chain)
    assert max(rank.count(value) for value in rank) <= 14
    assert all(rank[term] == rank[steps + term] - 1 for term in range(20, steps + 1))


def test_only_edges_that_close_a_cycle_are_turned() -> None:
    assert acyclic(3, [(0, 1), (1, 2), (2, 0), (0, 2)]) == [(0, 1), (1, 2), (0, 2), (0, 2)]
    assert acyclic(2, [(1, 0), (1, 0)]) == [(1, 0), (1, 0)]


def test_a_long_edge_gets_a_lane_in_each_rank_that_it_passes() -> None:
    proper = proper_of(4, [(0, 1), (1, 2), (2, 3), (0, 3)])
    lanes = proper.chains[3][1:-1]
    assert [proper.rank[vertex] for vertex in lanes] == [1, 2]
    assert proper.down[0] == [1, lanes[0]]
    assert proper.up[3] == [2, lanes[1]]


def test_a_label_gets_a_rank_between_the_boxes_and_others_get_none() -> None:
    proper = proper_of(3, [(0, 1), (1, 2)], ((40.0, 20.0), None))
    assert proper.rank == [0, 2, 3, 1]
    assert proper.labels == {0: 3}
    assert proper.gap_shares == [0.5, 0.5, 1.0, 1.0]
    assert (proper.low[3], proper.high[3], proper.along[3]) == (25.0, 6.0, 40.0)


def test_four_long_edges_into_a_leaf_make_a_trunk_and_three_do_not() -> None:
    rank = [0, 1, 2, 3, 9]
    four = [(source, 4) for source in range(4)]
    assert [Trunks(four, rank).of(edge) for edge in four] == [(1, 4)] * 4
    assert [Trunks(four[:3], rank).of(edge) for edge in four[:3]] == [None] * 3


def test_edges_longer_than_the_limit_are_cut() -> None:
    assert cut_edges([(0, 1), (0, 2), (0, 3)], [0, 2, 3, 4], 3) == [False, False, True]
    assert cut_edges([(0, 1)], [0, 400], None) == [False], "one long skip is a line, not a knot"
    shared = [(source, 100) for source in range(100)]
    cut = cut_edges(shared, list(range(101)), None)
    assert cut == [True] * 76 + [False] * 24


def random_layers(seed: int) -> tuple[Proper, Layers]:
    """Return a random layered graph with long edges, in a random order."""
    random_ = random.Random(seed)
    build_ = graphs.random_dag(14, 22, seed)
    proper = proper_of(14, [edge for edge in build_.edges if edge[0] != edge[1]])
    layers = proper.layers()
    for layer in layers:
        random_.shuffle(layer)
    return proper, layers


def plain_crossings(proper: Proper, layers: Layers) -> int:
    """Compare every two segments."""
    place = {vertex: number for layer in layers for number, vertex in enumerate(layer)}
    total = 0
    for layer in layers:
        segments = [(place[upper], place[lower]) for upper in layer for lower in proper.down[upper]]
        total += sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in combinations(segments, 2))
    return total


@pytest.mark.parametrize("seed", range(12))
def test_crossings_are_counted_as_by_comparing_every_two_segments(seed: int) -> None:
    proper, layers = random_layers(seed)
    assert count_crossings(proper, layers) == plain_crossings(proper, layers)


@pytest.mark.parametrize("seed", range(12))
def test_an_edge_laid_anew_crosses_as_little_as_the_best_of_all_ways(seed: int) -> None:
    proper, layers = random_layers(seed)
    long = [chain for chain in proper.chains if 3 <= len(chain) <= 5 and is_alone(proper, chain)]
    for chain in long[:3]:
        best = fewest_of_all_ways(proper, layers, chain)
        one = replace(proper, chains=[chain])
        reinsert(one, layers)
        assert plain_crossings(proper, layers) == best


def is_alone(proper: Proper, chain: list[int]) -> bool:
    return all(len(proper.up[vertex]) == len(proper.down[vertex]) == 1 for vertex in chain[1:-1])


def fewest_of_all_ways(proper: Proper, layers: Layers, chain: list[int]) -> int:
    """Try every slot in every rank."""
    inner = chain[1:-1]
    bare = [[vertex for vertex in layer if vertex not in inner] for layer in layers]
    ways = product(*(range(len(bare[proper.rank[vertex]]) + 1) for vertex in inner))
    found = []
    for way in ways:
        tried = [list(layer) for layer in bare]
        for vertex, slot in zip(inner, way, strict=True):
            tried[proper.rank[vertex]].insert(slot, vertex)
        found.append(plain_crossings(proper, tried))
    return min(found)


@pytest.mark.parametrize("seed", range(8))
def test_ordering_reaches_the_least_crossings_of_a_small_graph(seed: int) -> None:
    """Every order of a graph of 3 ranks with 4 boxes each is tried: 4!^3 with the first one fixed by symmetry."""
    random_ = random.Random(seed)
    edges = [(a, 4 + b) for a in range(4) for b in range(4) if random_.random() < 0.4]
    edges += [(4 + a, 8 + b) for a in range(4) for b in range(4) if random_.random() < 0.4]
    edges += [(a, 4 + a) for a in range(4)] + [(4 + a, 8 + a) for a in range(4)]
    edges = sorted(set(edges))
    wanted = Wanted([BOX] * 12, edges, (), [number // 4 for number in range(12)], (60.0, 18.0), 1000)
    proper = build(wanted)
    ours = count_crossings(proper, orders(proper)[0])
    assert ours <= least_of_all_orders(edges) + 1


def least_of_all_orders(edges: list[tuple[int, int]]) -> int:
    """Return the least crossings over all orders of three ranks of four; the ranks' pairs are tried one by one."""
    from itertools import permutations

    first = [edge for edge in edges if edge[0] < 4]
    second = [(a - 4, b - 8) for a, b in edges if a >= 4]
    upper = [(a, b - 4) for a, b in first]
    best = 10**9
    for middle in permutations(range(4)):
        above = min(crossings_of(upper, order, middle) for order in permutations(range(4)))
        below = min(crossings_of(second, middle, order) for order in permutations(range(4)))
        best = min(best, above + below)
    return best


def crossings_of(edges: list[tuple[int, int]], left: tuple[int, ...], right: tuple[int, ...]) -> int:
    placed = [(left[a], right[b]) for a, b in edges]
    return sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in combinations(placed, 2))


@pytest.mark.parametrize("seed", range(6))
def test_coordinates_keep_every_distance_and_straight_lanes_straight(seed: int) -> None:
    proper, _ = random_layers(seed)
    layers = orders(proper)[0]
    coordinates = across(proper, layers, 30.0)
    for layer in layers:
        for left, right in pairwise(layer):
            room = proper.high[left] + proper.low[right] + (30.0 if max(left, right) < proper.boxes else 4.0)
            assert coordinates[right] - coordinates[left] >= room - 1e-6
    bends = 0
    for chain in proper.chains:
        bends += len({round(coordinates[vertex], 3) for vertex in chain[1:-1]}) > 1
    assert bends <= len(proper.chains) / 4


def test_rows_that_ran_back_do_not_turn_the_order_over() -> None:
    """A wrapped picture laid out again from its own places has its boxes in the same order in each column."""
    build_ = graphs.residual(40)
    graph = build_.graph()
    old = place_now(graph)
    assert len({y for _, y in old.positions}) > 6, "wrapped"
    new = place_now(replace(graph, anchors=old.positions))
    assert overlaps(boxes(graph, new)) == []
    assert new.positions == old.positions
