"""Undo of view changes, and the places that were visited: both keep whole `ViewState`s."""

from __future__ import annotations

from dataclasses import dataclass

from gradviz.model import ViewState

MOST_PLACES = 100


@dataclass(frozen=True, slots=True)
class Change:
    """From one view to another; `text` says what was done."""

    text: str
    old: ViewState
    new: ViewState


class UndoStack:
    """Changes of the view, of which the last can be undone, and done again: `push`, `undo`, `redo`.

    Not Qt's own: a command in Python that C++ deletes while a thread paints is looked up without the interpreter's
    lock, and the interpreter died of that with other objects of the kind.
    """

    def __init__(self) -> None:
        self._changes: list[Change] = []
        self._done = 0  # so many of them are not undone

    def push(self, change: Change) -> None:
        """Something was done; what was undone can no longer be done again."""
        self._changes = [*self._changes[: self._done], change]
        self._done += 1

    @property
    def can_undo(self) -> bool:
        """Whether a change is left to undo."""
        return self._done > 0

    @property
    def can_redo(self) -> bool:
        """Whether a change was undone."""
        return self._done < len(self._changes)

    def undo(self) -> ViewState | None:
        """The view before the last change."""
        if not self.can_undo:
            return None
        self._done -= 1
        return self._changes[self._done].old

    def redo(self) -> ViewState | None:
        """The view after the change that was undone last."""
        if not self.can_redo:
            return None
        self._done += 1
        return self._changes[self._done - 1].new


class Places:
    """Views that were visited, as in a browser: `visit`, `back`, `forward`."""

    def __init__(self) -> None:
        self._places: list[ViewState] = []
        self._at = -1

    def visit(self, view: ViewState) -> None:
        """Enter a place; what lay ahead is forgotten."""
        if 0 <= self._at < len(self._places) and self._places[self._at] == view:
            return
        self._places = [*self._places[: self._at + 1], view][-MOST_PLACES:]
        self._at = len(self._places) - 1

    @property
    def can_go_back(self) -> bool:
        """Whether there is an earlier place."""
        return self._at > 0

    @property
    def can_go_forward(self) -> bool:
        """Whether there is a later place."""
        return self._at < len(self._places) - 1

    def back(self) -> ViewState | None:
        """Go to the earlier place."""
        if not self.can_go_back:
            return None
        self._at -= 1
        return self._places[self._at]

    def forward(self) -> ViewState | None:
        """Go to the later place."""
        if not self.can_go_forward:
            return None
        self._at += 1
        return self._places[self._at]
