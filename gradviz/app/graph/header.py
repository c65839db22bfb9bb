"""The strip above the graph: which call this is and what its step does, in words."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QSizePolicy, QWidget

from gradviz.app.elided import ElidedLabel
from gradviz.app.session import Session
from gradviz.app.texts import tr


class Header(QFrame):
    """Title and sentence of the moment."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.title = QLabel(self)
        self.sentence = ElidedLabel()
        self.title.setProperty("role", "name")
        self.sentence.setProperty("role", "muted")
        self.setProperty("role", "paper")
        self.sentence.setAccessibleName(tr("What happens at this step"))
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.title.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        layout = QGridLayout(self)
        layout.setContentsMargins(24, 12, 20, 6)
        layout.setHorizontalSpacing(26)
        layout.addWidget(self.title, 0, 0)
        layout.addWidget(self.sentence, 0, 1)
        layout.setColumnStretch(1, 1)
        session.story_changed.connect(self._show)
        session.player.beat_changed.connect(self._show)

    def _show(self) -> None:
        frame = self._session.player.frame
        self.title.setText("" if frame is None else frame.title)
        self.sentence.setText("" if frame is None else frame.sentence)
