"""The tree of calls as a Qt model, and the way a row is painted: a card with the call's number in its colour."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from gradviz.app.call_tree import Entry
from gradviz.app.call_words import call_words
from gradviz.app.look import Look

ENTRY_ROLE = int(Qt.ItemDataRole.UserRole)
Index = QModelIndex | QPersistentModelIndex
_PADDING = 8
_RADIUS = 11


@dataclass(frozen=True, slots=True)
class _Row:
    entry: Entry
    parent: int  # place of the parent in the list of rows, -1 at the top
    row: int


class CallModel(QAbstractItemModel):
    """Rows by their place in one list, depth first, so that an index is an int."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[_Row] = []
        self._children: list[list[int]] = []
        self._top: list[int] = []
        self._by_number: dict[int, int] = {}

    def set_entries(self, entries: Sequence[Entry]) -> None:
        """Show other rows."""
        self.beginResetModel()
        self._rows, self._children, self._top, self._by_number = [], [], [], {}
        waiting = [(entry, -1, row) for row, entry in reversed(list(enumerate(entries)))]
        while waiting:
            entry, parent, row = waiting.pop()
            place = len(self._rows)
            self._rows.append(_Row(entry, parent, row))
            self._children.append([])
            (self._top if parent < 0 else self._children[parent]).append(place)
            if entry.kind == "call" and entry.number is not None:
                self._by_number[entry.number] = place
            waiting.extend((child, place, row) for row, child in reversed(list(enumerate(entry.children))))
        self.endResetModel()

    def entry(self, index: Index) -> Entry:
        """The entry of a row."""
        return self._rows[index.internalId()].entry

    def of_call(self, number: int) -> QModelIndex:
        """The row of a call; invalid when there is none."""
        place = self._by_number.get(number)
        return QModelIndex() if place is None else self._index(place)

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008 (Qt's signature)
        """The index of a row."""
        places = self._children[parent.internalId()] if parent.isValid() else self._top
        return self._index(places[row]) if 0 <= row < len(places) and column == 0 else QModelIndex()

    def parent(self, index: Index) -> QModelIndex:  # type: ignore[override]
        """The row above."""
        above = self._rows[index.internalId()].parent if index.isValid() else -1
        return self._index(above) if above >= 0 else QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """How many rows there are."""
        return len(self._children[parent.internalId()] if parent.isValid() else self._top)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """How many columns there are."""
        return 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What is shown of a cell, role by role."""
        entry = self._rows[index.internalId()].entry
        if role == ENTRY_ROLE:
            return entry
        if role == Qt.ItemDataRole.DisplayRole:
            return entry.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{entry.title}\n{entry.detail}"
        if role == Qt.ItemDataRole.AccessibleTextRole:
            call = call_words(entry.label) if entry.label else ""
            return ", ".join(filter(None, (call, entry.title, entry.detail)))
        return None

    def _index(self, place: int) -> QModelIndex:
        return self.createIndex(self._rows[place].row, 0, place)


class CallPainter(QStyledItemDelegate):
    """Paints a row as a card. `colour_of` gives the colour of a call's number."""

    def __init__(self, look: Look, colour_of: Callable[[int], QColor], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.look = look
        self._colour_of = colour_of
        self.current: int | None = None

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """The size that the content wants."""
        heights = QFontMetrics(self.look.code_font).height() + QFontMetrics(self.look.small_font).height()
        return QSize(120, heights + 2 * _PADDING + 6)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one row."""
        entry: Entry = index.data(ENTRY_ROLE)
        area: Any = option.rect
        state: Any = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        card = QRectF(area).adjusted(2, 2, -2, -2)
        self._paint_card(painter, card, entry, state)
        self._paint_badge(painter, QPointF(card.left() + _PADDING + _RADIUS, card.center().y()), entry)
        self._paint_words(painter, card.adjusted(2 * _PADDING + 2 * _RADIUS + 2, _PADDING - 1, -_PADDING, 0), entry)
        painter.restore()

    def _paint_card(self, painter: QPainter, card: QRectF, entry: Entry, state: QStyle.StateFlag) -> None:
        look = self.look
        chosen = entry.kind == "call" and entry.number is not None and entry.number == self.current
        edge = look.accent if chosen else look.line
        pen = QPen(edge, 1.0)
        if entry.what_if:
            pen.setStyle(Qt.PenStyle.DashLine)
        if state & QStyle.StateFlag.State_HasFocus:
            pen = QPen(look.focus, 2.0)
        hovered = bool(state & QStyle.StateFlag.State_MouseOver)
        painter.setPen(pen)
        painter.setBrush(look.accent_soft if chosen else look.hover if hovered else look.panel)
        painter.drawRoundedRect(card, 6, 6)

    def _paint_badge(self, painter: QPainter, centre: QPointF, entry: Entry) -> None:
        look = self.look
        if entry.kind == "call" and entry.number is not None:
            colour = look.error if entry.failed else self._colour_of(entry.number)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawEllipse(centre, _RADIUS, _RADIUS)
            painter.setPen(look.on(colour))
        else:
            painter.setPen(QPen(look.error if entry.failed else look.line, 1.0))
            painter.setBrush(look.panel)
            painter.drawEllipse(centre, _RADIUS, _RADIUS)
            painter.setPen(look.muted)
        painter.setFont(look.badge_font)
        text = "!" if entry.failed else "?" if entry.what_if else entry.label or "↻"
        box = QRectF(centre.x() - 2 * _RADIUS, centre.y() - _RADIUS, 4 * _RADIUS, 2 * _RADIUS)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text if len(text) <= 3 else "…" + text[-2:])

    def _paint_words(self, painter: QPainter, area: QRectF, entry: Entry) -> None:
        look = self.look
        for text, font, colour in (
            (entry.title, look.code_font, look.ink),
            (entry.detail, look.small_font, look.error if entry.failed else look.muted),
        ):
            metrics = QFontMetrics(font)
            painter.setFont(font)
            painter.setPen(colour)
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, int(area.width()))
            painter.drawText(QPointF(area.left(), area.top() + metrics.ascent()), shown)
            area.setTop(area.top() + metrics.height() + 3)
