"""Without a mouse and without eyes: names for everything, and all of it within reach of the keyboard."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gradviz.app.main_window import MainWindow
from tests.app.conftest import Open
from tests.recordings import fan_in, two_calls

CONTROLS = (QAbstractButton, QAbstractItemView, QAbstractSlider, QAbstractSpinBox, QComboBox, QLineEdit, QPlainTextEdit)


def name_of(widget: QWidget) -> str:
    interface = QAccessible.queryAccessibleInterface(widget)
    return "" if interface is None else interface.text(QAccessible.Text.Name).strip()


def controls(window: QWidget) -> list[QWidget]:
    """What can be operated, without the inner parts that Qt makes for itself."""
    found = [widget for kind in CONTROLS for widget in window.findChildren(kind) if widget.isVisible()]
    inner = ("qt_", "ScrollLeftButton", "ScrollRightButton")
    return [w for w in found if not w.objectName().startswith(inner) and not isinstance(w, QScrollBar)]


def test_every_control_has_a_name(opened: Open, window: MainWindow, qtbot: QtBot) -> None:
    tab = opened(two_calls())
    with qtbot.waitSignal(tab.inspector.shown):
        tab.session.select(["t1"])
    qtbot.keyClick(window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    found = controls(window)
    assert len(found) > 20
    assert not [f"{type(w).__name__} {w.objectName()}" for w in found if not name_of(w)]


def test_every_control_of_the_question_has_a_name(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text("pass")
    window.open_path(str(path))
    assert window.current is not None
    assert not [type(w).__name__ for w in controls(window.current.middle.ask) if not name_of(w)]


def test_boxes_are_read_with_their_gradients(opened: Open) -> None:
    tab = opened(fan_in())
    interface = QAccessible.queryAccessibleInterface(tab.middle.view)
    assert interface.childCount() == 5
    names = [interface.child(place).text(QAccessible.Text.Name) for place in range(5)]
    assert names == [
        "c, Add, gradient 1",
        "b, Mul, gradient 1",
        "a, Mul, gradient 1",
        "y, Mul, gradient 7",
        "x, leaf, gradient 21",
    ]
    tab.session.player.seek(0.0)
    assert interface.child(3).text(QAccessible.Text.Name) == "y, Mul"
    tab.session.select_nodes([3])
    assert interface.child(3).state().selected
    assert not interface.child(0).state().selected
    assert interface.rect().contains(interface.child(3).rect().center())


def test_tab_reaches_graph_transport_and_panels(opened: Open, window: MainWindow, qtbot: QtBot) -> None:
    tab = opened(two_calls())
    window.activateWindow()
    tab.middle.view.setFocus()
    seen: list[QWidget] = []
    for _ in range(120):
        focus = window.focusWidget()
        assert focus is not None
        if focus in seen[:-1]:
            break
        seen += [focus] if focus not in seen else []  # the first key takes the link in a label, the second goes on
        qtbot.keyClick(focus, Qt.Key.Key_Tab)
    for wanted in (tab.middle.view, tab.transport.slider, tab.calls.tree, tab.source.view, tab.console.view):
        assert wanted in seen, wanted


def test_the_tree_of_calls_is_operated_by_keyboard(opened: Open, qtbot: QtBot) -> None:
    tab = opened(two_calls())
    tree = tab.calls.tree
    tree.setFocus()
    tree.setCurrentIndex(tab.calls.model.index(0, 0))
    qtbot.keyClick(tree, Qt.Key.Key_Return)
    assert tab.session.current_call is not None
    assert tab.session.current_call.label == "1"
