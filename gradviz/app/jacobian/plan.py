"""Where things are on the picture of a Jacobian: labels, the seed, the cells, and what the seed makes of them."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFontMetrics

from gradviz.app.jacobian.matrix import JacobianMatrix

LARGEST = (64.0, 26.0)  # width and height of a cell that is fitted
MOST_ZOOM = (110.0, 40.0)
_GAP = 10.0
_SEED = 58.0
_LONGEST_LABEL = 120.0
_SUM_GAP = 34.0


@dataclass(frozen=True)
class Plan:
    """Pixels of the widget. `cell` is the size of a cell, `scroll` what has been scrolled out of sight.

    `folded`: only the blocks on the diagonal are shown, one below the other, each with its own sum beside it.
    """

    matrix: JacobianMatrix
    folded: bool
    cell: tuple[float, float]
    scroll: tuple[float, float]
    size: tuple[float, float]
    line: float  # height of a line of text
    labels: float  # width of the labels of rows

    @property
    def rows(self) -> int:
        """Rows of cells."""
        return len(self.matrix.rows)

    @property
    def columns(self) -> int:
        """Columns of cells."""
        return self.matrix.columns_of_block if self.folded else int(self.matrix.values.shape[1])

    @property
    def left(self) -> float:
        """Where the cells begin."""
        return self.labels + _GAP + _SEED + _GAP

    @property
    def top(self) -> float:
        """Where the cells begin."""
        return 2 * self.line + 8

    @property
    def foot(self) -> float:
        """The room below the cells: for the sum, where it is not beside them."""
        return 4.0 if self.folded else self.line + 24

    @property
    def field(self) -> QRectF:
        """Where cells can be seen."""
        width, height = self.size
        return QRectF(self.left, self.top, max(width - self.left - 4, 1), max(height - self.top - self.foot, 1))

    @property
    def content(self) -> tuple[float, float]:
        """Width and height of all that can be scrolled."""
        across = self.columns * self.cell[0]
        return (2 * across + _SUM_GAP if self.folded else across), self.rows * self.cell[1]

    @property
    def shown_rows(self) -> range:
        """The rows of which something is seen."""
        return _seen(self.scroll[1], self.field.height(), self.cell[1], self.rows)

    @property
    def shown_columns(self) -> range:
        """The columns of which something is seen."""
        return _seen(self.scroll[0], self.field.width(), self.cell[0], self.columns)

    def x(self, column: float) -> float:
        """The left side of a column."""
        return self.left + column * self.cell[0] - self.scroll[0]

    def y(self, row: float) -> float:
        """The upper side of a row."""
        return self.top + row * self.cell[1] - self.scroll[1]

    def rect(self, row: int, column: int) -> QRectF:
        """A cell."""
        return QRectF(self.x(column), self.y(row), *self.cell)

    def seed_rect(self, row: int) -> QRectF:
        """An element of the seed."""
        return QRectF(self.labels + _GAP, self.y(row), _SEED, self.cell[1])

    def sum_rect(self, column: int) -> QRectF:
        """An element of v^T J."""
        if self.folded:
            sample, within = divmod(column, self.columns)
            height = self.matrix.rows_of_block * self.cell[1]
            left = self.x(self.columns) + _SUM_GAP + within * self.cell[0]
            return QRectF(left, self.y(sample * self.matrix.rows_of_block), self.cell[0], height)
        bottom = min(self.field.bottom(), self.y(self.rows))
        return QRectF(self.x(column), bottom + 10, self.cell[0], self.line + 8)

    def row_at(self, point: QPointF) -> int | None:
        """The row at a pixel, also on its label and its seed."""
        if not self.field.top() <= point.y() <= self.field.bottom():
            return None
        row = int((point.y() - self.top + self.scroll[1]) / self.cell[1])
        return row if 0 <= row < self.rows else None

    def column_at(self, point: QPointF) -> int | None:
        """The column at a pixel of the cells."""
        if not self.field.left() <= point.x() <= self.field.right():
            return None
        column = int((point.x() - self.left + self.scroll[0]) / self.cell[0])
        return column if 0 <= column < self.columns else None

    def column_of(self, row: int, column: int) -> int:
        """The column of the whole matrix that a cell belongs to."""
        return row // self.matrix.rows_of_block * self.columns + column if self.folded else column


def fitted(matrix: JacobianMatrix, folded: bool, size: tuple[float, float], metrics: QFontMetrics) -> Plan:
    """The plan in which everything is seen."""
    made = Plan(matrix, folded, (1.0, 1.0), (0.0, 0.0), size, metrics.height(), _label_width(matrix, metrics))
    room = made.field
    across = room.width() - (_SUM_GAP if folded else 0.0)
    width = min(LARGEST[0], across / max(made.columns * (2 if folded else 1), 1))
    height = min(LARGEST[1], room.height() / max(made.rows, 1))
    return Plan(matrix, folded, (width, height), (0.0, 0.0), size, made.line, made.labels)


def _label_width(matrix: JacobianMatrix, metrics: QFontMetrics) -> float:
    names = [matrix.row_name(row) for row in {0, len(matrix.rows) - 1} if row >= 0 and matrix.rows]
    widest = max((metrics.horizontalAdvance(name) for name in names), default=0)
    return min(max(widest, metrics.horizontalAdvance("vᵀJ")) + 12.0, _LONGEST_LABEL)


def _seen(scrolled: float, room: float, cell: float, count: int) -> range:
    first = max(int(scrolled / cell), 0)
    return range(first, min(int((scrolled + room) / cell) + 1, count))
