"""The ledger: how the `.grad` of a leaf or of a retained tensor grows over the calls, entry by entry."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gradviz.model import Accumulation, Gradient
from gradviz.model.dtypes import is_complex
from gradviz.playback.easing import clamp
from gradviz.playback.states import GradChange, GradState, Part
from gradviz.playback.sums import total

MOST_PARTS = 5
_CHECKED_ELEMENTS = 64
_ROUNDING = 1e-6
_TOLERANCE = 1e-2  # bfloat16 keeps 8 bits, 0.4%, of the larger term


@dataclass
class Track:
    """The states of one `.grad`, each with the beat from which it holds; built once, then only read."""

    name: str | None
    output_nr: int
    starts: list[float] = field(default_factory=list)
    states: list[GradState] = field(default_factory=list)

    @property
    def last(self) -> GradState:
        """The newest state."""
        return self.states[-1] if self.states else GradState((), None, None, name=self.name, output_nr=self.output_nr)

    def at(self, t: float) -> GradState:
        """The state at `t` beats, its change as far as it has come; one beat completes it."""
        place = bisect_right(self.starts, t) - 1
        if place < 0:
            return GradState((), None, None, name=self.name, output_nr=self.output_nr)
        state, alpha = self.states[place], clamp(t - self.starts[place])
        if alpha == 1.0 or state.change == "none":
            return state
        return replace(state, alpha=alpha)

    def add(self, start: float, call: int, entry: Accumulation) -> None:
        """Enter what one call did: before + incoming = after."""
        self.name = entry.name or self.name
        self._agree(start, entry.before)
        parts = self.last.parts
        if entry.incoming is None and same(entry.before, entry.after):
            return
        if entry.incoming is not None and adds_up(entry):
            self._enter(start, shortened((*parts, Part((call,), entry.incoming))), entry.after, "added")
        else:
            # A hook of the user's changed `.grad` on the way: what is there is all that can be told.
            self._enter(start, _unknown_origin(entry.after), entry.after, "assigned")

    def settle(self, start: float, left: Gradient) -> bool:
        """Enter what was left when the call returned; False where that is what was there last."""
        if same(left, self.last.total):
            return False
        self._enter(start, _unknown_origin(left), left, "none")
        return True

    def clear(self, start: float) -> None:
        """Enter that `.grad` was emptied."""
        self._enter(start, (), None, "cleared")

    def _agree(self, start: float, before: Gradient) -> None:
        """What is recorded as *before* stands against what we think is there."""
        if same(before, self.last.total):
            return
        if self.last.total is not None and is_zero(before):
            parts: tuple[Part, ...] = ()  # zero_grad(set_to_none=False): nothing of the earlier calls is left
        else:
            parts = _unknown_origin(before)
        # It happened before this beat, unseen; it takes no time of its own.
        self._enter(start if self.states else -math.inf, parts, before, "none")

    def _enter(self, start: float, parts: tuple[Part, ...], now: Gradient, change: GradChange) -> None:
        before = self.last.total
        self.starts.append(start)
        self.states.append(GradState(parts, before, now, change, 1.0, self.name, self.output_nr))


def same(a: Gradient, b: Gradient) -> bool:
    """Whether two recorded values are equal as far as can be told."""
    if a is None or b is None:
        return a is b
    if a.full_shape != b.full_shape:
        return False
    if a.data is not None and b.data is not None:
        return a.data == b.data
    if (a.data is None) == (b.data is None) or a.norm is None or b.norm is None:
        return a.norm == b.norm
    # A summary's norm was taken by torch in the tensor's own precision.
    return math.isclose(a.norm, b.norm, rel_tol=_ROUNDING) or (math.isnan(a.norm) and math.isnan(b.norm))


def is_zero(value: Gradient) -> bool:
    """Whether all elements are exactly zero (an undefined gradient is not)."""
    return value is not None and value.statistics is not None and value.statistics.zero == math.prod(value.full_shape)


def adds_up(entry: Accumulation) -> bool:
    """Whether after = before + incoming, where the numbers are there to tell."""
    if entry.after is None or entry.incoming is None:
        return False
    expected, known = total((entry.before, entry.incoming))
    if not known or expected is None or entry.after.numel > _CHECKED_ELEMENTS or is_complex(entry.after.dtype):
        return True
    scale = max((abs(x) for x in entry.incoming.numbers or () if math.isfinite(abs(x))), default=0.0)
    pairs = zip(expected.numbers or (), entry.after.numbers or (), strict=False)
    return all(_close(float(x.real), float(y.real), scale) for x, y in pairs)


def shortened(parts: Sequence[Part]) -> tuple[Part, ...]:
    """At most `MOST_PARTS` parts: the oldest ones are added together."""
    if len(parts) <= MOST_PARTS:
        return tuple(parts)
    cut = len(parts) - MOST_PARTS + 1
    value, _ = total([part.value for part in parts[:cut]])
    calls = tuple(call for part in parts[:cut] for call in part.calls)
    return (Part(calls, value), *parts[cut:])


def _unknown_origin(value: Gradient) -> tuple[Part, ...]:
    return () if value is None else (Part((), value),)


def _close(x: float, y: float, scale: float) -> bool:
    if not (math.isfinite(x) and math.isfinite(y)):
        return x == y or (math.isnan(x) and math.isnan(y))
    return math.isclose(x, y, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE * scale)
