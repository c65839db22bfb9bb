"""The panels keep their sizes from one window to the next."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gradviz.app.application import Application
from tests.app.conftest import loaded
from tests.recordings import two_calls


def heights(application: Application, qtbot: QtBot, wanted: int | None = None) -> dict[str, int]:
    """Open a window with a recording, close it, and tell how high its panels were; `wanted` is for the source."""
    window = application.open_window()
    window.resize(1400, 900)
    with qtbot.waitExposed(window):
        window.show()
    tab = window.tabs.add()
    with qtbot.waitSignal(tab.drawing.painted, timeout=20_000):
        tab.session.take(loaded(two_calls()))
    docks = window.docks.docks
    if wanted is not None:
        change = docks["source"].height() - wanted
        sizes = [wanted, docks["calls"].height() + change]
        window.resizeDocks([docks["source"], docks["calls"]], sizes, Qt.Orientation.Vertical)
        qtbot.waitUntil(lambda: docks["source"].height() == wanted)
    found = {name: dock.height() for name, dock in docks.items()}
    window.close()
    return found


def test_the_sizes_do_not_creep(application: Application, qtbot: QtBot) -> None:
    first = heights(application, qtbot)
    assert first["source"] > first["findings"] > first["calls"] and first["inspector"] > first["console"]
    assert heights(application, qtbot) == first
    chosen = heights(application, qtbot, wanted=first["source"] - 60)
    assert chosen["calls"] == first["calls"] + 60
    assert heights(application, qtbot) == chosen == heights(application, qtbot)
