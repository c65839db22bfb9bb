"""The menu of views: all of the graph, one call, or the part of it that a selection asks for; leaves in their place.

Also the range of the colours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu

from gradviz.app.dialogs.color_range import ColorRange
from gradviz.app.texts import tr
from gradviz.playback import Timeline
from gradviz.playback.filters import FOLD_LEAVES, NO_CONSTANTS, filtered

if TYPE_CHECKING:
    from gradviz.app.workspace import Workspace

_PLACES = (FOLD_LEAVES, NO_CONSTANTS)  # filters that take no part of the graph away
_NODES = {"upstream": 1, "downstream": 1, "between": 2}  # how many nodes must be selected


def part(word: str, timeline: Timeline, nodes: Sequence[int]) -> str | None:
    """The filter of a view (`upstream`, `between`, `no-grad`, ...) for the selected nodes; None where that is empty."""
    keys = [timeline.stage.graph.by_id[node].key for node in nodes]
    if word not in _NODES:
        candidates = [word]
    elif word == "between":
        candidates = [f"between:{keys[0]}|{keys[-1]}", f"between:{keys[-1]}|{keys[0]}"]
    else:
        candidates = [f"{word}:{keys[0]}"]
    return next((filter for filter in candidates if filtered(timeline, [filter]).nodes), None)


class ViewsMenu(QMenu):
    """Offers the views of the current tab's graph. `current` tells the tab, `say` shows a sentence to the user."""

    def __init__(self, current: Callable[[], Workspace | None], say: Callable[[str], None]) -> None:
        super().__init__(tr("Sho&w"))
        self._current, self._say = current, say
        self._parts: dict[str, QAction] = {}
        self._places: dict[str, QAction] = {}
        group = QActionGroup(self)
        for word, text in (
            ("", tr("&Everything")),
            ("call-only", tr("&This call only")),
            ("upstream", tr("From the selection to the &root")),
            ("downstream", tr("What the selection rea&ches")),
            ("between", tr("&Between the two selected nodes")),
            ("no-grad", tr("Only what has &no gradient")),
        ):
            action = self._parts[word] = self.addAction(text)
            action.setCheckable(True)
            group.addAction(action)
            action.triggered.connect(lambda _=False, chosen=word: self._show_part(chosen))
        self.addSeparator()
        for word, text in (
            (FOLD_LEAVES, tr("&Leaves inside their operation")),
            (NO_CONSTANTS, tr("&Inputs that need no gradient")),
        ):
            action = self._places[word] = self.addAction(text)
            action.setCheckable(True)
            action.triggered.connect(lambda _=False, chosen=word: self._toggle(chosen))
        self.addSeparator()
        self._colors = self.addAction(tr("Ran&ge of colours..."))
        self._colors.triggered.connect(self._ask_range)
        self.aboutToShow.connect(self.refresh)

    def refresh(self) -> None:
        """Tell which view is shown, and offer what the selection allows."""
        tab = self._current()
        filters = () if tab is None else tab.session.view.filters
        shown = next((word.partition(":")[0] for word in filters if word not in _PLACES), "")
        count = len(self._selected(tab)) if tab is not None else 0
        for word, action in self._parts.items():
            action.setChecked(word == shown)
            action.setEnabled(tab is not None and tab.session.story is not None and count >= _NODES.get(word, 0))
        for word, action in self._places.items():
            action.setChecked((word in filters) != (word == NO_CONSTANTS))
            action.setEnabled(tab is not None and tab.session.story is not None)
        self._colors.setEnabled(tab is not None and tab.drawing.scene is not None)

    @staticmethod
    def _selected(tab: Workspace) -> list[int]:
        """One node for each selected box."""
        return [box.nodes[0] for box in tab.drawing.boxes_of(tab.session.view.selected) if box.nodes]

    def _show_part(self, word: str) -> None:
        tab = self._current()
        if tab is None or tab.session.story is None:
            return
        kept = tuple(filter for filter in tab.session.view.filters if filter in _PLACES)
        nodes = self._selected(tab)
        chosen = part(word, tab.session.story.timeline, nodes) if word and len(nodes) >= _NODES.get(word, 0) else None
        if word and chosen is None:
            self._say(tr("Nothing in this graph belongs to that view."))
            self.refresh()
            return
        filters = kept if chosen is None else (*kept, chosen)
        tab.session.change_view(tr("Show a part of the graph"), filters=filters, camera=None)

    def _ask_range(self) -> None:
        tab = self._current()
        if tab is None or tab.drawing.scene is None:
            return
        dialog = ColorRange(tab.drawing.scene.plan.scale, tab.middle)
        dialog.chosen.connect(lambda found: tab.session.change_view(tr("Range of colours"), scale_range=found))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _toggle(self, word: str) -> None:
        tab = self._current()
        if tab is None:
            return
        filters = tab.session.view.filters
        new = tuple(f for f in filters if f != word) if word in filters else (*filters, word)
        tab.session.change_view(tr("Show a part of the graph"), filters=new, camera=None)
