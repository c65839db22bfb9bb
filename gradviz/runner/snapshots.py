"""The held calls that are alive, few at a time."""

from __future__ import annotations

import threading

from gradviz.runner.experiments import Held


class Snapshots:
    """The held calls that are alive. May be used from several threads.

    Of calls that failed and of others at most `most` each are kept, the oldest ends first, those that are pinned last.
    """

    def __init__(self, most: int = 3) -> None:
        self._most = most
        self._pinned: set[str] = set()
        self._lock = threading.Lock()
        self._held: list[Held] = []
        self._closed = False

    def add(self, held: Held) -> None:
        """A call is held; where that is one too many the oldest is let go. After `close` none is kept."""
        over = held
        with self._lock:
            if not self._closed:
                self._held.append(held)
                alike = [each for each in self._held if each.failed == held.failed]
                if len(alike) <= self._most:
                    return
                over = next((each for each in alike if each.label not in self._pinned), alike[0])
                self._held.remove(over)
        over.end()

    def pin(self, label: str) -> None:
        """Somebody looks at this call: let others go before it."""
        with self._lock:
            self._pinned.add(label)

    def unpin(self, label: str) -> None:
        """Nobody looks at it any more."""
        with self._lock:
            self._pinned.discard(label)

    def find(self, label: str) -> Held | None:
        """The newest one for this call that is alive."""
        with self._lock:
            alive = (held for held in reversed(self._held) if held.label == label and not held.over)
            return next(alive, None)

    def labels(self) -> tuple[str, ...]:
        """The calls that are held."""
        with self._lock:
            return tuple(held.label for held in self._held if not held.over)

    def let_go(self, label: str) -> None:
        """End what is held of a call."""
        with self._lock:
            over = [held for held in self._held if held.label == label]
            self._held = [held for held in self._held if held.label != label]
        for old in over:
            old.end()

    def close(self) -> None:
        """Let go of all, also of those that are still to come."""
        with self._lock:
            self._closed = True
            held, self._held = self._held, []
        for each in held:
            each.end()
