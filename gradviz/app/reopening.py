"""What is open in a window, so that another window can open it again: after a change of the language."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradviz.app.recovery import SUFFIX
from gradviz.app.undo import Places, UndoStack
from gradviz.app.workspace import Workspace
from gradviz.model import ViewState
from gradviz.runner import Target

if TYPE_CHECKING:
    from gradviz.app.main_window import MainWindow


@dataclass(frozen=True)
class OpenTab:
    """A tab: the file that was opened, its script, what would run, the recording that is shown, and how it is seen.

    `undo_stack` is what can be undone, `places` where to go back to.
    """

    opened: str
    script: str | None
    target: Target | None
    recording: str | None
    view: ViewState
    asking: bool
    undo_stack: UndoStack
    places: Places


def open_tabs(window: MainWindow) -> tuple[OpenTab, ...]:
    """What is open in a window, of scripts that do not run."""
    return tuple(map(_open_tab, window.tabs.open_ones))


def _open_tab(tab: Workspace) -> OpenTab:
    session = tab.session
    unread = tab.opened if tab.opened.endswith(SUFFIX) else None
    recording = unread if session.loaded is None else session.loaded.path
    return OpenTab(
        opened=tab.opened,
        script=session.script,
        target=tab.target,
        recording=recording,
        view=session.seen_view(),
        asking=tab.middle.asking,
        undo_stack=session.undo_stack,
        places=session.places,
    )


def open_again(window: MainWindow, tabs: tuple[OpenTab, ...], shown: int) -> None:
    """Open all of them in a window, and show the one at this place."""
    for kept in tabs:
        tab = window.tabs.add()
        tab.opened, tab.target = kept.opened, kept.target
        tab.session.undo_stack = kept.undo_stack
        tab.session.places = kept.places
        if kept.script is not None and os.path.isfile(kept.script):
            tab.session.open_script(kept.script)
            tab.watch.watch(kept.script)
        if kept.recording is not None:
            if window.services.recovery.holds(kept.recording):
                window.services.recovery.hold(kept.recording)
            tab.session.restore(kept.view)
            tab.session.open_recording(kept.recording)
        if kept.asking:
            window.tabs.ask(tab)
    window.pages.setCurrentIndex(shown)
