"""Rows of an interning table (texts, tensor types) by their id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from gradviz.store.codec import damaged

T = TypeVar("T")


class Interned(dict[int, T]):
    """Reads all rows when one is first asked for; of a live recording again when one is missing."""

    def __init__(self, load: Callable[[], Mapping[int, T]], live: bool) -> None:
        super().__init__()
        self._load = load
        self._may_load = True
        self._live = live

    def __missing__(self, row: int) -> T:
        """The row, read now.

        Raises:
            DamagedRecordingError: there is none.
        """
        if self._may_load:
            self.update(self._load())
            self._may_load = self._live
        found = self.get(row)
        if found is None:
            raise damaged()
        return found
