"""A change of the scene that is seen as a movement: a group is folded or unfolded, what stays glides to its place."""

from __future__ import annotations

import time
from collections.abc import Callable

from gradviz.playback.easing import ease_in_out
from gradviz.render import Scene, morphed

SECONDS = 0.25
MOST_BOXES = 300  # more are not painted anew often enough to be seen moving


class Change:
    """From an old scene to a new one; begins when its first picture is asked for."""

    def __init__(self, old: Scene, new: Scene, now: Callable[[], float] = time.monotonic) -> None:
        self._old, self._new, self._now = old, new, now
        self._start: float | None = None

    @staticmethod
    def between(old: Scene | None, new: Scene | None) -> Change | None:
        """The change, where there is one that can be followed by eye."""
        if old is None or new is None or old.plan.timeline is not new.plan.timeline:
            return None
        if max(len(old.plan.boxes), len(new.plan.boxes)) > MOST_BOXES:
            return None
        return None if old.placement.positions == new.placement.positions else Change(old, new)

    @property
    def over(self) -> bool:
        """Whether the new scene is to be shown as it is."""
        return self._share >= 1.0

    @property
    def _share(self) -> float:
        if self._start is None:
            self._start = self._now()
        return (self._now() - self._start) / SECONDS

    def scene(self) -> Scene:
        """The scene at this moment; for another thread than that of the event loop."""
        return morphed(self._old, self._new, ease_in_out(self._share))
