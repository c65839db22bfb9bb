"""The export dialog: what it writes is what the command writes."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from gradviz.app.application import Application
from gradviz.app.dialogs.export_dialog import ExportDialog
from gradviz.app.export_process import ExportProcess, ExportWish
from gradviz.app.main_window import MainWindow
from gradviz.app.workspace import Workspace
from gradviz.model import ViewState
from gradviz.store.reader import close_recording, open_recording
from tests.recordings import two_calls
from tests.store.samples import write


@pytest.fixture
def tab(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> Workspace:
    """A tab with the two calls, from a real file."""
    path = tmp_path / "two.gradviz"
    write(two_calls(), path)
    window.open_path(str(path))
    made = window.current
    assert made is not None
    if made.middle.view.picture is None:
        with qtbot.waitSignal(made.drawing.painted, timeout=20_000):
            pass
    return made


def shown(window: MainWindow, tab: Workspace, qtbot: QtBot) -> ExportDialog:
    """The dialog, with its first file made."""
    dialog = window.tabs.export(tab)
    assert dialog is not None
    qtbot.waitUntil(lambda: dialog.save.isEnabled() or dialog.preview.text() != "", timeout=60_000)
    assert dialog.preview.text() == ""  # otherwise the words of a command that failed
    return dialog


def test_the_moment_that_is_seen_is_written(window: MainWindow, tab: Workspace, qtbot: QtBot, tmp_path: Path) -> None:
    tab.session.player.seek(4.5)
    dialog = shown(window, tab, qtbot)
    target = tmp_path / "picture.png"
    with qtbot.waitSignal(dialog.said):
        dialog.save_to(str(target))
    with Image.open(target) as image:
        assert dialog.wish.view.time == 4.5
        assert image.format == "PNG"
        assert image.width > 200
    assert not dialog.isVisible()


def test_its_size_is_said_before(window: MainWindow, tab: Workspace, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = shown(window, tab, qtbot)
    one = dialog.facts.text()
    dialog.scale.setValue(2.0)
    qtbot.waitUntil(lambda: dialog.save.isEnabled() and dialog.facts.text() != one, timeout=60_000)
    target = tmp_path / "large.png"
    text = dialog.facts.text()
    dialog.save_to(str(target))
    with Image.open(target) as image:
        assert text.startswith(f"{image.width} × {image.height} · ")


def test_an_animation_has_its_usual_width(window: MainWindow, tab: Workspace, qtbot: QtBot) -> None:
    """Of a long graph one at its own size would take minutes; who asks for a scale gets it."""
    dialog = shown(window, tab, qtbot)
    assert "--scale" in dialog.wish.options
    dialog.format.setCurrentIndex(dialog.format.findData("gif"))
    assert "--scale" not in dialog.wish.options
    dialog.scale.setValue(2.0)
    assert dialog.wish.options[:2] == ("--scale", "2")
    dialog.reject()


def copied(dialog: ExportDialog, qtbot: QtBot, view: Path) -> list[str]:
    """The words of the command that the dialog puts on the clipboard."""
    QGuiApplication.clipboard().setText("")
    dialog.copy_command(str(view))
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text() != "", timeout=20_000)
    return shlex.split(QGuiApplication.clipboard().text())


def test_the_command_for_a_recording_that_is_not_saved_needs_nothing_that_goes(
    application: Application, window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    """Recordings of runs are removed one day; the command is for CI."""
    unsaved = application.services.recovery.new_path("two.py")
    write(two_calls(), Path(unsaved))
    window.open_path(unsaved)
    tab = window.current
    assert tab is not None
    qtbot.waitUntil(lambda: tab.middle.view.picture is not None, timeout=20_000)
    dialog = window.tabs.export(tab)
    assert dialog is not None
    words = copied(dialog, qtbot, tmp_path / "two.view.json")
    assert words[2] == str(tmp_path / "two.view.gradviz")
    recording = open_recording(words[2])
    assert [call.label for call in recording.calls] == ["1", "2"]
    close_recording(recording)
    dialog.copy_command(str(tmp_path / "missing" / "view.json"))
    qtbot.waitUntil(lambda: "cannot be written" in dialog.facts.text(), timeout=20_000)
    dialog.reject()


def test_what_is_seen_and_what_is_selected(window: MainWindow, tab: Workspace, qtbot: QtBot) -> None:
    """The area is that of the screen, or of the selected box alone; the picture can be copied."""
    view = tab.middle.view
    view.set_zoom(1.0)
    qtbot.waitUntil(lambda: tab.session.view.camera is not None)
    (t1,) = tab.drawing.boxes_of(["t1"])
    tab.session.select(["t1"])
    assert tab.drawing.scene is not None
    left, top, right, bottom = tab.drawing.scene.cards[t1.index]
    dialog = shown(window, tab, qtbot)
    dialog.captions.setChecked(False)
    dialog.legend.setChecked(False)
    sizes = {}
    for area in ("view", "selection"):
        dialog.area.setCurrentIndex(dialog.area.findData(area))
        assert not dialog.copy_picture.isEnabled()
        qtbot.waitUntil(dialog.copy_picture.isEnabled, timeout=60_000)
        QGuiApplication.clipboard().clear()
        qtbot.mouseClick(dialog.copy_picture, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: not QGuiApplication.clipboard().image().isNull(), timeout=20_000)
        image = QGuiApplication.clipboard().image()
        sizes[area] = image.width(), image.height()
    assert sizes["view"] == (view.width(), view.height())
    # The box, what hangs below it, and a margin; not the whole graph.
    assert right - left <= sizes["selection"][0] < sizes["view"][0] / 2
    assert bottom - top <= sizes["selection"][1]
    dialog.reject()


def test_the_copied_command_makes_the_same_file(
    window: MainWindow, tab: Workspace, qtbot: QtBot, tmp_path: Path
) -> None:
    dialog = shown(window, tab, qtbot)
    words = copied(dialog, qtbot, tmp_path / "view.json")
    assert words[:3] == ["gradviz", "export", tab.opened]
    target = tmp_path / "by-command.png"
    words[words.index("-o") + 1] = str(target)
    subprocess.run([sys.executable, "-m", "gradviz", *words[1:]], check=True, timeout=60)
    saved = tmp_path / "by-window.png"
    dialog.save_to(str(saved))
    assert saved.read_bytes() == target.read_bytes()


def test_an_animation_plays_everything(window: MainWindow, tab: Workspace, qtbot: QtBot, tmp_path: Path) -> None:
    tab.session.player.seek(4.5)
    dialog = shown(window, tab, qtbot)
    dialog.format.setCurrentIndex(dialog.format.findData("gif"))
    qtbot.waitUntil(dialog.save.isEnabled, timeout=120_000)
    assert dialog.wish.view.time is None
    assert dialog.speed.isEnabled()
    target = tmp_path / "steps.gif"
    dialog.save_to(str(target))
    with Image.open(target) as image:
        assert getattr(image, "n_frames", 1) > 10


def test_a_place_that_cannot_be_written_is_told(
    window: MainWindow, tab: Workspace, qtbot: QtBot, tmp_path: Path
) -> None:
    dialog = shown(window, tab, qtbot)
    dialog.save_to(str(tmp_path / "missing" / "x.png"))
    assert "cannot be written" in dialog.facts.text()
    assert dialog.isVisible()
    dialog.reject()


def test_a_failure_of_the_command_is_told_in_its_words(qtbot: QtBot, tmp_path: Path) -> None:
    process = ExportProcess()
    with qtbot.waitSignal(process.failed, timeout=60_000) as said:
        process.start(ExportWish(str(tmp_path / "missing.gradviz"), ViewState(), "png"))
    assert "missing.gradviz" in said.args[0]
    process.close()


def test_closing_gives_up_what_is_being_made(window: MainWindow, tab: Workspace, qtbot: QtBot) -> None:
    dialog = window.tabs.export(tab)
    assert dialog is not None
    qtbot.waitUntil(lambda: dialog.busy, timeout=10_000)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    assert not dialog.busy


def test_the_recording_is_saved_under_another_name(
    window: MainWindow, tab: Workspace, qtbot: QtBot, tmp_path: Path
) -> None:
    target = tmp_path / "kept.gradviz"
    with qtbot.waitSignal(window.tabs.said):
        window.tabs.save(tab, str(target))
    window.open_path(str(target))
    again = window.current
    assert again is not None
    assert again is not tab
    qtbot.waitUntil(lambda: again.session.recording is not None, timeout=10_000)
    assert again.session.recording is not None
    assert len(again.session.recording.calls) == 2


def test_the_picture_is_copied(window: MainWindow, tab: Workspace, qtbot: QtBot) -> None:
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(window, Qt.Key.Key_C, both)
    image = QGuiApplication.clipboard().image()
    assert image.width() >= tab.middle.view.width()
    assert image.height() > tab.middle.view.height()  # with header and legend


def test_closing_the_window_closes_the_dialog_and_its_folder(window: MainWindow, tab: Workspace, qtbot: QtBot) -> None:
    dialog = window.tabs.export(tab)
    assert dialog is not None
    qtbot.waitUntil(lambda: dialog.busy, timeout=10_000)
    window.close()
    assert not dialog.busy
    assert not dialog.isVisible()  # that no folder is left is seen by the fixture
