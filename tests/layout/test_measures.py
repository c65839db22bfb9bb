"""The measures themselves, on pictures small enough to judge by eye."""

from __future__ import annotations

from gradviz.layout import Curve, LayoutGraph, Placement, Point
from gradviz.layout.quality import crossings as fast_crossings
from tests.layout.measures import boxes, crossings, label_rectangles, labels_on_boxes, overlaps, through_boxes

UNIT = (20.0, 20.0)


def straight(start: Point, end: Point, label: Point | None = None) -> Curve:
    """Return a cubic that is a straight line."""
    step = ((end[0] - start[0]) / 3, (end[1] - start[1]) / 3)
    middle = [(start[0] + n * step[0], start[1] + n * step[1]) for n in (1, 2)]
    return Curve((start, *middle, end), label)


def picture(centres: list[Point], edges: list[tuple[int, int]], curves: list[Curve]) -> tuple[LayoutGraph, Placement]:
    """Return unit boxes at `centres` with `curves` for `edges`."""
    graph = LayoutGraph((UNIT,) * len(centres), tuple(edges), (UNIT,) * len(edges))
    return graph, Placement(tuple(centres), tuple(curves), 500, 500, "hand")


def test_boxes_that_share_an_area_overlap_and_boxes_that_touch_do_not() -> None:
    graph, placement = picture([(0, 0), (15, 15), (20, 0), (0, 100)], [], [])
    assert sorted(overlaps(boxes(graph, placement))) == [(0, 1), (1, 2)]


def test_one_box_inside_another_overlaps() -> None:
    assert overlaps([(0, 0, 100, 100), (40, 40, 60, 60)]) == [(0, 1)]


def test_an_edge_that_passes_behind_a_third_box_is_found() -> None:
    graph, placement = picture([(0, 0), (100, 0), (50, 0)], [(0, 1)], [straight((10, 0), (90, 0))])
    assert through_boxes(graph, placement) == {(0, 2)}


def test_an_edge_beside_a_box_is_not_through_it() -> None:
    graph, placement = picture([(0, 0), (100, 0), (50, 30)], [(0, 1)], [straight((10, 0), (90, 0))])
    assert through_boxes(graph, placement) == set()


def test_an_edge_that_leaves_its_box_on_the_wrong_side_runs_through_it() -> None:
    graph, placement = picture([(0, 0), (100, 0)], [(0, 1)], [straight((-10, 0), (90, 0))])
    assert through_boxes(graph, placement) == {(0, 0)}


def test_two_edges_that_cross_once_count_one() -> None:
    centres = [(0.0, 0.0), (100.0, 0.0), (0.0, 100.0), (100.0, 100.0)]
    curves = [straight((10, 0), (90, 100)), straight((10, 100), (90, 0))]
    graph, placement = picture(centres, [(0, 3), (2, 1)], curves)
    assert crossings(graph, placement) == fast_crossings(graph, placement) == 1


def test_a_curve_crosses_a_line_twice() -> None:
    arc = Curve(((10.0, 0.0), (30.0, 80.0), (70.0, 80.0), (90.0, 0.0)))
    centres = [(0.0, 0.0), (100.0, 0.0), (0.0, 40.0), (100.0, 40.0)]
    graph, placement = picture(centres, [(0, 1), (2, 3)], [arc, straight((10, 40), (90, 40))])
    assert crossings(graph, placement) == fast_crossings(graph, placement) == 2


def test_edges_that_come_together_at_their_box_do_not_cross() -> None:
    curves = [straight((10, 0), (90, 50)), straight((10, 100), (90, 50))]
    graph, placement = picture([(0, 0), (0, 100), (100, 50)], [(0, 2), (1, 2)], curves)
    assert crossings(graph, placement) == fast_crossings(graph, placement) == 0


def test_edges_in_one_lane_are_one_line_for_a_third() -> None:
    lane = straight((10, 50), (190, 50))
    centres = [(0.0, 50.0), (200.0, 50.0), (100.0, 0.0), (100.0, 100.0)]
    curves = [lane, lane, straight((100, 10), (100, 90))]
    graph, placement = picture(centres, [(0, 1), (0, 1), (2, 3)], curves)
    assert crossings(graph, placement) == fast_crossings(graph, placement) == 1


def test_a_label_on_a_box_is_found_and_one_beside_it_is_not() -> None:
    edge = straight((10, 0), (90, 0), label=(85, 0))
    graph, placement = picture([(0, 0), (100, 0)], [(0, 1)], [edge])
    assert labels_on_boxes(graph, placement) == {(0, 1)}
    graph, placement = picture([(0, 0), (100, 0)], [(0, 1)], [straight((10, 0), (90, 0), label=(50, 0))])
    assert labels_on_boxes(graph, placement) == set()
    assert label_rectangles(graph, placement) == [(0, (40, -10, 60, 10))]
