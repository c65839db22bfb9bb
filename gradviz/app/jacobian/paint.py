"""Paints a Jacobian: cells, block lines, labels, the seed beside it and v^T J under it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QImage, QPainter, QPen

from gradviz.app.jacobian.heat import image_of
from gradviz.app.jacobian.plan import Plan
from gradviz.app.look import Look
from gradviz.app.texts import tr
from gradviz.model.numbers import number_text
from gradviz.render.scale import signed_color
from gradviz.render.theme import mix

Array = npt.NDArray[Any]
_GRIDDED = 7.0  # cells of so many pixels are told apart by lines
_VEIL = 0.74
_CENTRE = Qt.AlignmentFlag.AlignCenter


@dataclass(frozen=True)
class State:
    """What is painted: the image of the cells with its strides, the seed, its sum, and the chosen row and column."""

    image: QImage
    strides: tuple[int, int]
    cells: Array  # (rows, columns) of what is shown
    seed: Array
    combined: Array
    row: int
    column: int  # of the whole matrix, -1: none


def paint(painter: QPainter, plan: Plan, state: State, look: Look) -> None:
    """Paint everything."""
    painter.setFont(look.code_font)
    field = plan.field
    painter.save()
    painter.setClipRect(field)
    _cells(painter, plan, state, look)
    if plan.folded:
        _sums_beside(painter, plan, state, look)
    painter.restore()
    painter.save()
    painter.setClipRect(QRectF(0, field.top(), field.left(), field.height()))
    _seed(painter, plan, state, look)
    painter.restore()
    _columns(painter, plan, look)
    if not plan.folded:
        _sum_below(painter, plan, state, look)


# -- cells -------------------------------------------------------------------------------------------------------------


def _cells(painter: QPainter, plan: Plan, state: State, look: Look) -> None:
    image, (down, across) = state.image, state.strides
    whole = QRectF(plan.x(0), plan.y(0), image.width() * across * plan.cell[0], image.height() * down * plan.cell[1])
    painter.save()
    painter.setClipRect(
        QRectF(plan.x(0), plan.y(0), plan.columns * plan.cell[0], plan.rows * plan.cell[1]).intersected(plan.field)
    )
    painter.drawImage(whole, image)
    painter.restore()
    _numbers(painter, plan, state, look)
    _veil(painter, plan, state.seed, look)
    _lines(painter, plan, look)
    _chosen(painter, plan, state, look)


def _numbers(painter: QPainter, plan: Plan, state: State, look: Look) -> None:
    metrics = QFontMetrics(look.code_font)
    if plan.cell[0] < metrics.horizontalAdvance("-0.00") or plan.cell[1] < metrics.height():
        return
    most = plan.matrix.most
    for row in plan.shown_rows:
        for column in plan.shown_columns:
            number = state.cells[row, column].item()
            _number(painter, plan.rect(row, column), number, most, look)


def _number(painter: QPainter, cell: QRectF, number: float, most: float, look: Look) -> None:
    text = number_text(number)
    metrics = QFontMetrics(painter.font())
    if metrics.horizontalAdvance(text) > cell.width() - 2:
        text = f"{number:.1e}".replace("e-0", "e-").replace("e+0", "e")
    if metrics.horizontalAdvance(text) > cell.width():
        text = "…"
    painter.setPen(look.on(QColor(signed_color(float(number), most, look.colors))))
    painter.drawText(cell, _CENTRE, text)


def _veil(painter: QPainter, plan: Plan, seed: Array, look: Look) -> None:
    """Rows of which the seed takes nothing are pale; with nothing but zeros all are as they are."""
    if not np.any(seed):
        return
    colour = QColor(look.panel)
    colour.setAlphaF(_VEIL)
    rows = plan.shown_rows
    width = plan.columns * plan.cell[0]
    for first, end in _runs(seed[rows.start : rows.stop] == 0):
        top, bottom = plan.y(rows.start + first), plan.y(rows.start + end)
        painter.fillRect(QRectF(plan.x(0), top, width, bottom - top), colour)


def _runs(holds: Array) -> list[tuple[int, int]]:
    """The runs of true elements as (first, end)."""
    padded = np.concatenate(([False], holds, [False])).astype(np.int8)
    edges = np.flatnonzero(np.diff(padded))
    return [(int(first), int(end)) for first, end in zip(edges[::2], edges[1::2], strict=True)]


def _lines(painter: QPainter, plan: Plan, look: Look) -> None:
    left, right = plan.x(0), plan.x(plan.columns)
    top, bottom = plan.y(0), plan.y(plan.rows)
    if min(plan.cell) >= _GRIDDED:
        painter.setPen(QPen(QColor(mix(look.line.name(), look.panel.name(), 0.3)), 1.0))
        painter.drawLines([QLineF(left, plan.y(row), right, plan.y(row)) for row in plan.shown_rows])
        painter.drawLines([QLineF(plan.x(c), top, plan.x(c), bottom) for c in plan.shown_columns])
    painter.setPen(QPen(look.muted, 1.6))
    deep, wide = plan.matrix.rows_of_block, plan.matrix.columns_of_block
    if deep * plan.cell[1] >= _GRIDDED:
        rows = range(plan.shown_rows.start // deep * deep, plan.shown_rows.stop + 1, deep)
        painter.drawLines([QLineF(left, plan.y(row), right, plan.y(row)) for row in rows])
    if wide * plan.cell[0] >= _GRIDDED and not plan.folded:
        columns = range(plan.shown_columns.start // wide * wide, plan.shown_columns.stop + 1, wide)
        painter.drawLines([QLineF(plan.x(c), top, plan.x(c), bottom) for c in columns])
    painter.drawRect(QRectF(left, top, right - left, bottom - top))


def _chosen(painter: QPainter, plan: Plan, state: State, look: Look) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(look.accent, 2.2))
    height = max(plan.cell[1], 2.0)
    painter.drawRect(QRectF(plan.x(0), plan.y(state.row), plan.columns * plan.cell[0], height))
    if state.column >= 0:
        painter.setPen(QPen(look.focus, 1.6))
        within = state.column % plan.columns
        width = max(plan.cell[0], 2.0)
        painter.drawRect(QRectF(plan.x(within), plan.y(0), width, plan.rows * plan.cell[1]))


# -- around them -------------------------------------------------------------------------------------------------------


def _seed(painter: QPainter, plan: Plan, state: State, look: Look) -> None:
    most = float(np.max(np.abs(state.seed), initial=0.0, where=np.isfinite(state.seed)))
    metrics = QFontMetrics(look.code_font)
    readable = plan.cell[1] >= metrics.height() - 1
    stride = max(int(1 / plan.cell[1]), 1)
    image = image_of(state.seed[:, None], most, (stride, 1), look.colors)
    first = plan.seed_rect(0)
    painter.drawImage(QRectF(first.topLeft(), QSizeF(first.width(), image.height() * stride * plan.cell[1])), image)
    if readable:
        for row in plan.shown_rows:
            _number(painter, plan.seed_rect(row), float(state.seed[row]), most, look)
            _row_label(painter, plan, row, state.row == row, look)
    else:
        _block_labels(painter, plan, look)
    painter.setPen(QPen(look.accent, 2.2))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    chosen = plan.seed_rect(state.row)
    painter.drawRect(QRectF(chosen.left(), chosen.top(), chosen.width(), max(chosen.height(), 2.0)))


def _round(least: float) -> int:
    """The smallest of 1, 2, 5, 10, 20 ... that is not below `least`."""
    number, factors = 1, (2.0, 2.5, 2.0)
    for step in range(100):
        if number >= least:
            break
        number = int(number * factors[step % 3])
    return number


def _row_label(painter: QPainter, plan: Plan, row: int, chosen: bool, look: Look) -> None:
    painter.setPen(look.ink if chosen else look.muted)
    area = QRectF(0, plan.y(row), plan.labels, plan.cell[1])
    text = QFontMetrics(painter.font()).elidedText(
        plan.matrix.row_name(row), Qt.TextElideMode.ElideLeft, int(plan.labels)
    )
    painter.drawText(area, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)


def _block_labels(painter: QPainter, plan: Plan, look: Look) -> None:
    """Labels of blocks, where rows are too thin for their own; as many as have room."""
    deep = plan.matrix.rows_of_block
    deep = 1 if deep == plan.rows else deep
    high = deep * plan.cell[1]
    every = _round(2 * plan.line / high)
    painter.setPen(look.muted)
    align = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop
    first = plan.shown_rows.start // deep // every * every
    for block in range(first, -(-plan.shown_rows.stop // deep), every):
        name = plan.matrix.row_name(block) if deep == 1 else f"{plan.matrix.root}[{block}]"
        painter.drawText(QRectF(0, plan.y(block * deep), plan.labels, plan.line), align, name)


def _columns(painter: QPainter, plan: Plan, look: Look) -> None:
    """Two lines above the cells: blocks, then elements where they have room."""
    painter.save()
    field, metrics = plan.field, QFontMetrics(painter.font())
    painter.setPen(look.muted)
    head = QRectF(0, 2, field.left(), plan.line)
    over = int(Qt.AlignmentFlag.AlignRight | Qt.TextFlag.TextDontClip)  # Chinese is higher than the font of code
    painter.drawText(head.adjusted(0, plan.line + 2, -10, plan.line + 2), over, tr("seed v"))
    painter.setClipRect(QRectF(field.left(), 0, field.width(), field.top()))
    matrix = plan.matrix
    every = _round((metrics.horizontalAdvance(str(plan.columns)) + 8) / plan.cell[0])
    for column in range(plan.shown_columns.start // every * every, plan.shown_columns.stop, every):
        text = str(column % matrix.columns_of_block)
        align = _CENTRE if every == 1 else Qt.AlignmentFlag.AlignLeft
        painter.drawText(QRectF(plan.x(column), plan.line + 4, plan.cell[0] * every, plan.line), align, text)
    if plan.folded:
        painter.drawText(
            QRectF(plan.x(0), 2, field.right() - plan.x(0), plan.line), f"d {matrix.root}[b] / d {matrix.input}[b]"
        )
        painter.drawText(QRectF(plan.sum_rect(0).left(), 2, field.right(), plan.line), tr("vᵀJ, sample by sample"))
    else:
        _column_blocks(painter, plan, metrics)
    painter.restore()


def _column_blocks(painter: QPainter, plan: Plan, metrics: QFontMetrics) -> None:
    wide = plan.matrix.columns_of_block
    across = wide * plan.cell[0]
    if wide == plan.columns or across <= 0:
        painter.drawText(QRectF(plan.x(0), 2, plan.field.width(), plan.line), plan.matrix.input)
        return
    room = metrics.horizontalAdvance(f"{plan.matrix.input}[{plan.columns // wide}]") + 6
    every = _round(room / across)
    for block in range(0, plan.columns // wide, every):
        area = QRectF(plan.x(block * wide), 2, across * every, plan.line)
        painter.drawText(area, _CENTRE if every == 1 else Qt.AlignmentFlag.AlignLeft, f"{plan.matrix.input}[{block}]")


def _sum_below(painter: QPainter, plan: Plan, state: State, look: Look) -> None:
    first = plan.sum_rect(0)
    painter.setPen(look.accent_ink)
    label = QRectF(0, first.top(), plan.left - 10, first.height())
    painter.drawText(label, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, "vᵀJ =")
    painter.save()
    painter.setClipRect(QRectF(plan.left, first.top() - 2, plan.field.width(), first.height() + 4))
    _sum_cells(painter, plan, state, range(plan.columns), look)
    painter.setPen(QPen(look.accent, 1.6))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(QRectF(plan.x(0), first.top(), plan.columns * plan.cell[0], first.height()))
    painter.restore()


def _sums_beside(painter: QPainter, plan: Plan, state: State, look: Look) -> None:
    """The sum of each block, as high as the block."""
    deep = plan.matrix.rows_of_block
    rows = plan.shown_rows
    for sample in range(rows.start // deep, -(-rows.stop // deep)):
        columns = range(sample * plan.columns, (sample + 1) * plan.columns)
        _sum_cells(painter, plan, state, columns, look)
        first, last = plan.sum_rect(columns.start), plan.sum_rect(columns.stop - 1)
        painter.setPen(QPen(look.accent, 1.4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(first.united(last))
        painter.setPen(look.accent_ink)
        if first.height() >= plan.line:
            painter.drawText(QRectF(first.left() - 34, first.top(), 34, first.height()), _CENTRE, "=")


def _sum_cells(painter: QPainter, plan: Plan, state: State, columns: range, look: Look) -> None:
    finite = np.isfinite(state.combined)
    most = float(np.max(np.abs(state.combined), initial=0.0, where=finite))
    metrics = QFontMetrics(painter.font())
    readable = plan.cell[0] >= metrics.horizontalAdvance("-0.00") and plan.sum_rect(0).height() >= metrics.height()
    stride = max(int(1 / plan.cell[0]), 1)
    image = image_of(state.combined[None, columns.start : columns.stop], most, (1, stride), look.colors)
    first = plan.sum_rect(columns.start)
    width = image.width() * stride * plan.cell[0]
    painter.drawImage(QRectF(first.topLeft(), QSizeF(width, first.height())), image)
    for column in columns if readable else ():
        if plan.folded or column in plan.shown_columns:
            _number(painter, plan.sum_rect(column), state.combined[column].item(), most, look)
