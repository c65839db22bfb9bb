"""The seed of a Jacobian: set by buttons, typed element by element, or swept through all one-hot seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QWidget

from gradviz.app.jacobian.matrix import JacobianMatrix
from gradviz.app.texts import tr
from gradviz.model.numbers import number_text

Array = npt.NDArray[Any]
_SWEEP_MS = 8000
_STEP_MS = (30, 700)


class SeedBar(QWidget):
    """Holds the seed, one element for each row of the matrix.

    Signals:
        changed(): `seed` is another one.
        row_wanted(int): the sweep is at this row.
    """

    changed = Signal()
    row_wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.seed: Array = np.zeros(0)
        self._own: Array = np.zeros(0)
        self._before: Array = np.zeros(0)
        self._matrix: JacobianMatrix | None = None
        self._row = 0
        self._stride = 1
        self.element = QLabel()
        self.value = QLineEdit()
        self.own = QPushButton(tr("The call's seed"))
        self.ones = QPushButton(tr("Ones"))
        self.zeros = QPushButton(tr("Zeros"))
        self.only = QPushButton(tr("Only this row"))
        self.sweep = QPushButton(tr("Sweep"))
        self.timer = QTimer(self)
        self._arrange()

    def _arrange(self) -> None:
        self.element.setProperty("role", "muted")
        self.value.setMaximumWidth(110)
        self.value.setAccessibleName(tr("Element of the seed"))
        self.sweep.setCheckable(True)
        self.sweep.setToolTip(tr("Play the one-hot seeds one after another: each picks one row"))
        self.value.textEdited.connect(self._type)
        self.value.editingFinished.connect(self._show_element)
        self.own.clicked.connect(lambda: self.set_seed(self._own))
        self.ones.clicked.connect(lambda: self.set_seed(np.ones(len(self.seed))))
        self.zeros.clicked.connect(lambda: self.set_seed(np.zeros(len(self.seed))))
        self.only.clicked.connect(lambda: self.set_seed(self._one_hot(self._row)))
        self.sweep.toggled.connect(self._start_or_stop)
        self.timer.timeout.connect(self._step)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        for widget in (self.element, self.value, self.own, self.ones, self.zeros, self.only, self.sweep):
            layout.addWidget(widget)
        self.setEnabled(False)

    def set_matrix(self, matrix: JacobianMatrix, own: Array) -> None:
        """Begin with the seed `own` on the rows of a matrix."""
        self.stop()
        self._matrix, self._own = matrix, own
        self._row = min(self._row, max(len(matrix.rows) - 1, 0))
        self.setEnabled(len(matrix.rows) > 0)
        self.set_seed(own)

    def set_seed(self, seed: Array) -> None:
        """Take another seed."""
        self.seed = seed
        self._show_element()
        self.changed.emit()

    def choose(self, row: int) -> None:
        """Another row is the chosen one."""
        self._row = row
        self._show_element()

    def toggle(self, row: int) -> None:
        """Take a row into the seed, or out of it."""
        seed = self.seed.copy()
        seed[row] = 0.0 if seed[row] else 1.0
        self.set_seed(seed)

    @property
    def sweeping(self) -> bool:
        """Whether the one-hot seeds are being played."""
        return self.timer.isActive()

    def stop(self) -> None:
        """End the sweep; the seed is what it was before."""
        if self.sweep.isChecked():
            self.sweep.setChecked(False)

    def _one_hot(self, row: int) -> Array:
        seed = np.zeros(len(self.seed))
        seed[row] = 1.0
        return seed

    def _type(self, text: str) -> None:
        try:
            number = float(text)
        except ValueError:
            return  # not a number yet
        seed = self.seed.copy()
        seed[self._row] = number
        self.seed = seed  # the text stays as it is being typed
        self.changed.emit()

    def _show_element(self) -> None:
        if self._matrix is not None and len(self.seed):
            self.element.setText(tr("v at {name} =", name=self._matrix.row_name(self._row)))
            self.value.setText(number_text(float(self.seed[self._row])))

    # -- the sweep -----------------------------------------------------------------------------------------------------

    def _start_or_stop(self, on: bool) -> None:
        self.sweep.setText(tr("Stop") if on else tr("Sweep"))
        if not on:
            self.timer.stop()
            self.set_seed(self._before)
            return
        self._before = self.seed
        count, (least, most) = max(len(self.seed), 1), _STEP_MS
        self._stride = max(count * least // _SWEEP_MS, 1)
        self.timer.setInterval(min(max(_SWEEP_MS // count, least), most))
        self._show(0)
        self.timer.start()

    def _step(self) -> None:
        row = self._row + self._stride
        if row < len(self.seed):
            self._show(row)
        else:
            self.sweep.setChecked(False)

    def _show(self, row: int) -> None:
        self.row_wanted.emit(row)
        self.choose(row)
        self.set_seed(self._one_hot(row))
