"""What is painted over the picture of the graph: selection, the box under the mouse, bookmarks, and the veil."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPainterPathStroker, QPen, QPolygonF

from gradviz.app.look import Look
from gradviz.render import Box, Scene
from gradviz.render.scene import flattened
from gradviz.render.shapes import Bounds

_HALO = 5.0
_RADIUS = 12.0
_LINK_ROOM = 12.0
_VEIL = 0.72  # how much of the picture the veil takes away

ToScreen = Callable[[Bounds], QRectF]


@dataclass(frozen=True)
class Marks:
    """Boxes (indices) that wear a mark. `lit` None: nothing is veiled; `links` None: all links between lit boxes."""

    selected: frozenset[int] = frozenset()
    bookmarked: frozenset[int] = frozenset()
    hovered: int | None = None
    lit: frozenset[int] | None = None
    links: frozenset[int] | None = None
    tints: Mapping[int, QColor] = field(default_factory=dict)

    @property
    def boxes(self) -> frozenset[int]:
        """All boxes that wear a mark."""
        hovered = () if self.hovered is None else (self.hovered,)
        return self.selected | self.bookmarked | frozenset(self.tints) | frozenset(hovered)


def paint_marks(
    painter: QPainter, scene: Scene, marks: Marks, seen: Iterable[int], place: ToScreen, look: Look
) -> None:
    """Paint the marks of the boxes `seen`."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for index in seen:
        if index in marks.tints:
            painter.setPen(QPen(marks.tints[index], 4.0))
            painter.drawRoundedRect(_around(place(scene.cards[index])), _RADIUS, _RADIUS)
        if index in marks.bookmarked:
            _paint_bookmark(painter, place(scene.cards[index]), look)
        if index in marks.selected:
            painter.setPen(QPen(look.focus, 2.5))
            painter.drawRoundedRect(_around(place(scene.cards[index])), _RADIUS, _RADIUS)
        elif index == marks.hovered:
            painter.setPen(QPen(look.muted, 1.2))
            painter.drawRoundedRect(_around(place(scene.cards[index])), _RADIUS, _RADIUS)


def paint_veil(
    painter: QPainter, scene: Scene, marks: Marks, area: Bounds, place: ToScreen, look: Look
) -> QPainterPath:
    """Take the colour from all but what is lit in `marks`; return where that is on the screen.

    `area` is the part of the scene that is seen.
    """
    lit = marks.lit or frozenset()
    veil = QColor(look.paper)
    veil.setAlphaF(_VEIL)
    painter.fillRect(painter.viewport(), veil)
    path = QPainterPath()
    path.setFillRule(Qt.FillRule.WindingFill)
    for index in scene.boxes_in(area):
        if index in lit:
            path.addRect(place(scene.reach(scene.plan.boxes[index])))
    pen = QPainterPathStroker()
    pen.setWidth(_LINK_ROOM)
    for index in scene.links_in(area):
        link = scene.plan.links[index]
        if link.source in lit and link.target in lit and (marks.links is None or index in marks.links):
            path.addRect(place(_label(scene, index)))
            for piece in scene.routes[index].pieces:
                line = [place((x, y, x, y)).topLeft() for x, y in flattened(piece.points)]
                way = QPainterPath()
                way.addPolygon(QPolygonF(line))
                path.addPath(pen.createStroke(way))
    return path


def _label(scene: Scene, link: int) -> Bounds:
    """Where the label of a link is; an empty place where it has none."""
    centre, size = scene.routes[link].label, scene.plan.links[link].label
    if centre is None or size is None:
        return 0.0, 0.0, 0.0, 0.0
    return centre[0] - size[0] / 2, centre[1] - size[1] / 2, centre[0] + size[0] / 2, centre[1] + size[1] / 2


def repaint_lit(painter: QPainter, path: QPainterPath, target: QRectF, image: QImage) -> None:
    """Paint the picture again where it is lit."""
    painter.save()
    painter.setClipPath(path)
    painter.drawImage(target, image)
    painter.restore()


def indices(boxes: Iterable[Box]) -> frozenset[int]:
    """The indices of boxes."""
    return frozenset(box.index for box in boxes)


def _around(card: QRectF) -> QRectF:
    return card.adjusted(-_HALO, -_HALO, _HALO, _HALO)


def _paint_bookmark(painter: QPainter, card: QRectF, look: Look) -> None:
    """A ribbon at the upper right corner."""
    right, top = card.right() - 6, card.top() - 3
    corners = [(-10, 0), (0, 0), (0, 16), (-5, 11), (-10, 16)]
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(look.warning)
    painter.drawPolygon(QPolygonF([QPointF(right + x, top + y) for x, y in corners]))
    painter.setBrush(Qt.BrushStyle.NoBrush)
