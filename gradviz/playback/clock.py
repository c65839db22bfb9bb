"""The position of playback in seconds, moved by a source of time that is given from outside."""

from __future__ import annotations

from collections.abc import Callable


class Clock:
    """Play, pause, speed and seek over `[0, duration]` seconds; the position stops at both ends.

    Args:
        duration: length in seconds at speed 1.
        now: a monotonic time in seconds, such as `time.monotonic`.
    """

    def __init__(self, duration: float, now: Callable[[], float]) -> None:
        self._duration = duration
        self._now = now
        self._position = 0.0
        self._since: float | None = None  # None while paused
        self._speed = 1.0

    @property
    def duration(self) -> float:
        """Length in seconds at speed 1."""
        return self._duration

    @property
    def seconds(self) -> float:
        """The position now."""
        if self._since is None:
            return self._position
        moved = self._position + (self._now() - self._since) * self._speed
        return min(max(moved, 0.0), self._duration)

    @property
    def playing(self) -> bool:
        """Whether the position moves: False once the end is reached (the start, when playing backwards)."""
        if self._since is None:
            return False
        return self.seconds < self._duration if self._speed >= 0 else self.seconds > 0.0

    @property
    def speed(self) -> float:
        """Seconds of playback per second; negative plays backwards."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        self._rest(self.seconds)
        self._speed = speed

    def play(self) -> None:
        """Go on from here; from the start when the end was reached."""
        at_end = self.seconds >= self._duration if self._speed >= 0 else self.seconds <= 0.0
        start = (0.0 if self._speed >= 0 else self._duration) if at_end else self.seconds
        self._position, self._since = start, self._now()

    def pause(self) -> None:
        """Stay here."""
        self._position, self._since = self.seconds, None

    def seek(self, seconds: float) -> None:
        """Go to `seconds` (limited to the duration); playing goes on from there."""
        self._rest(min(max(seconds, 0.0), self._duration))

    def _rest(self, position: float) -> None:
        self._position = position
        if self._since is not None:
            self._since = self._now()
