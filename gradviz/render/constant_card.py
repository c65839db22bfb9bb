"""The pale card of an input that needs no gradient: its name, and its value where an operation saved it."""

from __future__ import annotations

from gradviz.playback import Frame
from gradviz.render.cells import Tone, cell_shapes
from gradviz.render.constant_measure import CONSTANT_HEADER, CONSTANT_LINE, constant_shape, value_at
from gradviz.render.fonts import LABEL, TAG, Style
from gradviz.render.measure import PAD
from gradviz.render.plan import Box
from gradviz.render.scene import Scene
from gradviz.render.shapes import Anchor, Item, Pen, Rect, Shape, Text
from gradviz.render.theme import Theme
from gradviz.texts import tr_picture as tr


def constant_item(scene: Scene, box: Box, frame: Frame, theme: Theme) -> Item:
    """The item of the card in a frame."""
    assert box.constant is not None
    fonts, card, bounds = scene.plan.fonts, box.card, scene.cards[box.index]
    left, top, right, bottom = bounds
    soft, dashed = theme.soft_ink, Pen(theme.constant_line, 1.2, (4.0, 3.0))

    def text(x: float, y: float, words: str, style: Style, anchor: Anchor = "start") -> Text:
        return Text(x, y, words, style, soft, fonts.width(words, style), anchor)

    shapes: list[Shape] = [
        Rect(left, top, right - left, bottom - top, 9.0, theme.constant_fill, dashed),
        text(left + PAD, top + 23, card.title, card.style),
        text(right - PAD, top + 22, card.tag, TAG, "end"),
    ]
    value = value_at(box.constant, frame)
    if value is not None:
        tone = Tone(soft, soft, None, False, signs=False)
        shapes.extend(cell_shapes(value, left + PAD, top + CONSTANT_HEADER, tone, theme, fonts))
    else:
        shapes.append(text(left + PAD, top + CONSTANT_HEADER + CONSTANT_LINE - 1, constant_shape(box.constant), LABEL))
    title = tr("{name} needs no gradient: none flows to it", name=box.constant.name or card.title)
    return Item(box.id, "constant", title, bounds, tuple(shapes))
