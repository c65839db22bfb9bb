"""Boxes and links seen from far away, where a card's text cannot be read: a tinted rectangle and a line each.

A box that is wide enough on the screen bears its name, and what came to it, in letters of a fixed size on the screen.
Lines are as wide as a pixel at least; so all this is made for one zoom.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradviz.model.numbers import number_text
from gradviz.playback import Flow, Frame, SeedState
from gradviz.playback.states import Phase
from gradviz.render.card import role_of
from gradviz.render.edges import line_color
from gradviz.render.fonts import Style, fonts
from gradviz.render.labels import edge_text
from gradviz.render.measure import Role, SeedPlan
from gradviz.render.outline_item import outline_item
from gradviz.render.outlines import Outline
from gradviz.render.plan import Box, Link
from gradviz.render.scene import Scene
from gradviz.render.shapes import Bounds, Curve, Item, Pen, Rect, Shape, Text, overlap, united
from gradviz.render.theme import Theme, ink_on, mix
from gradviz.texts import tr_picture as tr

FAR_ZOOM = 0.42  # names are 17 units high: below this they are less than 7 pixels
_LETTERS = 10  # pixels on the screen
_SMALLER = (10, 9, 8, 7)  # pixels of a name that would have to be cut
_LEAST_BOLD = 9
_LEAST_ROOM = 22.0  # pixels: a narrower box would show two letters and an ellipsis
_LINE = 1.25  # of the letters' height
_MARGIN = 2.0  # pixels beside the text
_PALE = 0.45


def far_box(scene: Scene, box: Box, frame: Frame, theme: Theme, zoom: float, ratio: float = 1.0) -> Item:
    """A box as a rectangle in the tint of its gradient, or pale in the colour of what it is, with its name.

    `zoom` is in device pixels per scene unit, `ratio` in device pixels per pixel of the eye.
    """
    phase, norm = _glance(scene, box, frame)
    role = role_of(box.card, frame)
    fill, line = box_colors(scene, role, phase, norm, theme)
    item = _rectangle(box.id, f"node {role} {phase}", scene.cards[box.index], fill, line, zoom)
    words = _words(
        box, item.bounds, norm if phase in ("active", "done") else None, ink_on(fill, theme.ink), ratio / zoom
    )
    return replace(item, shapes=(*item.shapes, *words))


def box_colors(scene: Scene, role: Role, phase: Phase, norm: float | None, theme: Theme) -> tuple[str, str]:
    """Fill and border of a box by what it is, how far it is, and the norm of what came."""
    fill, line = _colors(role, theme)
    if phase == "active":
        return theme.accent, theme.accent
    if phase == "failed":
        return theme.error_line, theme.error_line
    if phase == "done":
        return fill if norm is None else scene.plan.scale.tint(norm, theme), line
    return mix(fill, theme.paper, _PALE), mix(line, theme.paper, _PALE)


def has_room(bounds: Bounds, zoom: float, ratio: float) -> bool:
    """Whether a box may bear words."""
    return (bounds[2] - bounds[0]) * zoom >= (_LEAST_ROOM + 2 * _MARGIN) * ratio


def _words(box: Box, bounds: Bounds, norm: float | None, ink: str, pixel: float) -> list[Text]:
    """The name of a box and, where there is room below, how much is folded in it, and the norm of what came.

    `pixel` is in scene units.
    """
    left, top, right, bottom = bounds
    room = right - left - 2 * _MARGIN * pixel
    height = _LETTERS * _LINE * pixel
    if not has_room(bounds, 1.0, pixel) or bottom - top < height:
        return []
    number = Style("sans", round(_LETTERS * pixel))
    lines = [far_name(box.card.title, room, pixel)]
    for text in (_count(box), "" if norm is None else number_text(norm)):
        # A number that is cut would be another number.
        if text and bottom - top >= (len(lines) + 1) * height and fonts().width(text, number) <= room:
            lines.append((text, number))
    first = (top + bottom - len(lines) * height) / 2 + 0.8 * height
    x = (left + right) / 2
    return [
        Text(x, first + place * height, text, style, ink, fonts().width(text, style), "middle")
        for place, (text, style) in enumerate(lines)
    ]


def _count(box: Box) -> str:
    """What a folded group holds: `× 48` of what repeats, else how many operations and leaves."""
    part = box.card.group
    if part is None:
        return ""
    _, times, count = part.group.detail.rpartition("× ")
    return f"{times}{count}" if times else part.contents


def far_name(title: str, room: float, pixel: float) -> tuple[str, Style]:
    """The name of a box and its letters: smaller ones rather than a name that is cut or not told from its like."""
    styles = [Style("sans", round(letters * pixel), letters >= _LEAST_BOLD) for letters in _SMALLER]
    *longer, last = _ends(title)
    for ends in (longer, (last, _tail(title))):
        for style in styles:
            for end in ends:
                if fonts().width(end, style) <= room:
                    return end, style
    return fonts().elide(last, styles[-1], room), styles[-1]


def _fitting(title: str, style: Style, room: float) -> str:
    """The whole title, else the longest end of a qualified name that fits, else its last word or shape, else both ends.

    `(48, 192)` of `leaf (48, 192)`, never `192)`.
    """
    ends = _ends(title)
    fits = (end for end in (*ends, _tail(title)) if fonts().width(end, style) <= room)
    return next(fits, None) or fonts().elide(ends[-1], style, room)


def _ends(title: str) -> list[str]:
    """`net.0.weight`, `0.weight`, `weight`."""
    parts = title.split(".")
    return [".".join(parts[start:]) for start in range(len(parts))]


def _tail(title: str) -> str:
    """The last word, or the shape."""
    _, shape, sizes = title.partition("(")
    return shape + sizes if shape else title.rsplit(" ", 1)[-1]


def far_outlines(outlines: Sequence[Outline], theme: Theme, zoom: float, ratio: float = 1.0) -> list[Item]:
    """The frames of open groups, their titles in letters of a fixed size above them where they have room.

    Where the frame of an inner group begins close below that of an outer one, only the outer one is named.
    """
    found: list[Item] = []
    taken: list[Bounds] = []
    for outline in outlines:  # outer ones come first
        item = outline_item(outline, theme)
        ground: tuple[Shape, ...] = tuple(shape for shape in item.shapes if isinstance(shape, Rect))
        title = _title_above(outline, theme, ratio / zoom)
        if title is not None:
            room = (title.x, title.y - title.style.size, title.x + title.width, title.y)
            if not any(overlap(room, other) for other in taken):
                taken.append(room)
                ground, item = (*ground, title), replace(item, bounds=united([item.bounds, room]))
        found.append(replace(item, shapes=ground))
    return found


def _title_above(outline: Outline, theme: Theme, pixel: float) -> Text | None:
    """The title of a frame; the strip for it has become too low for letters."""
    left, top, right, _ = outline.bounds
    style = Style("sans", round(_LETTERS * pixel))
    room = right - left - 12 * pixel
    if room < _LEAST_ROOM * pixel:
        return None
    title = _fitting(outline.group.title, style, room)
    return Text(left + 4 * pixel, top - 3 * pixel, title, style, theme.soft_ink, fonts().width(title, style))


def far_link(scene: Scene, link: Link, frame: Frame, theme: Theme, zoom: float) -> Item:
    """A link as a bare line."""
    state = scene.plan.flow(link, frame)
    route = scene.routes[link.index]
    pen = Pen(link_color(scene, state, theme), line_width(zoom))
    shapes = tuple(Curve(piece.points, pen) for piece in route.pieces if piece.drawn and len(piece.points) > 1)
    return Item(link.id, f"edge {state.phase}", "", route.bounds, shapes)


def line_width(zoom: float) -> float:
    """How wide lines are, in scene units: about a pixel at least."""
    return max(1.6, 0.8 / zoom)


def far_seed(
    name: str, rect: Bounds, plan: SeedPlan, state: SeedState, theme: Theme, zoom: float, ratio: float = 1.0
) -> Item:
    """A seed as a rectangle, with its value where that has room."""
    fill, line, ink = theme.accent_fill, theme.accent, theme.accent_ink
    if plan.missing or state.failed:
        fill, line, ink = theme.error_fill, theme.error_line, theme.error_ink
    item = _rectangle(name, "seed", rect, fill, line, zoom)
    return replace(item, shapes=(*item.shapes, *_seed_words(rect, plan, state, ink, ratio / zoom)))


def _seed_words(bounds: Bounds, plan: SeedPlan, state: SeedState, ink: str, pixel: float) -> list[Text]:
    """What fits: `seed: 1`, else `1`; of a seed that is missing what it needs."""
    left, top, right, bottom = bounds
    room = right - left - 2 * _MARGIN * pixel
    height = _LETTERS * _LINE * pixel
    if bottom - top < height:
        return []
    told = plan.missing or edge_text(state.value)
    texts = [tr("seed: {what}", what=told), told, tr("seed")]
    styles = [Style("sans", round(letters * pixel)) for letters in _SMALLER]
    fitting = ((text, style) for text in texts for style in styles if fonts().width(text, style) <= room)
    found = next(fitting, None)
    if found is None:
        return []
    text, style = found
    middle = (top + bottom) / 2 + 0.3 * height
    return [Text((left + right) / 2, middle, text, style, ink, fonts().width(text, style), "middle")]


def _glance(scene: Scene, box: Box, frame: Frame) -> tuple[Phase, float | None]:
    """Phase of a box and the norm of what came to it."""
    if box.kind == "group":
        state = scene.plan.group_state(box, frame)
        return state.phase, state.came
    if not box.nodes:
        return "absent", None
    phase, value = frame.glance(box.nodes[0])
    return phase, None if value is None else value.norm


def link_color(scene: Scene, state: Flow, theme: Theme) -> str:
    """The colour of a link by what has flowed on it."""
    if state.phase == "flowing":
        return theme.accent
    if state.phase != "done" or state.norm is None:
        return mix(theme.edge, theme.paper, _PALE)
    return theme.edge_zero if state.norm == 0.0 else line_color(scene, state.norm, theme)


def _colors(role: str, theme: Theme) -> tuple[str, str]:
    return getattr(theme, f"{role}_fill"), getattr(theme, f"{role}_line")


def _rectangle(name: str, kind: str, bounds: Bounds, fill: str, line: str, zoom: float) -> Item:
    left, top, right, bottom = bounds
    width = border_width(bounds, zoom)
    pen = Pen(line, width) if width else None
    shapes: tuple[Shape, ...] = (Rect(left, top, right - left, bottom - top, 0.0, fill, pen),)
    return Item(name, kind, "", bounds, shapes)


def border_width(bounds: Bounds, zoom: float) -> float:
    """How wide the border of a box is; 0 below a few pixels, where a border would be all that is seen of it."""
    return max(2.0, 1.0 / zoom) if (bounds[2] - bounds[0]) * zoom > 8.0 else 0.0
