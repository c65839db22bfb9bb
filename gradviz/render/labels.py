"""What is written on edges, badges and bars: as short as it can be understood."""

from __future__ import annotations

from collections.abc import Sequence

from gradviz.model import Gradient, Node
from gradviz.model.numbers import brief, number_text
from gradviz.playback import GradState
from gradviz.playback.words import signed, sum_text
from gradviz.render.cells import cell_kind
from gradviz.render.fonts import SEGMENT, Fonts
from gradviz.texts import tr_picture as tr

MOST_TERMS = 4
_SEGMENT_PAD = 12.0


def edge_text(value: Gradient) -> str:
    """What the label of an edge says: a number, a few numbers, else the norm; `None` has no label.

    The shape is not told: the node at the end shows it, and labels make a picture wide.
    """
    if value is None:
        return ""
    if value.numbers is not None and 0 < len(value.numbers) <= 3:
        return brief(value, 3)
    return brief(value) if value.norm is None or not value.numel else f"‖{number_text(value.norm)}‖"


def hook_text(arrived: Gradient) -> str:
    """What is told of a hook that changed a gradient: what it was before."""
    return tr("hook: was {v}", v=brief(arrived, 4))


def terms_text(terms: Sequence[Gradient]) -> str:
    """The terms of a fan-in: `5 + 2`; of tensors how many."""
    if len(terms) > MOST_TERMS or any(cell_kind(value) not in ("scalar", "none") for value in terms):
        return tr("sum of {n} terms", n=len(terms))
    return " + ".join(brief(value) for value in terms)


def badge_text(state: GradState) -> str:
    """What a retained badge says: the sum where it is one of numbers, else the whole value in brief."""
    if state.total is None or cell_kind(state.total) == "scalar":
        return sum_text(state)
    return brief(state.total, 4)


def total_text(state: GradState) -> str:
    """The right side of the sum in a leaf: `= 24`."""
    return "None" if state.total is None else f"= {plain(state.total)}"


def plain(value: Gradient) -> str:
    """A value as a number where it is one (whatever its shape), else in brief."""
    number = None if value is None else value.item()
    return brief(value, 1) if number is None else number_text(number)


def segment_text(state: GradState, place: int) -> str:
    """What stands in segment `place` of a bar: `4`, `+ 20`; of a tensor its norm."""
    value = state.parts[place].value
    if value is None:
        return "…"
    if cell_kind(value) == "scalar":
        return plain(value) if place == 0 else signed(value)
    return "?" if value.norm is None else f"‖{number_text(value.norm)}‖"


def segment_widths(state: GradState, fonts: Fonts) -> list[float]:
    """The least width of each segment of a bar, so that its text fits."""
    return [fonts.width(segment_text(state, i), SEGMENT) + _SEGMENT_PAD for i in range(len(state.parts))]


def tag_text(node: Node) -> str:
    """What the right end of a header says: what the node is, or where it comes from."""
    if node.kind == "leaf":
        return tr("leaf")
    if node.kind in ("custom", "opaque"):
        return tr("custom") if node.kind == "custom" else tr("opaque")
    if node.name:
        return node.short_op
    if node.module:
        return node.module
    if node.place is None:
        return ""
    again = "" if node.iteration is None or node.iteration == 1 else f" #{node.iteration}"
    return tr("line {n}", n=node.place.line) + again
