"""The dock of the script: its text beside the graph, lines and nodes pointing at each other."""

from __future__ import annotations

import os

from PySide6.QtCore import Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QComboBox, QVBoxLayout, QWidget

from gradviz.app.loading import Heat, Source, Story
from gradviz.app.look import Look
from gradviz.app.panels.source_view import LineMark, SourceView
from gradviz.app.session import Session
from gradviz.app.texts import tr, trn
from gradviz.model import Node, Place, ViewState
from gradviz.model.numbers import number_text
from gradviz.playback.words import short_name
from gradviz.render.theme import mix

_MOST_NAMES = 6


class SourcePanel(QWidget):
    """The files of the script that made nodes or calls; the one of the current step is shown.

    Signals:
        line_chosen(str, int): file and line (from 1) that the user clicked.
        failed(str): something did not work; a sentence.
    """

    line_chosen = Signal(str, int)
    failed = Signal(str)

    def __init__(self, session: Session, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._look = look
        self._file: str | None = None
        self._call: int | None = None  # whose file was shown
        self._asked: Place | None = None  # a line that the user wants to see, until something else is shown
        self._warmed: Story | None = None
        self.files = QComboBox(self)
        self.files.setAccessibleName(tr("File"))
        self.view = SourceView(look, self)
        self.view.setAccessibleName(tr("Source of the script"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 4)
        layout.setSpacing(2)
        layout.addWidget(self.files)
        layout.addWidget(self.view, 1)
        self.files.activated.connect(lambda place: self.show_file(self.files.itemData(place)))
        self.view.line_chosen.connect(self._choose)
        session.sources_changed.connect(self.refresh)
        session.story_changed.connect(self._show_marks)
        session.recording_changed.connect(self._show_errors)
        session.view_changed.connect(self._follow_selection)
        session.player.beat_changed.connect(self._follow_step)
        self.refresh()

    def warm(self) -> None:
        """Work out how much gradient arrived at each line, where that is still to be done."""
        story = self._session.story
        if story is not None and story is not self._warmed and story.known_heat is None:
            self._session.background.submit(lambda task: story.heat, lambda _: self._show_marks(), self.failed.emit)
        self._warmed = story

    @property
    def file(self) -> str | None:
        """The file that is shown."""
        return self._file

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._look = look
        self.view.set_look(look)
        self._show_marks()

    def refresh(self) -> None:
        """Take the files of the session."""
        sources = self._session.sources
        kept, self._asked = self._file, None
        self.files.clear()
        for file in sources:
            self.files.addItem(os.path.basename(file), file)
            self.files.setItemData(self.files.count() - 1, file, 3)  # Qt.ToolTipRole
        self.files.setVisible(len(sources) > 1)
        self._file = None
        first = kept if kept in sources else self._session.script if self._session.script in sources else None
        self.show_file(first or next(iter(sources), None))

    def show_file(self, file: str | None) -> None:
        """Show another file."""
        if file == self._file:
            return
        source: Source | None = None if file is None else self._session.sources.get(file)
        self._file = file
        self.view.set_text("" if source is None else source.text, () if source is None else source.spans)
        self.files.setCurrentIndex(self.files.findData(file))
        self._show_marks()
        self._show_errors()

    def reveal(self, place: Place) -> None:
        """Show the file and the line of a place."""
        if place.file in self._session.sources:
            self.show_file(place.file)
            self.view.reveal(place.line)

    def point_at(self, place: Place) -> None:
        """Show a line that the user asks for, and tint it: it may be in sight already."""
        self._asked = place
        self.reveal(place)
        self._show_step()

    # -- what the text wears -------------------------------------------------------------------------------------------

    def _show_marks(self) -> None:
        story = self._session.story
        marks: dict[int, LineMark] = {}
        if story is not None:
            by_id, heat = story.timeline.stage.graph.by_id, story.known_heat or {}
            for (file, line), ids in story.by_line.items():
                if file == self._file:
                    marks[line] = self._mark([by_id[node] for node in ids], heat.get((file, line)))
        self.view.set_marks(marks)
        self._show_step()

    def _mark(self, nodes: list[Node], heat: Heat | None) -> LineMark:
        colors = self._look.colors
        kinds = {node.kind for node in nodes}
        colour = colors.leaf_line if kinds == {"leaf"} else colors.custom_line if "custom" in kinds else colors.accent
        names = [short_name(node) for node in nodes[:_MOST_NAMES]]
        more = f" +{len(nodes) - _MOST_NAMES}" if len(nodes) > _MOST_NAMES else ""
        count = trn("made {n} node: {names}", "made {n} nodes: {names}", len(nodes), names=", ".join(names) + more)
        if heat is None:
            return LineMark(QColor(colour), count)
        warmth = QColor(mix(colors.scale_low, colors.scale_high, heat.share))
        words = tr("largest gradient ‖{norm}‖", norm=number_text(heat.norm))
        return LineMark(QColor(colour), f"{count}\n{words}", warmth)

    def _show_errors(self) -> None:
        errors: dict[int, str] = {}
        recording = self._session.recording
        if recording is not None:
            for call in recording.calls:
                if call.error is not None and call.place is not None and call.place.file == self._file:
                    errors[call.place.line] = f"{call.error.type}: {call.error.message}"
            outcome = recording.outcome
            if outcome.kind == "raised" and outcome.file == self._file and outcome.line is not None:
                errors.setdefault(outcome.line, f"{outcome.type}: {outcome.message}")
        self.view.set_errors(errors)

    def _show_step(self) -> None:
        """Tint the call's line, the lines of the nodes at work, and those of the selected nodes."""
        session = self._session
        self._follow_call()
        tints: dict[int, QColor] = {}
        frame = session.player.frame
        first: Place | None = None
        selected = session.selected_node
        places: list[tuple[Place | None, QColor]] = []
        if frame is not None:
            call = frame.call
            places.append((None if call is None else call.place, self._look.accent_soft))
            places += [(frame.recorded(node).place, self._look.leaf_soft) for node in frame.active[:_MOST_NAMES]]
        if selected is not None:
            places.append((selected.place, self._look.leaf_soft))
        for place, colour in places:
            if place is not None and place.file == self._file:
                tints[place.line] = colour
                first = place
        asked = self._asked
        if asked is not None and asked.file == self._file:
            tints.setdefault(asked.line, self._look.leaf_soft)
            first = asked
        self.view.set_tints(tints)
        if first is not None:
            self.view.reveal(first.line)

    def _follow_call(self) -> None:
        """Another call is shown: show the file in which it was made."""
        call = self._session.current_call
        if call is not None and call.number != self._call:
            self._call = call.number
            if call.place is not None and call.place.file in self._session.sources:
                self.show_file(call.place.file)

    def _follow_selection(self, old: ViewState) -> None:
        node = self._session.selected_node
        if old.selected != self._session.view.selected:
            self._asked = None
            if node is not None and node.place is not None:
                self.reveal(node.place)
        self._show_step()

    def _follow_step(self) -> None:
        call = self._session.current_call
        if call is not None and call.number == self._call:  # else the call of what was asked for is shown only now
            self._asked = None
        self._show_step()

    def _choose(self, line: int) -> None:
        if self._file is not None:
            self.line_chosen.emit(self._file, line)
