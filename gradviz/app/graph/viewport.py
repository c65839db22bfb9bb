"""The part of the graph that is seen: pictures of a `Drawing`, the camera, and what is painted over them."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, QTimer, QVariantAnimation, Signal
from PySide6.QtGui import (
    QColor,
    QImage,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QWidget

from gradviz.app.graph import camera as lens
from gradviz.app.graph.drawing import Drawing, Painted, Request
from gradviz.app.graph.marks import Marks, indices, paint_marks, paint_veil, repaint_lit
from gradviz.app.look import Look
from gradviz.app.session import Session
from gradviz.app.texts import tr
from gradviz.model import Camera
from gradviz.playback import Frame
from gradviz.render import Box, Scene
from gradviz.render.shapes import Bounds

_GLIDE_MS = 220
_REST_MS = 200  # the camera has come to rest: remember it in the view
ZOOM_STEP = 1.25


class Viewport(QWidget):
    """What is seen of a graph. `GraphView` adds mouse and keyboard.

    Signals:
        camera_changed(): another part is seen.
    """

    camera_changed = Signal()

    def __init__(self, session: Session, drawing: Drawing, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._drawing = drawing
        self._look = look
        self._camera = Camera()
        self._fitted = True
        self._together: Bounds | None = None
        self._shown: Painted | None = None
        self._pressed: QPointF | None = None
        self._dragged = False
        self._hovered: Box | None = None
        self.lit: frozenset[int] | None = None
        self._lit_links: frozenset[int] | None = None
        self._tints: dict[int, QColor] = {}
        self._glide = QVariantAnimation(self)
        self._way = (Camera(), Camera())
        self._tabbed = False  # focus came by keyboard: only then it is drawn
        self._rest = QTimer(self)
        self._prepare()

    def _prepare(self) -> None:
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumSize(240, 160)
        self.setAccessibleName(tr("Graph of gradients"))
        self._glide.setDuration(_GLIDE_MS)
        self._glide.setStartValue(0.0)
        self._glide.setEndValue(1.0)
        self._glide.valueChanged.connect(lambda share: self.look_at(lens.between(*self._way, float(share))))
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._remember)
        self._drawing.scene_changed.connect(self._take_scene)
        self._drawing.painted.connect(self._take_picture)
        self._session.player.moved.connect(self.want)
        self._session.view_changed.connect(self._follow_view)

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._look = look
        self.update()

    # -- pictures ------------------------------------------------------------------------------------------------------

    @property
    def camera(self) -> Camera:
        """What is seen."""
        return self._camera

    @property
    def scene(self) -> Scene | None:
        """The scene that is shown."""
        return self._drawing.scene

    @property
    def frame(self) -> Frame | None:
        """The moment that is shown."""
        return self._session.player.frame

    def selected_boxes(self) -> tuple[Box, ...]:
        """The boxes that are selected."""
        return self._drawing.boxes_of(self._session.view.selected)

    @property
    def extent(self) -> tuple[float, float]:
        """Width and height in pixels."""
        return float(self.width()), float(self.height())

    @property
    def shown(self) -> Painted | None:
        """The picture that is shown, with what was asked for."""
        return self._shown

    @property
    def picture(self) -> QImage | None:
        """The picture that is shown, at the resolution of the screen."""
        return None if self._shown is None else self._shown.image

    def close_picture(self) -> None:
        """Let go of the picture and of the scene that it shows."""
        self._glide.stop()
        self._rest.stop()
        self._shown = self._hovered = None

    def want(self) -> None:
        """Ask for a picture of this moment and this camera."""
        frame = self._session.player.frame
        if frame is not None and self._drawing.scene is not None and self.width() > 0 and self.height() > 0:
            ratio = self.devicePixelRatioF()
            self._drawing.want(Request(frame, self._camera, self.width(), self.height(), ratio))

    def _take_scene(self) -> None:
        self._hovered = self.lit = self._lit_links = None
        self._tints = {}
        if self._drawing.scene is None:
            self._shown = None
            self.update()
            return
        stored = self._session.view.camera
        self._fitted = stored is None
        camera = self._fit_camera() if stored is None else self._in_sight(stored)
        if self._drawing.change is not None:
            self._move_to(camera)
        else:
            self.look_at(camera)
        self.want()

    def _in_sight(self, camera: Camera) -> Camera:
        """The camera; where it would see nothing of a graph that was folded meanwhile, one that sees the selection."""
        scene = self._drawing.scene
        if scene is None or not self.isVisible() or any(True for _ in scene.boxes_in(lens.seen(camera, self.extent))):
            return camera
        for box in self.selected_boxes():
            left, top, right, bottom = scene.cards[box.index]
            return Camera((left + right) / 2, (top + bottom) / 2, camera.zoom)
        self._fitted = True
        return self._fit_camera()

    def _take_picture(self, painted: Painted) -> None:
        self._shown = painted
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what is shown."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._look.paper)
        shown, scene = self._shown, self._drawing.scene
        if shown is None:
            return
        if scene is not None and shown.scene.plan is scene.plan:
            scene = shown.scene  # its boxes may be on their way
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        target = self._target(shown)
        painter.drawImage(target, shown.image)
        if scene is not None:
            marks = self._marks()
            if marks.lit is not None:
                area = lens.seen(self._camera, self.extent)
                path = paint_veil(painter, scene, marks, area, self.on_screen, self._look)
                repaint_lit(painter, path, target, shown.image)
            paint_marks(painter, scene, marks, marks.boxes, self.on_screen, self._look)
        if self.hasFocus() and self._tabbed:
            painter.setPen(QPen(self._look.focus, 1.0))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    def _marks(self) -> Marks:
        hovered = None if self._hovered is None else self._hovered.index
        bookmarked = indices(self._drawing.boxes_of(self._session.view.bookmarks))
        return Marks(indices(self.selected_boxes()), bookmarked, hovered, self.lit, self._lit_links, self._tints)

    def light(self, lit: frozenset[int] | None, links: frozenset[int] | None = None) -> None:
        """Take the colour from all boxes but these and the links between them (only `links`); None gives it back."""
        self.lit, self._lit_links = lit, links
        self.update()

    def _target(self, shown: Painted) -> QRectF:
        """Where the picture belongs now: the camera may have moved on since it was asked for."""
        request = shown.request
        scale = self._camera.zoom / request.camera.zoom
        left, top = lens.to_scene(request.camera, (request.width, request.height), 0.0, 0.0)
        x, y = lens.to_widget(self._camera, self.extent, left, top)
        return QRectF(QPointF(x, y), QSizeF(request.width * scale, request.height * scale))

    def on_screen(self, card: Bounds) -> QRectF:
        """Where a part of the scene is, in pixels of this widget."""
        left, top = lens.to_widget(self._camera, self.extent, card[0], card[1])
        right, bottom = lens.to_widget(self._camera, self.extent, card[2], card[3])
        return QRectF(QPointF(left, top), QPointF(right, bottom))

    # -- camera --------------------------------------------------------------------------------------------------------

    def fit(self) -> None:
        """See everything; stay so when the window is resized."""
        if self._drawing.scene is not None:
            self._fitted = True
            self._move_to(self._fit_camera())

    def fit_together(self, bounds: Bounds) -> None:
        """Let "everything" be this part of the scene from now on, which another view beside this one shows too."""
        self._together = bounds
        self.fit()

    def show_cards(self, cards: list[Bounds], largest: float = lens.LARGEST_FIT) -> None:
        """See these cards."""
        if cards:
            self._fitted = False
            self._move_to(lens.fit(lens.around(cards), self.extent, largest))

    def reveal(self, card: Bounds) -> None:
        """Move as little as needed to see a card; nothing moves when it is seen and can be read."""
        left, top, right, bottom = lens.seen(self._camera, self.extent)
        inside = left <= card[0] and card[2] <= right and top <= card[1] and card[3] <= bottom
        if inside and self._camera.zoom >= 0.35:
            return
        self._fitted = False
        zoom = max(self._camera.zoom, 0.8)
        self._move_to(Camera((card[0] + card[2]) / 2, (card[1] + card[3]) / 2, zoom))

    def reveal_all(self, cards: list[Bounds]) -> None:
        """See these cards together; nothing moves when all of them are seen."""
        left, top, right, bottom = lens.seen(self._camera, self.extent)
        if any(card[0] < left or card[1] < top or card[2] > right or card[3] > bottom for card in cards):
            self.show_cards(cards)

    def zoom_by(self, factor: float, at: QPointF | None = None) -> None:
        """Zoom around a pixel, without one around the middle."""
        point = at if at is not None else QPointF(self.width() / 2, self.height() / 2)
        self._fitted = False
        self.look_at(lens.zoomed(self._camera, self.extent, factor, point.x(), point.y()))

    def set_zoom(self, zoom: float) -> None:
        """See the middle at this zoom (pixels per scene unit)."""
        self._fitted = False
        self._move_to(Camera(self._camera.x, self._camera.y, lens.limited(zoom)))

    def pan_by(self, dx: float, dy: float) -> None:
        """Move the picture by pixels."""
        self._fitted = False
        self.look_at(lens.panned(self._camera, dx, dy))

    def centre_on(self, x: float, y: float) -> None:
        """Put a point of the scene into the middle."""
        self._fitted = False
        self.look_at(Camera(x, y, self._camera.zoom))

    def _fit_camera(self) -> Camera:
        scene = self._drawing.scene
        if scene is None:
            return Camera()
        return lens.fit(scene.bounds if self._together is None else self._together, self.extent)

    def _move_to(self, camera: Camera) -> None:
        """Glide there; with reduced motion jump."""
        self._glide.stop()
        if self._session.player.reduced_motion or self._shown is None or not self.isVisible():
            self.look_at(camera)
            return
        self._way = (self._camera, camera)
        self._glide.start()

    def tint(self, colours: Mapping[int, QColor]) -> None:
        """Frame boxes (by index) in colours of their own."""
        self._tints = dict(colours)
        self.update()

    def look_at(self, camera: Camera) -> None:
        """See the scene through this camera from now on."""
        if camera == self._camera:
            return
        self._camera = camera
        self.want()
        self.update()
        self.camera_changed.emit()
        self._rest.start()

    def _remember(self) -> None:
        """Keep the camera in the view, so that it survives a re-run; a fitted view stays a fitted one."""
        self._session.glance(camera=None if self._fitted else self._camera)

    def _follow_view(self, old: object) -> None:
        """Undo and back bring cameras; our own memory of it does not."""
        wanted = self._session.view.camera
        if wanted is not None and wanted != self._camera and not self._rest.isActive():
            self._fitted = False
            self._move_to(wanted)
        self.update()

    # -- places --------------------------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep everything in sight while it is fitted."""
        if self._fitted:
            self._camera = self._fit_camera()
            self.camera_changed.emit()
        self.want()

    def box_at(self, point: QPointF) -> Box | None:
        """The box under a pixel."""
        scene = self._drawing.scene
        if scene is None:
            return None
        return scene.box_at(*lens.to_scene(self._camera, self.extent, point.x(), point.y()))
