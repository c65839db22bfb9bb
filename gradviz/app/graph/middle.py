"""The middle of a tab: the graph with its header, or what stands in its place while there is none."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QStackedWidget, QVBoxLayout, QWidget

from gradviz.app.graph.ask_page import AskPage
from gradviz.app.graph.banner import Banner
from gradviz.app.graph.busy_strip import BusyStrip
from gradviz.app.graph.drawing import Drawing
from gradviz.app.graph.find_bar import FindBar
from gradviz.app.graph.graph_view import GraphView
from gradviz.app.graph.header import Header
from gradviz.app.graph.legend import Legend
from gradviz.app.graph.minimap import Minimap
from gradviz.app.graph.word_page import WordPage
from gradviz.app.look import Look
from gradviz.app.running import Running, file_name, state_words
from gradviz.app.session import Session
from gradviz.app.texts import tr
from gradviz.runner import ending

_MARGIN = 10


class Middle(QWidget):
    """Chooses between the graph, the question, and words.

    Signals:
        button_pressed(): the button of the page of words.
    """

    button_pressed = Signal()

    def __init__(
        self, session: Session, running: Running, drawing: Drawing, look: Look, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._running, self._drawing = session, running, drawing
        self._busy = ""
        self._failure = ""
        self.asking = False
        self._focus_waits = False  # nothing is there yet that could take the keyboard
        self.setProperty("role", "paper")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.header = Header(session)
        self.banner = Banner()
        self.view = GraphView(session, drawing, look)
        self.legend = Legend(drawing, look, self.view)
        self.map = Minimap(self.view, drawing, look)
        self.find_bar = FindBar(session, look, self.view)
        self.busy = BusyStrip(self.view)
        self.note = QLabel(self.view)
        self.ask = AskPage()
        self.words = WordPage()
        self._graph = QWidget()
        self._stack = QStackedWidget()
        self._arrange()
        self._connect()
        self.choose_page()

    def _arrange(self) -> None:
        self._graph.setProperty("role", "paper")
        self._graph.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        inside = QVBoxLayout(self._graph)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(0)
        inside.addWidget(self.header)
        inside.addWidget(self.view, 1)
        inside.addWidget(self.legend)
        for page in (self._graph, self.ask, self.words):
            self._stack.addWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.banner)
        layout.addWidget(self._stack, 1)
        self.note.setProperty("role", "note")  # readable also over boxes
        self.note.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.note.hide()

    def _connect(self) -> None:
        self._drawing.scene_changed.connect(self._take_scene)
        self._drawing.busy_changed.connect(self._show_busy)
        self._session.busy_changed.connect(self._show_busy)
        self.busy.cancelled.connect(self._drawing.cancel)
        self._session.recording_changed.connect(self.choose_page)
        self._session.failed.connect(self._show_failure)
        self._drawing.failed.connect(self._show_failure)
        self._running.changed.connect(self.choose_page)
        self._running.restarted.connect(self._forget_failure)
        self.find_bar.closed.connect(self.view.setFocus)
        self.view.camera_changed.connect(self._place_labels)
        self.words.button.clicked.connect(self.button_pressed)

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self.view.set_look(look)
        self.legend.set_look(look)
        self.find_bar.set_look(look)
        self.map.set_look(look)

    @property
    def page(self) -> str:
        """What is shown: "graph", "ask" or "words"."""
        return ("graph", "ask", "words")[self._stack.currentIndex()]

    def take_focus(self) -> None:
        """Give the keyboard to what is shown: the question, the button of the words, or the graph."""
        page = self.page
        button = page == "words" and self.words.button.isVisibleTo(self.words)
        self._focus_waits = page == "words" and not button
        first = self.ask.run if page == "ask" else self.words.button if button else self.view
        first.setFocus(Qt.FocusReason.OtherFocusReason)

    def picture(self) -> QPixmap:
        """What is seen, with header and legend."""
        return self._graph.grab()

    def choose_page(self) -> None:
        """Show the page that fits the state of things; a keyboard that was at the one before goes with it."""
        before = self._stack.currentWidget()
        focused = QApplication.focusWidget()
        waits = self._focus_waits and self.isVisible() and not isinstance(focused, QLineEdit)
        inside = before is not None and focused is not None and before.isAncestorOf(focused)
        self._choose_page()
        changed = self._stack.currentWidget() is not before
        if (changed and (waits or inside)) or (inside and focused is not None and not focused.isVisibleTo(self)):
            self.take_focus()

    def _choose_page(self) -> None:
        if self.asking:
            self._stack.setCurrentWidget(self.ask)
        elif self._drawing.scene is not None:
            self._stack.setCurrentWidget(self._graph)
        else:
            self._show_words()
            self._stack.setCurrentWidget(self.words)

    def _show_words(self) -> None:
        recording, running = self._session.recording, self._running
        name = file_name(self._session.script or "")
        if running.alive:
            self.words.show_words(
                tr("Running {name}", name=name), state_words(self._session, running), True, tr("Stop")
            )
        elif self._failure:
            again = tr("Run again") if self._session.script else None
            self.words.show_words(tr("This did not work"), self._failure, False, again)
        elif recording is not None and not recording.calls:
            ended = ending(recording)
            last = None if self._session.loaded is None else self._session.loaded.last_place
            if last is not None:
                ended += " " + tr("The last line that is known to have run is {line}.", line=last.line)
            advice = tr(
                "No backward call was recorded, so there is no graph to draw. Call backward() on a result that depends "
                "on a tensor with requires_grad=True, or torch.autograd.grad(), then run the script again."
            )
            self.words.show_words(ended, advice, False, tr("Run again"))
        elif self._busy or recording is not None:
            self.words.show_words(self._busy or tr("Drawing the graph …"), "", True)
        else:
            self.words.show_words(name, tr("The script has not run yet."), False, tr("Run"))

    def _take_scene(self) -> None:
        scene = self._drawing.scene
        if scene is not None:
            self._failure = ""
            self.note.setText(scene.placement.note or "")
            self.note.setVisible(bool(scene.placement.note))
        self.choose_page()
        self._place_labels()

    def _show_busy(self, words: str) -> None:
        self._busy = words
        self.busy.tell(words, self._drawing.working)
        self._place_labels()
        self.choose_page()

    def _show_failure(self, why: str) -> None:
        self._failure = why
        self.choose_page()

    def _forget_failure(self) -> None:
        self._failure = ""

    def resizeEvent(self, event: object) -> None:
        """Keep the small labels in their corners."""
        self._place_labels()

    def _place_labels(self) -> None:
        area = QRectF(self.view.rect())
        self.find_bar.move(int(area.width()) - self.find_bar.width() - _MARGIN, _MARGIN)
        self.map.move(int(area.width()) - self.map.width() - _MARGIN, int(area.height()) - self.map.height() - _MARGIN)
        bottom = int(area.height()) - _MARGIN
        for label in (self.note, self.busy):  # one above the other; the map is in the other corner
            label.adjustSize()
            label.move(_MARGIN * 2, bottom - label.height())
            bottom -= label.height() + _MARGIN if label is self.note and not self.note.isHidden() else 0
