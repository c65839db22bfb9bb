"""The connection to the window system. Where there is none Qt aborts the process; here that is a sentence."""

from __future__ import annotations

import os

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

from gradviz.texts import tr


def connect(refused: int) -> QApplication:
    """The application of the window. Without a screen it says so and ends the process with the status `refused`."""
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    said: list[str] = []

    def hear(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
        if kind != QtMsgType.QtFatalMsg:
            said.append(message)
            return
        # Qt calls abort() as soon as this returns, so nothing can be raised from here.
        os.write(2, f"gradviz: {_no_screen(said[0] if said else message.splitlines()[0])}\n".encode())
        os._exit(refused)

    before = qInstallMessageHandler(hear)
    application = QApplication(["gradviz"])
    qInstallMessageHandler(before)
    if said:
        os.write(2, "".join(f"{line}\n" for line in said).encode())
    return application


def _no_screen(why: str) -> str:
    return tr(
        "The window cannot be shown: there is no screen here ({why}). Use a command that needs none (gradviz record, "
        "info, explain, seed, export), or log in with a screen.",
        why=why.strip(),
    )
