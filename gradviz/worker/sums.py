"""Adds up what comes to a node before which a tensor hook of the user's stands: the hook changes it unseen.

A single term can be compared with what the node got, and small terms are added up later from what is stored. This is
for the rest, and it is rare: few nodes have both several terms and a hook.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from gradviz.worker.flow import FROM_SEED, Flow
from gradviz.worker.intake import Item
from gradviz.worker.quiet import quiet
from gradviz.worker.walk import Walk


def has_hooks(walk: Walk) -> bool:
    """Tell whether the user has set a tensor hook on anything in a graph."""
    return bool(walk.hooked) or any(leaf._backward_hooks for leaf in walk.leaves.values())


class Sums:
    """The running sums of one call; they are tensors, dropped as soon as their node has run."""

    def __init__(self, walk: Walk, flow: Flow, take: Callable[[Any], Item]) -> None:
        self._take = take
        self._targets: dict[tuple[int, int], int] = {}  # source, slot -> index
        self._running: dict[int, torch.Tensor] = {}
        hooked = walk.hooked | {index for index, leaf in walk.leaves.items() if leaf._backward_hooks}
        for index in hooked - flow.twins:
            terms = flow.terms[index]
            if len(terms) > 1 and all(number == 0 and source != FROM_SEED for number, source, _ in terms):
                self._targets.update(((source, slot), index) for _, source, slot in terms)
        self._sources = {source for source, _ in self._targets}

    def add(self, source: int, gradients: Sequence[Any]) -> None:
        """Gradients leave a node."""
        if source not in self._sources:
            return
        for slot, gradient in enumerate(gradients):
            index = self._targets.get((source, slot))
            if index is not None and gradient is not None:
                self._add(index, gradient)

    def _add(self, index: int, gradient: Any) -> None:
        with quiet(below_autograd=True):
            before = self._running.get(index)
            self._running[index] = gradient.detach().clone() if before is None else before + gradient.detach()

    def close(self, index: int, found: dict[int, Item]) -> None:
        """A node has run: keep what came to it, as a value."""
        total = self._running.pop(index, None)
        if total is not None:
            found[index] = self._take(total)
