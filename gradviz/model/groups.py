"""A tree of groups over the nodes of a graph, and which of its groups are open in a view.

How the tree is built from what was recorded: `gradviz.model.grouping`.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from gradviz.texts import tr_picture as tr
from gradviz.texts import trn_picture as trn

GroupKind = Literal["all", "module", "function", "loop", "iteration", "line", "repeat", "range", "leaves"]

FEWEST_BOXES, MOST_BOXES = 12, 80
_REPEATING = ("loop", "repeat", "range", "iteration", "leaves")
_COMFORTABLE = 60  # groups are opened while the picture stays below this


@dataclass(frozen=True, slots=True)
class Group:
    """A set of nodes that can stand as one box.

    Attributes:
        index: its place in the tree's list; 0 holds everything.
        key: names it in another call, run or recording of the same code.
        kind: what it comes from.
        label: its name in the picture: `layers.3`, `step 7`, `loss`.
        detail: its class, or how often it repeats: `Block`, `× 48`.
        parent: the group around it, None for the whole.
        groups: the groups directly in it.
        nodes: the nodes directly in it.
        size: how many nodes it holds in all.
    """

    index: int
    key: str
    kind: GroupKind
    label: str
    detail: str
    parent: int | None
    groups: tuple[int, ...]
    nodes: tuple[int, ...]
    size: int

    @property
    def title(self) -> str:
        """`label` in the language of pictures: names stay, our own words (line, step, leaves) are translated."""
        numbers = re.fullmatch(r"(lines?|step) (\S+)", self.label)
        if numbers is not None:
            word, n = numbers.groups()
            return {"line": tr("line {n}", n=n), "lines": tr("lines {n}", n=n), "step": tr("step {n}", n=n)}[word]
        leaves = re.fullmatch(r"(\d+) leaves", self.label)
        return self.label if leaves is None else trn("{n} leaf", "{n} leaves", int(leaves[1]))


@dataclass(frozen=True)
class GroupTree:
    """All groups; children come after their parents."""

    groups: tuple[Group, ...]

    @cached_property
    def by_key(self) -> dict[str, Group]:
        """Key -> group."""
        return {group.key: group for group in self.groups}

    @cached_property
    def home(self) -> dict[int, int]:
        """Node -> the innermost group that holds it."""
        return {node: group.index for group in self.groups for node in group.nodes}

    def ancestors(self, group: int) -> list[int]:
        """The group and all around it, from inside to outside."""
        found = [group]
        while (parent := self.groups[found[-1]].parent) is not None:
            found.append(parent)
        return found

    def members(self, group: int) -> list[int]:
        """All nodes in a group."""
        found: list[int] = []
        waiting = [group]
        while waiting:
            current = self.groups[waiting.pop()]
            found.extend(current.nodes)
            waiting.extend(reversed(current.groups))
        return found

    def visible(self, open_groups: frozenset[int]) -> list[Group | int]:
        """What a view with these open groups holds: folded groups and single nodes (ids)."""
        found: list[Group | int] = []
        waiting = [0]
        while waiting:
            group = self.groups[waiting.pop()]
            if group.index and group.index not in open_groups:
                found.append(group)
                continue
            found.extend(group.nodes)
            waiting.extend(reversed(group.groups))
        return found

    @cached_property
    def first_view(self) -> frozenset[int]:
        """The groups that are open at first, so that the picture holds about 12 to 80 boxes.

        Outer groups are opened before inner ones and large ones before small ones; what repeats is opened only when
        the picture would be too empty otherwise.
        """
        if self.groups[0].size <= _COMFORTABLE:
            return frozenset(group.index for group in self.groups)
        return self._opened()

    def open_groups(self, expanded: Iterable[str], folded: Iterable[str]) -> frozenset[int]:
        """The open groups of a view: those of the first view, with and without these keys (`*`: all).

        A person may also name groups by what stands on their boxes; what names none has no effect.
        """
        keys, shut = tuple(expanded), tuple(folded)
        found = {group.index for group in self.groups} if "*" in keys else set(self.first_view)
        found.update(index for key in keys for index in self.named(key))
        if "*" in shut:
            found = {0}
        found.difference_update(index for key in shut for index in self.named(key))
        return frozenset(found | {0})

    def named(self, word: str) -> list[int]:
        """The groups (indices) with this key, else those with this label; none for an unknown word."""
        if word in self.by_key:
            return [self.by_key[word].index]
        return [group.index for group in self.groups if group.label == word]

    def _opened(self) -> frozenset[int]:
        found = {0}
        boxes = self._cost(0)
        waiting: list[tuple[bool, int, int, int]] = []

        def offer(parent: Group, depth: int) -> None:
            for child in parent.groups:
                group = self.groups[child]
                repeats = group.kind in _REPEATING or parent.kind in _REPEATING
                heapq.heappush(waiting, (repeats, depth, -group.size, child))

        offer(self.groups[0], 1)
        while waiting:
            repeats, depth, _, index = heapq.heappop(waiting)
            after = boxes - 1 + self._cost(index)
            if after > (MOST_BOXES if boxes < FEWEST_BOXES else _COMFORTABLE):
                continue
            if repeats and boxes >= FEWEST_BOXES:
                continue
            found.add(index)
            boxes = after
            offer(self.groups[index], depth + 1)
        return frozenset(found)

    def _cost(self, index: int) -> int:
        group = self.groups[index]
        return len(group.groups) + len(group.nodes)
