"""Gradients that are on their way in one run: what arrives untouched is not taken in a second time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradviz.worker.flow import Flow


class Sent:
    """What was sent, by the place of the output that gets it (see `Flow`), with what tells that it is still that.

    An entry has the `id` of the tensor, its version, and what it was taken in as. The engine holds what was sent until
    it arrives, and with it the object: no other one has its id. In a `calm` run, in which nothing but torch's own nodes
    can run, what arrives at such an output is what was sent: an entry is what it was taken in as.
    """

    def __init__(self, flow: Flow | None, calm: bool) -> None:
        """Without a `flow` nothing is known."""
        self._places = None if flow is None else flow.places
        self.calm = calm
        self.entries: list[Any] = [None] * (0 if flow is None else flow.places[-1])

    def are_known(self, index: int, gradients: Sequence[Any]) -> bool:
        """Tell whether these, which arrive at a node, are the very tensors that were sent there."""
        if self._places is None or len(gradients) > self._places[index + 1] - self._places[index]:
            return False
        for at, gradient in enumerate(gradients, self._places[index]):
            entry = self.entries[at]
            if gradient is None or entry is None:
                return False
            if not self.calm and (entry[0] != id(gradient) or entry[1] != version(gradient)):
                return False
            self.entries[at] = None
        return True


def version(gradient: Any) -> float:
    """How often a tensor was written to; nan, which equals nothing, where that is not counted (inference mode)."""
    try:
        return int(gradient._version)
    except RuntimeError:
        return math.nan
