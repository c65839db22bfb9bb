"""What stands in the place of the graph while there is none: what is going on, in words, and what can be done."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget


class WordPage(QWidget):
    """A sentence in the middle, a line under it, perhaps a bar that moves and a button."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "paper")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.title = QLabel()
        self.title.setProperty("role", "title")
        self.words = QLabel()
        self.words.setProperty("role", "muted")
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)
        self.bar.setMaximumWidth(260)
        self.button = QPushButton()
        for label in (self.title, self.words):
            label.setWordWrap(True)
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            label.setMaximumWidth(620)
            label.setMinimumWidth(460)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(30, 30, 30, 30)
        layout.setSpacing(12)
        layout.addStretch(2)
        for widget in (self.title, self.words, self.bar, self.button):
            row = QHBoxLayout()
            row.addStretch(1)
            row.addWidget(widget)
            row.addStretch(1)
            layout.addLayout(row)
        layout.addStretch(3)

    def show_words(self, title: str, words: str, busy: bool, button: str | None = None) -> None:
        """Say something."""
        self.title.setText(title)
        self.words.setText(words)
        self.words.setVisible(bool(words))
        self.bar.setVisible(busy)
        self.button.setVisible(button is not None)
        self.button.setText(button or "")
