"""Two calls side by side with one camera, their differences coloured and listed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QCloseEvent, QColor, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QLabel, QSplitter, QTableView, QVBoxLayout, QWidget

from gradviz.app.background import Background, Errands, Task
from gradviz.app.compare import Difference, compare
from gradviz.app.graph.drawing import Drawing
from gradviz.app.graph.graph_view import GraphView
from gradviz.app.look import Look
from gradviz.app.session import Session
from gradviz.app.texts import tr, trn
from gradviz.layout.client import LayoutClient
from gradviz.model import Recording
from gradviz.model.numbers import brief, number_text
from gradviz.render.shapes import Bounds, united
from gradviz.render.theme import mix

Index = QModelIndex | QPersistentModelIndex
_VISIBLE = 1e-6  # a smaller relative difference is rounding
_SIZE = (1280, 820)


@dataclass(frozen=True)
class Side:
    """A call of a recording; `title` tells it apart from the other."""

    recording: Recording
    number: int
    title: str


class CompareWindow(QWidget):
    """A window of its own.

    Signals:
        failed(str): something did not work; a sentence.
        compared(): the differences are there.
    """

    failed = Signal(str)
    compared = Signal()

    def __init__(
        self,
        left: Side,
        right: Side,
        background: Background,
        studio: Background,
        layout: LayoutClient,
        look: Look,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self._background = Errands(background)
        self._look = look
        self._task: Task[tuple[Difference, ...]] | None = None
        self._moving = False
        self.panes = tuple(Pane(side, background, studio, layout, look, self) for side in (left, right))
        self.words = QLabel(tr("Comparing …"))
        self.model = DifferenceModel(look, self)
        self.table = QTableView()
        self._arrange(left, right)
        for pane, other in (self.panes, self.panes[::-1]):
            self._tie(pane, other)

    def _arrange(self, left: Side, right: Side) -> None:
        self.setWindowTitle(tr("{left} and {right}", left=left.title, right=right.title))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.words.setProperty("role", "muted")
        self.words.setContentsMargins(14, 6, 14, 6)
        self.table.setModel(self.model)
        self.table.setAccessibleName(tr("Differences"))
        self.table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.table.horizontalHeader().setDefaultSectionSize(200)
        self.table.setShowGrid(False)
        self.table.selectionModel().currentRowChanged.connect(self._choose)
        graphs = QSplitter(Qt.Orientation.Horizontal)
        for pane in self.panes:
            graphs.addWidget(pane)
        graphs.setSizes([_SIZE[0] // 2] * 2)
        lower = QWidget()
        inside = QVBoxLayout(lower)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(self.words)
        inside.addWidget(self.table)
        whole = QSplitter(Qt.Orientation.Vertical)
        whole.addWidget(graphs)
        whole.addWidget(lower)
        whole.setStretchFactor(0, 3)
        whole.setStretchFactor(1, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(whole)
        self.resize(*_SIZE)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Close), self, self.close)
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)  # the arrow keys go from difference to difference

    def _tie(self, pane: Pane, other: Pane) -> None:
        """What is seen and selected in one is seen and selected in the other."""
        pane.view.camera_changed.connect(lambda: self._follow(pane, other))
        pane.view.box_clicked.connect(lambda box, adds: self._select(pane.drawing.key_of(box) if box else None))
        pane.session.failed.connect(self.failed)
        pane.drawing.failed.connect(self.failed)
        pane.drawing.scene_changed.connect(self._compare)

    def _follow(self, pane: Pane, other: Pane) -> None:
        if not self._moving and other.drawing.scene is not None:
            self._moving = True
            other.view.look_at(pane.view.camera)
            self._moving = False

    def _select(self, key: str | None) -> None:
        for pane in self.panes:
            pane.session.glance(selected=() if key is None else (key,))

    # -- differences ---------------------------------------------------------------------------------------------------

    def _compare(self) -> None:
        stories = [pane.session.story for pane in self.panes]
        scenes = [pane.drawing.scene for pane in self.panes]
        if self._task is None and all(stories) and all(scenes):
            self._see_both([scene.bounds for scene in scenes if scene is not None])
            left, right = (story.timeline for story in stories if story is not None)
            self._task = self._background.submit(lambda task: compare(left, right), self._take, self.failed.emit)

    def _see_both(self, bounds: Sequence[Bounds]) -> None:
        """One camera that shows both graphs whole."""
        for pane in self.panes:
            pane.view.fit_together(united(bounds))

    def _take(self, differences: tuple[Difference, ...]) -> None:
        self.model.set_differences(differences)
        gradients = [d for d in differences if not d.is_seed]
        apart = [d for d in gradients if d.distance > _VISIBLE]
        same = len(gradients) - len(apart)
        if apart:
            words = trn("{n} gradient differs", "{n} gradients differ", len(apart))
            words += ", " + trn("{n} is equal", "{n} are equal", same)
        else:
            words = trn("The gradient is equal.", "All {n} gradients are equal.", len(gradients))
        self.words.setText(words)
        for pane in self.panes:
            pane.show_differences(apart, self._look)
        self.compared.emit()

    def _choose(self, index: QModelIndex) -> None:
        if not index.isValid():
            return
        key = self.model.differences[index.row()].key
        self._select(key)
        for pane in self.panes:
            pane.reveal(key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes the window, as it does a dialog."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Let go of everything."""
        self._background.close()
        for pane in self.panes:
            pane.close_session()
        event.accept()


class Pane(QWidget):
    """One of the two calls."""

    def __init__(
        self,
        side: Side,
        background: Background,
        studio: Background,
        layout: LayoutClient,
        look: Look,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.session = Session(background, self)
        self.session.player.reduced_motion = True
        self.drawing = Drawing(self.session, studio, layout, self)
        self.drawing.set_theme(look.name)
        self.view = GraphView(self.session, self.drawing, look)
        title = QLabel(side.title)
        title.setProperty("role", "name")
        title.setContentsMargins(14, 8, 8, 4)
        inside = QVBoxLayout(self)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(0)
        inside.addWidget(title)
        inside.addWidget(self.view, 1)
        self.session.tell_alone(side.recording, side.number)

    def show_differences(self, apart: Sequence[Difference], look: Look) -> None:
        """Colour the boxes by how much they differ; a group wears its largest difference."""
        colours: dict[int, QColor] = {}
        for difference in reversed(apart):  # the largest comes last and stays
            for box in self.drawing.boxes_of((difference.key,)):
                share = min(difference.distance, 1.0)
                colours[box.index] = QColor(mix(look.colors.scale_low, look.colors.accent, share))
        self.view.tint(colours)

    def reveal(self, key: str) -> None:
        """See the box that shows a node."""
        scene = self.drawing.scene
        for box in self.drawing.boxes_of((key,)):
            if scene is not None:
                self.view.reveal(scene.cards[box.index])

    def close_session(self) -> None:
        """Let go of what is shown."""
        self.view.close_picture()
        self.drawing.close()
        self.session.close()


class DifferenceModel(QAbstractTableModel):
    """The differences as a table."""

    def __init__(self, look: Look, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.differences: tuple[Difference, ...] = ()

    def set_differences(self, differences: tuple[Difference, ...]) -> None:
        """Show other differences."""
        self.beginResetModel()
        self.differences = differences
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        """How many rows there are."""
        return 0 if parent.isValid() else len(self.differences)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """How many columns there are."""
        return 6

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The name of a column."""
        if role != Qt.ItemDataRole.DisplayRole or orientation != Qt.Orientation.Horizontal:
            return None
        return (tr("Node"), tr("What"), tr("Left"), tr("Right"), tr("Right − left"), tr("Difference"))[section]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What is shown of a cell, role by role."""
        difference = self.differences[index.row()]
        if role == Qt.ItemDataRole.ForegroundRole and difference.distance > _VISIBLE:
            return self._look.accent_ink
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        missing = tr("not there")
        left = missing if difference.where == "right" else brief(difference.left)
        right = missing if difference.where == "left" else brief(difference.right)
        texts = (difference.name, difference.detail, left, right, difference.change, _percent(difference.distance))
        return texts[index.column()]


def _percent(share: float) -> str:
    """A share in percent: `12.50%`; one that two digits would round away is told as it is."""
    return f"{share:.2%}" if share == 0.0 or share >= 1e-4 else f"{number_text(100 * share)}%"
