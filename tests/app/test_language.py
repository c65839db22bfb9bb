"""Another language is chosen while the window is open: it is made anew, what is open in it stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QAction
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from gradviz.app.application import Application
from gradviz.app.main_window import MainWindow
from tests.recordings import two_calls
from tests.store.samples import write

WAITS = """\
import torch
x = torch.ones(2, requires_grad=True)
(x * x).sum().backward()
input()
"""


def choose(window: MainWindow, language: str) -> None:
    """Choose a language in the menu, as a person does."""
    (action,) = [a for a in window.findChildren(QAction) if a.text() in (language, f"&{language}")]
    action.trigger()


@pytest.fixture
def recording(tmp_path: Path) -> str:
    path = tmp_path / "two.gradviz"
    write(two_calls(), path)
    return str(path)


def test_the_window_is_made_anew_and_what_is_open_stays(
    application: Application, window: MainWindow, qtbot: QtBot, recording: str, tmp_path: Path
) -> None:
    window.open_path(recording)
    tab = window.current
    assert tab is not None
    qtbot.waitUntil(lambda: bool(tab.session.findings) and tab.session.story is not None, timeout=20_000)
    tab.session.select(["t1"])
    tab.session.player.seek(1.5)
    window.actions_by_name["wave-front"].trigger()
    window.set_direction("TB")
    window.actions_by_name["undo"].trigger()
    qtbot.waitUntil(lambda: tab.session.story is not None and tab.session.story.timeline.order == "wavefront")
    tab.session.player.seek(1.5)
    seen = tab.session.seen_view()
    went_back = window.actions_by_name["back"].isEnabled()
    messages = [finding.message for finding in tab.session.findings]
    choose(window, "Simplified Chinese")
    qtbot.waitUntil(lambda: not isValid(window), timeout=20_000)
    new = application.window
    assert new is not None
    assert new.isVisible()
    assert new.actions_by_name["export"].text() == "导出(&E)…"
    again = new.current
    assert again is not None
    qtbot.waitUntil(lambda: bool(again.session.findings) and again.session.story is not None, timeout=20_000)
    assert again.session.seen_view() == seen
    assert again.opened == recording
    assert len(again.session.findings) == len(messages)
    assert not {finding.message for finding in again.session.findings} & set(messages)
    assert again.middle.header.sentence.text().startswith("引擎第 1 步")
    # What was done before can be undone and done again.
    new.actions_by_name["redo"].trigger()
    assert again.session.view.direction == "TB"
    new.actions_by_name["undo"].trigger()
    new.actions_by_name["undo"].trigger()
    assert (again.session.view.direction, again.session.view.order) == ("RL", "engine")
    assert not new.actions_by_name["undo"].isEnabled()
    assert new.actions_by_name["back"].isEnabled() == went_back
    choose(new, "English")
    qtbot.waitUntil(lambda: application.window is not new, timeout=20_000)
    assert application.window is not None
    assert application.window.actions_by_name["export"].text() == "&Export …"


def test_a_script_that_runs_is_not_ended_for_it(
    application: Application, window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    script = tmp_path / "waits.py"
    script.write_text(WAITS)
    application.settings.trust_file(str(script))
    window.open_path(str(script))
    tab = window.current
    assert tab is not None
    qtbot.waitUntil(lambda: tab.session.recording is not None and bool(tab.session.recording.calls), timeout=60_000)
    choose(window, "Simplified Chinese")
    assert window.statusBar().currentMessage() == "The language changes when no script runs any more."
    assert application.window is window
    running = tab.running.adapter
    assert running is not None
    running.send_line("")
    qtbot.waitUntil(lambda: application.window is not window, timeout=60_000)
    new = application.window
    assert new is not None
    again = new.current
    assert again is not None
    qtbot.waitUntil(lambda: again.session.recording is not None, timeout=20_000)
    assert again.session.script == str(script)
    held = again.session.loaded
    assert held is not None
    assert application.services.recovery.kept() == ()  # it is open here
    new.tabs.close(again)
    assert [kept.path for kept in application.services.recovery.kept()] == [held.path]


def test_an_export_speaks_the_language_of_the_window_unless_told(
    application: Application, window: MainWindow, qtbot: QtBot, recording: str, tmp_path: Path
) -> None:
    choose(window, "Simplified Chinese")
    qtbot.waitUntil(lambda: application.window is not window, timeout=20_000)
    new = application.window
    assert new is not None
    new.open_path(recording)
    tab = new.current
    assert tab is not None
    qtbot.waitUntil(lambda: tab.session.story is not None, timeout=20_000)
    dialog = new.tabs.export(tab)
    assert dialog is not None
    dialog.format.setCurrentIndex(dialog.format.findData("svg"))
    assert dialog.wish.options[-2:] == ("--language", "zh_CN")
    qtbot.waitUntil(dialog.save.isEnabled, timeout=60_000)
    dialog.save_to(str(tmp_path / "zh.svg"))
    assert ">叶子<" in (tmp_path / "zh.svg").read_text("utf-8")
    again = new.tabs.export(tab)
    assert again is not None
    again.language.setCurrentIndex(again.language.findData("en"))
    assert "--language" not in again.wish.options
    again.reject()
