"""The dock of calls: every way into the engine, in the script's own words; a click shows it."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QLabel, QTreeView, QVBoxLayout, QWidget

from gradviz.app.look import Look
from gradviz.app.panels.call_model import CallModel, CallPainter
from gradviz.app.running import Running, emptiness
from gradviz.app.session import Session
from gradviz.app.texts import tr


class CallsPanel(QWidget):
    """The calls of a session as a tree.

    Signals:
        call_chosen(int): the number of the call that was clicked or entered.
        menu_asked(int, QPoint): a menu is wanted for this call, at this place of the screen.
    """

    call_chosen = Signal(int)
    menu_asked = Signal(int, QPoint)

    def __init__(self, session: Session, running: Running, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._running = running
        self._look = look
        self.model = CallModel(self)
        self._painter = CallPainter(look, self.colour_of, self)
        self.tree = QTreeView(self)
        self._prepare_tree()
        self.empty = QLabel(self)
        self.empty.setWordWrap(True)
        self.empty.setProperty("role", "muted")
        self.empty.setContentsMargins(6, 2, 10, 10)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 0, 8, 6)
        layout.setSpacing(0)
        layout.addWidget(self.empty)
        layout.addWidget(self.tree, 1)
        layout.addStretch(0)
        session.recording_changed.connect(self.refresh)
        session.story_changed.connect(self._show_current)
        session.player.beat_changed.connect(self._show_current)
        running.changed.connect(self._say_when_empty)
        self.refresh()

    def _prepare_tree(self) -> None:
        tree = self.tree
        tree.setModel(self.model)
        tree.setItemDelegate(self._painter)
        tree.setHeaderHidden(True)
        tree.setUniformRowHeights(True)
        tree.setIndentation(14)
        tree.setMouseTracking(True)
        tree.setAccessibleName(tr("Calls of the script"))
        tree.setRootIsDecorated(False)
        tree.activated.connect(self._choose)
        tree.clicked.connect(self._choose)
        tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        tree.customContextMenuRequested.connect(self._ask_menu)

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._look = look
        self._painter.look = look
        self.tree.doItemsLayout()

    def refresh(self) -> None:
        """Show the calls of the session's recording."""
        entries = self._session.entries
        self.model.set_entries(entries)
        nested = any(entry.children for entry in entries)
        self.tree.setRootIsDecorated(nested)
        self._say_when_empty()
        self._show_current()

    def _say_when_empty(self) -> None:
        count = self.model.rowCount()
        self.tree.setVisible(count > 0)
        self.empty.setVisible(count == 0)
        if count == 0:
            self.empty.setText(emptiness(self._session, self._running))

    def _show_current(self) -> None:
        call = self._session.current_call
        number = None if call is None else call.number
        if number == self._painter.current:
            return
        self._painter.current = number
        index = self.model.of_call(number) if number is not None else QModelIndex()
        if index.isValid():
            self.tree.scrollTo(index)
        self.tree.viewport().update()

    def _choose(self, index: QModelIndex) -> None:
        entry = self.model.entry(index)
        if entry.kind in ("loop", "round", "heading") and self.tree.isExpanded(index) is False:
            self.tree.expand(index)
        if entry.number is not None:
            self.call_chosen.emit(entry.number)

    def _ask_menu(self, point: QPoint) -> None:
        """The mouse asks for what it is on, the keyboard for the current row."""
        index = self.tree.indexAt(point)
        index = index if index.isValid() else self.tree.currentIndex()
        if index.isValid() and (number := self.model.entry(index).number) is not None:
            self.menu_asked.emit(number, self.tree.viewport().mapToGlobal(point))

    def colour_of(self, number: int) -> QColor:
        """The colour of a call."""
        return self._look.call_colour(self._session.call_place(number))
