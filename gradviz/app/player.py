"""The moment that is shown: playing, pausing, stepping on one timeline. The only place where time passes."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from gradviz.playback import Clock, Frame, Timeline

FRAME_MS = 16
SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
_NEAR = 1e-6


class Player(QObject):
    """Plays a timeline.

    Signals:
        moved(): `frame` is another one.
        beat_changed(): the moment is in another beat (or at the end, or on another timeline).
        playing_changed(bool): play or pause.
        settings_changed(): speed or loop is another one.
    """

    moved = Signal()
    beat_changed = Signal()
    playing_changed = Signal(bool)
    settings_changed = Signal()

    def __init__(self, parent: QObject | None, now: Callable[[], float]) -> None:
        super().__init__(parent)
        self.timeline: Timeline | None = None
        self.frame: Frame | None = None
        self.loop = False
        self.reduced_motion = False
        self._now = now
        self._clock = Clock(0.0, now)
        self._until: float | None = None
        self._ticker = QTimer(self)
        self._ticker.setInterval(FRAME_MS)
        self._ticker.setTimerType(Qt.TimerType.PreciseTimer)
        self._ticker.timeout.connect(self._tick)

    def load(self, timeline: Timeline, time: float | None, call: str | None) -> None:
        """Take another timeline; start at `time` beats, else where the call `call` (a label) ends, else at the end."""
        speed = self._clock.speed
        self.stop()
        self.timeline = timeline
        self._clock = Clock(timeline.seconds, self._now)
        self._clock.speed = speed
        self.frame = None
        if time is None:
            ends = [timeline.call_span(c.number)[1] for c in timeline.calls if c.label == call]
            time = float(ends[0]) if ends else float(timeline.length)
            if ends and time < timeline.length:
                time -= _NEAR  # the last moment of this call, not the first of the next
        self.seek(time)

    # -- playing -------------------------------------------------------------------------------------------------------

    @property
    def playing(self) -> bool:
        """Whether the moment moves by itself."""
        return self._ticker.isActive()

    @property
    def speed(self) -> float:
        """Seconds of the timeline per second."""
        return self._clock.speed

    def set_speed(self, speed: float) -> None:
        """Play faster or slower."""
        self._clock.speed = speed
        self.settings_changed.emit()

    def set_loop(self, loop: bool) -> None:
        """Begin again at the end, or stop there."""
        self.loop = loop
        self.settings_changed.emit()

    def play(self, until: float | None = None) -> None:
        """Go on from here, from the start when the end was reached; stop at `until` beats when that is given."""
        if self.timeline is None or not self.timeline.beats:
            return
        self._until = until
        if until is not None and self.t >= until - _NEAR:
            self.seek(0.0)
        self._clock.play()
        if not self._ticker.isActive():
            self._ticker.start()
            self.playing_changed.emit(True)
        self._tick()

    def pause(self) -> None:
        """Stay here."""
        self._clock.pause()
        self._until = None
        if self._ticker.isActive():
            self._ticker.stop()
            self.playing_changed.emit(False)

    def toggle(self) -> None:
        """Play or pause."""
        if self.playing:
            self.pause()
        else:
            self.play()

    def stop(self) -> None:
        """Pause; nothing moves any more."""
        self.pause()

    def close(self) -> None:
        """Let go of the timeline."""
        self.pause()
        self.timeline = self.frame = None

    # -- moving --------------------------------------------------------------------------------------------------------

    @property
    def t(self) -> float:
        """The moment in beats."""
        return 0.0 if self.frame is None else self.frame.t

    @property
    def at_end(self) -> bool:
        """Whether the last moment is shown."""
        return self.frame is None or self.frame.over

    def seek(self, t: float) -> None:
        """Go to a moment (in beats); playing goes on from there."""
        if self.timeline is not None:
            self._clock.seek(self.timeline.second_at(t))
            self._show(t)

    def step(self, by: int) -> None:
        """Pause and go to the next (or an earlier) beat, at the moment at which it is best looked at."""
        timeline = self.timeline
        if timeline is None:
            return
        self.pause()
        index = int(self.t)
        still = timeline.still(index)
        if by > 0:
            target = index if self.t < still - _NEAR else index + by
        else:
            target = index if self.t > still + _NEAR else index + by
        self.seek(timeline.still(target) if target >= 0 else 0.0)

    def step_call(self, by: int) -> None:
        """Pause and go to the start of the next call, or of this or the one before."""
        timeline = self.timeline
        if timeline is None:
            return
        self.pause()
        starts = [float(timeline.call_span(call.number)[0]) for call in timeline.calls]
        if by > 0:
            ahead = [start for start in starts if start > self.t + _NEAR]
            self.seek(ahead[0] if ahead else float(timeline.length))
        else:
            behind = [start for start in starts if start < self.t - _NEAR]
            self.seek(behind[-1] if behind else 0.0)

    def go_to_call(self, number: int) -> None:
        """Pause at the end of a call, where all that it did is seen."""
        timeline = self.timeline
        if timeline is None:
            return
        self.pause()
        _, end = timeline.call_span(number)
        self.seek(float(end) if end >= timeline.length else end - _NEAR)

    def play_to(self, node: int) -> None:
        """Play until this node of the stage has handed on its gradient."""
        timeline = self.timeline
        if timeline is None:
            return
        found = [beat.index for beat in timeline.beats if node in beat.nodes and beat.kind == "execution"]
        ahead = [index for index in found if index + 1 > self.t + _NEAR]
        if found:
            self.play(until=float((ahead or found)[0]) + 1.0 - _NEAR)

    # -- time ----------------------------------------------------------------------------------------------------------

    def _tick(self) -> None:
        timeline = self.timeline
        if timeline is None:
            return
        t = timeline.beat_at(self._clock.seconds)
        if self._until is not None and t >= self._until:
            until = self._until
            self.pause()
            self.seek(until)
            return
        if not self._clock.playing:
            if self.loop:
                self._clock.seek(0.0)
                self._clock.play()
                t = 0.0
            else:
                self.pause()
        if self.reduced_motion and t < timeline.length:
            t = timeline.still(int(t))
        self._show(t)

    def _show(self, t: float) -> None:
        timeline = self.timeline
        if timeline is None:
            return
        old, self.frame = self.frame, timeline.state_at(t)
        if old is not None and old.timeline is timeline and old.t == self.frame.t:
            return
        self.moved.emit()
        if old is None or old.beat is not self.frame.beat or old.over != self.frame.over:
            self.beat_changed.emit()
