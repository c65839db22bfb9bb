"""The command palette: any action by a few letters of its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QPainter, QPixmap
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLineEdit,
    QListView,
    QMenu,
    QMenuBar,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from gradviz.app.actions import plain_words
from gradviz.app.texts import tr

_SIZE = (560, 420)
_ICON = QSize(18, 18)
_KEYS = Qt.ItemDataRole.UserRole
_EDGE = 8  # pixels between the keys and the border


@dataclass(frozen=True)
class Command:
    """An action under the words by which it is found: `Zoom in`, `Theme: Dark`."""

    words: str
    action: QAction


def commands_of(bar: QMenuBar) -> tuple[Command, ...]:
    """Every action of the menus that can be used now, those of submenus with the submenu's name before them."""
    menus = [entry.menu() for entry in bar.actions()]
    return tuple(command for menu in menus if isinstance(menu, QMenu) for command in _inside(menu, ""))


def _inside(menu: QMenu, before: str) -> Iterator[Command]:
    for action in menu.actions():
        inner = action.menu()
        if action.isSeparator() or not (action.isEnabled() and action.isVisible()):
            continue
        if isinstance(inner, QMenu):
            yield from _inside(inner, name(action) + ": ")
        else:
            yield Command(before + name(action), action)


class CommandPalette(QFrame):
    """Lists commands; Enter triggers the chosen one. Lies over the window until it is left."""

    def __init__(self, commands: Sequence[Command], parent: QWidget) -> None:
        super().__init__(parent)
        self._window = parent
        self._commands = commands
        self._before: QWidget | None = None  # had the keyboard, and gets it back
        self.line = QLineEdit(self)
        self.line.setPlaceholderText(tr("What do you want to do?"))
        self.line.setAccessibleName(tr("Command"))
        self.model = _CommandModel(self)
        self.list = QListView(self)
        self.list.setModel(self.model)
        self.list.setAccessibleName(tr("Commands"))
        self.list.setItemDelegate(_Row(self.list))
        self.list.setIconSize(_ICON)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.addWidget(self.line)
        layout.addWidget(self.list)
        self.resize(*_SIZE)
        self.setProperty("role", "card")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.line.textChanged.connect(self._fill)
        self.line.installEventFilter(self)
        self.list.clicked.connect(self._run)
        self._fill()

    def begin(self) -> None:
        """Show it over the upper middle of the window."""
        self._before = QApplication.focusWidget()
        if self._before is not None:
            self._before.destroyed.connect(self._forget)
        self.move((self._window.width() - self.width()) // 2, 90)
        self.show()
        self.raise_()
        self.line.setFocus(Qt.FocusReason.PopupFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys that belong to the list although the line has the focus."""
        if event.type() == QEvent.Type.FocusOut and not self.list.hasFocus():
            self.close()
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() == Qt.Key.Key_Escape:
                self._leave()
                return True
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
                self._choose(self.list.currentIndex().row() + (1 if event.key() == Qt.Key.Key_Down else -1))
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._run(self.list.currentIndex())
                return True
        return super().eventFilter(watched, event)

    def _fill(self) -> None:
        ranked = [(score(self.line.text(), command.words), place) for place, command in enumerate(self._commands)]
        fitting = sorted((found, place) for found, place in ranked if found is not None)
        self.model.set_commands([self._commands[place] for _, place in fitting])
        self._choose(0)

    def _choose(self, row: int) -> None:
        self.list.setCurrentIndex(self.model.index(min(max(row, 0), self.model.rowCount() - 1)))

    def _run(self, index: QModelIndex) -> None:
        if index.isValid():
            action = self.model.commands[index.row()].action
            self._leave()
            action.trigger()

    def _forget(self) -> None:
        self._before = None

    def _leave(self) -> None:
        """Close; left to itself, Qt would give the keyboard to the first button of the window."""
        before = self._before
        if before is not None and before.isVisible():
            before.setFocus(Qt.FocusReason.PopupFocusReason)
        self.close()


class _CommandModel(QAbstractListModel):
    """The commands that fit.

    Not items of a `QListWidget`: each has an object of Python's beside it, and the interpreter died where a palette
    that was closed let go of them.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.commands: Sequence[Command] = ()
        self._empty = QPixmap(_ICON)
        self._empty.fill(Qt.GlobalColor.transparent)

    def set_commands(self, commands: Sequence[Command]) -> None:
        self.beginResetModel()
        self.commands = commands
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.commands)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        command = self.commands[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return command.words
        if role == Qt.ItemDataRole.DecorationRole:
            return self._empty if command.action.icon().isNull() else command.action.icon()
        if role == Qt.ItemDataRole.ToolTipRole:
            return command.action.statusTip()
        if role == _KEYS:
            return command.action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        return None


class _Row(QStyledItemDelegate):
    """Writes the keys of an action at the right end of its row."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().paint(painter, option, index)
        area: QRect = option.rect.adjusted(0, 0, -_EDGE, 0)
        painter.save()
        painter.setPen(option.palette.placeholderText().color())
        painter.drawText(area, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, index.data(_KEYS))
        painter.restore()


def name(action: QAction) -> str:
    """The words of an action without the marks of its menu: `&Open …`, and `导出(&E)…` in Chinese."""
    return plain_words(action.text())


def score(typed: str, words: str) -> tuple[int, int] | None:
    """How badly `words` fit what was typed: (kind of match, place of it), smaller is better; None when not at all.

    A beginning is best, then the beginning of a word, then anywhere, then the letters in this order.
    """
    typed, words = typed.casefold().strip(), words.casefold()
    if not typed or words.startswith(typed):
        return 0, 0
    if (at := words.find(f" {typed}")) >= 0:
        return 1, at
    if (at := words.find(typed)) >= 0:
        return 2, at
    place = -1
    for letter in typed:
        place = words.find(letter, place + 1)
        if place < 0:
            return None
    return 3, place
