"""Decides which edges are too long to draw whole, and which long edges share a lane."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gradviz.layout.ranks import Edge

TRUNK_SPAN = 3
"""An edge over fewer ranks has its own lane always."""
TRUNK_EDGES = 4
"""From so many long edges at one box on, they share a lane: a trunk."""
LANES = 8
"""So many lanes on average in a rank are still a picture; more are a knot."""
SHARED_SPAN = 24
"""A trunk over more ranks than this is cut into stubs: nobody follows a line along 24 boxes to a weight."""

SOURCE, TARGET = 0, 1


class Trunks:
    """The boxes at which many long edges meet."""

    def __init__(self, edges: Sequence[Edge], ranks: Sequence[int]) -> None:
        long = [edge for edge in edges if ranks[edge[1]] - ranks[edge[0]] >= TRUNK_SPAN]
        self._ranks = ranks
        self._counts = [Counter(edge[end] for edge in long) for end in (SOURCE, TARGET)]

    def of(self, edge: Edge) -> tuple[int, int] | None:
        """Return (end, box) of the trunk that `edge` belongs to; None when it has a lane of its own."""
        if self._ranks[edge[1]] - self._ranks[edge[0]] < TRUNK_SPAN:
            return None
        for end in (TARGET, SOURCE):
            if self._counts[end][edge[end]] >= TRUNK_EDGES:
                return end, edge[end]
        return None


def cut_edges(edges: Sequence[Edge], ranks: Sequence[int], limit: int | None) -> list[bool]:
    """Return for each edge whether it becomes two stubs: its span is above `limit`.

    Without a limit it is chosen so that lanes stay few: on average at most 8 in a rank, and in all at most a small
    multiple of the boxes, which keeps the layout linear.
    """
    spans = [ranks[target] - ranks[source] for source, target in edges]
    if limit is not None:
        return [span > limit for span in spans]
    trunks = Trunks(edges, ranks)
    belongs = [trunks.of(edge) for edge in edges]
    auto = _auto_limit(spans, belongs, len(ranks), max(ranks, default=0) + 1)
    return [
        span > auto or (trunk is not None and span > SHARED_SPAN) for span, trunk in zip(spans, belongs, strict=True)
    ]


def _auto_limit(spans: list[int], belongs: list[tuple[int, int] | None], boxes: int, ranks: int) -> int:
    lanes: Counter[int] = Counter()
    longest: dict[tuple[int, int], int] = {}
    for span, trunk in zip(spans, belongs, strict=True):
        if trunk is None:
            lanes[span] += 1
        elif span <= SHARED_SPAN:
            longest[trunk] = max(span, longest.get(trunk, 0))
    lanes.update(longest.values())
    room = min(LANES * ranks, max(400, (6 if boxes <= 1000 else 2) * boxes))
    limit = 2
    for span in sorted(lanes):
        room -= (span - 1) * lanes[span]
        if room < 0:
            break
        limit = max(limit, span)
    return limit
