"""The one mutable object of a tab: what is open, what is looked at, at which moment. Widgets are views on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from gradviz.app.background import Background, Errands, Task
from gradviz.app.call_tree import Entry
from gradviz.app.loading import LiveFile, Loaded, Source, Story, load, make_story, read_script
from gradviz.app.player import Player
from gradviz.app.texts import tr
from gradviz.app.undo import Change, Places, UndoStack
from gradviz.explain import findings
from gradviz.model import Call, Finding, Node, Recording, ViewState
from gradviz.playback import Timeline
from gradviz.store.reader import close_recording

# A story depends on these fields of a view; the others only choose what is seen of it.
_STORY_FIELDS = ("call", "order")


class Session(QObject):
    """What one tab is about. `player` holds the moment that is shown.

    Signals:
        recording_changed(): another recording, or more of the same one (calls, findings, outcome).
        sources_changed(): the texts of the script's files are others.
        story_changed(): other calls are told (`story`), or none.
        view_changed(ViewState): the view is another one; the argument is the one before.
        undo_changed(): there are other changes to undo or do again.
        places_changed(): there are other places to go back or forward to.
        busy_changed(str): what is being computed, in words; empty when nothing is.
        failed(str): something that was asked did not work; a sentence for the user.
    """

    recording_changed = Signal()
    sources_changed = Signal()
    story_changed = Signal()
    view_changed = Signal(object)
    undo_changed = Signal()
    places_changed = Signal()
    busy_changed = Signal(str)
    failed = Signal(str)

    def __init__(
        self, background: Background, parent: QObject | None = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(parent)
        self.background = Errands(background)
        self.script: str | None = None
        self.reading = False
        self.sources: Mapping[str, Source] = {}
        self.loaded: Loaded | None = None
        self.story: Story | None = None
        self.view = ViewState()
        self.undo_stack = UndoStack()
        self.places = Places()
        self.player = Player(self, now)
        self._task: Task[Any] | None = None
        self._explained: Recording | None = None
        self.explain_failed = False  # a mistake of ours while the findings were computed
        self._stale: list[Recording] = []  # the story on show still reads from these

    # -- what is open --------------------------------------------------------------------------------------------------

    @property
    def recording(self) -> Recording | None:
        """The recording that is shown."""
        return None if self.loaded is None else self.loaded.recording

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The rows of the list of calls."""
        return () if self.loaded is None else self.loaded.entries

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is worth knowing about the recording, as far as it has been computed."""
        return () if self.loaded is None else self.loaded.findings or ()

    def open_script(self, path: str) -> None:
        """Show the text of a script that has not run yet."""
        self.script = path
        self.background.submit(lambda task: read_script(path, task), self._take_script, self._fail)

    def open_recording(
        self,
        path: str,
        live: LiveFile | None = None,
        otherwise: Callable[[], None] | None = None,
        first: Callable[[], None] | None = None,
    ) -> None:
        """Read a recording in the background and show it; what is shown stays until then.

        `otherwise` is called instead of a failure being told; `first` is done in the background before it is read.
        """
        if live is None:
            self.busy_changed.emit(tr("Reading the recording …"))
        self.reading = True
        failed = self._fail_reading if otherwise is None else lambda _: self._read_otherwise(otherwise)
        self.background.submit(lambda task: load(path, live, task, first), self.take, failed)

    def open_what_if(
        self,
        path: str,
        live: LiveFile | None,
        first: Callable[[], None] | None,
        done: Callable[[str], None],
        failed: Callable[[str], None],
    ) -> None:
        """Read the recording that is shown once more, with one more experiment in it, and tell that one.

        `done` gets its label.
        """
        self.reading = True
        self.background.submit(
            lambda task: load(path, live, task, first), lambda loaded: done(self._take_what_if(loaded)), failed
        )

    def _take_what_if(self, loaded: Loaded) -> str:
        newest = max(loaded.recording.calls, key=lambda call: call.number)
        if self.loaded is not None and self.loaded.findings is not None:
            # They are about the script's own calls, which are the same.
            loaded = replace(loaded, findings=self.loaded.findings)
            self._explained = loaded.recording
        self.restore(replace(self.view, call=newest.label, time=None, camera=None))
        self.take(loaded, tell=True)
        return newest.label

    def take(self, loaded: Loaded, tell: bool = False) -> None:
        """Show a recording that has been read.

        One that grows is followed only while the last moment is shown, or with `tell`.
        """
        self.reading = False
        old, self.loaded = self.loaded, loaded
        if old is not None and old.recording.source is not loaded.recording.source:
            self._stale.append(old.recording)
        if loaded.sources and loaded.sources != self.sources:
            self.sources = loaded.sources
            header = loaded.recording.header
            # The program around a recorded block is not to be run here: it would want to write this very recording.
            self.script = self.script or (None if header.in_process else header.script)
            self.sources_changed.emit()
        self.recording_changed.emit()
        if tell or not (loaded.live and self.story is not None and not self.player.at_end):
            self._tell()

    def _take_script(self, sources: Mapping[str, Source]) -> None:
        # The recording's own texts are those that ran, under the names that its places have.
        if self.script is not None and (self.loaded is None or not self.loaded.sources):
            self.sources = sources
            self.sources_changed.emit()

    def explain(self) -> None:
        """Compute the findings, once a recording; the window asks when the picture is there and nobody waits."""
        loaded = self.loaded
        if loaded is not None and not loaded.live and self._explained is not loaded.recording:
            self._explained = loaded.recording
            self.explain_failed = False
            failed = self._fail_explaining
            self.background.submit(
                lambda task: findings(loaded.recording, task.check), self._take_findings(loaded), failed
            )

    def _fail_explaining(self, why: str) -> None:
        self.explain_failed = True
        self.recording_changed.emit()
        self._fail(why)

    def _take_findings(self, loaded: Loaded) -> Callable[[tuple[Finding, ...]], None]:
        def take(found: tuple[Finding, ...]) -> None:
            if self.loaded is loaded:
                self.loaded = replace(loaded, findings=found)
                self.recording_changed.emit()

        return take

    def _read_otherwise(self, otherwise: Callable[[], None]) -> None:
        self.reading = False
        self.busy_changed.emit("")
        otherwise()

    def _fail_reading(self, why: str) -> None:
        self.reading = False
        self._fail(why)

    def close(self) -> None:
        """Let go of the recording and of all that runs."""
        self.player.close()
        self.background.close()
        if self._task is not None:
            self._task.cancel()
        self._task = self._explained = None
        if self.loaded is not None:
            self._stale.append(self.loaded.recording)
        self.loaded, self.story = None, None
        self._close_stale()

    def _close_stale(self) -> None:
        while self._stale:
            close_recording(self._stale.pop())

    # -- the story -----------------------------------------------------------------------------------------------------

    @property
    def current_call(self) -> Call | None:
        """The call that is shown at this moment."""
        frame = self.player.frame
        return None if frame is None else frame.call

    def call_place(self, number: int) -> int:
        """The place of a call among the calls that are told, from 0: what gives its colour."""
        place = None if self.story is None else self.story.timeline.place_of_call(number)
        if place is not None:
            return place
        return 0 if self.recording is None else self.recording.places.get(number, 0)

    def show_call(self, number: int) -> None:
        """Go to a call: on the time line when it is told already, else by telling its story."""
        if self.recording is None:
            return
        if self.story is not None and any(call.number == number for call in self.story.timeline.calls):
            self.player.go_to_call(number)
            self._visit()
            return
        label = self.recording.call(number).label
        self.glance(call=label, time=None)
        self._visit()

    def _tell(self) -> None:
        if self.recording is None:
            return
        if self._task is not None:
            self._task.cancel()
        recording, view = self.recording, self.view
        if not recording.calls:
            self._take_story(None)
            self.explain()
            return
        self.busy_changed.emit(tr("Following the gradients …"))
        self._task = self.background.submit(
            lambda task: make_story(recording, view.call, view.order, task), self._take_story, self._fail
        )

    def tell_alone(self, recording: Recording, number: int) -> None:
        """Tell one call by itself, of a recording that another session keeps open."""
        order = self.view.order
        self._task = self.background.submit(
            lambda task: Story(Timeline(recording, (number,), order)), self._take_story, self._fail
        )

    def _take_story(self, story: Story | None) -> None:
        self._task = None
        self.story = story
        self._close_stale()
        self.busy_changed.emit("")
        if story is not None and story.unread:
            self.failed.emit(
                tr("The recording is damaged; what cannot be read any more: call {labels}. Record the script again to "
                   "get it whole.", labels=", ".join(story.unread))
            )  # fmt: skip
        if story is None:
            self.player.close()
        else:
            self.player.load(story.timeline, self.view.time, self.view.call)
        self.story_changed.emit()

    def _fail(self, why: str) -> None:
        self.busy_changed.emit("")
        self.failed.emit(why)

    # -- the view ------------------------------------------------------------------------------------------------------

    def change_view(self, text: str, **fields: Any) -> None:
        """Change the view in a way that can be undone; `text` says what was done."""
        new = replace(self.view, **fields)
        if new != self.view:
            self.undo_stack.push(Change(text, self.view, new))
            self._show_change(new)

    def undo(self) -> None:
        """Show the view before the last change."""
        self._show_change(self.undo_stack.undo())

    def redo(self) -> None:
        """Show the view after the change that was undone last."""
        self._show_change(self.undo_stack.redo())

    def _show_change(self, view: ViewState | None) -> None:
        if view is not None:
            self.set_view(view)
            self.undo_changed.emit()

    def glance(self, **fields: Any) -> None:
        """Change the view in a way that nobody wants to undo (selection, camera, moment)."""
        self.set_view(replace(self.view, **fields))

    def set_view(self, view: ViewState) -> None:
        """Show another view."""
        old, self.view = self.view, view
        if old == view:
            return
        self.view_changed.emit(old)
        if any(getattr(old, name) != getattr(view, name) for name in _STORY_FIELDS):
            self._tell()

    def restore(self, view: ViewState) -> None:
        """Take a view for a recording that is still to come: nothing is told for it yet."""
        old, self.view = self.view, view
        self.view_changed.emit(old)

    def seen_view(self) -> ViewState:
        """The view with the moment and the call in it: what a file, an export or a place visited needs."""
        frame = self.player.frame
        call = self.current_call
        if frame is None or call is None:
            return self.view
        return replace(self.view, time=frame.t, call=call.label)

    def go_back(self) -> None:
        """Show the place that was visited before."""
        self._go(self.places.back())

    def go_forward(self) -> None:
        """Show the place that was left by `go_back`."""
        self._go(self.places.forward())

    def _visit(self) -> None:
        self.places.visit(self.seen_view())
        self.places_changed.emit()

    def _go(self, view: ViewState | None) -> None:
        if view is None:
            return
        told = self.story is not None and any(c.label == view.call for c in self.story.timeline.calls)
        self.set_view(replace(view, call=self.view.call) if told else view)
        if told and view.time is not None:
            self.player.seek(view.time)
        self.places_changed.emit()

    # -- selection -----------------------------------------------------------------------------------------------------

    @property
    def selected_ids(self) -> tuple[int, ...]:
        """The selected nodes, as ids of the stage; keys that are not in this story are passed over."""
        if self.story is None:
            return ()
        known = self.story.by_key
        return tuple(known[key] for key in self.view.selected if key in known)

    @property
    def selected_node(self) -> Node | None:
        """The node that the inspector shows: the first selected one."""
        ids = self.selected_ids
        if not ids or self.story is None:
            return None
        return self.story.timeline.stage.graph.by_id[ids[0]]

    @property
    def selected_edges(self) -> tuple[int, ...]:
        """The selected edges, as places in the stage's list of edges."""
        if self.story is None:
            return ()
        known = self.story.by_edge_key
        return tuple(known[key] for key in self.view.selected if key in known)

    def select(self, keys: Iterable[str]) -> None:
        """Select nodes or groups by key."""
        self.glance(selected=tuple(keys))
        self._visit()

    def select_nodes(self, ids: Iterable[int]) -> None:
        """Select nodes by their ids on the stage."""
        if self.story is not None:
            by_id = self.story.timeline.stage.graph.by_id
            self.select(by_id[node].key for node in ids if node in by_id)

    def select_line(self, file: str, line: int) -> None:
        """Select what a line of the script made; a line that made a call shows the call."""
        nodes = () if self.story is None else self.story.by_line.get((file, line), ())
        if nodes:
            self.select_nodes(nodes)
            return
        for call in () if self.recording is None else self.recording.calls:
            if call.place is not None and (call.place.file, call.place.line) == (file, line):
                self.show_call(call.number)
                return
