"""Themes, scales, text sizes, docks: how the window looks and what it remembers of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from gradviz.app.application import Application
from gradviz.app.look import make_look
from gradviz.app.main_window import MainWindow
from gradviz.app.panels.soft_label import SoftLabel
from gradviz.app.settings import Settings
from gradviz.render.theme import THEMES, contrast
from tests.app.conftest import Open
from tests.recordings import from_edges, two_calls


def shot(folder: Path, scale: str, theme: str, language: str = "en") -> dict[str, Any]:
    """A picture of the window from a process of its own, and facts about it."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": scale}
    command = [sys.executable, "-m", "tests.app.shot", theme, language, str(folder / "shot.png")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(("scale", "theme"), [("1", "light"), ("2", "dark"), ("3", "contrast")])
def test_pictures_are_sharp_at_every_scale(tmp_path: Path, scale: str, theme: str) -> None:
    seen, colors = shot(tmp_path, scale, theme), THEMES[theme]
    assert seen["ratio"] == float(scale)
    assert seen["width"] == 1400 * float(scale)
    assert seen["view"] == [float(scale)] * 2  # one pixel of the picture for each of the screen
    assert seen["legend"] == float(scale)
    assert seen["paper"] == colors.paper
    assert seen["leaf"] == colors.leaf_fill
    assert seen["cut"] == []


@pytest.mark.parametrize("name", ["light", "dark", "contrast"])
def test_all_text_can_be_read(qapp: object, name: Any) -> None:
    look = make_look(name)
    words = (look.ink, look.muted, look.faint, look.accent_ink, look.leaf, look.error, look.warning)
    for colour in (*words, *look.code.values()):
        assert contrast(colour.name(), look.panel.name()) >= 4.5


def test_more_tabs_than_fit_have_arrows_that_are_seen(opened: Open, window: MainWindow, qtbot: QtBot) -> None:
    window.resize(900, 700)
    for _ in range(6):
        opened(two_calls())
    bar = window.pages.tabBar()
    arrows = [child for child in bar.children() if isinstance(child, QToolButton) and child.isVisible()]
    arrows = [arrow for arrow in arrows if arrow.arrowType() != Qt.ArrowType.NoArrow]
    assert len(arrows) == 2
    for arrow in arrows:
        image = arrow.grab().toImage()
        ground = image.pixelColor(1, 1)
        inked = [y for x in range(image.width()) for y in range(image.height()) if image.pixelColor(x, y) != ground]
        assert max(inked) - min(inked) >= 6  # pixels: a dot tells nothing


def test_a_theme_is_put_on_everything(opened: Open, window: MainWindow, qtbot: QtBot) -> None:
    tab = opened(two_calls())
    with qtbot.waitSignal(tab.drawing.painted):
        window.choose_theme("dark")
    picture = tab.middle.view.picture
    assert picture is not None
    assert picture.pixelColor(3, 3).name() == THEMES["dark"].paper
    assert window.palette().window().color().name() == THEMES["dark"].card
    assert tab.seen_view().theme == "dark"  # an export looks the same


def test_links_wear_the_colours_of_a_new_theme(opened: Open, window: MainWindow, qtbot: QtBot) -> None:
    """A link keeps the colour that it was made with; on the dark panel that of the light theme could not be read."""
    tab = opened(two_calls())
    tab.session.select(["t1"])

    def inks() -> set[str]:
        links = [label for label in tab.inspector.findChildren(SoftLabel) if label.text().startswith("<a ")]
        images = [label.grab().toImage() for label in links if label.isVisible()]
        return {image.pixelColor(x, y).name() for image in images for x in range(image.width()) for y in range(8)}

    link = window.look.leaf.name()
    qtbot.waitUntil(lambda: link in inks())
    window.choose_theme("dark")
    qtbot.waitUntil(lambda: window.look.leaf.name() in inks())
    assert link not in inks()


def test_the_system_is_followed(
    opened: Open, application: Application, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(two_calls())
    # The plug-in of the tests has no desktop whose scheme could be changed.
    monkeypatch.setattr(application, "system_is_dark", lambda: True)
    application.qt.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert window.look.name == "dark"
    window.choose_theme("light")
    assert window.look.name == "light"  # a choice of the user's stands over it


def test_text_grows(opened: Open, window: MainWindow) -> None:
    tab = opened(two_calls())
    before = tab.source.view.fontMetrics().height()
    window.choose_text_size(200)
    assert tab.source.view.fontMetrics().height() >= 1.7 * before


def test_docks_are_remembered(application: Application, settings: Settings, window: MainWindow, qtbot: QtBot) -> None:
    window.tabs.add()
    window.docks.docks["findings"].hide()
    window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, window.docks.docks["calls"])
    window.close()
    again = MainWindow(window.services, window.look)
    qtbot.addWidget(again)
    again.show()
    again.tabs.add()
    assert again.docks.docks["findings"].isHidden()
    assert not again.docks.docks["source"].isHidden()
    assert again.dockWidgetArea(again.docks.docks["calls"]) == Qt.DockWidgetArea.RightDockWidgetArea
    again.docks.reset()
    assert not again.docks.docks["findings"].isHidden()
    assert again.dockWidgetArea(again.docks.docks["calls"]) == Qt.DockWidgetArea.LeftDockWidgetArea
    again.close()


def test_long_work_can_be_given_up(opened: Open, window: MainWindow, qtbot: QtBot) -> None:
    tab = opened(from_edges([(k, k + 1) for k in range(2999)], 3000))
    before = tab.drawing.scene
    window.actions_by_name["unfold-all"].trigger()
    strip = tab.middle.busy
    assert strip.isVisible()
    qtbot.mouseClick(strip.button, Qt.MouseButton.LeftButton)
    assert not strip.isVisible()
    assert not tab.drawing.working
    assert tab.drawing.scene is before


class TestRecovery:
    def test_a_recording_of_a_crash_is_offered_and_opened(
        self, application: Application, qtbot: QtBot, tmp_path: Path
    ) -> None:
        from tests.store.samples import write

        recovery = application.services.recovery
        path = recovery.new_path("train.py")
        write(two_calls(), Path(path))
        Path(path + ".open").write_text("4194304")  # no such process: its window has crashed
        window = application.open_window()
        window.show()
        window.welcome.refresh()
        assert window.welcome.unsaved_paths == (path,)
        window.welcome.chosen.emit(path)
        tab = window.current
        assert tab is not None
        qtbot.waitUntil(lambda: tab.session.recording is not None, timeout=20_000)
        assert recovery.kept() == ()  # it is open in a living window now
        window.tabs.close(tab)
        (kept,) = recovery.kept()
        assert not kept.crashed
        window.welcome.discarded.emit(path)
        assert recovery.kept() == ()
