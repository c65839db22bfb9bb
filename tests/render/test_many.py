"""What is done once for very many boxes comes to the same as what would be done for each of them."""

from __future__ import annotations

import random

import pytest

from gradviz.model import Recording
from gradviz.playback import Timeline, story
from gradviz.render.fonts import fonts
from gradviz.render.measure import Measurer
from gradviz.render.shapes import Bounds, overlap
from tests import recordings as made
from tests.layout import graphs
from tests.render.pictures import scene_of_all

LSTM = graphs.lstm(12)


@pytest.mark.parametrize(
    "recording",
    [
        *(made.from_edges(LSTM.edges, len(LSTM.sizes), shape) for shape in ((), (3,), (8, 64))),
        made.two_calls(),
        made.fan_in(),
        made.leaf_root(),
        made.returned(),
    ],
)
def test_nodes_that_are_shown_alike_are_as_large_as_each_is_by_itself(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeline = Timeline(recording, story(recording))
    nodes = timeline.stage.graph.nodes
    together = Measurer(timeline, fonts())
    cards = [together.card(node) for node in nodes]
    alone = Measurer(timeline, fonts())
    monkeypatch.setattr(alone._alike, "likeness", lambda node: None)
    assert cards == [alone.card(node) for node in nodes]


def test_of_very_many_nodes_few_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = made.from_edges(LSTM.edges, len(LSTM.sizes), (8, 64))
    timeline = Timeline(recording, story(recording))
    measurer = Measurer(timeline, fonts())
    measured = []
    each = measurer._rows
    monkeypatch.setattr(measurer, "_rows", lambda node: measured.append(node.id) or each(node))  # type: ignore[func-returns-value]
    for node in timeline.stage.graph.nodes:
        measurer.card(node)
    assert len(measured) < 20 < len(timeline.stage.graph.nodes)


def test_what_is_in_an_area() -> None:
    scene = scene_of_all(made.from_edges(LSTM.edges, len(LSTM.sizes)))
    left, top, right, bottom = scene.bounds
    rng = random.Random(3)
    for size in (0.02, 0.1, 0.5, 2.0):
        for _ in range(20):
            x, y = rng.uniform(left, right), rng.uniform(top, bottom)
            area: Bounds = (x, y, x + size * (right - left), y + size * (bottom - top))
            boxes = [box.index for box in scene.plan.boxes if overlap(scene.reach(box), area)]
            links = [link.index for link in scene.plan.links if overlap(scene.link_bounds(link), area)]
            assert list(scene.boxes_in(area)) == boxes
            assert list(scene.links_in(area)) == links
            on = [box for box in scene.plan.boxes if _holds(scene.cards[box.index], x, y)]
            assert scene.box_at(x, y) == (on[0] if on else None)
    whole = (left, top, right, bottom)
    assert list(scene.boxes_in(whole)) == list(range(len(scene.plan.boxes)))


def _holds(card: Bounds, x: float, y: float) -> bool:
    return card[0] <= x <= card[2] and card[1] <= y <= card[3]
