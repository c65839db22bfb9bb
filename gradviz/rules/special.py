"""Special functions that numpy lacks, elementwise on float64 arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_SHIFT = 12  # above it the asymptotic series below are exact to float64


def _elementwise(function: Callable[[float], float]) -> Callable[[Array], Array]:
    def apply(x: Array) -> Array:
        result: Array = np.vectorize(function, otypes=[np.float64])(x)
        return result

    return apply


erf = _elementwise(math.erf)


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)), without overflow for large negative x."""
    result: Array = np.exp(-np.logaddexp(0, -x))
    return result


def softplus(x: Array) -> Array:
    """log(1 + exp(x))."""
    result: Array = np.logaddexp(0, x)
    return result


def normal_cdf(x: Array) -> Array:
    """The distribution function of the standard normal distribution."""
    return 0.5 * (1 + erf(x / math.sqrt(2)))


def normal_pdf(x: Array) -> Array:
    """The density of the standard normal distribution."""
    result: Array = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return result


def sign(z: Array) -> Array:
    """The sign of a real number, z / |z| of a complex one, 0 at 0."""
    size = np.abs(z)
    result: Array = np.divide(z, size, out=np.zeros_like(z), where=size != 0)
    return result


def x_log_y(x: Array, y: Array) -> Array:
    """x log y, 0 where x is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Array = np.where(x == 0, 0, x * np.log(y))
    return result


def inverse_erf(y: Array) -> Array:
    """The inverse of erf on (-1, 1), by Newton's method from a rational start (S. Winitzki's approximation)."""
    a = 0.147
    tail = np.log(1 - y * y)
    head = 2 / (math.pi * a) + tail / 2
    x = np.sign(y) * np.sqrt(np.sqrt(head * head - tail / a) - head)
    for _ in range(4):
        x = x - (erf(x) - y) * math.sqrt(math.pi) / 2 * np.exp(x * x)
    return np.asarray(x)


def _digamma(x: float) -> float:
    """Recurrence up to 12, then the asymptotic series (Abramowitz and Stegun 6.3.18)."""
    total = 0.0
    while x < _SHIFT:
        total -= 1 / x
        x += 1
    square = 1 / (x * x)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132))))
    return total + math.log(x) - 0.5 / x - series


def _trigamma(x: float) -> float:
    """Recurrence up to 12, then the asymptotic series (Abramowitz and Stegun 6.4.12)."""
    total = 0.0
    while x < _SHIFT:
        total += 1 / (x * x)
        x += 1
    square = 1 / (x * x)
    series = square * (1 / 6 - square * (1 / 30 - square * (1 / 42 - square * (1 / 30 - square * 5 / 66))))
    return total + 1 / x + square / 2 + series / x


digamma = _elementwise(_digamma)
trigamma = _elementwise(_trigamma)
