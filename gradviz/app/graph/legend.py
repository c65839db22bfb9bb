"""The scale of the colours under the graph."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gradviz.app.graph.drawing import Drawing
from gradviz.app.look import Look
from gradviz.app.texts import tr


class Legend(QWidget):
    """Shows the picture of the legend that the drawing paints with the scene."""

    def __init__(self, drawing: Drawing, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drawing = drawing
        self._look = look
        self._image: QImage | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("How colours are to be read"))
        drawing.legend_changed.connect(self._take)

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._look = look
        self.update()

    def _take(self) -> None:
        self._image = self._drawing.legend
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """The size that the content wants."""
        if self._image is None:
            return QSize(100, 0)
        return QSize(100, round(self._image.height() / self._image.devicePixelRatio()))

    def minimumSizeHint(self) -> QSize:
        """The least size that can be used."""
        return QSize(0, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what is shown."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._look.paper)
        if self._image is not None:
            size = self._image.deviceIndependentSize()
            shrunk = size.scaled(QSizeF(self.width(), size.height()), Qt.AspectRatioMode.KeepAspectRatio)
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            # In a narrow window it is smaller rather than cut: half of a legend would be another one.
            painter.drawImage(QRectF(QPointF(0.0, (size.height() - shrunk.height()) / 2), shrunk), self._image)
