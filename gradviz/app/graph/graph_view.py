"""The graph on the screen: pans and zooms by mouse, trackpad and keyboard, and says what was pointed at."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QToolTip

from gradviz.app.graph import camera as lens
from gradviz.app.graph.box_words import box_tip, link_tip
from gradviz.app.graph.viewport import ZOOM_STEP, Viewport
from gradviz.app.texts import tr
from gradviz.render import Box, Link
from gradviz.render.outlines import OUTLINE_SIGN, Outline
from gradviz.render.shapes import Bounds

_LINK_REACH = 6.0  # pixels
_FEW = 200  # boxes


class GraphView(Viewport):
    """Pans by dragging and by trackpad, zooms by wheel and pinch.

    Signals:
        box_clicked(object, bool): a `Box`, or None for the paper; whether it adds to the selection (Ctrl).
        box_opened(object): a box was double-clicked or entered.
        link_clicked(object): a `Link`.
        stub_clicked(object): the `Box` to which a stub leads.
        group_closed(str): the group with this key is to be folded: the sign in its frame, or a double click there.
        seed_clicked(int): the seed of the root at this place of the call that is shown.
        menu_asked(object, QPoint): a menu is wanted for a `Box`, at this place of the screen.
    """

    box_clicked = Signal(object, bool)
    box_opened = Signal(object)
    link_clicked = Signal(object)
    stub_clicked = Signal(object)
    group_closed = Signal(str)
    seed_clicked = Signal(int)
    menu_asked = Signal(object, QPoint)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Start a drag or a click."""
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._pressed, self._dragged = event.position(), False
            self._glide.stop()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the picture, or point at a box."""
        if self._pressed is None:
            self._point_at(event.position())
            return
        moved = event.position() - self._pressed
        if self._dragged or moved.manhattanLength() >= QApplication.startDragDistance():
            self._dragged = True
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            self._pressed = event.position()
            self.pan_by(moved.x(), moved.y())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End a drag, or click."""
        clicked = self._pressed is not None and not self._dragged and event.button() == Qt.MouseButton.LeftButton
        self._pressed = None
        self.unsetCursor()
        if clicked:
            self._click(event.position(), bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open a box, fold a group by its frame's title; on the paper see everything."""
        box, outline = self.box_at(event.position()), self.outline_at(event.position())
        if box is not None:
            self.box_opened.emit(box)
        elif outline is not None:
            self.group_closed.emit(outline.group.key)
        else:
            self.fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """A trackpad pans (with Ctrl it zooms), a wheel zooms (with Shift it pans)."""
        pixels = event.pixelDelta()
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if not pixels.isNull() and not control:
            self.pan_by(pixels.x(), pixels.y())
        elif shift:
            turned = event.angleDelta()
            self.pan_by(turned.y() + turned.x(), 0.0)
        else:
            self.zoom_by(ZOOM_STEP ** (event.angleDelta().y() / 120), event.position())
        event.accept()

    def event(self, event: QEvent) -> bool:
        """Pinch and tool tips."""
        if isinstance(event, QNativeGestureEvent) and event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture:
            self.zoom_by(1.0 + event.value(), event.position())
            return True
        if isinstance(event, QHelpEvent):
            words = self.words_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), words, self)
            return True
        return super().event(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Remember how the focus came."""
        self._tabbed = event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
        super().focusInEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Nothing is pointed at any more."""
        self._hovered = None
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter opens the selected box, Escape selects nothing."""
        boxes = self._drawing.boxes_of(self._session.view.selected[:1])
        if event.key() == Qt.Key.Key_Escape:
            self.box_clicked.emit(None, False)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and boxes:
            self.box_opened.emit(boxes[0])
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """The mouse asks for the box under it, the keyboard for the selected one."""
        box = self.box_at(QPointF(event.pos()))
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            box = next(iter(self.selected_boxes()), None)
        if box is not None:
            self.menu_asked.emit(box, event.globalPos())

    def seed_at(self, point: QPointF) -> int | None:
        """The place of the root whose seed is drawn under a pixel."""
        scene, frame = self.scene, self.frame
        if scene is None or frame is None or frame.call is None:
            return None
        number = frame.call.number
        for box in scene.plan.boxes_with_seeds.get(number, ()):
            for place, (bounds, _) in scene.seed_rects(box, number).items():
                if self.on_screen(bounds).contains(point):
                    return place
        return None

    def drawn_roots(self) -> list[QRect]:
        """Where the roots of the call that is shown and their seeds are drawn, in pixels of the screen."""
        scene, frame = self.scene, self.frame
        if scene is None or frame is None or frame.call is None:
            return []
        number = frame.call.number
        boxes = scene.plan.boxes_with_seeds.get(number, ())
        bounds = [scene.cards[box.index] for box in boxes]
        bounds += [seed for box in boxes for seed, _ in scene.seed_rects(box, number).values()]
        return self._on_screen(bounds)

    def drawn_boxes(self) -> list[QRect]:
        """Where boxes are drawn, in pixels of the screen; none where they are too many to matter one by one."""
        scene = self.scene
        return [] if scene is None or len(scene.cards) > _FEW else self._on_screen(scene.cards)

    def _on_screen(self, bounds: Iterable[Bounds]) -> list[QRect]:
        corner = self.mapToGlobal(QPoint(0, 0))
        return [self.on_screen(part).toAlignedRect().translated(corner) for part in bounds]

    def _point_at(self, point: QPointF) -> None:
        box = self.box_at(point)
        others = (self.seed_at(point), self.outline_at(point), self.stub_at(point))
        touched = box is not None or any(other is not None for other in others)
        self.setCursor(Qt.CursorShape.PointingHandCursor if touched else Qt.CursorShape.ArrowCursor)
        if box is not self._hovered:
            self._hovered = box
            self.update()

    def _click(self, point: QPointF, adds: bool) -> None:
        link, seed, outline = self.link_at(point), self.seed_at(point), self.outline_at(point)
        if seed is not None:
            self.seed_clicked.emit(seed)
        elif outline is not None and self._scene_x(point) >= outline.bounds[2] - OUTLINE_SIGN:
            self.group_closed.emit(outline.group.key)
        elif (stub := self.stub_at(point)) is not None:
            self.stub_clicked.emit(stub)
        elif link is not None:
            self.link_clicked.emit(link)
        else:
            self.box_clicked.emit(self.box_at(point), adds)

    def outline_at(self, point: QPointF) -> Outline | None:
        """The frame of an unfolded group whose title is under a pixel."""
        scene = self._drawing.scene
        if scene is None or self.box_at(point) is not None:
            return None
        return scene.outline_at(*lens.to_scene(self._camera, self.extent, point.x(), point.y()))

    def _scene_x(self, point: QPointF) -> float:
        return lens.to_scene(self._camera, self.extent, point.x(), point.y())[0]

    def link_at(self, point: QPointF) -> Link | None:
        """The link under a pixel, where there is no box."""
        scene = self._drawing.scene
        if scene is None or self.box_at(point) is not None:
            return None
        x, y = lens.to_scene(self._camera, self.extent, point.x(), point.y())
        return scene.link_at(x, y, _LINK_REACH / self._camera.zoom)

    def stub_at(self, point: QPointF) -> Box | None:
        """The box to which the stub under a pixel leads, where there is no box."""
        scene = self._drawing.scene
        if scene is None or self.box_at(point) is not None:
            return None
        x, y = lens.to_scene(self._camera, self.extent, point.x(), point.y())
        return scene.stub_at(x, y, _LINK_REACH / self._camera.zoom)

    def words_at(self, point: QPointF) -> str:
        """What is under a pixel, in words."""
        if self.seed_at(point) is not None:
            return tr("The seed: what the gradient starts with. Click to try another one.")
        scene, box, link, outline = self._drawing.scene, self.box_at(point), self.link_at(point), self.outline_at(point)
        if scene is not None and box is not None:
            return box_tip(scene, box, self.frame)
        if outline is not None:
            return tr("{name}, unfolded. Double-click to fold it.", name=outline.group.label)
        return link_tip(scene, link, self.frame) if scene is not None and link is not None else ""
