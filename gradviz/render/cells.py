"""A tensor in a card: one number, a small grid of numbers, or a heat map with norm and shape."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from gradviz.model import Gradient, TensorValue
from gradviz.model.numbers import UNDEFINED, number_text, shape_text
from gradviz.render.fonts import CELL, LABEL, NUMBER, NUMBER_BOLD, Fonts, Style
from gradviz.render.heat import Heat, heat_of, heat_size
from gradviz.render.scale import signed_color
from gradviz.render.shapes import Raster, Rect, Shape, Text
from gradviz.render.theme import Theme, ink_on, mix
from gradviz.texts import tr_picture as tr

CellKind = Literal["none", "scalar", "grid", "heat", "text"]

GRID_ROWS, GRID_COLUMNS = 3, 4
_GRID_LINE = 19.0
_GRID_PAD = 7.0
_NUMBER_LINE = 24.0
_CAPTION_LINE = 15.0
_FRAME = 3.0
_WIDEST = "-0.000e-00"  # as wide as a norm in 4 digits gets
_TINT_MIX = 0.45  # how strongly a number's ground takes the colour of its sign


@dataclass(frozen=True, slots=True)
class Tone:
    """How a cell is drawn: `ink` for its numbers, `frame` the tint of its norm (None: no frame), bold or not.

    `signs` gives the numbers of a grid grounds by sign and size; data go without, colour belongs to gradients.
    """

    ink: str
    soft: str
    frame: str | None
    bold: bool
    signs: bool = True


def cell_kind(value: Gradient) -> CellKind:
    """How a value is shown; it depends on its shape and on what was kept of it."""
    if value is None:
        return "none"
    numbers = value.numbers
    if numbers is not None and len(numbers) == 1:
        return "scalar"
    if numbers is not None and numbers and is_grid(value.full_shape):
        return "grid"
    return "heat" if numbers or value.thumbnail is not None else "text"


def cell_size(values: Iterable[Gradient], fonts: Fonts) -> tuple[float, float]:
    """Width and height that hold each of `values` (what one output receives in several calls)."""
    width, height = fonts.width(UNDEFINED, NUMBER), _NUMBER_LINE
    for value in values:
        w, h = _size(value, fonts)
        width, height = max(width, w), max(height, h)
    return width, height


def cell_shapes(value: Gradient, x: float, y: float, tone: Tone, theme: Theme, fonts: Fonts) -> list[Shape]:
    """The shapes of a value with its top left corner at (x, y)."""
    kind = cell_kind(value)
    if value is None or kind == "none":
        return _number(UNDEFINED, x, y, Tone(tone.soft, tone.soft, None, False), fonts)
    if kind == "scalar":
        number = value.item()
        assert number is not None
        return _number(number_text(number), x, y, tone, fonts)
    if kind == "grid":
        return _grid(value, x, y, tone, theme, fonts)
    if kind == "heat":
        return _heat(value, x, y, tone, theme, fonts)
    return _caption(value, x, y + 14.0, tone, fonts)


def is_grid(shape: tuple[int, ...]) -> bool:
    """Whether all numbers of a tensor of this shape are shown."""
    columns = shape[-1] if shape else 1
    return columns <= GRID_COLUMNS and math.prod(shape[:-1]) <= GRID_ROWS


def _size(value: Gradient, fonts: Fonts) -> tuple[float, float]:
    kind = cell_kind(value)
    if value is None or kind == "none":
        return 0.0, _NUMBER_LINE
    if kind == "scalar":
        number = value.item()
        assert number is not None
        return fonts.width(number_text(number), NUMBER_BOLD) + 2 * _FRAME + 4.0, _NUMBER_LINE
    if kind == "grid":
        rows, columns = _grid_size(value)
        return columns * _column_width(value, fonts) + 2 * _FRAME, rows * _GRID_LINE + 2 * _FRAME
    odd = value.norm is not None and not math.isfinite(value.norm)
    return _caption_size(value.full_shape, value.layout, kind == "heat", odd, fonts)


@lru_cache(maxsize=4096)
def _caption_size(shape: tuple[int, ...], layout: str, heat: bool, odd: bool, fonts: Fonts) -> tuple[float, float]:
    """The size of a heat map with its captions (or of captions alone), for any norm."""
    lines = [_shape_line(shape, layout), tr("norm {x}", x=_WIDEST)]
    lines += [f"{'0' * 6} nan, {'0' * 6} inf"] if odd else []
    width, height = max(fonts.width(text, LABEL) for text in lines), len(lines) * _CAPTION_LINE
    if not heat:
        return width, height + 3.0
    w, h = heat_size(shape)
    return max(w + 2 * _FRAME, width), h + 2 * _FRAME + height + 2.0


def _number(text: str, x: float, y: float, tone: Tone, fonts: Fonts) -> list[Shape]:
    style = NUMBER_BOLD if tone.bold else NUMBER
    width = fonts.width(text, style)
    if tone.frame is None:
        return [Text(x, y + 18.0, text, style, tone.ink, width)]
    chip = Rect(x, y, width + 2 * _FRAME + 4.0, _NUMBER_LINE, 5.0, tone.frame)
    return [chip, Text(x + _FRAME + 2.0, y + 18.0, text, style, ink_on(tone.frame, tone.ink), width)]


def _grid(value: TensorValue, x: float, y: float, tone: Tone, theme: Theme, fonts: Fonts) -> list[Shape]:
    rows, columns = _grid_size(value)
    numbers = value.numbers or ()
    column = _column_width(value, fonts)
    width, height = columns * column, rows * _GRID_LINE
    shapes: list[Shape] = []
    frame = tone.frame or theme.hairline
    shapes.append(Rect(x, y, width + 2 * _FRAME, height + 2 * _FRAME, 4.0, frame))
    most = max((abs(n) for n in numbers if math.isfinite(abs(n))), default=0.0)
    style = Style(CELL.family, CELL.size, tone.bold)
    for place, number in enumerate(numbers):
        left = x + _FRAME + (place % columns) * column
        top = y + _FRAME + (place // columns) * _GRID_LINE
        size = 0.0 if isinstance(number, complex) else float(number)
        ground = mix(theme.card, signed_color(size, most, theme), _TINT_MIX) if tone.signs else theme.card
        if not math.isfinite(abs(number)):
            ground = theme.nonfinite
        shapes.append(Rect(left + 0.5, top + 0.5, column - 1.0, _GRID_LINE - 1.0, 2.0, ground))
        text = number_text(number)
        ink = ink_on(ground, theme.ink)
        shapes.append(Text(left + column - _GRID_PAD, top + 14.0, text, style, ink, fonts.width(text, style), "end"))
    return shapes


def _heat(value: TensorValue, x: float, y: float, tone: Tone, theme: Theme, fonts: Fonts) -> list[Shape]:
    heat = heat_of(value)
    frame = tone.frame or theme.hairline
    shapes: list[Shape] = [Rect(x, y, heat.width + 2 * _FRAME, heat.height + 2 * _FRAME, 4.0, frame)]
    pixels = _pixels(heat, theme)
    shapes.append(Raster(x + _FRAME, y + _FRAME, heat.width, heat.height, heat.rows, heat.columns, pixels))
    return shapes + _caption(value, x, y + heat.height + 2 * _FRAME + 14.0, tone, fonts)


def _caption(value: TensorValue, x: float, baseline: float, tone: Tone, fonts: Fonts) -> list[Shape]:
    return [
        Text(x, baseline + place * _CAPTION_LINE, text, LABEL, tone.soft, fonts.width(text, LABEL))
        for place, text in enumerate(_caption_lines(value))
    ]


def _caption_lines(value: TensorValue) -> list[str]:
    """Norm and shape; what is not finite is told, what could not be read too."""
    lines = [_shape_line(value.full_shape, value.layout)]
    if value.norm is not None and value.numel > 0:
        lines.append(tr("norm {x}", x=number_text(value.norm)))
    elif value.unreadable is not None:
        lines.append(tr("unreadable"))
    statistics = value.statistics
    if statistics is not None and (statistics.nan or statistics.inf):
        counts = ((statistics.nan, "nan"), (statistics.inf, "inf"))
        lines.append(", ".join(f"{count} {word}" for count, word in counts if count))
    return lines


def _shape_line(shape: tuple[int, ...], layout: str) -> str:
    return shape_text(shape) + ("" if layout == "strided" else f" {layout.removeprefix('sparse_')}")


def _grid_size(value: TensorValue) -> tuple[int, int]:
    shape = value.full_shape
    columns = shape[-1] if shape else 1
    return math.prod(shape[:-1]), columns


def _column_width(value: TensorValue, fonts: Fonts) -> float:
    bold = Style(CELL.family, CELL.size, True)
    widest = max(fonts.width(number_text(number), bold) for number in value.numbers or (0,))
    return widest + 2 * _GRID_PAD


@lru_cache(maxsize=512)
def _pixels(heat: Heat, theme: Theme) -> bytes:
    most = max((abs(v) for v in heat.values if math.isfinite(v)), default=0.0)
    colors = (signed_color(value, most, theme) for value in heat.values)
    return b"".join(bytes.fromhex(color[1:]) for color in colors)
