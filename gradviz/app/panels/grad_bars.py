"""`.grad` over the calls: one bar each, a segment for what each call brought, in that call's colour."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gradviz.app.history_facts import short
from gradviz.app.look import Look
from gradviz.app.texts import tr
from gradviz.model import Gradient
from gradviz.playback import GradState

MOST_BARS = 8
_BAR = 16
_GAP = 8
_LEAST_SEGMENT = 14.0


class GradBars(QWidget):
    """A few bars under each other; `colour_of` gives the colour of a call's number."""

    def __init__(self, look: Look, colour_of: Callable[[int], QColor], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._colour_of = colour_of
        self._states: tuple[GradState, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr(".grad over the calls"))

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._look = look
        self.update()

    def set_states(self, states: Sequence[GradState]) -> None:
        """Show other bars (a few of them at most)."""
        self._states = tuple(states[:MOST_BARS])
        self.setVisible(bool(self._states))
        self.setAccessibleDescription("; ".join(map(self.words, self._states)))
        self.setToolTip("\n".join(map(self.words, self._states)))
        self.updateGeometry()
        self.update()

    @property
    def states(self) -> tuple[GradState, ...]:
        """What is shown."""
        return self._states

    def words(self, state: GradState) -> str:
        """A bar as a sum in words: `t1.grad = 4 + 20 = 24`."""
        terms = " + ".join(short(part.value) for part in state.parts)
        total = short(state.total)
        name = _label(state)
        return f"{name} = {terms} = {total}" if len(state.parts) > 1 else f"{name} = {total}"

    def sizeHint(self) -> QSize:
        """The size that the content wants."""
        row = max(_BAR, QFontMetrics(self._look.code_font).height()) + _GAP
        return QSize(200, row * len(self._states))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what is shown."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        metrics = QFontMetrics(self._look.code_font)
        names = [fitted(_label(state), metrics, self.width()) for state in self._states]
        totals = [
            metrics.elidedText(short(s.total), Qt.TextElideMode.ElideRight, self.width() // 3) for s in self._states
        ]
        left = max((metrics.horizontalAdvance(name) for name in names), default=0) + 10
        right = max((metrics.horizontalAdvance(total) for total in totals), default=0) + 10
        row = max(_BAR, metrics.height()) + _GAP
        for place, state in enumerate(self._states):
            top = place * row
            painter.setFont(self._look.code_font)
            painter.setPen(self._look.ink)
            middle = QRectF(0, top, self.width(), row - _GAP)
            vertical = Qt.AlignmentFlag.AlignVCenter
            painter.drawText(middle, Qt.AlignmentFlag.AlignLeft | vertical, names[place])
            painter.drawText(middle, Qt.AlignmentFlag.AlignRight | vertical, totals[place])
            bar = QRectF(left, top + (row - _GAP - _BAR) / 2, max(10, self.width() - left - right), _BAR)
            self._paint_bar(painter, bar, state)

    def _paint_bar(self, painter: QPainter, area: QRectF, state: GradState) -> None:
        if not state.parts:
            painter.setPen(self._look.line)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
            return
        left = area.left()
        painter.setFont(self._look.badge_font)
        for part, width in zip(state.parts, shares([p.value for p in state.parts], area.width()), strict=True):
            colour = self._colour_of(part.calls[-1]) if part.calls else QColor(self._look.colors.unknown_part)
            segment = QRectF(left, area.top(), max(width - 2, 2), area.height())
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawRoundedRect(segment, 3, 3)
            text = short(part.value)
            if QFontMetrics(self._look.badge_font).horizontalAdvance(text) + 4 < segment.width():
                painter.setPen(self._look.on(colour))
                painter.drawText(segment, Qt.AlignmentFlag.AlignCenter, text)
            left += width


def shares(values: Sequence[Gradient], room: float) -> list[float]:
    """Widths that add up to `room`, in proportion to the norms, each wide enough to be seen."""
    norms = [0.0 if value is None or value.norm is None else value.norm for value in values]
    finite = [norm if norm < float("inf") else 0.0 for norm in norms]  # also turns nan, which compares false, into 0
    total = sum(finite)
    least = min(_LEAST_SEGMENT, room / max(len(values), 1))
    free = room - least * len(values)
    return [least + free * (norm / total if total else 1 / len(values)) for norm in finite]


def fitted(label: str, metrics: QFontMetrics, width: int) -> str:
    """A label in a third of the width; a longer one without its `.grad`, which the heading says, in nearly a half."""
    if metrics.horizontalAdvance(label) <= width // 3:
        return label
    return metrics.elidedText(label.removesuffix(".grad"), Qt.TextElideMode.ElideLeft, width * 9 // 20)


def _label(state: GradState) -> str:
    name = state.name or "?"
    return name if name.endswith(".grad") else f"{name}.grad"
