"""The window with recordings from memory: what it shows, and what keys and clicks do to it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from gradviz.app.graph import camera as lens
from gradviz.app.main_window import MainWindow
from gradviz.app.workspace import Workspace
from gradviz.model import Camera
from tests.app.conftest import Open
from tests.recordings import SCRIPT, fan_in, from_edges, leaf_root, loop, no_seed, two_calls


def key(tab: Workspace, name: str) -> int:
    """The id of the node with this name."""
    assert tab.session.story is not None
    return next(n.id for n in tab.session.story.timeline.stage.graph.nodes if n.name == name)


def pixel_of(tab: Workspace, name: str) -> QPoint:
    """The middle of a node's card in pixels of the graph view."""
    scene, view = tab.drawing.scene, tab.middle.view
    assert scene is not None
    box = scene.box_of(key(tab, name))
    assert box is not None
    left, top, right, bottom = scene.cards[box.index]
    x, y = lens.to_widget(view.camera, view.extent, (left + right) / 2, (top + bottom) / 2)
    return QPoint(round(x), round(y))


def click(qtbot: QtBot, tab: Workspace, name: str) -> None:
    """Click a node and wait until the inspector tells of it."""
    with qtbot.waitSignal(tab.inspector.shown):
        qtbot.mouseClick(tab.middle.view, Qt.MouseButton.LeftButton, pos=pixel_of(tab, name))


def facts(tab: Workspace) -> dict[str, str]:
    """The rows of the inspector; of several rows with one label the first."""
    found: dict[str, str] = {}
    for fact in tab.inspector.rows.facts:
        found.setdefault(fact.label, fact.text)
    return found


class TestGraph:
    def test_the_end_is_shown_first(self, opened: Open) -> None:
        tab = opened(two_calls())
        assert tab.middle.page == "graph"
        assert tab.middle.header.title.text().startswith("Call 2 of 2")
        assert "t1.grad = 24" in tab.middle.header.sentence.text()

    def test_a_click_on_a_node_selects_it_and_shows_its_numbers(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(two_calls())
        click(qtbot, tab, "t2")
        assert tab.inspector.name.text() == "t2"
        rows = facts(tab)
        assert rows["shape"] == "() float32 cpu"
        assert rows["data"] == "12"
        assert rows["arrived, call 2"] == "5 from t3"
        assert rows["left, call 2"] == "20 to t1"
        assert rows["saved"] == "other = 4"
        assert rows["retains grad"] == "yes"

    def test_a_click_on_the_paper_selects_nothing(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(two_calls())
        click(qtbot, tab, "t2")
        assert tab.inspector.hint.isHidden()
        with qtbot.waitSignal(tab.inspector.shown):
            qtbot.mouseClick(tab.middle.view, Qt.MouseButton.LeftButton, pos=QPoint(4, 4))
        assert tab.session.view.selected == ()
        assert tab.inspector.hint.isVisible()
        assert tab.inspector.name.text() == "t3"

    def test_the_root_is_told_of_before_anything_is_chosen(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(two_calls())
        qtbot.waitUntil(lambda: tab.inspector.name.text() == "t3")  # the root of the second call
        assert facts(tab)["arrived, call 2"] == "1 from the seed"
        tab.session.player.seek(1.0)
        qtbot.waitUntil(lambda: tab.inspector.name.text() == "t2")  # that of the first

    def test_control_click_adds_and_takes_away(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(two_calls())
        click(qtbot, tab, "t2")
        control = Qt.KeyboardModifier.ControlModifier
        for expected in (2, 1):
            qtbot.mouseClick(tab.middle.view, Qt.MouseButton.LeftButton, control, pixel_of(tab, "t1"))
            assert len(tab.session.selected_ids) == expected

    def test_a_drag_pans_and_selects_nothing(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(two_calls())
        view = tab.middle.view
        before, start = view.camera, pixel_of(tab, "t2")
        qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=start)
        for step in (20, 60, 100):
            qtbot.mouseMove(view, start + QPoint(step, 0))
        qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, pos=start + QPoint(100, 0))
        assert view.camera.x == pytest.approx(before.x - 100 / before.zoom, abs=1)
        assert view.camera.zoom == before.zoom
        assert tab.session.view.selected == ()

    def test_zoom_keeps_the_point_under_the_mouse(self, opened: Open) -> None:
        view = opened(two_calls()).middle.view
        at = QPointF(300, 200)
        before = lens.to_scene(view.camera, view.extent, at.x(), at.y())
        view.zoom_by(1.5, at)
        assert lens.to_scene(view.camera, view.extent, at.x(), at.y()) == pytest.approx(before)

    def test_keys_zoom_and_fit(self, opened: Open, window: MainWindow, qtbot: QtBot) -> None:
        tab = opened(two_calls())
        view = tab.middle.view
        tab.session.player.reduced_motion = True
        fitted = view.camera
        qtbot.keyClick(window, Qt.Key.Key_Plus, Qt.KeyboardModifier.ControlModifier)
        assert view.camera.zoom == pytest.approx(fitted.zoom * 1.25)
        qtbot.keyClick(window, Qt.Key.Key_0, Qt.KeyboardModifier.ControlModifier)
        assert view.camera == fitted

    def test_the_seed_and_its_error_are_on_the_picture(self, opened: Open) -> None:
        tab = opened(no_seed())
        assert "grad can be implicitly created only for scalar outputs" in tab.middle.header.sentence.text()

    def test_a_leaf_as_root(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(leaf_root())
        click(qtbot, tab, "x")
        assert facts(tab)["arrived, call 1"] == "[[2, 2], [2, 2]] from the seed"

    def test_terms_of_a_fan_in_are_told_apart(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(fan_in())
        click(qtbot, tab, "y")
        texts = [fact.text for fact in tab.inspector.rows.facts]
        assert facts(tab)["arrived, call 1"] == "7"
        assert {"+ 5 from b", "+ 2 from a"} <= set(texts)


class TestTransport:
    def test_space_plays_from_the_start_and_pauses(self, opened: Open, window: MainWindow, qtbot: QtBot) -> None:
        player = opened(two_calls()).session.player
        with qtbot.waitSignal(player.moved):
            qtbot.keyClick(window, Qt.Key.Key_Space)
        assert player.playing
        assert player.t < 1.0
        qtbot.keyClick(window, Qt.Key.Key_Space)
        assert not player.playing

    def test_arrows_step_by_beat_and_by_call(self, opened: Open, window: MainWindow, qtbot: QtBot) -> None:
        tab = opened(two_calls())
        qtbot.keyClick(window, Qt.Key.Key_Home)
        sentences = []
        for _ in range(3):
            qtbot.keyClick(window, Qt.Key.Key_Right)
            sentences.append(tab.middle.header.sentence.text())
        assert "the implicit seed 1 enters at t2" in sentences[0]
        assert "t2 hands 1 · 4 = 4 to t1" in sentences[1]
        assert "t1.grad: None → 4" in sentences[2]
        qtbot.keyClick(window, Qt.Key.Key_Left)
        assert tab.middle.header.sentence.text() == sentences[1]
        qtbot.keyClick(window, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
        assert tab.middle.header.title.text().startswith("Call 2 of 2")
        qtbot.keyClick(window, Qt.Key.Key_End)
        assert tab.session.player.at_end

    def test_a_click_on_the_time_line_goes_there(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(two_calls())
        slider = tab.transport.slider
        place = QPoint(round(slider.x_of(4.5)), slider.height() // 2)
        qtbot.mouseClick(slider, Qt.MouseButton.LeftButton, pos=place)
        assert tab.session.player.t == pytest.approx(4.5, abs=0.05)
        assert "5" in slider.accessibleDescription()

    def test_a_call_of_the_list_is_shown(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(two_calls())
        tree = tab.calls.tree
        area = tree.visualRect(tab.calls.model.index(0, 0))
        qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=area.center())
        assert tab.session.current_call is not None
        assert tab.session.current_call.label == "1"
        assert tab.middle.header.title.text().startswith("Call 1 of 2")

    def test_the_speed_is_chosen_by_key(self, opened: Open, window: MainWindow, qtbot: QtBot) -> None:
        tab = opened(two_calls())
        qtbot.keyClick(window, Qt.Key.Key_BracketRight)
        assert tab.session.player.speed == 2.0
        assert tab.transport.speed.currentText() == "2×"
        qtbot.keyClick(window, Qt.Key.Key_BracketLeft)
        assert tab.session.player.speed == 1.0

    def test_the_wave_front_can_be_undone(self, opened: Open, window: MainWindow, qtbot: QtBot) -> None:
        tab = opened(fan_in())
        session = tab.session
        with qtbot.waitSignal(session.story_changed):
            window.actions_by_name["wave-front"].trigger()
        assert session.story is not None
        assert session.story.timeline.order == "wavefront"
        with qtbot.waitSignal(session.story_changed):
            qtbot.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        assert session.story.timeline.order == "engine"

    def test_play_to_a_node_stops_there(self, opened: Open, window: MainWindow, qtbot: QtBot) -> None:
        tab = opened(two_calls())
        player = tab.session.player
        player.set_speed(20.0)
        click(qtbot, tab, "t3")
        with qtbot.waitSignal(player.playing_changed, check_params_cb=lambda playing: not playing, timeout=10_000):
            qtbot.keyClick(window, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        frame = player.frame
        assert frame is not None
        assert frame.beat is not None
        assert frame.beat.nodes == (key(tab, "t3"),)


class TestSource:
    def test_lines_that_made_nodes_are_marked(self, opened: Open) -> None:
        view = opened(two_calls()).source.view
        marked = {line for line in range(1, 14) if view.mark(line) is not None}
        assert marked == {3, 5, 10}
        mark = view.mark(5)
        assert mark is not None
        assert mark.tip == "made 1 node: t2\nlargest gradient ‖5‖"
        assert mark.heat is not None

    def test_a_click_on_a_line_selects_its_node(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(two_calls())
        view = tab.source.view
        line = view.cursorRect(line_cursor(view, 5)).center()
        with qtbot.waitSignal(tab.inspector.shown):
            qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=line)
        assert tab.inspector.name.text() == "t2"

    def test_a_click_on_the_line_of_a_call_shows_the_call(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(two_calls())
        view = tab.source.view
        line = view.cursorRect(line_cursor(view, 8)).center()
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=line)
        assert tab.session.current_call is not None
        assert tab.session.current_call.label == "1"

    def test_the_call_and_the_node_at_work_are_tinted(self, opened: Open, window: MainWindow) -> None:
        tab = opened(two_calls())
        tab.session.player.seek(5.5)  # call 2: seed, t3, t2 at work
        assert tab.source.view.tints == {13: window.look.accent_soft, 5: window.look.leaf_soft}

    def test_the_line_of_an_error_is_underlined(self, opened: Open) -> None:
        tab = opened(no_seed())
        assert list(tab.source.view.errors) == [8]
        assert tab.source.file == SCRIPT


class TestPictures:
    def test_the_picture_shows_the_paper_and_the_leaf(self, opened: Open, window: MainWindow) -> None:
        tab = opened(two_calls())
        picture = tab.middle.view.picture
        assert picture is not None
        assert picture.pixelColor(3, 3) == QColor(window.look.colors.paper)
        scene, view = tab.drawing.scene, tab.middle.view
        assert scene is not None
        box = scene.box_of(key(tab, "t1"))
        assert box is not None
        left, top, _, bottom = scene.cards[box.index]
        x, y = lens.to_widget(view.camera, view.extent, left + 5, (top + bottom) / 2)  # beside the numbers
        ratio = picture.width() / view.width()
        seen = picture.pixelColor(round(x * ratio), round(y * ratio))
        assert seen == QColor(window.look.colors.leaf_fill)

    def test_calls_have_their_colours(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(two_calls())
        assert tab.session.call_place(1) == 0
        assert tab.session.call_place(2) == 1
        with qtbot.waitSignal(tab.inspector.shown):
            tab.session.select(["t1"])
        words = [tab.inspector.bars.words(state) for state in tab.inspector.bars.states]
        assert words[0] == "t1.grad = 4 + 20 = 24"
        assert "t2.grad = 1 + 5 = 6" in words

    def test_a_loop_is_folded_in_the_list(self, opened: Open) -> None:
        tab = opened(loop(6))
        assert tab.calls.model.rowCount() == 1
        assert tab.calls.model.entry(tab.calls.model.index(0, 0)).detail.startswith("× 6 · ")


def line_cursor(view: object, line: int) -> object:
    """A text cursor in a line (from 1)."""
    from PySide6.QtGui import QTextCursor
    from PySide6.QtWidgets import QPlainTextEdit

    assert isinstance(view, QPlainTextEdit)
    return QTextCursor(view.document().findBlockByNumber(line - 1))


class TestGoingAround:
    def test_control_arrows_follow_edges(self, opened: Open, window: MainWindow, qtbot: QtBot) -> None:
        tab = opened(fan_in())  # gradient flows from c at the right to x at the left
        control = Qt.KeyboardModifier.ControlModifier
        seen = []
        for where in (Qt.Key.Key_Left, Qt.Key.Key_Left, Qt.Key.Key_Left, Qt.Key.Key_Left, Qt.Key.Key_Right):
            qtbot.keyClick(window, where, control)
            node = tab.session.selected_node
            assert node is not None
            seen.append(node.name)
        assert seen[0] == "c"  # without a selection it begins where the seed enters
        assert seen[1] in ("a", "b")
        assert seen[2:] == ["y", "x", "y"]

    def test_up_and_down_go_to_what_lies_beside(self, opened: Open, window: MainWindow, qtbot: QtBot) -> None:
        tab = opened(fan_in())
        tab.session.select_nodes([key(tab, "a")])
        lower = pixel_of(tab, "a").y() < pixel_of(tab, "b").y()
        qtbot.keyClick(window, Qt.Key.Key_Down if lower else Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
        assert tab.session.selected_node is not None
        assert tab.session.selected_node.name == "b"

    def test_upstream_and_downstream_are_lit(self, opened: Open, window: MainWindow, qtbot: QtBot) -> None:
        tab = opened(fan_in())
        scene = tab.drawing.scene
        assert scene is not None
        names = {box.index: scene.plan.timeline.stage.graph.by_id[box.nodes[0]].name for box in scene.plan.boxes}
        tab.session.select_nodes([key(tab, "a")])
        qtbot.keyClick(window, Qt.Key.Key_U)
        lit = tab.middle.view.lit
        assert lit is not None
        assert {names[index] for index in lit} == {"c", "a"}
        qtbot.keyClick(window, Qt.Key.Key_D)
        lit = tab.middle.view.lit
        assert lit is not None
        assert {names[index] for index in lit} == {"a", "y", "x"}
        assert window.actions_by_name["downstream"].isChecked()
        qtbot.keyClick(window, Qt.Key.Key_D)
        assert tab.middle.view.lit is None

    def test_bookmarks_are_undone_and_gone_through(self, opened: Open, window: MainWindow, qtbot: QtBot) -> None:
        tab = opened(two_calls())
        control, both = (
            Qt.KeyboardModifier.ControlModifier,
            (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier),
        )
        for name in ("t1", "t3"):
            tab.session.select_nodes([key(tab, name)])
            qtbot.keyClick(window, Qt.Key.Key_B, control)
        assert len(tab.session.view.bookmarks) == 2
        names = []
        for _ in range(3):
            qtbot.keyClick(window, Qt.Key.Key_B, both)
            assert tab.session.selected_node is not None
            names.append(tab.session.selected_node.name)
        assert names == ["t1", "t3", "t1"]
        qtbot.keyClick(window, Qt.Key.Key_Z, control)
        assert len(tab.session.view.bookmarks) == 1

    def test_back_and_forward_visit_places(self, opened: Open, window: MainWindow, qtbot: QtBot) -> None:
        tab = opened(two_calls())
        for name in ("t1", "t2"):
            tab.session.select_nodes([key(tab, name)])
        qtbot.keyClick(window, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
        assert tab.session.selected_node is not None
        assert tab.session.selected_node.name == "t1"
        qtbot.keyClick(window, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
        assert tab.session.selected_node.name == "t2"

    def test_find_lists_and_chooses(self, opened: Open, window: MainWindow, qtbot: QtBot) -> None:
        tab = opened(fan_in())
        bar = tab.middle.find_bar
        qtbot.keyClick(window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
        assert bar.isVisible()
        qtbot.keyClicks(bar.line, "mul")
        qtbot.waitUntil(lambda: bar.model.rowCount() == 3)
        assert bar.count.text() == "3 nodes"
        qtbot.keyClick(bar.line, Qt.Key.Key_Down)
        qtbot.keyClick(bar.line, Qt.Key.Key_Return)
        assert tab.session.selected_node is not None
        assert tab.session.selected_node.name == "a"
        qtbot.keyClick(bar.line, Qt.Key.Key_Escape)
        assert not bar.isVisible()

    def test_the_palette_runs_an_action(self, opened: Open, window: MainWindow, qtbot: QtBot) -> None:
        tab = opened(two_calls())
        palette = window.show_palette()
        qtbot.keyClicks(palette.line, "to the start")
        qtbot.keyClick(palette.line, Qt.Key.Key_Return)
        assert tab.session.player.t == 0.0

    def test_the_palette_gives_the_keyboard_back(self, opened: Open, window: MainWindow, qtbot: QtBot) -> None:
        tab = opened(two_calls())
        qtbot.waitActive(window)
        tab.middle.view.setFocus()
        for key in (Qt.Key.Key_Escape, Qt.Key.Key_Return):
            palette = window.show_palette()
            assert palette.line.hasFocus()
            qtbot.keyClicks(palette.line, "to the start")
            qtbot.keyClick(palette.line, key)
            qtbot.waitUntil(lambda: not isValid(palette))  # noqa: B023 (waited for right here)
            assert tab.middle.view.hasFocus()

    def test_the_map_moves_what_is_seen(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(from_edges([(k, k + 1) for k in range(59)], 60))
        view, small = tab.middle.view, tab.middle.map
        assert not small.isVisible()
        if tab.drawing.map is None:
            with qtbot.waitSignal(tab.drawing.map_changed):
                pass
        view.set_zoom(2.0)
        qtbot.waitUntil(small.isVisible)
        before = view.camera
        qtbot.mouseClick(small, Qt.MouseButton.LeftButton, pos=QPoint(20, 65))
        assert view.camera.zoom == before.zoom
        seen = small.seen_rect()
        assert seen.center().x() == pytest.approx(20, abs=1.5)

    def test_an_edge_is_told_by_a_click(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(fan_in())
        scene, view = tab.drawing.scene, tab.middle.view
        assert scene is not None
        link = next(
            link for link in scene.plan.links if scene.plan.timeline.stage.graph.edges[link.edges[0]].source == 1
        )
        x, y = lens.to_widget(view.camera, view.extent, *scene.routes[link.index].at(0.12))
        with qtbot.waitSignal(tab.inspector.shown):
            qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(round(x), round(y)))
        assert tab.inspector.name.text() == "b → y"
        assert facts(tab)["call 1"] == "5"
        assert facts(tab)["of the sum there"] == "5 of 7  (71%)"

    def test_the_rule_has_the_numbers_put_in(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(two_calls())
        click(qtbot, tab, "t2")
        (rule,) = tab.inspector.rules.rules
        assert rule.notation == "∂L/∂t1 = ∂L/∂t2 · other"
        assert rule.numbers == "5 · 4 = 20"


class TestGroups:
    def test_a_group_is_unfolded_and_folded(self, opened: Open, window: MainWindow, qtbot: QtBot) -> None:
        tab = opened(from_edges([(k, k + 1) for k in range(199)], 200))
        scene = tab.drawing.scene
        assert scene is not None
        folded = len(scene.plan.boxes)
        group = next(box for box in scene.plan.boxes if box.kind == "group")
        with qtbot.waitSignal(tab.inspector.shown):
            tab.session.select([tab.drawing.key_of(group) or ""])
        assert facts(tab)["nodes"] == f"{len(group.nodes)}"
        both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        with qtbot.waitSignal(tab.drawing.scene_changed):
            qtbot.keyClick(window, Qt.Key.Key_BracketRight, both)
        assert tab.drawing.scene is not None
        assert len(tab.drawing.scene.plan.boxes) > folded
        with qtbot.waitSignal(tab.drawing.scene_changed):
            qtbot.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        assert len(tab.drawing.scene.plan.boxes) == folded
        with qtbot.waitSignal(tab.drawing.scene_changed):
            window.actions_by_name["unfold-all"].trigger()
        assert len(tab.drawing.scene.plan.boxes) == 200

    def test_a_graph_that_moves_out_of_sight_is_followed(self, opened: Open, qtbot: QtBot) -> None:
        """Folding what was looked at can leave nothing where the camera is."""
        tab = opened(from_edges([(k, k + 1) for k in range(199)], 200))
        scene, view = tab.drawing.scene, tab.middle.view
        assert scene is not None
        chosen = tab.drawing.key_of(next(box for box in scene.plan.boxes if box.kind == "group")) or ""
        tab.session.glance(camera=Camera(90_000.0, 90_000.0, 1.0))
        qtbot.waitUntil(lambda: view.camera.x == 90_000.0)
        with qtbot.waitSignal(tab.drawing.scene_changed):
            tab.unfold(chosen)
        made = tab.drawing.scene
        assert made is not None
        qtbot.waitUntil(lambda: any(True for _ in made.boxes_in(lens.seen(view.camera, view.extent))))


class TestTips:
    def test_a_box_and_an_edge_tell_what_they_are(self, opened: Open) -> None:
        tab = opened(two_calls())
        view = tab.middle.view
        tip = view.words_at(QPointF(pixel_of(tab, "t2")))
        assert tip.splitlines() == ["t2, Mul, gradient 5", "line 5", "() float32"]
        assert view.words_at(QPointF(2, 2)) == ""
        scene = tab.drawing.scene
        assert scene is not None
        edges = scene.plan.timeline.stage.graph.edges
        link = next(link for link in scene.plan.links if edges[link.edges[0]].source == key(tab, "t3"))
        x, y = lens.to_widget(view.camera, view.extent, *scene.routes[link.index].at(0.2))
        assert view.words_at(QPointF(x, y)) == "t3 → t2: 5"
