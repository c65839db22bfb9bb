"""Shows the two calls in a window of its own process, at the scale of QT_SCALE_FACTOR, and writes what is seen.

usage: python -m tests.app.shot THEME LANGUAGE OUT.png [RECORDING]   prints facts about the picture as JSON

RECORDING must be of `resources/examples/accumulate.py`; without one the calls are made by hand.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from dataclasses import replace

from PySide6.QtCore import QSettings
from PySide6.QtGui import QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from gradviz.app.application import Application
from gradviz.app.graph import camera as lens
from gradviz.app.main_window import MainWindow
from gradviz.app.recovery import Recovery
from gradviz.app.settings import Settings
from gradviz.app.workspace import Workspace
from gradviz.model import Recording
from gradviz.store.reader import open_recording
from tests.app.conftest import loaded
from tests.recordings import two_calls


def main(theme: str, language: str, out: str, recording: str | None = None) -> None:
    """Take the picture."""
    with tempfile.TemporaryDirectory() as folder:
        store = QSettings(f"{folder}/settings.ini", QSettings.Format.IniFormat)
        store.setValue("look/theme", theme)
        store.setValue("look/language", language)
        application = Application(QApplication(["gradviz"]), Settings(store), Recovery(f"{folder}/recordings"))
        window = application.open_window()
        window.resize(1400, 900) if recording is None else window.resize(1600, 1000)
        window.show()
        application.services.layout.wait_until_warm()
        tab = window.tabs.add()
        opened = two_calls() if recording is None else open_recording(recording)
        tab.session.take(replace(loaded(opened), output=opened.source.output()))
        wait(application.qt, lambda: tab.middle.view.picture is not None and tab.session.findings != ())
        chosen = "t1" if recording is None else "t2"
        tab.session.select([chosen if recording is None else key_of(opened, chosen)])
        wait(application.qt, lambda: tab.inspector.name.text() == chosen and tab.drawing.legend is not None)
        wait(
            application.qt, lambda: all(card.height() > 40 for card in tab.findings.cards) and tab.findings.cards != ()
        )
        wait(application.qt, lambda: settled(tab) and tab.inspector.rows.height() > 40)
        picture = at_rest(window)
        picture.save(out)
        print(json.dumps(facts(window, tab, picture.toImage().width())))
        application.close()


def key_of(recording: Recording, name: str) -> str:
    """The key of the node with this name in the last call."""
    return next(node.key for node in recording.graph(recording.calls[-1].number).nodes if node.name == name)


def wait(qt: QApplication, until: object) -> None:
    """Let the event loop run until something holds, for a minute at most."""
    end = time.monotonic() + 60
    while not until() and time.monotonic() < end:  # type: ignore[operator]
        qt.processEvents()
    assert until()  # type: ignore[operator]


def at_rest(window: QWidget) -> QPixmap:
    """A picture of the window when nothing in it is laid out anew any more: two looks, a while apart, see the same."""
    seen = window.grab().toImage()
    for _ in range(100):
        QTest.qWait(200)
        before, seen = seen, window.grab().toImage()
        if before == seen:
            return QPixmap.fromImage(seen)
    raise AssertionError("the window does not come to rest")


def settled(tab: Workspace) -> bool:
    """Whether the picture that is shown has the size of the view: the legend takes some of its height."""
    shown, view = tab.middle.view.shown, tab.middle.view
    return shown is not None and (shown.request.width, shown.request.height) == (view.width(), view.height())


def facts(window: MainWindow, tab: Workspace, width: int) -> dict[str, object]:
    """What a test asks about the picture."""
    view, scene = tab.middle.view, tab.drawing.scene
    image = view.picture
    assert image is not None
    assert scene is not None
    box = tab.drawing.boxes_of(["t1"])[0]
    left, top, _, bottom = scene.cards[box.index]
    x, y = lens.to_widget(view.camera, view.extent, left + 5, (top + bottom) / 2)
    ratio = window.devicePixelRatioF()
    labels = (window.state_label, tab.middle.header.title)
    cut = [label.text() for label in labels if label.width() < label.sizeHint().width()]
    return {
        "ratio": ratio,
        "width": width,
        "view": [image.width() / view.width(), image.height() / view.height()],
        "paper": image.pixelColor(3, 3).name(),
        "leaf": image.pixelColor(round(x * ratio), round(y * ratio)).name(),
        "legend": 0 if tab.drawing.legend is None else tab.drawing.legend.devicePixelRatio(),
        "cut": cut,
        "title": tab.middle.header.title.text(),
        "run": window.actions_by_name["run"].text(),
    }


if __name__ == "__main__":
    main(*sys.argv[1:5])
