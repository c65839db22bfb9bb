"""The range of the colours: that of the gradients of this graph, or a fixed one, so that pictures can be compared."""

from __future__ import annotations

import math

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QDoubleSpinBox, QFormLayout, QLabel, QWidget

from gradviz.app.spins import decimal_box
from gradviz.app.texts import tr
from gradviz.render.scale import LogScale

_FURTHEST = 400.0  # decades; float64 ends at 308
Range = tuple[float, float]


class ColorRange(QDialog):
    """Asks for the two ends, in decades; at first those of the scale that is shown.

    Signals:
        chosen(object): (low, high), or None for the range of the gradients.
    """

    chosen = Signal(object)

    def __init__(self, scale: LogScale, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Range of colours"))
        words = QLabel(
            tr("Colours tell log10 of a gradient's norm. With the same fixed range, pictures of other calls compare.")
        )
        words.setWordWrap(True)
        self.fixed = QCheckBox(tr("&Fixed range"))
        self.low = _decade(tr("Palest at 10 to the power of"), scale.low if scale.fixed else math.floor(scale.low))
        self.high = _decade(tr("Strongest at 10 to the power of"), scale.high if scale.fixed else math.ceil(scale.high))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self._ok = buttons.button(QDialogButtonBox.StandardButton.Ok)
        buttons.accepted.connect(self._accept)
        buttons.rejected.connect(self.reject)
        layout = QFormLayout(self)
        layout.setContentsMargins(18, 16, 18, 14)
        layout.addRow(words)
        layout.addRow(self.fixed)
        for box in (self.low, self.high):
            layout.addRow(box.accessibleName(), box)
            box.valueChanged.connect(self._check)
        layout.addRow(buttons)
        self.fixed.toggled.connect(self._check)
        self.fixed.setChecked(scale.fixed)
        self._check()

    def _check(self) -> None:
        fixed = self.fixed.isChecked()
        for box in (self.low, self.high):
            box.setEnabled(fixed)
        self._ok.setEnabled(not fixed or self.low.value() < self.high.value())

    def _accept(self) -> None:
        self.chosen.emit((self.low.value(), self.high.value()) if self.fixed.isChecked() else None)
        self.accept()


def _decade(name: str, value: float) -> QDoubleSpinBox:
    box = decimal_box()
    box.setAccessibleName(name)
    box.setRange(-_FURTHEST, _FURTHEST)
    box.setDecimals(1)
    box.setSingleStep(1.0)
    box.setValue(value)
    return box
