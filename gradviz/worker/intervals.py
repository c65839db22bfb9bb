"""Which line made the autograd nodes with which sequence numbers. Plain arrays: 20 bytes for each line that ran."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

# About 20 MB. What is older is forgotten: a training loop must not grow with its steps.
LIMIT = 1 << 20


class Located(NamedTuple):
    """Sites, iterations and names of many nodes, 0 where they are not known."""

    sites: list[int]
    iterations: list[int]
    names: list[int]


class Intervals:
    """The intervals of one thread (sequence numbers count per thread), in rising order, not overlapping."""

    def __init__(self) -> None:
        self._starts = array("q")
        self._ends = array("q")
        self._sites = array("i")
        self._iterations = array("i")
        self._names = array("i")  # 0, or the name of the last node of the interval
        self._other_names: dict[int, int] = {}  # sequence number -> name, for nodes that are not the last

    def add(self, start: int, end: int, site: int, iteration: int) -> None:
        """Say that `site` made the nodes `start <= sequence < end`."""
        count = len(self._starts)
        if len(self._names) != count:  # a Ctrl-C came between the columns; the start is written last
            self._keep(slice(0, count))
        if count >= LIMIT:
            self._forget_half()
        self._names.append(0)
        self._iterations.append(iteration)
        self._sites.append(site)
        self._ends.append(end)
        self._starts.append(start)

    def name(self, sequence: int, name: int) -> None:
        """Name a node, unless it has a name already: the first binding is the one at its creation."""
        index = len(self._starts) - 1
        if index >= 0 and sequence != self._ends[index] - 1:
            index = self._find(sequence)
        if index < 0:
            return
        if sequence == self._ends[index] - 1:
            if not self._names[index]:
                self._names[index] = name
        elif len(self._other_names) < LIMIT:
            self._other_names.setdefault(sequence, name)

    def find(self, sequence: int) -> tuple[int, int, int] | None:
        """Site, iteration and name (0: none) of a node; None when no line of the user's is known to have made it."""
        index = self._find(sequence)
        if index < 0:
            return None
        is_last = sequence == self._ends[index] - 1
        name = self._names[index] if is_last else self._other_names.get(sequence, 0)
        return self._sites[index], self._iterations[index], name

    def find_all(self, sequences: Sequence[int]) -> Located:
        """As `find` for each of many: a graph of 20,000 nodes is looked up in 10 ms."""
        starts, ends, sites, iterations = self._starts, self._ends, self._sites, self._iterations
        names, other_names = self._names, self._other_names
        count = len(sequences)
        found = Located([0] * count, [0] * count, [0] * count)
        rows, times, named = found
        for at, sequence in enumerate(sequences):
            index = bisect_right(starts, sequence) - 1
            if index < 0 or sequence >= ends[index]:
                continue
            rows[at], times[at] = sites[index], iterations[index]
            if sequence == ends[index] - 1:
                named[at] = names[index]
            elif other_names:
                named[at] = other_names.get(sequence, 0)
        return found

    def _find(self, sequence: int) -> int:
        index = bisect_right(self._starts, sequence) - 1
        return index if index >= 0 and sequence < self._ends[index] else -1

    def _forget_half(self) -> None:
        half = len(self._starts) // 2
        oldest = self._starts[half]
        self._keep(slice(half, len(self._starts)))
        self._other_names = {s: name for s, name in self._other_names.items() if s >= oldest}

    def _keep(self, part: slice) -> None:
        kept = [column[part] for column in (self._starts, self._ends, self._sites, self._iterations, self._names)]
        self._starts, self._ends, self._sites, self._iterations, self._names = kept
