"""One root and its seed: chosen, typed, clicked or pasted, and checked while it is typed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gradviz.app.held_calls import HeldCalls, Question
from gradviz.app.icons import icon
from gradviz.app.look import Look
from gradviz.app.panels.seed_grid import SeedGrid
from gradviz.app.seed_roots import RootChoice
from gradviz.app.seed_texts import one_hot, pasted
from gradviz.app.texts import tr
from gradviz.model.numbers import shape_text
from gradviz.runner.experiments import Held, SeedFit

_PAUSE_MS = 150  # after the last key, before the seed is checked


class SeedEditor(QWidget):
    """Lets a root and its seed be said.

    Signals:
        changed(): root, seed, or whether it fits is another.
        removed(): this root is not wanted.
        entered(): Enter was pressed in the line.
    """

    changed = Signal()
    removed = Signal()
    entered = Signal()

    def __init__(self, held_calls: HeldCalls, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._held_calls = held_calls
        self._label: str | None = None
        self._choices: tuple[RootChoice, ...] = ()
        self._question: Question[SeedFit] | None = None
        self._drawn = 0  # random seeds so far
        self.fit: SeedFit | None = None
        self.error = ""
        self.root = QComboBox()
        self.line = QLineEdit()
        self.choose = QToolButton()
        self.remove = QToolButton()
        self.message = QLabel()
        self.nearest = QPushButton()
        self.grid = SeedGrid(look)
        self._pause = QTimer(self)
        self._arrange(look)

    def _arrange(self, look: Look) -> None:
        self._name_things(look)
        above, below, words = QHBoxLayout(), QHBoxLayout(), QHBoxLayout()
        for label, widget in ((tr("Root"), self.root), (tr("Seed v"), self.line)):
            name = QLabel(label)
            name.setProperty("role", "muted")
            name.setMinimumWidth(52)
            name.setBuddy(widget)
            row = above if widget is self.root else below
            row.addWidget(name)
            row.addWidget(widget, 1)
        above.addWidget(self.remove)
        below.addWidget(self.choose)
        words.addWidget(self.message, 1)
        words.addWidget(self.nearest, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        for row in (above, below, words):
            layout.addLayout(row)
        layout.addWidget(self.grid)
        self._connect()

    def _name_things(self, look: Look) -> None:
        self.root.setAccessibleName(tr("Root: where the gradient starts"))
        self.root.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.line.setAccessibleName(tr("Seed: a word, numbers, or an expression over the script's variables"))
        self.line.setPlaceholderText(tr("ones, one_hot(0), [1, 0, 2], 2 * ones_like(out) …"))
        self.line.setFont(look.code_font)
        self.line.setClearButtonEnabled(True)
        self.choose.setText(tr("Choose"))
        self.choose.setProperty("role", "button")
        self.choose.setAccessibleName(tr("Choose a seed"))
        self.choose.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.choose.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.choose.setMenu(self._menu())
        self.remove.setIcon(icon("close", look))
        self.remove.setToolTip(tr("Do not start here"))
        self.remove.setAccessibleName(tr("Do not start here"))
        self.message.setWordWrap(True)
        self.message.setTextFormat(Qt.TextFormat.PlainText)
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.message.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self.nearest.setProperty("role", "link")
        self.nearest.hide()

    def _connect(self) -> None:
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(self._check)
        self.root.currentIndexChanged.connect(self._take_root)
        self.line.textChanged.connect(self._take_text)
        self.line.returnPressed.connect(self.entered)
        self.remove.clicked.connect(self.removed)
        self.nearest.clicked.connect(self._take_nearest)
        self.grid.written.connect(self.line.setText)

    def _menu(self) -> QMenu:
        menu = QMenu(self.choose)
        menu.setToolTipsVisible(True)
        rows: tuple[tuple[str, str, Callable[[], str]], ...] = (
            (tr("Ones"), tr("The sum of all outputs; what tf.gradients(y, x) means"), lambda: "ones"),
            (tr("Zeros"), tr("No gradient at all"), lambda: "zeros"),
            (tr("One element (one-hot)"), tr("One row of the Jacobian"), self._first_element),
            (tr("A row"), tr("Ones in one row of the root"), lambda: "row(0)"),
            (tr("A column"), tr("Ones in one column of the root"), lambda: "column(0)"),
            (tr("Random numbers"), tr("Normal; the same ones for the same number"), lambda: f"normal({self._draw()})"),
            (tr("Random signs"), tr("1 or -1; the same ones for the same number"), lambda: f"signs({self._draw()})"),
            (tr("The tensor itself"), tr("The root's own value; the gradient of half its square"), lambda: "itself"),
        )
        for words, tip, seed in rows:
            action = menu.addAction(words)
            action.setToolTip(tip)
            action.triggered.connect(lambda _=False, seed=seed: self.line.setText(seed()))
        menu.addSeparator()
        action = menu.addAction(tr("Paste numbers"))
        action.setToolTip(tr("From a spreadsheet, a list, or a printed tensor"))
        action.triggered.connect(self.paste)
        return menu

    # -- what is said --------------------------------------------------------------------------------------------------

    @property
    def choice(self) -> RootChoice | None:
        """The root that is chosen."""
        place = self.root.currentIndex()
        return self._choices[place] if 0 <= place < len(self._choices) else None

    @property
    def seed(self) -> str:
        """The seed that is asked for."""
        return self.line.text().strip()

    @property
    def may_run(self) -> bool:
        """Whether nothing is known to be wrong."""
        return self.choice is not None and bool(self.seed) and not self.error and (self.fit is None or self.fit.fits)

    def set_choices(self, choices: Sequence[RootChoice], text: str | None = None) -> None:
        """Offer these roots; the one that was chosen, or `text`, stays chosen. What the line says stays."""
        kept = text or (self.choice.text if self.choice is not None else None)
        self._choices = tuple(choices)
        self.root.blockSignals(True)
        self.root.clear()
        for choice in self._choices:
            self.root.addItem(choice.words)
        places = [place for place, choice in enumerate(self._choices) if choice.text == kept]
        self.root.setCurrentIndex(places[0] if places else 0)
        self.root.blockSignals(False)
        self._draw_shape()

    def hold(self, label: str | None) -> None:
        """From here on seeds are checked at this held call; None: there is nobody to ask."""
        self._label = label
        self._pause.start()

    def close_question(self) -> None:
        """Nobody waits for an answer any more."""
        self._pause.stop()
        if self._question is not None:
            self._question.drop()
            self._question = None

    def paste(self) -> None:
        """Take numbers from the clipboard."""
        shape = self.choice.shape if self.choice is not None and self.choice.shape is not None else ()
        text = pasted(QGuiApplication.clipboard().text(), shape)
        if text is None:
            self._tell(tr("There are no numbers on the clipboard."), "error")
        else:
            self.line.setText(text)

    def _first_element(self) -> str:
        shape = self.choice.shape if self.choice is not None else None
        return one_hot((0,) * len(shape or ()))

    def _draw(self) -> int:
        self._drawn += 1
        return self._drawn

    def _take_root(self) -> None:
        if self.choice is not None:
            self._draw_shape()
            if self.line.text() != self.choice.seed:
                self.line.setText(self.choice.seed)
            else:
                self._take_text()

    def _draw_shape(self) -> None:
        shape = None if self.choice is None else self.choice.shape
        if shape is not None:
            self.grid.set_shape(shape)
        self.grid.setVisible(shape is not None and bool(shape))

    def _take_text(self) -> None:
        self.close_question()  # the answer would be about what was said before
        self.fit, self.error = None, ""
        self._pause.start()
        self.changed.emit()

    def _take_nearest(self) -> None:
        if self.fit is not None and self.fit.nearest is not None:
            self.line.setText(self.fit.nearest)

    # -- does it fit ---------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        self.close_question()
        label, choice, seed = self._label, self.choice, self.seed
        if label is None or choice is None or not seed:
            self._tell("", "muted")
            return

        def check(held: Held, _: Any) -> SeedFit:
            return held.check(seed, choice.text)

        self._question = self._held_calls.start(label, check, self._take_fit, self._take_error)

    def _take_fit(self, fit: SeedFit) -> None:
        self._question, self.fit = None, fit
        self.grid.set_shape(fit.expected)
        self.grid.set_values(fit.values)
        if fit.message is not None:
            self._tell(fit.message, "error")
        elif fit.note is not None:
            self._tell(fit.note, "warning")
        else:
            shape = tr("a scalar") if not fit.expected else tr("shape {shape}", shape=shape_text(fit.expected))
            self._tell(tr("It fits: {shape}, {dtype}.", shape=shape, dtype=fit.dtype), "muted")
        self.nearest.setVisible(fit.nearest is not None)
        self.nearest.setText("" if fit.nearest is None else tr("Use {seed}", seed=_short(fit.nearest)))
        self.changed.emit()

    def _take_error(self, why: str) -> None:
        self._question, self.error = None, why
        self.grid.set_values(None)
        self._tell(why, "error")
        self.changed.emit()

    def _tell(self, words: str, role: str) -> None:
        self.nearest.hide()
        self.message.setText(words)
        if self.message.property("role") != role:
            self.message.setProperty("role", role)
            self.message.style().polish(self.message)


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "…"
