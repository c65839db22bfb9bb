"""The card of a node: name and op, data and gradient, `.grad` as a sum, badges, error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gradviz.model import Gradient, Node
from gradviz.model.numbers import brief, number_text, shape_text
from gradviz.playback import Arrival, Frame, GradState, NodeState
from gradviz.playback.beats import ADDED
from gradviz.playback.words import short_name
from gradviz.render.bar import grad_bar
from gradviz.render.cells import Tone, cell_shapes
from gradviz.render.fonts import LABEL, OP_NAME, PILL, TAG, Fonts, Style
from gradviz.render.labels import badge_text, hook_text, terms_text
from gradviz.render.leaf_lines import leaf_line_shapes
from gradviz.render.measure import (
    BADGE,
    BADGE_GAP,
    COLUMN_GAP,
    ERROR_LINE,
    ERROR_WIDTH,
    HEADER,
    LABEL_LINE,
    PAD,
    TERMS_LINE,
    Card,
    Role,
    Row,
)
from gradviz.render.plan import Box
from gradviz.render.scale import LogScale
from gradviz.render.scene import Scene
from gradviz.render.shapes import Anchor, Bounds, Item, Pen, Polygon, Rect, Shape, Text, united
from gradviz.render.theme import Theme, mix
from gradviz.texts import tr_picture as tr

RADIUS = 11.0
_PALE = 0.5  # how far what has not run yet goes towards the paper
_FAINT = 0.75  # what does not take part in this call


@dataclass(frozen=True)
class Look:
    """Ground, border and inks of a card in one phase."""

    fill: str
    line: str
    width: float
    ink: str
    soft: str


def card_item(scene: Scene, box: Box, frame: Frame, theme: Theme) -> Item:
    """The item of a node's box in a frame."""
    painter = CardPainter(scene, box, frame, theme)
    return painter.item()


class CardPainter:
    """Collects the shapes of one card; lives for one item."""

    def __init__(self, scene: Scene, box: Box, frame: Frame, theme: Theme) -> None:
        self._box, self._card, self._frame, self._theme = box, box.card, frame, theme
        self._fonts: Fonts = scene.plan.fonts
        self._scale: LogScale = scene.plan.scale
        self._timeline = scene.plan.timeline
        self._bounds = scene.cards[box.index]
        self._node = frame.recorded(box.nodes[0]) if box.nodes else None
        self._state = frame.node(box.nodes[0]) if box.nodes else self._ghost_state(scene)
        self._role = role_of(self._card, frame)
        self._look = look_of(self._role, self._state, theme)
        self._shapes: list[Shape] = []
        self._reach: list[Bounds] = [self._bounds]

    def item(self) -> Item:
        """Draw everything."""
        self._ground()
        self._header()
        for row in self._card.rows:
            self._row(row)
        self._grad_row()
        if self._card.leaves:
            card = self._card
            self._add(leaf_line_shapes(card, self._bounds, self._frame, self._scale, self._theme, self._fonts))
        below = self._badges(self._bounds[3])
        self._error(below)
        kind = " ".join(("node", self._role, self._state.phase))
        bounds = united(self._reach)
        return Item(self._box.id, kind, self._tooltip(), bounds, tuple(self._shapes))

    def _ghost_state(self, scene: Scene) -> NodeState:
        """The state of a root without a `grad_fn`."""
        assert self._box.root is not None
        call, _ = self._box.root
        act = self._frame.act
        if act is None or act.call.number != call:
            return NodeState("absent")
        failed = act.error_beat is not None and self._frame.t >= act.error_beat
        return NodeState("failed" if failed else "waiting")

    def _ground(self) -> None:
        left, top, right, bottom = self._bounds
        width, height = right - left, bottom - top
        if self._state.phase in ("active", "failed"):
            line = self._theme.accent if self._state.phase == "active" else self._theme.error_line
            halo = Rect(left - 6, top - 6, width + 12, height + 12, RADIUS + 4, None, Pen(line, 6.0, (), 0.35))
            self._shapes.append(halo)
            self._reach.append((left - 9, top - 9, right + 9, bottom + 9))
        dash = (6.0, 4.0) if self._node is None or self._role == "opaque" else ()
        pen = Pen(self._look.line, self._look.width, dash)
        self._shapes.append(Rect(left, top, width, height, RADIUS, self._look.fill, pen))
        rule = Pen(self._look.line, 1.0, (), 0.35)
        self._shapes.append(Polygon(((left, top + HEADER), (right, top + HEADER)), None, rule))

    def _header(self) -> None:
        left, top, right, _ = self._bounds
        card = self._card
        self._text(left + PAD, top + 27, card.title, card.style, self._look.ink)
        self._text(right - 14, top + 26, card.tag, TAG, self._look.soft, "end")

    def _row(self, row: Row) -> None:
        left, top, right, _ = self._bounds
        y = top + row.top
        x = left + PAD
        value = self._data()
        if row.data is not None:
            self._text(x, y + 18, tr("data"), LABEL, self._look.soft)
            tone = Tone(self._look.ink, self._look.soft, None, False, signs=False)
            if value is not None:
                self._add(cell_shapes(value, x, y + LABEL_LINE + 5, tone, self._theme, self._fonts))
            # The two columns share what is left over, so that the divider stands in the middle of the slack.
            slack = (right - left) - 2 * PAD - row.data[0] - 2 * COLUMN_GAP - row.gradient[0]
            middle = x + row.data[0] + COLUMN_GAP + max(slack, 0.0) / 2
            pen = Pen(self._theme.hairline)
            self._shapes.append(Polygon(((middle, y + 7), (middle, y + row.height - 7)), None, pen))
            x = middle + COLUMN_GAP
        self._gradient(row, x, y)

    def _gradient(self, row: Row, x: float, y: float) -> None:
        arrival = self._state.gradient(row.output_nr)
        label = row.label
        if arrival is None or not (arrival.terms or self._settled(arrival)):
            self._text(x, y + 18, label, LABEL, self._look.soft)
            return
        partial = 0 < len(arrival.terms) < arrival.expected
        if partial:
            label = tr("{n} of {all} terms", n=len(arrival.terms), all=arrival.expected)
        self._text(x, y + 18, label, LABEL, self._look.soft)
        top = y + LABEL_LINE + 5
        if not arrival.summed:
            self._text(x, top + 18, "…", OP_NAME, self._look.soft)
            return
        frame = self._scale.color(arrival.value, self._theme)
        tone = Tone(self._theme.accent_ink, self._look.soft, frame, True)
        self._add(cell_shapes(arrival.value, x, top, tone, self._theme, self._fonts))
        foot = y + row.height - 9
        if self._state.changed(row.output_nr) and self._state.arrived is not None:
            text = hook_text(self._state.arrived[row.output_nr])
            self._text(x, foot, text, LABEL, self._theme.accent_ink)
            foot -= TERMS_LINE
        if row.terms and len(arrival.terms) > 1:
            self._text(x, foot, terms_text([term.value for term in arrival.terms]), LABEL, self._look.soft)

    def _settled(self, arrival: Arrival) -> bool:
        return self._state.phase in ("active", "done", "failed") or self._state.captured

    def _data(self) -> Gradient:
        if self._node is not None:
            return self._node.value
        assert self._box.root is not None
        call, place = self._box.root
        return self._timeline.recording.call(call).roots[place].value

    def _grad_row(self) -> None:
        row = self._card.grad
        state = self._frame.leaf(self._box.nodes[0]) if self._box.nodes else None
        if row is None or state is None:
            return
        left, top, right, _ = self._bounds
        x, y = left + PAD, top + row.top
        self._text(x, y + 14, ".grad", LABEL, self._look.soft)
        y += LABEL_LINE + 2
        if row.bar:
            room = right - left - 2 * PAD
            shades = [self._shade(part.calls) for part in state.parts]
            self._add(grad_bar(state, x, y, room, shades, row.cell is None, self._theme, self._fonts))
            y += 26.0
        if row.cell is not None:
            added = state.change != "added" or state.alpha >= ADDED
            value = state.total if added else state.before
            frame = self._scale.color(value, self._theme)
            tone = Tone(self._look.ink, self._look.soft, frame, True)
            self._add(cell_shapes(value, x, y, tone, self._theme, self._fonts))

    def _shade(self, calls: tuple[int, ...]) -> str:
        if len(calls) != 1:
            return self._theme.unknown_part
        place = self._timeline.place_of_call(calls[0])
        return self._theme.unknown_part if place is None else self._theme.calls[place % len(self._theme.calls)]

    def _badges(self, y: float) -> float:
        """The retained `.grad`s under the card; returns where they end."""
        if not self._box.nodes:
            return y
        left, _, right, _ = self._bounds
        states = self._frame.retained(self._box.nodes[0])
        for width, state in zip(self._card.badges, states, strict=True):
            y += BADGE_GAP
            x = (left + right - width) / 2
            theme = self._theme
            self._shapes.append(Rect(x, y, width, BADGE, BADGE / 2, theme.retained_fill, Pen(theme.retained_line)))
            self._text(x + 14, y + 17.5, tr("retained .grad"), TAG, theme.retained_ink)
            self._text(x + width - 14, y + 17.5, shown_badge(state), PILL, theme.retained_ink, "end")
            self._reach.append((x - 1, y - 1, x + width + 1, y + BADGE + 1))
            y += BADGE
        return y

    def _error(self, y: float) -> None:
        act = self._frame.act
        if act is None or self._state.phase != "failed":
            return
        lines = self._card.errors.get(act.call.number, ())
        if not lines:
            return
        shapes, reach = error_box(lines, self._bounds, y, self._theme, self._fonts)
        self._shapes.extend(shapes)
        self._reach.extend(reach)

    def _tooltip(self) -> str:
        if self._node is None:
            act = self._frame.act
            if act is not None and not act.call.whole:
                return tr("{title}: of this call only a summary was kept, without its graph", title=self._card.title)
            return tr("{title}: has no grad_fn, so no gradient can flow from it", title=self._card.title)
        lines = [describe(self._node)]
        for arrival in self._state.arrivals:
            if arrival.terms or self._settled(arrival):
                lines.append(tr("gradient: {v}", v=told(arrival.value)))
            if self._state.changed(arrival.output_nr):
                lines.append(tr("a hook of the script changed what arrived"))
        return "\n".join(lines)

    def _text(self, x: float, y: float, text: str, style: Style, color: str, anchor: Anchor = "start") -> None:
        if not text:
            return
        self._shapes.append(Text(x, y, text, style, color, self._fonts.width(text, style), anchor))

    def _add(self, shapes: list[Shape]) -> None:
        self._shapes.extend(shapes)


def error_box(
    lines: Sequence[str], card: Bounds, y: float, theme: Theme, fonts: Fonts
) -> tuple[list[Shape], list[Bounds]]:
    """The lines of an error in a box under a card, from `y` on; the first line is its type."""
    if not lines:
        return [], []
    left, _, right, _ = card
    y += BADGE_GAP
    width, height = max(ERROR_WIDTH, right - left), len(lines) * ERROR_LINE + 14.0
    x = (left + right - width) / 2
    shapes: list[Shape] = [Rect(x, y, width, height, 8.0, theme.error_fill, Pen(theme.error_line, 1.4))]
    for place, line in enumerate(lines):
        style = Style("sans", TAG.size, place == 0)
        baseline = y + 19 + place * ERROR_LINE
        shapes.append(Text(x + 14, baseline, line, style, theme.error_ink, fonts.width(line, style)))
    cross = Pen(theme.error_line, 2.4)
    cx, cy = x + width - 18, y + 15
    shapes.append(Polygon(((cx - 4, cy - 4), (cx + 4, cy + 4)), None, cross))
    shapes.append(Polygon(((cx - 4, cy + 4), (cx + 4, cy - 4)), None, cross))
    return shapes, [(x - 1, y - 1, x + width + 1, y + height + 1)]


def role_of(card: Card, frame: Frame) -> Role:
    """What a node is in the current call: only there is it a root. A leaf stays a leaf."""
    here = frame.call is not None and frame.call.number in card.seeds
    return "root" if here and card.role == "operation" else card.role


def look_of(role: Role, state: NodeState, theme: Theme) -> Look:
    """Colours by role and phase: pale before it has run, its own colours after, accent while active."""
    lines = {
        "leaf": (theme.leaf_fill, theme.leaf_line),
        "root": (theme.root_fill, theme.root_line),
        "custom": (theme.custom_fill, theme.custom_line),
        "opaque": (theme.opaque_fill, theme.opaque_line),
        "group": (theme.group_fill, theme.group_line),
        "operation": (theme.operation_fill, theme.operation_line),
    }
    fill, line = lines[role]
    if state.phase == "failed":
        return Look(theme.error_fill, theme.error_line, 2.0, theme.ink, theme.error_ink)
    if state.phase == "active":
        return Look(fill, theme.accent, 2.0, theme.ink, theme.soft_ink)
    if state.phase == "done":
        return Look(fill, line, 1.4, theme.ink, theme.soft_ink)
    share = _FAINT if state.phase == "absent" else _PALE
    fill, line = mix(fill, theme.paper, share), mix(line, theme.paper, share)
    return Look(fill, line, 1.2, theme.ink if state.phase == "waiting" else theme.soft_ink, theme.soft_ink)


def shown_badge(state: GradState) -> str:
    """A retained badge in the middle of its change: what was there, until the sum is complete."""
    if state.change == "added" and state.alpha < ADDED:
        return brief(state.before, 4)
    return badge_text(state)


def describe(node: Node) -> str:
    """The first lines of a tooltip: name, op, outputs, place."""
    outputs = ", ".join(f"{shape_text(out.shape)} {out.dtype} {out.device}" for out in node.outputs)
    lines = [f"{short_name(node)} · {node.op}" if node.name else node.op, outputs]
    if node.module:
        lines.append(node.module + (f" ({node.module_class})" if node.module_class else ""))
    if node.place is not None:
        lines.append(tr("line {n}", n=node.place.line))
    saved = [f"{kept.name} = {brief(kept.value, 4)}" for kept in node.saved if kept.value is not None]
    if saved:
        lines.append(tr("saved for backward: {values}", values=", ".join(saved)))
    return "\n".join(line for line in lines if line)


def told(value: Gradient) -> str:
    """A value for a tooltip: what is seen and its statistics."""
    if value is None:
        return "None (undefined)"
    text = brief(value, 12)
    statistics = value.statistics
    if statistics is None or value.numel < 2:
        return text
    parts = [f"norm {number_text(statistics.norm)}"]
    for name in ("min", "max", "mean"):
        number = getattr(statistics, name)
        if number is not None:
            parts.append(f"{name} {number_text(number)}")
    parts.extend(f"{getattr(statistics, name)} {name}" for name in ("nan", "inf") if getattr(statistics, name))
    return f"{text}\n{', '.join(parts)}"
