"""Where a dialog stands that stays open beside the graph: over the panels, and not over what it is about."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, QSize

_GAP = 16  # from the window's edge


def place_aside(size: QSize, window: QRect, spare: Sequence[QRect], others: Sequence[QRect] = ()) -> QPoint:
    """The corner of a dialog of this size in a window, of places at its edges the one that covers least of `spare`.

    Of places that are equal in that the one that covers least of `others`. All in pixels of the screen. At the right
    is liked best, a little below the middle.
    """
    right, left = window.right() - size.width() - _GAP, window.left() + _GAP
    top, bottom = window.top() + 4 * _GAP, window.bottom() - size.height() - _GAP
    middle = min(max(window.center().y() - size.height() // 4, top), bottom)
    places = [QPoint(x, y) for x in (right, left) for y in (middle, bottom, top)]
    rects = [QRect(place, size) for place in places]
    return min(rects, key=lambda rect: (_covered(rect, spare), _covered(rect, others))).topLeft()


def _covered(dialog: QRect, spare: Sequence[QRect]) -> int:
    parts = [dialog.intersected(rect) for rect in spare]
    return sum(part.width() * part.height() for part in parts if not part.isEmpty())
