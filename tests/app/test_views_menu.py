"""The menu of views: what of the graph is shown after each entry, and when an entry can be used."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QDialogButtonBox
from pytestqt.qtbot import QtBot

from gradviz.app.dialogs.color_range import ColorRange
from gradviz.app.graph import camera as lens
from gradviz.app.main_window import MainWindow
from gradviz.app.workspace import Workspace
from tests.app.conftest import Open
from tests.recordings import fan_in, two_calls
from tests.render.test_outlines import network


def shown(tab: Workspace) -> set[str]:
    """The titles of the boxes."""
    assert tab.drawing.scene is not None
    return {box.card.title for box in tab.drawing.scene.plan.boxes}


def choose(window: MainWindow, tab: Workspace, qtbot: QtBot, text: str) -> None:
    """Open the menu and choose an entry; wait for the new picture."""
    menu = window.menus.views
    menu.refresh()
    action = next(action for action in menu.actions() if action.text().replace("&", "") == text)
    assert action.isEnabled()
    before = shown(tab)
    action.trigger()
    qtbot.waitUntil(lambda: shown(tab) != before, timeout=20_000)


def test_parts_of_the_graph_are_shown_and_undone(opened: Open, window: MainWindow, qtbot: QtBot) -> None:
    tab = opened(fan_in())
    everything = shown(tab)
    assert tab.session.story is not None
    by_name = {node.name: node.key for node in tab.session.story.timeline.stage.graph.nodes}
    tab.session.select([by_name["a"]])
    choose(window, tab, qtbot, "What the selection reaches")
    assert shown(tab) == {"a", "y", "x"}
    choose(window, tab, qtbot, "Everything")
    assert shown(tab) == everything
    choose(window, tab, qtbot, "From the selection to the root")
    assert shown(tab) == {"a", "c"}
    tab.session.undo()
    qtbot.waitUntil(lambda: shown(tab) == everything, timeout=20_000)


def test_between_two_nodes_in_either_order(opened: Open, window: MainWindow, qtbot: QtBot) -> None:
    tab = opened(two_calls())
    tab.session.select(["t1"])
    window.menus.views.refresh()
    entry = next(a for a in window.menus.views.actions() if "two selected" in a.text())
    assert not entry.isEnabled()
    assert tab.session.story is not None
    keys = {node.name: node.key for node in tab.session.story.timeline.stage.graph.nodes}
    tab.session.select([keys["t1"], keys["t2"]])
    choose(window, tab, qtbot, "Between the two selected nodes")
    assert shown(tab) == {"t1", "t2"}


def test_leaves_go_into_their_operation(opened: Open, window: MainWindow, qtbot: QtBot) -> None:
    tab = opened(two_calls())
    choose(window, tab, qtbot, "Leaves inside their operation")
    assert shown(tab) == {"t2", "t3"}
    choose(window, tab, qtbot, "Leaves inside their operation")
    assert shown(tab) == {"t1", "t2", "t3"}


def test_an_empty_view_is_said_and_not_shown(opened: Open, window: MainWindow) -> None:
    tab = opened(two_calls())
    menu = window.menus.views
    menu.refresh()
    next(action for action in menu.actions() if "no gradient" in action.text().replace("&", "")).trigger()
    assert tab.session.view.filters == ()
    assert "Nothing" in window.statusBar().currentMessage()


def test_a_frame_folds_its_group(opened: Open, qtbot: QtBot) -> None:
    tab = opened(network(3))
    scene, view = tab.drawing.scene, tab.middle.view
    assert scene is not None
    outline = scene.outlines[0]
    left, top, right, _ = outline.bounds

    def pixel(x: float) -> QPoint:
        return QPointF(*lens.to_widget(view.camera, view.extent, x, top + 12.0)).toPoint()

    assert outline.group.label in view.words_at(pixel(left + 30).toPointF())
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=pixel(left + 30))
    assert tab.session.view.folded == ()
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=pixel(right - 18))
    qtbot.waitUntil(lambda: outline.group.label in shown(tab), timeout=20_000)
    assert tab.session.view.folded == (outline.group.key,)


def test_the_range_of_the_colours_is_fixed_by_keys_and_undone(opened: Open, window: MainWindow, qtbot: QtBot) -> None:
    tab = opened(fan_in())
    assert tab.drawing.scene is not None
    found = tab.drawing.scene.plan.scale
    window.menus.views.refresh()
    next(a for a in window.menus.views.actions() if "colours" in a.text()).trigger()
    dialog = tab.middle.findChild(ColorRange)
    assert dialog is not None and not dialog.fixed.isChecked() and not dialog.low.isEnabled()
    qtbot.keyClick(dialog.fixed, Qt.Key.Key_Space)
    for box, text in ((dialog.low, "-6"), (dialog.high, "-7")):
        box.selectAll()
        qtbot.keyClicks(box, text)
    ok = dialog.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Ok)
    assert not ok.isEnabled()  # nothing lies between
    dialog.high.selectAll()
    qtbot.keyClicks(dialog.high, "2")
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    assert tab.session.view.scale_range == (-6.0, 2.0)

    def scale() -> tuple[float, float, bool]:
        shown = tab.drawing.scene
        assert shown is not None
        return shown.plan.scale.low, shown.plan.scale.high, shown.plan.scale.fixed

    qtbot.waitUntil(lambda: scale() == (-6.0, 2.0, True), timeout=20_000)
    tab.session.undo()
    qtbot.waitUntil(lambda: scale() == (found.low, found.high, False), timeout=20_000)
