"""Every command of the menus and of the palette, chosen once: none fails, and the graph is there afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from gradviz.app import commands
from gradviz.app.dialogs.command_palette import CommandPalette, commands_of
from gradviz.app.main_window import MainWindow
from gradviz.app.workspace import Workspace
from tests.recordings import two_calls
from tests.store.samples import write

# What ends the tab, the window or its language is tested by itself; an example would be run, where a seed is tried.
ENDS = {"Close the tab", "Quit", "Try another seed", "Jacobian"}


@pytest.fixture
def tab(window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """The two calls from a file, a node selected and marked, and file dialogs that are cancelled."""
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([], ""))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("", ""))
    monkeypatch.setattr(commands, "register", lambda: "registered")
    path = tmp_path / "two.gradviz"
    write(two_calls(), path)
    window.open_path(str(path))
    made = window.current
    assert made is not None
    qtbot.waitUntil(lambda: made.middle.view.picture is not None and made.session.findings != (), timeout=20_000)
    return made


def test_every_command(window: MainWindow, tab: Workspace, qtbot: QtBot) -> None:
    recording = tab.session.recording
    assert recording is not None
    t1, t2 = (next(n.key for n in recording.graph(2).nodes if n.name == name) for name in ("t1", "t2"))
    tab.session.change_view("Direction", direction="LR")
    tab.session.select([t1])
    tab.toggle_bookmarks()
    tab.session.select([t2, t1])
    done = set()
    words = [command.words for command in commands_of(window.menuBar())]
    for each in words:
        if each in ENDS or each.startswith("Language: "):
            continue
        palette = window.show_palette()
        row = next((row for row, command in enumerate(palette.model.commands) if command.words == each), None)
        if row is None:  # not to be had now: nothing is left to undo, or nothing to go back to
            palette.close()
            continue
        with qtbot.capture_exceptions() as failures:
            palette.list.setCurrentIndex(palette.model.index(row))
            qtbot.keyClick(palette.line, Qt.Key.Key_Return)
            qtbot.waitUntil(lambda: not window.services.background.busy, timeout=20_000)
        assert failures == [], each
        done.add(each)
        put_away(window)
        tab.session.glance(filters=(), expanded=(), folded=())
        tab.session.select([t2, t1])
        qtbot.waitUntil(lambda: len(tab.drawing.boxes_of([t2, t1])) == 2 and not tab.drawing.working)
    wanted = {each for each in words if each not in ENDS and not each.startswith("Language: ")}
    assert len(wanted) > 70 and wanted - done == set()
    qtbot.waitUntil(lambda: tab.drawing.scene is not None and not tab.drawing.working, timeout=20_000)
    assert tab.middle.page == "graph" and window.tabs.open_ones[0] is tab
    assert not QGuiApplication.clipboard().image().isNull()  # of "Copy the picture"


def put_away(window: MainWindow) -> None:
    """Close what a command has opened."""
    popup = QApplication.activePopupWidget()
    if popup is not None:
        popup.close()
    for dialog in window.findChildren(QDialog):
        if dialog.isVisible():
            dialog.reject()
    for other in QApplication.topLevelWidgets():
        if other is not window and isinstance(other, QWidget) and other.isVisible():
            other.close()
    for palette in window.findChildren(CommandPalette):
        palette.close()
    current = window.current
    if current is not None:
        current.middle.asking = False
        current.middle.find_bar.hide()
        current.middle.choose_page()
