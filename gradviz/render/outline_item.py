"""The frame of an open group as an item: a rounded ground a shade off the paper, its name, and a sign for folding."""

from __future__ import annotations

from gradviz.render.fonts import LABEL, TAG, fonts
from gradviz.render.outlines import OUTLINE_TITLE, Outline
from gradviz.render.shapes import Item, Pen, Polygon, Rect, Shape, Text
from gradviz.render.theme import Theme, mix
from gradviz.texts import tr_picture as tr

_RADIUS = 14.0
_SIDE = 14.0


def outline_item(outline: Outline, theme: Theme) -> Item:
    """The item of an outline."""
    left, top, right, bottom = outline.bounds
    group = outline.group
    line = mix(theme.group_line, theme.paper, 0.45)
    known, y = fonts(), top + OUTLINE_TITLE - 5.0
    title = known.elide(group.title, TAG, right - left - 2 * _SIDE - 20.0)
    width = known.width(title, TAG)
    shapes: list[Shape] = [
        Rect(left, top, right - left, bottom - top, _RADIUS, theme.group_fill, Pen(line, 1.2), 0.55),
        Text(left + _SIDE, y, title, TAG, theme.soft_ink, width),
    ]
    detail = known.elide(group.detail, LABEL, max(right - left - 2 * _SIDE - 30.0 - width, 0.0))
    if len(detail) > 1:
        place = left + _SIDE + width + 10.0
        shapes.append(Text(place, y, detail, LABEL, mix(theme.soft_ink, theme.paper, 0.15), known.width(detail, LABEL)))
    x, middle = right - 18.0, top + 13.0
    shapes.append(Rect(x - 6, middle - 6, 12, 12, 3.0, None, Pen(line)))
    shapes.append(Polygon(((x - 3, middle), (x + 3, middle)), None, Pen(theme.soft_ink, 1.3)))
    words = tr("{name}, unfolded", name=f"{group.title} {group.detail}".strip())
    return Item(f"outline-{group.index}", f"outline {group.kind}", words, outline.bounds, tuple(shapes))
