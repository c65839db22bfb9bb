"""Try another seed: a call is run again with seeds of the user's, and what the engine does is seen at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gradviz.app.call_words import call_words
from gradviz.app.dialogs.seed_editor import SeedEditor
from gradviz.app.dialogs.step_aside import place_aside
from gradviz.app.held_calls import HeldCalls, Question
from gradviz.app.look import Look
from gradviz.app.seed_roots import RootChoice, freed_by, node_choices, own_choices, tensor_choices
from gradviz.app.session import Session
from gradviz.app.texts import tr
from gradviz.app.what_ifs import WhatIfs
from gradviz.model import Call, Recording
from gradviz.runner.experiments import Held, WhatIf

_SIZE = (480, 470)
_LEAST_HEIGHT = 350


@dataclass(frozen=True)
class _Found:
    """What is learnt of a call when it is held."""

    choices: tuple[RootChoice, ...]
    in_place: bool
    hooks: tuple[str, ...]


class TrySeed(QDialog):
    """Stays open beside the graph, so that one seed after another can be tried.

    Signals:
        tried(str): the experiment with this label is on the graph.
        other_asked(str): the call with this label is to be tried instead.
    """

    tried = Signal(str)
    other_asked = Signal(str)

    def __init__(
        self, session: Session, held_calls: HeldCalls, what_ifs: WhatIfs, look: Look, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.call: Call | None = None
        self.ready = False
        self._looked = False  # the held call has said what can be a root
        self.editors: list[SeedEditor] = []
        self._session, self._held_calls, self._what_ifs, self._look = session, held_calls, what_ifs, look
        self._choices: tuple[RootChoice, ...] = ()
        self._questions: list[Question[Any]] = []
        self._earlier: str | None = None
        self.heading = QLabel()
        self.state = QLabel()
        self.stop_button = QPushButton(tr("Stop"))
        self.end_button = QPushButton(tr("End the snapshot"))
        self.warning = QLabel()
        self.earlier_button = QPushButton()
        self.hooks = QCheckBox()
        self.add_button = QPushButton(tr("Start at another tensor too"))
        self.answer = QLabel()
        self.busy = QProgressBar()
        self.run_button = QPushButton(tr("Try it"))
        self.close_button = QPushButton(tr("Close"))
        self._rows = QVBoxLayout()
        self._arrange()
        self._connect()

    # -- how it looks --------------------------------------------------------------------------------------------------

    def _arrange(self) -> None:
        self.setWindowTitle(tr("Try another seed"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.heading.setProperty("role", "name")
        self.heading.setWordWrap(True)
        self.heading.setTextFormat(Qt.TextFormat.PlainText)
        for label, role in ((self.state, "muted"), (self.warning, "warning"), (self.answer, "muted")):
            label.setProperty("role", role)
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        for button in (self.stop_button, self.end_button, self.earlier_button, self.add_button):
            button.setProperty("role", "link")
            button.setAutoDefault(False)
        self.run_button.setProperty("role", "primary")
        self.run_button.setDefault(True)
        self.close_button.setAutoDefault(False)
        self.busy.setRange(0, 0)
        for widget in (self.stop_button, self.warning, self.earlier_button, self.hooks, self.busy, self.end_button):
            widget.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(18, 14, 18, 14)
        layout.setSpacing(8)
        layout.addWidget(self.heading)
        layout.addLayout(_row(self.state, self.stop_button, self.end_button))
        layout.addLayout(_row(self.warning, self.earlier_button))
        layout.addWidget(self._scrolled(), 1)
        layout.addWidget(self.hooks)
        layout.addWidget(self.busy)
        layout.addWidget(self.answer)
        layout.addLayout(self._buttons())
        self.resize(*_SIZE)

    def _scrolled(self) -> QScrollArea:
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 4, 8, 4)
        column.setSpacing(10)
        self._rows.setSpacing(14)
        column.addLayout(self._rows)
        column.addWidget(self.add_button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)
        area = QScrollArea()
        area.setWidget(inside)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        return area

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.close_button)
        row.addWidget(self.run_button)
        return row

    def _connect(self) -> None:
        self.run_button.clicked.connect(self.try_it)
        self.close_button.clicked.connect(self.reject)
        self.finished.connect(self.let_go)
        self.stop_button.clicked.connect(self._stop)
        self.end_button.clicked.connect(self._end)
        self.add_button.clicked.connect(lambda: self._add_editor())
        self.earlier_button.clicked.connect(lambda: self.other_asked.emit(self._earlier or ""))
        self._held_calls.told.connect(self._tell_run)
        self._held_calls.differed.connect(self._tell_difference)
        self._held_calls.changed.connect(self._follow_snapshots)
        self._what_ifs.shown.connect(self._tell_shown)
        self._what_ifs.failed.connect(self._fail)

    # -- which call ----------------------------------------------------------------------------------------------------

    def begin(
        self,
        call: Call,
        root: RootChoice | None = None,
        seed: str | None = None,
        spare: Sequence[QRect] = (),
        others: Sequence[QRect] = (),
    ) -> None:
        """Try seeds on a call; `root` and `seed` are chosen at first.

        `spare` is not to be hidden, `others` as little as can be (in pixels of the screen).
        """
        recording = self._session.recording
        assert recording is not None
        self.call = call
        self.heading.setText(tr("Call {label}: run it again with another seed", label=call.label))
        self._choices = _with(own_choices(call), root)
        self._add_editor(root, seed)
        self._held_calls.pin(call.label)
        self.look_again(recording)
        self.editors[0].line.setFocus(Qt.FocusReason.OtherFocusReason)
        self.editors[0].line.selectAll()
        parent = self.parentWidget()
        if parent is not None:
            self.resize(_SIZE[0], min(max(self.sizeHint().height(), _LEAST_HEIGHT), _SIZE[1]))
            self.move(place_aside(self.size(), parent.frameGeometry(), spare, others))

    def look_again(self, recording: Recording) -> None:
        """Hold the call, and learn what can be a root there."""
        call = self.call
        assert call is not None
        self._set_ready(False)
        self._tell_state(tr("Looking at call {label} …", label=call.label))
        if call.error is not None:
            self._ask(lambda held, _: freed_by(recording, call), self._offer_earlier)

        def look(held: Held, _: Any) -> _Found:
            names = held.names()
            choices = (*own_choices(call), *tensor_choices(names), *node_choices(recording, call))
            return _Found(choices, held.in_place, held.hooks)

        self._ask(look, self._take_found)

    def _ask(self, work: Any, done: Any) -> None:
        assert self.call is not None
        self._questions = [question for question in self._questions if not question.over]
        self._questions.append(self._held_calls.start(self.call.label, work, done, self._fail))

    def _take_found(self, found: _Found) -> None:
        assert self.call is not None
        self._choices, self._looked = found.choices, True
        self._set_ready(True)
        self.hooks.setVisible(found.in_place and bool(found.hooks))
        self.hooks.setText(tr("Run my hooks too: {names}", names=", ".join(found.hooks)))
        self._tell_state(_state_words(self.call.label, found.in_place))
        difference = self._held_calls.difference(self.call.label)
        if difference is not None:
            self._tell_difference(self.call.label, difference)
        for editor in self.editors:
            # A node of a large graph is not in the list, but may have been chosen on the picture.
            self._choices = _with(self._choices, editor.choice)
            editor.set_choices(self._choices)
            editor.hold(self.call.label)
        self._follow_snapshots()

    def _offer_earlier(self, label: str | None) -> None:
        if label is None or self.call is None:
            return
        self._earlier = label
        self.warning.setText(
            tr(
                "Call {label} failed because call {earlier} had freed the graph: it went through the same nodes "
                "without retain_graph=True, and their saved values are gone. No seed can change that here. At call "
                "{earlier} the graph is still whole.",
                label=self.call.label,
                earlier=label,
            )
        )
        self.warning.show()
        self.earlier_button.setText(tr("Try call {label}", label=label))
        self.earlier_button.show()

    # -- roots ---------------------------------------------------------------------------------------------------------

    def _add_editor(self, root: RootChoice | None = None, seed: str | None = None) -> SeedEditor:
        editor = SeedEditor(self._held_calls, self._look, self)
        editor.set_choices(self._choices, None if root is None else root.text)
        choice = editor.choice
        editor.line.setText(seed or ("ones" if choice is None else choice.seed))
        editor.changed.connect(self._refresh)
        editor.entered.connect(self.try_it)
        editor.removed.connect(lambda: self._remove_editor(editor))
        self.editors.append(editor)
        self._rows.addWidget(editor)
        if self.ready and self.call is not None:
            editor.hold(self.call.label)
        self._refresh()
        return editor

    def _remove_editor(self, editor: SeedEditor) -> None:
        self.editors.remove(editor)
        editor.close_question()
        self._rows.removeWidget(editor)
        editor.hide()
        editor.deleteLater()
        self._refresh()

    def _refresh(self) -> None:
        for editor in self.editors:
            editor.remove.setVisible(len(self.editors) > 1)
        self.run_button.setEnabled(self.ready and all(editor.may_run for editor in self.editors))

    # -- trying --------------------------------------------------------------------------------------------------------

    def try_it(self) -> None:
        """Run the experiment."""
        if not self.run_button.isEnabled():
            return
        seeds = [editor.seed for editor in self.editors]
        roots = [editor.choice.text for editor in self.editors if editor.choice is not None]
        hooks, what_ifs = self.hooks.isChecked() and not self.hooks.isHidden(), self._what_ifs

        def work(held: Held, _: Any) -> WhatIf:
            return what_ifs.adopt(held.run(seeds, roots, hooks))

        for editor in self.editors:
            editor.close_question()
        if self.run_button.hasFocus():  # it is disabled next, and the keyboard would go to the choice of the root
            self.editors[0].line.setFocus(Qt.FocusReason.OtherFocusReason)
        self._set_ready(False)
        self._tell_result(tr("Running …"), "muted")
        self._ask(work, self._take_what_if)

    def _take_what_if(self, what_if: WhatIf) -> None:
        self._set_ready(True)
        if what_if.error is not None:
            self._tell_result(tr("The engine failed: {why}", why=what_if.error), "error")
        elif what_if.notes:
            self._tell_result(" ".join(what_if.notes), "warning")
        else:
            self._tell_result("", "muted")
        self._what_ifs.add(what_if)
        recording = self._session.recording
        if not self._looked and recording is not None:  # the call could not be held before
            self.look_again(recording)
            return
        for editor in self.editors:
            editor.hold(self.call.label if self.call is not None else None)
        self._follow_snapshots()

    def _tell_shown(self, label: str) -> None:
        if not self.answer.text() or self.answer.property("role") == "muted":
            words = tr("In the list of calls, and played on the graph: {call}.", call=call_words(label))
            self._tell_result(words, "muted")
        self.tried.emit(label)

    # -- the state of things -------------------------------------------------------------------------------------------

    def _set_ready(self, ready: bool) -> None:
        self.ready = ready
        self.busy.setVisible(not ready)
        self.stop_button.setVisible(not ready)
        self._refresh()

    def _tell_state(self, words: str) -> None:
        self.state.setText(words)

    def _tell_run(self, words: str) -> None:
        if words:
            self._tell_state(words)

    def _tell_difference(self, label: str, words: str) -> None:
        if self.call is not None and label == self.call.label:
            self.warning.setText(tr("This run is not the recorded one. {what}", what=words))
            self.warning.show()

    def _tell_result(self, words: str, role: str) -> None:
        self.answer.setText(words)
        self.answer.setProperty("role", role)
        self.answer.style().polish(self.answer)

    def _fail(self, why: str) -> None:
        self.busy.hide()
        self.stop_button.hide()
        self._tell_result(why, "error")
        live = self.call is not None and self._held_calls.readiness(self.call.label) == "live"
        # With nobody to ask any more, trying again holds the call again first.
        self.ready = live or bool(self._choices)
        self._refresh()

    def _follow_snapshots(self) -> None:
        live = self.call is not None and self._held_calls.readiness(self.call.label) == "live"
        self.end_button.setVisible(live and self.ready)

    def _stop(self) -> None:
        self._held_calls.stop()
        for question in self._questions:
            question.cancel()

    def _end(self) -> None:
        if self.call is None:
            return
        for editor in self.editors:
            editor.close_question()
            editor.hold(None)
        self._held_calls.end(self.call.label)
        self.end_button.hide()
        self._tell_state(tr("The snapshot has ended. Trying a seed runs the script again up to this call."))

    def let_go(self) -> None:
        """Nobody waits for answers any more; the snapshot stays until the tab closes or others need its place."""
        for editor in self.editors:
            editor.close_question()
        for question in self._questions:
            question.drop()
        self._questions.clear()
        if self.call is not None:
            self._held_calls.unpin(self.call.label)


def _with(choices: tuple[RootChoice, ...], one: RootChoice | None) -> tuple[RootChoice, ...]:
    return choices if one is None or any(each.text == one.text for each in choices) else (*choices, one)


def _state_words(label: str, in_place: bool) -> str:
    if in_place:
        return tr("The script itself is held at call {label}; what an experiment changes is put back.", label=label)
    return tr(
        "A copy of the script is held at call {label}; the script and its recording are not touched.", label=label
    )


def _row(words: QLabel, *buttons: QPushButton) -> QHBoxLayout:
    row = QHBoxLayout()
    row.addWidget(words, 1)
    for button in buttons:
        row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
    return row
