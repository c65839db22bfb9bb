"""The dock of the script's output: stdout and stderr told apart, and a line for `input()`."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QColor, QGuiApplication, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gradviz.app.console_lines import MOST_LINES, ConsoleLines, Line, as_text
from gradviz.app.icons import icon
from gradviz.app.look import Look
from gradviz.app.texts import tr

FLUSH_MS = 60  # output that pours in is shown so often; each time at most what is kept
_CHUNK = 400  # lines put in at once, so that the event loop breathes in between


class ConsolePanel(QWidget):
    """Shows `ConsoleLines`; `wake` may be called whenever lines were fed.

    Signals:
        entered(str): the user typed a line for the script's stdin.
    """

    entered = Signal(str)

    def __init__(self, lines: ConsoleLines, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines = lines
        self._look = look
        self._formats: dict[str, QTextCharFormat] = {}
        self._waiting: list[Line] = []
        self._blank = True  # nothing was put in yet; an empty document may also hold one empty line
        self.view = QPlainTextEdit(self)
        self.filter = QComboBox(self)
        self.input = QLineEdit(self)
        self._copy = QToolButton(self)
        self._count = QLabel(self)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(FLUSH_MS)
        self._timer.timeout.connect(self._flush)
        self._prepare()
        self.set_look(look)

    def _prepare(self) -> None:
        self.view.setReadOnly(True)
        self.view.setUndoRedoEnabled(False)
        self.view.setMaximumBlockCount(MOST_LINES)
        self.view.setProperty("role", "code")
        self.view.setAccessibleName(tr("Output of the script"))
        self.view.setPlaceholderText(tr("What the script prints appears here."))
        for text, stream in ((tr("Everything"), ""), (tr("Output"), "stdout"), (tr("Errors"), "stderr")):
            self.filter.addItem(text, stream)
        self.filter.setAccessibleName(tr("Which stream is shown"))
        self.filter.currentIndexChanged.connect(self._show_all)
        self.input.setPlaceholderText(tr("A line for input(), then Enter"))
        self.input.setAccessibleName(tr("Input for the script"))
        self.input.returnPressed.connect(self._enter)
        self.input.hide()
        self._copy.setToolTip(tr("Copy the whole output"))
        self._copy.setAccessibleName(tr("Copy the whole output"))
        self._copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(as_text(self._shown_lines())))
        bar = QHBoxLayout()
        bar.setContentsMargins(0, 0, 0, 2)
        for widget in (self.filter, self._count):
            bar.addWidget(widget)
        bar.addStretch(1)
        bar.addWidget(self._copy)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 0, 8, 6)
        layout.setSpacing(2)
        layout.addLayout(bar)
        layout.addWidget(self.view, 1)
        layout.addWidget(self.input)

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._look = look
        self.view.setFont(look.code_font)
        self._copy.setIcon(icon("copy", look))
        for stream, colour in (("stdout", look.ink), ("stderr", look.error), ("note", look.muted)):
            self._formats[stream] = _format(colour, italic=stream == "note")
        self._show_all()

    def set_running(self, running: bool) -> None:
        """Offer the input line while a script runs."""
        self.input.setVisible(running)

    def wake(self) -> None:
        """Lines were fed: show them soon."""
        if not self._timer.isActive():
            self._timer.start()

    def restart(self) -> None:
        """Forget what was printed."""
        self._lines.clear()
        self._waiting = []
        self._empty()
        self._count.clear()

    # -- showing -------------------------------------------------------------------------------------------------------

    def _shown_lines(self) -> list[Line]:
        stream = self.filter.currentData()
        return [line for line in self._lines.lines if not stream or line.stream in (stream, "note")]

    def _show_all(self) -> None:
        self._lines.news()
        self._empty()
        self._waiting = self._shown_lines()
        self._flush()

    def _flush(self) -> None:
        news = self._lines.news()
        stream = self.filter.currentData()
        fresh = [line for line in news.lines if not stream or line.stream in (stream, "note")]
        if news.dropped:
            self._waiting = []
            self._empty()
        if news.replaces_last and fresh and not stream:
            self._replace_last(fresh.pop(0))
        self._waiting = [*self._waiting, *fresh][-MOST_LINES:]
        self._put(self._waiting[:_CHUNK])
        self._waiting = self._waiting[_CHUNK:]
        if self._waiting:
            self._timer.start(0)
        else:
            self._timer.setInterval(FLUSH_MS)
        count = len(self._lines.lines)
        self._count.setText(tr("last {n} lines", n=f"{count:,}") if count >= MOST_LINES else "")

    def _replace_last(self, line: Line) -> None:
        if self._waiting:
            self._waiting[-1] = line
            return
        cursor = QTextCursor(self.view.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.select(QTextCursor.SelectionType.BlockUnderCursor)
        self._blank = self.view.blockCount() == 1
        cursor.removeSelectedText()
        self._waiting = [line]

    def _empty(self) -> None:
        self.view.clear()
        self._blank = True

    def _put(self, lines: list[Line]) -> None:
        if not lines:
            return
        bar = self.view.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 2
        cursor = QTextCursor(self.view.document())
        cursor.beginEditBlock()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        for line in lines:
            if not self._blank:
                cursor.insertBlock()
            self._blank = False
            cursor.insertText(line.text, self._formats[line.stream])
        cursor.endEditBlock()
        if at_end:
            bar.setValue(bar.maximum())

    def _enter(self) -> None:
        self.entered.emit(self.input.text())
        self.input.clear()


def _format(colour: QColor, italic: bool) -> QTextCharFormat:
    made = QTextCharFormat()
    made.setForeground(colour)
    made.setFontItalic(italic)
    return made
