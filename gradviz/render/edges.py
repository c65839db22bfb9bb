"""Edges with the gradient that flows on them, seeds with their arrows, and pulses on their way."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gradviz.model import Gradient
from gradviz.model.numbers import number_text
from gradviz.playback import Flow, Frame, Pulse, SeedState
from gradviz.render.card import told
from gradviz.render.cells import Tone, cell_shapes
from gradviz.render.fonts import LABEL, PILL, TAG
from gradviz.render.labels import edge_text
from gradviz.render.measure import SeedPlan
from gradviz.render.plan import Box, Link
from gradviz.render.scene import ARROW, Route, Scene
from gradviz.render.shapes import Bounds, Circle, Curve, Item, Pen, Point, Polygon, Rect, Shape, Text, united
from gradviz.render.theme import Theme, mix
from gradviz.texts import tr_picture as tr

_DOTTED = (1.5, 4.5)
_WAITING = 0.45
_PULSE = 7.0


def link_item(scene: Scene, link: Link, frame: Frame, theme: Theme) -> Item:
    """The line of a link: pale until something flows, tinted after, dotted for undefined, paler for exact zero."""
    route = scene.routes[link.index]
    if not link.edges:
        return _end_of_way(scene, link, route, theme)
    state = scene.plan.flow(link, frame)
    pen, kind = _pen(scene, state, theme)
    shapes: list[Shape] = []
    for place, piece in enumerate(route.pieces):
        if not piece.drawn:
            continue
        arrow = route.stubs is None or place == 1
        own = pen if piece.shared == 1 else Pen(theme.edge, 2.2)  # what many share has no colour of one
        shapes.extend(_arrow(piece.points, own) if arrow else [Curve(piece.points, own)])
        if route.stubs is not None and piece.label is not None:
            shapes.extend(_stub_label(scene, link, place, piece, piece.label, theme))
    return Item(link.id, f"edge {kind}", _tooltip(scene, link, state), route.bounds, tuple(shapes))


def _end_of_way(scene: Scene, link: Link, route: Route, theme: Theme) -> Item:
    """The link to an input that needs no gradient: a thin line that ends at a bar, for nothing comes this way."""
    pen = Pen(theme.constant_line, 1.4)
    shapes: list[Shape] = []
    for piece in route.pieces:
        shapes.append(Curve(piece.points, pen))
        (x, y), (cx, cy) = piece.points[-1], piece.points[-2]
        length = math.hypot(x - cx, y - cy) or 1.0
        ux, uy = (x - cx) / length, (y - cy) / length
        ends = ((x - 4 * ux - 6 * uy, y - 4 * uy + 6 * ux), (x - 4 * ux + 6 * uy, y - 4 * uy - 6 * ux))
        shapes.append(Polygon(ends, None, Pen(theme.constant_line, 2.0)))
    title = tr("{name} needs no gradient: none flows to it", name=scene.plan.boxes[link.target].card.title)
    return Item(link.id, "edge constant", title, route.bounds, tuple(shapes))


def label_item(scene: Scene, link: Link, frame: Frame, theme: Theme) -> Item | None:
    """The label of a link while or after a gradient flows on it; None when there is none to be shown."""
    if link.label is None:
        return None
    state = scene.plan.flow(link, frame)
    text = _label_text(link, state)
    if not text:
        return None
    route = scene.routes[link.index]
    x, y = route.label or route.at(0.5)
    flowing = state.phase == "flowing"
    height, run_width = link.label[1], scene.plan.fonts.width(text, PILL)
    width = min(link.label[0], max(run_width + 20.0, height))  # room is kept for the widest of all moments
    line = theme.accent if flowing else theme.edge
    left, top = x - width / 2, y - height / 2
    box = Rect(left, top, width, height, height / 2, theme.accent_fill if flowing else theme.pill, Pen(line))
    ink = theme.accent_ink if flowing else theme.soft_ink
    run = Text(x, y + 4.8, text, PILL, ink, run_width, "middle")
    bounds = (left - 1, top - 1, left + width + 1, top + height + 1)
    return Item(f"label-{link.edges[0]}", "label", _told(link, state), bounds, (box, run))


def seed_items(scene: Scene, box: Box, frame: Frame, theme: Theme) -> list[Item]:
    """The seeds of the current call that enter at a box, each with its arrow."""
    call = frame.call
    if call is None or call.number not in box.card.seeds:
        return []
    items = []
    for place, (rect, plan) in scene.seed_rects(box, call.number).items():
        items.append(_seed_item(scene, box, rect, plan, frame.seeds[place], theme))
    return items


def pulse_items(scene: Scene, frame: Frame, theme: Theme) -> list[Item]:
    """The dots of this moment."""
    items = []
    for pulse in frame.pulses:
        place = _pulse_place(scene, frame, pulse)
        if place is None:
            continue
        x, y = place
        color = theme.edge if _is_zero(pulse.value) else theme.accent
        dot = Circle(x, y, _PULSE, color, Pen(theme.paper, 1.5))
        name = f"pulse-{pulse.edge}" if pulse.edge is not None else f"pulse-seed-{pulse.root}"
        bounds = (x - _PULSE - 2, y - _PULSE - 2, x + _PULSE + 2, y + _PULSE + 2)
        items.append(Item(name, "pulse", told(pulse.value), bounds, (dot,)))
    return items


def _label_text(link: Link, state: Flow) -> str:
    if state.phase not in ("flowing", "done"):
        return ""
    if len(link.edges) == 1:
        return edge_text(state.value)
    return "" if state.norm is None else f"‖{number_text(state.norm)}‖"


def _told(link: Link, state: Flow) -> str:
    if len(link.edges) == 1:
        return told(state.value)
    norm = "None" if state.norm is None else number_text(state.norm)
    return tr("{n} edges, norm {norm}", n=len(link.edges), norm=norm)


def _pen(scene: Scene, state: Flow, theme: Theme) -> tuple[Pen, str]:
    if state.phase in ("absent", "waiting"):
        share = 0.7 if state.phase == "absent" else _WAITING
        return Pen(mix(theme.edge, theme.paper, share), 1.6), state.phase
    if state.norm is None and (state.undefined or state.value is None):
        return Pen(theme.edge, 1.8, _DOTTED), "undefined"
    if state.norm == 0.0:
        return Pen(theme.edge_zero, 1.8), "zero"
    if state.phase == "flowing":
        return Pen(theme.accent, 3.2), "flowing"
    if state.norm is not None and not math.isfinite(state.norm):
        return Pen(theme.nonfinite, 2.6), "nonfinite"
    return Pen(line_color(scene, state.norm, theme), 2.2), "done"


def line_color(scene: Scene, norm: float | None, theme: Theme) -> str:
    """The tint of a norm for a line, kept apart from the paper; of an unknown one the plain colour of edges."""
    return theme.edge if norm is None else mix(scene.plan.scale.tint(norm, theme), theme.edge, 0.3)


def _is_zero(value: Gradient) -> bool:
    return value is not None and value.norm == 0.0


def _arrow(points: Sequence[Point], pen: Pen) -> list[Shape]:
    """A curve that ends in an arrow head; the line stops inside the head."""
    if len(points) < 2:
        return []
    (tx, ty), (cx, cy) = points[-1], points[-2]
    if math.hypot(tx - cx, ty - cy) < 1e-6:
        cx, cy = points[-3] if len(points) > 2 else points[0]
    length = math.hypot(tx - cx, ty - cy) or 1.0
    ux, uy = (tx - cx) / length, (ty - cy) / length
    size = ARROW + (1.5 if pen.width > 3 else 0.0)
    base = (tx - ux * size, ty - uy * size)
    half = size * 0.55
    head = ((tx, ty), (base[0] - uy * half, base[1] + ux * half), (base[0] + uy * half, base[1] - ux * half))
    stop = (tx - ux * size * 0.7, ty - uy * size * 0.7)
    line = Curve((*points[:-1], stop), pen)
    return [line, Polygon(head, pen.color, None, pen.opacity)]


def _stub_label(scene: Scene, link: Link, place: int, piece: Route, at: Point, theme: Theme) -> list[Shape]:
    """The name of the other end at a stub; how many ends there are where several links share it."""
    other = scene.plan.boxes[link.target if place == 0 else link.source]
    words = other.card.title if piece.shared == 1 else f"{piece.shared} ×"
    text = scene.plan.fonts.elide(words, LABEL, 60.0)
    width = scene.plan.fonts.width(text, LABEL)
    x, y = at
    pill = Rect(x - width / 2 - 5, y - 9, width + 10, 18, 9, theme.pill, Pen(theme.hairline))
    return [pill, Text(x, y + 4, text, LABEL, theme.soft_ink, width, "middle")]


def _tooltip(scene: Scene, link: Link, state: Flow) -> str:
    source, target = scene.plan.boxes[link.source], scene.plan.boxes[link.target]
    head = tr("{a} → {b}", a=source.card.title, b=target.card.title)
    if len(link.edges) == 1:
        slot = scene.plan.timeline.stage.graph.edges[link.edges[0]].slot
        head = tr("{a} → {b}, slot {slot}", a=source.card.title, b=target.card.title, slot=slot)
    return f"{head}\n{_told(link, state)}" if state.phase in ("flowing", "done") else head


def _seed_item(scene: Scene, box: Box, rect: Bounds, plan: SeedPlan, state: SeedState, theme: Theme) -> Item:
    left, top, right, bottom = rect
    fonts = scene.plan.fonts
    line = theme.error_line if plan.missing or state.failed else theme.accent
    ink = theme.error_ink if plan.missing or state.failed else theme.accent_ink
    fill = theme.error_fill if plan.missing or state.failed else theme.accent_fill
    pen = Pen(line, 1.6, (5.0, 4.0) if plan.missing else ())
    arrow = Pen(line, 3.0, (4.0, 4.0) if plan.missing else ())
    shapes: list[Shape] = [
        *_arrow(_seed_way(scene, box, rect), arrow),
        Rect(left, top, right - left, bottom - top, 10.0, fill, pen),
        Text(left + 14, top + 19, plan.label, LABEL, ink, fonts.width(plan.label, LABEL)),
    ]
    note_y = bottom - 11
    if plan.missing:
        shapes.append(Text(left + 14, note_y, plan.missing, TAG, ink, fonts.width(plan.missing, TAG)))
    else:
        tone = Tone(ink, theme.soft_ink, None, True)
        shapes.extend(cell_shapes(state.value, left + 14, top + 27, tone, theme, fonts))
    if plan.note:
        width = fonts.width(plan.note, TAG)
        shapes.append(Text(right - 14, note_y, plan.note, TAG, theme.soft_ink, width, "end"))
    way = _seed_way(scene, box, rect)
    ends = [(x - 8.0, y - 8.0, x + 8.0, y + 8.0) for x, y in way]
    title = told(state.value) if state.value is not None else plan.missing or ""
    bounds = united([(left - 2, top - 2, right + 2, bottom + 2), *ends])
    return Item(f"seed-{box.id}-{state.root}", "seed", title, bounds, tuple(shapes))


def _seed_way(scene: Scene, box: Box, rect: Bounds) -> tuple[Point, ...]:
    """From the seed's box to the card, straight down (or sideways where gradients flow up and down)."""
    card = scene.cards[box.index]
    if scene.plan.horizontal:
        x = min(max((rect[0] + rect[2]) / 2, card[0] + 20.0), card[2] - 20.0)
        start, end = ((rect[0] + rect[2]) / 2, rect[3]), (x, card[1])
        return start, (start[0], start[1] + 20.0), (end[0], end[1] - 20.0), end
    y = (rect[1] + rect[3]) / 2
    start, end = (rect[0], y), (card[2], min(max(y, card[1] + 14.0), card[3] - 14.0))
    return start, (start[0] - 20.0, start[1]), (end[0] + 20.0, end[1]), end


def _pulse_place(scene: Scene, frame: Frame, pulse: Pulse) -> Point | None:
    if pulse.edge is not None:
        link = scene.plan.links_of_edge.get(pulse.edge)
        return None if link is None else scene.routes[link.index].at(pulse.alpha)
    call = frame.call
    if call is None or pulse.root is None:
        return None
    for box in scene.plan.boxes_with_seeds.get(call.number, ()):
        found = scene.seed_rects(box, call.number).get(pulse.root)
        if found is not None:
            return Route(_seed_way(scene, box, found[0])).at(pulse.alpha)
    return None
