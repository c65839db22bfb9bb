"""Opens the windows of Jacobians of a tab, and closes them with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from gradviz.app.held_calls import HeldCalls, script_call
from gradviz.app.inspector_facts import act_of
from gradviz.app.jacobian.window import JacobianWindow, Wanted
from gradviz.app.look import Look
from gradviz.app.running import Running
from gradviz.app.session import Session
from gradviz.playback.words import short_name

if TYPE_CHECKING:
    from gradviz.app.graph.middle import Middle
    from gradviz.app.workspace import Services


class Jacobians(QObject):
    """The Jacobians that a tab shows; a new run of the script closes them, since they are about another recording."""

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
        self._session, self._held_calls, self._services = session, held_calls, services
        self._parent, self._look = middle, look
        self.windows: list[JacobianWindow] = []  # those that are open
        running.restarted.connect(self.close)

    def open_shown(self) -> JacobianWindow | None:
        """The Jacobian of the call that is shown, by the selected node where one is selected."""
        call, ids = self._session.current_call, self._session.selected_ids
        return None if call is None else self.open(call.label, ids[0] if len(ids) == 1 else None)

    def open(self, label: str, node: int | None = None) -> JacobianWindow | None:
        """The Jacobian of a call (of an experiment: of the call that it was made on) by a node of the stage."""
        call = script_call(self._session.recording, label)
        if call is None:
            return None
        made = JacobianWindow(
            *(self._session, call, self._held_calls, self._services.background, self._look, self._parent.window()),
            wanted=self._input_at(node),
        )
        self.windows.append(made)
        made.closed.connect(lambda: self._forget(made))
        made.show()
        return made

    def _input_at(self, node: int | None) -> Wanted | None:
        """How a node of the stage is asked for as an input: a leaf by its name, another one by its number."""
        story, call = self._session.story, self._session.current_call
        if story is None or call is None or node is None:
            return None
        found = act_of(story.timeline, call.number).recorded.get(node)
        if found is None or found.id in {root.node for root in call.roots}:
            return None  # the root itself is no input worth looking at
        text = found.name if found.kind == "leaf" and found.name else f"#{found.id}"
        return Wanted(text, short_name(found), found.name)

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._look = look
        for window in self.windows:
            window.set_look(look)

    def close(self) -> None:
        """Close them all."""
        for window in tuple(self.windows):
            window.close()

    def _forget(self, window: JacobianWindow) -> None:
        if window in self.windows:
            self.windows.remove(window)
