"""The export dialog: what will be written is made at once and shown, with its size, before it is saved."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QImage, QImageReader, QMovie, QPixmap
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gradviz.app.background import Background, Errands, Task
from gradviz.app.export_process import ExportProcess, ExportWish, shell_line, size_text
from gradviz.app.files import write_whole
from gradviz.app.spins import decimal_box
from gradviz.app.texts import tr
from gradviz.model import ViewState
from gradviz.texts import ENGLISH, picture_language

FORMATS = (("png", "PNG"), ("svg", "SVG"), ("pdf", "PDF"), ("gif", "GIF"), ("apng", "APNG"), ("webp", "WebP"))
MORE_FORMATS = (("mp4", "MP4"), ("html", "HTML"), ("dot", "DOT"))
_FILMS = ("gif", "apng", "webp", "mp4")
_MOVING = (*_FILMS, "html")
_SHOWN = ("png", "svg", "gif", "apng", "webp")
_MOVIE_PIXELS = 1_500_000  # larger pictures take too long to be unpacked one after the other on the event loop
_PREVIEW = QSize(620, 460)
_DELAY_MS = 350


@dataclass(frozen=True)
class Subject:
    """What is exported: the recording at `path` under a view, of which `viewport` (width, height) pixels are seen.

    `keep` writes the recording to another path, in a thread; None where it lies in a place of the user's.
    """

    path: str
    view: ViewState
    viewport: tuple[int, int]
    keep: Callable[[str], None] | None = None


class ExportDialog(QDialog):
    """Exports one recording under one view. `folder` and `name` (without suffix) are offered to save to.

    Signals:
        said(str): something for the status line.
        saved(str): the picture lies at this path.
    """

    said = Signal(str)
    saved = Signal(str)

    def __init__(
        self, subject: Subject, folder: str, name: str, background: Background, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._background = Errands(background)
        self._reading: Task[QImage] | None = None
        self._subject, self._view, self._folder, self._name = subject, subject.view, folder, name
        self._made: str | None = None
        self._movie: QMovie | None = None
        self._process = ExportProcess(self)
        self._delay = QTimer(self)
        self._delay.setSingleShot(True)
        self._delay.setInterval(_DELAY_MS)
        self.format = QComboBox()
        self.area = QComboBox()
        self.theme = QComboBox()
        self.language = QComboBox()
        self.scale = decimal_box()
        self.speed = decimal_box()
        self.captions = QCheckBox(tr("Title and sentence"))
        self.legend = QCheckBox(tr("Legend"))
        self.transparent = QCheckBox(tr("Transparent ground"))
        self.preview = QLabel()
        self.facts = QLabel()
        self.bar = QProgressBar()
        self.save = QPushButton(tr("Save as …"))
        self.copy = QPushButton(tr("Copy the command"))
        self.copy_picture = QPushButton(tr("Copy the picture"))
        self._arrange()
        self._connect()
        self._restart()

    def _arrange(self) -> None:
        self.setWindowTitle(tr("Export"))
        for value, text in (*FORMATS, *MORE_FORMATS):
            self.format.addItem(text, value)
        for value, text in (
            ("whole", tr("The whole graph")),
            ("view", tr("What is seen")),
            ("selection", tr("The selection")),
        ):
            self.area.addItem(text, value)
        if not self._view.selected:
            self.area.removeItem(self.area.findData("selection"))
        for value, text in (
            ("light", tr("Light")),
            ("dark", tr("Dark")),
            ("print", tr("Print")),
            ("contrast", tr("High contrast")),
        ):
            self.theme.addItem(text, value)
        self.theme.setCurrentIndex(max(self.theme.findData(self._view.theme), 0))
        for value, text in ((ENGLISH, tr("English")), ("zh_CN", tr("Simplified Chinese"))):
            self.language.addItem(text, value)
        self.language.setCurrentIndex(max(self.language.findData(picture_language()), 0))
        self.scale.setRange(0.1, 8.0)
        self.scale.setSingleStep(0.5)
        self.scale.setValue(1.0)
        self.scale.setSuffix(" ×")
        self.speed.setRange(0.1, 20.0)
        self.speed.setValue(1.0)
        self.speed.setSuffix(" ×")
        self.captions.setChecked(self._view.captions)
        self.legend.setChecked(self._view.legend)
        self._place(self._make_form(), self._make_buttons())

    def _make_form(self) -> QFormLayout:
        form = QFormLayout()
        form.addRow(tr("Format"), self.format)
        form.addRow(tr("Area"), self.area)
        form.addRow(tr("Theme"), self.theme)
        form.addRow(tr("Language"), self.language)
        form.addRow(tr("Scale"), self.scale)
        form.addRow(tr("Speed"), self.speed)
        for box in (self.captions, self.legend, self.transparent):
            form.addRow("", box)
        return form

    def _make_buttons(self) -> QHBoxLayout:
        self.save.setProperty("role", "primary")
        self.save.setDefault(True)
        close = QPushButton(tr("Close"))
        close.clicked.connect(self.reject)
        buttons = QHBoxLayout()
        self.copy.setToolTip(tr("Puts the command on the clipboard that makes the same file, for a script or for CI"))
        self.copy_picture.setToolTip(tr("Puts this picture on the clipboard"))
        for button in (self.copy, self.copy_picture, close):
            button.setAutoDefault(False)
        buttons.addWidget(self.copy)
        buttons.addWidget(self.copy_picture)
        buttons.addStretch(1)
        buttons.addWidget(close)
        buttons.addWidget(self.save)
        return buttons

    def _place(self, form: QFormLayout, buttons: QHBoxLayout) -> None:
        self.preview.setFixedSize(_PREVIEW)
        self.preview.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.preview.setWordWrap(True)
        self.facts.setProperty("role", "muted")
        self.facts.setWordWrap(True)
        self.facts.setFixedWidth(_PREVIEW.width())
        self.bar.setRange(0, 0)
        right = QVBoxLayout()
        for widget in (self.preview, self.bar, self.facts):
            right.addWidget(widget)
        upper = QHBoxLayout()
        upper.setSpacing(22)
        upper.addLayout(form)
        upper.addLayout(right)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 18, 20, 16)
        layout.addLayout(upper)
        layout.addLayout(buttons)

    def _connect(self) -> None:
        self._delay.timeout.connect(self._make)
        self._process.finished.connect(self._show)
        self._process.failed.connect(self._say_why)
        for combo in (self.format, self.area, self.theme, self.language):
            combo.currentIndexChanged.connect(self._restart)
        for spin in (self.scale, self.speed):
            spin.valueChanged.connect(self._restart)
        for box in (self.captions, self.legend, self.transparent):
            box.toggled.connect(self._restart)
        self.save.clicked.connect(self._choose_place)
        self.copy.clicked.connect(self._choose_view_place)
        self.copy_picture.clicked.connect(self._copy_picture)

    @property
    def busy(self) -> bool:
        """Whether a file is being made."""
        return self._process.busy

    # -- the wish ------------------------------------------------------------------------------------------------------

    @property
    def wish(self) -> ExportWish:
        """What is asked for now."""
        kind = str(self.format.currentData())
        moving = kind in _MOVING
        view = replace(
            self._view,
            theme=self.theme.currentData(),
            captions=self.captions.isChecked(),
            legend=self.legend.isChecked(),
            # An animation plays everything; a still picture is of this moment.
            time=None if moving else self._view.time,
            call=None if moving else self._view.call,
        )
        # An animation has its usual width then: at its own size one of a long graph takes minutes.
        usual = kind in _FILMS and self.scale.value() == 1.0
        options = [] if usual else ["--scale", f"{self.scale.value():g}"]
        area = str(self.area.currentData())
        if area != "whole":
            options += ["--area", area]
        if area == "view":
            options += ["--viewport", "{}x{}".format(*self._subject.viewport)]
        if moving:
            options += ["--speed", f"{self.speed.value():g}"]
        if self.language.currentData() != ENGLISH:
            options += ["--language", str(self.language.currentData())]
        if self.transparent.isChecked():
            options.append("--transparent")
        return ExportWish(self._subject.path, view, kind, tuple(options))

    def _restart(self) -> None:
        kind = self.format.currentData()
        self.speed.setEnabled(kind in _MOVING)
        self.transparent.setEnabled(kind in ("png", "svg", "apng", "webp", "pdf"))
        self.save.setEnabled(False)
        self.copy_picture.setEnabled(False)
        self.bar.show()
        self.facts.setText(tr("Making it …"))
        self._delay.start()

    def _make(self) -> None:
        self._process.start(self.wish)

    # -- the result ----------------------------------------------------------------------------------------------------

    def _show(self, path: str) -> None:
        self._made = path
        self.bar.hide()
        self.save.setEnabled(True)
        kind = self.format.currentData()
        self.copy_picture.setEnabled(kind in _SHOWN)
        reader = QImageReader(path)
        size = reader.size()
        parts = [f"{size.width()} × {size.height()}"] if size.isValid() else []
        parts.append(size_text(os.path.getsize(path)))
        self.facts.setText(" · ".join(parts))
        self._stop_movie()
        if kind == "gif" and size.width() * size.height() <= _MOVIE_PIXELS:
            self._movie = QMovie(path, parent=self)
            self._movie.setScaledSize(size.scaled(_PREVIEW, Qt.AspectRatioMode.KeepAspectRatio))
            self.preview.setMovie(self._movie)
            self._movie.start()
        elif kind in _SHOWN:
            self._show_still(path, size)
        else:
            self.preview.setText(tr("There is no preview of this format; the file is ready to be saved."))

    def _show_still(self, path: str, size: QSize) -> None:
        ratio = self.devicePixelRatioF()
        wanted = size.scaled(_PREVIEW * ratio, Qt.AspectRatioMode.KeepAspectRatio) if size.isValid() else QSize()
        self._reading = self._background.submit(
            lambda task: _read(path, wanted), lambda image: self._take(image, ratio), self._say_why
        )

    def _take(self, image: QImage, ratio: float) -> None:
        pixmap = QPixmap.fromImage(image)
        pixmap.setDevicePixelRatio(ratio)
        self.preview.setPixmap(pixmap)

    def _say_why(self, why: str) -> None:
        self._made = None
        self._stop_movie()
        self.bar.hide()
        self.preview.setText(why)
        self.facts.setText("")

    def _stop_movie(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None
        if self._movie is not None:
            self._movie.stop()
            self._movie.deleteLater()
            self._movie = None
        self.preview.clear()

    def _choose_place(self) -> None:
        kind = self.format.currentData()
        start = os.path.join(self._folder, f"{self._name}.{kind}")
        path, _ = QFileDialog.getSaveFileName(self, tr("Save as"), start, f"{self.format.currentText()} (*.{kind})")
        if path:
            self.save_to(path)

    def save_to(self, path: str) -> None:
        """Put the file that was made into its place; the user has been asked about one that is there."""
        if self._made is None:
            return
        fresh = f"{path}.{os.getpid()}.saving"
        try:
            shutil.copyfile(self._made, fresh)
            os.replace(fresh, path)
        except OSError as error:
            if os.path.exists(fresh):
                os.unlink(fresh)
            self.facts.setText(tr("{path} cannot be written: {why}.", path=path, why=error.strerror))
            return
        self.said.emit(tr("{path} was written.", path=path))
        self.saved.emit(path)
        self.accept()

    def _copy_picture(self) -> None:
        if self._made is not None:
            path = self._made
            self._background.submit(lambda task: QImage(path), self._take_copy, self._say_fact)

    def _take_copy(self, image: QImage) -> None:
        QGuiApplication.clipboard().setImage(image)
        self._say_fact(tr("The picture is on the clipboard."))

    def _choose_view_place(self) -> None:
        view = os.path.join(self._folder or os.path.expanduser("~"), f"{self._name}.view.json")
        path, _ = QFileDialog.getSaveFileName(self, tr("Where to keep the view that the command needs"), view, "*.json")
        if path:
            self.copy_command(path)

    def copy_command(self, view_file: str) -> None:
        """Write the view to a file, beside it a recording that is not saved yet, and copy the command that needs both.

        A recording that is not saved lies where it will be removed one day, when the command is still in use.
        """
        keep, wish = self._subject.keep, self.wish
        if keep is not None:
            wish = replace(wish, recording=os.path.splitext(view_file)[0] + ".gradviz")
        line = shell_line(wish, f"{self._name}.{wish.format}", view_file)

        def work(_: Task[None]) -> None:
            write_whole(view_file, wish.view.to_json().encode())
            if keep is not None:
                keep(wish.recording)

        self._background.submit(work, lambda _: self._take_command(line), self._say_fact)

    def _take_command(self, line: str) -> None:
        QGuiApplication.clipboard().setText(line)
        self._say_fact(tr("On the clipboard: {line}", line=line))

    def _say_fact(self, words: str) -> None:
        self.facts.setText(words)

    def done(self, result: int) -> None:
        """Give up what is being made and remove what was."""
        self._delay.stop()
        self._stop_movie()
        self._process.close()
        self._background.close()
        super().done(result)


def _read(path: str, size: QSize) -> QImage:
    """A picture in this size; unpacking a large one takes long."""
    reader = QImageReader(path)
    if size.isValid():
        reader.setScaledSize(size)
    return reader.read()
