"""The time line: beats as dots, calls and events as marks, the moment as a handle that can be dragged."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QSlider, QToolTip, QWidget

from gradviz.app.call_words import call_words
from gradviz.app.look import Look
from gradviz.app.texts import tr
from gradviz.playback import Timeline
from gradviz.playback.beats import Mark

Extent = tuple[float, float]  # left and right, in pixels
TICKS = 100  # of the slider per beat
_MARGIN = 14
_TRACK = 5.0
_HANDLE = 8.0
_DOT_ROOM = 9.0  # pixels per beat below which no dots are drawn
_LABEL_GAP = 10


def seen_marks(marks: Sequence[Mark], x_of: Callable[[float], float]) -> list[Mark]:
    """The marks to paint, in order of time: one a pixel is all that can be seen, and calls come before events."""
    taken: set[int] = set()
    found = []
    for kind in ("error", "call", None):
        for mark in marks:
            pixel = round(x_of(mark.t))
            if (mark.kind == kind or kind is None) and pixel not in taken:
                taken.add(pixel)
                found.append(mark)
    return sorted(found, key=lambda mark: mark.t)


class TimeSlider(QSlider):
    """A slider over all beats of a timeline. `colour_of` a call is the caller's.

    Signals:
        sought(float): the user wants to see this moment (in beats).
        stepped(int): the user wants one beat (+1 or -1) or call (+2 or -2) on or back.
    """

    sought = Signal(float)
    stepped = Signal(int)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._look = look
        self._timeline: Timeline | None = None
        self._t = 0.0
        self._grabbed = False
        self.setAccessibleName(tr("Time line"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._look = look
        self.update()

    def set_timeline(self, timeline: Timeline | None) -> None:
        """Show another timeline."""
        self._timeline = timeline
        self.setEnabled(timeline is not None and timeline.length > 0)
        self.setRange(0, 0 if timeline is None else timeline.length * TICKS)
        self.setSingleStep(TICKS)
        self.setPageStep(10 * TICKS)
        self.update()

    def set_time(self, t: float, words: str) -> None:
        """Show a moment (in beats); `words` say what happens there."""
        self._t = t
        self.setAccessibleDescription(words)
        self.setValue(round(t * TICKS))
        self.update()

    def sizeHint(self) -> QSize:
        """The size that the content wants."""
        return QSize(400, 3 * QFontMetrics(self._look.small_font).height() + 22)

    def minimumSizeHint(self) -> QSize:
        """The least size that can be used."""
        return QSize(160, self.sizeHint().height())

    # -- geometry ------------------------------------------------------------------------------------------------------

    def x_of(self, t: float) -> float:
        """Where a moment lies, in pixels from the left."""
        length = 0 if self._timeline is None else self._timeline.length
        return _MARGIN + (self.width() - 2 * _MARGIN) * (t / length if length else 0.0)

    def t_of(self, x: float) -> float:
        """The moment at a place."""
        length = 0 if self._timeline is None else self._timeline.length
        share = (x - _MARGIN) / max(1.0, self.width() - 2 * _MARGIN)
        return min(max(share, 0.0), 1.0) * length

    @property
    def _middle(self) -> float:
        return self.height() / 2

    # -- input ---------------------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to the moment under the mouse and follow it."""
        if event.button() == Qt.MouseButton.LeftButton and self._timeline is not None:
            self._grabbed = True
            self.sought.emit(self.t_of(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow the mouse while it is pressed."""
        if self._grabbed:
            self.sought.emit(self.t_of(event.position().x()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Stay where the mouse is let go."""
        self._grabbed = False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows step by beat (with Shift by call), Home and End go to the ends."""
        calls = 2 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
        length = 0.0 if self._timeline is None else float(self._timeline.length)
        if event.key() in (Qt.Key.Key_Right, Qt.Key.Key_Up):
            self.stepped.emit(calls)
        elif event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Down):
            self.stepped.emit(-calls)
        elif event.key() == Qt.Key.Key_Home:
            self.sought.emit(0.0)
        elif event.key() == Qt.Key.Key_End:
            self.sought.emit(length)
        else:
            event.ignore()

    def event(self, event: object) -> bool:
        """Show the beat under the mouse as a tool tip."""
        if isinstance(event, QHelpEvent) and self._timeline is not None and self._timeline.beats:
            index = min(int(self.t_of(event.pos().x())), self._timeline.length - 1)
            beat = self._timeline.beats[index]
            call = self._timeline.recording.call(beat.call).label
            QToolTip.showText(event.globalPos(), tr("call {call}: {beat}", call=call, beat=beat.label), self)
            return True
        return bool(super().event(event))  # type: ignore[arg-type]

    # -- painting ------------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what is shown."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_track(painter)
        if self._timeline is not None and self._timeline.length:
            self._paint_marks(painter)
            self._paint_beats(painter, self._timeline)
            self._paint_handle(painter)

    def _paint_track(self, painter: QPainter) -> None:
        left, right, y = self.x_of(0), self.width() - _MARGIN, self._middle - _TRACK / 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._look.line)
        painter.drawRoundedRect(QRectF(left, y, right - left, _TRACK), _TRACK / 2, _TRACK / 2)
        if self._timeline is not None and self._timeline.length:
            painter.setBrush(self._look.accent)
            painter.drawRoundedRect(QRectF(left, y, self.x_of(self._t) - left, _TRACK), _TRACK / 2, _TRACK / 2)

    def _paint_marks(self, painter: QPainter) -> None:
        assert self._timeline is not None
        metrics = QFontMetrics(self._look.small_font)
        painter.setFont(self._look.small_font)
        free = float("-inf")
        places = {call.number: place for place, call in enumerate(self._timeline.calls)}
        for mark in seen_marks(self._timeline.marks, self.x_of):
            x = self.x_of(mark.t)
            painter.setPen(QPen(self._mark_colour(mark.kind, places.get(mark.call, 0)), 2.0))
            reach = 11.0 if mark.kind in ("call", "error") else 7.0
            painter.drawLine(QPointF(x, self._middle - reach), QPointF(x, self._middle + reach))
            words = call_words(mark.label) if mark.kind == "call" else mark.label
            width = metrics.horizontalAdvance(words)
            if mark.kind in ("call", "error") and x + 5 >= free and x + 5 + width <= self.width():
                painter.setPen(self._look.error if mark.kind == "error" else self._look.muted)
                painter.drawText(QPointF(x + 5, self._middle - 13), words)
                free = x + 5 + width + _LABEL_GAP

    def _mark_colour(self, kind: str, place: int) -> QColor:
        if kind == "call":
            return self._look.call_colour(place)
        return self._look.error if kind == "error" else self._look.muted

    def _paint_beats(self, painter: QPainter, timeline: Timeline) -> None:
        room = (self.width() - 2 * _MARGIN) / timeline.length
        current = min(int(self._t), timeline.length - 1)
        if room >= _DOT_ROOM:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._look.panel)
            for beat in timeline.beats:
                painter.drawEllipse(QPointF(self.x_of(beat.index + 0.5), self._middle), 2.0, 2.0)
            self._paint_labels(painter, timeline, current)
        else:  # of so many beats the few names that have room would be any ones
            self._paint_label(painter, timeline.beats[current].label, current, None, float("-inf"))

    def _paint_labels(self, painter: QPainter, timeline: Timeline, current: int) -> None:
        free = float("-inf")
        taken = self._paint_label(painter, timeline.beats[current].label, current, None, free)
        for beat in timeline.beats:
            if self.x_of(beat.index + 0.5) >= free and beat.index != current:
                box = self._paint_label(painter, beat.label, beat.index, taken, free)
                free = free if box is None else box[1] + _LABEL_GAP

    def _paint_label(
        self, painter: QPainter, words: str, index: int, taken: Extent | None, free: float
    ) -> Extent | None:
        """Write the name of a beat under it unless it begins before `free` or touches `taken`; return its extent.

        Without `taken` it is the name of the current beat.
        """
        font = self._look.badge_font if taken is None else self._look.small_font
        width = QFontMetrics(font).horizontalAdvance(words)
        left = min(max(self.x_of(index + 0.5) - width / 2, 0.0), self.width() - width)
        if left < free:
            return None
        if taken is not None and left < taken[1] + _LABEL_GAP and taken[0] - _LABEL_GAP < left + width:
            return None
        painter.setFont(font)
        painter.setPen(self._look.ink if taken is None else self._look.muted)
        ascent = QFontMetrics(self._look.badge_font).ascent()
        painter.drawText(QPointF(left, self._middle + 12 + ascent), words)
        return left, left + width

    def _paint_handle(self, painter: QPainter) -> None:
        centre = QPointF(self.x_of(self._t), self._middle)
        painter.setBrush(self._look.panel)
        painter.setPen(QPen(self._look.focus if self.hasFocus() else self._look.accent, 2.5))
        painter.drawEllipse(centre, _HANDLE, _HANDLE)
