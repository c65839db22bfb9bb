"""Numbers and labels of calls: which call is inside which, and how much of each is recorded."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch

from gradviz.model.calls import Detail
from gradviz.worker.budget import Budget
from gradviz.worker.tasks import Task

_C: Any = torch._C


@dataclass(frozen=True, slots=True)
class Rank:
    """Where a call stands among the others: number, label, the call around it, and how much of it is recorded."""

    number: int
    label: str
    parent: int | None
    parent_node: int | None
    detail: Detail
    group: str | None = None


class Family:
    """A call that others may be inside of; it counts them."""

    def __init__(self, rank: Rank) -> None:
        self.rank = rank
        self._children = itertools.count(1)

    def child_label(self) -> str:
        """`2.1`, then `2.2` for a call with label 2."""
        return f"{self.rank.label}.{next(self._children)}"


class Group:
    """A function of torch that starts engine runs on the user's behalf, while it runs.

    A call stands for it from its first engine run on. `task` is the engine run from inside which it was called.
    """

    def __init__(self, api: str, frame: FrameType, task: Task | None) -> None:
        self.api = api
        self.frame = frame
        self.task = task
        self.family: Family | None = None
        self.error: BaseException | None = None


class Ranks:
    """Gives out ranks; called under the recorder's lock."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._numbers = itertools.count(1)
        self._top = 0
        self._groups: dict[int, list[Group]] = {}  # thread -> functions that it is inside of, outermost first
        self.last = 0  # the number that was given out last

    def enter(self, group: Group) -> None:
        """The thread enters a grouping function."""
        self._groups.setdefault(threading.get_ident(), []).append(group)

    def leave(self, group: Group) -> None:
        """The thread leaves it."""
        thread = threading.get_ident()
        groups = self._groups.get(thread, [])
        if group in groups:
            groups.remove(group)
        if not groups:
            self._groups.pop(thread, None)

    def next(
        self, task: Task | None, node: Callable[[Any], int | None], open_group: Callable[[Group, Rank], None]
    ) -> Rank | None:
        """The rank of a call that starts now, None where the budget leaves it out.

        `task` is the engine run around it, `node` tells which node of that run is at work, and `open_group` writes
        the call of a grouping function when its first engine run starts.
        """
        groups = self._groups.get(threading.get_ident())
        # Only the outermost one counts: `hessian` calls `jacobian`.
        group = next((group for group in groups or () if group.task is task), None)
        if group is None:
            return self._inside(task, node, None)
        if group.family is None:
            rank = self._inside(task, node, None)
            if rank is None:
                return None
            group.family = Family(rank)
            open_group(group, rank)
        around = group.family
        return Rank(
            self._number(), around.child_label(), around.rank.number, None, around.rank.detail, group.api
        )  # fmt: skip

    def _inside(self, task: Task | None, node: Callable[[Any], int | None], group: str | None) -> Rank | None:
        if task is not None:
            around: Family = task.call.family
            label = around.child_label()
            return Rank(self._number(), label, around.rank.number, node(task.call), around.rank.detail, group)
        self._top += 1
        detail = self._budget.detail(self._top)
        return None if detail is None else Rank(self._number(), str(self._top), None, None, detail, group)

    def _number(self) -> int:
        self.last = next(self._numbers)
        return self.last


def current_node(active: Any) -> int | None:
    """The id of the node that the engine is at, in the call `active`."""
    node: int | None = active.walk.id_of(_C._current_autograd_node())
    return node
