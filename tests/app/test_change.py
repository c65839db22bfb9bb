"""Folding and unfolding are seen: what stays glides from its old place to its new one, and ends where it belongs."""

from __future__ import annotations

import math

import pytest
from pytestqt.qtbot import QtBot

from gradviz.app.graph.change import SECONDS, Change
from gradviz.app.graph.drawing import Painted
from gradviz.app.main_window import MainWindow
from gradviz.app.workspace import Workspace
from gradviz.layout import place_now
from gradviz.model import Recording, ViewState
from gradviz.playback import Timeline, story
from gradviz.render import Scene, anchors, plan_scene
from tests import recordings as made
from tests.app.conftest import Open
from tests.layout import graphs

pytestmark = pytest.mark.usefixtures("qapp")

LSTM = graphs.lstm(8)


def recording() -> Recording:
    return made.from_edges(LSTM.edges, len(LSTM.sizes))


def scenes() -> tuple[Scene, Scene]:
    timeline = Timeline(recording(), story(recording()))
    plans = [plan_scene(timeline, ViewState(expanded=opened)) for opened in ((), ("*",))]
    old = Scene(plans[0], place_now(plans[0].layout_graph()))
    return old, Scene(plans[1], place_now(plans[1].layout_graph(anchors(plans[1], old))))


def test_what_stays_is_on_its_straight_way() -> None:
    old, new = scenes()
    clock = [0.0]
    change = Change(old, new, lambda: clock[0])
    assert not change.over
    before = {box.id: old.placement.positions[box.index] for box in old.plan.boxes}
    stay = [box for box in new.plan.boxes if box.id in before]
    assert stay
    shares = []
    for part in (0.0, 0.25, 0.5, 0.75):
        clock[0] = part * SECONDS
        shown = change.scene()
        for box in stay:
            start, end = before[box.id], new.placement.positions[box.index]
            here = shown.placement.positions[box.index]
            assert math.dist(start, here) + math.dist(here, end) == pytest.approx(math.dist(start, end), abs=1e-6)
        far = max(stay, key=lambda box: math.dist(before[box.id], new.placement.positions[box.index]))
        whole = math.dist(before[far.id], new.placement.positions[far.index])
        shares.append(math.dist(before[far.id], shown.placement.positions[far.index]) / max(whole, 1e-9))
    assert shares == sorted(shares)
    clock[0] = SECONDS
    assert change.over
    assert change.scene() is new


def test_another_story_and_the_same_places_do_not_move() -> None:
    old, new = scenes()
    other, _ = scenes()
    assert Change.between(old, new) is not None
    assert Change.between(None, new) is None
    assert Change.between(other, new) is None  # of another timeline
    assert Change.between(old, Scene(old.plan, old.placement)) is None


def pictures(tab: Workspace, window: MainWindow, qtbot: QtBot, action: str) -> list[Painted]:
    """What is painted until the picture is the one that the action wants."""
    seen: list[Painted] = []
    tab.drawing.painted.connect(seen.append)
    with qtbot.waitSignal(tab.drawing.scene_changed, timeout=30_000):
        window.actions_by_name[action].trigger()
    qtbot.waitUntil(lambda: bool(seen) and seen[-1].scene is tab.drawing.scene, timeout=30_000)
    tab.drawing.painted.disconnect(seen.append)
    return seen


def test_unfolding_is_seen_as_a_movement(opened: Open, window: MainWindow, qtbot: QtBot) -> None:
    tab = opened(recording())
    seen = pictures(tab, window, qtbot, "unfold-all")
    assert any(painted.scene.moving for painted in seen[:-1])
    assert tab.drawing.change is None
    tab.session.player.reduced_motion = True
    seen = pictures(tab, window, qtbot, "fold-all")
    assert not any(painted.scene.moving for painted in seen)
