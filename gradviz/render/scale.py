"""Colour scales: log10 of a norm from pale to strong, and signed values on a diverging scale."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from gradviz.model import Gradient
from gradviz.render.theme import Theme, mix

_STEPS = 64  # so many colours are told apart at most; few colours keep GIFs small


@dataclass(frozen=True, slots=True)
class LogScale:
    """Norms by their decimal logarithm, from `low` to `high` (decades).

    `fixed` tells that a person chose them, `used` is False when nothing has a place on the scale.
    """

    low: float
    high: float
    fixed: bool = False
    used: bool = True

    def share(self, norm: float) -> float:
        """Where a finite norm > 0 is on the scale, limited to [0, 1]."""
        if self.high <= self.low:
            return 0.5
        place = (math.log10(norm) - self.low) / (self.high - self.low)
        return 0.0 if place < 0.0 else 1.0 if place > 1.0 else place

    def color(self, value: Gradient, theme: Theme) -> str:
        """The tint of a gradient: undefined ones look like the card, zero and non-finite ones have their own."""
        if value is None:
            return theme.card
        norm = value.norm
        if norm is None:
            return theme.unknown_part
        return self.tint(norm, theme)

    def tint(self, norm: float, theme: Theme) -> str:
        """The tint of a norm."""
        if norm == 0.0:
            return theme.zero
        if not math.isfinite(norm):
            return theme.nonfinite
        return step_color(theme.scale_low, theme.scale_high, round(self.share(norm) * _STEPS))


@lru_cache(maxsize=4096)
def step_color(low: str, high: str, step: int) -> str:
    """Colour number `step` (0 to 64) of the way from `low` to `high`."""
    return mix(low, high, step / _STEPS)


def scale_of(norms: Iterable[float | None], fixed: tuple[float, float] | None = None) -> LogScale:
    """The scale that holds all finite norms above zero; one decade around a single value."""
    if fixed is not None:
        return LogScale(float(fixed[0]), float(fixed[1]), True)
    known = [norm for norm in norms if norm is not None and 0.0 < norm < math.inf]
    if not known:
        return LogScale(0.0, 1.0, used=False)
    low, high = math.log10(min(known)), math.log10(max(known))
    return LogScale(low, high) if high - low > 1e-9 else LogScale(low - 0.5, high + 0.5)


def signed_color(value: float, most: float, theme: Theme) -> str:
    """A signed value on the diverging scale: `neutral` at 0, full colour at +-`most`."""
    if not math.isfinite(value):
        return theme.nonfinite
    if most <= 0.0 or value == 0.0:
        return theme.neutral
    end = theme.positive if value > 0 else theme.negative
    return step_color(theme.neutral, end, round(min(abs(value) / most, 1.0) * _STEPS))
