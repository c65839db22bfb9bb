"""Folding and unfolding: what stays is where it was, what moves goes straight to its new place."""

from __future__ import annotations

import math

import pytest

from gradviz.layout.engines import place_now
from gradviz.model import ViewState
from gradviz.playback import Timeline, story
from gradviz.render import Scene, anchors, build_display_list, morphed, plan_scene, theme
from tests import recordings as made
from tests.layout import graphs


@pytest.fixture(scope="module")
def scenes() -> tuple[Scene, Scene]:
    build = graphs.lstm(200)
    recording = made.from_edges(build.edges, len(build.sizes))
    timeline = Timeline(recording, story(recording))
    plan = plan_scene(timeline)
    old = Scene(plan, place_now(plan.layout_graph()))
    key = next(box.card.group.group.key for box in plan.boxes if box.card.group is not None)
    opened = plan_scene(timeline, ViewState(expanded=(key,)))
    return old, Scene(opened, place_now(opened.layout_graph(anchors(opened, old))))


def test_what_stays_is_anchored(scenes: tuple[Scene, Scene]) -> None:
    old, new = scenes
    known = {box.id: old.placement.positions[box.index] for box in old.plan.boxes}
    given = anchors(new.plan, old)
    stays = [box for box in new.plan.boxes if box.id in known]
    assert len(stays) == len(old.plan.boxes) - 1
    assert all(given[box.index] == known[box.id] for box in stays)
    assert sum(place is None for place in given) == len(new.plan.boxes) - len(stays)


def test_the_way_starts_at_the_old_scene_and_ends_at_the_new_one(scenes: tuple[Scene, Scene]) -> None:
    old, new = scenes
    assert morphed(old, new, 1.0) is new
    start, middle = morphed(old, new, 0.0), morphed(old, new, 0.5)
    for box in new.plan.boxes:
        a, b = start.placement.positions[box.index], new.placement.positions[box.index]
        half = middle.placement.positions[box.index]
        assert half == pytest.approx(((a[0] + b[0]) / 2, (a[1] + b[1]) / 2))
        before = old.plan.box_of_node[box.nodes[0]]
        assert math.dist(a, old.placement.positions[before.index]) < 1e-9
    display = build_display_list(middle, middle.plan.timeline.state_at(5.0), theme("light"))
    assert len(display.by_id) == len(display.items) >= len(new.plan.boxes)
