"""A window for each test, with settings and folders of its own; whatever it leaves behind fails the test."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradviz.app.application import Application
from gradviz.app.call_tree import call_tree
from gradviz.app.loading import Loaded, Source
from gradviz.app.main_window import MainWindow
from gradviz.app.panels.highlight import highlight
from gradviz.app.recovery import Recovery
from gradviz.app.settings import Settings
from gradviz.app.workspace import Workspace
from gradviz.model import Recording

Open = Callable[[Recording], Workspace]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))


@pytest.fixture
def application(
    qapp: QApplication, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Application]:
    """The application; afterwards no widget, thread or temporary file of it is left."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    threads = set(threading.enumerate())
    made = Application(qapp, settings, Recovery(str(tmp_path / "recordings")))
    yield made
    made.close()
    qapp.sendPostedEvents(None, 52)  # QEvent.DeferredDelete: what was asked to go goes now
    qapp.processEvents()
    assert not [widget for widget in qapp.topLevelWidgets() if widget.isVisible()]
    assert not (set(threading.enumerate()) - threads)
    assert os.listdir(temporary) == []


@pytest.fixture
def window(application: Application, qtbot: QtBot) -> MainWindow:
    """A shown window of 1600 x 1000 with nothing open."""
    made = application.open_window()
    made.resize(1600, 1000)
    with qtbot.waitExposed(made):
        made.show()
    return made


@pytest.fixture
def opened(window: MainWindow, qtbot: QtBot) -> Open:
    """Opens a recording from memory and waits for its picture."""

    def open_recording(recording: Recording) -> Workspace:
        tab = window.tabs.add()
        with qtbot.waitSignal(tab.drawing.painted, timeout=20_000):
            tab.session.take(loaded(recording))
        return tab

    return open_recording


def loaded(recording: Recording) -> Loaded:
    """What the window knows of a recording that it has read."""
    texts = recording.source.sources()
    sources = {file: Source(text, highlight(text)) for file, text in texts.items()}
    return Loaded("memory.gradviz", recording, sources, call_tree(recording, texts))
