"""Keeps the warnings that the script was shown, without showing, hiding or using up any of them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gradviz.model import Place, ScriptWarning
from gradviz.worker.frames import path_of
from gradviz.worker.patches import Patches

LIMIT = 1_000


class Warned:
    """Warnings since the last call; each one (category, text and line) is kept once."""

    def __init__(self) -> None:
        self._new: list[ScriptWarning] = []
        self._known: set[tuple[str, str, str, int]] = set()
        self._process = os.getpid()

    def watch(self, patches: Patches) -> None:
        """Look on where Python shows a warning that its filters have let through, from C++ as well."""
        patches.wrap(warnings, "_showwarnmsg", self._looking_on)

    def take(self, before_call: int | None) -> list[ScriptWarning]:
        """The warnings since the last time; they were shown before call `before_call`."""
        found, self._new = self._new, []
        return [replace(warning, before_call=before_call) for warning in found]

    def _looking_on(self, show: Callable[[Any], None]) -> Callable[[Any], None]:
        def showwarnmsg(message: Any) -> None:
            if os.getpid() == self._process and len(self._known) < LIMIT:
                self._note(message)
            show(message)

        return showwarnmsg

    def _note(self, message: Any) -> None:
        try:
            file, line = str(message.filename), int(message.lineno)
            file = file if file == "sys" else path_of(file)  # "sys:1" is Python's word for no line at all
            key = (message.category.__name__, str(message.message), file, line)
        except Exception as error:  # the text of a warning class of the user's may fail
            key = (type(message.category).__name__, f"<{type(error).__name__}>", "", 0)
        if key not in self._known:
            self._known.add(key)
            self._new.append(ScriptWarning(key[0], key[1], Place(key[2], key[3]), None))
