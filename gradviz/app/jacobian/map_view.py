"""The picture of a Jacobian: zoomed by wheel and keys, a row or an element chosen by clicks and arrow keys."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QToolTip, QWidget

from gradviz.app.background import Errands, Task
from gradviz.app.jacobian.heat import image_of
from gradviz.app.jacobian.matrix import JacobianMatrix
from gradviz.app.jacobian.paint import State, paint
from gradviz.app.jacobian.plan import MOST_ZOOM, Plan, fitted
from gradviz.app.look import Look
from gradviz.app.texts import tr
from gradviz.model.numbers import number_text

Array = npt.NDArray[Any]
_ZOOM = 1.25
_AT_ONCE = 100_000  # cells; the image of more is made in the background
_KEYS = {Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0), Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1)}


class JacobianMap(QAbstractScrollArea):
    """Seed, cells and v^T J.

    Signals:
        row_chosen(int): another row is the chosen one.
        column_chosen(int): another column (of the whole matrix) is.
        toggled(int): Space or a double click on a row: its element of the seed shall be 0 or 1.
        painted(): the image of the cells is there.
    """

    row_chosen = Signal(int)
    column_chosen = Signal(int)
    toggled = Signal(int)
    painted = Signal()

    def __init__(self, background: Errands, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._background = background
        self._look = look
        self._task: Task[QImage] | None = None
        self._plan: Plan | None = None
        self._is_fitted = True
        self._image = QImage()
        self._strides = (1, 1)
        self._cells: Array = np.zeros((0, 0))
        self._seed: Array = np.zeros(0)
        self._combined: Array = np.zeros(0)
        self.row = 0
        self.column = -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("The Jacobian with its seed"))
        self.setMinimumSize(320, 220)

    # -- what is shown -------------------------------------------------------------------------------------------------

    @property
    def plan(self) -> Plan | None:
        """Where things are; None while there is no matrix."""
        return self._plan

    @property
    def image(self) -> QImage:
        """The image of the cells."""
        return self._image

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._look = look
        self._make_image()

    def set_matrix(self, matrix: JacobianMatrix | None, folded: bool = False) -> None:
        """Show another matrix, or the same one folded to the blocks on its diagonal."""
        self._drop_task()
        if matrix is None or not matrix.values.size:
            self._plan = None
            self.viewport().update()
            return
        self._cells = matrix.diagonal if folded else matrix.values
        self._seed = np.ones(len(matrix.rows))
        self._combined = np.zeros(matrix.values.shape[1], dtype=matrix.values.dtype)
        self.row, self.column = min(self.row, len(matrix.rows) - 1), -1
        self._is_fitted = True
        self._plan = fitted(matrix, folded, self._extent(), QFontMetrics(self._look.code_font))
        self._take_plan()
        self._make_image()

    def set_seed(self, seed: Array, combined: Array) -> None:
        """Show another seed and what it makes."""
        self._seed, self._combined = seed, combined
        self._describe()
        self.viewport().update()

    def choose(self, row: int, column: int | None = None) -> None:
        """Choose a row, and a column of the whole matrix."""
        if self._plan is None:
            return
        row = min(max(row, 0), self._plan.rows - 1)
        if column is not None and column != self.column:
            self.column = min(max(column, -1), int(self._plan.matrix.values.shape[1]) - 1)
            self.column_chosen.emit(self.column)
        if row != self.row:
            self.row = row
            self.row_chosen.emit(row)
        self._reveal()
        self._describe()
        self.viewport().update()

    def _describe(self) -> None:
        plan = self._plan
        if plan is None:
            return
        words = f"v[{self.row}] = {number_text(float(self._seed[self.row]))}"
        self.setAccessibleDescription(f"{plan.matrix.row_name(self.row)}: {words}")

    # -- the image -----------------------------------------------------------------------------------------------------

    def _make_image(self) -> None:
        plan = self._plan
        if plan is None:
            return
        strides = max(int(1 / plan.cell[1]), 1), max(int(1 / plan.cell[0]), 1)
        cells, most, colors = self._cells, plan.matrix.most, self._look.colors
        self._drop_task()
        if cells.size <= _AT_ONCE:
            self._take_image(image_of(cells, most, strides, colors), strides)
            return
        self._task = self._background.submit(
            lambda task: image_of(cells, most, strides, colors),
            lambda image: self._take_image(image, strides),
            lambda why: None,
        )

    def _take_image(self, image: QImage, strides: tuple[int, int]) -> None:
        self._task = None
        self._image, self._strides = image, strides
        self.viewport().update()
        self.painted.emit()

    def _drop_task(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what is shown."""
        painter = QPainter(self.viewport())
        painter.fillRect(self.viewport().rect(), self._look.panel)
        if self._plan is not None and not self._image.isNull():
            state = State(*(self._image, self._strides, self._cells, self._seed, self._combined, self.row, self.column))
            paint(painter, self._plan, state, self._look)

    # -- zoom ----------------------------------------------------------------------------------------------------------

    def _extent(self) -> tuple[float, float]:
        return float(self.viewport().width()), float(self.viewport().height())

    def fit(self) -> None:
        """See everything."""
        if self._plan is not None:
            self._is_fitted = True
            self._plan = fitted(
                self._plan.matrix, self._plan.folded, self._extent(), QFontMetrics(self._look.code_font)
            )
            self._take_plan()
            self._make_image()

    def zoom_by(self, factor: float, at: QPointF | None = None) -> None:
        """See larger or smaller cells; what is under `at` (without it: the chosen row) stays there."""
        plan = self._plan
        if plan is None:
            return
        self._is_fitted = False
        point = at or self._chosen_point(plan)
        row = (point.y() - plan.top + plan.scroll[1]) / plan.cell[1]
        column = (point.x() - plan.left + plan.scroll[0]) / plan.cell[0]
        least = fitted(plan.matrix, plan.folded, plan.size, QFontMetrics(self._look.code_font)).cell
        width = min(max(plan.cell[0] * factor, least[0]), MOST_ZOOM[0])
        height = min(max(plan.cell[1] * factor, least[1]), MOST_ZOOM[1])
        self._plan = replace(plan, cell=(width, height))
        self._take_plan()
        self.horizontalScrollBar().setValue(round(column * width + plan.left - point.x()))
        self.verticalScrollBar().setValue(round(row * height + plan.top - point.y()))
        if at is None:
            self._reveal()
        self._make_image()

    def _chosen_point(self, plan: Plan) -> QPointF:
        """The middle of what is chosen, as far as it is in sight."""
        field = plan.field
        x = plan.x(self.column % plan.columns + 0.5) if self.column >= 0 else field.center().x()
        y = plan.y(self.row + 0.5)
        return QPointF(min(max(x, field.left()), field.right()), min(max(y, field.top()), field.bottom()))

    def _take_plan(self) -> None:
        plan = self._plan
        if plan is None:
            return
        for bar, content, room in (
            (self.horizontalScrollBar(), plan.content[0], plan.field.width()),
            (self.verticalScrollBar(), plan.content[1], plan.field.height()),
        ):
            bar.setRange(0, max(round(content - room), 0))
            bar.setPageStep(round(room))
            bar.setSingleStep(20)
        self.scrollContentsBy(0, 0)

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """The bars were moved."""
        if self._plan is not None:
            scroll = float(self.horizontalScrollBar().value()), float(self.verticalScrollBar().value())
            self._plan = replace(self._plan, scroll=scroll)
        self.viewport().update()

    def _reveal(self) -> None:
        """Scroll until the chosen row and column are seen."""
        plan = self._plan
        if plan is None:
            return
        field, bars = plan.field, (self.horizontalScrollBar(), self.verticalScrollBar())
        top, bottom = plan.y(self.row), plan.y(self.row + 1)
        if top < field.top() or bottom > field.bottom():
            bars[1].setValue(round(plan.scroll[1] + top - field.top() - field.height() / 2))
        if self.column >= 0:
            within = self.column % plan.columns
            if plan.x(within) < field.left() or plan.x(within + 1) > field.right():
                bars[0].setValue(round(plan.scroll[0] + plan.x(within) - field.left() - field.width() / 2))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep everything in sight while it is fitted."""
        if self._plan is not None:
            if self._is_fitted:
                self.fit()
            else:
                self._plan = replace(self._plan, size=self._extent())
                self._take_plan()
        super().resizeEvent(event)

    # -- mouse and keys ------------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose a row, and an element where one was hit."""
        plan = self._plan
        row = None if plan is None else plan.row_at(event.position())
        if plan is None or row is None:
            return
        within = plan.column_at(event.position())
        self.choose(row, None if within is None else plan.column_of(row, within))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Take a row into the seed, or out of it."""
        row = None if self._plan is None else self._plan.row_at(event.position())
        if row is not None:
            self.toggled.emit(row)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """With Ctrl zoom, else scroll."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom_by(_ZOOM ** (event.angleDelta().y() / 120), event.position())
            event.accept()
        else:
            super().wheelEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows choose, Space toggles, plus and minus zoom, 0 fits."""
        key = event.key()
        if self._plan is None:
            super().keyPressEvent(event)
        elif key in _KEYS:
            down, across = _KEYS[Qt.Key(key)]
            self.choose(self.row + down, max(self.column + across, 0) if across else None)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self.choose(0 if key == Qt.Key.Key_Home else self._plan.rows - 1)
        elif key == Qt.Key.Key_Space:
            self.toggled.emit(self.row)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus):
            self.zoom_by(1 / _ZOOM if key == Qt.Key.Key_Minus else _ZOOM)
        elif key == Qt.Key.Key_0:
            self.fit()
        else:
            super().keyPressEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:
        """Tell the number under the mouse."""
        if isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.words_at(QPointF(event.pos())), self)
            return True
        return super().viewportEvent(event)

    def words_at(self, point: QPointF) -> str:
        """The element under a pixel: `d y[0, 1] / d x[0, 2] = 0.5`."""
        plan = self._plan
        row = None if plan is None else plan.row_at(point)
        if plan is None or row is None:
            return ""
        column = plan.column_at(point)
        if column is None:
            return f"v at {plan.matrix.row_name(row)} = {number_text(float(self._seed[row]))}"
        number = number_text(self._cells[row, column].item())
        names = plan.matrix.row_name(row), plan.matrix.column_name(plan.column_of(row, column))
        return f"d {names[0]} / d {names[1]} = {number}"
