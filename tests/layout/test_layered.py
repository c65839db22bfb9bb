"""The layered engine on graphs that have names: what a person would see at a glance."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from statistics import median

import pytest

from gradviz.layout import LayoutGraph, Placement, place_now
from tests.layout import graphs
from tests.layout.measures import (
    box,
    boxes,
    crossings,
    label_rectangles,
    labels_on_boxes,
    lines,
    overlaps,
    through_boxes,
)

DIRECTIONS = ("RL", "LR", "TB", "BT")
LARGE = {
    "lstm 200": graphs.lstm(200),
    "transformer 12": graphs.transformer(12),
    "fan 1000": graphs.fan(1000),
    "random 1000": graphs.random_dag(1000, 1500, 3),
    "chain 2000": graphs.chain(2000),
}


def check(graph: LayoutGraph, placement: Placement) -> None:
    """Assert what must hold of every placement."""
    assert len(placement.positions) == len(graph.sizes)
    assert len(placement.curves) == len(graph.edges)
    assert overlaps(boxes(graph, placement)) == []
    assert through_boxes(graph, placement) == set()
    right, bottom = placement.left + placement.width + 0.02, placement.top + placement.height + 0.02
    points = [point for _, line in lines(placement) for point in line]
    for x, y in [*points, *(corner for b in boxes(graph, placement) for corner in (b[:2], b[2:]))]:
        assert placement.left - 0.02 <= x <= right
        assert placement.top - 0.02 <= y <= bottom
    for (source, target), curve in zip(graph.edges, placement.curves, strict=True):
        first, last = curve.stub or (curve, curve)
        assert len(first.points) % 3 == len(last.points) % 3 == 1
        assert on_border(graph, placement, source, first.points[0])
        assert on_border(graph, placement, target, last.points[-1])


def on_border(graph: LayoutGraph, placement: Placement, number: int, point: tuple[float, float]) -> bool:
    """Whether a point is on the border of a box, within the rounding of coordinates."""
    left, top, right, bottom = box(placement.positions[number], graph.sizes[number])
    x, y = point
    inside = left - 0.02 <= x <= right + 0.02 and top - 0.02 <= y <= bottom + 0.02
    return inside and min(abs(x - left), abs(x - right), abs(y - top), abs(y - bottom)) < 0.02


@pytest.mark.parametrize("labels", [False, True], ids=["plain", "labels"])
@pytest.mark.parametrize("name", graphs.SMALL)
def test_small_graphs_are_clean(name: str, labels: bool) -> None:
    graph = graphs.SMALL[name].graph(labels=labels)
    placement = place_now(graph)
    check(graph, placement)
    assert labels_on_boxes(graph, placement) == set()
    assert overlaps([rectangle for _, rectangle in label_rectangles(graph, placement)]) == []


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("name", ["mlp", "lstm"])
def test_gradients_flow_in_the_wanted_direction(name: str, direction: str) -> None:
    graph = replace(graphs.SMALL[name].graph(labels=True, direction=direction), legible=0.0)
    placement = place_now(graph)
    check(graph, placement)
    assert labels_on_boxes(graph, placement) == set()
    axis, sign = {"RL": (0, -1), "LR": (0, 1), "TB": (1, 1), "BT": (1, -1)}[direction]
    for source, target in graph.edges:
        gap = sign * (placement.positions[target][axis] - placement.positions[source][axis])
        assert gap > (graph.sizes[source][axis] + graph.sizes[target][axis]) / 2


@pytest.mark.parametrize("name", LARGE)
def test_large_graphs_are_clean(name: str) -> None:
    graph = LARGE[name].graph()
    placement = place_now(graph)
    check(graph, placement)
    assert 1 / 10 < placement.width / placement.height < 10


def test_a_chain_is_one_straight_line() -> None:
    placement = place_now(graphs.chain(12).graph(labels=True))
    assert len({y for _, y in placement.positions}) == 1
    assert len({round(y, 6) for _, line in lines(placement) for _, y in line}) == 1
    gaps = {round(one[0] - other[0], 2) for one, other in pairwise(placement.positions)}
    assert len(gaps) == 1


def test_a_diamond_is_symmetric() -> None:
    placement = place_now(graphs.diamond().graph())
    root, first, second, leaf = (y for _, y in placement.positions)
    assert root == leaf == (first + second) / 2
    assert first < second, "the first slot comes first"


def test_a_long_chain_with_leaves_keeps_its_main_line_straight() -> None:
    build = graphs.mlp(3)
    placement = place_now(build.graph())
    main = [0, 1, 5, 6, 10, 11]
    assert len({placement.positions[number][1] for number in main}) == 1


def test_parallel_edges_are_apart() -> None:
    graph = graphs.square().graph()
    placement = place_now(graph)
    first, second = (line for edge, line in lines(placement) if graph.edges[edge] == (1, 2))
    distances = [abs(one[1] - other[1]) for one, other in zip(first, second, strict=True)]
    assert min(distances) >= 10
    assert distances[6] > distances[0], "they bow away from each other"
    assert placement.positions[1][1] == placement.positions[2][1] == placement.positions[0][1]


def test_five_parallel_edges_are_apart_also_when_they_pass_a_rank() -> None:
    edges = ((0, 1), (1, 2), *(((0, 2),) * 5))
    placement = place_now(LayoutGraph((graphs.LEAF,) * 3, edges))
    starts = sorted(placement.curves[number].points[0][1] for number in range(2, 7))
    assert all(after - before > 4 for before, after in pairwise(starts))


def test_the_same_graph_gives_the_same_bytes_in_another_process() -> None:
    script = (
        "import hashlib; from gradviz.layout import place_now; from tests.layout import graphs;"
        "print(hashlib.sha256(repr(place_now(graphs.lstm(20).graph())).encode()).hexdigest())"
    )
    here = hashlib.sha256(repr(place_now(graphs.lstm(20).graph())).encode()).hexdigest()
    for seed in ("1", "2"):
        path = os.pathsep.join(sys.path)
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
        done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, check=True)
        assert done.stdout.decode().strip() == here


def test_a_weight_of_200_steps_has_stubs_and_no_knot() -> None:
    graph = graphs.lstm(200).graph()
    placement = place_now(graph)
    weights = range(201, 205)
    stubs = [n for n, (_, target) in enumerate(graph.edges) if target in weights and placement.curves[n].stub]
    assert len(stubs) > 4 * 150
    entering = {stub[1] for number in stubs if (stub := placement.curves[number].stub)}
    assert len(entering) == 4, "all stubs that enter one weight are one"
    rectangles = boxes(graph, placement) + [rectangle for _, rectangle in label_rectangles(graph, placement)]
    assert overlaps(rectangles) == []


def test_stub_span_decides_which_edges_are_cut() -> None:
    graph = replace(graphs.residual(2).graph(), stub_span=2)
    placement = place_now(graph)
    check(graph, placement)
    cut = {edge for edge, curve in zip(graph.edges, placement.curves, strict=True) if curve.stub}
    assert cut == {(1, 6), (7, 12)}
    whole = place_now(replace(graph, stub_span=3))
    assert not any(curve.stub for curve in whole.curves)


def test_long_edges_into_one_leaf_share_a_lane() -> None:
    graph = graphs.lstm(8).graph()
    placement = place_now(graph)
    weight = 9
    ends = {curve.points[-2:] for curve, edge in zip(placement.curves, graph.edges, strict=True) if edge[1] == weight}
    assert len(ends) <= 4


def test_a_thread_is_wrapped_into_rows() -> None:
    graph = graphs.chain(300).graph()
    placement = place_now(graph)
    check(graph, placement)
    assert 0.5 < placement.width / placement.height < 4
    rows = sorted({y for _, y in placement.positions})
    assert len(rows) > 3
    ways = [one[0] > other[0] for one, other in pairwise(placement.positions) if one[1] == other[1]]
    assert True in ways and False in ways, "rows run to and fro"
    assert crossings(graph, placement) == 0


def test_labels_lie_above_their_line_in_every_row() -> None:
    graph = graphs.chain(60).graph(labels=True)
    placement = place_now(graph)
    assert labels_on_boxes(graph, placement) == set()
    for (source, target), curve in zip(graph.edges, placement.curves, strict=True):
        if placement.positions[source][1] == placement.positions[target][1]:
            assert curve.label is not None
            assert curve.label[1] < placement.positions[source][1]


def test_a_broad_fan_is_folded_into_a_picture() -> None:
    placement = place_now(graphs.fan(2000).graph())
    assert 0.2 < placement.width / placement.height < 5


def test_unconnected_parts_are_packed_and_do_not_overlap() -> None:
    build = graphs.Builder()
    for length in (1, 4, 2, 1, 3, 1, 1):
        at = build.operation()
        for _ in range(length - 1):
            at = build.operation(at)
    graph = build.graph()
    placement = place_now(graph)
    check(graph, placement)
    assert placement.width < 1000 and placement.height < 600


def test_many_single_boxes_fill_a_picture() -> None:
    graph = LayoutGraph((graphs.LEAF,) * 400, ())
    placement = place_now(graph)
    check(graph, placement)
    assert 0.5 < placement.width / placement.height < 3


@pytest.mark.parametrize("graph", [LayoutGraph((), ()), LayoutGraph(((10.0, 10.0),), ())], ids=["none", "one"])
def test_almost_nothing_is_placed_too(graph: LayoutGraph) -> None:
    placement = place_now(graph)
    assert (placement.width, placement.height) == ((10.0, 10.0) if graph.sizes else (0.0, 0.0))


def test_cycles_and_loops_end() -> None:
    edges = ((0, 1), (1, 2), (2, 0), (2, 2), (2, 3), (3, 1))
    graph = LayoutGraph((graphs.OPERATION,) * 4, edges)
    placement = place_now(graph)
    check(graph, placement)


def test_a_cycle_of_5000_boxes_needs_no_recursion() -> None:
    count = 5000
    graph = LayoutGraph((graphs.OPERATION,) * count, tuple((n, (n + 1) % count) for n in range(count)))
    assert overlaps(boxes(graph, place_now(graph))) == []


@pytest.mark.parametrize("legible", [0.0, 0.25], ids=["one row", "rows"])
def test_boxes_that_stay_keep_their_place_when_a_group_is_folded(legible: float) -> None:
    before = replace(graphs.transformer(2).graph(), legible=legible)
    old = place_now(before)
    folded, kept = fold(before, set(range(20, 36)))
    anchors = tuple(None if number is None else old.positions[number] for number in kept)
    new = place_now(replace(folded, anchors=anchors))
    check(folded, new)
    pairs = [(new.positions[place], old.positions[number]) for place, number in enumerate(kept) if number is not None]
    assert median(abs(y - old_y) for (_, y), (_, old_y) in pairs) < (0.1 * old.height if legible else 1.0)
    assert median(abs(x - old_x) for (x, _), (old_x, _) in pairs) < 0.15 * old.width
    assert crossings(folded, new) <= crossings(folded, place_now(folded)) + 2
    assert same_order(folded, old, new, kept)


def fold(graph: LayoutGraph, group: set[int]) -> tuple[LayoutGraph, list[int | None]]:
    """Return the graph with `group` as one box, and for each of its boxes the number that it had."""
    kept: list[int | None] = [number for number in range(len(graph.sizes)) if number not in group]
    place = {number: index for index, number in enumerate(kept)}
    whole = len(kept)
    pairs = [(place.get(source, whole), place.get(target, whole)) for source, target in graph.edges]
    edges = tuple(pair for pair in pairs if pair[0] != pair[1])
    sizes = (*(graph.sizes[number] for number in kept if number is not None), (180.0, 90.0))
    return LayoutGraph(sizes, edges, legible=graph.legible), [*kept, None]


def same_order(graph: LayoutGraph, old: Placement, new: Placement, kept: list[int | None]) -> bool:
    """Whether boxes that share a column now are in it as they were before, from top to bottom."""
    columns: dict[float, list[tuple[float, float]]] = {}
    for place, number in enumerate(kept):
        if number is not None:
            x, y = new.positions[place]
            columns.setdefault(x, []).append((y, old.positions[number][1]))
    return all(one[1] <= other[1] + 1.0 for column in columns.values() for one, other in pairwise(sorted(column)))


def test_unfolding_again_finds_the_old_picture() -> None:
    graph = graphs.mlp(4).graph()
    old = place_now(graph)
    new = place_now(replace(graph, anchors=old.positions))
    assert (
        max(
            abs(a - b)
            for one, other in zip(old.positions, new.positions, strict=True)
            for a, b in zip(one, other, strict=True)
        )
        < 1.0
    )
