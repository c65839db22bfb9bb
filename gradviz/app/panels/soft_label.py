"""A label for names of code in a narrow panel: a long word breaks where a reader would break it."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt
from PySide6.QtGui import QClipboard, QContextMenuEvent, QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QLabel, QMenu, QWidget

from gradviz.app.texts import tr

_BREAK = "\u200b"  # no width, and a line may end here
_LONG = re.compile(r"\S{10,}")
_PLACE = re.compile(r"(?<=[._/@])(?=[^\W\d])|(?<=[a-z0-9])(?=[A-Z])")


def softened(text: str) -> str:
    """The text with places in its long words at which a line may end: after a dot or `_`, before a capital."""
    return _LONG.sub(lambda word: _PLACE.sub(_BREAK, word[0]), text)


class SoftLabel(QLabel):
    """Words that wrap. The places to break are seen nowhere else: what is copied is what was set."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._plain = ""
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setText(text)

    def text(self) -> str:
        """What was set."""
        return self._plain

    def setText(self, text: str) -> None:
        """Show other words."""
        self._plain = text
        super().setText(softened(text))

    def set_link(self, html: str) -> None:
        """Show a link whose words were softened; Tab goes from link to link and Enter follows one."""
        self._plain = html.replace(_BREAK, "")
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        super().setText(html)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy what is selected."""
        if event.matches(QKeySequence.StandardKey.Copy) and self.hasSelectedText():
            self._copy(QClipboard.Mode.Clipboard)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        action = menu.addAction(tr("&Copy"))
        action.setEnabled(self.hasSelectedText())
        action.triggered.connect(lambda: self._copy(QClipboard.Mode.Clipboard))
        menu.popup(event.globalPos())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """On X11 a selection is copied at once."""
        super().mouseReleaseEvent(event)
        if self.hasSelectedText() and QGuiApplication.clipboard().supportsSelection():
            self._copy(QClipboard.Mode.Selection)

    def _copy(self, mode: QClipboard.Mode) -> None:
        QGuiApplication.clipboard().setText(self.selectedText().replace(_BREAK, ""), mode)
