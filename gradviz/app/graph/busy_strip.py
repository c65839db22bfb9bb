"""What is being computed, over a corner of the graph, with the way to give it up."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from gradviz.app.texts import tr


class BusyStrip(QFrame):
    """A sentence and a button; hidden while nothing is at work.

    Signals:
        cancelled(): the user does not want to wait.
    """

    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.words = QLabel()
        self.words.setProperty("role", "muted")
        self.button = QPushButton(tr("Cancel"))
        self.button.setProperty("role", "link")
        self.button.setCursor(Qt.CursorShape.PointingHandCursor)
        self.button.clicked.connect(self.cancelled)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(10, 3, 8, 3)
        layout.addWidget(self.words)
        layout.addWidget(self.button)
        self.hide()

    def tell(self, words: str, can_cancel: bool) -> None:
        """Say what is at work; nothing hides the strip."""
        self.words.setText(words)
        self.button.setVisible(can_cancel)
        self.setVisible(bool(words))
        self.adjustSize()
