"""A tensor to look at: as numbers, as a heat map, as a histogram; slice by slice; to copy and to save."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QMenu,
    QSpinBox,
    QStackedWidget,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gradviz.app.files import write_whole
from gradviz.app.inspector_facts import Viewable
from gradviz.app.look import Look
from gradviz.app.panels.index_spins import add_spin, index_spin
from gradviz.app.panels.matrix import Slice, as_csv, as_npy, as_text, as_torch, leading, slice_of
from gradviz.app.panels.tensor_paint import HeatMap, Histogram, cell_colour
from gradviz.app.texts import tr
from gradviz.errors import GradvizError
from gradviz.model import TensorValue
from gradviz.model.numbers import number_text, shape_text

Index = QModelIndex | QPersistentModelIndex
_FRAME = 40  # pixels of a box with a choice, beside its text


class TensorView(QWidget):
    """Shows one of several tensors.

    Signals:
        failed(str): something could not be written; a sentence.
    """

    failed = Signal(str)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._tensors: tuple[Viewable, ...] = ()
        self.choice = QComboBox(self)
        self.mode = QComboBox(self)
        self._menu_button = QToolButton(self)
        self._slices = QGridLayout()
        self._spins: list[QSpinBox] = []
        self._note = QLabel(self)
        self.model = MatrixModel(look, self)
        self.table = QTableView(self)
        self.heat = HeatMap(look, self)
        self.bars = Histogram(look, self)
        self._stack = QStackedWidget(self)
        self._prepare()

    def _prepare(self) -> None:
        for text in (tr("Numbers"), tr("Heat map"), tr("Histogram")):
            self.mode.addItem(text)
        self.mode.setAccessibleName(tr("How the tensor is shown"))
        self.choice.setAccessibleName(tr("Which tensor is shown"))
        self.choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.mode.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._note.setProperty("role", "muted")
        self._note.setWordWrap(True)
        self.table.setModel(self.model)
        self.table.setAccessibleName(tr("Values of the tensor"))
        self.table.setShowGrid(False)
        self.table.horizontalHeader().setDefaultSectionSize(68)
        self.table.horizontalHeader().setMinimumSectionSize(40)
        self._menu_button.setText(tr("Copy"))
        self._menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu_button.setMenu(self._make_menu())
        for widget in (self.table, self.heat, self.bars):
            self._stack.addWidget(widget)
        shown = QHBoxLayout()
        shown.addWidget(self.mode, 1)
        shown.addWidget(self._menu_button)
        head = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._choice_place = head
        head.addWidget(self.choice, 1)
        head.addLayout(shown)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addLayout(self._slices)
        layout.addWidget(self._note)
        layout.addWidget(self._stack, 1)
        self.choice.currentIndexChanged.connect(self._take_tensor)
        self.mode.currentIndexChanged.connect(self._stack.setCurrentIndex)
        self._stack.setMinimumHeight(150)

    def _make_menu(self) -> QMenu:
        menu = QMenu(self._menu_button)
        forms: tuple[tuple[str, Callable[[TensorValue], str]], ...] = (
            (tr("Copy as text"), as_text),
            (tr("Copy as torch.tensor(…)"), as_torch),
            (tr("Copy as CSV"), as_csv),
        )
        for text, form in forms:
            menu.addAction(text).triggered.connect(lambda _=False, form=form: self._copy(form))
        menu.addSeparator()
        menu.addAction(tr("Save as .npy …")).triggered.connect(self._save)
        return menu

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow panel the name of the tensor has a row of its own, or it could not be read."""
        super().resizeEvent(event)
        self._place_choice()

    def _place_choice(self) -> None:
        texts = [self.choice.itemText(at) for at in range(self.choice.count())]
        widest = max((self.choice.fontMetrics().horizontalAdvance(text) for text in texts), default=0) + _FRAME
        others = self.mode.sizeHint().width() + self._menu_button.sizeHint().width() + 2 * self._choice_place.spacing()
        is_narrow = self.width() < widest + others
        direction = QBoxLayout.Direction.TopToBottom if is_narrow else QBoxLayout.Direction.LeftToRight
        self._choice_place.setDirection(direction)

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._look = look
        self.model.set_look(look)
        self.table.setFont(look.code_font)
        self.heat.set_look(look)
        self.bars.set_look(look)

    def set_tensors(self, tensors: Sequence[Viewable]) -> None:
        """Offer other tensors; the kind that was looked at stays chosen."""
        kept = self.choice.currentText()
        self._tensors = tuple(tensors)
        self.choice.blockSignals(True)
        self.choice.clear()
        for tensor in self._tensors:
            self.choice.addItem(tensor.label)
        self.choice.setCurrentIndex(max(self.choice.findText(kept), 0) if self._tensors else -1)
        self.choice.blockSignals(False)
        self._place_choice()
        # A single number is told by the rows above already.
        worth = any(tensor.value is not None and tensor.value.numel > 1 for tensor in self._tensors)
        self.setVisible(worth)
        self._take_tensor()

    @property
    def value(self) -> TensorValue | None:
        """The tensor that is shown."""
        place = self.choice.currentIndex()
        return self._tensors[place].value if 0 <= place < len(self._tensors) else None

    # -- one tensor ----------------------------------------------------------------------------------------------------

    def _take_tensor(self) -> None:
        value = self.value
        while self._spins:
            spin = self._spins.pop()
            self._slices.removeWidget(spin)
            spin.deleteLater()
        for dimension, size in enumerate(() if value is None or value.data is None else leading(value)):
            spin = index_spin(dimension, size, tr("Slice of dimension {n}", n=dimension))
            spin.valueChanged.connect(self._take_slice)
            add_spin(self._slices, spin)
            self._spins.append(spin)
        self._note.setText(self._words(value))
        self._menu_button.setEnabled(value is not None and value.data is not None)
        self.bars.set_value(value)
        self._take_slice()

    def _take_slice(self) -> None:
        value = self.value
        cells = None if value is None else slice_of(value, [spin.value() for spin in self._spins])
        self.model.set_slice(cells)
        self.heat.set_slice(cells)
        self._stack.setVisible(cells is not None)

    def _words(self, value: TensorValue | None) -> str:
        if value is None:
            return tr("None: no gradient is defined here, which is not the same as zero.")
        if value.unreadable is not None:
            return tr("The values could not be read: {why}.", why=value.unreadable)
        parts = [f"{shape_text(value.full_shape)} {value.dtype}"]
        stats = value.statistics
        if stats is not None:
            parts.append(tr("norm {x}", x=number_text(stats.norm)))
            if stats.min is not None and stats.max is not None and value.numel > 1:
                parts.append(tr("min {x}", x=number_text(stats.min)))
                parts.append(tr("max {x}", x=number_text(stats.max)))
            counts = ((stats.nan, "nan"), (stats.inf, "inf"), (stats.zero, "0"))
            parts += [f"{count:,} × {what}" for count, what in counts if count]
        if value.data is None and value.thumbnail is not None:
            parts.append(tr("too large to be kept whole: means of blocks are shown"))
        return " · ".join(parts)

    def _copy(self, form: Callable[[TensorValue], str]) -> None:
        if self.value is not None:
            QGuiApplication.clipboard().setText(form(self.value))

    def _save(self) -> None:
        value = self.value
        if value is None:
            return
        path, _ = QFileDialog.getSaveFileName(self, tr("Save the tensor"), "tensor.npy", "NumPy (*.npy)")
        if path:
            self.save_to(path if os.path.splitext(path)[1] else path + ".npy")

    def save_to(self, path: str) -> None:
        """Write the tensor that is shown as a NumPy file."""
        try:
            if self.value is not None:
                write_whole(path, as_npy(self.value))
        except GradvizError as error:
            self.failed.emit(str(error))


class MatrixModel(QAbstractTableModel):
    """The cells of a slice; only what is seen is made into text."""

    def __init__(self, look: Look, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._slice: Slice | None = None

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._look = look
        self.layoutChanged.emit()

    def set_slice(self, cells: Slice | None) -> None:
        """Show another slice."""
        self.beginResetModel()
        self._slice = cells
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        """How many rows there are."""
        return 0 if self._slice is None or parent.isValid() else self._slice.rows

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """How many columns there are."""
        return 0 if self._slice is None or parent.isValid() else self._slice.columns

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What is shown of a cell, role by role."""
        if self._slice is None:
            return None
        number = self._slice.at(index.row(), index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return number_text(number)
        if role == Qt.ItemDataRole.ToolTipRole:
            return repr(number)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.BackgroundRole:
            return QBrush(QColor(cell_colour(number, self._slice, self._look.colors)))
        if role == Qt.ItemDataRole.ForegroundRole:
            return QBrush(self._look.on(QColor(cell_colour(number, self._slice, self._look.colors))))
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The number of a row or column."""
        return str(section) if role == Qt.ItemDataRole.DisplayRole else None
