"""The sum behind a gradient in the window: elements chosen by keys, paths by clicks, and what is lit on the graph."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from gradviz.app.main_window import MainWindow
from gradviz.app.panels.paths_view import PathsView
from gradviz.app.workspace import Workspace
from gradviz.store.reader import close_recording, open_recording
from gradviz.worker.in_process import record
from tests.app.conftest import Open
from tests.app.test_window import click, key
from tests.recordings import chain, fan_in, from_edges, returned, two_calls


def choose(qtbot: QtBot, tab: Workspace, name: str) -> PathsView:
    """Click a node and wait for the paths to it."""
    with qtbot.waitSignal(tab.inspector.paths.shown):
        click(qtbot, tab, name)
    return tab.inspector.paths


def click_path(qtbot: QtBot, paths: PathsView, row: int) -> None:
    area = paths.list.visualRect(paths.model.index(row, 0))
    qtbot.mouseClick(paths.list.viewport(), Qt.MouseButton.LeftButton, pos=area.center())


def lit_names(tab: Workspace) -> set[str]:
    """The names on the boxes that are lit."""
    scene, lit = tab.drawing.scene, tab.middle.view.lit
    assert scene is not None
    assert lit is not None
    graph = scene.plan.timeline.stage.graph.by_id
    return {graph[box.nodes[0]].name or "" for box in scene.plan.boxes if box.index in lit}


class TestList:
    def test_two_ways_are_said_and_listed(self, opened: Open, qtbot: QtBot) -> None:
        paths = choose(qtbot, opened(fan_in()), "x")
        assert paths.words.text() == "x got 15 + 6 = 21 in call 1, along 2 paths."
        assert [(way.names, way.product) for way in paths.ways] == [
            ("c → b → y → x", "1 · 1 · 5 · 3 = 15"),
            ("c → a → y → x", "1 · 1 · 2 · 3 = 6"),
        ]
        assert not paths.spins  # a scalar has no element to choose

    def test_why_it_is_six_and_not_three(self, opened: Open, qtbot: QtBot) -> None:
        """y = x * x: the same node twice, once for each factor."""
        paths = choose(qtbot, opened(returned()), "x")
        assert paths.words.text() == "x got 3 + 3 = 6 in call 1, along 2 paths."

    def test_each_call_has_its_own(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(two_calls())
        paths = choose(qtbot, tab, "t1")
        assert paths.words.text() == "t1 got 20 in call 2, along one path."
        with qtbot.waitSignal(paths.shown):
            tab.session.player.seek(1.5)
        assert paths.words.text() == "t1 got 4 in call 1, along one path."

    def test_a_long_path_is_shortened(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(chain(400))
        with qtbot.waitSignal(tab.inspector.paths.shown):
            tab.session.select(["x"])
        (way,) = tab.inspector.paths.ways
        assert way.names == "Mul → Mul → Mul → … 395 nodes … → Mul → Mul → x"
        assert way.product == "1 = 1, and 400 times 1"

    def test_groups_and_nodes_that_got_nothing_have_none(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(two_calls())
        tab.session.player.seek(0.5)
        with qtbot.waitSignal(tab.inspector.shown):
            tab.session.select_nodes([key(tab, "t3")])  # not in the graph of the first call
        assert tab.inspector.paths.isHidden()


class TestLight:
    def test_a_click_lights_one_path_and_escape_all(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(fan_in())
        paths = choose(qtbot, tab, "x")
        click_path(qtbot, paths, 1)
        assert lit_names(tab) == {"c", "a", "y", "x"}
        click_path(qtbot, paths, 0)
        assert lit_names(tab) == {"c", "b", "y", "x"}
        qtbot.keyClick(paths.list, Qt.Key.Key_Escape)
        assert tab.middle.view.lit is None

    def test_arrow_keys_go_from_path_to_path(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(fan_in())
        paths = choose(qtbot, tab, "x")
        paths.list.setFocus(Qt.FocusReason.TabFocusReason)
        assert lit_names(tab) == {"c", "b", "y", "x"}
        qtbot.keyClick(paths.list, Qt.Key.Key_Down)
        assert lit_names(tab) == {"c", "a", "y", "x"}

    def test_of_two_edges_between_two_boxes_one_is_lit(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(returned())
        paths = choose(qtbot, tab, "x")
        click_path(qtbot, paths, 0)
        scene, links = tab.drawing.scene, tab.middle.view._lit_links
        assert scene is not None
        assert links is not None
        assert len(scene.plan.links) == 2
        assert len(links) == 1
        click_path(qtbot, paths, 1)
        assert tab.middle.view._lit_links != links

    def test_the_veil_is_on_the_other_boxes(self, opened: Open, qtbot: QtBot, window: MainWindow) -> None:
        tab = opened(fan_in())
        paths = choose(qtbot, tab, "x")
        before = tab.middle.view.grab().toImage()
        click_path(qtbot, paths, 0)
        after = tab.middle.view.grab().toImage()
        for name, veiled in (("a", True), ("b", False)):
            scene = tab.drawing.scene
            assert scene is not None
            box = scene.box_of(key(tab, name))
            assert box is not None
            card = scene.cards[box.index]
            place = tab.middle.view.on_screen(card).toRect().adjusted(6, 6, -6, -6)
            pair = [min(_darkness(image.copy(place))) for image in (before, after)]
            assert (pair[1] > pair[0] + 60) is veiled

    def test_a_path_that_is_out_of_sight_is_brought_into_it(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(fan_in())
        tab.session.player.reduced_motion = True
        paths = choose(qtbot, tab, "x")
        view = tab.middle.view
        click_path(qtbot, paths, 0)
        fitted = view.camera
        view.zoom_by(4.0)
        click_path(qtbot, paths, 1)
        assert view.camera.zoom <= fitted.zoom * 1.5
        scene = tab.drawing.scene
        assert scene is not None
        inside = view.rect()
        for name in ("c", "a", "y", "x"):
            box = scene.box_of(key(tab, name))
            assert box is not None
            assert inside.contains(view.on_screen(scene.cards[box.index]).toRect())

    def test_another_node_gives_the_light_back(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(fan_in())
        paths = choose(qtbot, tab, "x")
        click_path(qtbot, paths, 0)
        click(qtbot, tab, "y")
        assert tab.middle.view.lit is None


def _darkness(image) -> list[int]:  # type: ignore[no-untyped-def]
    return [image.pixelColor(x, y).lightness() for x in range(image.width()) for y in range(image.height())]


def test_an_element_of_a_matrix_is_chosen_by_its_index(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    """Against torch: the gradient of each use of w alone, with the other detached."""
    torch.manual_seed(0)
    x, w = torch.randn(3, 2), torch.randn(2, 2, requires_grad=True)
    with record(tmp_path / "r.gradviz"):
        (torch.tanh(x @ w).sum() + (w * 3).sum()).backward()
    (through_tanh,) = torch.autograd.grad(torch.tanh(x @ w).sum(), w)
    assert w.grad is not None
    window.open_path(str(tmp_path / "r.gradviz"))
    tab = window.current
    assert tab is not None
    qtbot.waitUntil(lambda: tab.drawing.scene is not None, timeout=20_000)
    (leaf,) = [node for node in tab.session.story.timeline.stage.graph.nodes if node.kind == "leaf"]  # type: ignore[union-attr]
    paths = tab.inspector.paths
    with qtbot.waitSignal(paths.shown):
        tab.session.select_nodes([leaf.id])
    for spin, steps in zip(paths.spins, (1, 1), strict=True):
        with qtbot.waitSignal(paths.shown):
            qtbot.keyClick(spin, Qt.Key.Key_Up)
        assert spin.value() == steps
    assert sorted(way.amount for way in paths.ways) == pytest.approx(sorted([3.0, through_tanh[1, 1].item()]), rel=1e-5)
    assert "[1, 1] got" in paths.words.text()
    assert sum(way.amount for way in paths.ways) == pytest.approx(w.grad[1, 1].item(), rel=1e-5)


def test_more_paths_than_can_be_listed_are_told(opened: Open, qtbot: QtBot) -> None:
    """A ladder of 12 rungs, each crossed by two edges: 4,096 paths."""
    ladder = [(k, k + 1) for k in range(12) for _ in range(2)]
    tab = opened(from_edges(ladder, 13))
    with qtbot.waitSignal(tab.inspector.paths.shown):
        tab.session.select(["w12"])
    paths = tab.inspector.paths
    assert 32 < len(paths.ways) <= 64
    assert "more paths than can be listed" in paths.note.text()
    assert paths.list.height() < 7 * paths._painter.height()


def test_a_large_gradient_that_was_not_kept_says_so(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    x = torch.ones(1_000, 100, requires_grad=True)
    with record(tmp_path / "r.gradviz"):
        (x * 2).sum().backward()
    recording = open_recording(str(tmp_path / "r.gradviz"))
    key = next(node.key for node in recording.graph(1).nodes if node.kind == "leaf")
    close_recording(recording)
    window.open_path(str(tmp_path / "r.gradviz"))
    tab = window.current
    assert tab is not None
    qtbot.waitUntil(lambda: tab.drawing.scene is not None, timeout=20_000)
    with qtbot.waitSignal(tab.inspector.paths.shown):
        tab.session.select([key])
    assert "Only a summary" in tab.inspector.paths.words.text()
    assert len(tab.inspector.paths.spins) == 2 and not any(
        spin.isVisibleTo(tab.inspector.paths) for spin in tab.inspector.paths.spins
    )


def test_nothing_is_at_the_mouse_beside_the_list(opened: Open, qtbot: QtBot) -> None:
    tab = opened(fan_in())
    paths = choose(qtbot, tab, "x")
    qtbot.mouseClick(paths.list.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(5, paths.list.height() - 1))
    assert tab.middle.view.lit is None
