"""The dock of findings: what happened and what to do, each with the way to what it is about."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from gradviz.app.code_spans import rich
from gradviz.app.icons import icon
from gradviz.app.look import Look
from gradviz.app.seed_offers import offer
from gradviz.app.session import Session
from gradviz.app.texts import tr
from gradviz.model import Finding

MOST_CARDS = 60
_ICON = 16


class FindingsPanel(QScrollArea):
    """The findings of a session as cards.

    Signals:
        shown(Finding): the user asked "show me".
        page_asked(str): the user asked for the page of this code.
        try_asked(Finding): the user wants to try the seed that is offered.
    """

    shown = Signal(object)
    page_asked = Signal(str)
    try_asked = Signal(object)

    def __init__(self, session: Session, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._look = look
        self._cards: list[QFrame] = []
        self._findings: tuple[Finding, ...] = ()
        self.empty = QLabel()
        self.empty.setProperty("role", "muted")
        self.empty.setWordWrap(True)
        self.empty.setContentsMargins(4, 2, 0, 0)
        inside = QWidget()
        self._layout = QVBoxLayout(inside)
        self._layout.setContentsMargins(10, 0, 10, 8)
        self._layout.setSpacing(8)
        self._layout.addWidget(self.empty)
        self._layout.addStretch(1)
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(tr("Findings"))
        session.recording_changed.connect(self.refresh)
        self.refresh()

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._look = look
        self._findings = ()
        self.refresh()

    @property
    def cards(self) -> tuple[QFrame, ...]:
        """The cards, in order."""
        return tuple(self._cards)

    def refresh(self) -> None:
        """Show the findings of the session's recording."""
        loaded, findings = self._session.loaded, self._session.findings
        self.empty.setVisible(not findings)
        if loaded is None:
            self.empty.setText(tr("What is worth knowing about the gradients appears here."))
        elif self._session.explain_failed:
            self.empty.setText(tr("The findings could not be computed. The recording itself is whole."))
        elif loaded.findings is None:
            words = tr("They are looked for when the script has ended.") if loaded.live else tr("Looking …")
            self.empty.setText(words)
        else:
            self.empty.setText(tr("Nothing unusual was found."))
        if findings == self._findings and len(self._cards) == len(findings[:MOST_CARDS]):
            return
        self._findings = findings
        while self._cards:
            card = self._cards.pop()
            self._layout.removeWidget(card)
            card.hide()
            card.deleteLater()
        order = sorted(findings, key=lambda finding: ("error", "warning", "info").index(finding.level))
        for finding in order[:MOST_CARDS]:
            card = self._card(finding)
            self._layout.insertWidget(len(self._cards), card)
            self._cards.append(card)

    def _card(self, finding: Finding) -> QFrame:
        card = QFrame()
        card.setProperty("role", "card")
        card.setProperty("level", finding.level)
        card.setAccessibleName(f"{finding.level}: {finding.message}")
        layout = QVBoxLayout(card)
        layout.setContentsMargins(12, 9, 10, 8)
        layout.setSpacing(4)
        layout.addLayout(self._head(finding))
        layout.addWidget(self._sentence(finding.advice, "muted"))
        links = QGridLayout()
        links.setHorizontalSpacing(12)
        links.setVerticalSpacing(0)
        show = self._link(tr("Show me"), tr("Show me: {what}", what=finding.message))
        show.clicked.connect(lambda: self.shown.emit(finding))
        why = self._link(tr("Why?"), tr("The page of {code}: cause, example, remedy", code=finding.code))
        why.clicked.connect(lambda: self.page_asked.emit(finding.code))
        # Three in one row would be wider than a narrow panel, and its text would be laid out to their width and cut.
        for place, button in enumerate((show, why)):
            links.addWidget(button, 0, place, Qt.AlignmentFlag.AlignLeft)
        for button in self._offer(finding):
            links.addWidget(button, 1, 0, 1, 3, Qt.AlignmentFlag.AlignLeft)
        links.setColumnStretch(2, 1)
        layout.addLayout(links)
        return card

    def _offer(self, finding: Finding) -> list[QPushButton]:
        recording = self._session.recording
        if recording is None or finding.call is None:
            return []
        found = offer(finding, recording.call(finding.call).label)
        if found is None:
            return []
        button = self._link(found.words, tr("{offer}: {what}", offer=found.words, what=finding.message))
        button.clicked.connect(lambda: self.try_asked.emit(finding))
        return [button]

    def _sentence(self, text: str, role: str) -> QLabel:
        label = QLabel(rich(text, self._look.code_font.family()))
        label.setWordWrap(True)
        label.setProperty("role", role)
        label.setTextFormat(Qt.TextFormat.RichText)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return label

    def _link(self, text: str, name: str) -> QPushButton:
        button = QPushButton(text)
        button.setProperty("role", "link")
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.setAccessibleName(name)
        button.setToolTip(name)
        return button

    def _head(self, finding: Finding) -> QHBoxLayout:
        look = self._look
        colour = {"error": look.error, "warning": look.warning, "info": look.leaf}[finding.level]
        picture = QLabel()
        pixmap: QPixmap = icon(finding.level, look, colour.name()).pixmap(_ICON, _ICON)
        picture.setPixmap(pixmap)
        head = QHBoxLayout()
        head.setSpacing(7)
        head.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        head.addWidget(self._sentence(finding.message, "name"), 1)
        return head
