"""Notices when the script on the disk is no longer the one that ran."""

from __future__ import annotations

import hashlib
import os

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

_SETTLE_MS = 250  # editors write in several steps: a temporary file, a rename


class ScriptWatch(QObject):
    """Watches one file.

    Signals:
        changed(): the file's content is another one than when it was last `seen`.
        looked(): something happened to the file, and it was looked at.
    """

    changed = Signal()
    looked = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path: str | None = None
        self._digest = b""
        self._watcher = QFileSystemWatcher(self)
        self._watcher.fileChanged.connect(self._wait)
        self._watcher.directoryChanged.connect(self._wait)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_SETTLE_MS)
        self._timer.timeout.connect(self._look)

    def watch(self, path: str) -> None:
        """Watch this file from now on."""
        self.stop()
        self._path = path
        # The folder too: an editor that saves by renaming makes a new file, which the watch on the old one misses.
        self._watcher.addPaths([path, os.path.dirname(path)])
        self.seen()

    def seen(self) -> None:
        """What is on the disk now is what runs."""
        self._digest = self._read()

    def stop(self) -> None:
        """Watch nothing."""
        self._timer.stop()
        watched = [*self._watcher.files(), *self._watcher.directories()]
        if watched:
            self._watcher.removePaths(watched)
        self._path = None

    def _wait(self) -> None:
        self._timer.start()

    def _look(self) -> None:
        if self._path is None:
            return
        if self._path not in self._watcher.files() and os.path.exists(self._path):
            self._watcher.addPath(self._path)
        digest = self._read()
        if digest and digest != self._digest:
            self._digest = digest
            self.changed.emit()
        self.looked.emit()

    def _read(self) -> bytes:
        try:
            with open(self._path or "", "rb") as file:
                return hashlib.sha256(file.read()).digest()
        except OSError:
            return b""
