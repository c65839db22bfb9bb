"""Which call to compare with: another one of this recording, or one of another recording that is open."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QListWidget, QVBoxLayout, QWidget

from gradviz.app.graph.compare_window import Side
from gradviz.app.texts import tr


class ChooseCall(QDialog):
    """Lists calls; the one at the place `first` is chosen at first.

    Signals:
        chosen(Side): this one.
    """

    chosen = Signal(object)

    def __init__(self, left: Side, sides: Sequence[Side], first: int = 0, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Compare"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._sides = tuple(sides)
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Calls to compare with"))
        self.list.addItems([side.title for side in self._sides])
        self.list.setCurrentRow(first)
        words = QLabel(tr("Compare {left} with:", left=left.title))
        words.setWordWrap(True)
        if not self._sides:
            words.setText(tr("There is nothing to compare with. Open another recording of the same script first."))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(bool(self._sides))
        buttons.accepted.connect(self._accept)
        buttons.rejected.connect(self.reject)
        self.list.itemActivated.connect(self._accept)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(18, 16, 18, 14)
        for widget in (words, self.list, buttons):
            layout.addWidget(widget)
        self.resize(460, 380)

    def _accept(self) -> None:
        row = self.list.currentRow()
        if 0 <= row < len(self._sides):
            self.chosen.emit(self._sides[row])
            self.accept()
