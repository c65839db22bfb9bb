"""How large the card of an input that needs no gradient must be, and what stands in it."""

from __future__ import annotations

from collections.abc import Iterator

from gradviz.model import Gradient, Node
from gradviz.model.numbers import shape_text
from gradviz.playback import Frame, Timeline
from gradviz.playback.constants import Constant
from gradviz.render.cells import cell_kind, cell_size
from gradviz.render.fonts import LABEL, OP_NAME, TAG, Fonts
from gradviz.render.measure import PAD, Card
from gradviz.texts import tr_picture as tr

CONSTANT_HEADER = 32.0
CONSTANT_LINE = 12.0
_MOST_TITLE = 180.0
_LEAST_WIDTH = 84.0
_WHOLE = ("uint8", "int8", "int16", "int32", "int64", "bool")


def constant_card(constant: Constant, timeline: Timeline, fonts: Fonts) -> Card:
    """The measures of the card, for every value that it has in the calls of the timeline."""
    title = fonts.elide(constant.name or constant.saved or "?", OP_NAME, _MOST_TITLE)
    tag = tr("no grad")
    values = [value for value in _values(constant, timeline) if value is not None]
    inside = cell_size(values, fonts) if values else (fonts.width(constant_shape(constant), LABEL), CONSTANT_LINE)
    header = fonts.width(title, OP_NAME) + 16.0 + fonts.width(tag, TAG)
    width = float(round(max(_LEAST_WIDTH, 2 * PAD + max(header, inside[0]))))
    height = float(round(CONSTANT_HEADER + inside[1] + 12.0))
    return Card(width, height, title, OP_NAME, tag, "constant", (), 0, None, (), {}, {})


def value_at(constant: Constant, frame: Frame) -> Gradient:
    """What the first of its operations saved of it in the call that is played, where that is worth a look."""
    return _saved(constant, frame.recorded(constant.users[0]))


def constant_shape(constant: Constant) -> str:
    """What stands in place of a value that is not known."""
    return "" if constant.shape is None else tr("shape {shape}", shape=shape_text(constant.shape))


def _values(constant: Constant, timeline: Timeline) -> Iterator[Gradient]:
    for act in timeline.acts:
        node = act.recorded.get(constant.users[0])
        if node is not None:
            yield _saved(constant, node)


def _saved(constant: Constant, node: Node) -> Gradient:
    value = next((kept.value for kept in node.saved if kept.name == constant.saved), None)
    # Many whole numbers are indices or classes: a map of their sizes means nothing.
    counts = value is not None and value.dtype in _WHOLE and cell_kind(value) not in ("scalar", "grid")
    return None if counts else value
