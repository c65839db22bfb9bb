"""The process of the window: QApplication, look, language, and what must end before it ends."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, QStandardPaths, Qt, QTimer
from PySide6.QtWidgets import QApplication

from gradviz.app.background import Background
from gradviz.app.desktop import FileOpener
from gradviz.app.graph import accessible
from gradviz.app.icons import application_icon, forget_icons
from gradviz.app.look import Look, make_look
from gradviz.app.main_window import MainWindow
from gradviz.app.memory import Collector
from gradviz.app.recovery import Recovery
from gradviz.app.reopening import open_again, open_tabs
from gradviz.app.run_adapter import Endings
from gradviz.app.settings import Settings
from gradviz.app.signals import closed_by_signals
from gradviz.app.translation import Translation, language_of
from gradviz.app.workspace import Services
from gradviz.layout.client import LayoutClient

# Threads that compute hold the interpreter for so long (seconds) before the event loop gets its turn. Painting makes
# hundreds of calls that may each wait as long: measured, 3,000 boxes took 1.2 s beside a busy thread at the default
# of 5 ms.
_SWITCH_INTERVAL = 0.0005


class Application:
    """Everything that lives as long as the window. `close` ends all of it."""

    def __init__(self, qt: QApplication, settings: Settings, recovery: Recovery) -> None:
        self.qt = qt
        self.settings = settings
        self._interval = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_INTERVAL)
        self._translation = Translation(qt)
        self._translation.use(language_of(settings.language))
        qt.setStyle("Fusion")
        accessible.install()
        recovery.tidy(time.time())
        self.collector = Collector(qt)
        background, studio = Background(qt, threads=4), Background(qt, threads=1)
        self.services = Services(background, studio, LayoutClient(), recovery, settings, self.collector, Endings(qt))
        self.look = self.make_look()
        self.wear(self.look)
        self.window: MainWindow | None = None
        qt.styleHints().colorSchemeChanged.connect(self.follow_system)

    def make_look(self) -> Look:
        """The look that the settings and the system ask for."""
        choice = self.settings.theme
        if choice == "system":
            choice = "dark" if self.system_is_dark() else "light"
        return make_look(choice, self.settings.font_percent)

    def system_is_dark(self) -> bool:
        """Whether the desktop wants light text on dark."""
        return self.qt.styleHints().colorScheme() == Qt.ColorScheme.Dark

    def wear(self, look: Look) -> None:
        """Put a look on everything."""
        self.look = look
        self.qt.setPalette(look.palette())
        self.qt.setFont(look.text_font)
        self.qt.setStyleSheet(look.style_sheet())

    def follow_system(self) -> None:
        """The system, or the settings, ask for another look."""
        look = self.make_look()
        if look != self.look:
            self.wear(look)
            if self.window is not None:
                self.window.set_look(look)

    def open_window(self) -> MainWindow:
        """Make the window."""
        self.window = MainWindow(self.services, self.look)
        self.window.look_asked.connect(self.follow_system)
        self.window.language_asked.connect(self.follow_language)
        self.window.tabs.changed.connect(self.follow_language)
        return self.window

    def follow_language(self) -> None:
        """Speak the language of the settings as soon as no script runs."""
        window = self.window
        if window is not None and self._speaks_another(window):
            # Not while the signal of an object that goes is on its way.
            QTimer.singleShot(0, window, self._change_language)

    def _speaks_another(self, window: MainWindow) -> bool:
        wanted = language_of(self.settings.language)
        return wanted != self._translation.language and not any(tab.running.alive for tab in window.tabs.open_ones)

    def _change_language(self) -> None:
        """Make the window anew, with the same tabs: every word of it is another one."""
        old = self.window
        if old is None or not self._speaks_another(old):
            return
        tabs, shown = open_tabs(old), old.pages.currentIndex()
        old.remember_places()
        self._translation.use(language_of(self.settings.language))
        layout = self.services.layout
        self.services = replace(self.services, layout=LayoutClient())  # its notes are in this language, too
        self.wear(self.make_look())
        new = self.open_window()
        new.show()  # before the other goes, or the application would take that for its end
        old.close()
        old.deleteLater()
        layout.close()
        open_again(new, tabs, shown)

    def open_path(self, path: str) -> None:
        """Open a file that the system hands over."""
        if self.window is not None:
            self.window.open_path(path)

    def close_window(self) -> None:
        """Close the window; without it `qt` ends."""
        if self.window is not None:
            self.window.close()

    def close(self) -> None:
        """End threads and processes."""
        self.qt.styleHints().colorSchemeChanged.disconnect(self.follow_system)
        if self.window is not None:
            self.window.close()
            self.window.deleteLater()
            self.window = None
        self.services.endings.close()
        self.services.layout.close()
        self.services.background.close()
        self.services.studio.close()
        self.qt.setStyleSheet("")
        self._translation.close()
        forget_icons()
        # What was asked to go goes now, while the collector rests: Qt calls us with its locks held when an object goes,
        # and a collection just then, that frees another object, would wait for those locks for ever.
        self.qt.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        self.collector.close()
        sys.setswitchinterval(self._interval)


def recovery_folder() -> str:
    """Where unsaved recordings lie."""
    base = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppLocalDataLocation)
    return os.path.join(base, "recordings")


def run(paths: Sequence[str], python: str | None = None, script_args: Sequence[str] = ()) -> int:
    """Open the window on these files and return when it is closed."""
    existing = QApplication.instance()
    qt = existing if isinstance(existing, QApplication) else QApplication(["gradviz"])
    qt.setApplicationName("gradviz")
    qt.setDesktopFileName("gradviz")
    qt.setWindowIcon(application_icon())
    application = Application(qt, Settings(), Recovery(recovery_folder()))
    window = application.open_window()
    window.show()
    qt.installEventFilter(FileOpener(application.open_path, qt))
    for path in paths:
        window.open_path(path, python, script_args)
    window.pages.setCurrentIndex(0)
    try:
        with closed_by_signals(qt, application.close_window):
            return qt.exec()
    finally:
        application.close()
