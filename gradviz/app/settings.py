"""What the window remembers between two starts: trust, recent files, places of docks, looks."""

from __future__ import annotations

import os
from typing import Literal, cast, get_args

from PySide6.QtCore import QByteArray, QSettings

ThemeChoice = Literal["system", "light", "dark", "contrast"]
MOST_RECENT = 12


class Settings:
    """Typed access to a `QSettings`; every value has a default, so that a damaged file does no harm."""

    def __init__(self, store: QSettings | None = None) -> None:
        self._store = store if store is not None else QSettings("gradviz", "gradviz")

    # -- trust ---------------------------------------------------------------------------------------------------------

    def trusts(self, script: str) -> bool:
        """Whether the user said that this script, or one of the folders around it, may run."""
        path = os.path.realpath(script)
        folders = self._texts("trust/folders")
        return path in self._texts("trust/files") or any(_inside(path, folder) for folder in folders)

    def trust_file(self, script: str) -> None:
        """Remember that this script may run."""
        self._add("trust/files", os.path.realpath(script))

    def trust_folder(self, folder: str) -> None:
        """Remember that every script in and below this folder may run."""
        self._add("trust/folders", os.path.realpath(folder))

    def forget_trust(self) -> None:
        """Ask again for every script."""
        self._store.remove("trust")

    # -- recent files --------------------------------------------------------------------------------------------------

    @property
    def recent(self) -> tuple[str, ...]:
        """Files that were opened, the last one first."""
        return tuple(self._texts("recent"))

    def add_recent(self, path: str) -> None:
        """Put a file at the head of the recent ones."""
        path = os.path.abspath(path)
        rest = [other for other in self._texts("recent") if other != path]
        self._store.setValue("recent", [path, *rest][:MOST_RECENT])

    def forget_recent(self) -> None:
        """Empty the list of recent files."""
        self._store.remove("recent")

    # -- looks ---------------------------------------------------------------------------------------------------------

    @property
    def theme(self) -> ThemeChoice:
        """The theme that was chosen; `system` follows the desktop."""
        value = self._text("look/theme", "system")
        return cast(ThemeChoice, value) if value in get_args(ThemeChoice) else "system"

    @theme.setter
    def theme(self, choice: ThemeChoice) -> None:
        self._store.setValue("look/theme", choice)

    @property
    def language(self) -> str:
        """`en`, `zh_CN`, or `system`."""
        return self._text("look/language", "system")

    @language.setter
    def language(self, language: str) -> None:
        self._store.setValue("look/language", language)

    @property
    def font_percent(self) -> int:
        """Size of the window's text, 80 to 200 percent of the system's."""
        return min(max(self._number("look/font", 100), 80), 200)

    @font_percent.setter
    def font_percent(self, percent: int) -> None:
        self._store.setValue("look/font", percent)

    @property
    def reduced_motion(self) -> bool:
        """Whether steps jump and nothing glides."""
        return self._text("look/reduced-motion", "false") == "true"

    @reduced_motion.setter
    def reduced_motion(self, reduced: bool) -> None:
        self._store.setValue("look/reduced-motion", "true" if reduced else "false")

    # -- places --------------------------------------------------------------------------------------------------------

    def place(self, name: str) -> QByteArray:
        """A stored geometry or dock state, empty when there is none."""
        value = self._store.value(f"place/{name}")
        return value if isinstance(value, QByteArray) else QByteArray()

    def set_place(self, name: str, value: QByteArray) -> None:
        """Store a geometry or dock state."""
        self._store.setValue(f"place/{name}", value)

    def folder(self, purpose: str) -> str:
        """The folder that a file dialog showed last for this purpose."""
        return self._text(f"folder/{purpose}", "")

    def set_folder(self, purpose: str, folder: str) -> None:
        """Remember the folder of a file dialog."""
        self._store.setValue(f"folder/{purpose}", folder)

    def interpreter(self, script: str) -> str | None:
        """The Python that was chosen for this script."""
        return self._text(f"python/{_key(script)}", "") or None

    def set_interpreter(self, script: str, python: str | None) -> None:
        """Remember the Python of a script; None forgets it."""
        self._store.setValue(f"python/{_key(script)}", python or "")

    # -- primitives ----------------------------------------------------------------------------------------------------

    def _texts(self, key: str) -> list[str]:
        value = self._store.value(key)
        if isinstance(value, str):
            return [value] if value else []  # an INI file gives a list of one back as the text itself
        return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []

    def _add(self, key: str, text: str) -> None:
        known = self._texts(key)
        if text not in known:
            self._store.setValue(key, [*known, text])

    def _text(self, key: str, default: str) -> str:
        value = self._store.value(key, default)
        return value if isinstance(value, str) else default

    def _number(self, key: str, default: int) -> int:
        try:
            return int(str(self._store.value(key, default)))
        except ValueError:
            return default


def _inside(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def _key(script: str) -> str:
    """A path as a key of QSettings, where a slash would make a group."""
    return os.path.realpath(script).replace("/", "|").replace("\\", "|")
