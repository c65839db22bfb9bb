"""Very many boxes and lines seen from far away, painted colour by colour instead of item by item.

What a box or a line looks like from far is told by `far`. Here its colour after it has run is worked out once a call,
and a whole picture costs a few calls of Qt's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from gradviz.model.collector import held_collector
from gradviz.playback import Flow, Frame
from gradviz.playback.act import Act
from gradviz.render.card import role_of
from gradviz.render.display import Display
from gradviz.render.far import border_width, box_colors, far_box, has_room, line_width, link_color
from gradviz.render.paint import paint_items
from gradviz.render.plan import Box, Link
from gradviz.render.scene import Scene
from gradviz.render.shapes import Point
from gradviz.render.theme import Theme

_BENT = 6.0  # pixels: a curve that moves less across the flow is drawn as a straight line


class _Run(NamedTuple):
    """When the gradient of a link begins to flow, and its colour after."""

    beat: float
    color: str


_NEVER = _Run(math.inf, "")


class Swarm:
    """The boxes and lines of one scene in one theme at one zoom.

    Args:
        scene: what is drawn.
        theme: in which colours.
        zoom: device pixels per scene unit.
        ratio: device pixels per pixel of the eye.
    """

    def __init__(self, scene: Scene, theme: Theme, zoom: float, ratio: float) -> None:
        self._scene, self._theme, self._zoom, self._ratio = scene, theme, zoom, ratio
        self._lines: dict[int, list[QLineF]] = {}
        self._rects: dict[int, QRectF] = {}
        self._runs: dict[int, dict[int, _Run]] = {}  # by call and link
        self._waiting = link_color(scene, Flow("waiting"), theme)

    def paint(self, painter: QPainter, frame: Frame, links: Iterable[int], boxes: Iterable[int]) -> None:
        """Paint these links (indices), then these boxes; the painter is in scene units."""
        self._paint_links(painter, frame, links)
        worded = self._paint_boxes(painter, frame, boxes)
        theme, zoom, ratio = self._theme, self._zoom, self._ratio
        paint_items(painter, (far_box(self._scene, box, frame, theme, zoom, ratio) for box in worded), zoom)

    def _paint_links(self, painter: QPainter, frame: Frame, links: Iterable[int]) -> None:
        known = self._lines
        by_color: dict[str, list[QLineF]] = {}
        for index in links:
            lines = known.get(index)
            if lines is None:
                lines = known[index] = self._lines_of(index)
            by_color.setdefault(self._color(index, frame), []).extend(lines)
        for color, lines in by_color.items():
            painter.setPen(_pen(color, line_width(self._zoom)))
            painter.drawLines(lines)

    def _color(self, index: int, frame: Frame) -> str:
        act = frame.act
        link = self._scene.plan.links[index]
        if not link.edges:
            return self._theme.constant_line  # to an input that needs no gradient
        if act is None or len(link.edges) > 1:
            return link_color(self._scene, self._scene.plan.flow(link, frame), self._theme)
        runs = self._runs.setdefault(act.call.number, {})
        run = runs.get(index)
        if run is None:
            run = runs[index] = self._run(act, link)
        if frame.moment < run.beat:
            return self._waiting
        return self._theme.accent if frame.moment < run.beat + 1 else run.color

    def _run(self, act: Act, link: Link) -> _Run:
        """As `Act.edge_state` tells it for all moments at once."""
        edge = act.stage.graph.edges[link.edges[0]]
        left = act.leaving(edge)
        if left is None:
            return _NEVER
        beat, value = left
        norm = None if value is None else value.norm
        return _Run(beat, link_color(self._scene, Flow("done", 1.0, value, norm), self._theme))

    def _paint_boxes(self, painter: QPainter, frame: Frame, boxes: Iterable[int]) -> list[Box]:
        """Paint the boxes that are too narrow for words; return the others."""
        scene = self._scene
        by_look: dict[tuple[str, str, float], list[QRectF]] = {}
        worded = []
        for index in boxes:
            box, bounds = scene.plan.boxes[index], scene.cards[index]
            if box.kind != "node" or has_room(bounds, self._zoom, self._ratio):
                worded.append(box)
                continue
            rect = self._rects.get(index)
            if rect is None:
                left, top, right, bottom = bounds
                rect = self._rects[index] = QRectF(left, top, right - left, bottom - top)
            phase, value = frame.glance(box.nodes[0])
            norm = None if value is None else value.norm
            fill, line = box_colors(scene, role_of(box.card, frame), phase, norm, self._theme)
            border = border_width(bounds, self._zoom)
            by_look.setdefault((fill, line if border else "", border), []).append(rect)
        for (fill, line, border), rects in by_look.items():
            painter.setBrush(QColor(fill))
            painter.setPen(_pen(line, border) if border else Qt.PenStyle.NoPen)
            painter.drawRects(rects)
        return worded

    def _lines_of(self, index: int) -> list[QLineF]:
        found: list[QLineF] = []
        for piece in self._scene.routes[index].pieces:
            if piece.drawn:
                for first in range(0, len(piece.points) - 3, 3):
                    found += self._straight(piece.points[first : first + 4])
        return found

    def _straight(self, points: Sequence[Point]) -> list[QLineF]:
        """A cubic piece as straight ones, none of which is far from it on the screen."""
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = points
        across = abs(y3 - y0) if self._scene.plan.horizontal else abs(x3 - x0)
        if across * self._zoom < _BENT:
            return [QLineF(x0, y0, x3, y3)]
        found = []
        x, y = x0, y0
        for a, b, c, d in _weights(min(32, 2 + int(across * self._zoom / _BENT))):
            to_x, to_y = a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3
            found.append(QLineF(x, y, to_x, to_y))
            x, y = to_x, to_y
        return found


def paint_far(painter: QPainter, scene: Scene, frame: Frame, theme: Theme, zoom: float) -> None:
    """Paint a whole scene from far, without its ground; the painter is in scene units."""
    display = Display(scene, theme, zoom)
    display.advance(frame)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
    with held_collector():
        paint_items(painter, display.outlines, zoom)
        links, boxes = range(len(scene.plan.links)), range(len(scene.plan.boxes))
        Swarm(scene, theme, zoom, 1.0).paint(painter, frame, links, boxes)
    paint_items(painter, (*display.seeds, *display.pulses), zoom)


@lru_cache(maxsize=32)
def _weights(count: int) -> list[tuple[float, float, float, float]]:
    """Weights of the four control points at the ends of `count` pieces."""
    found = []
    for step in range(1, count + 1):
        t = step / count
        u = 1.0 - t
        found.append((u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t))
    return found


def _pen(color: str, width: float) -> QPen:
    pen = QPen(QColor(color), width)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    return pen
