"""The bar of a `.grad`: one segment for what each call brought, in that call's shade, and the sum."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gradviz.model import Gradient
from gradviz.playback import GradState
from gradviz.playback.beats import ADDED
from gradviz.playback.easing import between, ease_in_out
from gradviz.render.fonts import SEGMENT, TOTAL, Fonts
from gradviz.render.labels import plain, segment_text, segment_widths, total_text
from gradviz.render.measure import BAR
from gradviz.render.shapes import Pen, Rect, Shape, Text
from gradviz.render.theme import Theme, ink_on

_GAP = 2.0


def grad_bar(
    state: GradState,
    x: float,
    y: float,
    room: float,
    shades: Sequence[str],
    with_total: bool,
    theme: Theme,
    fonts: Fonts,
) -> list[Shape]:
    """The bar in a space of width `room` with its top left corner at (x, y); `shades` are the segments' colours."""
    tail = _tail(state, with_total)
    tail_room = fonts.width(total_text(state), TOTAL) + 10.0 if with_total else 0.0
    space = room - tail_room
    grown = ease_in_out(between(state.alpha, 0.0, ADDED)) if state.change == "added" else 1.0
    shapes: list[Shape] = []
    if state.change == "cleared" and state.alpha < 1.0:
        left = space * (1.0 - ease_in_out(state.alpha))
        shapes.append(Rect(x, y, max(left, 1.0), BAR, 3.0, theme.unknown_part, None, 1.0 - state.alpha))
    if not state.parts:
        shapes.append(Rect(x + 0.5, y + 0.5, space - 1.0, BAR - 1.0, 3.0, None, Pen(theme.hairline, 1.0, (3.0, 3.0))))
        return [*shapes, *_text(tail, x + room, y, theme, fonts)]
    left = x
    widths = _widths(state, space, fonts)
    for place, (width, shade) in enumerate(zip(widths, shades, strict=True)):
        share = grown if place == len(widths) - 1 else 1.0
        shapes.append(Rect(left, y, max(width * share, 1.0), BAR, 3.0, shade))
        if share == 1.0:
            text = segment_text(state, place)
            ink = ink_on(shade, "#ffffff")
            middle = left + width / 2
            shapes.append(Text(middle, y + 13.0, text, SEGMENT, ink, fonts.width(text, SEGMENT), "middle"))
        left += width + _GAP
    return [*shapes, *_text(tail, x + room, y, theme, fonts)]


def _tail(state: GradState, with_total: bool) -> str:
    if not with_total:
        return ""
    if state.change == "added" and state.alpha < ADDED:
        return "None" if state.before is None else f"= {plain(state.before)}"
    return total_text(state)


def _text(text: str, right: float, y: float, theme: Theme, fonts: Fonts) -> list[Shape]:
    if not text:
        return []
    return [Text(right, y + 14.0, text, TOTAL, theme.ink, fonts.width(text, TOTAL), "end")]


def _widths(state: GradState, space: float, fonts: Fonts) -> list[float]:
    """Each segment is as wide as its text needs; the rest is shared by size."""
    least = segment_widths(state, fonts)
    sizes = [_magnitude(part.value) for part in state.parts]
    total = math.fsum(sizes)
    rest = max(space - sum(least) - _GAP * (len(least) - 1), 0.0)
    shares = [size / total for size in sizes] if total > 0.0 else [1.0 / len(least)] * len(least)
    return [width + rest * share for width, share in zip(least, shares, strict=True)]


def _magnitude(value: Gradient) -> float:
    norm = None if value is None else value.norm
    return norm if norm is not None and math.isfinite(norm) else 0.0
