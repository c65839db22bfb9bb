"""Boxes that choose an index along each dimension of a tensor, in rows of two, so that they fit into a narrow panel."""

from __future__ import annotations

from PySide6.QtWidgets import QGridLayout, QSizePolicy, QSpinBox, QWidget

from gradviz.app.spins import whole_box
from gradviz.app.texts import tr

_COLUMNS = 2


def index_spin(dimension: int, size: int, words: str) -> QSpinBox:
    """A box for an index along a dimension of `size`; `words` are for who cannot see it."""
    spin = whole_box()
    spin.setRange(0, max(size - 1, 0))
    spin.setPrefix(tr("dim {n}:", n=dimension) + " ")
    spin.setAccessibleName(words)
    return spin


def add_spin(grid: QGridLayout, spin: QWidget) -> None:
    """Put a box after those that are in the grid."""
    place = grid.count()
    policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)  # half of the width, be it small
    spin.setSizePolicy(policy)
    grid.addWidget(spin, place // _COLUMNS, place % _COLUMNS)
    for column in range(min(place + 1, _COLUMNS)):
        grid.setColumnStretch(column, 1)
