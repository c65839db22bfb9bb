"""The script's text with its gutter: line numbers, which lines made nodes, what is tinted, what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from gradviz.app.look import Look
from gradviz.app.panels.highlight import Span

_MARK_WIDTH = 4
_HEAT_WIDTH = 3
_GAP = 7


@dataclass(frozen=True, slots=True)
class LineMark:
    """What the gutter says of a line: the colour of its bar and, where a gradient is known, that of its heat."""

    colour: QColor
    tip: str
    heat: QColor | None = None


class SourceView(QPlainTextEdit):
    """A read-only text with a gutter.

    Signals:
        line_chosen(int): the user clicked or pressed Enter on this line (from 1).
    """

    line_chosen = Signal(int)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._marks: Mapping[int, LineMark] = {}
        self._tints: dict[int, QColor] = {}
        self._errors: Mapping[int, str] = {}
        self._gutter = _Gutter(self)
        self._colours = _Colours(self.document(), look)
        self.setReadOnly(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        # A caret makes lines reachable by keyboard, which a mere read-only text does not.
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.blockCountChanged.connect(self._make_room)
        self.updateRequest.connect(self._follow)
        self.set_look(look)

    def set_look(self, look: Look) -> None:
        """Take other colours and fonts."""
        self._look = look
        self.setFont(look.code_font)
        self.setTabStopDistance(4 * self.fontMetrics().horizontalAdvance(" "))
        self._colours.set_look(look)
        self._make_room()
        self._show_tints()

    def set_text(self, text: str, spans: Sequence[Sequence[Span]]) -> None:
        """Show another text."""
        self._colours.spans = ()
        self.setPlainText(text)
        self._colours.spans = spans
        self._colours.rehighlight()

    def set_marks(self, marks: Mapping[int, LineMark]) -> None:
        """Mark lines (from 1) in the gutter."""
        self._marks = marks
        self._gutter.update()

    def set_tints(self, tints: Mapping[int, QColor]) -> None:
        """Lay a colour behind lines (from 1)."""
        if dict(tints) != self._tints:
            self._tints = dict(tints)
            self._show_tints()

    def set_errors(self, errors: Mapping[int, str]) -> None:
        """Underline lines (from 1) that went wrong; the text is the tool tip."""
        self._errors = errors
        self._show_tints()

    def mark(self, line: int) -> LineMark | None:
        """What the gutter says of a line."""
        return self._marks.get(line)

    @property
    def tints(self) -> Mapping[int, QColor]:
        """The tinted lines."""
        return self._tints

    @property
    def errors(self) -> Mapping[int, str]:
        """The underlined lines and why."""
        return self._errors

    def reveal(self, line: int) -> None:
        """Scroll so that the line is seen; nothing moves when it is already."""
        block = self.document().findBlockByNumber(line - 1)
        if not block.isValid():
            return
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        if not 0 <= top <= self.viewport().height() - 2 * self.fontMetrics().height():
            self.verticalScrollBar().setValue(max(line - 1 - self._visible_lines() // 3, 0))

    # -- input ---------------------------------------------------------------------------------------------------------

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click without a selection chooses its line."""
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            self.choose_at(event.position().toPoint())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter chooses the line of the caret."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.line_chosen.emit(self.textCursor().blockNumber() + 1)
            return
        super().keyPressEvent(event)

    def choose_at(self, point: QPoint) -> None:
        """Choose the line at a point of the viewport."""
        line = self.cursorForPosition(point).blockNumber() + 1
        self.line_chosen.emit(line)

    def tip_at(self, point: QPoint) -> str:
        """The words about the line at a point of the viewport."""
        line = self.cursorForPosition(point).blockNumber() + 1
        mark = self._marks.get(line)
        return "\n".join(filter(None, (self._errors.get(line), mark.tip if mark else None)))

    # -- gutter --------------------------------------------------------------------------------------------------------

    @property
    def gutter_width(self) -> int:
        """Room for the numbers and the bars, in pixels."""
        digits = max(2, len(str(max(1, self.blockCount()))))
        return self.fontMetrics().horizontalAdvance("9") * digits + _MARK_WIDTH + 3 * _GAP

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the gutter as high as the text."""
        super().resizeEvent(event)
        area = self.contentsRect()
        self._gutter.setGeometry(QRect(area.left(), area.top(), self.gutter_width, area.height()))

    def paint_gutter(self, event: QPaintEvent) -> None:
        """Paint numbers and bars beside the visible lines."""
        painter = QPainter(self._gutter)
        painter.fillRect(event.rect(), self._look.panel)
        painter.setFont(self.font())
        block = self.firstVisibleBlock()
        offset = self.contentOffset()
        while block.isValid():
            area = self.blockBoundingGeometry(block).translated(offset)
            if area.top() > event.rect().bottom():
                break
            if block.isVisible():
                self._paint_line(painter, block, int(area.top()), int(area.height()))
            block = block.next()

    def _paint_line(self, painter: QPainter, block: QTextBlock, top: int, height: int) -> None:
        line = block.blockNumber() + 1
        width = self._gutter.width()
        if line in self._tints:
            painter.fillRect(QRect(0, top, width, height), self._tints[line])
        painter.setPen(self._look.error if line in self._errors else self._look.faint)
        numbers = QRect(0, top, width - _MARK_WIDTH - 2 * _GAP, height)
        painter.drawText(numbers, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(line))
        mark = self._marks.get(line)
        if mark is not None:
            bar = QRect(width - _MARK_WIDTH - _GAP, top + 2, _MARK_WIDTH, height - 4)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(mark.colour)
            painter.drawRoundedRect(bar, 2, 2)
            if mark.heat is not None:
                painter.fillRect(QRect(width - _HEAT_WIDTH, top, _HEAT_WIDTH, height), mark.heat)

    def _make_room(self) -> None:
        self.setViewportMargins(self.gutter_width, 0, 0, 0)
        area = self.contentsRect()
        self._gutter.setGeometry(QRect(area.left(), area.top(), self.gutter_width, area.height()))

    def _follow(self, area: QRect, scrolled: int) -> None:
        if scrolled:
            self._gutter.scroll(0, scrolled)
        else:
            self._gutter.update(0, area.y(), self._gutter.width(), area.height())

    def _visible_lines(self) -> int:
        return max(1, self.viewport().height() // max(1, self.fontMetrics().lineSpacing()))

    def _show_tints(self) -> None:
        selections = [self._selection(line, colour) for line, colour in self._tints.items()]
        selections += [self._squiggle(line) for line in self._errors]
        self.setExtraSelections([selection for selection in selections if selection is not None])
        self._gutter.update()

    def _selection(self, line: int, colour: QColor) -> QTextEdit.ExtraSelection | None:
        block = self.document().findBlockByNumber(line - 1)
        if not block.isValid():
            return None
        found = QTextEdit.ExtraSelection()
        made = QTextCharFormat()
        made.setBackground(colour)
        made.setProperty(QTextFormat.Property.FullWidthSelection, True)
        found.format = made
        found.cursor = QTextCursor(block)
        return found

    def _squiggle(self, line: int) -> QTextEdit.ExtraSelection | None:
        block = self.document().findBlockByNumber(line - 1)
        if not block.isValid():
            return None
        found = QTextEdit.ExtraSelection()
        made = QTextCharFormat()
        made.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        made.setUnderlineColor(self._look.error)
        cursor = QTextCursor(block)
        text = block.text()
        cursor.movePosition(
            QTextCursor.MoveOperation.NextCharacter, QTextCursor.MoveMode.MoveAnchor, len(text) - len(text.lstrip())
        )
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        found.format = made
        found.cursor = cursor
        return found


class _Gutter(QWidget):
    """The strip left of the text; a click on it chooses the line."""

    def __init__(self, view: SourceView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self) -> QSize:
        """The size that the content wants."""
        return QSize(self._view.gutter_width, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what is shown."""
        self._view.paint_gutter(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click chooses."""
        self._view.choose_at(QPoint(0, int(event.position().y())))


class _Colours(QSyntaxHighlighter):
    """Applies spans that were found before; lexing here would hold the event loop on long files."""

    def __init__(self, document: QTextDocument, look: Look) -> None:
        super().__init__(document)
        self.spans: Sequence[Sequence[Span]] = ()
        self._formats: dict[str, QTextCharFormat] = {}
        self.set_look(look)

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._formats = {role: _format(colour, role) for role, colour in look.code.items()}
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        """Colour one line."""
        line = self.currentBlock().blockNumber()
        for span in self.spans[line] if line < len(self.spans) else ():
            self.setFormat(span.start, span.length, self._formats[span.role])


def _format(colour: QColor, role: str) -> QTextCharFormat:
    made = QTextCharFormat()
    made.setForeground(colour)
    if role == "comment":
        made.setFontItalic(True)
    return made
