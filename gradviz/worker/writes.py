"""Which line of the user's last wrote into the value of a tensor, or into its `.grad`, by hand."""

from __future__ import annotations

from typing import Any, NamedTuple

from gradviz.worker.bindings import gradient_of, version_of
from gradviz.worker.serials import Serials
from gradviz.worker.writing import DIRECT, HIDDEN, Write

_MOST = 1_000  # tensors
# Looked at so often without finding a tensor, an expression is looked at no more.
_DULL = 50


State = tuple[int, int]  # identity and version of `.grad`; 0 and the version of a value
Before = tuple[int, State] | None  # a tensor's `id` and state before a line ran; None: the expression led to none


class Line(NamedTuple):
    """A line that wrote. `time` counts the writes, `state` is how it left the tensor."""

    code: int
    number: int
    time: int
    state: State | None


class Writes:
    """Filled from inside trace callbacks: numbers only, no tensor is kept."""

    def __init__(self, serials: Serials) -> None:
        self._serials = serials
        self._lines: dict[tuple[int, bool], Line] = {}  # (serial of the tensor, gradient)
        self.time = 0

    def note(self, tensor: Any, gradient: bool, code: int, number: int, since: int) -> None:
        """A line that started at time `since` has written; a callee's line, which ended before it, stays."""
        key = self._serials.tensor(tensor), gradient
        known = self._lines.get(key)
        if known is not None and known.time > since:
            return
        if len(self._lines) >= _MOST:
            self._lines.clear()
        self.time += 1
        self._lines[key] = Line(code, number, self.time, state_of(tensor, gradient))

    def line(self, tensor: Any, gradient: bool) -> Line | None:
        """The line that last wrote, None where something else has written since. Asked once, it is forgotten."""
        found = self._lines.pop((self._serials.tensor(tensor), gradient), None) if self._lines else None
        return found if found is not None and found.state == state_of(tensor, gradient) else None

    def are_any(self) -> bool:
        """Whether any line has written into what nobody has asked for yet."""
        return bool(self._lines)

    def has_gradients(self) -> bool:
        """Whether any `.grad` was written since the last `forget_gradients`."""
        return any(gradient for _, gradient in self._lines)

    def forget_gradients(self) -> None:
        """All `.grad` have been compared: what was written without a change is no news any more."""
        if self._lines:
            self._lines = {key: line for key, line in self._lines.items() if not key[1]}


def state_of(tensor: Any, gradient: bool) -> State | None:
    """What a write changes, None for a tensor whose `.grad` cannot be read without a warning."""
    if not gradient:
        return 0, version_of(tensor)
    known, held = gradient_of(tensor)
    if not known:
        return None
    return (0, 0) if held is None else (id(held), version_of(held))


def dull(write: Write) -> bool:
    """Whether an expression has never led to a tensor."""
    return write.misses >= _DULL


def changed(tensor: Any, write: Write, before: Before) -> bool:
    """Whether a line has written into `tensor`, to which the expression of `write` leads after it ran."""
    if before is None or before[0] != id(tensor):  # bound by the line itself: `for p in ws: p.grad = None`
        return write.how >= DIRECT
    return write.how == HIDDEN or before[1] != state_of(tensor, write.gradient)
