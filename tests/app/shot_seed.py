"""Tries another seed on an example, in a window of its own process, and writes what is seen.

usage: python -m tests.app.shot_seed THEME LANGUAGE OUT.png
"""

from __future__ import annotations

import sys
import tempfile

from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtGui import QColor, QPainter, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gradviz.app.application import Application
from gradviz.app.main_window import MainWindow
from gradviz.app.recovery import Recovery
from gradviz.app.settings import Settings
from gradviz.resources import resource
from tests.app.shot import at_rest, settled, wait

SEED = "ones - 3 * one_hot(2)"
MARGIN = 24


def main(theme: str, language: str, out: str) -> None:
    """Take the picture."""
    with tempfile.TemporaryDirectory() as folder:
        store = QSettings(f"{folder}/settings.ini", QSettings.Format.IniFormat)
        store.setValue("look/theme", theme)
        store.setValue("look/language", language)
        application = Application(QApplication(["gradviz"]), Settings(store), Recovery(f"{folder}/recordings"))
        window = application.open_window()
        window.resize(1640, 940)
        window.show()
        application.services.layout.wait_until_warm()
        picture = take(application.qt, window)
        picture.save(out)
        application.close()


def take(qt: QApplication, window: MainWindow) -> QPixmap:
    """Open the example, type the seed, press Enter; window and dialog when the experiment has been played."""
    window.open_path(str(resource("examples", "seed_vector.py")))
    tab = window.current
    assert tab is not None
    wait(qt, lambda: tab.drawing.scene is not None)
    dialog = tab.seeds.try_call("1")
    assert dialog is not None
    wait(qt, lambda: dialog.ready)
    dialog.resize(430, 400)
    editor = dialog.editors[0]
    editor.line.selectAll()
    QTest.keyClicks(editor.line, SEED)
    wait(qt, lambda: editor.fit is not None)
    tried: list[str] = []
    dialog.tried.connect(tried.append)
    QTest.keyClick(editor.line, Qt.Key.Key_Return)
    wait(qt, lambda: tried != [] and tab.session.player.at_end and settled(tab) and dialog.ready)
    wait(qt, lambda: tab.middle.view.shown is not None and tab.middle.view.shown.request.frame is tab.middle.view.frame)
    return together(at_rest(window), at_rest(dialog), QColor(window.look.line))


def together(window: QPixmap, dialog: QPixmap, line: QColor) -> QPixmap:
    """The dialog over the lower right of the window, as on a screen."""
    ratio = window.devicePixelRatio()
    size = window.size() / ratio, dialog.size() / ratio
    corner = QPoint(size[0].width() - size[1].width() - MARGIN, size[0].height() - size[1].height() - 4 * MARGIN)
    painter = QPainter(window)
    painter.drawPixmap(corner, dialog)
    painter.setPen(line)
    painter.drawRect(corner.x() - 1, corner.y() - 1, size[1].width() + 1, size[1].height() + 1)
    painter.end()
    return window


if __name__ == "__main__":
    main(*sys.argv[1:4])
