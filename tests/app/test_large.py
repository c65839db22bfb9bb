"""17,000 nodes in the window: the event loop is never held for more than 100 ms."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from gradviz.app.main_window import MainWindow
from gradviz.app.workspace import Workspace
from tests.app.watchdog import Watchdog
from tests.recordings import from_edges
from tests.store.samples import write

NODES = 17_000
# Seconds. What is promised is 0.1, which holds on an idle machine; a busy one was seen at 0.14, and a hold that comes
# from work in the wrong thread is several times longer than this bound.
LONGEST = 0.25


@pytest.fixture(scope="module")
def large_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A recording like that of an LSTM over 1,000 steps: a long chain with side ways and shared leaves."""
    edges = [(k, k + 1) for k in range(NODES - 1)] + [(k, k + 6) for k in range(0, NODES - 6, 3)]
    path = tmp_path_factory.mktemp("large") / "large.gradviz"
    write(from_edges(edges, NODES), path)
    return str(path)


@pytest.fixture
def tab(window: MainWindow, qtbot: QtBot, large_file: str) -> Iterator[Workspace]:
    window.open_path(large_file)
    made = window.current
    assert made is not None
    qtbot.waitUntil(lambda: made.middle.view.picture is not None, timeout=120_000)
    qtbot.waitUntil(
        lambda: made.session.loaded is not None and made.session.loaded.findings is not None, timeout=120_000
    )
    yield made


def unfold(window: MainWindow, tab: Workspace, qtbot: QtBot) -> None:
    """Show every node and wait for the picture."""
    window.actions_by_name["unfold-all"].trigger()
    qtbot.waitUntil(lambda: showing(tab) >= NODES, timeout=200_000)


def explained(tab: Workspace) -> bool:
    """Whether the findings are there: the last that opening computes."""
    return tab.session.loaded is not None and tab.session.loaded.findings is not None


def is_warm(tab: Workspace) -> bool:
    """Whether it is known how much gradient arrived at what each line made: that waits for the picture."""
    return tab.session.story is not None and tab.session.story.known_heat is not None


def showing(tab: Workspace) -> int:
    """How many boxes the picture that is shown has."""
    scene, shown = tab.drawing.scene, tab.middle.view.shown
    return 0 if scene is None or shown is None or shown.scene is not scene else len(scene.plan.boxes)


def test_opening(window: MainWindow, qtbot: QtBot, large_file: str) -> None:
    with Watchdog() as dog:
        window.open_path(large_file)
        made = window.current
        assert made is not None
        qtbot.waitUntil(lambda: made.middle.view.picture is not None, timeout=120_000)
        qtbot.waitUntil(lambda: explained(made), timeout=120_000)
        qtbot.waitUntil(lambda: is_warm(made), timeout=120_000)
    assert dog.worst < LONGEST
    assert showing(made) <= 100  # it is seen at a glance first


@pytest.mark.timeout(600)
def test_unfolding_playing_zooming_and_searching(window: MainWindow, tab: Workspace, qtbot: QtBot) -> None:
    view, player = tab.middle.view, tab.session.player
    with Watchdog() as dog:
        unfold(window, tab, qtbot)
    assert dog.worst < LONGEST
    with Watchdog() as dog:
        player.play()
        with qtbot.waitSignals([tab.drawing.painted] * 20, timeout=60_000):
            pass
        player.pause()
    assert dog.worst < LONGEST
    with Watchdog() as dog:
        for _ in range(10):
            with qtbot.waitSignal(tab.drawing.painted, timeout=60_000):
                view.zoom_by(1.4)
            view.pan_by(30, 20)
    assert dog.worst < LONGEST
    with Watchdog() as dog:
        tab.middle.find_bar.begin()
        tab.middle.find_bar.line.setText("is:largest")
        qtbot.waitUntil(lambda: tab.middle.find_bar.model.rowCount() == 20, timeout=60_000)
        tab.middle.find_bar.done()
        with qtbot.waitSignal(tab.inspector.shown, timeout=60_000):
            tab.session.select_nodes([NODES // 2])
        tab.light("downstream")
    assert dog.worst < LONGEST
    with Watchdog() as dog:
        window.tabs.close(tab)
        qtbot.waitUntil(lambda: not window.services.studio.busy, timeout=60_000)
    assert dog.worst < LONGEST


@pytest.mark.timeout(600)
def test_exporting(window: MainWindow, tab: Workspace, qtbot: QtBot) -> None:
    with Watchdog() as dog:
        dialog = window.tabs.export(tab)
        assert dialog is not None
        qtbot.waitUntil(lambda: dialog.save.isEnabled() or dialog.preview.text() != "", timeout=200_000)
        assert dialog.preview.text() == ""  # otherwise the words of a command that failed
        dialog.reject()
    assert dog.worst < LONGEST
