"""The sum behind a gradient: an element is chosen, and the paths that brought it are listed, the largest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import (
    QGridLayout,
    QListView,
    QSpinBox,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from gradviz.app.background import Errands, Task
from gradviz.app.loading import Story
from gradviz.app.look import Look
from gradviz.app.panels.index_spins import add_spin, index_spin
from gradviz.app.panels.soft_label import SoftLabel
from gradviz.app.path_facts import Sum, Target, Way, sum_of, target_of
from gradviz.app.spins import whole_box
from gradviz.app.texts import tr
from gradviz.model.numbers import number_text

Index = QModelIndex | QPersistentModelIndex
_WAY_ROLE = int(Qt.ItemDataRole.UserRole)
_PADDING = 6
_BAR = 4
_MOST_ROWS_SEEN = 6


class PathsView(QWidget):
    """The paths behind one element of what arrived at a node.

    Signals:
        route_chosen(object): the `Route` of the path that is selected, None when none is any more.
        shown(): the paths of the element that was asked for are there.
        failed(str): the paths could not be found; a sentence.
    """

    route_chosen = Signal(object)
    shown = Signal()
    failed = Signal(str)

    def __init__(self, background: Errands, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._background = background
        self._task: Task[Sum] | None = None
        self._story: Story | None = None
        self._call: int | None = None
        self._target: Target | None = None
        self._outputs = whole_box()
        self.spins: list[QSpinBox] = []
        self._choice = QGridLayout()
        self._chooser = QWidget()
        self._offers = False  # whether there is anything to choose
        self.words = SoftLabel()
        self.note = SoftLabel()
        self.model = PathModel(self)
        self.list = PathList()
        self._painter = PathPainter(look, self)
        self._arrange()

    def _arrange(self) -> None:
        self._outputs.setPrefix(tr("output") + " ")
        self._outputs.setAccessibleName(tr("Output of the node"))
        self._outputs.valueChanged.connect(self._take_output)
        for label, role in ((self.words, "value"), (self.note, "muted")):
            label.setProperty("role", role)
        self.list.setModel(self.model)
        self.list.setItemDelegate(self._painter)
        self.list.setAccessibleName(tr("Paths to this gradient"))
        self.list.selectionModel().currentChanged.connect(lambda *_: self._tell_route())
        self.list.left.connect(lambda: self.list.setCurrentIndex(QModelIndex()))
        self._choice.setContentsMargins(0, 0, 0, 0)
        self._chooser.setLayout(self._choice)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        for widget in (self._chooser, self.words, self.list, self.note):
            layout.addWidget(widget)
        self.hide()

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._painter.look = look
        self.list.doItemsLayout()
        self._fit_list()

    @property
    def ways(self) -> tuple[Way, ...]:
        """The paths that are listed."""
        return self.model.ways

    # -- which element -------------------------------------------------------------------------------------------------

    def set_subject(self, story: Story | None, call: int | None, node: int | None) -> None:
        """Ask for another node; an element that is chosen stays chosen where the shape is the same."""
        target = None if story is None or node is None else target_of(story.timeline, call, node)
        same = target is not None and self._target is not None and target.shapes == self._target.shapes
        self._story, self._call, self._target = story, call, target
        self._cancel()
        self.setVisible(target is not None)
        self._show(Sum("", "", ()))
        if target is None:
            return
        if not same:
            self._offer_outputs(target)
        self.ask()

    def _offer_outputs(self, target: Target) -> None:
        numbers = [number for number, _ in target.shapes]
        self._outputs.blockSignals(True)
        self._outputs.setRange(numbers[0], numbers[-1])
        self._outputs.setValue(numbers[0])
        self._outputs.blockSignals(False)
        self._make_spins()

    def _take_output(self) -> None:
        self._make_spins()
        self.ask()

    def _make_spins(self) -> None:
        while self.spins:
            spin = self.spins.pop()
            self._choice.removeWidget(spin)
            spin.deleteLater()
        self._choice.removeWidget(self._outputs)
        shape = self._shape()
        several = self._target is not None and len(self._target.shapes) > 1
        self._outputs.setVisible(several)
        if several:
            add_spin(self._choice, self._outputs)
        for dimension, size in enumerate(shape or ()):
            spin = index_spin(dimension, size, tr("Index in dimension {n}", n=dimension))
            spin.valueChanged.connect(lambda _: self.ask())
            add_spin(self._choice, spin)
            self.spins.append(spin)
        self._offers = several or any(size > 1 for size in shape or ())
        self._chooser.setVisible(self._offers)

    def _shape(self) -> tuple[int, ...] | None:
        shapes = {} if self._target is None else dict(self._target.shapes)
        return shapes.get(self._outputs.value())

    # -- its sum -------------------------------------------------------------------------------------------------------

    def ask(self) -> None:
        """Find the paths behind the chosen element, in the background."""
        self._cancel()
        story, target, output, shape = self._story, self._target, self._outputs.value(), self._shape()
        if story is None or target is None or shape is None:
            self._show(Sum("", "", ()))
            return
        call, index = self._call, [spin.value() for spin in self.spins]
        self._task = self._background.submit(
            lambda task: sum_of(story.timeline, call, target, output, index, task.check), self._take, self.failed.emit
        )

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _take(self, found: Sum) -> None:
        self._task = None
        self._show(found)
        self.shown.emit()

    def _show(self, found: Sum) -> None:
        self._chooser.setVisible(self._offers and (found.is_recorded or not self._outputs.isHidden()))
        self.words.setText(found.words)
        self.note.setText(found.note)
        self.note.setVisible(bool(found.note))
        self.model.set_ways(found.ways)
        self.list.setVisible(bool(found.ways))
        self._fit_list()
        self._tell_route()

    def _fit_list(self) -> None:
        rows = min(len(self.model.ways), _MOST_ROWS_SEEN)
        self.list.setFixedHeight(rows * self._painter.height() + 2)

    def _tell_route(self) -> None:
        index = self.list.currentIndex()
        self.route_chosen.emit(self.model.ways[index.row()].route if index.isValid() else None)


class PathList(QListView):
    """The list; Escape selects nothing.

    Signals:
        left(): nothing shall be selected any more.
    """

    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setUniformItemSizes(True)

    def keyPressEvent(self, event: Any) -> None:
        """Escape lets the whole graph be seen again."""
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """The keyboard starts at the largest path."""
        super().focusInEvent(event)
        by_key = event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
        if by_key and not self.currentIndex().isValid() and self.model() is not None:
            self.setCurrentIndex(self.model().index(0, 0))


class PathModel(QAbstractListModel):
    """Paths as rows."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.ways: tuple[Way, ...] = ()
        self.most = 0.0

    def set_ways(self, ways: Sequence[Way]) -> None:
        """List other paths."""
        self.beginResetModel()
        self.ways = tuple(ways)
        self.most = max((abs(way.amount) for way in ways), default=0.0)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        """How many rows there are."""
        return 0 if parent.isValid() else len(self.ways)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What is shown of a row, role by role."""
        way = self.ways[index.row()]
        if role == _WAY_ROLE:
            return way
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{number_text(way.amount)}   {way.names}"
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"{number_text(way.amount)}\n{way.names}\n{way.product}"
        return None


class PathPainter(QStyledItemDelegate):
    """Paints a path as its amount with a bar, the names on the way, and the product along it."""

    def __init__(self, look: Look, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.look = look

    def height(self) -> int:
        """The height of a row in pixels."""
        heights = QFontMetrics(self.look.code_font).height() + QFontMetrics(self.look.small_font).height()
        return heights + 2 * _PADDING + _BAR + 2

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """The size that the content wants."""
        return QSize(120, self.height())

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one row."""
        way: Way = index.data(_WAY_ROLE)
        state: Any = option.state
        area = QRectF(option.rect)
        look = self.look
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        chosen = bool(state & QStyle.StateFlag.State_Selected)
        hovered = bool(state & QStyle.StateFlag.State_MouseOver)
        painter.setPen(QPen(look.accent, 1.0) if chosen else Qt.PenStyle.NoPen)
        painter.setBrush(look.accent_soft if chosen else look.hover if hovered else look.panel)
        painter.drawRoundedRect(area.adjusted(1, 1, -1, -1), 5, 5)
        inside = area.adjusted(_PADDING, _PADDING - 1, -_PADDING, 0)
        self._paint_words(painter, inside, way)
        self._paint_bar(painter, QRectF(inside.left(), area.bottom() - _BAR - 4, inside.width(), _BAR), way, index)
        painter.restore()

    def _paint_words(self, painter: QPainter, area: QRectF, way: Way) -> None:
        look, code = self.look, QFontMetrics(self.look.code_font)
        amount = number_text(way.amount)
        room = area.width() - code.horizontalAdvance(amount) - 10
        base = area.top() + code.ascent()
        painter.setFont(look.code_font)
        painter.setPen(look.ink)
        painter.drawText(
            int(area.left()), int(base), code.elidedText(way.names, Qt.TextElideMode.ElideMiddle, int(room))
        )
        painter.setPen(look.accent_ink)
        painter.drawText(int(area.right() - code.horizontalAdvance(amount)), int(base), amount)
        small = QFontMetrics(look.small_font)
        painter.setFont(look.small_font)
        painter.setPen(look.muted)
        below = area.top() + code.height() + small.ascent()
        painter.drawText(
            int(area.left()), int(below), small.elidedText(way.product, Qt.TextElideMode.ElideRight, int(area.width()))
        )

    def _paint_bar(self, painter: QPainter, area: QRectF, way: Way, index: Index) -> None:
        """How much it is of the largest one; a negative amount grows from the right."""
        model = index.model()
        most = model.most if isinstance(model, PathModel) else 0.0
        share = abs(way.amount) / most if most and most < float("inf") and way.amount == way.amount else 0.0
        width = area.width() * min(share, 1.0)
        left = area.right() - width if way.amount < 0 else area.left()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.look.line)
        painter.drawRoundedRect(area, 2, 2)
        painter.setBrush(self.look.leaf if way.amount < 0 else self.look.accent)
        painter.drawRoundedRect(QRectF(left, area.top(), width, area.height()), 2, 2)
