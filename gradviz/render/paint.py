"""Painting a display list with QPainter."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter, QPainterPath, QPen, QPolygonF

from gradviz.render.fonts import Fonts, fonts
from gradviz.render.shapes import (
    Bounds,
    Circle,
    Curve,
    DisplayList,
    Item,
    Pen,
    Polygon,
    Raster,
    Rect,
    Shape,
    Text,
    overlap,
)

READABLE = 4.5  # pixels: text below this height is left out, it would be grey dirt


def paint_frame(painter: QPainter, display: DisplayList, clip: Bounds | None = None, zoom: float = 1.0) -> None:
    """Paint a display list. The caller has moved and scaled the painter by `zoom` pixels per scene unit.

    Args:
        painter: an active painter, scene units, y down.
        display: what is painted; its background fills its bounds.
        clip: the part that is seen (left, top, right, bottom); what lies outside is left out.
        zoom: pixels per scene unit; text that would be too small to be read is left out.
    """
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
    if display.background is not None:
        left, top, right, bottom = display.bounds if clip is None else clip
        painter.fillRect(QRectF(left, top, right - left, bottom - top), _color(display.background, 1.0))
    items = display.items if clip is None else (item for item in display.items if overlap(item.bounds, clip))
    paint_items(painter, items, zoom)


def paint_items(painter: QPainter, items: Iterable[Item], zoom: float = 1.0) -> None:
    """Paint items in order, without any background."""
    used = fonts()
    for item in items:
        for shape in item.shapes:
            _paint(painter, shape, zoom, used)


def _paint(painter: QPainter, shape: Shape, zoom: float, used: Fonts) -> None:
    if isinstance(shape, Text):
        if shape.style.size * zoom >= READABLE:
            painter.setFont(used.font(shape.style))
            painter.setPen(_color(shape.color, 1.0))
            painter.drawText(QPointF(shape.left, shape.y), shape.text)
    elif isinstance(shape, Rect):
        _set(painter, shape.fill, shape.pen, shape.opacity)
        rect = QRectF(shape.x, shape.y, shape.width, shape.height)
        if shape.radius:
            painter.drawRoundedRect(rect, shape.radius, shape.radius)
        else:
            painter.drawRect(rect)
    elif isinstance(shape, Curve):
        _set(painter, None, shape.pen, 1.0)
        painter.drawPath(_path(shape))
    elif isinstance(shape, Polygon):
        _set(painter, shape.fill, shape.pen, shape.opacity)
        points = [QPointF(x, y) for x, y in shape.points]
        if shape.fill is None:
            painter.drawPolyline(points)
        else:
            painter.drawPolygon(QPolygonF(points))
    elif isinstance(shape, Circle):
        _set(painter, shape.fill, shape.pen, shape.opacity)
        painter.drawEllipse(QPointF(shape.x, shape.y), shape.radius, shape.radius)
    else:
        painter.drawImage(QRectF(shape.x, shape.y, shape.width, shape.height), _image(shape.rgb, shape))


def _set(painter: QPainter, fill: str | None, pen: Pen | None, opacity: float) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush if fill is None else _brush(fill, opacity))
    if pen is None:
        painter.setPen(Qt.PenStyle.NoPen)
    else:
        painter.setPen(_pen(pen))


def _path(curve: Curve) -> QPainterPath:
    points = curve.points
    path = QPainterPath(QPointF(*points[0]))
    for start in range(1, len(points) - 2, 3):
        (ax, ay), (bx, by), (cx, cy) = points[start : start + 3]
        path.cubicTo(ax, ay, bx, by, cx, cy)
    return path


@lru_cache(maxsize=2048)
def _color(color: str, opacity: float) -> QColor:
    made = QColor(color)
    made.setAlphaF(opacity)
    return made


@lru_cache(maxsize=2048)
def _brush(color: str, opacity: float) -> QBrush:
    return QBrush(_color(color, opacity))


@lru_cache(maxsize=1024)
def _pen(pen: Pen) -> QPen:
    made = QPen(_color(pen.color, pen.opacity), pen.width)
    made.setCapStyle(Qt.PenCapStyle.RoundCap if pen.dash and pen.dash[0] < 2 else Qt.PenCapStyle.FlatCap)
    made.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    if pen.dash:
        made.setDashPattern([length / pen.width for length in pen.dash])
    return made


@lru_cache(maxsize=512)
def _image(rgb: bytes, shape: Raster) -> QImage:
    stride = 3 * shape.columns
    return QImage(rgb, shape.columns, shape.rows, stride, QImage.Format.Format_RGB888).copy()
