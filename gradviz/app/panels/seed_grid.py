"""A seed drawn as what it is, a tensor of the root's shape: a click makes it one-hot, a row or a column; or type."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from PySide6.QtCore import QAbstractTableModel, QEvent, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QSpinBox,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from gradviz.app.look import Look
from gradviz.app.panels.index_spins import index_spin
from gradviz.app.panels.matrix import Slice
from gradviz.app.panels.tensor_paint import cell_colour
from gradviz.app.seed_texts import MOST_WRITTEN, flat_numbers, literal, one_hot, shaped
from gradviz.app.texts import tr
from gradviz.model.numbers import number_text

Index = QModelIndex | QPersistentModelIndex
Mode = Literal["element", "row", "column", "type"]
_CELL = 62
_TALLEST = 190


class SeedGrid(QWidget):
    """The seed of one root.

    Signals:
        written(str): the seed that was clicked or typed, as an expression.
    """

    written = Signal(str)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shape: tuple[int, ...] = ()
        self._modes: list[Mode] = []
        self.mode = QComboBox()
        self._slices = QHBoxLayout()
        self._spins: list[QSpinBox] = []
        self.model = SeedModel(look, self)
        self.table = QTableView()
        self._prepare()

    def _prepare(self) -> None:
        table = self.table
        table.setModel(self.model)
        table.setAccessibleName(tr("The seed, element by element"))
        table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        table.horizontalHeader().setDefaultSectionSize(_CELL)
        table.horizontalHeader().setMinimumSectionSize(40)
        table.verticalHeader().setMinimumSectionSize(20)
        table.setTabKeyNavigation(False)
        table.setCornerButtonEnabled(False)
        table.clicked.connect(self._click)
        table.installEventFilter(self)
        self.model.typed.connect(self._type)
        self.mode.setAccessibleName(tr("What a click does"))
        self.mode.currentIndexChanged.connect(self._take_mode)
        head = QHBoxLayout()
        words = QLabel(tr("A click"))
        words.setProperty("role", "muted")
        head.addWidget(words)
        head.addWidget(self.mode)
        head.addLayout(self._slices)
        head.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addWidget(table)

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self.model.look = look
        self.table.viewport().update()

    # -- what is shown -------------------------------------------------------------------------------------------------

    def set_shape(self, shape: Sequence[int]) -> None:
        """The shape of the root; a scalar has nothing to choose from, and an empty tensor neither."""
        if tuple(shape) == self._shape:
            return
        self._shape = tuple(shape)
        self.setVisible(bool(shape) and math.prod(shape) > 0)
        while self._spins:
            spin = self._spins.pop()
            self._slices.removeWidget(spin)
            spin.deleteLater()
        for dimension, size in enumerate(self._shape[:-2]):
            spin = index_spin(dimension, size, tr("Slice of dimension {n}", n=dimension))
            spin.valueChanged.connect(lambda _: self.model.set_leading(self._leading()))
            self._slices.addWidget(spin)
            self._spins.append(spin)
        self.model.set_shape(self._shape)
        self._offer_modes()
        rows = min(self.model.rowCount(), 6)
        height = (
            self.table.horizontalHeader().sizeHint().height() + rows * self.table.verticalHeader().defaultSectionSize()
        )
        self.table.setFixedHeight(min(height + 20, _TALLEST))

    def set_values(self, values: Any) -> None:
        """The numbers of the seed, as nested lists; None where they are not known."""
        self.model.set_values(None if values is None else flat_numbers(values))

    def _offer_modes(self) -> None:
        words: dict[Mode, str] = {
            "element": tr("picks one element (one-hot)"),
            "row": tr("picks a row"),
            "column": tr("picks a column"),
            "type": tr("lets me type a number"),
        }
        size = len(self._shape)
        fits = {"element": True, "row": size == 2, "column": size >= 2, "type": math.prod(self._shape) <= MOST_WRITTEN}
        self._modes = [mode for mode in words if fits[mode]]
        self.mode.blockSignals(True)
        self.mode.clear()
        for mode in self._modes:
            self.mode.addItem(words[mode])
        self.mode.blockSignals(False)
        self._take_mode()

    @property
    def chosen_mode(self) -> Mode:
        """What a click does."""
        place = self.mode.currentIndex()
        return self._modes[place] if 0 <= place < len(self._modes) else "element"

    def choose_mode(self, mode: Mode) -> None:
        """Let a click do something else."""
        self.mode.setCurrentIndex(self._modes.index(mode))

    def _take_mode(self) -> None:
        trigger = QAbstractItemView.EditTrigger
        typing = self.chosen_mode == "type"
        self.model.editable = "type" in self._modes
        # Typing on a cell always writes; clicks open an editor only where they are not for picking.
        self.table.setEditTriggers(
            trigger.AnyKeyPressed | (trigger.AllEditTriggers if typing else trigger.NoEditTriggers)
        )

    # -- what is done --------------------------------------------------------------------------------------------------

    def _leading(self) -> tuple[int, ...]:
        return tuple(spin.value() for spin in self._spins)

    def _click(self, index: QModelIndex) -> None:
        mode = self.chosen_mode
        if mode == "row":
            self.written.emit(f"row({index.row()})")
        elif mode == "column":
            self.written.emit(f"column({index.column()})")
        elif mode == "element":
            place = (index.column(),) if len(self._shape) == 1 else (*self._leading(), index.row(), index.column())
            self.written.emit(one_hot(place))

    def _type(self, numbers: list[float]) -> None:
        self.written.emit(literal(shaped(numbers, self._shape)))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter on a cell does what a click does."""
        if watched is self.table and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            index = self.table.currentIndex()
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and index.isValid() and self.chosen_mode != "type":
                self._click(index)
                return True
        return super().eventFilter(watched, event)


class SeedModel(QAbstractTableModel):
    """One slice of a seed, editable.

    Signals:
        typed(list): all numbers of the seed, with one of them typed anew.
    """

    typed = Signal(list)

    def __init__(self, look: Look, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.look = look
        self.editable = True
        self._shape: tuple[int, ...] = ()
        self._leading: tuple[int, ...] = ()
        self._numbers: list[float] | None = None
        self._scale = Slice(1, 1, (0.0,))  # only its largest magnitude is asked for

    def set_shape(self, shape: tuple[int, ...]) -> None:
        """Show a seed of another shape."""
        self.beginResetModel()
        self._shape, self._leading, self._numbers = shape, (0,) * len(shape[:-2]), None
        self.endResetModel()

    def set_leading(self, leading: tuple[int, ...]) -> None:
        """Show another slice."""
        self.beginResetModel()
        self._leading = leading
        self.endResetModel()

    def set_values(self, numbers: list[float] | None) -> None:
        """Show other numbers."""
        fits = numbers is not None and len(numbers) == math.prod(self._shape)
        self._numbers = numbers if fits else None
        self._scale = Slice(1, 1, self._numbers or (0.0,))
        if self.rowCount() and self.columnCount():
            self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, self.columnCount() - 1))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        """How many rows there are; a vector is one."""
        return 0 if parent.isValid() or not self._shape else self._shape[-2] if len(self._shape) > 1 else 1

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """How many columns there are."""
        return 0 if parent.isValid() or not self._shape else self._shape[-1]

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Cells can be chosen, and typed into where the seed is small."""
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return flags | Qt.ItemFlag.ItemIsEditable if self.editable else flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What is shown of a cell, role by role."""
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignCenter
        if role == Qt.ItemDataRole.FontRole:
            return self.look.code_font
        if self._numbers is None:
            return None
        number = self._numbers[self._place(index)]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return number_text(number) if role == Qt.ItemDataRole.DisplayRole else literal(number)
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"[{', '.join(map(str, self._index(index)))}] = {number!r}"
        if role in (Qt.ItemDataRole.BackgroundRole, Qt.ItemDataRole.ForegroundRole):
            colour = QColor(cell_colour(number, self._scale, self.look.colors))
            return QBrush(colour if role == Qt.ItemDataRole.BackgroundRole else self.look.on(colour))
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Take a number that was typed."""
        try:
            number = float(str(value).replace(",", ".").strip())
        except ValueError:
            return False
        numbers = list(self._numbers) if self._numbers is not None else [0.0] * math.prod(self._shape)
        numbers[self._place(index)] = number
        self.typed.emit(numbers)
        return True

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The number of a row or column."""
        return str(section) if role == Qt.ItemDataRole.DisplayRole else None

    def _index(self, index: Index) -> tuple[int, ...]:
        if len(self._shape) == 1:
            return (index.column(),)
        return (*self._leading, index.row(), index.column())

    def _place(self, index: Index) -> int:
        place = 0
        for size, at in zip(self._shape, self._index(index), strict=True):
            place = place * size + at
        return place
