"""What stands in the place of the graph before a script has run: what will run, and the question whether it may."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gradviz.app.interpreters import Candidate
from gradviz.app.texts import tr
from gradviz.runner import Target


class AskPage(QWidget):
    """Shows interpreter, arguments and folder of a script; all can be changed before it runs.

    Signals:
        accepted(Target, str): run this; the second says what to remember: "once", "file" or "folder".
        refused(): do not run it.
    """

    accepted = Signal(object, str)
    refused = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._script = ""
        self.setProperty("role", "paper")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.question = QLabel()
        self.why = QLabel()
        self.python = QComboBox()
        self.arguments = QLineEdit()
        self.folder = QLineEdit()
        self.always = QCheckBox()
        self.run = QPushButton(tr("Run"))
        self.cancel = QPushButton(tr("Do not run"))
        self._arrange()
        self.run.clicked.connect(self._accept)
        self.cancel.clicked.connect(self.refused)

    def _arrange(self) -> None:
        self.question.setProperty("role", "title")
        self.question.setWordWrap(True)
        self.why.setProperty("role", "muted")
        self.why.setWordWrap(True)
        self.python.setEditable(True)
        self.python.setAccessibleName(tr("Interpreter"))
        line = self.python.lineEdit()
        if line is not None:
            line.setAccessibleName(tr("Interpreter"))
        self.python.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.python.setMinimumContentsLength(24)
        self.arguments.setPlaceholderText(tr("none"))
        self.arguments.setAccessibleName(tr("Arguments of the script"))
        self.folder.setAccessibleName(tr("Working directory"))
        self.run.setProperty("role", "primary")
        browse = QToolButton()
        browse.setText("…")
        browse.setToolTip(tr("Choose the folder"))
        browse.setAccessibleName(tr("Choose the folder"))
        browse.clicked.connect(self._browse)
        folder = QHBoxLayout()
        folder.addWidget(self.folder, 1)
        folder.addWidget(browse)
        self._place(folder)

    def _place(self, folder: QHBoxLayout) -> None:
        form = QFormLayout()
        form.setHorizontalSpacing(14)
        form.setVerticalSpacing(8)
        form.addRow(tr("Interpreter"), self.python)
        form.addRow(tr("Arguments"), self.arguments)
        form.addRow(tr("Folder"), folder)
        buttons = QHBoxLayout()
        buttons.addWidget(self.run)
        buttons.addWidget(self.cancel)
        buttons.addStretch(1)
        card = QFrame()
        card.setProperty("role", "card")
        card.setMaximumWidth(560)
        inside = QVBoxLayout(card)
        inside.setContentsMargins(26, 22, 26, 20)
        inside.setSpacing(12)
        for part in (self.question, self.why):
            inside.addWidget(part)
        inside.addLayout(form)
        inside.addWidget(self.always)
        inside.addLayout(buttons)
        layout = QVBoxLayout(self)
        layout.addStretch(2)
        middle = QHBoxLayout()
        middle.addStretch(1)
        middle.addWidget(card, 6)
        middle.addStretch(1)
        layout.addLayout(middle)
        layout.addStretch(3)

    def ask(self, target: Target, trusted: bool) -> None:
        """Show what would run. A script that is trusted is only asked about what runs, not whether it may."""
        script = target.script or ""
        self._script = script
        name = os.path.basename(script)
        folder = os.path.dirname(os.path.abspath(script))
        self.question.setText(tr("Run {name}?", name=name))
        self.why.setText(
            tr(
                "gradviz runs the script as it is, in a process of its own, and records what its backward calls do. "
                "A script can do anything that you can do: run only what you trust."
            )
        )
        self.why.setVisible(not trusted)
        self.always.setText(tr("Always run scripts in {folder}", folder=_short(folder)))
        self.always.setToolTip(folder)
        self.always.setVisible(not trusted)
        self.always.setChecked(False)
        self.python.clear()
        self.python.addItem(target.python, target.python)
        self.arguments.setText(shlex.join(target.argv))
        self.folder.setText(target.cwd or folder)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter runs (unless it is on the other button), Escape does not: as in a dialog."""
        entered = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if event.key() == Qt.Key.Key_Escape or (entered and self.cancel.hasFocus()):
            self.refused.emit()
        elif entered:
            self._accept()
        else:
            super().keyPressEvent(event)

    def offer(self, candidates: Sequence[Candidate]) -> None:
        """Offer the Pythons that were found, each with the torch that it has."""
        chosen = self.chosen_python
        self.python.clear()
        paths = [candidate.path for candidate in candidates]
        for candidate in candidates:
            torch = f"torch {candidate.torch}" if candidate.torch else tr("no torch")
            self.python.addItem(f"{candidate.label} · Python {candidate.version} · {torch}", candidate.path)
            self.python.setItemData(self.python.count() - 1, candidate.path, Qt.ItemDataRole.ToolTipRole)
        if chosen not in paths:
            self.python.insertItem(0, chosen, chosen)
        self.python.setCurrentIndex(self.python.findData(chosen))

    @property
    def chosen_python(self) -> str:
        """The path of the interpreter, chosen from the list or typed."""
        place = self.python.currentIndex()
        if place >= 0 and self.python.currentText() == self.python.itemText(place):
            return str(self.python.itemData(place))
        return self.python.currentText().strip() or sys.executable

    def _accept(self) -> None:
        try:
            argv = tuple(shlex.split(self.arguments.text()))
        except ValueError:
            self.arguments.setFocus()
            self.arguments.selectAll()
            self.arguments.setToolTip(tr("A quotation mark is open."))
            return
        target = Target(self._script, None, argv, self.chosen_python, self.folder.text() or None)
        self.accepted.emit(target, "folder" if self.always.isChecked() else "file")

    def _browse(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, tr("The folder in which the script runs"), self.folder.text())
        if folder:
            self.folder.setText(folder)


def _short(folder: str) -> str:
    """The last parts of a folder's path."""
    parts = folder.rstrip(os.sep).split(os.sep)
    return folder if len(parts) <= 3 else os.path.join("…", *parts[-2:])
