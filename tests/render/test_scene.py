"""Places: what is at a point, what is in an area, how ways are walked."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest

from gradviz.model import ViewState
from gradviz.render import Scene
from gradviz.render.scene import Route, flattened
from tests import recordings as made
from tests.layout import graphs
from tests.render.pictures import display_at, scene_of, words


@pytest.fixture(scope="module")
def big() -> Scene:
    build = graphs.lstm(20)
    return scene_of(made.from_edges(build.edges, len(build.sizes)), ViewState(expanded=("*",)))


def test_every_card_is_found_at_its_middle_and_nothing_outside(big: Scene) -> None:
    for box in big.plan.boxes:
        left, top, right, bottom = big.cards[box.index]
        assert big.box_at((left + right) / 2, (top + bottom) / 2) is box
    left, top, _, _ = big.bounds
    assert big.box_at(left + 1, top + 1) is None


def test_areas_find_what_a_plain_search_finds(big: Scene) -> None:
    left, top, right, bottom = big.bounds
    rng = random.Random(4)
    for _ in range(200):
        x, y = rng.uniform(left, right), rng.uniform(top, bottom)
        area = (x, y, x + rng.uniform(10, 2000), y + rng.uniform(10, 900))
        boxes, links = set(big.boxes_in(area)), set(big.links_in(area))
        for box in big.plan.boxes:
            a, b, c, d = big.reach(box)
            if a < area[2] and area[0] < c and b < area[3] and area[1] < d:
                assert box.index in boxes
        for link in big.plan.links:
            a, b, c, d = big.routes[link.index].bounds
            if a < area[2] and area[0] < c and b < area[3] and area[1] < d:
                assert link.index in links


def test_a_link_is_found_near_its_line_only() -> None:
    scene = scene_of(made.two_calls())
    x, y = scene.routes[0].at(0.5)
    assert scene.link_at(x, y + 3, 6.0) is scene.plan.links[0]
    assert scene.link_at(x, y + 30, 6.0) is None


def test_a_way_is_walked_at_even_speed() -> None:
    route = Route(((0.0, 0.0), (0.0, 100.0), (0.0, 100.0), (100.0, 100.0)))
    places = [route.at(k / 20) for k in range(21)]
    steps = [math.dist(a, b) for a, b in pairwise(places)]
    assert places[0] == (0.0, 0.0) and places[-1] == (100.0, 100.0)
    assert max(steps) < 1.1 * min(steps)
    straight = flattened(((0.0, 0.0), (30.0, 0.0), (60.0, 0.0), (90.0, 0.0)))
    assert straight[-1] == (90.0, 0.0) and all(y == 0.0 for _, y in straight)


def test_two_stubs_are_one_way_with_a_jump() -> None:
    first, second = Route(((0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (3.0, 0.0))), Route(((9.0, 0.0),) * 3 + ((12.0, 0.0),))
    route = Route((), None, (first, second))
    assert route.at(0.25)[0] == pytest.approx(1.5) and route.at(1.0)[0] == 12.0
    assert route.bounds[0] < 0.0 and route.bounds[2] > 12.0


def test_a_folded_group_stands_for_its_nodes() -> None:
    build = graphs.lstm(200)
    recording = made.from_edges(build.edges, len(build.sizes))
    scene = scene_of(recording)
    assert 5 <= len(scene.plan.boxes) <= 80
    covered = sorted(node for box in scene.plan.boxes for node in box.nodes)
    assert covered == list(range(len(build.sizes)))
    group = next(box for box in scene.plan.boxes if box.kind == "group")
    end = scene.plan.timeline.length
    frame = scene.plan.timeline.state_at(end)
    state = scene.plan.group_state(group, frame)
    came = [
        frame.edge(index).value.norm ** 2  # type: ignore[union-attr, operator]
        for index, edge in enumerate(scene.plan.timeline.stage.graph.edges)
        if edge.target in group.nodes and edge.source not in group.nodes
    ]
    if frame.seeds[0].node in group.nodes:
        came.append(1.0)
    assert state.came == pytest.approx(math.sqrt(math.fsum(came)))
    assert (state.phase, state.ran, state.count) == ("done", len(group.nodes), len(group.nodes))
    before = scene.plan.group_state(group, scene.plan.timeline.state_at(0.0))
    assert (before.phase, before.ran, before.came) == ("waiting", 0, None)
    assert "norm in" in words(display_at(scene, end).by_id[group.id])


def test_a_group_is_active_while_one_of_its_nodes_runs() -> None:
    build = graphs.lstm(200)
    scene = scene_of(made.from_edges(build.edges, len(build.sizes)))
    timeline = scene.plan.timeline
    for index in range(1, timeline.length, 97):
        frame = timeline.state_at(index + 0.5)
        active = scene.box_of(timeline.beats[index].nodes[0])
        assert active is not None
        for box in scene.plan.boxes:
            if box.kind == "group":
                assert (scene.plan.group_state(box, frame).phase == "active") == (box is active)
