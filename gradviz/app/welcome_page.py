"""Feeds the welcome page: pictures of the examples painted in the background, recent files, unsaved recordings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from gradviz.app.background import Errands
from gradviz.app.examples import bundled, recording_of, thumbnail
from gradviz.app.look import Look
from gradviz.app.welcome import CARD, Welcome

if TYPE_CHECKING:
    from gradviz.app.workspace import Services


class WelcomePage(Welcome):
    """The welcome page of a window."""

    def __init__(self, services: Services, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(bundled(), parent)
        self._services = services
        self._pictures = Errands(services.studio)
        self._theme = look.colors.name
        self._painted = ""
        self.discarded.connect(self._discard)

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._theme = look.colors.name
        self.refresh()

    def refresh(self) -> None:
        """Bring everything up to date; the pictures are painted once per theme."""
        self.set_recent(self._services.settings.recent)
        self.set_unsaved(self._services.recovery.kept())
        if self._painted == self._theme:
            return
        self._painted = self._theme
        for path in self.examples:
            recording = recording_of(path)
            if recording is not None:
                self._paint(path, recording)

    def close_pictures(self) -> None:
        """Want no more pictures: the page goes."""
        self._pictures.close()

    def _paint(self, path: str, recording: str) -> None:
        ratio, name = self.devicePixelRatioF(), self._theme
        self._pictures.submit(
            lambda task: thumbnail(recording, CARD, ratio, name, task),
            lambda image: self.set_picture(path, image),
            lambda why: None,  # an example without a picture is still an example; opening it tells the reason
        )

    def _discard(self, path: str) -> None:
        self._services.recovery.discard(path)
        self.refresh()
