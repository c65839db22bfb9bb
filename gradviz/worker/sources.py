"""Keeps the text of every user file that made a node or a call or bound a tensor, as it was when it was first met."""

from __future__ import annotations

import linecache
import os
import sys
import tokenize
from collections.abc import Iterable

from gradviz.model import Place
from gradviz.store.writer import Writer

# More than this is data, not a script.
LIMIT = 4_000_000


class Sources:
    """Reads each file once."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._known: set[str] = set()

    def add(self, places: Iterable[Place]) -> None:
        """Keep the texts of the files of `places`."""
        for place in places:
            for file in () if place.file in self._known else together(place.file):
                if file not in self._known:
                    self._known.add(file)
                    text = read(file)
                    if text is not None:
                        self._writer.add_source(file, text)


def together(file: str) -> list[str]:
    """A file; with a cell of a notebook all that ran before it, without which it cannot be understood."""
    notebook, cell, _ = file.rpartition(", cell ")
    before = [name for name in linecache.cache if name.startswith(notebook + cell)] if file.startswith("<") else []
    return [*(before if cell else ()), file]


def read(file: str) -> str | None:
    """The text of a file in its own encoding, or of typed code that Python remembers; None where there is none."""
    if file.startswith("<") or not os.path.exists(file):
        # A cell of a notebook: its text is only in linecache, which the notebook fills. IPython's kernel gives its
        # cells the names of files that are not there.
        entry = linecache.cache.get(file)
        return "".join(entry[2]) if entry is not None and len(entry) == 4 else _of_the_command(file)
    try:
        if os.path.getsize(file) > LIMIT:
            return None
        with tokenize.open(file) as stream:
            return stream.read()
    except (OSError, SyntaxError, UnicodeDecodeError, ValueError):
        return None


def _of_the_command(file: str) -> str | None:
    """The text of `python -c TEXT`."""
    words = getattr(sys, "orig_argv", [])
    if file != "<string>" or sys.argv[:1] != ["-c"] or "-c" not in words:
        return None
    return str(words[words.index("-c") + 1])
