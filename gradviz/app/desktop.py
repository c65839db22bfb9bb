"""Makes gradviz known to the desktop: a menu entry, an icon, and that `.gradviz` files open with it.

Linux: files of the freedesktop.org specifications (desktop entry, shared MIME-info, icon theme) in the user's own
folders. Windows: keys below HKEY_CURRENT_USER\\Software\\Classes. macOS has no such files: there the program is told
what to open by an event (`FileOpener`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QFileOpenEvent

from gradviz.app.texts import tr
from gradviz.errors import GradvizError
from gradviz.resources import resource

MIME = "application/x-gradviz"
_EXTENSION = ".gradviz"
_REFRESHERS = (("update-mime-database", "mime"), ("update-desktop-database", "applications"))


def register(home: Path | None = None) -> str:
    """Make gradviz known to this user's desktop; returns a sentence about what was done.

    Args:
        home: the folder for data of applications, that of the system by default.

    Raises:
        GradvizError: it cannot be written.
    """
    try:
        if sys.platform == "win32":
            _register_windows(_write_registry)
            return tr("Recordings open with gradviz from now on.")
        if sys.platform == "darwin":
            return tr("On macOS choose gradviz under “Open With” in the information of a recording.")
        folder = home or Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
        for path, text in linux_files(folder).items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
        _refresh(folder)
    except OSError as error:
        raise GradvizError(tr("The desktop entry cannot be written: {why}.", why=error)) from error
    return tr("gradviz is in the menu of programs now, and recordings open with it.")


def linux_files(folder: Path) -> Mapping[Path, bytes]:
    """The files of an installation below `folder` (`~/.local/share`) and what is in them."""
    entry = resource("desktop", "gradviz.desktop").read_text("utf-8").replace("@command@", _command_line())
    icons = folder / "icons" / "hicolor" / "scalable" / "apps"
    return {
        folder / "applications" / "gradviz.desktop": entry.encode(),
        folder / "mime" / "packages" / "gradviz.xml": resource("desktop", "gradviz.xml").read_bytes(),
        icons / "gradviz.svg": resource("icons", "gradviz.svg").read_bytes(),
    }


def windows_keys() -> Mapping[str, str]:
    """Keys below HKEY_CURRENT_USER\\Software\\Classes and their default values."""
    command = f'"{_window_python()}" -m gradviz "%1"'
    return {
        f"{_EXTENSION}": "gradviz.recording",
        "gradviz.recording": tr("gradviz recording"),
        "gradviz.recording\\shell\\open\\command": command,
        "Applications\\gradviz\\shell\\open\\command": command,
    }


class FileOpener(QObject):
    """Hears from macOS which files are to be opened, and passes them on."""

    def __init__(self, open_path: Callable[[str], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._open = open_path

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Open what the event names."""
        if isinstance(event, QFileOpenEvent) and event.file():
            self._open(event.file())
            return True
        return super().eventFilter(watched, event)


def _command_line() -> str:
    """The command of the desktop entry; a path with blanks is quoted as the specification wants it."""
    command = shutil.which("gradviz")
    words = [command] if command else [sys.executable, "-m", "gradviz"]
    return " ".join(f'"{word}"' if " " in word else word for word in words)


def _window_python() -> str:
    """The interpreter that opens no console on Windows, where it is there."""
    windowed = os.path.join(os.path.dirname(sys.executable), "pythonw.exe")
    return windowed if os.path.exists(windowed) else sys.executable


def _register_windows(write: Callable[[str, str], None]) -> None:
    for key, value in windows_keys().items():
        write(key, value)


def _write_registry(key: str, value: str) -> None:
    if sys.platform == "win32":
        import winreg

        with winreg.CreateKey(winreg.HKEY_CURRENT_USER, f"Software\\Classes\\{key}") as handle:
            winreg.SetValueEx(handle, "", 0, winreg.REG_SZ, value)


def _refresh(folder: Path) -> None:
    """Tell the desktop that there are new files; it finds them later by itself where these programs are missing."""
    for program, part in _REFRESHERS:
        found = shutil.which(program)
        if found is not None:
            subprocess.run([found, str(folder / part)], check=False, capture_output=True, timeout=20)
