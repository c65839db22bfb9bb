"""Tells the nodes that a backward made (second order and above) from those of the forward pass."""

from __future__ import annotations

from typing import Any

import torch

from gradviz.worker.identity import Identities
from gradviz.worker.reading import gradient_of
from gradviz.worker.walk import ACCUMULATE, Walk

_C: Any = torch._C


def mark_made(found: Walk, first_sequence: int, result: Any, identities: Identities) -> None:
    """Mark what a call with `create_graph` has made, walking back from the gradients that it left or returned.

    Nodes of the forward pass that no call has met yet are told apart by their sequence numbers: the CPU's engine
    makes its nodes in the thread that called it.
    """
    order = 1 + max(found.orders, default=1)
    queue = [node for node in _makers(found, result) if node is not None]
    for node in queue:
        # A leaf has the highest number of all, and no maker.
        if node.name() == ACCUMULATE or node._sequence_nr() < first_sequence or not identities.mark_order(node, order):
            continue
        queue += [target for target, _ in node.next_functions if target is not None]


def _makers(found: Walk, result: Any) -> list[Any]:
    gradients = list(result) if isinstance(result, tuple) else [gradient_of(leaf) for leaf in found.leaves.values()]
    return [gradient.grad_fn for gradient in gradients if isinstance(gradient, torch.Tensor)]
