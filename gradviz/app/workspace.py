"""A tab: a session with all its views, and the wires between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from gradviz.app.background import Background
from gradviz.app.dialogs.finding_page import show_finding_page
from gradviz.app.dialogs.run_again import ask_to_run_again
from gradviz.app.graph.accessible import tell_focus
from gradviz.app.graph.drawing import Drawing
from gradviz.app.graph.middle import Middle
from gradviz.app.graph.transport import Transport
from gradviz.app.graph.walk import Flow, Way, next_box, reached
from gradviz.app.held_calls import HeldCalls
from gradviz.app.jacobian.opening import Jacobians
from gradviz.app.look import Look
from gradviz.app.memory import Collector
from gradviz.app.panels.calls_panel import CallsPanel
from gradviz.app.panels.console_panel import ConsolePanel
from gradviz.app.panels.findings_panel import FindingsPanel
from gradviz.app.panels.inspector_panel import InspectorPanel
from gradviz.app.panels.source_panel import SourcePanel
from gradviz.app.path_facts import Route
from gradviz.app.recovery import Recovery
from gradviz.app.run_adapter import Endings
from gradviz.app.running import Running, file_name
from gradviz.app.seeds import Seeds
from gradviz.app.session import Session
from gradviz.app.settings import Settings
from gradviz.app.short_calls import ShortCalls
from gradviz.app.texts import tr
from gradviz.app.watching import ScriptWatch
from gradviz.layout.client import LayoutClient
from gradviz.model import Finding, Place, Recording, ViewState
from gradviz.render import Box, Link
from gradviz.runner import Target

_MOST_EDGES = 50  # of a bundle are selected; the strongest are listed anyway


@dataclass(frozen=True)
class Services:
    """What all tabs of a window share."""

    background: Background
    studio: Background
    layout: LayoutClient
    recovery: Recovery
    settings: Settings
    collector: Collector
    endings: Endings


class Workspace(QObject):
    """One script or recording with its views.

    Signals:
        state_changed(): title, state of the run, or what can be done is another.
        failed(str): something did not work; a sentence.
    """

    state_changed = Signal()
    failed = Signal(str)

    def __init__(
        self, services: Services, look: Look, actions: Mapping[str, QAction], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.services = services
        self.opened = ""
        self.target: Target | None = None
        self.lit: Flow | Literal["path"] | None = None
        self._noted: Recording | None = None
        self._changed_meanwhile = False
        self._pointing = False  # a selection made in the graph is seen already
        self.session = Session(services.background, self)
        self.running = Running(self.session, services.recovery, services.endings, self)
        self.held_calls = HeldCalls(self.session, self.running, lambda: self.target, self)
        self.watch = ScriptWatch(self)
        self.drawing = Drawing(self.session, services.studio, services.layout, self)
        self.drawing.set_theme(look.name)
        session = self.session
        self.middle = Middle(session, self.running, self.drawing, look)
        self.transport = Transport(session, look, actions)
        self.source = SourcePanel(session, look)
        self.calls = CallsPanel(session, self.running, look)
        self.findings = FindingsPanel(session, look)
        self.inspector = InspectorPanel(session, self.drawing, look)
        self.console = ConsolePanel(self.running.lines, look)
        self.short_calls = ShortCalls(self.session, self.middle.banner, self)
        self.seeds = Seeds(self.session, self.running, self.held_calls, services, self.middle, look)
        self.jacobians = Jacobians(session, self.running, self.held_calls, services, self.middle, look)
        self._connect()

    @property
    def panels(self) -> Mapping[str, QWidget]:
        """What goes into the docks, by the dock's name."""
        return {
            "source": self.source,
            "calls": self.calls,
            "findings": self.findings,
            "inspector": self.inspector,
            "console": self.console,
        }

    @property
    def title(self) -> str:
        """The name of the script or of the recording."""
        loaded, script = self.session.loaded, self.session.script
        if script is not None:
            return file_name(script)
        return tr("gradviz") if loaded is None else file_name(loaded.path)

    def set_look(self, look: Look) -> None:
        """Take other colours everywhere."""
        self.drawing.set_theme(look.name)
        self.seeds.set_look(look)
        self.jacobians.set_look(look)
        self.middle.set_look(look)
        self.transport.set_look(look)
        for panel in (self.source, self.calls, self.findings, self.inspector, self.console):
            panel.set_look(look)

    def close(self) -> None:
        """End what runs and let go of everything; the widgets go with their docks."""
        self.watch.stop()
        self.seeds.close()
        self.jacobians.close()
        self.held_calls.close()
        self.running.close()
        self.middle.view.close_picture()
        self.drawing.close()
        self.session.close()
        self.transport.slider.set_timeline(None)
        for widget in (self.middle, self.transport, *self.panels.values()):
            widget.deleteLater()

    # -- wires ---------------------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        session, view = self.session, self.middle.view
        self.calls.call_chosen.connect(session.show_call)
        self.source.line_chosen.connect(session.select_line)
        self.inspector.place_chosen.connect(self._show_place)
        self.inspector.failed.connect(self.failed)
        self.inspector.paths.route_chosen.connect(self._light_route)
        self.inspector.call_chosen.connect(session.show_call)
        self.findings.shown.connect(self._show_finding)
        self.findings.page_asked.connect(lambda code: show_finding_page(self.middle, code))
        view.box_clicked.connect(self._click_box)
        view.box_opened.connect(self._open_box)
        view.group_closed.connect(self.fold)
        view.link_clicked.connect(self._click_link)
        view.stub_clicked.connect(self._follow_stub)
        session.view_changed.connect(self._reveal_selection)
        self.middle.find_bar.chosen.connect(lambda node: session.select_nodes((node,)))
        self.watch.changed.connect(self._offer_run)
        self.running.restarted.connect(self._restart)
        self.running.output_came.connect(self._take_output)
        self.running.changed.connect(self._follow_run)
        self.console.entered.connect(self._send_line)
        for signal in (session.recording_changed, session.story_changed, self.running.changed):
            signal.connect(self.state_changed)
        session.recording_changed.connect(self._fill_console)
        session.recording_changed.connect(self._tell_notes)
        session.story_changed.connect(self.services.collector.settle)
        self.seeds.failed.connect(self.failed)
        self.seeds.jacobian_asked.connect(self.jacobians.open)
        self.seeds.follow(self.calls, view, self.findings)
        self.held_calls.asked.connect(lambda words: ask_to_run_again(words, self.held_calls, self.middle))
        self.drawing.scene_changed.connect(self._unlight)
        # The picture is there and nobody waits: what takes longer is worked out now.
        for work in (session.explain, self.source.warm):
            self.drawing.painted.connect(lambda _, work=work: work())
        self.drawing.scene_changed.connect(self.services.collector.settle)
        for part in (session, self.drawing, self.source):
            part.failed.connect(self.failed)

    def _show_place(self, place: Place) -> None:
        self.source.point_at(place)

    def _show_finding(self, finding: Finding) -> None:
        session = self.session
        if finding.call is not None:
            session.show_call(finding.call)
        nodes = finding.show or (() if finding.node is None else (finding.node,))
        if nodes and session.story is not None:
            stand_in = session.story.timeline.stage.stand_in
            session.select_nodes(stand_in(node) for node in nodes)
        if finding.place is not None:
            self.source.point_at(finding.place)

    def _click_box(self, box: Box | None, adds: bool) -> None:
        session = self.session
        key = None if box is None else self.drawing.key_of(box)
        chosen = session.view.selected
        self._pointing = True
        if key is None:
            session.select(())
        elif not adds:
            session.select((key,))
        else:
            session.select([k for k in chosen if k != key] if key in chosen else [*chosen, key])
        self._pointing = False

    def _open_box(self, box: Box) -> None:
        """Unfold a group; see anything else large."""
        if box.kind == "group":
            self.unfold(self.drawing.group_of(box).key)
            return
        scene = self.drawing.scene
        if scene is not None:
            self.middle.view.show_cards([scene.cards[box.index]])

    def unfold(self, key: str) -> None:
        """Show what is in a group."""
        view = self.session.view
        folded = tuple(k for k in view.folded if k != key)
        self.session.change_view(tr("Unfold"), expanded=(*view.expanded, key), folded=folded)

    def fold(self, key: str) -> None:
        """Show a group as one box."""
        view = self.session.view
        expanded = tuple(k for k in view.expanded if k not in (key, "*"))
        self.session.change_view(tr("Fold"), expanded=expanded, folded=(*view.folded, key), selected=(key,))

    def fold_selection(self) -> None:
        """Fold the group around the selected node; of a folded group the one around it."""
        key = self._group_around()
        if key is not None:
            self.fold(key)

    def unfold_selection(self) -> None:
        """Unfold the selected group."""
        for box in self.drawing.boxes_of(self.session.view.selected[:1]):
            if box.kind == "group":
                self.unfold(self.drawing.group_of(box).key)

    def _group_around(self) -> str | None:
        scene, boxes = self.drawing.scene, self.drawing.boxes_of(self.session.view.selected[:1])
        if scene is None or not boxes or not boxes[0].nodes:
            return None
        tree, box = scene.plan.tree, boxes[0]
        group = self.drawing.group_of(box).parent if box.kind == "group" else tree.home.get(box.nodes[0])
        return tree.groups[group].key if group else None

    def _click_link(self, link: Link) -> None:
        story = self.session.story
        if story is not None:
            self.session.select(story.edge_key(place) for place in link.edges[:_MOST_EDGES])

    def _follow_stub(self, box: Box) -> None:
        """Go to the other end of an edge that is drawn in two stubs."""
        key = self.drawing.key_of(box)
        if key is not None:
            self.session.select((key,))

    def _reveal_selection(self, old: ViewState) -> None:
        scene, selected = self.drawing.scene, self.session.view.selected
        if scene is None or old.selected == selected:
            return
        tell_focus(self.middle.view)
        if self._pointing:
            return
        for box in self.drawing.boxes_of(selected[:1]):
            self.middle.view.reveal(scene.cards[box.index])

    def seen_view(self) -> ViewState:
        """The view with moment, call, camera and the window's theme in it."""
        view = self.session.seen_view()
        return replace(view, camera=self.session.view.camera, theme=self.drawing.theme_name)

    def show_selection(self) -> None:
        """See the selected boxes large."""
        scene = self.drawing.scene
        if scene is not None:
            boxes = self.drawing.boxes_of(self.session.view.selected)
            self.middle.view.show_cards([scene.cards[box.index] for box in boxes])

    # -- going around --------------------------------------------------------------------------------------------------

    def walk(self, way: Way) -> None:
        """Select the next box in a direction."""
        scene, boxes = self.drawing.scene, self.drawing.boxes_of(self.session.view.selected[:1])
        if scene is None:
            return
        place = next_box(scene, boxes[0].index if boxes else None, way)
        key = None if place is None else self.drawing.key_of(scene.plan.boxes[place])
        if key is not None:
            self.session.select((key,))

    def light(self, flow: Flow) -> None:
        """Light what the selection depends on; a second time everything again."""
        scene = self.drawing.scene
        if scene is None or self.lit == flow:
            self.lit = None
            self.middle.view.light(None)
        else:
            self.lit = flow
            boxes = self.drawing.boxes_of(self.session.view.selected)
            self.middle.view.light(reached(scene, [box.index for box in boxes], flow))
        self.state_changed.emit()

    def _light_route(self, route: Route | None) -> None:
        """Light one path; without one everything again."""
        scene = self.drawing.scene
        if route is None or scene is None:
            if self.lit == "path":
                self.lit = None
                self.middle.view.light(None)
                self.state_changed.emit()
            return
        boxes, links = route.on(scene.plan)
        self.lit = "path"
        self.middle.view.light(boxes, links)
        self.middle.view.reveal_all([scene.cards[box] for box in boxes])
        self.state_changed.emit()

    def _unlight(self) -> None:
        self.lit = None

    def toggle_bookmarks(self) -> None:
        """Mark what is selected; what is marked already loses its mark."""
        view = self.session.view
        chosen = view.selected
        if set(chosen) <= set(view.bookmarks):
            kept = tuple(key for key in view.bookmarks if key not in chosen)
            self.session.change_view(tr("Take bookmarks away"), bookmarks=kept)
        else:
            added = tuple(key for key in chosen if key not in view.bookmarks)
            self.session.change_view(tr("Bookmark"), bookmarks=view.bookmarks + added)

    def go_to_bookmark(self) -> None:
        """Select the bookmark after the selected one."""
        marks = self.session.view.bookmarks
        if marks:
            here = self.session.view.selected[:1]
            place = marks.index(here[0]) + 1 if here and here[0] in marks else 0
            self.session.select((marks[place % len(marks)],))

    # -- the run -------------------------------------------------------------------------------------------------------

    def _restart(self) -> None:
        self.console.restart()
        self.middle.banner.hide()
        self.watch.seen()
        self._changed_meanwhile = False

    def _offer_run(self) -> None:
        self._changed_meanwhile = self.running.alive
        if self.running.alive:
            return  # it is offered when this run is over
        name = file_name(self.session.script or "")
        self.middle.banner.tell(tr("{name} has changed on the disk.", name=name), tr("Run again"))

    def _take_output(self) -> None:
        if self.running.adapter is not None:
            self.running.adapter.output_seen()
        self.console.wake()

    def _follow_run(self) -> None:
        typing = self.console.input.hasFocus()
        self.console.set_running(self.running.alive)
        if typing and not self.running.alive:
            self.middle.take_focus()
        if self._changed_meanwhile and not self.running.alive:
            self._offer_run()

    def _send_line(self, text: str) -> None:
        if self.running.adapter is not None:
            self.running.adapter.send_line(text)

    def _tell_notes(self) -> None:
        """Say what the recorder could not do, once, below the output."""
        loaded = self.session.loaded
        if loaded is None or loaded.live or loaded.recording is self._noted:
            return
        self._noted = loaded.recording
        if loaded.recording.header.in_process:
            self.running.lines.note(tr("What the program prints is not recorded with a block of it."))
        for note in loaded.recording.header.notes:
            self.running.lines.note(note)
        if (last := loaded.last_place) is not None:
            self.running.lines.note(tr("The last line that is known to have run is {line}.", line=last.line))
        self.console.wake()

    def _fill_console(self) -> None:
        """A recording that was opened brings what the script printed."""
        output = None if self.session.loaded is None else self.session.loaded.output
        if self.running.adapter is None and output and not self.running.lines.lines:
            for chunk in output:
                self.running.lines.feed(chunk.stream, chunk.data, chunk.omitted_before)
            self.console.wake()
