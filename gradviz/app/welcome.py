"""The page of a window in which nothing is open: examples as pictures, earlier files, and what will happen."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QImage, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gradviz.app.examples import Example
from gradviz.app.recovery import Kept
from gradviz.app.texts import tr

CARD = QSize(212, 124)
_FRAME = QSize(22, 38)  # around the picture: border and name
_GAP = 14
_WORDS_WIDTH = 330
_MARGIN = 44
_MOST_RECENT = 6


class Welcome(QScrollArea):
    """Offers things to open.

    Signals:
        open_asked(): the user wants the file dialog.
        chosen(str): the path of what is to be opened.
        discarded(str): the path of an unsaved recording that is to be removed.
    """

    open_asked = Signal()
    chosen = Signal(str)
    discarded = Signal(str)

    def __init__(self, examples: Sequence[Example], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.examples: dict[str, QToolButton] = {}
        self.unsaved_paths: tuple[str, ...] = ()
        self._grid = QGridLayout()
        self._columns = 0
        self._recent = QVBoxLayout()
        self._unsaved = QVBoxLayout()
        self._drop = QLabel(tr("or drop a script, a notebook or a recording anywhere in this window"))
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(tr("Welcome"))
        self.setWidget(self._arrange(examples))

    def _arrange(self, examples: Sequence[Example]) -> QWidget:
        inside = QWidget()
        columns = QHBoxLayout(inside)
        columns.setContentsMargins(_MARGIN, 36, _MARGIN, 30)
        columns.setSpacing(_MARGIN)
        left = QVBoxLayout()
        left.setSpacing(8)
        title = QLabel(tr("See what backward() does"))
        title.setProperty("role", "title")
        words = QLabel(
            tr(
                "Open a PyTorch script. gradviz asks before it runs, runs it unchanged in a process of its own, "
                "records every backward call, and plays the gradients on the graph."
            )
        )
        words.setWordWrap(True)
        words.setProperty("role", "muted")
        words.setFixedWidth(_WORDS_WIDTH)
        self._drop.setProperty("role", "drop")
        self._drop.setObjectName("drop")
        self._drop.setWordWrap(True)
        self._drop.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._drop.setFixedWidth(_WORDS_WIDTH)
        open_button = QPushButton(tr("Open a script or a recording …"))
        open_button.setProperty("role", "primary")
        open_button.clicked.connect(self.open_asked)
        for widget in (title, words):
            left.addWidget(widget)
        left.addSpacing(6)
        left.addWidget(open_button, 0, Qt.AlignmentFlag.AlignLeft)
        left.addSpacing(6)
        left.addWidget(self._drop)
        left.addSpacing(18)
        left.addLayout(self._unsaved)
        left.addLayout(self._recent)
        left.addStretch(1)
        columns.addLayout(left)
        columns.addLayout(self._make_examples(examples), 1)
        return inside

    def _make_examples(self, examples: Sequence[Example]) -> QVBoxLayout:
        right = QVBoxLayout()
        right.setSpacing(10)
        right.addWidget(_section(tr("Examples")))
        self._grid.setSpacing(_GAP)
        self._grid.setAlignment(Qt.AlignmentFlag.AlignLeft)
        for example in examples:
            title, words, path = tr(example.title), tr(example.words), example.path
            button = QToolButton()
            button.setProperty("role", "button")
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
            button.setText(title)
            button.setToolTip(words)
            button.setAccessibleName(title)
            button.setAccessibleDescription(words)
            button.setStatusTip(words)
            button.setIconSize(CARD)
            button.setFixedSize(CARD + _FRAME)
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            button.clicked.connect(lambda _=False, path=path: self.chosen.emit(path))
            self.examples[path] = button
        self._arrange_examples()
        right.addLayout(self._grid)
        right.addStretch(1)
        return right

    def set_dropping(self, dropping: bool) -> None:
        """Light the place for files while some are carried over the window."""
        self._drop.setProperty("lit", dropping)
        self._drop.style().unpolish(self._drop)
        self._drop.style().polish(self._drop)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As many examples beside each other as there is room for."""
        super().resizeEvent(event)
        self._arrange_examples()

    def _arrange_examples(self) -> None:
        room = self.width() - _WORDS_WIDTH - 3 * _MARGIN
        columns = max(1, room // (CARD.width() + _FRAME.width() + _GAP))
        if columns == self._columns:
            return
        self._columns = columns
        for place, button in enumerate(self.examples.values()):
            self._grid.addWidget(button, place // columns, place % columns)

    def set_picture(self, path: str, image: QImage) -> None:
        """Show the picture of an example."""
        if path in self.examples:
            self.examples[path].setIcon(QPixmap.fromImage(image))

    def set_recent(self, paths: Sequence[str]) -> None:
        """List files that were opened before."""
        _empty(self._recent)
        there = [path for path in paths if os.path.exists(path)][:_MOST_RECENT]
        if there:
            self._recent.addWidget(_section(tr("Recent")))
        for path in there:
            folder = os.path.dirname(path).replace(os.path.expanduser("~"), "~")
            self._recent.addWidget(self._link(os.path.basename(path), folder, path))

    def set_unsaved(self, kept: Sequence[Kept]) -> None:
        """List recordings that nobody has saved; those of a crash first, with the offer to remove them."""
        _empty(self._unsaved)
        shown = sorted(kept, key=lambda entry: (not entry.crashed, -entry.seconds))[:_MOST_RECENT]
        self.unsaved_paths = tuple(entry.path for entry in shown)
        if not shown:
            return
        crashed = any(entry.crashed for entry in shown)
        title = (
            tr("gradviz ended unexpectedly: recordings that can be opened again")
            if crashed
            else tr("Earlier runs, not saved")
        )
        self._unsaved.addWidget(_section(title))
        for entry in shown:
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.seconds))
            row = QHBoxLayout()
            row.addWidget(self._link(entry.name, when, entry.path), 1)
            remove = QPushButton(tr("Remove"))
            remove.setProperty("role", "link")
            remove.setAccessibleName(tr("Remove {name}", name=entry.name))
            remove.clicked.connect(lambda _=False, path=entry.path: self.discarded.emit(path))
            row.addWidget(remove)
            holder = QWidget()
            row.setContentsMargins(0, 0, 0, 0)
            holder.setLayout(row)
            self._unsaved.addWidget(holder)
        self._unsaved.addSpacing(12)

    def _link(self, name: str, detail: str, path: str) -> QWidget:
        holder = QWidget()
        layout = QVBoxLayout(holder)
        layout.setContentsMargins(0, 1, 0, 1)
        layout.setSpacing(0)
        button = QPushButton(name)
        button.setProperty("role", "link")
        button.setToolTip(path)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.clicked.connect(lambda: self.chosen.emit(path))
        words = QLabel(detail)
        words.setProperty("role", "muted")
        words.setContentsMargins(3, 0, 0, 0)
        layout.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(words)
        return holder


def _section(text: str) -> QLabel:
    label = QLabel(text.upper() if text.isascii() and len(text) < 30 else text)
    label.setProperty("role", "section")
    label.setWordWrap(True)
    return label


def _empty(layout: QVBoxLayout) -> None:
    while layout.count():
        item = layout.takeAt(0)
        widget = None if item is None else item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
