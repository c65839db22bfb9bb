"""Places the ranks along the flow, in one row or several.

Rows run to and fro like a ploughed field: every second one is turned by half a turn, so that the edges which lead into
the next row stay short and nest without crossing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from gradviz.layout.order import Layers
from gradviz.layout.proper import Proper
from gradviz.layout.rows import ROW_GAP

STEEP = 0.18
"""Share of an edge's move across that two ranks are apart at least, so that edges do not run steeply."""
WIDEST_GAP = 3.0
"""But no gap is wider than so many times the wanted one."""


@dataclass(frozen=True)
class Frame:
    """How coordinates of the layering (along its rank, across) become those of the picture.

    Attributes:
        start: along coordinate of the side of each rank's band where edges come in.
        end: of the side where they leave.
        sign: +1 for ranks in rows that run forward, -1 for rows that run back.
        base: across coordinate of the picture is base + sign * coordinate.
    """

    start: list[float]
    end: list[float]
    sign: list[int]
    base: list[float]

    def middle(self, rank: int) -> float:
        """Return the along coordinate of the middle of a rank's band."""
        return (self.start[rank] + self.end[rank]) / 2

    def across(self, rank: int, coordinate: float) -> float:
        """Return the picture's across coordinate of a layering's."""
        return self.base[rank] + self.sign[rank] * coordinate


def frame(proper: Proper, layers: Layers, coordinates: Sequence[float], gap: float, breaks: Sequence[int]) -> Frame:
    """Lay the bands of the ranks one after the other, row after row."""
    result = Frame([], [], [], [])
    thickness = [max((proper.along[vertex] for vertex in layer), default=0.0) for layer in layers]
    bounds = [0, *breaks, len(layers)]
    gaps = _justified(proper, thickness, bounds, gap) if breaks else _gaps(proper, layers, coordinates, gap)
    top = 0.0
    origin = 0.0
    for row, (first, last) in enumerate(pairwise(bounds)):
        sign = 1 if row % 2 == 0 else -1
        members = [vertex for layer in layers[first:last] for vertex in layer]
        lowest = min((coordinates[vertex] - proper.low[vertex] for vertex in members), default=0.0)
        highest = max((coordinates[vertex] + proper.high[vertex] for vertex in members), default=0.0)
        base = top - lowest if sign > 0 else top + highest
        travelled = 0.0
        for rank in range(first, last):
            result.start.append(origin + sign * travelled)
            result.end.append(origin + sign * (travelled + thickness[rank]))
            result.sign.append(sign)
            result.base.append(base)
            travelled += thickness[rank] + (gaps[rank] if rank + 1 < last else 0.0)
        origin += sign * travelled
        top += highest - lowest + ROW_GAP
    return result


def _justified(proper: Proper, thickness: Sequence[float], bounds: Sequence[int], gap: float) -> list[float]:
    """Return the gap behind each rank, such that all rows but the last one are equally long, like lines of a text."""
    rows = [range(first, last) for first, last in pairwise(bounds)]
    shares = [sum([proper.gap_shares[rank] for rank in row[:-1]]) for row in rows]
    lengths = [sum([thickness[rank] for rank in row]) + gap * share for row, share in zip(rows, shares, strict=True)]
    longest = max(lengths)
    gaps: list[float] = []
    for row, length, share in zip(rows, lengths, shares, strict=True):
        spare = (longest - length) / share if share and row is not rows[-1] else 0.0
        gaps += [(gap + min(spare, 2 * gap)) * proper.gap_shares[rank] for rank in row]
    return gaps


def _gaps(proper: Proper, layers: Layers, coordinates: Sequence[float], gap: float) -> list[float]:
    """Return the gap behind each rank: wider where an edge has far to go across."""
    gaps = []
    for layer, share in zip(layers, proper.gap_shares, strict=True):
        move = max(
            [abs(coordinates[lower] - coordinates[upper]) for upper in layer for lower in proper.down[upper]],
            default=0.0,
        )
        gaps.append(share * min(max(gap, STEEP * move), WIDEST_GAP * gap))
    return gaps
