"""The card of a folded group: what it holds, what crossed its border, how far it has run."""

from __future__ import annotations

from gradviz.model.numbers import number_text
from gradviz.playback import Frame, GroupState, NodeState
from gradviz.render.card import RADIUS, Look, error_box, look_of
from gradviz.render.fonts import LABEL, TAG, Style
from gradviz.render.measure import CELL_BOLD, HEADER, PAD
from gradviz.render.plan import Box
from gradviz.render.scene import Scene
from gradviz.render.shapes import Anchor, Bounds, Item, Pen, Polygon, Rect, Shape, Text, united
from gradviz.render.theme import Theme, ink_on, mix
from gradviz.texts import tr_picture as tr

_STACK = 5.0
_CHIP = 21.0


def group_item(scene: Scene, box: Box, frame: Frame, theme: Theme) -> Item:
    """The item of a folded group in a frame."""
    return _GroupPainter(scene, box, frame, theme).item()


class _GroupPainter:
    """Collects the shapes of one group; lives for one item."""

    def __init__(self, scene: Scene, box: Box, frame: Frame, theme: Theme) -> None:
        assert box.card.group is not None
        self._box, self._card, self._part, self._frame, self._theme = box, box.card, box.card.group, frame, theme
        self._fonts, self._scale = scene.plan.fonts, scene.plan.scale
        self._state: GroupState = scene.plan.group_state(box, frame)
        self._look: Look = look_of("group", NodeState(self._state.phase), theme)
        self._bounds = scene.cards[box.index]
        self._shapes: list[Shape] = []
        self._reach: list[Bounds] = [self._bounds]

    def item(self) -> Item:
        """Draw everything."""
        self._ground()
        self._header()
        self._columns()
        self._progress()
        if self._state.phase == "failed" and self._frame.call is not None:
            lines = self._card.errors.get(self._frame.call.number, ())
            shapes, reach = error_box(lines, self._bounds, self._bounds[3], self._theme, self._fonts)
            self._shapes.extend(shapes)
            self._reach.extend(reach)
        kind = f"group {self._part.group.kind} {self._state.phase}"
        return Item(self._box.id, kind, self._tooltip(), united(self._reach), tuple(self._shapes))

    def _ground(self) -> None:
        left, top, right, bottom = self._bounds
        width, height = right - left, bottom - top
        look, theme = self._look, self._theme
        if self._state.phase in ("active", "failed"):
            line = theme.accent if self._state.phase == "active" else theme.error_line
            self._shapes.append(
                Rect(left - 6, top - 6, width + 12, height + 12, RADIUS + 4, None, Pen(line, 6, (), 0.35))
            )
            self._reach.append((left - 9, top - 9, right + 9, bottom + 9))
        if self._part.stack:
            for depth in (2, 1):
                shift = depth * _STACK
                ground = mix(look.fill, theme.paper, 0.3 * depth)
                pen = Pen(mix(look.line, theme.paper, 0.25 * depth), 1.2)
                self._shapes.append(Rect(left + shift, top + shift, width, height, RADIUS, ground, pen))
            self._reach.append((left, top, right + 2 * _STACK + 1, bottom + 2 * _STACK + 1))
        self._shapes.append(Rect(left, top, width, height, RADIUS, look.fill, Pen(look.line, look.width)))
        # A second line inside tells a group from a node without any colour.
        inner = Pen(look.line, 1.0, (), 0.5)
        self._shapes.append(Rect(left + 3, top + 3, width - 6, height - 6, RADIUS - 3, None, inner))

    def _header(self) -> None:
        left, top, right, _ = self._bounds
        self._text(left + PAD, top + 27, self._card.title, self._card.style, self._look.ink)
        self._text(right - 34, top + 26, self._card.tag, TAG, self._look.soft, "end")
        x, y = right - 20, top + 21.5
        plus = Pen(self._look.soft, 1.4)
        self._shapes.append(Rect(x - 7, y - 7, 14, 14, 3.0, None, Pen(self._look.line, 1.0)))
        self._shapes.append(Polygon(((x - 4, y), (x + 4, y)), None, plus))
        self._shapes.append(Polygon(((x, y - 4), (x, y + 4)), None, plus))
        rule = Pen(self._look.line, 1.0, (), 0.35)
        self._shapes.append(Polygon(((left, top + HEADER), (right, top + HEADER)), None, rule))

    def _columns(self) -> None:
        left, top, _, _ = self._bounds
        x, y = left + PAD, top + HEADER
        columns = [(tr("norm in"), self._state.came), (tr("norm out"), self._state.left)]
        if self._part.leaves:
            columns.append((tr("norm .grad"), self._state.grad))
        for label, norm in columns:
            self._text(x, y + 17, label, LABEL, self._look.soft)
            if norm is not None:
                color = self._scale.tint(norm, self._theme)
                text = number_text(norm)
                width = self._fonts.width(text, CELL_BOLD)
                self._shapes.append(Rect(x, y + 22, width + 8, _CHIP, 4.0, color))
                ink = ink_on(color, self._theme.accent_ink)
                self._shapes.append(Text(x + 4, y + 37, text, CELL_BOLD, ink, width))
            x += self._part.column

    def _progress(self) -> None:
        left, _, right, bottom = self._bounds
        self._text(left + PAD, bottom - 17, self._part.contents, LABEL, self._look.soft)
        room = right - left - 2 * PAD
        theme = self._theme
        self._shapes.append(Rect(left + PAD, bottom - 11, room, 3.0, 1.5, mix(self._look.line, self._look.fill, 0.7)))
        share = self._state.ran / self._state.count if self._state.count else 0.0
        if share > 0.0:
            self._shapes.append(Rect(left + PAD, bottom - 11, max(room * share, 3.0), 3.0, 1.5, theme.accent))

    def _tooltip(self) -> str:
        group = self._part.group
        lines = [f"{group.title} {group.detail}".strip(), self._part.contents]
        lines.append(tr("{k} of {n} nodes have run", k=self._state.ran, n=self._state.count))
        return "\n".join(lines)

    def _text(self, x: float, y: float, text: str, style: Style, color: str, anchor: Anchor = "start") -> None:
        if text:
            self._shapes.append(Text(x, y, text, style, color, self._fonts.width(text, style), anchor))
