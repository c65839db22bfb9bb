"""A recorded block of a running program in the window: shown like a script, but never run from here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from pytestqt.qtbot import QtBot

from gradviz.app.main_window import MainWindow
from gradviz.app.workspace import Workspace
from gradviz.worker.in_process import record


@pytest.fixture
def tab(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> Workspace:
    """The recording of a block that died, as a person opens it."""
    path = tmp_path / "step.gradviz"
    with pytest.raises(ZeroDivisionError), record(path):
        x = torch.ones(2, requires_grad=True)
        y = (x * 2).sum()
        y.backward()
        _ = 1 / 0
    window.open_path(str(path))
    found = window.tabs.open_ones[-1]
    with qtbot.waitSignal(found.drawing.painted, timeout=20_000):
        pass
    qtbot.waitUntil(lambda: bool(found.running.lines.lines), timeout=5_000)
    return found


def test_a_block_is_shown_and_not_run(tab: Workspace, window: MainWindow) -> None:
    assert tab.title == "step.gradviz" and tab.session.script is None
    assert not window.actions_by_name["run"].isEnabled()
    assert tab.source.file == __file__ and "ZeroDivisionError" in tab.source.view.toPlainText()
    assert [line.text for line in tab.running.lines.lines] == [
        "What the program prints is not recorded with a block of it."
    ]
    if picture := os.environ.get("BLOCK_PICTURE"):
        window.grab().save(picture)


def test_other_seeds_are_refused_in_a_sentence(tab: Workspace, qtbot: QtBot) -> None:
    said: list[str] = []
    tab.held_calls.start("1", lambda held, report: None, lambda answer: None, said.append)
    qtbot.waitUntil(lambda: bool(said), timeout=5_000)
    assert said[0].startswith("This is a recorded block of a running program")
