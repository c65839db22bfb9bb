"""Leaves folded into the operation that uses them: a line each in its card, with the name and the `.grad`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from gradviz.model import Gradient
from gradviz.model.numbers import brief, number_text
from gradviz.playback import Frame, Timeline
from gradviz.playback.words import short_name
from gradviz.render.fonts import CELL, LABEL, TAG, Fonts
from gradviz.render.measure import PAD, Card, LeafLine
from gradviz.render.scale import LogScale
from gradviz.render.shapes import Bounds, Circle, Pen, Rect, Shape, Text
from gradviz.render.theme import Theme, ink_on

LEAF_LINE = 24.0
_MOST_TITLE = 160.0
_GAP = 18.0
_FOOT = 8.0


def folded_leaves(timeline: Timeline, shown: Iterable[int]) -> dict[int, list[int]]:
    """Operation -> the leaves that it alone uses, of the nodes `shown`; these have no box of their own."""
    graph, visible = timeline.stage.graph, list(shown)
    known = set(visible)
    found: dict[int, list[int]] = {}
    for node in visible:
        users = {edge.source for edge in graph.incoming.get(node, ())}
        if graph.by_id[node].kind == "leaf" and len(users) == 1 and users <= known:
            found.setdefault(users.pop(), []).append(node)
    return found


def with_leaves(card: Card, leaves: Sequence[int], timeline: Timeline, fonts: Fonts) -> Card:
    """The card of an operation with room for its leaves."""
    by_id = timeline.stage.graph.by_id
    lines = tuple(LeafLine(node, fonts.elide(short_name(by_id[node]), TAG, _MOST_TITLE)) for node in leaves)
    widths = (
        fonts.width(line.title, TAG) + fonts.width(_text(value), CELL)
        for line in lines
        for value in _totals(timeline, line.node)
    )
    width = max([card.width, *(float(round(wide + 2 * PAD + _GAP + 24.0)) for wide in widths)])
    return replace(card, width=width, height=card.height + len(lines) * LEAF_LINE + _FOOT, leaves=lines)


def _totals(timeline: Timeline, node: int) -> Iterator[Gradient]:
    yield None
    track = timeline.leaves.get(node)
    if track is not None:
        yield from (state.total for state in track.states)


def leaf_line_shapes(
    card: Card, bounds: Bounds, frame: Frame, scale: LogScale, theme: Theme, fonts: Fonts
) -> list[Shape]:
    """The lines at the foot of a card: a blue ground as leaves have, the name, the `.grad` in the tint of its norm."""
    left, _, right, bottom = bounds
    top = bottom - len(card.leaves) * LEAF_LINE - _FOOT
    shapes: list[Shape] = []
    for place, line in enumerate(card.leaves):
        y = top + place * LEAF_LINE
        pen = Pen(theme.leaf_line, 0.8)
        shapes.append(Rect(left + 8, y, right - left - 16, LEAF_LINE - 3, 5.0, theme.leaf_fill, pen))
        shapes.append(Circle(left + PAD + 2, y + 10.5, 3.0, theme.leaf_line))
        shapes.append(Text(left + PAD + 10, y + 15, line.title, TAG, theme.ink, fonts.width(line.title, TAG)))
        state = frame.leaf(line.node)
        if state is None:
            continue
        text = _text(state.total)
        width = fonts.width(text, CELL)
        if state.total is None:
            shapes.append(Text(right - PAD, y + 14, text, LABEL, theme.soft_ink, fonts.width(text, LABEL), "end"))
            continue
        color = scale.color(state.total, theme)
        shapes.append(Rect(right - PAD - width - 3, y + 2, width + 6, LEAF_LINE - 7, 3.0, color))
        ink = ink_on(color, theme.accent_ink)
        shapes.append(Text(right - PAD, y + 14.5, text, CELL, ink, width, "end"))
    return shapes


def _text(value: Gradient) -> str:
    """A number, of a tensor the norm: a line has no more room."""
    if value is None or value.numel < 2 or value.norm is None:
        return brief(value)
    return f"‖{number_text(value.norm)}‖"
