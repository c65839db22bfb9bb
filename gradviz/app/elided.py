"""A line of text that ends in an ellipsis where there is no room; the whole is in the tool tip."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QStyle, QStyleOption


class ElidedLabel(QLabel):
    """A label whose words never make the window wider."""

    def __init__(self) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def setText(self, text: str) -> None:
        """Show other words, on one line."""
        words = " ".join(text.split())
        super().setText(words)
        self.setToolTip(words)

    def minimumSizeHint(self) -> QSize:
        """The least size that can be used."""
        return QSize(40, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what there is room for."""
        painter = QPainter(self)
        option = QStyleOption()
        option.initFrom(self)
        shown = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        style: QStyle = self.style()
        style.drawItemText(painter, self.rect(), flags, option.palette, self.isEnabled(), shown, self.foregroundRole())
