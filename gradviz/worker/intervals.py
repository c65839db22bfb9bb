"""Which line made the autograd nodes with which sequence numbers. Plain arrays: 16 bytes for each line that ran."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple

from gradviz.worker.limits import make_room

# About 16 MB each. What is older is forgotten: a training loop must not grow with its steps.
LIMIT = 1 << 20
_NAMES = 1 << 22
_CHUNK = 1 << 12  # names
# To name a node is to look at it; so many of them, in one chain, would be half of what is too deep to let go.
_MANY = 20_000
_NEVER = -(1 << 63)
_pack = Struct("qii").pack


UNSEEN = -1  # as a site: of the thread's own nodes of which nothing is known, though another one may have such numbers


class Located(NamedTuple):
    """Sites, iterations and names of many nodes, 0 where they are not known."""

    sites: list[int]
    iterations: list[int]
    names: list[int]


class Intervals:
    """The intervals of one thread (sequence numbers count per thread), in rising order, not overlapping.

    A row is two items of the array: where the interval starts, then site and iteration in 32 bits each. It ends where
    the next one starts; what no line made is an interval with site 0. A row is added at one go: a Ctrl-C comes before
    it or after it.
    """

    def __init__(self) -> None:
        self._rows = array("q")
        self.end = 0  # of the last interval
        self.names = array("i")  # of the nodes from `_first` on, 0 for none
        self.first = 0

    def add(self, start: int, end: int, site: int, iteration: int) -> None:
        """Say that `site` made the nodes `start <= sequence < end`."""
        rows = self._rows
        if start != self.end:
            rows.frombytes(_pack(self.end, 0, 0))
        rows.frombytes(_pack(start, site, iteration))
        self.end = end
        if len(rows) > 2 * LIMIT:
            self._rows = rows[LIMIT & ~1 :]

    def name(self, sequence: int, name: int) -> None:
        """Name a node, unless it has a name already: the first binding is the one at its creation."""
        at = sequence - self.first
        if at >= 0 and sequence < self.end:
            try:
                if not self.names[at]:
                    self.names[at] = name
            except IndexError:
                self._reach(at)
                self.names[sequence - self.first] = name

    def is_named(self, sequence: int) -> bool:
        """Whether a node has a name, or can get none."""
        at = sequence - self.first
        return at < 0 or sequence >= self.end or (at < len(self.names) and self.names[at] != 0)

    def find(self, sequence: int) -> tuple[int, int, int] | None:
        """Site, iteration and name (0: none) of a node; None when no line of the user's is known to have made it."""
        row = self._row(sequence)
        if row < 0 or sequence >= self.end:
            return None
        site, iteration = array("i", self._rows[2 * row + 1 : 2 * row + 2].tobytes())
        at = sequence - self.first
        return (site, iteration, self.names[at] if 0 <= at < len(self.names) else 0) if site else None

    def find_all(self, sequences: Sequence[int]) -> Located:
        """As `find` for each of many: a graph of 20,000 nodes is looked up in 5 ms."""
        lowest = min((sequence for sequence in sequences if sequence >= 0), default=0)
        rows = self._rows[2 * max(0, self._row(lowest)) :]
        halves = array("i", rows.tobytes())
        # Before the first interval and from the end on there is nobody.
        starts = array("q", [_NEVER, *rows[::2], self.end])
        sites, iterations = array("i", [0, *halves[2::4], 0]), array("i", [0, *halves[3::4], 0])
        found = [bisect_right(starts, sequence) - 1 for sequence in sequences]
        found_sites = [sites[at] for at in found]
        names, first, count = self.names, self.first, len(self.names)
        return Located(
            found_sites,
            [iterations[at] for at in found],
            [
                names[sequence - first] if site and 0 <= sequence - first < count else 0
                for site, sequence in zip(found_sites, sequences, strict=True)
            ],
        )

    def _row(self, sequence: int) -> int:
        """The last row that starts at or before a node, -1 for none."""
        rows = self._rows
        return bisect_right(range(len(rows) // 2), sequence, key=lambda row: rows[2 * row]) - 1

    def _reach(self, at: int) -> None:
        """Let the names reach to number `at`; where they would be too many the older half goes."""
        if at >= _NAMES:
            gone = at - _NAMES // 2
            self.names, self.first = self.names[gone:], self.first + gone
            at -= gone
        if at >= _MANY:
            make_room(at)
        missing = at + _CHUNK - len(self.names)
        self.names.frombytes(bytes(self.names.itemsize * missing))
