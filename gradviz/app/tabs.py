"""The tabs of a window: opening, running, saving, exporting, closing."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from gradviz.app.call_words import call_words
from gradviz.app.dialogs.choose_call import ChooseCall
from gradviz.app.dialogs.export_dialog import ExportDialog, Subject
from gradviz.app.examples import is_bundled, recording_of
from gradviz.app.graph.compare_window import CompareWindow, Side
from gradviz.app.held_calls import script_call
from gradviz.app.interpreters import interpreters_near
from gradviz.app.overlay import without_extras
from gradviz.app.running import file_name
from gradviz.app.texts import tr
from gradviz.app.workspace import Services, Workspace
from gradviz.model import Call, Recording
from gradviz.playback.words import tried
from gradviz.runner import Target
from gradviz.store.saving import save_as

if TYPE_CHECKING:
    from gradviz.app.main_window import MainWindow

RECORDING_SUFFIX = ".gradviz"
_MOST_COMPARED = 1000  # calls of a recording that are offered


class Tabs(QObject):
    """What is open in a window.

    Signals:
        added(Workspace): a tab was opened.
        removed(Workspace): a tab is about to be closed.
        said(str): something for the status line.
        changed(): what can be done is another.
    """

    added = Signal(object)
    removed = Signal(object)
    said = Signal(str)
    changed = Signal()

    def __init__(self, services: Services, window: MainWindow) -> None:
        super().__init__(window)
        self._services = services
        self._window = window
        self.open_ones: list[Workspace] = []

    # -- opening -------------------------------------------------------------------------------------------------------

    def open_path(self, path: str, python: str | None = None, script_args: Sequence[str] = ()) -> Workspace:
        """Open a script or a recording in a tab of its own; one that is open already is returned."""
        path = os.path.abspath(path)
        for tab in self.open_ones:
            if path in (tab.session.script, tab.opened):
                return tab
        tab = self.add()
        tab.opened = path
        self._services.settings.add_recent(path)
        if path.endswith(RECORDING_SUFFIX):
            if self._services.recovery.holds(path):
                self._services.recovery.hold(path)
            tab.session.open_recording(path)
            self.changed.emit()
            return tab
        tab.session.open_script(path)
        tab.watch.watch(path)
        tab.target = self._target(path, python, script_args)
        example = recording_of(path)
        if example is not None and python is None and not script_args:
            # Should it not open, for example after an update, the script itself makes a new one.
            tab.session.open_recording(example, otherwise=lambda: self.run(tab))
        else:
            self.run(tab)
        self.changed.emit()
        return tab

    def add(self) -> Workspace:
        """A new tab in which nothing is open yet."""
        tab = Workspace(self._services, self._window.look, self._window.actions_by_name, self)
        self._connect(tab)
        self.open_ones.append(tab)
        self.added.emit(tab)
        return tab

    def title(self, tab: Workspace) -> str:
        """What a tab is called: two recordings of a script, or two scripts of one name, are told apart."""
        title, opened = tab.title, tab.opened
        if all(other is tab or other.title != title for other in self.open_ones):
            return title
        name = file_name(opened) if file_name(opened) != title else file_name(os.path.dirname(opened))
        return f"{title} · {name}" if name else title

    def close(self, tab: Workspace) -> None:
        """Close a tab; a script that runs in it is stopped."""
        self.open_ones.remove(tab)
        self.removed.emit(tab)
        # The recording of a run is let go of when its process has ended.
        shown = None if tab.session.loaded is None or tab.running.adapter is not None else tab.session.loaded.path
        tab.close()
        for path in (tab.opened, shown):
            if path is not None and self._services.recovery.holds(path):
                self._services.recovery.release(path)
        tab.deleteLater()
        if not self.open_ones:
            QTimer.singleShot(0, self, self._services.collector.sweep)
        self.changed.emit()

    def _connect(self, tab: Workspace) -> None:
        tab.state_changed.connect(self.changed)
        tab.failed.connect(self.said)
        tab.middle.ask.accepted.connect(lambda target, memory: self._accept(tab, target, memory))
        tab.middle.ask.refused.connect(lambda: self._refuse(tab))
        tab.middle.banner.accepted.connect(lambda: self.run(tab))
        tab.middle.button_pressed.connect(lambda: self._press(tab))
        tab.seeds.compare_asked.connect(lambda left, right: self._compare_calls(tab, left, right))
        tab.seeds.comparing_asked.connect(lambda call: self.choose_to_compare(tab, call))

    # -- running -------------------------------------------------------------------------------------------------------

    def run(self, tab: Workspace) -> None:
        """Run the script of a tab; ask first unless it is trusted."""
        script = tab.session.script
        if script is None:
            return
        if not os.path.isfile(script):
            return  # reading it tells what is wrong
        if self._trusts(script):
            self._start(tab, tab.target or self._target(script))
        else:
            self.ask(tab)

    def ask(self, tab: Workspace) -> None:
        """Show what would run, in the place of the graph."""
        script = tab.session.script
        if script is None:
            return
        tab.middle.ask.ask(tab.target or self._target(script), self._trusts(script))
        tab.middle.asking = True
        tab.middle.choose_page()
        tab.middle.ask.run.setFocus(Qt.FocusReason.OtherFocusReason)  # only what is visible can take it
        self._services.background.submit(lambda task: interpreters_near(script), tab.middle.ask.offer, self.said.emit)
        self.changed.emit()

    def _trusts(self, script: str) -> bool:
        return is_bundled(script) or self._services.settings.trusts(script)

    def _target(self, script: str, python: str | None = None, script_args: Sequence[str] = ()) -> Target:
        chosen = python or self._services.settings.interpreter(script) or sys.executable
        return Target(script, None, tuple(script_args), chosen, os.path.dirname(script))

    def _accept(self, tab: Workspace, target: Target, memory: str) -> None:
        script = tab.session.script
        if script is None:
            return
        if memory == "folder":
            self._services.settings.trust_folder(os.path.dirname(script))
        else:
            self._services.settings.trust_file(script)
        self._services.settings.set_interpreter(script, target.python)
        tab.middle.asking = False
        self._start(tab, target)

    def _refuse(self, tab: Workspace) -> None:
        tab.middle.asking = False
        tab.middle.choose_page()
        self.changed.emit()

    def _press(self, tab: Workspace) -> None:
        if tab.running.alive:
            tab.running.stop()
        else:
            self.run(tab)

    def _start(self, tab: Workspace, target: Target) -> None:
        tab.target = target
        tab.running.start(target)

    # -- keeping -------------------------------------------------------------------------------------------------------

    def save(self, tab: Workspace, path: str) -> None:
        """Write the recording of a tab to a file; the dialog has asked about one that is there."""
        recording = tab.session.recording
        if recording is not None:
            self._services.background.submit(
                lambda task: save_as(without_extras(recording), path, force=True),
                lambda _: self.said.emit(tr("{path} was written.", path=path)),
                self.said.emit,
            )

    def folder(self, tab: Workspace, purpose: str) -> str:
        """The folder that a dialog opens: the one of the last time, else that of what is open in the tab."""
        beside = "" if is_bundled(tab.opened) else os.path.dirname(tab.opened)
        return self._services.settings.folder(purpose) or beside

    def export(self, tab: Workspace) -> ExportDialog | None:
        """Show the export dialog for what is seen in a tab."""
        loaded, view = tab.session.loaded, tab.middle.view
        if loaded is None:
            return None
        recording = loaded.recording
        unsaved = self._services.recovery.holds(loaded.path)
        keep = (lambda path: save_as(without_extras(recording), path, force=True)) if unsaved else None
        subject = Subject(loaded.path, tab.seen_view(), (view.width(), view.height()), keep)
        name = os.path.splitext(file_name(tab.title))[0]
        settings = self._services.settings
        dialog = ExportDialog(subject, self.folder(tab, "export"), name, self._services.background, self._window)
        dialog.said.connect(self.said)
        dialog.saved.connect(lambda path: settings.set_folder("export", os.path.dirname(path)))
        dialog.open()
        return dialog

    # -- comparing -----------------------------------------------------------------------------------------------------

    def choose_to_compare(self, tab: Workspace, call: Call | None = None) -> ChooseCall | None:
        """Ask with which call this one is to be compared; without one the one that is shown."""
        recording, call = tab.session.recording, call or tab.session.current_call
        if recording is None or call is None:
            return None
        left = Side(recording, call.number, self._call_title(tab, call))
        others = [side for other in self.open_ones for side in self._sides(other) if side != left]
        dialog = ChooseCall(left, others, _nearest(recording, call, others), self._window)
        dialog.chosen.connect(lambda right: self.compare(left, right))
        dialog.open()
        return dialog

    def _compare_calls(self, tab: Workspace, left: Call, right: Call) -> None:
        recording = tab.session.recording
        if recording is not None:
            first, second = (Side(recording, call.number, self._call_title(tab, call)) for call in (left, right))
            self.compare(first, second)

    def compare(self, left: Side, right: Side) -> CompareWindow:
        """Show two calls side by side."""
        services, window = self._services, self._window
        made = CompareWindow(left, right, services.background, services.studio, services.layout, window.look, window)
        made.failed.connect(self.said)
        made.show()
        return made

    def _sides(self, tab: Workspace) -> list[Side]:
        recording = tab.session.recording
        calls = () if recording is None else recording.calls[:_MOST_COMPARED]
        return [Side(recording, call.number, self._call_title(tab, call)) for call in calls if recording is not None]

    def _call_title(self, tab: Workspace, call: Call) -> str:
        title = f"{self.title(tab)}, {call_words(call.label)}"
        return f"{title}: {tried(call)}" if call.what_if else title


def _nearest(recording: Recording, call: Call, sides: Sequence[Side]) -> int:
    """The place of what a call is most likely compared with: of an experiment its own call, else the call before."""
    own = script_call(recording, call.label)
    number = call.number if own is None else own.number

    def apart(side: Side) -> tuple[bool, int, int]:
        return side.recording is not recording, abs(side.number - number), side.number

    return min(range(len(sides)), key=lambda place: apart(sides[place]), default=0)
