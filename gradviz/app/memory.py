"""Python's cycle collector while the window lives: only on the event loop, and only for what is young.

Left to itself the collector strikes in whichever thread makes the next object. In a thread of the pool it would free
widgets that a closed tab left in a cycle, and Qt's objects may only go in the thread that they live in: the
interpreter died of it. And a full collection looks at every object: with a graph of 17,000 nodes unfolded it took 0.4
to 1.9 s, and everything else waited. So it is off, and a timer looks at what is young. What is loaded here is frozen
values without cycles, freed by reference counts; it is put out of the collector's sight.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

_EVERY = 200  # milliseconds
_YOUNG = 5_000  # so many objects are worth a look: about a millisecond
_LOADED = 50_000  # so many in one interval are no litter but something that has been loaded: a look would take long
_ROUNDS = 5  # looks at the youngest before one at those that have been looked at
_QUICK = 300_000  # so many objects are looked at in less than 100 ms


class Collector(QObject):
    """Collects on the event loop while the window lives. `close` puts everything back."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_enabled = gc.isenabled()
        gc.disable()
        gc.freeze()
        self._rounds = 0
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.look)
        self._timer.start(_EVERY)

    def look(self) -> None:
        """Free cycles among what was made since the last look, if it was enough."""
        young = gc.get_count()[0]
        if young > _LOADED:
            gc.freeze()
        elif young > _YOUNG:
            self._rounds = (self._rounds + 1) % _ROUNDS
            gc.collect(0 if self._rounds else 1)

    def settle(self) -> None:
        """Something large has been loaded: do not look at it any more."""
        gc.freeze()

    def sweep(self) -> None:
        """Nothing large should be loaded any more: look at everything once, if that is quick."""
        if gc.get_freeze_count() > _QUICK:
            return
        gc.unfreeze()
        gc.collect()
        gc.freeze()

    def close(self) -> None:
        """Let the collector work as it did before."""
        self._timer.stop()
        gc.unfreeze()
        if self._was_enabled:
            gc.enable()
