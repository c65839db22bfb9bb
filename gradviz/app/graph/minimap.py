"""The whole graph in small, with the part that is seen: for graphs that are larger than the window."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QRegion
from PySide6.QtWidgets import QWidget

from gradviz.app.graph import camera as lens
from gradviz.app.graph.drawing import MAP_SIZE, Drawing, map_camera
from gradviz.app.graph.graph_view import GraphView
from gradviz.app.look import Look
from gradviz.app.texts import tr
from gradviz.model import Camera

_WORTH = 0.6  # shown when less than this share of the graph is seen


class Minimap(QWidget):
    """Lies over a corner of the graph; a press or a drag moves what is seen."""

    def __init__(self, view: GraphView, drawing: Drawing, look: Look) -> None:
        super().__init__(view)
        self._view = view
        self._drawing = drawing
        self._look = look
        self.setFixedSize(QSize(*MAP_SIZE))
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setAccessibleName(tr("Map of the whole graph"))
        self.setToolTip(tr("The whole graph: press or drag to move what is seen"))
        view.camera_changed.connect(self.follow)
        drawing.map_changed.connect(self.follow)
        self.hide()

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._look = look
        self.update()

    def follow(self) -> None:
        """Show what is seen now; hide when nearly everything is."""
        scene = self._drawing.scene
        if scene is None or self._drawing.map is None:
            self.hide()
            return
        left, top, right, bottom = scene.bounds
        seen = lens.seen(self._view.camera, self._view.extent)
        width = max(0.0, min(right, seen[2]) - max(left, seen[0]))
        height = max(0.0, min(bottom, seen[3]) - max(top, seen[1]))
        share = width * height / max((right - left) * (bottom - top), 1.0)
        self.setVisible(share < _WORTH)
        self.update()

    @property
    def camera(self) -> Camera:
        """The camera of the small picture."""
        scene = self._drawing.scene
        return Camera() if scene is None else map_camera(scene.bounds)

    def seen_rect(self) -> QRectF:
        """The part that is seen, in pixels of the map."""
        size = (float(self.width()), float(self.height()))
        left, top, right, bottom = lens.seen(self._view.camera, self._view.extent)
        corner = QPointF(*lens.to_widget(self.camera, size, left, top))
        return QRectF(corner, QPointF(*lens.to_widget(self.camera, size, right, bottom)))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what is shown."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._look.panel)
        if self._drawing.map is not None:
            painter.drawImage(self.rect(), self._drawing.map)
        seen = self.seen_rect()
        veil = QColor(self._look.panel)
        veil.setAlphaF(0.55)
        painter.save()
        painter.setClipRegion(QRegion(self.rect()) - QRegion(seen.toAlignedRect()))
        painter.fillRect(self.rect(), veil)
        painter.restore()
        painter.setPen(QPen(self._look.accent, 1.5))
        painter.drawRect(seen)
        painter.setPen(QPen(self._look.line, 1.0))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Move what is seen to this place."""
        self._go(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Go on moving."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._go(event.position())

    def _go(self, point: QPointF) -> None:
        size = (float(self.width()), float(self.height()))
        self._view.centre_on(*lens.to_scene(self.camera, size, point.x(), point.y()))
