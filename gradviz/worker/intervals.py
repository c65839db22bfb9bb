"""Which line made the autograd nodes with which sequence numbers. Plain arrays: 16 bytes for each line that ran."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple

import torch

from gradviz.worker.limits import make_room
from gradviz.worker.quiet import below_autograd

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
        """As `find` for each of many, inside `quiet`: a graph of 20,000 nodes is looked up in 2 ms.

        It works on copies: a signal handler of the user's may add lines meanwhile.
        """
        lowest = min((sequence for sequence in sequences if sequence >= 0), default=0)
        # Before the first interval and from the end on there is nobody.
        rows = array("q", [_NEVER, 0]) + self._rows[2 * max(0, self._row(lowest)) :] + array("q", [self.end, 0])
        skipped = max(0, lowest - self.first)
        names = array("i", [0]) + self.names[skipped : max(sequences, default=0) + 1 - self.first]
        with below_autograd():
            starts, _ = table = torch.frombuffer(rows, dtype=torch.int64).view(-1, 2).t()
            wanted = torch.tensor(sequences, dtype=torch.int64, device="cpu")
            found = torch.searchsorted(starts.contiguous(), wanted, right=True) - 1
            sites, iterations = table[1].contiguous().view(torch.int32).view(-1, 2)[found].t()
            at = wanted - (self.first + skipped - 1)
            at[(sites == 0) | (at < 0) | (at >= len(names))] = 0
            named = torch.frombuffer(names, dtype=torch.int32)[at]
            return Located(sites.tolist(), iterations.tolist(), named.tolist())

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
