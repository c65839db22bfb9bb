"""A matrix as an image: one pixel a cell, or a cell's worth of many for a matrix that is larger than the screen."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QColor, QImage

from gradviz.render.scale import signed_color
from gradviz.render.theme import Theme

Array = npt.NDArray[Any]
_STEPS = 64


def image_of(values: Array, most: float, strides: tuple[int, int], colors: Theme) -> QImage:
    """The image of a matrix in which `strides` rows and columns share a pixel: the one of largest magnitude is seen."""
    return coloured(pooled(values, *strides), most, colors)


def pooled(values: Array, row_stride: int, column_stride: int) -> Array:
    """The element of largest magnitude of each tile (with its sign); nan and inf stand out of their tiles."""
    rows, columns = values.shape
    if row_stride > 1:
        values = _extreme(values, row_stride, 0)
    if column_stride > 1:
        values = _extreme(values, column_stride, 1)
    assert values.shape == (-(-rows // row_stride), -(-columns // column_stride))
    return values


def _extreme(values: Array, stride: int, axis: int) -> Array:
    starts = np.arange(0, values.shape[axis], stride)
    with np.errstate(invalid="ignore"):
        high = np.maximum.reduceat(values, starts, axis=axis)
        low = np.minimum.reduceat(values, starts, axis=axis)
        return np.where(high >= -low, high, low) if not np.isnan(high).any() else _with_nan(high, low)


def _with_nan(high: Array, low: Array) -> Array:
    return np.where(np.isnan(high), high, np.where(high >= -low, high, low))


def coloured(values: Array, most: float, colors: Theme) -> QImage:
    """The cells of a matrix on the diverging scale of +-`most`."""
    rows, columns = values.shape
    table = palette(colors)
    with np.errstate(invalid="ignore"):
        steps = np.rint(np.clip(values / most if most > 0 else np.zeros_like(values), -1, 1) * _STEPS)
    odd = ~np.isfinite(values)
    steps[odd] = 0
    pixels = table[steps.astype(np.int16) + _STEPS]
    pixels[odd] = table[-1]
    image = QImage(columns, rows, QImage.Format.Format_RGB32)
    out = np.frombuffer(image.bits(), dtype=np.uint32).reshape(rows, image.bytesPerLine() // 4)
    out[:, :columns] = pixels
    return image


@lru_cache(maxsize=8)
def palette(colors: Theme) -> npt.NDArray[np.uint32]:
    """The colours of -1 to 1 in 129 steps, then the one of what is not finite."""
    names = [signed_color(step / _STEPS, 1.0, colors) for step in range(-_STEPS, _STEPS + 1)]
    return np.array([QColor(name).rgb() for name in [*names, colors.nonfinite]], dtype=np.uint32)
