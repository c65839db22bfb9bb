"""The hooks of leaves: `.grad` before, what came and `.grad` after, each measured at the moment at which it is so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradviz.store.codec import UNDEFINED
from gradviz.worker.gathered import Change, Gathered, mark_of
from gradviz.worker.intake import Intake
from gradviz.worker.reading import gradient_of
from gradviz.worker.sent import Sent
from gradviz.worker.sums import Sums
from gradviz.worker.tasks import Task, current
from gradviz.worker.walk import Walk


class LeafHooks:
    """What the engine calls at the leaves of one run.

    A network of single numbers has as many leaves as operations, so what these need is at hand.
    """

    def __init__(
        self,
        walk: Walk,
        task: Task,
        intake: Intake,
        sent: Sent,
        sums: Sums | None,
        gathered: Gathered,
        arriving: Sequence[int],
    ) -> None:
        """`arriving` tells what kind of gradient comes to each node, as in `Flow`."""
        self._leaves = walk.leaves
        self._task = task
        self._take = intake.take
        self._takes = intake.takes
        self._arriving = arriving
        self._sent = sent
        self._sums = sums
        self._gathered = gathered
        self._pending: dict[int, Change] = {}

    def starts(self, index: int, grad_outputs: Any) -> None:
        """A leaf is about to take in what has arrived."""
        if current() != self._task.number and not self._task.is_current():
            return
        try:
            change = Change(index, 0, False, self._take(gradient_of(self._leaves[index])), UNDEFINED)
            arrived = grad_outputs[0]
            if arrived is None:
                self._gathered.unseen = True
            else:
                change.mark = mark_of(arrived)
                is_known = self._sent.are_known(index, grad_outputs)
                change.incoming = None if is_known else self._takes[self._arriving[index]](arrived)
            if change.incoming is not None:
                self._gathered.started[index] = [change.incoming]
            self._pending[index] = change
            self._gathered.changes.append(change)
        except Exception as error:
            self._gathered.note(error)

    def accumulated(self, index: int, tensor: Any) -> None:
        """`.grad` has its new value, and a hook of the user's is about to see it."""
        if current() != self._task.number and not self._task.is_current():
            return
        try:
            change = self._pending.get(index)
            if change is not None:
                self._measure_after(change, tensor)
        except Exception as error:
            self._gathered.note(error)

    def ran(self, index: int, grad_inputs: Any, grad_outputs: Any) -> None:
        """A leaf has taken in what arrived."""
        if current() != self._task.number and not self._task.is_current():
            return
        try:
            change = self._pending.pop(index, None)
            if change is None:
                return
            if change.order is None:
                self._measure_after(change, self._leaves[index])
            change.order = len(self._gathered.ran)
            self._gathered.ran.append((index, None if change.incoming is None else [change.incoming], [], True))
            if self._sums is not None:
                self._sums.close(index, self._gathered.sums)
        except Exception as error:
            self._gathered.note(error)

    def _measure_after(self, change: Change, tensor: Any) -> None:
        gradient = gradient_of(tensor)
        mark = None if gradient is None else mark_of(gradient)
        # A first gradient becomes `.grad` itself: nothing has to be read again.
        if mark is None or mark != change.mark:
            change.after = self._take(gradient)
        change.mark = mark
        change.order = len(self._gathered.ran)
