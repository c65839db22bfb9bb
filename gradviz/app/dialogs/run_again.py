"""Asks whether the script of a recording may be run again, to try other seeds at one of its calls."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from gradviz.app.held_calls import HeldCalls
from gradviz.app.texts import tr


def ask_to_run_again(words: str, held_calls: HeldCalls, parent: QWidget) -> QMessageBox:
    """Show the question and hand the answer on."""
    box = QMessageBox(QMessageBox.Icon.Question, tr("Run the script again?"), words, parent=parent.window())
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    run = box.addButton(tr("Run it again"), QMessageBox.ButtonRole.AcceptRole)
    box.addButton(QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(run)
    box.finished.connect(lambda _: held_calls.agree() if box.clickedButton() is run else held_calls.refuse())
    box.open()
    return box
