"""Easing: how a movement starts and ends. Every function maps [0, 1] to [0, 1] with 0 -> 0 and 1 -> 1."""

from __future__ import annotations


def clamp(x: float) -> float:
    """`x` limited to [0, 1]."""
    return 0.0 if x < 0.0 else 1.0 if x > 1.0 else x


def linear(x: float) -> float:
    """No easing."""
    return clamp(x)


def ease_in_out(x: float) -> float:
    """Slow, fast, slow: the cubic 3x^2 - 2x^3."""
    x = clamp(x)
    return x * x * (3.0 - 2.0 * x)


def ease_out(x: float) -> float:
    """Fast, then slow: 1 - (1 - x)^3."""
    return 1.0 - (1.0 - clamp(x)) ** 3


def ease_in(x: float) -> float:
    """Slow, then fast: x^3."""
    return clamp(x) ** 3


def between(alpha: float, start: float, end: float) -> float:
    """How far `alpha` is on its way from `start` to `end`, limited to [0, 1]."""
    return clamp((alpha - start) / (end - start))
