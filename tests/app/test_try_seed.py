"""Trying other seeds in the window, by keys and clicks: numbers against hand-computed ones and torch."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch
from PySide6.QtCore import QPoint, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gradviz.app.application import Application
from gradviz.app.dialogs.seed_editor import SeedEditor
from gradviz.app.dialogs.step_aside import place_aside
from gradviz.app.dialogs.try_seed import TrySeed
from gradviz.app.graph.compare_window import CompareWindow
from gradviz.app.main_window import MainWindow
from gradviz.app.workspace import Workspace
from gradviz.model import Call
from gradviz.store.reader import close_recording, open_recording
from tests.app.test_held_calls import is_gone
from tests.app.test_running import open_trusted, run_to_end, script

STOPPED = "The script was stopped before it came to call 1."
LEFT = Qt.MouseButton.LeftButton
# By hand: Z = A B, so a seed v brings A.grad = v Bᵀ and B.grad = Aᵀ v.
MATMUL = """import torch
A = torch.tensor([[1., 2.]], requires_grad=True)
B = torch.tensor([[10., 20., 30.], [100., 200., 300.]], requires_grad=True)
G1 = torch.tensor([[0., 2., 0.]])
Z = A @ B
Z.backward(torch.tensor([[1., 0., 0.]]))
"""
SCALAR = """import torch
x = torch.tensor([5., 5.], requires_grad=True)
y = torch.tensor([8., 9.], requires_grad=True)
A = x * y
A.backward()
"""
HOOKED = """import os, torch
del os.fork  # as on a system that has none
a = torch.tensor([3., 4.], requires_grad=True)
b = torch.tensor([5., 6.], requires_grad=True)
def double(g):
    return 2 * g
y = a * b
y.register_hook(double)
y.backward(torch.ones(2))
"""
FREED = """import torch
x = torch.tensor([1., 2.], requires_grad=True)
y = (x * x).sum()
y.backward()
y.backward()
"""


def show(window: MainWindow, qtbot: QtBot, folder: Path, text: str) -> Workspace:
    """Run a script and wait for its picture."""
    tab = run_to_end(window, qtbot, script(folder, text))
    qtbot.waitUntil(lambda: tab.drawing.scene is not None and tab.session.story is not None, timeout=30_000)
    qtbot.waitUntil(lambda: tab.middle.view.shown is not None, timeout=30_000)
    return tab


def ready(tab: Workspace, qtbot: QtBot) -> TrySeed:
    """The dialog, when its call is held and its seeds are checked."""
    dialog = tab.seeds.dialog
    assert dialog is not None

    def is_ready() -> bool:
        return dialog.ready and all(e.fit is not None or e.error for e in dialog.editors)

    qtbot.waitUntil(is_ready, timeout=60_000)
    return dialog


def open_by_key(window: MainWindow, tab: Workspace, qtbot: QtBot) -> TrySeed:
    tab.middle.view.setFocus()
    qtbot.keyClick(tab.middle.view, Qt.Key.Key_T)
    return ready(tab, qtbot)


def type_seed(editor: SeedEditor, qtbot: QtBot, text: str) -> None:
    """Type a seed and wait until it has been checked."""
    editor.line.setFocus()
    editor.line.selectAll()
    qtbot.keyClicks(editor.line, text)
    assert editor.line.text() == text
    qtbot.waitUntil(lambda: editor.fit is not None or bool(editor.error), timeout=30_000)


def press_enter(tab: Workspace, qtbot: QtBot) -> Call:
    """Run what the dialog says; the experiment, when it is on the graph."""
    dialog = tab.seeds.dialog
    assert dialog is not None
    with qtbot.waitSignal(dialog.tried, timeout=60_000) as blocker:
        qtbot.keyClick(dialog.editors[0].line, Qt.Key.Key_Return)
    assert blocker.args is not None
    recording = tab.session.recording
    assert recording is not None
    return recording.call_by_label(blocker.args[0])


def came(tab: Workspace, call: Call, name: str) -> Any:
    """What an experiment brought to a leaf."""
    recording = tab.session.recording
    assert recording is not None
    found = next(entry for entry in recording.detail(call.number).accumulations if entry.name == name)
    assert found.incoming is not None
    return found.incoming.nested()


def cell(editor: SeedEditor, row: int, column: int) -> QPoint:
    table = editor.grid.table
    return table.visualRect(editor.grid.model.index(row, column)).center()


@pytest.mark.parametrize("size", [QSize(480, 470), QSize(700, 900)])
def test_the_dialog_does_not_stand_on_the_drawn_root(size: QSize) -> None:
    screen = QRect(0, 0, 1600, 1000)
    middle_right = QRect(1000, 350, 200, 250)
    for spare in ([], [middle_right], [QRect(20, 300, 200, 200)], [QRect(1100, 60, 300, 200)]):
        place = QRect(place_aside(size, screen, spare), size)
        assert screen.contains(place)
        assert not any(place.intersects(rect) for rect in spare)
    assert place_aside(QSize(480, 470), screen, []).x() > 1000  # at the right where nothing is in its way


class TestTrying:
    def test_an_expression_is_run_listed_and_played(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab = show(window, qtbot, tmp_path, MATMUL)
        dialog = open_by_key(window, tab, qtbot)
        editor = dialog.editors[0]
        assert editor.line.text() == "[[1, 0, 0]]"  # the script's own
        type_seed(editor, qtbot, "G1 * 3")
        assert editor.message.text() == "It fits: shape (1, 3), float32."
        call = press_enter(tab, qtbot)
        a = torch.tensor([[1.0, 2.0]], requires_grad=True)
        b = torch.tensor([[10.0, 20, 30], [100, 200, 300]], requires_grad=True)
        (a @ b).backward(torch.tensor([[0.0, 6.0, 0.0]]))
        assert a.grad is not None and b.grad is not None
        assert came(tab, call, "A") == a.grad.tolist() == [[120.0, 1200.0]]
        assert came(tab, call, "B") == b.grad.tolist()
        assert (call.label, call.what_if) == ("1?1", True)
        assert tab.session.current_call == call
        assert tab.session.player.playing or tab.session.player.at_end
        heading = tab.session.entries[-1]
        assert (heading.title, heading.children[0].number) == ("What-ifs", call.number)
        assert heading.children[0].title == "seed G1 * 3 at Z"
        assert heading.children[0].detail == "what-if 1 on call 1 · seed [[0, 6, 0]] · 3 nodes"
        assert "what-if 1 on call 1" in dialog.answer.text()
        type_seed(editor, qtbot, "G1 * 4")
        with qtbot.waitSignal(dialog.tried, timeout=60_000):
            qtbot.mouseClick(dialog.run_button, Qt.MouseButton.LeftButton)
        assert dialog.focusWidget() is editor.line  # where the next seed is typed

    def test_a_second_one_stands_beside_the_first(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab = show(window, qtbot, tmp_path, MATMUL)
        editor = open_by_key(window, tab, qtbot).editors[0]
        type_seed(editor, qtbot, "ones")
        first = press_enter(tab, qtbot)
        type_seed(editor, qtbot, "zeros")
        second = press_enter(tab, qtbot)
        assert [first.label, second.label] == ["1?1", "1?2"]
        assert came(tab, first, "A") == [[60.0, 600.0]]
        assert came(tab, second, "A") == [[0.0, 0.0]]
        colours = {tab.calls.colour_of(call.number).name() for call in tab.session.recording.calls}  # type: ignore[union-attr]
        assert len(colours) == 3
        path = tab.session.loaded.path if tab.session.loaded is not None else ""
        kept = open_recording(path)  # what a file, an export and the next window see
        assert [call.label for call in kept.calls] == ["1", "1?1", "1?2"]
        close_recording(kept)

    def test_findings_stay(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab = show(window, qtbot, tmp_path, MATMUL + "A.sum().backward()\n")
        qtbot.waitUntil(lambda: tab.session.findings != (), timeout=30_000)
        found = tab.session.findings
        open_by_key(window, tab, qtbot)
        press_enter(tab, qtbot)
        assert tab.session.findings == found

    def test_while_the_script_runs(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        """An experiment is laid over the growing recording, and is in it when the script has ended."""
        tab = open_trusted(
            window, script(tmp_path, MATMUL + "print(A.grad, flush=True)\ninput()\nA.sum().backward()\n")
        )
        qtbot.waitUntil(lambda: tab.drawing.scene is not None, timeout=60_000)
        editor = open_by_key(window, tab, qtbot).editors[0]
        type_seed(editor, qtbot, "one_hot(0, 2)")
        call = press_enter(tab, qtbot)
        assert tab.running.alive
        assert came(tab, call, "A") == [[30.0, 300.0]]
        assert [entry.title for entry in tab.session.entries][-1] == "What-ifs"
        qtbot.keyClick(tab.console.input, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: not tab.running.alive and not tab.session.loaded.live, timeout=60_000)  # type: ignore[union-attr]
        recording = tab.session.recording
        assert recording is not None
        assert [call.label for call in recording.calls] == ["1", "2", "1?1"]
        assert came(tab, recording.call_by_label("1?1"), "A") == [[30.0, 300.0]]
        assert recording.detail(1).accumulations[0].left == recording.detail(1).accumulations[0].after

    def test_it_is_kept_when_the_tab_closes_while_the_script_runs(
        self, application: Application, window: MainWindow, qtbot: QtBot, tmp_path: Path
    ) -> None:
        tab = open_trusted(window, script(tmp_path, MATMUL + "input()\n"))
        qtbot.waitUntil(lambda: tab.drawing.scene is not None, timeout=60_000)
        type_seed(open_by_key(window, tab, qtbot).editors[0], qtbot, "one_hot(0, 2)")
        press_enter(tab, qtbot)
        assert tab.running.alive
        window.actions_by_name["close-tab"].trigger()
        recovery = application.services.recovery
        qtbot.waitUntil(lambda: len(recovery.kept()) == 1, timeout=30_000)  # its process has ended
        kept = open_recording(recovery.kept()[0].path)
        assert [call.label for call in kept.calls] == ["1", "1?1"]
        incoming = {entry.name: entry.incoming for entry in kept.detail(2).accumulations}
        assert incoming["A"] is not None and incoming["A"].nested() == [[30.0, 300.0]]
        close_recording(kept)

    def test_an_example_is_run_again_without_a_question(self, window: MainWindow, qtbot: QtBot) -> None:
        """Its recording lies in the package and is not changed: the experiment goes into a copy."""
        path = str(Path(__file__).resolve().parents[2] / "resources" / "examples" / "accumulate.py")
        window.open_path(path)
        tab = window.current
        assert tab is not None
        qtbot.waitUntil(lambda: tab.drawing.scene is not None, timeout=30_000)
        bundled = Path(path).with_suffix(".gradviz")
        before = bundled.read_bytes()
        dialog = open_by_key(window, tab, qtbot)
        assert dialog.warning.isHidden()  # the run is the recorded one
        type_seed(dialog.editors[0], qtbot, "0.5")
        call = press_enter(tab, qtbot)
        assert call.label == "2?1"
        assert came(tab, call, "t1") == 10.0  # d t3 / d t1 = 20
        assert bundled.read_bytes() == before


class TestHeldInPlace:
    def test_hooks_are_named_and_run_only_when_agreed(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        """Where no copy can be made, the script itself waits: an experiment would run the user's hooks there."""
        tab = show(window, qtbot, tmp_path, HOOKED)
        assert tab.held_calls.live() == ()
        dialog = open_by_key(window, tab, qtbot)
        assert dialog.state.text().startswith("The script itself is held at call 1")
        assert dialog.hooks.isVisible() and not dialog.hooks.isChecked()
        assert dialog.hooks.text().startswith("Run my hooks too: double")
        held = tab.running.snapshots.find("1")
        assert held is not None and held.in_place and held.process is not None
        type_seed(dialog.editors[0], qtbot, "one_hot(1)")
        qtbot.keyClick(dialog.editors[0].line, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: "double" in dialog.answer.text(), timeout=30_000)
        assert dialog.answer.property("role") == "error"
        qtbot.waitUntil(dialog.run_button.isEnabled, timeout=30_000)
        qtbot.mouseClick(dialog.hooks, LEFT, pos=QPoint(8, dialog.hooks.height() // 2))
        assert dialog.hooks.isChecked()
        call = press_enter(tab, qtbot)
        assert came(tab, call, "a") == [0.0, 2 * 6.0]  # seed 1, doubled by the hook, times b
        assert came(tab, press_enter(tab, qtbot), "a") == [0.0, 12.0]  # nothing of the first one is left
        qtbot.mouseClick(dialog.end_button, LEFT)
        qtbot.waitUntil(lambda: is_gone(held.process or 0), timeout=20_000)


class TestChoosing:
    def test_elements_rows_and_columns_are_clicked(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        text = MATMUL.replace("[[1., 2.]]", "[[1., 2.], [3., 4.]]").replace("[[1., 0., 0.]]", "[[1., 0, 0], [0, 0, 0]]")
        tab = show(window, qtbot, tmp_path, text)
        editor = open_by_key(window, tab, qtbot).editors[0]
        table = editor.grid.table.viewport()
        qtbot.mouseClick(table, LEFT, pos=cell(editor, 1, 2))
        assert editor.line.text() == "one_hot(1, 2)"
        qtbot.waitUntil(lambda: editor.grid.model.index(1, 2).data() == "1", timeout=30_000)
        assert editor.grid.model.index(0, 0).data() == "0"
        editor.grid.choose_mode("row")
        qtbot.mouseClick(table, LEFT, pos=cell(editor, 1, 0))
        assert editor.line.text() == "row(1)"
        editor.grid.choose_mode("column")
        qtbot.mouseClick(table, LEFT, pos=cell(editor, 0, 1))
        assert editor.line.text() == "column(1)"
        call = press_enter(tab, qtbot)
        # v = [[0, 1, 0], [0, 1, 0]]: A.grad = v Bᵀ
        assert came(tab, call, "A") == [[20.0, 200.0], [20.0, 200.0]]

    def test_numbers_are_typed_into_the_grid(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab = show(window, qtbot, tmp_path, MATMUL)
        editor = open_by_key(window, tab, qtbot).editors[0]
        editor.grid.choose_mode("type")
        table = editor.grid.table
        qtbot.mouseClick(table.viewport(), LEFT, pos=cell(editor, 0, 1))
        box = table.findChild(QLineEdit)
        assert box is not None
        qtbot.keyClicks(box, "2.5")
        qtbot.keyClick(box, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: editor.line.text() == "[[1, 2.5, 0]]")
        call = press_enter(tab, qtbot)
        assert came(tab, call, "A") == [[60.0, 600.0]]

    def test_words_of_the_menu(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab = show(window, qtbot, tmp_path, MATMUL)
        editor = open_by_key(window, tab, qtbot).editors[0]
        menu = editor.choose.menu()
        said = {}
        for action in menu.actions():
            action.trigger()
            said[action.text()] = editor.line.text()
        assert said["Ones"] == "ones"
        assert "tf.gradients" in menu.actions()[0].toolTip()
        assert said["One element (one-hot)"] == "one_hot(0, 0)"
        assert (said["Random numbers"], said["Random signs"]) == ("normal(1)", "signs(2)")
        assert said["The tensor itself"] == "itself"
        editor.line.setText("itself")
        qtbot.waitUntil(lambda: editor.fit is not None and editor.fit.values == [[210.0, 420.0, 630.0]], timeout=30_000)
        editor.line.setText("normal(3)")
        drawn = torch.randn((1, 3), generator=torch.Generator().manual_seed(3)).tolist()
        qtbot.waitUntil(lambda: editor.fit is not None and editor.fit.values == drawn, timeout=30_000)

    def test_numbers_are_pasted(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab = show(window, qtbot, tmp_path, MATMUL)
        editor = open_by_key(window, tab, qtbot).editors[0]
        QGuiApplication.clipboard().setText("1\t2\t3\n")
        editor.paste()
        assert editor.line.text() == "[[1, 2, 3]]"
        QGuiApplication.clipboard().setText("no numbers here")
        editor.paste()
        assert editor.message.text() == "There are no numbers on the clipboard."

    def test_other_roots_and_several_at_once(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        """x -> y -> z: d y / d x = 2 x, d z / d x = 6 x; both seeds at once add up."""
        text = (
            "import torch\nx = torch.tensor([1., 2.], requires_grad=True)\ny = x * x\nz = (y * 3).sum()\nz.backward()\n"
        )
        tab = show(window, qtbot, tmp_path, text)
        dialog = open_by_key(window, tab, qtbot)
        qtbot.mouseClick(dialog.add_button, LEFT)
        own, other = dialog.editors
        names = [other.root.itemText(place) for place in range(other.root.count())]
        other.root.setCurrentIndex(next(place for place, name in enumerate(names) if name.startswith("y · (2,)")))
        assert other.seed == "ones"
        type_seed(other, qtbot, "one_hot(1)")
        type_seed(own, qtbot, "1.0")
        call = press_enter(tab, qtbot)
        assert came(tab, call, "x") == [6.0, 12.0 + 4.0]
        assert [root.name for root in call.roots] == ["z", "y"]

    def test_a_node_of_the_graph_from_its_menu(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        text = "import torch\nx = torch.tensor([1., 2.], requires_grad=True)\n((x * x) * 3).sum().backward()\n"
        tab = show(window, qtbot, tmp_path, text)
        scene = tab.drawing.scene
        assert scene is not None
        graph = scene.plan.timeline.stage.graph
        node = next(node for node in graph.nodes if len(graph.outgoing[node.id]) == 2)  # x * x
        box = scene.box_of(node.id)
        assert box is not None
        menu = tab.seeds.node_menu(box)
        assert menu is not None
        choose(menu, "Try another seed here …")
        dialog = ready(tab, qtbot)
        assert dialog.editors[0].choice is not None
        assert dialog.editors[0].choice.text == f"#{node.id}"
        type_seed(dialog.editors[0], qtbot, "[0, 5]")
        assert came(tab, press_enter(tab, qtbot), "x") == [0.0, 20.0]

    def test_the_drawn_seed_is_clicked(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab = show(window, qtbot, tmp_path, MATMUL)
        view, scene, call = tab.middle.view, tab.drawing.scene, tab.session.current_call
        assert scene is not None and call is not None
        box = scene.plan.boxes_with_seeds[call.number][0]
        bounds, _ = scene.seed_rects(box, call.number)[0]
        centre = view.on_screen(bounds).center()
        assert view.seed_at(QPointF(2, 2)) is None
        qtbot.mouseClick(view, LEFT, pos=centre.toPoint())
        dialog = tab.seeds.dialog
        assert dialog is not None and len(view.drawn_roots()) == 2
        assert not any(dialog.geometry().intersects(rect) for rect in view.drawn_roots())
        assert ready(tab, qtbot).editors[0].choice.text == "root[0]"  # type: ignore[union-attr]

    @pytest.mark.qt_log_ignore("This plugin does not support")  # a menu on a screen that is none
    def test_the_menus_open_where_they_are_asked_for(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        """On a call by the mouse, on the selected node by the keyboard."""
        tab = show(window, qtbot, tmp_path, MATMUL)
        tree, view, scene = tab.calls.tree, tab.middle.view, tab.drawing.scene
        row = tree.visualRect(tab.calls.model.of_call(1)).center()
        ask_menu(tree.viewport(), QContextMenuEvent.Reason.Mouse, row)
        first = press_first(qtbot)
        assert first == "Try another seed …"
        dialog = ready(tab, qtbot)
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
        assert scene is not None
        root = scene.plan.boxes_with_seeds[1][0]
        key = tab.drawing.key_of(root)
        assert key is not None
        tab.session.select([key])
        ask_menu(view, QContextMenuEvent.Reason.Keyboard, QPoint(1, 1))
        assert press_first(qtbot) == "Try another seed here …"
        assert ready(tab, qtbot).editors[0].choice.text == "root[0]"  # type: ignore[union-attr]


def ask_menu(widget: QWidget, reason: QContextMenuEvent.Reason, point: QPoint) -> None:
    QApplication.sendEvent(widget, QContextMenuEvent(reason, point, widget.mapToGlobal(point)))


def press_first(qtbot: QtBot) -> str:
    """Choose the first row of the menu that is open, by keys."""
    qtbot.waitUntil(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    words = menu.actions()[0].text()
    qtbot.keyClick(menu, Qt.Key.Key_Down)
    qtbot.keyClick(menu, Qt.Key.Key_Return)
    return words


def choose(menu: QMenu, words: str) -> None:
    next(action for action in menu.actions() if action.text() == words).trigger()


class TestFailedCalls:
    def test_ones_are_offered_where_a_seed_is_missing(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab = show(window, qtbot, tmp_path, SCALAR)
        dialog = open_by_key(window, tab, qtbot)
        assert dialog.editors[0].line.text() == "ones"
        call = press_enter(tab, qtbot)
        assert (came(tab, call, "x"), came(tab, call, "y")) == ([8.0, 9.0], [5.0, 5.0])
        assert call.error is None

    def test_the_banner_offers_it(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab = show(window, qtbot, tmp_path, SCALAR)
        banner = tab.middle.banner
        qtbot.waitUntil(banner.isVisible, timeout=30_000)
        assert banner.words.text() == "Call 1 failed: its root is not a single number."
        assert banner.button.text() == "Try ones"
        qtbot.mouseClick(banner.button, LEFT)
        assert not banner.isVisible()
        assert ready(tab, qtbot).editors[0].seed == "ones"

    def test_the_finding_offers_it(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        text = MATMUL.replace("[[1., 0., 0.]]", "[1., 0.]")
        tab = show(window, qtbot, tmp_path, text)
        qtbot.waitUntil(lambda: tab.findings.cards != (), timeout=30_000)
        buttons = {button.text(): button for card in tab.findings.cards for button in card.findChildren(QPushButton)}
        qtbot.mouseClick(buttons["Try a seed that fits"], LEFT)
        dialog = ready(tab, qtbot)
        assert dialog.editors[0].seed == "ones"
        assert came(tab, press_enter(tab, qtbot), "A") == [[60.0, 600.0]]

    def test_a_shape_that_does_not_fit_is_told(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab = show(window, qtbot, tmp_path, MATMUL)
        dialog = open_by_key(window, tab, qtbot)
        editor = dialog.editors[0]
        type_seed(editor, qtbot, "torch.ones(1, 2)")
        words = "The root has shape (1, 3), the seed (1, 2): dimension 1 is 3 there and 2 here."
        assert editor.message.text() == words
        assert editor.message.property("role") == "error"
        assert not dialog.run_button.isEnabled()
        type_seed(editor, qtbot, "torch.ones(3, 1)")
        assert editor.nearest.text() == "Use (torch.ones(3, 1)).T"
        qtbot.mouseClick(editor.nearest, LEFT)
        qtbot.waitUntil(lambda: editor.fit is not None and editor.fit.fits, timeout=30_000)
        assert came(tab, press_enter(tab, qtbot), "A") == [[60.0, 600.0]]

    def test_a_freed_graph_offers_the_earlier_call(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab = show(window, qtbot, tmp_path, FREED)
        assert tab.held_calls.readiness("2") == "live"  # a failed call is held too
        tab.seeds.try_call("2")
        dialog = ready(tab, qtbot)
        qtbot.waitUntil(dialog.warning.isVisible, timeout=30_000)
        assert "Call 2 failed because call 1 had freed the graph" in dialog.warning.text()
        qtbot.mouseClick(dialog.earlier_button, LEFT)
        other = ready(tab, qtbot)
        assert other is not dialog
        assert other.call is not None and other.call.label == "1"
        type_seed(other.editors[0], qtbot, "3.0")
        assert came(tab, press_enter(tab, qtbot), "x") == [6.0, 12.0]


BAD = (
    ("1 +", "is not a Python expression"),
    ("1 / 0", "ZeroDivisionError"),
    ("'text'", "gives a str, not a tensor"),
    ("unknown", "NameError"),
    ("ones * 1j", "The seed is complex"),
    ("torch.ones(10**9)", "needs more memory than an experiment may take"),
    ("torch.ones(10**12)", "needs more memory than an experiment may take"),
    ("ones.to('meta')", "lives on meta"),
    ("any(k for k in iter(int, 1))", "took"),  # never ends, and takes no memory
    ("__import__('os')._exit(3)", "exit status 3"),
    ("__import__('os').system('true')", "an experiment may not do this"),
    ("__import__('ctypes').string_at(0)", "The experiment crashed (SIGSEGV)"),
)


class TestBadInput:
    def test_is_told_and_the_next_seed_works(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        """All in one dialog: each bad seed comes after one that worked."""
        tab = show(window, qtbot, tmp_path, MATMUL)
        dialog = open_by_key(window, tab, qtbot)
        editor = dialog.editors[0]
        for count, (seed, words) in enumerate(BAD, 1):
            type_seed(editor, qtbot, seed)
            assert words in editor.message.text()
            assert not dialog.run_button.isEnabled()
            qtbot.keyClick(editor.line, Qt.Key.Key_Return)
            recording = tab.session.recording
            assert recording is not None
            assert len(recording.calls) == count
            type_seed(editor, qtbot, "[[0, 0, 1]]")
            assert came(tab, press_enter(tab, qtbot), "A") == [[30.0, 300.0]]

    def test_nan_is_worth_a_warning(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab = show(window, qtbot, tmp_path, MATMUL)
        editor = open_by_key(window, tab, qtbot).editors[0]
        type_seed(editor, qtbot, "ones * float('nan')")
        assert "3 elements that are nan or infinite" in editor.message.text()
        assert editor.message.property("role") == "warning"
        assert editor.grid.model.index(0, 0).data() == "nan"

    def test_the_snapshot_dies_meanwhile(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab = show(window, qtbot, tmp_path, MATMUL)
        dialog = open_by_key(window, tab, qtbot)
        held = tab.running.snapshots.find("1")
        assert held is not None and held.process is not None
        os.kill(held.process, 9)
        qtbot.mouseClick(dialog.run_button, LEFT)
        qtbot.waitUntil(lambda: "is gone" in dialog.answer.text(), timeout=30_000)
        qtbot.waitUntil(dialog.run_button.isEnabled, timeout=30_000)
        call = press_enter(tab, qtbot)  # the script is run again to that call
        assert came(tab, call, "A") == [[10.0, 100.0]]

    def test_an_experiment_that_cannot_be_kept_is_told(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab = show(window, qtbot, tmp_path, MATMUL)
        dialog = open_by_key(window, tab, qtbot)
        assert tab.session.loaded is not None
        os.unlink(tab.session.loaded.path)
        qtbot.keyClick(dialog.editors[0].line, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: "cannot be written" in dialog.answer.text(), timeout=30_000)
        assert tab.session.recording is not None
        assert [call.label for call in tab.session.recording.calls] == ["1"]  # what is shown stays


class TestRunningAgain:
    def test_it_can_be_stopped_and_tried_again(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab = show(window, qtbot, tmp_path, MATMUL)
        tab.held_calls.end("1")
        qtbot.waitUntil(lambda: tab.held_calls.readiness("1") == "again", timeout=10_000)
        script(tmp_path, "import time, torch\ntime.sleep(600)\n")
        dialog = tab.seeds.try_call("1")
        assert dialog is not None
        assert dialog.state.text() == "Running script.py again to call 1 …"
        assert not dialog.run_button.isEnabled()
        qtbot.mouseClick(dialog.stop_button, LEFT)
        qtbot.waitUntil(lambda: dialog.answer.text() in ("Cancelled.", STOPPED), timeout=30_000)
        script(tmp_path, MATMUL)
        qtbot.waitUntil(dialog.run_button.isEnabled, timeout=10_000)
        call = press_enter(tab, qtbot)
        assert came(tab, call, "A") == [[10.0, 100.0]]
        qtbot.waitUntil(lambda: dialog.ready and dialog.editors[0].root.count() > 1, timeout=30_000)

    def test_what_came_out_else_is_told(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab = show(window, qtbot, tmp_path, MATMUL)
        tab.held_calls.end("1")
        qtbot.waitUntil(lambda: tab.held_calls.readiness("1") == "again", timeout=10_000)
        script(tmp_path, MATMUL.replace("[10., 20., 30.]", "[11., 20., 30.]"))
        tab.seeds.try_call("1")
        dialog = ready(tab, qtbot)
        words = "This run is not the recorded one. Z is not what it was: [[210, 420, 630]] then, [[211, 420, 630]] now."
        assert dialog.warning.text() == words
        assert dialog.warning.isVisible()
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
        tab.seeds.try_call("1")
        assert ready(tab, qtbot).warning.text() == words


class TestEnding:
    def test_no_process_is_left(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab = show(window, qtbot, tmp_path, MATMUL)
        dialog = open_by_key(window, tab, qtbot)
        held = tab.running.snapshots.find("1")
        assert held is not None and held.process is not None
        number = held.process
        assert not is_gone(number)
        qtbot.mouseClick(dialog.end_button, LEFT)
        qtbot.waitUntil(lambda: is_gone(number), timeout=10_000)
        assert "has ended" in dialog.state.text()
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
        assert tab.seeds.dialog is None
        assert tab.held_calls.live() == ()

    def test_running_again_closes_the_dialog(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab = show(window, qtbot, tmp_path, MATMUL)
        open_by_key(window, tab, qtbot)
        held = tab.running.snapshots.find("1")
        assert held is not None and held.process is not None
        number = held.process
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
        qtbot.keyClick(window, Qt.Key.Key_F5)
        assert tab.seeds.dialog is None
        qtbot.waitUntil(lambda: is_gone(number), timeout=10_000)


def test_a_what_if_is_compared_with_the_call(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    tab = show(window, qtbot, tmp_path, MATMUL)
    editor = open_by_key(window, tab, qtbot).editors[0]
    type_seed(editor, qtbot, "[[3, 0, 0]]")
    call = press_enter(tab, qtbot)
    choose(tab.seeds.call_menu(call.number), "Compare with call 1")
    (made,) = window.findChildren(CompareWindow)
    qtbot.waitUntil(lambda: made.model.differences != (), timeout=30_000)
    rows = {d.name: d for d in made.model.differences}
    assert rows["A"].left is not None and rows["A"].right is not None
    assert (rows["A"].left.nested(), rows["A"].right.nested()) == ([[10.0, 100.0]], [[30.0, 300.0]])
    assert (rows["A"].change, rows["seed of Z"].change) == ("[[20, 200]]", "[[2, 0, 0]]")
    made.close()
