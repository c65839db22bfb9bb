"""The language of the window: Qt's translator for its texts, a second one for Qt's own, the catalogue for the rest."""

from __future__ import annotations

import os
import sys

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator
from PySide6.QtGui import QFontDatabase

from gradviz import texts
from gradviz.errors import GradvizError
from gradviz.resources import resource
from gradviz.texts import ENGLISH, LANGUAGES, OVERRIDE, system_language


def language_of(choice: str) -> str:
    """`en` or `zh_CN` for what was chosen; `system` asks the desktop. English where no font has Chinese letters."""
    if choice not in LANGUAGES:
        # The variables of gettext are not how these two say it.
        own = sys.platform in ("win32", "darwin") and OVERRIDE not in os.environ
        choice = system_language({OVERRIDE: QLocale.system().name()} if own else os.environ)
    can = bool(QFontDatabase.families(QFontDatabase.WritingSystem.SimplifiedChinese))
    return choice if can else ENGLISH


class Translation:
    """The translators that are installed."""

    def __init__(self, application: QCoreApplication) -> None:
        self._application = application
        self._installed: list[QTranslator] = []
        self.language = ENGLISH

    def use(self, language: str) -> None:
        """Speak this language from now on; widgets that are there keep their words."""
        self.close()
        self.language = language
        if language == ENGLISH:
            return
        folder = resource("translations")
        texts.use_language(language, folder)
        own = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        for name, where in ((f"qtbase_{language}", own), (f"gradviz_{language}", str(folder))):
            translator = QTranslator()
            if translator.load(name, where):
                self._application.installTranslator(translator)
                self._installed.append(translator)
            elif name.startswith("gradviz"):
                raise GradvizError(f"The translation {name!r} of gradviz itself is missing. Install gradviz again.")

    def close(self) -> None:
        """Speak English again."""
        self.language = ENGLISH
        while self._installed:
            self._application.removeTranslator(self._installed.pop())
        texts.use_language(ENGLISH, resource("translations"))
