"""A strip above the graph that tells something and offers what to do about it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from gradviz.app.texts import tr


class Banner(QFrame):
    """A sentence with a button.

    Signals:
        accepted(): the button was pressed, and `tell` did not say what it does.
    """

    accepted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._do: Callable[[], object] | None = None
        self.setProperty("role", "banner")
        self.words = QLabel()
        self.button = QPushButton()
        self.button.setProperty("role", "link")
        later = QPushButton(tr("Not now"))
        later.setProperty("role", "link")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(24, 5, 16, 5)
        layout.setSpacing(16)
        layout.addWidget(self.words)
        layout.addWidget(self.button)
        layout.addStretch(1)
        layout.addWidget(later)
        for button in (self.button, later):
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            button.clicked.connect(self.hide)
        self.button.clicked.connect(self._accept)
        self.hide()

    def tell(self, words: str, button: str, do: Callable[[], object] | None = None) -> None:
        """Show a sentence; the button does `do`."""
        self._do = do
        self.words.setText(words)
        self.words.setToolTip("")
        self.button.setText(button)
        self.show()

    def _accept(self) -> None:
        if self._do is None:
            self.accepted.emit()
        else:
            self._do()
