"""Trying other seeds in a tab: from the list of calls, a node, the drawn seed, a finding; and comparing what came."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtWidgets import QMenu

from gradviz.app.background import Errands
from gradviz.app.dialogs.try_seed import TrySeed
from gradviz.app.held_calls import HeldCalls, call_label, script_call
from gradviz.app.look import Look
from gradviz.app.running import Running
from gradviz.app.seed_offers import offer
from gradviz.app.seed_roots import RootChoice, node_choice, own_choices
from gradviz.app.session import Session
from gradviz.app.texts import tr
from gradviz.app.what_ifs import WhatIfs
from gradviz.model import Call, Finding
from gradviz.render import Box

if TYPE_CHECKING:
    from gradviz.app.graph.graph_view import GraphView
    from gradviz.app.graph.middle import Middle
    from gradviz.app.panels.calls_panel import CallsPanel
    from gradviz.app.panels.findings_panel import FindingsPanel
    from gradviz.app.workspace import Services


class Seeds(QObject):
    """Opens the dialog and the menus that lead to it; keeps what was tried.

    Signals:
        failed(str): an experiment could not be kept; a sentence.
        compare_asked(Call, Call): these two are to be seen side by side.
        comparing_asked(Call): this one and another one that is still to be chosen.
        jacobian_asked(str, object): the Jacobian of the call with this label, by a node of the stage (None: any).
    """

    failed = Signal(str)
    compare_asked = Signal(object, object)
    comparing_asked = Signal(object)
    jacobian_asked = Signal(str, object)

    def __init__(
        self,
        session: Session,
        running: Running,
        held_calls: HeldCalls,
        services: Services,
        middle: Middle,
        look: Look,
    ) -> None:
        super().__init__(middle)
        self._session, self._held_calls, self._parent, self._look = session, held_calls, middle, look
        self._errands = Errands(services.background)
        self.what_ifs = WhatIfs(session, running, services.recovery, self._errands, self)
        self.dialog: TrySeed | None = None
        self._banner, self._view = middle.banner, middle.view
        self._offered: Call | None = None  # the call that the banner was about
        self.what_ifs.failed.connect(self.failed)
        running.restarted.connect(self.close_dialog)
        for signal in (session.recording_changed, session.story_changed, session.player.beat_changed):
            signal.connect(self._offer_above)

    def follow(self, calls: CallsPanel, view: GraphView, findings: FindingsPanel) -> None:
        """Offer it where calls, nodes, seeds and findings are seen."""
        findings.try_asked.connect(self.try_finding)
        calls.menu_asked.connect(lambda number, point: self.call_menu(number).popup(point))
        view.menu_asked.connect(self._pop_node_menu)
        view.seed_clicked.connect(self._try_root)

    def set_look(self, look: Look) -> None:
        """Take other colours for the next dialog."""
        self._look = look

    def close(self) -> None:
        """Close the dialog and forget what waits."""
        self.close_dialog()
        self._errands.close()
        self.what_ifs.close()

    def close_dialog(self) -> None:
        """Close the dialog: what it asked of is gone."""
        if self.dialog is not None:
            self.dialog.reject()

    # -- trying --------------------------------------------------------------------------------------------------------

    def try_call(self, label: str, root: RootChoice | None = None, seed: str | None = None) -> TrySeed | None:
        """Open the dialog for a call, of an experiment for the call that it was made on."""
        call = script_call(self._session.recording, label)
        if call is None:
            return None
        self.close_dialog()
        dialog = TrySeed(self._session, self._held_calls, self.what_ifs, self._look, self._parent.window())
        self.dialog = dialog
        dialog.finished.connect(lambda _: self._forget(dialog))
        dialog.other_asked.connect(self.try_call)
        dialog.begin(call, root, seed, self._view.drawn_roots(), self._view.drawn_boxes())
        dialog.show()
        return dialog

    def try_shown(self) -> TrySeed | None:
        """Open the dialog for the call that is shown, at the selected node where one is selected."""
        call, ids = self._session.current_call, self._session.selected_ids
        if call is None:
            return None
        return self.try_call(call.label, self._root_at(call, ids[0]) if len(ids) == 1 else None)

    def try_finding(self, finding: Finding) -> TrySeed | None:
        """Open the dialog with the seed that answers a finding."""
        recording = self._session.recording
        if recording is None or finding.call is None:
            return None
        label = recording.call(finding.call).label
        found = offer(finding, label)
        return self.try_call(label, seed=None if found is None else found.seed)

    def _offer_above(self) -> None:
        """A call that is shown and failed for want of a fitting seed offers one above the graph, once."""
        call = self._session.current_call
        if call is None or call.error is None or self._banner.isVisible() or self._offered == call:
            return
        for finding in self._session.findings:
            found = offer(finding, call.label) if finding.call == call.number else None
            if found is not None and found.reason:
                self._offered = call
                self._banner.tell(found.reason, found.words, partial(self.try_finding, finding))
                return

    def _try_root(self, place: int) -> None:
        call = self._session.current_call
        if call is not None:
            self.try_call(call.label, own_choices(call)[place])

    def _root_at(self, call: Call, node: int) -> RootChoice | None:
        """The root that a node of the picture can be: the call's own there, else the node; None for a leaf."""
        story = self._session.story
        found = None if story is None else story.timeline.stage.graph.by_id.get(node)
        if found is None or found.kind == "leaf":
            return None
        for root, choice in zip(call.roots, own_choices(call), strict=True):
            if root.node == node:
                return choice
        return None if call.what_if else node_choice(found)

    def _forget(self, dialog: TrySeed) -> None:
        if self.dialog is dialog:
            self.dialog = None

    # -- menus ---------------------------------------------------------------------------------------------------------

    def call_menu(self, number: int) -> QMenu:
        """What can be done with a call."""
        recording = self._session.recording
        menu = QMenu(self._parent)
        menu.aboutToHide.connect(menu.deleteLater)
        if recording is None:
            return menu
        call = recording.call(number)
        label = call_label(call.label)
        menu.addAction(tr("Try another seed …")).triggered.connect(lambda: self.try_call(label))
        menu.addAction(tr("Jacobian …")).triggered.connect(lambda: self.jacobian_asked.emit(label, None))
        menu.addSeparator()
        if call.what_if:
            own = recording.call_by_label(label)
            words = tr("Compare with call {label}", label=label)
            menu.addAction(words).triggered.connect(lambda: self.compare_asked.emit(own, call))
        menu.addAction(tr("Compare with …")).triggered.connect(lambda: self.comparing_asked.emit(call))
        if self._held_calls.readiness(label) == "live":
            menu.addSeparator()
            words = tr("End the snapshot of call {label}", label=label)
            menu.addAction(words).triggered.connect(lambda: self._held_calls.end(label))
        return menu

    def node_menu(self, box: Box) -> QMenu | None:
        """What can be done with a node; a group has no menu."""
        call = self._session.current_call
        if box.kind == "group" or not box.nodes or call is None:
            return None
        root, node = self._root_at(call, box.nodes[0]), box.nodes[0]
        menu = QMenu(self._parent)
        menu.aboutToHide.connect(menu.deleteLater)
        if root is not None:
            words = tr("Try another seed here …")
            menu.addAction(words).triggered.connect(lambda: self.try_call(call.label, root))
        words = tr("Jacobian by this …")
        menu.addAction(words).triggered.connect(lambda: self.jacobian_asked.emit(call.label, node))
        return menu

    def _pop_node_menu(self, box: Box, point: QPoint) -> None:
        menu = self.node_menu(box)
        if menu is not None:
            menu.popup(point)
