"""The window of a Jacobian: root and input are chosen, the matrix is computed, its seed is changed and swept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gradviz.app.background import Background, Errands, Task
from gradviz.app.held_calls import HeldCalls, Question
from gradviz.app.jacobian.check_row import CheckRow
from gradviz.app.jacobian.map_view import JacobianMap
from gradviz.app.jacobian.matrix import JacobianMatrix, own_gradient, own_seed, read_matrix, rows_asked
from gradviz.app.jacobian.seed_bar import SeedBar
from gradviz.app.jacobian.words import about, gradient_words
from gradviz.app.look import Look
from gradviz.app.seed_roots import own_choices
from gradviz.app.session import Session
from gradviz.app.texts import tr
from gradviz.errors import RecordingError, SeedError
from gradviz.model import Call, Gradient, Recording
from gradviz.model.numbers import shape_text
from gradviz.runner.experiments import Held, NamedTensor, Report

Array = npt.NDArray[Any]
_SIZE = (980, 760)
_MOST_NAME = 360  # pixels of a list of tensors
_AT_ONCE = 1 << 21  # products; more would hold the event loop for too long


@dataclass(frozen=True)
class Wanted:
    """An input that is asked for: how it is asked for, how it is called, and the script's own name for it."""

    text: str
    words: str
    name: str | None


class JacobianWindow(QWidget):
    """One Jacobian of a call that is held, or that the script is run again to.

    Signals:
        computed(): the matrix is there.
        told(str): what could not be done, in a sentence; empty when that is over.
        listed(): the tensors to choose from are there.
        closed(): it is about to go.
    """

    computed = Signal()
    told = Signal(str)
    listed = Signal()
    closed = Signal()

    def __init__(
        self,
        session: Session,
        call: Call,
        held_calls: HeldCalls,
        background: Background,
        look: Look,
        parent: QWidget | None = None,
        wanted: Wanted | None = None,
    ) -> None:
        """`wanted` is the input that is asked for; None: the first leaf."""
        super().__init__(parent, Qt.WindowType.Window)
        self._session, self._call, self._held_calls = session, call, held_calls
        self._background = Errands(background)
        self._wanted = wanted
        self._question: Question[Any] | None = None
        self._combining: Task[Array] | None = None
        self.matrix: JacobianMatrix | None = None
        self.combined: Array = np.zeros(0)
        self._own: Gradient = None
        self.root = QComboBox()
        self.input = QComboBox()
        self.rows = QLineEdit()
        self.compute = QPushButton(tr("Compute"))
        self.cancel = QPushButton(tr("Cancel"))
        self.progress = QProgressBar()
        self.state = QLabel()
        self.map = JacobianMap(self._background, look)
        self.words = QLabel()
        self.fold = QCheckBox(tr("Only the blocks on the diagonal"))
        self.seeds = SeedBar()
        self.check = CheckRow(self)
        self._arrange()
        self._connect()
        self._list()

    # -- layout --------------------------------------------------------------------------------------------------------

    def _arrange(self) -> None:
        self.setWindowTitle(tr("Jacobian of call {label}", label=self._call.label))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "window")
        self.rows.setPlaceholderText(tr("all rows"))
        self.rows.setToolTip(tr("Which rows are computed: 0-63, 128. Of a large root not all fit."))
        self.rows.setMaximumWidth(130)
        for widget, name in ((self.root, tr("Root")), (self.input, tr("Input")), (self.rows, tr("Rows"))):
            widget.setAccessibleName(name)
        for box in (self.root, self.input):  # their tensors are known only when the window is shown
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            box.setMaximumWidth(_MOST_NAME)
        for label, role in ((self.state, "muted"), (self.words, "value")):
            label.setProperty("role", role)
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 12, 16, 12)
        layout.setSpacing(8)
        layout.addLayout(
            _line(QLabel("d"), self.root, QLabel("/ d"), self.input, self.rows, self.compute, self.cancel, stretch=True)
        )
        layout.addWidget(self.progress)
        layout.addWidget(self.state)
        layout.addWidget(self.map, 1)
        layout.addWidget(self.words)
        layout.addLayout(_line(self.seeds, self.fold, stretch=True))
        layout.addWidget(self.check)
        self.resize(*_SIZE)
        self._show_busy(False)
        self.fold.hide()

    def _connect(self) -> None:
        self.compute.clicked.connect(self.ask)
        self.cancel.clicked.connect(self._cancel)
        self.rows.returnPressed.connect(self.ask)
        self.root.activated.connect(lambda _: self.ask())
        self.input.activated.connect(lambda _: self.ask())
        self.fold.toggled.connect(self._fold)
        self.map.row_chosen.connect(self.seeds.choose)
        self.map.toggled.connect(self.seeds.toggle)
        self.map.column_chosen.connect(self.check.choose)
        self.seeds.changed.connect(self._combine)
        self.seeds.row_wanted.connect(self.map.choose)
        self.check.asked.connect(self._measure)

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self.map.set_look(look)

    # -- which tensors -------------------------------------------------------------------------------------------------

    def _list(self) -> None:
        for choice in own_choices(self._call):
            self.root.addItem(choice.words, choice.text)
        if self._wanted is not None:
            self.input.addItem(self._wanted.words, self._wanted.text)
        self._start(lambda held, _: held.names(), self._take_names, tr("Looking at the tensors of the call …"))

    def _take_names(self, names: tuple[NamedTensor, ...]) -> None:
        self._question = None
        self._show_busy(False)
        for tensor in sorted(names, key=lambda tensor: not tensor.is_leaf):
            words = f"{tensor.name} · {shape_text(tensor.shape)}"
            if self._wanted is None or tensor.name != self._wanted.text:
                self.input.addItem(words, tensor.name)
            if not tensor.is_leaf and not tensor.is_root:
                self.root.addItem(words, tensor.name)
        self.listed.emit()
        if self.input.count():
            self.ask()
        else:
            self._tell(tr("No tensor of the script requires a gradient at this call."))

    # -- computing -----------------------------------------------------------------------------------------------------

    def ask(self) -> None:
        """Compute the matrix for the chosen root and input."""
        if self._question is not None or not self.input.count():
            return
        root, name = self.root.currentData(), self.input.currentData()
        try:
            rows = rows_asked(self.rows.text())
        except SeedError as error:
            self._tell(str(error))
            return
        titles = self._title(self.root, root), self._title(self.input, name)
        recording, call = self._session.recording, self._call

        def work(held: Held, report: Report) -> tuple[JacobianMatrix, Gradient]:
            found = held.jacobian(name, root, rows, report)
            matrix = read_matrix(found, *titles)
            _ = matrix.most, matrix.odd, matrix.samples  # worked out here, where it may take time
            return matrix, _recorded(recording, call, root, name)

        self._start(work, self._take_matrix, tr("Computing …"))

    def _title(self, box: QComboBox, data: str) -> str:
        return str(box.currentText().split(" · ")[0] if box.currentText() else data)

    def _start(self, work: Any, done: Any, words: str) -> None:
        self.seeds.stop()
        self.progress.setRange(0, 0)
        self._show_busy(True)
        self._tell(words, False)
        self._question = self._held_calls.start(self._call.label, work, done, self._fail, self._show_progress)

    def _show_progress(self, done: int, total: int) -> None:
        self.progress.setRange(0, total)
        self.progress.setValue(done)
        self._tell(tr("{done} of {total} rows", done=done, total=total), False)

    def _cancel(self) -> None:
        if self._question is not None:
            self._question.cancel()

    def _fail(self, why: str) -> None:
        self._question = None
        self._show_busy(False)
        self._tell(why)

    def _show_busy(self, busy: bool) -> None:
        self.progress.setVisible(busy)
        self.cancel.setVisible(busy)
        self.compute.setEnabled(not busy)
        self.check.setEnabled(not busy and self.matrix is not None)

    def _tell(self, why: str, failed: bool = True) -> None:
        self.state.setText(why)
        self.state.setVisible(bool(why))
        self.state.setProperty("role", "error" if failed else "muted")
        self.state.style().polish(self.state)
        if failed:
            self.told.emit(why)

    def _take_matrix(self, found: tuple[JacobianMatrix, Gradient]) -> None:
        self._question = None
        self.matrix, self._own = found
        matrix = self.matrix
        self.fold.blockSignals(True)
        self.fold.setVisible(matrix.samples > 0)
        self.fold.setChecked(False)
        self.fold.blockSignals(False)
        self._tell(about(matrix), False)
        self.map.set_matrix(matrix)
        self.check.set_matrix(matrix)
        self._show_busy(False)
        self.seeds.set_matrix(
            matrix, own_seed(self._call, matrix) if self._is_own_root() else np.ones(len(matrix.rows))
        )
        self.computed.emit()

    def _fold(self, folded: bool) -> None:
        if self.matrix is not None:
            self.map.set_matrix(self.matrix, folded)
            self._combine()

    # -- the seed ------------------------------------------------------------------------------------------------------

    def _combine(self) -> None:
        """Another seed: the combination follows at once, nothing is run."""
        matrix, seed = self.matrix, self.seeds.seed
        if self._combining is not None:
            self._combining.cancel()
            self._combining = None
        if matrix is None or len(seed) != len(matrix.rows):
            return
        if np.count_nonzero(seed) * matrix.values.shape[1] <= _AT_ONCE:
            self._take_combined(matrix, seed, matrix.combined(seed))
            return
        self._combining = self._background.submit(
            lambda task: matrix.combined(seed), lambda found: self._take_combined(matrix, seed, found), self._tell
        )

    def _take_combined(self, matrix: JacobianMatrix, seed: Array, combined: Array) -> None:
        self._combining = None
        self.combined = combined
        self.map.set_seed(seed, combined)
        is_own = self._is_own_root() and np.array_equal(seed, own_seed(self._call, matrix), equal_nan=True)
        own = self._own if is_own else None
        self.words.setText(gradient_words(matrix, seed, self.combined, self._call, own, is_own))

    def _is_own_root(self) -> bool:
        return self.root.currentData() == "root[0]" and len(self._call.roots) == 1

    # -- measuring -----------------------------------------------------------------------------------------------------

    def _measure(self, column: int, seed: str, direction: str) -> None:
        """Measure the gradient along an element or a direction of the input."""
        if self._question is not None or self.matrix is None:
            return
        root, name = self.root.currentData(), self.input.currentData()
        if self._wanted is not None and name == self._wanted.text and self._wanted.name is not None:
            name = self._wanted.name  # the forward pass that is run again has other nodes
        self._start(
            lambda held, _: held.finite_difference(name, column, seed, self._root_name(root), direction),
            self._take_measured,
            tr("Running the forward pass again, a little to either side …"),
        )

    def _root_name(self, text: str) -> str | None:
        """A root as the forward pass knows it, which is run again: by its name; None: the call's own."""
        names = {f"root[{place}]": root.name for place, root in enumerate(self._call.roots)}
        return names.get(text, text)

    def _take_measured(self, measured: Any) -> None:
        self._question = None
        self._show_busy(False)
        self._tell("", False)
        self.check.show_measured(measured)

    # -- events --------------------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape stops the sweep; without one it closes the window."""
        if event.key() != Qt.Key.Key_Escape:
            super().keyPressEvent(event)
        elif self.seeds.sweeping:
            self.seeds.stop()
        else:
            self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Let go of everything; what is being computed is stopped."""
        self.seeds.timer.stop()
        if self._question is not None:
            self._question.drop()
            self._question = None
        self._background.close()
        event.accept()
        self.closed.emit()


def _recorded(recording: Recording | None, call: Call, root: str, name: str) -> Gradient:
    if recording is None or root != "root[0]":
        return None
    try:
        return own_gradient(recording, call, name)
    except (RecordingError, KeyError):
        return None  # it cannot be read any more; the Jacobian can


def _line(*widgets: QWidget, stretch: bool = False) -> QHBoxLayout:
    line = QHBoxLayout()
    line.setSpacing(8)
    for widget in widgets:
        line.addWidget(widget)
    if stretch:
        line.addStretch(1)
    return line
