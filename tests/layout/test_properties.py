"""What must hold of any graph: no overlap, no edge through a box, every edge from border to border."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradviz.errors import LayoutError
from gradviz.layout import LayoutGraph, place_now
from gradviz.layout.ranks import acyclic, ranks
from tests.layout.measures import boxes, label_rectangles, labels_on_boxes, overlaps
from tests.layout.test_layered import check

size = st.tuples(st.floats(20, 400), st.floats(20, 300))
label = st.one_of(st.none(), st.tuples(st.floats(10, 90), st.floats(10, 30)))


@st.composite
def layout_graphs(draw: st.DrawFn) -> LayoutGraph:
    sizes = draw(st.lists(size, min_size=1, max_size=14))
    box = st.integers(0, len(sizes) - 1)
    edges = draw(st.lists(st.tuples(box, box), max_size=24))
    labels = draw(st.lists(label, min_size=len(edges), max_size=len(edges))) if draw(st.booleans()) else []
    direction = draw(st.sampled_from(("RL", "LR", "TB", "BT")))
    span = draw(st.one_of(st.none(), st.integers(1, 4)))
    legible = draw(st.sampled_from((0.0, 0.25, 0.9)))
    return LayoutGraph(tuple(sizes), tuple(edges), tuple(labels), direction, stub_span=span, legible=legible)


def without_loops(graph: LayoutGraph) -> LayoutGraph:
    """A loop is drawn at its box's corner, where room is kept for nothing."""
    kept = [number for number, (source, target) in enumerate(graph.edges) if source != target]
    labels = tuple(graph.edge_labels[number] for number in kept) if graph.edge_labels else ()
    return replace(graph, edges=tuple(graph.edges[number] for number in kept), edge_labels=labels)


@settings(max_examples=150, deadline=None)
@given(layout_graphs())
def test_any_graph_is_clean(graph: LayoutGraph) -> None:
    graph = without_loops(graph)
    placement = place_now(graph)
    check(graph, placement)
    assert labels_on_boxes(graph, placement) == set()
    assert overlaps(boxes(graph, placement) + [rectangle for _, rectangle in label_rectangles(graph, placement)]) == []


@settings(max_examples=50, deadline=None)
@given(layout_graphs(), st.data())
def test_anchors_never_spoil_a_picture(graph: LayoutGraph, data: st.DataObject) -> None:
    place = st.one_of(st.none(), st.tuples(st.floats(-500, 500), st.floats(-500, 500)))
    count = len(graph.sizes)
    anchors = data.draw(st.lists(place, min_size=count, max_size=count))
    graph = replace(without_loops(graph), anchors=tuple(anchors))
    check(graph, place_now(graph))


@settings(max_examples=100, deadline=None)
@given(layout_graphs())
def test_every_edge_of_the_ranking_leads_on(graph: LayoutGraph) -> None:
    graph = without_loops(graph)
    edges = acyclic(len(graph.sizes), graph.edges)
    assert sorted(map(sorted, edges)) == sorted(map(sorted, graph.edges))
    rank = ranks(graph.sizes, edges, graph)
    assert all(rank[source] < rank[target] for source, target in edges)
    assert min(rank) == 0


def test_a_loop_does_not_run_through_its_box() -> None:
    graph = LayoutGraph(((140.0, 70.0),) * 2, ((0, 0), (0, 1)))
    check(graph, place_now(graph))


@pytest.mark.parametrize(
    "wrong",
    [
        {"edges": ((0, 2),)},
        {"edges": ((-1, 0),)},
        {"direction": "up"},
        {"edges": ((0, 1),), "edge_labels": (None, None)},
        {"anchors": (None,)},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_what_cannot_be_placed_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(LayoutError):
        LayoutGraph(**{"sizes": ((10.0, 10.0),) * 2, "edges": (), **wrong})
