"""Boxes with a number and two arrows."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox, QWidget

Box = TypeVar("Box", QSpinBox, QDoubleSpinBox)
_MARGIN = 6  # pixels before the text; a style sheet's padding does not reach the field inside the box


def whole_box(parent: QWidget | None = None) -> QSpinBox:
    """A box for a whole number."""
    return _roomy(QSpinBox(parent))


def decimal_box(parent: QWidget | None = None) -> QDoubleSpinBox:
    """A box for a number with decimals."""
    return _roomy(QDoubleSpinBox(parent))


def _roomy(box: Box) -> Box:
    box.lineEdit().setTextMargins(_MARGIN, 0, 0, 0)
    return box
