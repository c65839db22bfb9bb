"""The ways into the window and around in it: several files, notebooks, the keyboard, the palette."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAction, QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QTabBar, QToolButton
from pytestqt.qtbot import QtBot

from gradviz.app import main as window_main
from gradviz.app.application import Application
from gradviz.app.dialogs.command_palette import commands_of, name
from gradviz.app.main_window import MainWindow
from gradviz.app.signals import closed_by_signals
from gradviz.cli.main import main
from tests.app.conftest import Open
from tests.recordings import fan_in, from_edges, two_calls
from tests.store.samples import write

CONTROL = Qt.KeyboardModifier.ControlModifier
WAITS = """\
import torch
x = torch.tensor(2., requires_grad=True)
(x * x).backward()
input()
"""
CELLS = (
    ("markdown", "# Weights"),
    ("code", "import torch\nw = torch.tensor([1., 2.], requires_grad=True)"),
    ("code", "%matplotlib inline\nloss = (w ** 2).sum()\nloss.backward()\nw.grad"),
)


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    cells = [{"cell_type": kind, "metadata": {}, "source": text, "outputs": []} for kind, text in CELLS]
    path = tmp_path / "weights.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


class TestCommandLine:
    @pytest.fixture
    def asked(self, qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
        """What the command line asks the window for. The application is there: none is made and lost by each call."""
        asked: list[Any] = []
        monkeypatch.setattr(window_main, "open_window", lambda *words: asked.append(words) or 0)
        return asked

    def test_several_files_open(self, asked: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        for file in ("a.py", "b.gradviz", "c.ipynb"):
            Path(file).touch()
        assert main(["a.py", "b.gradviz", "--python", "/usr/bin/python3", "c.ipynb", "--", "--epochs", "3"]) == 0
        assert main([]) == 0
        assert main(["--", "x"]) == 0
        assert asked == [
            (["a.py", "b.gradviz", "c.ipynb"], "/usr/bin/python3", ("--epochs", "3")),
            ([], None, ()),
            ([], None, ("x",)),
        ]

    def test_one_that_is_not_there_is_named(
        self, asked: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("a.py").touch()
        assert main(["a.py", "b.py"]) == 2
        assert main(["exprot"]) == 2
        first, second = capsys.readouterr().err.splitlines()
        assert first == "gradviz: There is no file 'b.py'. Check the path and the folder."
        assert second.startswith("gradviz: 'exprot' is neither a file nor a command.")
        assert asked == []


class TestNotebook:
    def test_its_cells_are_shown_run_and_followed(self, window: MainWindow, qtbot: QtBot, notebook: Path) -> None:
        window.open_path(str(notebook))
        tab = window.current
        assert tab is not None
        qtbot.waitUntil(lambda: bool(tab.session.sources))
        cells = {f"<weights.ipynb, cell {n}>": text for n, (_, text) in enumerate(CELLS[1:], 1)}
        assert {file: source.text for file, source in tab.session.sources.items()} == cells
        assert tab.source.files.isVisible()
        assert tab.middle.page == "ask"
        assert tab.middle.ask.question.text() == "Run weights.ipynb?"
        with qtbot.waitSignal(tab.drawing.painted, timeout=90_000):
            qtbot.keyClick(tab.middle.ask, Qt.Key.Key_Return)
        assert list(tab.session.sources) == list(cells)  # also the one that made no node
        qtbot.waitUntil(lambda: "Skipped in weights.ipynb, cell 2: %matplotlib inline" in said(window))
        assert "tensor([2., 4.])" in said(window)
        assert [call.place.line for call in tab.session.recording.calls] == [3]
        assert tab.source.file == tab.session.recording.calls[0].place.file  # the cell of the call, not the first one

    def test_one_that_is_none_says_so(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        path = tmp_path / "broken.ipynb"
        path.write_text('{"cells": ')
        window.services.settings.trust_file(str(path))
        window.open_path(str(path))
        tab = window.current
        assert tab is not None
        qtbot.waitUntil(lambda: tab.middle.page == "words" and "is no notebook" in tab.middle.words.words.text())
        assert list(tab.session.sources) == [str(path)]


def said(window: MainWindow) -> list[str]:
    """The lines of the console."""
    tab = window.current
    assert tab is not None
    return [line.text for line in tab.running.lines.lines]


class TestKeyboard:
    def test_a_tab_gives_the_keyboard_to_what_it_shows(
        self, opened: Open, window: MainWindow, qtbot: QtBot, notebook: Path
    ) -> None:
        window.activateWindow()
        opened(two_calls())
        window.open_path(str(notebook))
        tab = window.current
        assert tab is not None
        qtbot.waitUntil(tab.middle.ask.run.hasFocus)
        qtbot.keyClick(window, Qt.Key.Key_Tab, CONTROL)
        assert window.current is not tab
        qtbot.waitUntil(window.current.middle.view.hasFocus)
        qtbot.keyClick(window, Qt.Key.Key_PageUp, CONTROL)
        qtbot.waitUntil(tab.middle.ask.run.hasFocus)
        qtbot.keyClick(tab.middle.ask, Qt.Key.Key_Escape)
        assert tab.middle.page == "words"
        qtbot.waitUntil(tab.middle.words.button.hasFocus)

    def test_a_file_that_was_opened_has_the_keyboard(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        window.activateWindow()
        path = tmp_path / "two.gradviz"
        write(two_calls(), path)
        window.open_path(str(path))
        tab = window.current
        assert tab is not None
        qtbot.waitUntil(lambda: tab.middle.page == "graph", timeout=20_000)
        qtbot.waitUntil(tab.middle.view.hasFocus)
        qtbot.keyClick(tab.middle.view, Qt.Key.Key_Home)
        assert tab.session.player.t == 0.0

    def test_every_control_is_reached_and_has_a_name(self, opened: Open, window: MainWindow, qtbot: QtBot) -> None:
        from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QComboBox, QLineEdit

        window.activateWindow()
        tab = opened(two_calls())
        tab.session.select(["t1"])
        qtbot.waitUntil(lambda: tab.inspector.name.text() == "t1")
        wanted = {
            widget
            for kind in (QAbstractButton, QComboBox, QLineEdit, QAbstractItemView)
            for widget in window.findChildren(kind)
            if widget.isVisible()
            and widget.isEnabled()
            and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
            and not isinstance(widget.parent(), QComboBox | QTabBar)
        }
        tab.middle.view.setFocus()
        reached = set()
        for _ in range(200):
            window.focusNextChild()
            focused = QApplication.focusWidget()
            assert focused is not None
            reached.add(focused)
            if focused is tab.middle.view:
                break
        assert wanted - reached == set()
        nameless = [widget for widget in reached if not (widget.accessibleName() or text_of(widget))]
        assert nameless == []


def text_of(widget: Any) -> str:
    """What a control says of itself without a name for the purpose."""
    words = widget.text() if hasattr(widget, "text") else ""
    return str(words or widget.toolTip())


class TestChangedScript:
    def test_another_run_is_offered_when_this_one_is_over(
        self, window: MainWindow, qtbot: QtBot, tmp_path: Path
    ) -> None:
        script = tmp_path / "waits.py"
        script.write_text(WAITS)
        window.services.settings.trust_file(str(script))
        window.open_path(str(script))
        tab = window.current
        assert tab is not None
        qtbot.waitUntil(lambda: bool(tab.session.recording and tab.session.recording.calls), timeout=60_000)
        with qtbot.waitSignal(tab.watch.changed):
            script.write_text(WAITS.replace("2.", "5."))
        assert not tab.middle.banner.isVisible()
        qtbot.keyClick(tab.console.input, Qt.Key.Key_Return)
        qtbot.waitUntil(tab.middle.banner.isVisible, timeout=60_000)
        with qtbot.waitSignal(tab.running.restarted):
            tab.middle.banner.accepted.emit()
        assert not tab.middle.banner.isVisible()
        qtbot.keyClick(tab.console.input, Qt.Key.Key_Return)
        with qtbot.waitSignal(tab.running.adapter.ended, timeout=60_000):
            pass


def test_a_crash_is_told_with_its_signal_and_the_last_line(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    script = tmp_path / "crashes.py"
    script.write_text(WAITS.replace("input()", "y = x * 3\nimport os\nos.kill(os.getpid(), 11)"))
    window.services.settings.trust_file(str(script))
    window.open_path(str(script))
    qtbot.waitUntil(lambda: any("is known to have run" in line for line in said(window)), timeout=90_000)
    assert "crashes.py was ended by SIGSEGV (it crashed: a segmentation fault)." in said(window)
    assert said(window)[-1] == "The last line that is known to have run is 3."  # the call, which was written at once
    assert "recorded 1 call · ended by signal 11 · " in window.state_label.text()


class TestTabs:
    def test_a_button_closes_its_tab(self, opened: Open, window: MainWindow, qtbot: QtBot) -> None:
        first, second = opened(two_calls()), opened(fan_in())
        bar = window.pages.tabBar()
        button = bar.tabButton(0, QTabBar.ButtonPosition.RightSide)
        assert isinstance(button, QToolButton)
        assert button.accessibleName() == f"Close {first.title}"
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        assert window.tabs.open_ones == [second]
        assert window.pages.count() == 1


class TestPalette:
    def test_it_holds_every_action_of_the_menus(self, opened: Open, window: MainWindow) -> None:
        opened(two_calls())
        commands = commands_of(window.menuBar())
        held = {command.action for command in commands}
        usable = {action for action in window.actions_by_name.values() if action.isEnabled()}
        assert usable - held == set()
        for menu in window.menuBar().findChildren(QMenu):
            leaves = [a for a in menu.actions() if not a.isSeparator() and a.menu() is None and a.isEnabled()]
            assert set(leaves) - held == set(), menu.title()
        words = [command.words for command in commands]
        assert len(set(words)) == len(words)
        assert {"Zoom in", "Theme: Dark", "Text size: 200 %", "Language: English", "Panels: Console"} <= set(words)

    def test_what_is_in_a_submenu_is_found(
        self, application: Application, opened: Open, window: MainWindow, qtbot: QtBot
    ) -> None:
        opened(two_calls())
        qtbot.keyClick(window, Qt.Key.Key_P, CONTROL | Qt.KeyboardModifier.ShiftModifier)
        palette = window.show_palette()
        qtbot.keyClicks(palette.line, "dark")
        qtbot.keyClick(palette.line, Qt.Key.Key_Return)
        assert application.settings.theme == "dark"
        assert window.look.name == "dark"

    def test_names_are_without_the_marks_of_menus(self, qapp: object) -> None:
        assert [name(QAction(text)) for text in ("&Open …", "Te&xt size", "导出(&E)…", "100 %")] == [
            *("Open", "Text size"),
            *("导出", "100 %"),
        ]


def test_what_is_found_is_a_list_of_whole_rows(opened: Open, window: MainWindow, qtbot: QtBot) -> None:
    tab = opened(from_edges([(k, k + 1) for k in range(30)], 31))
    qtbot.keyClick(window, Qt.Key.Key_F, CONTROL)
    bar = tab.middle.find_bar
    qtbot.keyClicks(bar.line, "mul")
    qtbot.waitUntil(lambda: bar.model.rowCount() > 9)
    assert not bar.list.horizontalScrollBar().isVisible()
    assert bar.list.viewport().height() >= 9 * bar.list.sizeHintForRow(0)


def test_paths_are_those_of_the_folder_where_the_command_was_typed(
    window: MainWindow, qtbot: QtBot, notebook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(notebook.parent)
    window.open_path(notebook.name)
    tab = window.current
    assert tab is not None
    qtbot.waitUntil(lambda: bool(tab.session.sources))
    assert tab.opened == os.path.join(str(notebook.parent), notebook.name)


class TestWelcome:
    def test_examples_say_what_they_show(self, window: MainWindow) -> None:
        buttons = list(window.welcome.examples.values())
        assert len(buttons) == 15
        assert buttons[0].text() == "Two calls add up"
        assert all(button.toolTip() and button.accessibleDescription() for button in buttons)

    def test_files_are_dropped_anywhere(self, window: MainWindow, qtbot: QtBot, notebook: Path) -> None:
        files = QMimeData()
        files.setUrls([QUrl.fromLocalFile(str(notebook))])
        where, buttons, keys = QPoint(300, 300), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        window.dragEnterEvent(QDragEnterEvent(where, Qt.DropAction.CopyAction, files, buttons, keys))
        place = window.welcome.findChild(QLabel, "drop")
        assert place.property("lit") is True
        window.dragLeaveEvent(QDragLeaveEvent())
        assert place.property("lit") is False
        window.dropEvent(QDropEvent(QPointF(where), Qt.DropAction.CopyAction, files, buttons, keys))
        assert [tab.opened for tab in window.tabs.open_ones] == [str(notebook)]
        tab = window.current
        qtbot.waitUntil(lambda: bool(tab.session.sources))


@pytest.mark.parametrize("percent", [100, 200])
def test_the_bar_hides_no_button(opened: Open, window: MainWindow, percent: int) -> None:
    opened(two_calls())
    window.choose_text_size(percent)
    window.resize(1280, 800)
    buttons = [window.actions_by_name[name] for name in ("open", "run", "export", "find")]
    shown = [b for b in window.findChildren(QToolButton) if b.defaultAction() in buttons and b.isVisible()]
    assert len(shown) == len(buttons)
    assert all(b.width() >= b.sizeHint().width() for b in shown)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_closes_the_window_as_its_button_does(
    application: Application, opened: Open, window: MainWindow, qtbot: QtBot, name: str
) -> None:
    """Ctrl-C in the terminal left a traceback and the window; the end of a session looked like a crash."""
    opened(two_calls())
    number = getattr(signal, name)
    before = signal.signal(number, signal.default_int_handler)  # `nohup pytest` ignores one of them
    try:
        with closed_by_signals(application.qt, application.close_window):
            signal.raise_signal(number)
            qtbot.waitUntil(lambda: not window.isVisible())
        assert window.tabs.open_ones == []
        assert signal.getsignal(number) == signal.default_int_handler
    finally:
        signal.signal(number, before)


def test_a_signal_that_is_ignored_stays_so(application: Application) -> None:
    """`nohup gradviz` outlives its terminal."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with closed_by_signals(application.qt, application.close_window):
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) not in (signal.SIG_IGN, signal.SIG_DFL)
    finally:
        signal.signal(signal.SIGHUP, before)
