"""The history of a `.grad`: what each call brought, where it was cleared, what it held when an optimizer stepped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QBrush, QColor
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QLabel, QPushButton, QTableView, QVBoxLayout, QWidget

from gradviz.app.background import Errands, Task
from gradviz.app.history_facts import Shown, held, histories_of, short, shown, supposed, what
from gradviz.app.look import Look
from gradviz.app.panels.history_chart import HistoryChart
from gradviz.app.texts import tr
from gradviz.model import Recording
from gradviz.playback.history import GradHistory

Index = QModelIndex | QPersistentModelIndex
_MOST_ROWS_SEEN = 7


class HistoryView(QWidget):
    """Chart and table of one `.grad`; worked out once a recording, in the background.

    Signals:
        shown_changed(): another history, or another supposition, is shown.
        answered(): what would have been, is told in `words`.
        call_chosen(int): the user wants to see this call.
        failed(str): the history could not be read; a sentence.
    """

    shown_changed = Signal()
    answered = Signal()
    call_chosen = Signal(int)
    failed = Signal(str)

    def __init__(
        self, background: Errands, look: Look, colour_of: Callable[[int], QColor], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._background = background
        self._recording: Recording | None = None
        self._histories: dict[tuple[int, int], GradHistory] | None = None
        self._task: Task[dict[tuple[int, int], GradHistory]] | None = None
        self._wanted: tuple[tuple[int, int], ...] = ()
        self._shown: Shown | None = None
        self.summary = QLabel()
        self.chart = HistoryChart(look, colour_of)
        self.model = HistoryModel(look, colour_of, self)
        self.table = QTableView()
        self.suppose = QPushButton(tr("As if cleared here"))
        self.undo = QPushButton(tr("As it was"))
        self.words = QLabel()
        self._arrange(look)

    def _arrange(self, look: Look) -> None:
        for label, role in ((self.summary, "muted"), (self.words, "strong")):
            label.setProperty("role", role)
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        table = self.table
        table.setModel(self.model)
        table.setAccessibleName(tr("History of .grad"))
        table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        table.setShowGrid(False)
        table.setTabKeyNavigation(False)
        table.verticalHeader().hide()
        table.horizontalHeader().setAccessibleName(tr("History of .grad"))
        table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft)
        table.horizontalHeader().setHighlightSections(False)  # bold words would be cut
        table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        table.selectionModel().currentRowChanged.connect(lambda current, _: self._choose(current.row()))
        table.activated.connect(self._show_call)
        table.doubleClicked.connect(self._show_call)
        self.chart.chosen.connect(lambda row: table.setCurrentIndex(self.model.index(row, 0)))
        self.suppose.clicked.connect(self._suppose)
        self.undo.clicked.connect(self._undo)
        buttons = QHBoxLayout()
        buttons.addWidget(self.suppose)
        buttons.addWidget(self.undo)
        buttons.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        for widget in (self.summary, self.chart, self.table):
            layout.addWidget(widget)
        layout.addLayout(buttons)
        layout.addWidget(self.words)
        self.set_look(look)
        self.hide()

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self.chart.set_look(look)
        self.model.set_look(look)
        self.table.setFont(look.code_font)
        self._fit()

    @property
    def history(self) -> GradHistory | None:
        """What is shown."""
        return None if self._shown is None else self._shown.history

    # -- which one -----------------------------------------------------------------------------------------------------

    def set_subject(self, recording: Recording | None, keys: tuple[tuple[int, int], ...]) -> None:
        """Show the first of the histories of these nodes and outputs that there is; nothing where there is none."""
        if keys and keys == self._wanted and recording is self._recording:
            return
        self._wanted = keys
        self._show(None)
        if recording is None or not keys:
            return
        if recording is not self._recording:
            self._read(recording)
        elif self._histories is not None:
            self._choose_history()

    def _read(self, recording: Recording) -> None:
        if self._task is not None:
            self._task.cancel()
        self._recording, self._histories = recording, None
        self._task = self._background.submit(
            lambda task: histories_of(recording, task.check), self._take, self.failed.emit
        )

    def _take(self, histories: dict[tuple[int, int], GradHistory]) -> None:
        self._task = None
        self._histories = histories
        self._choose_history()

    def _choose_history(self) -> None:
        histories = self._histories or {}
        found = next((histories[key] for key in self._wanted if key in histories), None)
        self._show(None if found is None else shown(found))

    # -- what is seen --------------------------------------------------------------------------------------------------

    def _show(self, now: Shown | None) -> None:
        self._shown = now
        # One call that brought all that there is tells nothing that the bar above does not tell.
        self.setVisible(now is not None and len(now.rows) > 1)
        self.summary.setText("" if now is None else now.summary)
        self.words.setText("" if now is None else now.supposition)
        self.words.setVisible(bool(self.words.text()))
        self.undo.setVisible(now is not None and now.cleared is not None)
        self.chart.set_shown(now)
        self.model.set_shown(now)
        self._fit()
        self._choose(-1)
        self.shown_changed.emit()

    def _fit(self) -> None:
        rows = min(self.model.rowCount(), _MOST_ROWS_SEEN)
        metrics = self.table.fontMetrics()
        self.table.verticalHeader().setDefaultSectionSize(metrics.height() + 6)
        header = self.table.horizontalHeader()
        self.table.setFixedHeight(rows * (metrics.height() + 6) + header.sizeHint().height() + 4)
        header.setMinimumSectionSize(20)
        for column in range(self.model.columnCount()):
            mode = QHeaderView.ResizeMode.Fixed if column < 2 else QHeaderView.ResizeMode.Stretch
            header.setSectionResizeMode(column, mode)
        header.resizeSection(0, metrics.horizontalAdvance("8888") + 12)
        header.resizeSection(1, metrics.horizontalAdvance(tr("not kept")) + 12)

    def _choose(self, row: int) -> None:
        self.chart.mark(row)
        now = self._shown
        later = now is not None and row >= 0 and any(e.kind == "brought" for e, _ in now.rows[row:])
        self.suppose.setEnabled(later)

    def _suppose(self) -> None:
        row = self.table.currentIndex().row()
        if self._shown is None or row < 0:
            return
        found = supposed(self._shown.history, row)
        if found is not None:
            self._show(found)
            self.table.setCurrentIndex(self.model.index(row, 0))
            self.answered.emit()

    def _undo(self) -> None:
        if self._shown is not None:
            row = self.table.currentIndex().row()
            self._show(shown(self._shown.history))
            self.table.setCurrentIndex(self.model.index(row, 0))

    def _show_call(self, index: QModelIndex) -> None:
        if self._shown is not None and index.isValid():
            call = self._shown.rows[index.row()][0].call
            if call is not None:
                self.call_chosen.emit(call)


class HistoryModel(QAbstractTableModel):
    """A row for each thing that happened; only what is seen is made into text."""

    def __init__(self, look: Look, colour_of: Callable[[int], QColor], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._colour_of = colour_of
        self._shown: Shown | None = None

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._look = look
        self.layoutChanged.emit()

    def set_shown(self, now: Shown | None) -> None:
        """Show another history."""
        self.beginResetModel()
        self._shown = now
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        """How many rows there are."""
        return 0 if self._shown is None or parent.isValid() else len(self._shown.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """How many columns there are."""
        if self._shown is None or parent.isValid():
            return 0
        return 4 if self._shown.cleared is None else 5

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The name of a column."""
        if role != Qt.ItemDataRole.DisplayRole or orientation != Qt.Orientation.Horizontal:
            return None
        return (tr("Call"), tr("What"), tr("Brought"), ".grad", tr("As if"))[section]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What is shown of a cell, role by role."""
        if self._shown is None:
            return None
        entry, other = self._shown.rows[index.row()]
        column = index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            brought = short(entry.incoming) if entry.kind == "brought" else ""
            return (entry.label or "", what(entry), brought, held(entry), held(other))[column]
        if column == 0 and entry.call is not None and role == Qt.ItemDataRole.BackgroundRole:
            return QBrush(self._colour_of(entry.call))
        if column == 0 and entry.call is not None and role == Qt.ItemDataRole.ForegroundRole:
            return QBrush(self._look.on(self._colour_of(entry.call)))
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._ink(entry.kind, column)
        if role == Qt.ItemDataRole.ToolTipRole and entry.place is not None:
            return f"{entry.place.file}:{entry.place.line}"
        return None

    def _ink(self, kind: str, column: int) -> QBrush | None:
        if column == 4:
            return QBrush(self._look.accent_ink)
        if kind == "brought":
            return None
        return QBrush(self._look.error if kind == "cleared" else self._look.muted)
