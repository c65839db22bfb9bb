"""Finding nodes while looking at the graph: a line to type in, filters, and what was found as a list."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractListModel, QEvent, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gradviz.app.background import Task
from gradviz.app.icons import icon
from gradviz.app.look import Look
from gradviz.app.search import Match, Matches, filters, search
from gradviz.app.session import Session
from gradviz.app.texts import tr, trn

_WIDTH = 440
_MOST_ROWS = 9


class FindBar(QFrame):
    """Lies over the upper right corner of the graph.

    Signals:
        chosen(int): a node of the stage was chosen.
        closed(): the user is done.
    """

    chosen = Signal(int)
    closed = Signal()

    def __init__(self, session: Session, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._task: Task[Matches] | None = None
        self._call: int | None = None  # in which was searched
        self.line = QLineEdit(self)
        self.count = QLabel(self)
        self.model = _MatchModel(self)
        self.list = QListView(self)
        self._filter = QToolButton(self)
        self._close = QToolButton(self)
        self._arrange(look)
        self.line.textChanged.connect(self._search)
        self.list.clicked.connect(self._choose)
        self.list.activated.connect(self._choose)
        self._close.clicked.connect(self.done)
        self.line.installEventFilter(self)
        session.story_changed.connect(self._search)
        session.player.beat_changed.connect(self._search_again)
        self.hide()

    def _arrange(self, look: Look) -> None:
        self.setProperty("role", "card")
        self.setFixedWidth(_WIDTH)
        self.line.setPlaceholderText(tr("Name, op, line:12, module, shape …"))
        self.line.setAccessibleName(tr("Find nodes"))
        self.line.setClearButtonEnabled(True)
        self.list.setModel(self.model)
        self.list.setAccessibleName(tr("Nodes that were found"))
        self.list.setUniformItemSizes(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)  # it would hide a row
        self.count.setProperty("role", "muted")
        self._filter.setText(tr("Filter"))
        self._filter.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self._filter)
        for words, typed in filters():
            menu.addAction(words).triggered.connect(lambda _=False, typed=typed: self.line.setText(typed))
        this_line = menu.addAction(tr("made by the line of the selected node"))
        this_line.triggered.connect(self._this_line)
        menu.aboutToShow.connect(lambda: this_line.setEnabled(self._line() is not None))
        self._filter.setMenu(menu)
        self._close.setAccessibleName(tr("Close the search"))
        self._close.setToolTip(tr("Close the search"))
        top = QHBoxLayout()
        for widget in (self.line, self._filter, self._close):
            top.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 8, 8, 8)
        layout.setSpacing(6)
        layout.addLayout(top)
        layout.addWidget(self.count)
        layout.addWidget(self.list)
        self.set_look(look)

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._close.setIcon(icon("close", look, look.muted.name()))

    def begin(self) -> None:
        """Show the bar, ready to type."""
        self.show()
        self.raise_()
        self.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.line.selectAll()
        self._search()

    def done(self) -> None:
        """Hide the bar."""
        self.hide()
        self.closed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys that belong to the list although the line has the focus."""
        if watched is self.line and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() == Qt.Key.Key_Escape:
                self.done()
                return True
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
                self._move(1 if event.key() == Qt.Key.Key_Down else -1)
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._choose(self.list.currentIndex())
                return True
        return super().eventFilter(watched, event)

    # -- searching -----------------------------------------------------------------------------------------------------

    def _search(self) -> None:
        if self._task is not None:
            self._task.cancel()
        story, text = self._session.story, self.line.text().strip()
        if story is None or not story.timeline.acts or not text or not self.isVisible():
            self._take(Matches((), 0))
            return
        call = self._session.current_call
        self._call = number = None if call is None else call.number
        self._task = self._session.background.submit(
            lambda task: search(story.timeline, number, text), self._take, self.count.setText
        )

    def _take(self, matches: Matches) -> None:
        self._task = None
        self.model.set_matches(matches.shown)
        typed = bool(self.line.text().strip())
        words = trn("{n} node", "{n} nodes", matches.total) if matches.total else tr("Nothing was found.")
        if matches.total > len(matches.shown):
            words = tr("{words}, the first {n} are listed", words=words, n=len(matches.shown))
        self.count.setText(words if typed else "")
        self.count.setVisible(typed)
        rows = min(len(matches.shown), _MOST_ROWS)
        self.list.setVisible(rows > 0)
        self.list.setFixedHeight(rows * max(self.list.sizeHintForRow(0), 1) + 2)
        if rows:
            self.list.setCurrentIndex(self.model.index(0))
        self.adjustSize()

    def _line(self) -> int | None:
        node = self._session.selected_node
        return None if node is None or node.place is None else node.place.line

    def _this_line(self) -> None:
        line = self._line()
        if line is not None:
            self.line.setText(f"line:{line}")

    def _search_again(self) -> None:
        """What was found is of the call that was shown."""
        call = self._session.current_call
        if self.isVisible() and call is not None and call.number != self._call:
            self._search()

    def _move(self, by: int) -> None:
        row = min(max(self.list.currentIndex().row() + by, 0), self.model.rowCount() - 1)
        self.list.setCurrentIndex(self.model.index(row))

    def _choose(self, index: QModelIndex) -> None:
        if index.isValid():
            self.chosen.emit(self.model.matches[index.row()].node)


class _MatchModel(QAbstractListModel):
    """What was found, a row each."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.matches: tuple[Match, ...] = ()

    def set_matches(self, matches: tuple[Match, ...]) -> None:
        self.beginResetModel()
        self.matches = matches
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.matches)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        match = self.matches[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return f"{match.title}    {match.detail}"
        return None
