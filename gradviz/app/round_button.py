"""A round button for an action, as on a video player."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QAction, QIcon, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QWidget

from gradviz.app.look import Look


class RoundButton(QAbstractButton):
    """Triggers an action; shows its icon on a disc, the primary one in the accent colour."""

    def __init__(self, action: QAction, look: Look, primary: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._action = action
        self._look = look
        self._primary = primary
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.clicked.connect(action.trigger)
        action.changed.connect(self._follow)
        self._follow()

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._look = look
        self._follow()

    def sizeHint(self) -> QSize:
        """The size that the content wants."""
        return QSize(40, 40)

    def _follow(self) -> None:
        action = self._action
        self.setEnabled(action.isEnabled())
        self.setToolTip(action.toolTip())
        self.setAccessibleName(action.text().replace("&", ""))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what is shown."""
        look = self._look
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        side = float(min(self.width(), self.height()))
        disc = QRectF((self.width() - side) / 2 + 1.5, (self.height() - side) / 2 + 1.5, side - 3, side - 3)
        filled = self._primary and self.isEnabled()
        painter.setBrush(look.accent if filled else look.hover if self.underMouse() else look.paper)
        painter.setPen(QPen(look.accent if filled else look.line, 1.2))
        if self.hasFocus():
            painter.setPen(QPen(look.focus, 2.4))
        painter.drawEllipse(disc)
        mode = QIcon.Mode.Normal if self.isEnabled() else QIcon.Mode.Disabled
        inner = disc.adjusted(side * 0.22, side * 0.22, -side * 0.22, -side * 0.22).toAlignedRect()
        self._action.icon().paint(painter, inner, Qt.AlignmentFlag.AlignCenter, mode)
