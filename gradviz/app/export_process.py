"""Exports by running `gradviz export` as a process: what the window writes is what the command writes."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTemporaryDir, Signal

from gradviz.app.files import write_whole
from gradviz.app.texts import tr
from gradviz.model import ViewState
from gradviz.texts import OVERRIDE, language


@dataclass(frozen=True)
class ExportWish:
    """What is to be made: of which recording, how it is seen, in which format, with which options of the command."""

    recording: str
    view: ViewState
    format: str
    options: tuple[str, ...] = ()

    def words(self, output: str, view_file: str) -> list[str]:
        """The words of the command after `gradviz`."""
        return ["export", self.recording, "-o", output, "--view", view_file, "--force", *self.options]


def shell_line(wish: ExportWish, output: str, view_file: str) -> str:
    """The command for a shell, a line to paste."""
    return shlex.join(["gradviz", *wish.words(output, view_file)])


class ExportProcess(QObject):
    """One export at a time, into a folder that is removed with this object.

    Signals:
        finished(str): the path of the file that was made.
        failed(str): the command's own words about what went wrong.
    """

    finished = Signal(str)
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = QTemporaryDir()
        self._process: QProcess | None = None
        self._output = ""
        self._count = 0

    @property
    def busy(self) -> bool:
        """Whether a file is being made."""
        return self._process is not None

    def start(self, wish: ExportWish) -> None:
        """Make a file; one that is being made is given up."""
        self.cancel()
        self._count += 1
        self._output = self._folder.filePath(f"picture-{self._count}.{wish.format}")
        view = self._folder.filePath("view.json")
        write_whole(view, wish.view.to_json().encode())
        process = QProcess(self)
        self._process = process
        # Bound methods, which PySide holds weakly: a closure over `self` in a child's connection would keep this object
        # alive until the child is deleted, and then delete it in the midst of that.
        process.finished.connect(self._end)
        process.errorOccurred.connect(self._break)
        environment = QProcessEnvironment.systemEnvironment()
        environment.insert(OVERRIDE, language())  # what it says of its work is shown in the window
        process.setProcessEnvironment(environment)
        # -P: the folder in which the window was started must not lend its modules to the command.
        process.start(sys.executable, ["-P", "-m", "gradviz", *wish.words(self._output, view)])

    def cancel(self) -> None:
        """Give up what is being made."""
        process, self._process = self._process, None
        if process is not None:
            process.finished.disconnect(self._end)
            process.errorOccurred.disconnect(self._break)
            process.kill()
            process.waitForFinished(2000)
            process.deleteLater()

    def close(self) -> None:
        """Give up and remove the folder."""
        self.cancel()
        self._folder.remove()

    def _end(self, code: int, status: QProcess.ExitStatus) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        words = bytes(process.readAllStandardError().data()).decode(errors="replace").strip()
        process.deleteLater()
        if code == 0 and os.path.exists(self._output):
            self.finished.emit(self._output)
        else:
            self.failed.emit(words.removeprefix("gradviz: ") or tr("The export ended with status {n}.", n=code))

    def _break(self, error: QProcess.ProcessError) -> None:
        process = self._process
        if process is not None and error == QProcess.ProcessError.FailedToStart:
            self._process = None
            self.failed.emit(tr("The export could not be started: {why}.", why=process.errorString()))


def size_text(size: int) -> str:
    """A number of bytes: `84 KB`."""
    units: Sequence[tuple[int, str]] = ((1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "KB"))
    for factor, unit in units:
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size} B"
