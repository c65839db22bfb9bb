"""`.grad` over the calls as columns: each as high as what is held, in the colours of the calls that brought it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gradviz.app.call_words import call_words
from gradviz.app.history_facts import Column, Shown, held, short, what
from gradviz.app.look import Look
from gradviz.app.texts import tr

_WIDEST = 26.0
_NARROW = 5.0  # pixels; narrower columns are drawn without their parts
_HEIGHT = 84
_FOOT = 12  # room for the marks under the columns


class HistoryChart(QWidget):
    """A column for each thing that happened; the row that is selected is marked.

    Signals:
        chosen(int): a column was clicked.
    """

    chosen = Signal(int)

    def __init__(self, look: Look, colour_of: Callable[[int], QColor], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._colour_of = colour_of
        self._shown: Shown | None = None
        self._row = -1
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr(".grad over the calls, as a chart"))

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._look = look
        self.update()

    def set_shown(self, shown: Shown | None) -> None:
        """Show another history."""
        self._shown, self._row = shown, -1
        self.update()

    def mark(self, row: int) -> None:
        """Mark the column of a row; -1 marks none."""
        self._row = row
        self.update()

    def sizeHint(self) -> QSize:
        """The size that the content wants."""
        return QSize(200, _HEIGHT)

    # -- places --------------------------------------------------------------------------------------------------------

    @property
    def step(self) -> float:
        """The width of a column in pixels."""
        count = 0 if self._shown is None else len(self._shown.columns)
        return min(_WIDEST, self.width() / max(count, 1))

    def row_at(self, x: float) -> int:
        """The row whose column is at a pixel; -1 beside the columns."""
        count = 0 if self._shown is None else len(self._shown.columns)
        row = int(x / self.step)
        return row if 0 <= row < count else -1

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose a column."""
        row = self.row_at(event.position().x())
        if row >= 0:
            self.chosen.emit(row)

    def event(self, event: QEvent) -> bool:
        """Tell what is under the mouse."""
        if isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.words_at(event.pos().x()), self)
            return True
        return super().event(event)

    def words_at(self, x: float) -> str:
        """What happened at a pixel, in words."""
        row = self.row_at(x)
        if self._shown is None or row < 0:
            return ""
        entry, other = self._shown.rows[row]
        lines = [what(entry)]
        if entry.label is not None:
            lines[0] = call_words(entry.label) + ": " + lines[0]
        if entry.kind == "brought":
            lines[0] += " " + short(entry.incoming)
        if entry.place is not None:
            lines[0] += " · " + tr("line {n}", n=entry.place.line)
        lines.append(f".grad = {held(entry)}")
        if other is not None:
            lines.append(tr("if it had been cleared: {x}", x=held(other)))
        return "\n".join(lines)

    # -- painting ------------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what is shown."""
        shown = self._shown
        if shown is None or not shown.columns:
            return
        painter = QPainter(self)
        others = [column for column in shown.other_columns if column is not None]
        most = max(column.norm for column in (*shown.columns, *others))
        room = self.height() - _FOOT - 2
        base = float(room + 1)
        if self.step < _NARROW:
            self._paint_fine(painter, shown, most, base, room)
        else:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for row in range(len(shown.columns)):
                self._paint_column(painter, shown, row, most, base, room)
        painter.setPen(QPen(self._look.line, 1.0))
        painter.drawLine(QPointF(0, base), QPointF(self.step * len(shown.columns), base))
        self._paint_row_mark(painter, base)

    def _paint_column(self, painter: QPainter, shown: Shown, row: int, most: float, base: float, room: float) -> None:
        look, column, step = self._look, shown.columns[row], self.step
        area = QRectF(row * step + 1, base, max(step - 2, 1), 0)
        area.setTop(base - _height(column, most, room))
        entry = shown.rows[row][0]
        fresh = entry.kind == "brought"
        top = base
        whole = sum(part.norm for part in column.parts)
        for place, part in enumerate(column.parts):
            share = part.norm / whole if whole else 1 / len(column.parts)
            height = area.height() * share
            colour = QColor(look.colors.unknown_part) if part.call is None else self._colour_of(part.call)
            if not (fresh and place == len(column.parts) - 1):
                colour.setAlphaF(0.55)  # what was there before this entry
            painter.fillRect(QRectF(area.left(), top - height, area.width(), height), colour)
            top -= height
        other = shown.other_columns[row]
        if other is not None:
            self._outline(painter, area, base - _height(other, most, room), base)
        self._paint_mark(painter, entry.kind, area.center().x(), base)

    def _outline(self, painter: QPainter, area: QRectF, top: float, base: float) -> None:
        """What would have been, as an empty column."""
        painter.setPen(QPen(self._look.accent_ink, 1.4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(area.left(), top, area.width(), base - top))

    def _paint_mark(self, painter: QPainter, kind: str, x: float, base: float) -> None:
        """Under the column: a cross where it was cleared, a triangle for a step, a dot for what came otherwise."""
        look, y = self._look, base + _FOOT / 2 + 1
        if kind == "cleared":
            painter.setPen(QPen(look.error, 1.6))
            painter.drawLine(QPointF(x - 3, y - 3), QPointF(x + 3, y + 3))
            painter.drawLine(QPointF(x - 3, y + 3), QPointF(x + 3, y - 3))
            return
        painter.setPen(Qt.PenStyle.NoPen)
        if kind == "step":
            painter.setBrush(look.leaf)
            painter.drawPolygon(QPolygonF([QPointF(x, y - 4), QPointF(x - 4, y + 3), QPointF(x + 4, y + 3)]))
        elif kind in ("assigned", "missed"):
            painter.setBrush(look.muted)
            painter.drawEllipse(QPointF(x, y), 2.5, 2.5)

    def _paint_fine(self, painter: QPainter, shown: Shown, most: float, base: float, room: float) -> None:
        """Many columns: for each pixel the highest one, and ticks where it was cleared or an optimizer stepped."""
        look, count, width = self._look, len(shown.columns), self.width()
        for x in range(width):
            first, end = x * count // width, max((x + 1) * count // width, x * count // width + 1)
            rows = range(first, min(end, count))
            top = max(_height(shown.columns[row], most, room) for row in rows)
            painter.fillRect(QRectF(x, base - top, 1, top), look.accent)
            others = [other for row in rows if (other := shown.other_columns[row]) is not None]
            if others:
                would = max(_height(other, most, room) for other in others)
                painter.fillRect(QRectF(x, base - would - 1, 1, 2), look.ink)
            kinds = {shown.rows[row][0].kind for row in rows}
            for kind, colour, y in (("step", look.leaf, 3), ("cleared", look.error, 7), ("assigned", look.muted, 7)):
                if kind in kinds:
                    painter.fillRect(QRectF(x, base + y, 1, 3), colour)

    def _paint_row_mark(self, painter: QPainter, base: float) -> None:
        if self._row < 0:
            return
        width = max(self.step, 2.0)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self._look.focus, 1.6))
        painter.drawRect(QRectF(self._row * self.step, 1, width, base + _FOOT - 2))


def _height(column: Column, most: float, room: float) -> float:
    """In pixels; what is not zero is seen."""
    return max(column.norm / most * room, 2.0) if most and column.norm else 0.0
