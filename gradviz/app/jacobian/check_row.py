"""Asks for a measurement: the gradient along one element of the input, or along a direction, by differences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gradviz.app.jacobian.matrix import Array, JacobianMatrix
from gradviz.app.seed_texts import literal, one_hot, shaped
from gradviz.app.spins import whole_box
from gradviz.app.texts import tr
from gradviz.errors import SeedError
from gradviz.model.numbers import number_text
from gradviz.runner.experiments import Measured

if TYPE_CHECKING:
    from gradviz.app.jacobian.window import JacobianWindow

_MOST_WRITTEN = 1 << 16  # elements
_DIRECTIONS = ("", "normal(0)", "ones")


class CheckRow(QWidget):
    """An element or a direction, a button, and what came of it.

    Signals:
        asked(int, str, str): the element, the seed and the direction (empty: the element) to measure.
    """

    asked = Signal(int, str, str)

    def __init__(self, window: JacobianWindow) -> None:
        super().__init__(window)
        self._window = window
        self._matrix: JacobianMatrix | None = None
        self.along = QComboBox()
        self.element = whole_box()
        self.name = QLabel()
        self.button = QPushButton(tr("Check by differences"))
        self.result = QLabel()
        self._arrange()

    def _arrange(self) -> None:
        for text in (tr("along the element"), tr("along a random direction"), tr("along all ones")):
            self.along.addItem(text)
        self.along.setAccessibleName(tr("Direction of the measurement"))
        self.element.setAccessibleName(tr("Element of the input"))
        self.button.setToolTip(
            tr("Run the forward pass again in double precision, a little to either side, and divide the difference")
        )
        self.name.setProperty("role", "muted")
        self.result.setProperty("role", "value")
        self.result.setTextFormat(Qt.TextFormat.PlainText)
        self.result.setWordWrap(True)
        self.result.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.element.valueChanged.connect(self._show_name)
        self.element.valueChanged.connect(lambda number: self._window.map.choose(self._window.map.row, number))
        self.along.currentIndexChanged.connect(self._show_name)
        self.button.clicked.connect(self._ask)
        line = QHBoxLayout()
        for widget in (self.button, self.along, self.element, self.name):
            line.addWidget(widget)
        line.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(line)
        layout.addWidget(self.result)
        self.result.hide()

    def set_matrix(self, matrix: JacobianMatrix) -> None:
        """Measure in another matrix."""
        self._matrix = matrix
        self.element.blockSignals(True)
        self.element.setRange(0, max(matrix.values.shape[1] - 1, 0))
        self.element.setValue(0)
        self.element.blockSignals(False)
        self.result.hide()
        self._show_name()

    def choose(self, column: int) -> None:
        """Take the element that was chosen in the matrix."""
        if column >= 0:
            self.element.setValue(column)

    def _show_name(self) -> None:
        by_element = self.along.currentIndex() == 0
        self.element.setVisible(by_element)
        self.name.setVisible(by_element)
        if self._matrix is not None and self._matrix.values.size:
            self.name.setText(self._matrix.column_name(self.element.value()))

    def _ask(self) -> None:
        if self._matrix is None:
            return
        try:
            seed = seed_text(self._matrix, self._window.seeds.seed)
        except SeedError as error:
            self.result.setText(str(error))
            self.result.show()
        else:
            self.asked.emit(self.element.value(), seed, _DIRECTIONS[self.along.currentIndex()])

    def show_measured(self, measured: Measured) -> None:
        """Show what was measured beside what the engine says."""
        apart = abs(measured.difference - measured.gradient)
        self.result.setText(
            tr("measured {measured} · engine {engine} · difference {apart} (step {step}, {dtype})",
               measured=precise(measured.difference), engine=precise(measured.gradient), apart=number_text(apart),
               step=number_text(measured.step), dtype=measured.dtype)
        )  # fmt: skip
        self.result.show()


def precise(number: float) -> str:
    """A number with so many digits that a difference is seen."""
    return f"{number:.9g}"


def seed_text(matrix: JacobianMatrix, seed: Array) -> str:
    """A seed as an expression for the held script; rows that are not in the matrix get nothing.

    Raises:
        SeedError: it has too many elements to be written out.
    """
    if matrix.whole and np.all(seed == 1):
        return "ones"
    if np.count_nonzero(seed) == 1 and seed.sum() == 1:
        index = np.unravel_index(matrix.rows[int(np.argmax(seed))], matrix.root_shape)
        return one_hot([int(k) for k in index])
    count = math.prod(matrix.root_shape)
    if count > _MOST_WRITTEN:
        raise SeedError(tr("A seed of {n} numbers is too long to be written out; take ones or a single row.", n=count))
    whole = np.zeros(count)
    whole[list(matrix.rows)] = seed
    return literal(shaped(whole.tolist(), matrix.root_shape))
