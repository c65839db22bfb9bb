"""Measures how long the event loop is held, on a machine that other programs use too."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from types import TracebackType

from PySide6.QtCore import Qt, QTimer

BEAT_MS = 5
_SUSPICIOUS = 0.06


class Watchdog:
    """Use as a context manager; `worst` is the longest hold in seconds, `where` (with `samples`) the stack then.

    A hold is the time between two beats of a timer, without the time in which the loop could have run but the machine
    gave the processor to others, and never more than the processor time that this process used meanwhile.
    """

    def __init__(self, samples: bool = False) -> None:
        self.worst = 0.0
        self.where = ""
        self.beats = 0
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(BEAT_MS)
        self._timer.timeout.connect(self._beat)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._loop = threading.get_ident()
        self._seen = ""
        # A sample keeps the frame of a paintEvent, and with it the painter, for too long: only to look for causes.
        self._samples = samples

    def __enter__(self) -> Watchdog:
        self._mark()
        self._timer.start()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._beat()
        self._timer.stop()
        self._over.set()
        self._thread.join()

    def _mark(self) -> None:
        self._wall, self._cpu, self._queued = time.perf_counter(), time.process_time(), _queued()

    def _beat(self) -> None:
        waited = _queued() - self._queued
        held = min(time.perf_counter() - self._wall - waited, time.process_time() - self._cpu)
        if held > self.worst:
            self.worst, self.where = held, self._seen
        self.beats += 1
        self._seen = ""
        self._mark()

    def _watch(self) -> None:
        while not self._over.wait(0.02):
            if self._samples and time.perf_counter() - self._wall > _SUSPICIOUS:
                self._seen = "".join(traceback.format_stack(sys._current_frames().get(self._loop))[-6:])


def _queued() -> float:
    """Seconds that this thread has waited for a processor so far; 0 where the system does not tell."""
    try:
        with open("/proc/thread-self/schedstat") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0
