"""Tells engine runs apart that go on at the same time: in threads, or one inside another.

Runs that share a graph call each other's hooks. The engine numbers its runs, and a hook can read the number of the
run that called it, but the number is not known before the run's first hook. There are no thread-locals here: on a
GPU the engine calls hooks in threads of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import torch

_C: Any = torch._C
current: Callable[[], int] = _C._current_graph_task_id
OUTSIDE = -1  # what `current` says outside any run
_ENDED = -2


class Task:
    """One engine run. `number` is OUTSIDE until its first hook."""

    __slots__ = ("_tasks", "call", "number", "thread")

    def __init__(self, tasks: Tasks, call: Any) -> None:
        self.number = OUTSIDE
        self.thread = threading.get_ident()
        self.call = call
        self._tasks = tasks

    def is_current(self) -> bool:
        """Tell whether the hook that asks was called by this run."""
        number = current()
        return number == self.number or (self.number == OUTSIDE and self._tasks.claim(self, number))

    def end(self) -> None:
        """The run is over: a hook that is left behind must never count again."""
        self._tasks.remove(self)
        self.number = _ENDED
        self.call = None  # it holds us, too: its tensors must not wait for the collector


class Tasks:
    """The runs that are going on."""

    def __init__(self) -> None:
        self._open: list[Task] = []
        self._lock = threading.Lock()

    def open(self, call: Any) -> Task:
        """A run is about to start; `call` is whatever belongs to it."""
        task = Task(self, call)
        with self._lock:
            self._open.append(task)
        return task

    def claim(self, task: Task, number: int) -> bool:
        """Take `number` as the one of `task`, unless it is, or may be, that of another run."""
        with self._lock:
            if number == OUTSIDE or any(other.number == number for other in self._open):
                return False
            if threading.get_ident() != task.thread and self._waiting() != [task]:
                return False
            task.number = number
            return True

    def enclosing(self) -> Task | None:
        """The run from inside which this code was called, None outside."""
        number = current()
        if number == OUTSIDE:
            return None
        with self._lock:
            known = next((task for task in self._open if task.number == number), None)
            if known is None:
                # None of its hooks has run yet: it is the latest run that this thread has started.
                waiting = self._waiting()
                mine = [task for task in waiting if task.thread == threading.get_ident()] or waiting[:1]
                if len(mine) != 0 and (len(waiting) == 1 or mine[-1].thread == threading.get_ident()):
                    known = mine[-1]
                    known.number = number
            return known

    def remove(self, task: Task) -> None:
        """Forget a run."""
        with self._lock:
            if task in self._open:
                self._open.remove(task)

    def _waiting(self) -> list[Task]:
        return [task for task in self._open if task.number == OUTSIDE]
