"""The dock about what is selected: a node's facts, its tensors, its `.grad` over the calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from gradviz.app.background import Task
from gradviz.app.graph.drawing import Drawing
from gradviz.app.group_facts import edge_facts, group_facts
from gradviz.app.inspector_facts import Fact, Facts, Link, act_of, node_facts
from gradviz.app.loading import Story
from gradviz.app.look import Look
from gradviz.app.panels.grad_bars import GradBars
from gradviz.app.panels.history_view import HistoryView
from gradviz.app.panels.paths_view import PathsView
from gradviz.app.panels.rule_card import RuleCard
from gradviz.app.panels.soft_label import SoftLabel, softened
from gradviz.app.panels.tensor_view import TensorView
from gradviz.app.session import Session
from gradviz.app.texts import tr
from gradviz.model import Call, Recording

_TWO_COLUMNS = 250  # pixels; in less, the values beside their labels would be a word wide


@dataclass(frozen=True)
class Subject:
    """What is inspected: a node, edges, or a group (by key), in a call of a story; `chosen` by the user, or by us."""

    story: Story
    call: int | None
    node: int | None = None
    edges: tuple[int, ...] = ()
    group: str = ""
    chosen: bool = True


class InspectorPanel(QScrollArea):
    """What is known of the selected node, group or edge.

    Signals:
        shown(): the facts of what is selected are there.
        place_chosen(Place): the user wants to see this line.
        call_chosen(int): the user wants to see this call.
        failed(str): something could not be written; a sentence.
    """

    shown = Signal()
    place_chosen = Signal(object)
    call_chosen = Signal(int)
    failed = Signal(str)

    def __init__(self, session: Session, drawing: Drawing, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._drawing = drawing
        self._look = look
        self._shown: Subject | None = None
        self._task: Task[Facts] | None = None
        self.hint = QLabel(
            tr("This is the root, where the seed enters. Click any node to see what arrives there and what leaves it.")
        )
        self.name = SoftLabel()
        self.subtitle = SoftLabel()
        self.rows = _Rows()
        self.rows.followed.connect(self._follow)
        self.rules = RuleCard()
        self.paths = PathsView(session.background, look)
        self.paths.failed.connect(self.failed)
        self.bars = GradBars(look, self._colour)
        self.history = HistoryView(session.background, look, self._colour)
        self.history.shown_changed.connect(self._show_sections)
        self.history.call_chosen.connect(self.call_chosen)
        # Queued: there is room for the answer only when the panel has been laid out anew.
        self.history.answered.connect(self._show_answer, Qt.ConnectionType.QueuedConnection)
        self.history.failed.connect(self.failed)
        self.tensor = TensorView(look)
        self.tensor.failed.connect(self.failed)
        self._sections: list[tuple[QLabel, QWidget]] = []
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(tr("About the selected node"))
        self.setWidget(self._arrange())
        session.story_changed.connect(self.refresh)
        drawing.scene_changed.connect(self.refresh)
        session.view_changed.connect(lambda _: self.refresh())
        session.player.beat_changed.connect(self.refresh)
        self.set_look(look)
        self.refresh()

    def _arrange(self) -> QWidget:
        inside = QWidget()
        layout = QVBoxLayout(inside)
        layout.setContentsMargins(14, 0, 12, 10)
        layout.setSpacing(4)
        self.name.setProperty("role", "title")
        self.subtitle.setProperty("role", "muted")
        self.hint.setProperty("role", "muted")
        self.hint.setWordWrap(True)
        self.hint.setContentsMargins(0, 0, 0, 8)
        self.hint.hide()
        layout.addWidget(self.hint)
        layout.addWidget(self.name)
        layout.addWidget(self.subtitle)
        layout.addSpacing(4)
        layout.addWidget(self.rows)
        layout.addSpacing(10)
        for title, widget in (
            (tr("The rule here"), self.rules),
            (tr("The sum behind"), self.paths),
            (tr(".grad over calls"), self.bars),
            (tr("History of .grad"), self.history),
            (tr("Tensor"), self.tensor),
        ):
            section = QLabel(title.upper())
            section.setProperty("role", "section")
            self._sections.append((section, widget))
            layout.addWidget(section)
            layout.addWidget(widget)
            layout.addSpacing(8)
        layout.addStretch(1)
        return inside

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._look = look
        self.rows.renew()
        self.bars.set_look(look)
        self.paths.set_look(look)
        self.history.set_look(look)
        self.tensor.set_look(look)

    # -- what is shown -------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show the facts of what is selected in the current call; they are worked out in the background.

        Where nothing is selected it is the root, so that there is something to read from the start.
        """
        subject = self._subject()
        self.hint.setVisible(subject is not None and not subject.chosen)
        if subject is None:
            self._show_nothing()
        elif subject != self._shown:
            self._shown = subject
            self._cancel()
            work = self._work(subject)
            self._task = self._session.background.submit(
                lambda task: work(), lambda facts: self._show(subject, facts), self.failed.emit
            )

    def _subject(self) -> Subject | None:
        session = self._session
        story, call, keys = session.story, session.current_call, session.view.selected
        if story is None or not story.timeline.acts:
            return None
        number = None if call is None else call.number
        if not keys:
            root = _root(story, call)
            return None if root is None else Subject(story, number, node=root, chosen=False)
        if session.selected_edges:
            return Subject(story, number, edges=session.selected_edges)
        node = session.selected_node
        if node is not None:
            return Subject(story, number, node=node.id)
        scene = self._drawing.scene
        group = None if scene is None else scene.plan.tree.by_key.get(keys[0])
        return None if group is None else Subject(story, number, group=group.key)

    def _work(self, subject: Subject) -> Callable[[], Facts]:
        timeline, call = subject.story.timeline, subject.call
        if subject.edges:
            return lambda: edge_facts(timeline, call, subject.edges)
        if subject.node is not None:
            node = subject.node
            return lambda: node_facts(timeline, call, node)
        scene = self._drawing.scene
        assert scene is not None
        tree = scene.plan.tree
        group = tree.by_key[subject.group]
        return lambda: group_facts(timeline, call, group, tree.members(group.index))

    def _show(self, subject: Subject, facts: Facts) -> None:
        self._task = None
        self.name.setText(facts.name)
        self.subtitle.setText(facts.subtitle)
        self.subtitle.show()
        self.rows.set_facts(facts.facts)
        self.rules.set_rules(facts.rules)
        self.paths.set_subject(subject.story, subject.call, subject.node)
        self.bars.set_states(facts.grads)
        self.history.set_subject(*_grads_of(subject))
        self.tensor.set_tensors(facts.tensors)
        self._show_sections()
        self.shown.emit()

    def _show_sections(self) -> None:
        for section, widget in self._sections:
            section.setVisible(not widget.isHidden())

    def _show_answer(self) -> None:
        self.ensureWidgetVisible(self.history.words)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _show_nothing(self) -> None:
        self._cancel()
        self._shown = None
        self.name.setText("")
        told = self._session.story is not None
        self.subtitle.setText(tr("Click a node to see what arrives there and what leaves it.") if told else "")
        self.rows.set_facts(())
        self.rules.set_rules(())
        self.paths.set_subject(None, None, None)
        self.bars.set_states(())
        self.history.set_subject(None, ())
        self.tensor.set_tensors(())
        self._show_sections()

    def _follow(self, link: Link) -> None:
        if link.place is not None:
            self.place_chosen.emit(link.place)
        else:
            self._session.select_nodes(link.nodes)

    def _colour(self, number: int) -> QColor:
        return self._look.call_colour(self._session.call_place(number))


def _root(story: Story, call: Call | None) -> int | None:
    """The stage's node of the first root of a call, None where it has no node."""
    stage = story.timeline.stage
    roots = () if call is None else call.roots
    nodes = (stage.stand_in(root.node) for root in roots if root.node is not None)
    return next((node for node in nodes if node in stage.graph.by_id), None)


def _grads_of(subject: Subject) -> tuple[Recording | None, tuple[tuple[int, int], ...]]:
    """The recording and the `.grad`s (recorded node, output) that a subject may have."""
    if subject.node is None:
        return None, ()
    timeline = subject.story.timeline
    node = act_of(timeline, subject.call).recorded.get(subject.node)
    if node is None:
        node = timeline.stage.graph.by_id[subject.node]
    return timeline.recording, tuple((node.id, output) for output in range(max(len(node.outputs), 1)))


def _label(fact: Fact) -> QLabel:
    label = QLabel(fact.label)
    label.setProperty("role", "muted")
    return label


class _Rows(QWidget):
    """Labels and values in two columns, in a narrow panel each value below its label; a value may be a link.

    Signals:
        followed(Link): a link was clicked.
    """

    followed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(5)
        self._grid.setColumnStretch(1, 1)
        self._facts: tuple[Fact, ...] = ()
        self._pairs: list[tuple[QLabel, QWidget]] = []
        self._narrow = False

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What is shown."""
        return self._facts

    def set_facts(self, facts: Sequence[Fact]) -> None:
        """Show other rows."""
        if tuple(facts) == self._facts:
            return
        self._facts = tuple(facts)
        while self._grid.count():
            item = self._grid.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self._pairs = [(_label(fact), self._value(fact)) for fact in self._facts]
        self._place()

    def renew(self) -> None:
        """Make the rows anew: a link keeps the colour that it was made with."""
        facts = self._facts
        self.set_facts(())
        self.set_facts(facts)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the columns to the width."""
        super().resizeEvent(event)
        narrow = self.width() < _TWO_COLUMNS
        if narrow != self._narrow:
            self._narrow = narrow
            self._place()

    def _place(self) -> None:
        for row, (label, value) in enumerate(self._pairs):
            if self._narrow:
                self._grid.addWidget(label, 2 * row, 0, 1, 2)
                self._grid.addWidget(value, 2 * row + 1, 0, 1, 2)
            else:
                self._grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignTop)
                self._grid.addWidget(value, row, 1)
            label.setVisible(bool(label.text()))

    def _value(self, fact: Fact) -> QWidget:
        text = SoftLabel(fact.text)
        text.setProperty("role", {"plain": "", "error": "error"}.get(fact.role, fact.role))
        text.setMinimumWidth(40)
        if fact.link is None:
            return text
        link = fact.link
        text.set_link(f'<a href="#" style="text-decoration: none">{escape(softened(fact.text))}</a>')
        text.setAccessibleName(f"{fact.label} {fact.text}")
        text.linkActivated.connect(lambda _: self.followed.emit(link))
        return text
