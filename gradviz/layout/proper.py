"""Turns ranked boxes and edges into a proper layered graph, where every segment joins neighbouring ranks.

Long edges get a vertex in each rank that they pass, so that they have a lane of their own between the boxes. Edges that
would run too far end in stubs. Many long edges into one box (a weight that every step uses) share one lane.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from gradviz.layout.ranks import Edge
from gradviz.layout.spans import SOURCE, TARGET, Trunks, cut_edges
from gradviz.layout.values import Point

LANE = 6.0
"""Half the breadth that a passing edge claims in a rank."""
LABEL_RISE = 5.0
"""Distance of an edge's line to its label, which sits beside the line and not on it."""
BOX_STEP = 1 << 24
"""A box counts more for the length of a path than any number of lanes."""
OWN_STUBS = 3
"""A box with more stubs than this on one side gets a single one for all."""


@dataclass(frozen=True)
class Wanted:
    """One connected part of the graph, in flow coordinates (along, across).

    Attributes:
        sizes: of each box.
        edges: without cycles and loops.
        labels: size of each edge's label or None.
        ranks: of each box.
        stub_size: room for a stub's label.
        stub_span: longest span of an edge that is not cut into stubs; None chooses.
    """

    sizes: Sequence[Point]
    edges: Sequence[Edge]
    labels: Sequence[Point | None]
    ranks: Sequence[int]
    stub_size: Point
    stub_span: int | None


@dataclass
class Proper:
    """Vertices 0..boxes-1 are the boxes, those that follow are lanes, labels and stubs.

    Attributes:
        boxes: how many boxes there are.
        rank: of each vertex.
        low: how far a vertex reaches across the flow, towards smaller coordinates.
        high: as `low`, towards greater ones.
        along: size of each vertex along the flow.
        gap_shares: of the wanted gap, behind each rank.
        chains: for each edge its vertices from source to target; empty for an edge in two stubs.
        stubs: for each edge in two stubs the vertex that ends the first and the one that begins the second.
        labels: for each whole edge with a label the vertex that keeps its room.
        down: for each vertex its neighbours in the next rank, each once.
        up: for each vertex its neighbours in the rank before, each once.
    """

    boxes: int
    rank: list[int]
    low: list[float]
    high: list[float]
    along: list[float]
    gap_shares: list[float]
    chains: list[list[int]] = field(default_factory=list)
    stubs: dict[int, tuple[int, int]] = field(default_factory=dict)
    labels: dict[int, int] = field(default_factory=dict)
    down: list[list[int]] = field(default_factory=list)
    up: list[list[int]] = field(default_factory=list)

    def add(self, rank: int, low: float, high: float, along: float) -> int:
        """Add a vertex and return its number."""
        self.rank.append(rank)
        self.low.append(low)
        self.high.append(high)
        self.along.append(along)
        return len(self.rank) - 1

    def layers(self) -> list[list[int]]:
        """Return the vertices of each rank, in order of their numbers."""
        result: list[list[int]] = [[] for _ in range(max(self.rank, default=-1) + 1)]
        for vertex, rank in enumerate(self.rank):
            result[rank].append(vertex)
        return result

    @cached_property
    def heights(self) -> list[int]:
        """The longest path that leads to each vertex, itself included: in boxes, then in lanes."""
        return self._longest(self.layers(), self.up)

    @cached_property
    def depths(self) -> list[int]:
        """The longest path that leads on from each vertex, as `heights`."""
        return self._longest(self.layers()[::-1], self.down)

    def _longest(self, layers: Sequence[Sequence[int]], neighbours: Sequence[Sequence[int]]) -> list[int]:
        longest = [0] * len(self.rank)
        boxes = self.boxes
        for layer in layers:
            for vertex in layer:
                mine = BOX_STEP if vertex < boxes else 1
                near = neighbours[vertex]
                if len(near) == 1:
                    mine += longest[near[0]]
                elif near:
                    mine += max([longest[other] for other in near])
                longest[vertex] = mine
        return longest


def build(wanted: Wanted) -> Proper:
    """Return the proper layered graph, with a rank of its own for the labels and stubs between two ranks of boxes."""
    cut = cut_edges(wanted.edges, wanted.ranks, wanted.stub_span)
    whole = [edge for edge, is_cut in zip(wanted.edges, cut, strict=True) if not is_cut]
    trunks = Trunks(whole, wanted.ranks)
    between = _ranks_between(wanted, cut, trunks)
    new_rank, shares = _with_ranks_between(max(wanted.ranks, default=-1) + 1, between)
    ranks = [new_rank[rank] for rank in wanted.ranks]
    halves = [size[1] / 2 for size in wanted.sizes]
    proper = Proper(len(halves), ranks, list(halves), list(halves), [size[0] for size in wanted.sizes], shares)
    ends = _StubEnds(proper, wanted, cut)
    lanes = _Lanes(proper, wanted, trunks, new_rank)
    for number, edge in enumerate(wanted.edges):
        if cut[number]:
            proper.chains.append([])
            proper.stubs[number] = (ends.vertex(edge, SOURCE), ends.vertex(edge, TARGET))
        else:
            proper.chains.append(lanes.chain(number, edge))
    _link(proper, wanted.edges)
    return proper


def _label_rank(wanted: Wanted, trunks: Trunks, edge: Edge) -> int:
    """The rank of boxes behind which the edge's label lies: where the edge is alone, else in its middle."""
    first, last = wanted.ranks[edge[0]], wanted.ranks[edge[1]]
    trunk = trunks.of(edge)
    if trunk:
        return last - 1 if trunk[0] == SOURCE else first
    return (first + last - 1) // 2


def _ranks_between(wanted: Wanted, cut: Sequence[bool], trunks: Trunks) -> set[int]:
    between: set[int] = set()
    for number, edge in enumerate(wanted.edges):
        if cut[number]:
            between |= {wanted.ranks[edge[0]], wanted.ranks[edge[1]] - 1}
        elif wanted.labels and wanted.labels[number]:
            between.add(_label_rank(wanted, trunks, edge))
    return between


def _with_ranks_between(count: int, between: set[int]) -> tuple[list[int], list[float]]:
    """Return the number of each rank of boxes when others come between, and the share of the gap behind each rank."""
    new_rank: list[int] = []
    shares: list[float] = []
    for rank in range(count):
        new_rank.append(len(shares))
        shares += [0.5, 0.5] if rank in between else [1.0]
    return new_rank, shares


class _StubEnds:
    """Makes the vertices where stubs end, one for all of a box that has many."""

    def __init__(self, proper: Proper, wanted: Wanted, cut: Sequence[bool]) -> None:
        self._proper = proper
        self._size = wanted.stub_size
        gone = [edge for edge, is_cut in zip(wanted.edges, cut, strict=True) if is_cut]
        self._counts = [Counter(edge[end] for edge in gone) for end in (SOURCE, TARGET)]
        self._shared: dict[tuple[int, int], int] = {}

    def vertex(self, edge: Edge, end: int) -> int:
        box = edge[end]
        crowded = self._counts[end][box] > OWN_STUBS
        if crowded and (end, box) in self._shared:
            return self._shared[end, box]
        along, across = self._size
        rank = self._proper.rank[box] + (1 if end == SOURCE else -1)
        vertex = self._proper.add(rank, across / 2, across / 2, along)
        if crowded:
            self._shared[end, box] = vertex
        return vertex


class _Lanes:
    """Makes the vertices through which whole edges run."""

    def __init__(self, proper: Proper, wanted: Wanted, trunks: Trunks, new_rank: list[int]) -> None:
        self._new_rank = new_rank
        self._proper = proper
        self._wanted = wanted
        self._trunks = trunks
        self._shared: dict[tuple[int, int, int, int], int] = {}
        self._repeats: Counter[Edge] = Counter()

    def chain(self, number: int, edge: Edge) -> list[int]:
        proper, labels = self._proper, self._wanted.labels
        first, last = proper.rank[edge[0]], proper.rank[edge[1]]
        if last - first == 1:
            return [edge[0], edge[1]]
        repeat = self._repeats[edge]
        self._repeats[edge] += 1
        trunk = self._trunks.of(edge)
        label = labels[number] if labels else None
        label_rank = self._new_rank[_label_rank(self._wanted, self._trunks, edge)] + 1
        chain = [edge[0]]
        for rank in range(first + 1, last):
            if label and rank == label_rank:
                chain.append(self._label(number, label, rank))
            elif trunk:
                chain.append(self._lane((*trunk, repeat, rank)))
            else:
                chain.append(proper.add(rank, LANE, LANE, 0.0))
        return [*chain, edge[1]]

    def _label(self, number: int, label: Point, rank: int) -> int:
        vertex = self._proper.add(rank, label[1] + LABEL_RISE, LANE, label[0])
        self._proper.labels[number] = vertex
        return vertex

    def _lane(self, key: tuple[int, int, int, int]) -> int:
        vertex = self._shared.get(key)
        if vertex is None:
            vertex = self._shared[key] = self._proper.add(key[-1], LANE, LANE, 0.0)
        return vertex


def _link(proper: Proper, edges: Sequence[Edge]) -> None:
    proper.down = [[] for _ in proper.rank]
    proper.up = [[] for _ in proper.rank]
    known: set[Edge] = set()
    for number, chain in enumerate(proper.chains):
        if chain:
            pairs = list(pairwise(chain))
        else:
            leaving, entering = proper.stubs[number]
            pairs = [(edges[number][0], leaving), (entering, edges[number][1])]
        for pair in pairs:
            if pair not in known:
                known.add(pair)
                proper.down[pair[0]].append(pair[1])
                proper.up[pair[1]].append(pair[0])
