"""The picture in a window: kept between frames, so that a frame costs what changed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from gradviz.model import Camera
from gradviz.model.collector import held_collector
from gradviz.playback import Frame
from gradviz.render.display import Display, Stale
from gradviz.render.far import FAR_ZOOM
from gradviz.render.paint import paint_items
from gradviz.render.scene import Scene
from gradviz.render.shapes import Bounds, Item, overlap, united
from gradviz.render.swarm import Swarm
from gradviz.render.theme import Theme

_MOST_PATCHES = 24  # more patches than this are repainted as one area
_EDGE = 2  # pixels around a patch: antialiasing reaches over the bounds


def fit_camera(bounds: Bounds, width: float, height: float, most: float = 1.0) -> Camera:
    """The camera that shows all of `bounds` in a view of this size, at a zoom of at most `most`."""
    left, top, right, bottom = bounds
    zoom = min(width / max(right - left, 1.0), height / max(bottom - top, 1.0), most)
    return Camera((left + right) / 2, (top + bottom) / 2, max(zoom, 1e-4))


class Canvas:
    """Paints frames of one scene into a view. Holds the picture of the last one.

    Between two frames only what changed is painted again; a move of the camera shifts the picture and paints what
    came into view; another zoom paints all, or with `hurry` shows the old picture scaled, to be called again soon.
    """

    def __init__(self, scene: Scene, theme: Theme) -> None:
        self.scene, self.theme = scene, theme
        self._display: Display | None = None
        self._swarm: Swarm | None = None
        self._frame: Frame | None = None
        self._image: QImage | None = None
        self._camera = Camera()
        self._ratio = 1.0

    def paint(
        self,
        painter: QPainter,
        frame: Frame,
        camera: Camera,
        size: tuple[int, int],
        ratio: float = 1.0,
        *,
        hurry: bool = False,
    ) -> bool:
        """Paint a frame at (0, 0) of a view.

        Args:
            painter: in view units (logical pixels).
            frame: of the scene's timeline.
            camera: its zoom is in logical pixels per scene unit.
            size: of the view in logical pixels.
            ratio: device pixels per logical pixel.
            hurry: whether a scaled picture will do; then the answer may be False: call again without hurry.
        """
        if size[0] < 1 or size[1] < 1:
            return True
        camera = self._on_pixels(camera, ratio)
        known = (
            self._image is not None and self._ratio == ratio and self._view(size, ratio) == self._image.size().toTuple()
        )
        if hurry and self._image is not None and not (known and camera.zoom == self._camera.zoom):
            self._paint_scaled(painter, camera, size, ratio)
            return False
        if not known or camera.zoom != self._camera.zoom:
            self._renew(frame, camera, size, ratio)
        else:
            self._scroll(camera)
            self._go_to(frame)
        assert self._image is not None and self._display is not None
        self._image.setDevicePixelRatio(ratio)
        painter.drawImage(QPointF(0, 0), self._image)
        self._image.setDevicePixelRatio(1.0)
        self._overlay(painter, size)
        return True

    def image(self, frame: Frame, camera: Camera, size: tuple[int, int], ratio: float = 1.0) -> QImage:
        """A frame as an image of `size` x `ratio` pixels."""
        made = QImage(*self._view(size, ratio), QImage.Format.Format_ARGB32_Premultiplied)
        made.setDevicePixelRatio(ratio)
        painter = QPainter(made)
        try:
            self.paint(painter, frame, camera, size, ratio)
        finally:
            painter.end()  # an image that goes before its painter takes the process with it
        return made

    @staticmethod
    def _view(size: tuple[int, int], ratio: float) -> tuple[int, int]:
        return math.ceil(size[0] * ratio), math.ceil(size[1] * ratio)

    @staticmethod
    def _on_pixels(camera: Camera, ratio: float) -> Camera:
        """The camera with its centre on whole device pixels: then a move shifts the picture without loss."""
        scale = camera.zoom * ratio
        return replace(camera, x=round(camera.x * scale) / scale, y=round(camera.y * scale) / scale)

    def _renew(self, frame: Frame, camera: Camera, size: tuple[int, int], ratio: float) -> None:
        """Paint everything."""
        scale = camera.zoom * ratio
        far = camera.zoom < FAR_ZOOM
        if self._display is None or self._display.far != far or (far and scale != self._camera.zoom * self._ratio):
            self._display = Display(self.scene, self.theme, scale, ratio)
            self._swarm = Swarm(self.scene, self.theme, scale, ratio)
        self._camera, self._ratio = camera, ratio
        self._image = QImage(*self._view(size, ratio), QImage.Format.Format_RGB32)
        self._advance(frame)
        self._repaint([QRect(QPoint(0, 0), self._image.size())])

    def _scroll(self, camera: Camera) -> None:
        """Move the picture and paint what came into view."""
        assert self._image is not None
        scale = camera.zoom * self._ratio
        dx, dy = round((self._camera.x - camera.x) * scale), round((self._camera.y - camera.y) * scale)
        self._camera = camera
        if not dx and not dy:
            return
        width, height = self._image.width(), self._image.height()
        moved = QImage(self._image.size(), QImage.Format.Format_RGB32)
        painter = QPainter(moved)
        painter.drawImage(QPoint(dx, dy), self._image)
        painter.end()
        self._image = moved
        if abs(dx) >= width or abs(dy) >= height:
            self._repaint([QRect(0, 0, width, height)])
            return
        strips = [QRect(0, 0, dx, height) if dx > 0 else QRect(width + dx, 0, -dx, height)]
        strips.append(QRect(0, 0, width, dy) if dy > 0 else QRect(0, height + dy, width, -dy))
        self._repaint([strip for strip in strips if not strip.isEmpty()])

    def _go_to(self, frame: Frame) -> None:
        assert self._image is not None and self._display is not None
        stale = self._advance(frame)
        whole = QRect(QPoint(0, 0), self._image.size())
        if stale is None:
            self._repaint([whole])
        elif self._display.far:
            self._overpaint(stale)
        else:
            bounds = [self.scene.reach(self.scene.plan.boxes[index]) for index in stale.boxes]
            bounds += [self.scene.link_bounds(self.scene.plan.links[index]) for index in stale.links]
            rects = [rect for rect in map(self._pixels, bounds) if rect.intersects(whole)]
            self._repaint(_merged([rect.intersected(whole) for rect in rects]))

    def _advance(self, frame: Frame) -> Stale | None:
        assert self._display is not None
        self._frame = frame
        return self._display.advance(frame)

    def _overpaint(self, stale: Stale) -> None:
        """From far, boxes and lines only change their colour: paint them where they are."""
        assert self._image is not None and self._swarm is not None and self._frame is not None
        area = self._area(QRect(QPoint(0, 0), self._image.size()))
        links = [i for i in stale.links if overlap(self.scene.routes[i].bounds, area)]
        boxes = [i for i in stale.boxes if overlap(self.scene.cards[i], area)]
        painter = self._painter()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._swarm.paint(painter, self._frame, links, boxes)
        painter.end()

    def _repaint(self, rects: Sequence[QRect]) -> None:
        assert self._image is not None and self._display is not None
        for rect in rects:
            painter = QPainter(self._image)
            painter.setClipRect(rect)
            painter.fillRect(rect, QColor(self.theme.paper))
            self._transform(painter)
            painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
            with held_collector():
                if self._display.far:
                    self._paint_far(painter, self._area(rect))
                else:
                    paint_items(painter, self._items_in(self._area(rect)), self._camera.zoom * self._ratio)
            painter.end()

    def _paint_far(self, painter: QPainter, area: Bounds) -> None:
        """What is painted in an area from far, where links have no labels."""
        assert self._display is not None and self._swarm is not None and self._frame is not None
        zoom = self._camera.zoom * self._ratio
        paint_items(painter, (item for item in self._display.outlines if overlap(item.bounds, area)), zoom)
        self._swarm.paint(painter, self._frame, self.scene.links_in(area), self.scene.boxes_in(area))
        paint_items(painter, (item for item in self._display.seeds if overlap(item.bounds, area)), zoom)

    def _items_in(self, area: Bounds) -> Iterable[Item]:
        """What is painted in an area, in painter's order (pulses apart)."""
        assert self._display is not None
        plan = self.scene.plan
        yield from (item for item in self._display.outlines if overlap(item.bounds, area))
        near = [i for i in self.scene.links_in(area) if overlap(self.scene.link_bounds(plan.links[i]), area)]
        yield from map(self._display.link, near)
        for index in self.scene.boxes_in(area):
            if overlap(self.scene.reach(self.scene.plan.boxes[index]), area):
                yield self._display.card(index)
        yield from (item for item in self._display.seeds if overlap(item.bounds, area))
        for index in near:
            label = self._display.label(index)
            if label is not None and overlap(label.bounds, area):
                yield label

    def _overlay(self, painter: QPainter, size: tuple[int, int]) -> None:
        assert self._display is not None
        if not self._display.pulses:
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(size[0] / 2, size[1] / 2)
        painter.scale(self._camera.zoom, self._camera.zoom)
        painter.translate(-self._camera.x, -self._camera.y)
        paint_items(painter, self._display.pulses, self._camera.zoom)
        painter.restore()

    def _paint_scaled(self, painter: QPainter, camera: Camera, size: tuple[int, int], ratio: float) -> None:
        """The old picture where the new camera sees it."""
        assert self._image is not None
        painter.fillRect(QRectF(0, 0, *size), QColor(self.theme.paper))
        left, top, right, bottom = self._area(QRect(QPoint(0, 0), self._image.size()))
        target = QRectF(
            size[0] / 2 + (left - camera.x) * camera.zoom,
            size[1] / 2 + (top - camera.y) * camera.zoom,
            (right - left) * camera.zoom,
            (bottom - top) * camera.zoom,
        )
        painter.drawImage(target, self._image)

    def _painter(self) -> QPainter:
        assert self._image is not None
        painter = QPainter(self._image)
        self._transform(painter)
        return painter

    def _transform(self, painter: QPainter) -> None:
        assert self._image is not None
        scale = self._camera.zoom * self._ratio
        painter.translate(self._image.width() // 2, self._image.height() // 2)
        painter.scale(scale, scale)
        painter.translate(-self._camera.x, -self._camera.y)

    def _area(self, rect: QRect) -> Bounds:
        """Pixels of the image as scene units."""
        assert self._image is not None
        scale = self._camera.zoom * self._ratio
        left = (rect.left() - self._image.width() // 2) / scale + self._camera.x
        top = (rect.top() - self._image.height() // 2) / scale + self._camera.y
        return left, top, left + rect.width() / scale, top + rect.height() / scale

    def _pixels(self, bounds: Bounds) -> QRect:
        """Scene units as pixels of the image."""
        assert self._image is not None
        scale = self._camera.zoom * self._ratio
        left = math.floor((bounds[0] - self._camera.x) * scale) + self._image.width() // 2 - _EDGE
        top = math.floor((bounds[1] - self._camera.y) * scale) + self._image.height() // 2 - _EDGE
        right = math.ceil((bounds[2] - self._camera.x) * scale) + self._image.width() // 2 + _EDGE
        bottom = math.ceil((bounds[3] - self._camera.y) * scale) + self._image.height() // 2 + _EDGE
        return QRect(left, top, right - left, bottom - top)


def _merged(rects: Sequence[QRect]) -> list[QRect]:
    """Rectangles that touch become one; very many become one."""
    if len(rects) > _MOST_PATCHES:
        left, top, right, bottom = united([(r.left(), r.top(), r.right() + 1, r.bottom() + 1) for r in rects])
        return [QRect(int(left), int(top), int(right - left), int(bottom - top))]
    found: list[QRect] = []
    for rect in rects:
        current = rect
        while (hit := next((other for other in found if other.intersects(current)), None)) is not None:
            found.remove(hit)
            current = current.united(hit)
        found.append(current)
    return found
