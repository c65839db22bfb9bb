"""A slice of a tensor as a heat map, and a tensor as a histogram."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QHelpEvent, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolTip, QWidget

from gradviz.app.look import Look
from gradviz.app.panels.matrix import Slice, histogram
from gradviz.app.texts import tr
from gradviz.model import TensorValue
from gradviz.model.dtypes import Number
from gradviz.model.numbers import number_text
from gradviz.render.scale import signed_color
from gradviz.render.theme import Theme

_LARGEST_CELL = 28.0


def cell_colour(number: Number, cells: Slice, colors: Theme) -> str:
    """The colour of a cell on the diverging scale of its slice; a complex number by its magnitude."""
    signed = abs(number) if isinstance(number, complex) else float(number)
    return signed_color(signed, cells.most, colors)


class HeatMap(QWidget):
    """One coloured cell per number."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._slice: Slice | None = None
        self._image: QImage | None = None
        self.setAccessibleName(tr("Heat map of the tensor"))

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._look = look
        self._paint_cells()

    def set_slice(self, cells: Slice | None) -> None:
        """Show another slice."""
        self._slice = cells
        self._paint_cells()

    def _paint_cells(self) -> None:
        cells = self._slice
        self._image = None
        if cells is not None and cells.rows and cells.columns:
            self._image = QImage(cells.columns, cells.rows, QImage.Format.Format_RGB32)
            for place, number in enumerate(cells.numbers):
                row, column = divmod(place, cells.columns)
                self._image.setPixelColor(column, row, QColor(cell_colour(number, cells, self._look.colors)))
        self.update()

    def area(self) -> QRectF:
        """Where the cells are, in pixels of this widget."""
        if self._slice is None or not self._slice.rows or not self._slice.columns:
            return QRectF()
        cells = self._slice
        width = min(self.width(), _LARGEST_CELL * cells.columns)
        height = min(self.height(), _LARGEST_CELL * cells.rows)
        return QRectF(0, 0, width, height)

    def sizeHint(self) -> QSize:
        """The size that the content wants."""
        return QSize(200, 150)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what is shown."""
        if self._image is not None:
            QPainter(self).drawImage(self.area(), self._image)

    def event(self, event: QEvent) -> bool:
        """Tell the number under the mouse."""
        if isinstance(event, QHelpEvent):
            words = self.words_at(event.pos())
            QToolTip.showText(event.globalPos(), words, self)
            return True
        return super().event(event)

    def words_at(self, point: QPoint) -> str:
        """Index and value of the cell at a point; empty outside."""
        area = self.area()
        if self._slice is None or area.isEmpty() or not area.contains(point.toPointF()):
            return ""
        row = min(int(point.y() / area.height() * self._slice.rows), self._slice.rows - 1)
        column = min(int(point.x() / area.width() * self._slice.columns), self._slice.columns - 1)
        return f"[{row}, {column}] = {number_text(self._slice.at(row, column))}"


class Histogram(QWidget):
    """How often which values occur."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._bars: list[tuple[str, int]] = []
        self._ends = ("", "")
        self.setAccessibleName(tr("Histogram of the tensor"))

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._look = look
        self.update()

    def set_value(self, value: TensorValue | None) -> None:
        """Show another tensor: equal bins of its values, or the decades that the recorder counted."""
        self._bars, self._ends = [], ("", "")
        if value is not None and value.data is not None:
            counts, low, high = histogram(value)
            step = (high - low) / max(len(counts), 1)
            self._bars = [(f"{number_text(low + place * step)} …", count) for place, count in enumerate(counts)]
            self._ends = (number_text(low), number_text(high)) if counts else ("", "")
        elif value is not None and value.thumbnail is not None and value.thumbnail.histogram:
            decades = sorted(value.thumbnail.histogram)
            self._bars = [(f"|x| ~ 1e{decade}", count) for decade, count in decades]
            self._ends = (f"|x| ~ 1e{decades[0][0]}", f"1e{decades[-1][0]}")
        self.update()

    @property
    def counts(self) -> tuple[int, ...]:
        """The heights of the bars."""
        return tuple(count for _, count in self._bars)

    def sizeHint(self) -> QSize:
        """The size that the content wants."""
        return QSize(200, 150)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what is shown."""
        if not self._bars:
            return
        painter = QPainter(self)
        metrics = QFontMetrics(self._look.small_font)
        most = max(max(self.counts), 1)
        room = self.height() - metrics.height() - 4
        step = self.width() / len(self._bars)
        for place, (_, count) in enumerate(self._bars):
            height = room * count / most
            painter.fillRect(QRectF(place * step, room - height, max(step - 1, 1), height), self._look.accent)
        painter.setFont(self._look.small_font)
        painter.setPen(self._look.muted)
        foot = QRectF(0, room + 2, self.width(), metrics.height())
        painter.drawText(foot, Qt.AlignmentFlag.AlignLeft, self._ends[0])
        painter.drawText(foot, Qt.AlignmentFlag.AlignRight, self._ends[1])

    def event(self, event: QEvent) -> bool:
        """Tell the bar under the mouse."""
        if isinstance(event, QHelpEvent) and self._bars:
            place = min(int(event.pos().x() / max(self.width(), 1) * len(self._bars)), len(self._bars) - 1)
            label, count = self._bars[place]
            QToolTip.showText(event.globalPos(), f"{label}: {count:,}", self)
            return True
        return super().event(event)
