"""The display list: what a picture is made of, as frozen values in painter's order. No Qt in here.

Lengths are scene units, y points down; angles and clocks do not occur. Colours are `#rrggbb`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from gradviz.render.fonts import Style

Anchor = Literal["start", "middle", "end"]
Bounds = tuple[float, float, float, float]  # left, top, right, bottom
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Pen:
    """How a line is drawn: its colour, width, dashes (lengths in scene units) and opacity."""

    color: str
    width: float = 1.0
    dash: tuple[float, ...] = ()
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle, rounded when `radius` > 0."""

    x: float
    y: float
    width: float
    height: float
    radius: float = 0.0
    fill: str | None = None
    pen: Pen | None = None
    opacity: float = 1.0  # of the fill


@dataclass(frozen=True, slots=True)
class Curve:
    """A chain of cubic Bezier pieces: 3n+1 points."""

    points: tuple[Point, ...]
    pen: Pen


@dataclass(frozen=True, slots=True)
class Polygon:
    """A closed polygon, filled, or an open line with `pen` only."""

    points: tuple[Point, ...]
    fill: str | None = None
    pen: Pen | None = None
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Circle:
    """A disc."""

    x: float
    y: float
    radius: float
    fill: str | None = None
    pen: Pen | None = None
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Text:
    """A run of text on its baseline; `width` as measured, so that nobody must measure again."""

    x: float
    y: float
    text: str
    style: Style
    color: str
    width: float
    anchor: Anchor = "start"

    @property
    def left(self) -> float:
        """Where the text starts."""
        return self.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[self.anchor] * self.width


@dataclass(frozen=True, slots=True)
class Raster:
    """A picture of `rows` x `columns` coloured cells, row-major, three bytes each."""

    x: float
    y: float
    width: float
    height: float
    rows: int
    columns: int
    rgb: bytes


Shape = Rect | Curve | Polygon | Circle | Text | Raster


@dataclass(frozen=True, slots=True)
class Item:
    """Something that can be pointed at: its shapes, in painter's order, and the text of its tooltip.

    `id` is unique in a display list and the same in every frame of a scene; `kind` holds words for styling, the
    first one says what it is. `bounds` holds everything that is painted.
    """

    id: str
    kind: str
    title: str
    bounds: Bounds
    shapes: tuple[Shape, ...]


@dataclass(frozen=True)
class DisplayList:
    """Items in painter's order on a ground of colour `background` (None: transparent) that fills `bounds`."""

    items: tuple[Item, ...]
    bounds: Bounds
    background: str | None = None

    @property
    def width(self) -> float:
        """Width in scene units."""
        return self.bounds[2] - self.bounds[0]

    @property
    def height(self) -> float:
        """Height in scene units."""
        return self.bounds[3] - self.bounds[1]

    @cached_property
    def by_id(self) -> dict[str, Item]:
        """Id -> item."""
        return {item.id: item for item in self.items}

    def texts(self) -> Iterable[Text]:
        """All runs of text."""
        return (shape for item in self.items for shape in item.shapes if isinstance(shape, Text))


def moved(item: Item, dx: float, dy: float) -> Item:
    """The item somewhere else."""
    left, top, right, bottom = item.bounds
    shapes = tuple(_moved_shape(shape, dx, dy) for shape in item.shapes)
    return Item(item.id, item.kind, item.title, (left + dx, top + dy, right + dx, bottom + dy), shapes)


def grown(item: Item, by: float) -> Item:
    """The item so many times larger, and so many times farther from the origin."""
    left, top, right, bottom = item.bounds
    shapes = tuple(_grown_shape(shape, by) for shape in item.shapes)
    return Item(item.id, item.kind, item.title, (left * by, top * by, right * by, bottom * by), shapes)


def united(bounds: Iterable[Bounds]) -> Bounds:
    """The smallest bounds that hold all of them; a single point at 0 when there are none."""
    columns = list(zip(*bounds, strict=True))
    if not columns:
        return (0.0, 0.0, 0.0, 0.0)
    return (min(columns[0]), min(columns[1]), max(columns[2]), max(columns[3]))


def overlap(a: Bounds, b: Bounds) -> bool:
    """Whether two bounds share more than a border."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _moved_shape(shape: Shape, dx: float, dy: float) -> Shape:
    if isinstance(shape, Curve):
        return Curve(tuple((x + dx, y + dy) for x, y in shape.points), shape.pen)
    if isinstance(shape, Polygon):
        return Polygon(tuple((x + dx, y + dy) for x, y in shape.points), shape.fill, shape.pen, shape.opacity)
    if isinstance(shape, Rect):
        size = (shape.width, shape.height, shape.radius, shape.fill, shape.pen, shape.opacity)
        return Rect(shape.x + dx, shape.y + dy, *size)
    if isinstance(shape, Circle):
        return Circle(shape.x + dx, shape.y + dy, shape.radius, shape.fill, shape.pen, shape.opacity)
    if isinstance(shape, Raster):
        return Raster(shape.x + dx, shape.y + dy, shape.width, shape.height, shape.rows, shape.columns, shape.rgb)
    x, y = shape.x + dx, shape.y + dy
    return Text(x, y, shape.text, shape.style, shape.color, shape.width, shape.anchor)


def _grown_shape(shape: Shape, by: float) -> Shape:
    if isinstance(shape, Curve):
        return Curve(tuple((x * by, y * by) for x, y in shape.points), _grown_pen(shape.pen, by))
    if isinstance(shape, Polygon):
        points, pen = tuple((x * by, y * by) for x, y in shape.points), shape.pen and _grown_pen(shape.pen, by)
        return Polygon(points, shape.fill, pen, shape.opacity)
    x, y = shape.x * by, shape.y * by
    if isinstance(shape, Text):
        style = shape.style._replace(size=round(shape.style.size * by))
        return replace(shape, x=x, y=y, style=style, width=shape.width * by)
    if isinstance(shape, Raster):
        return replace(shape, x=x, y=y, width=shape.width * by, height=shape.height * by)
    pen = shape.pen and _grown_pen(shape.pen, by)
    if isinstance(shape, Circle):
        return replace(shape, x=x, y=y, radius=shape.radius * by, pen=pen)
    return replace(shape, x=x, y=y, width=shape.width * by, height=shape.height * by, radius=shape.radius * by, pen=pen)


def _grown_pen(pen: Pen, by: float) -> Pen:
    return Pen(pen.color, pen.width * by, tuple(dash * by for dash in pen.dash), pen.opacity)
