"""Leaves that need no hook of their own: a network of single numbers has as many of them as operations.

Where all that a leaf gets is what one node of torch's sends it, the hook of that node sees it. The engine takes leaves
before all else, so they run right after that node. Where no code of the user's can run meanwhile, a `.grad` that was
None is then what was sent, and another one is read before the whole run and after it. Large ones have hooks that read
them: when the run is over they are far from the processor.
"""

from __future__ import annotations

import math
import signal
import sys
from _signal import getsignal  # type: ignore[import-not-found]  # that of `signal` makes an enum of each
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import torch

from gradviz.store.codec import UNDEFINED
from gradviz.store.writer import AccumulationRow
from gradviz.worker.entry import Entry
from gradviz.worker.flow import Flow
from gradviz.worker.intake import Intake, Item, packed
from gradviz.worker.reading import PLAIN, STRIDED, gradient_of
from gradviz.worker.sums import has_hooks
from gradviz.worker.threads import sequence_now
from gradviz.worker.walk import CUSTOM, OPAQUE, Walk

SMALL = 512  # bytes of a `.grad` that is read again in less time than its hooks take
_SIGNALS = tuple(map(int, signal.valid_signals()))


class Before(NamedTuple):
    """`.grad` before the run; memory and version tell whether the run changed it."""

    item: Item
    address: int = 0
    version: int = 0


_NONE = Before(UNDEFINED)


class BareLeaves:
    """Those of one run."""

    def __init__(self, walk: Walk, flow: Flow, take: Callable[[Any], Item]) -> None:
        """All of the graph must be plain, and nothing but torch's own nodes may run."""
        self._walk = walk
        self._take = take
        self._only = flow.only
        self._before: dict[int, Before] = {}
        self._changed: list[tuple[int, int, Item | None]] = []  # order, index, `.grad` after; None: what was sent
        self._failed: tuple[int, Item] | None = None  # the leaf whose turn it was when the run failed, `.grad` then
        self.after: list[tuple[int, ...]] = [()] * len(walk.nodes)  # which of them run right after a node
        gradients = {index: gradient_of(leaf) for index, leaf in walk.leaves.items()}
        shared = _shared(gradients.values())
        for source, leaves in flow.alone.items():
            found = [self._look(index, gradients[index], shared) for index in leaves]
            if None not in found:
                self._before.update(zip(leaves, found, strict=True))  # type: ignore[arg-type]
                self.after[source] = leaves

    def __contains__(self, index: int) -> bool:
        return index in self._before

    def _look(self, index: int, gradient: Any, shared: set[int]) -> Before | None:
        """What a leaf's gradient is now; None where the leaf needs its hooks."""
        leaf = self._walk.leaves[index]
        # To one that requires no gradient any more the engine adds nothing of what is sent.
        if not self._walk.known[index].is_bare or not leaf.requires_grad or not leaf.is_leaf:
            return None
        if gradient is None:
            return _NONE
        is_plain = type(gradient) is torch.Tensor and gradient.layout is STRIDED and gradient.is_contiguous()
        address = gradient.data_ptr() if is_plain and gradient.nbytes <= SMALL else 0
        # The engine refuses to add to a tensor of inference mode.
        if not address or gradient.is_inference() or gradient.requires_grad or address in shared:
            return None
        if gradient.untyped_storage().nbytes() != gradient.nbytes:
            return None
        return Before(self._take(gradient), address, gradient._version)

    def give_up(self) -> list[int]:
        """Hooks of the user's were found after all: all of these leaves need theirs."""
        found = list(self._before)
        self._before.clear()
        self.after[:] = [()] * len(self.after)
        return found

    def settle(self, ran: list[Any], error: BaseException | None) -> None:
        """The run has ended: what is `.grad` now? What did not run after all is taken out of `ran` again."""
        before, leaves = self._before, self._walk.leaves
        while error is not None and ran and ran[-1][0] in before and not self._has_run(ran[-1][0], ran):
            index = ran.pop()[0]
            if isinstance(error, Exception):  # a Ctrl-C ends the run before it is the leaf's turn
                self._failed = index, self._take(gradient_of(leaves[index]))
        for order, entry in enumerate(ran):
            index = entry[0]
            if index in before:
                item = None if before[index] is _NONE else self._take(gradient_of(leaves[index]))
                self._changed.append((order, index, item))

    def _has_run(self, index: int, ran: list[Any]) -> bool:
        source, slot = self._only[index] or (index, 0)
        sent = next((inputs for at, _, inputs, _ in reversed(ran) if at == source), ())
        if slot < len(sent) and sent[slot] == UNDEFINED:  # nothing to add
            return True
        gradient, before = gradient_of(self._walk.leaves[index]), self._before[index]
        if gradient is None:
            return False
        return (before.address, before.version) != (gradient.data_ptr(), gradient._version)

    def rows(self, sent: Callable[[int], bytes]) -> list[AccumulationRow]:
        """How `.grad` has changed, by execution; `sent` tells what the node before sent."""
        ids, known, before = self._walk.ids, self._walk.known, self._before
        rows = []
        for order, index, item in self._changed:
            came = sent(index)
            after = came if item is None else packed(item)
            values = packed(before[index].item), came, after, after
            rows.append(AccumulationRow(False, known[index].name, ids[index], 0, order, *values))
        if self._failed is not None:
            index, item = self._failed
            earlier = packed(before[index].item)
            values = earlier, sent(index), earlier, packed(item)
            rows.append(AccumulationRow(False, known[index].name, ids[index], 0, None, *values))
        return rows


def _shared(gradients: Iterable[Any]) -> set[int]:
    """The addresses of gradients whose memory is also that of others; each would be changed by the other ones, too."""
    plain = [gradient for gradient in gradients if type(gradient) in PLAIN and gradient.layout is STRIDED]
    # Arrays of numpy's may lie over each other although each tensor has a storage of its own.
    spans = sorted([(gradient.data_ptr(), gradient.untyped_storage().nbytes()) for gradient in plain])
    found: set[int] = set()
    reached = last = 0
    for address, size in spans:
        if address < reached:
            found.update((last, address))
        if address + size > reached:
            reached, last = address + size, address
    return found


def bare_leaves(entry: Entry, walk: Walk, flow: Flow | None, intake: Intake, since: float = 0) -> BareLeaves | None:
    """Those of a calm run: nothing but torch's own nodes can run in it, so far as it is known. None for other runs.

    Each node runs once in it, and the gradients add up in `.grad`. What was set on nodes with a sequence number before
    `since` nobody has seen.
    """
    if flow is None or not intake.plain or walk.cut or walk.twins:
        return None
    is_usual = entry.accumulates and entry.inputs is None and not entry.create_graph
    if not is_usual or (since and any(-1 < number < since for number in walk.sequences)):
        return None
    return BareLeaves(walk, flow, intake.take) if _is_undisturbed(walk) else None


def _is_undisturbed(walk: Walk) -> bool:
    """Whether nothing but torch's own nodes will run, so far as the graph and the process tell."""
    if CUSTOM in walk.kinds or OPAQUE in walk.kinds or len(sys._current_frames()) > 1 or has_hooks(walk):
        return False
    if any(type(leaf) not in PLAIN or leaf._post_accumulate_grad_hooks for leaf in walk.leaves.values()):
        return False
    distributed: Any = sys.modules.get("torch.distributed")  # which changes `.grad` from C++
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return False
    handlers = map(getsignal, _SIGNALS)  # they run in the midst of our hooks; that of Ctrl-C ends the run
    return not any(callable(handler) and handler is not signal.default_int_handler for handler in handlers)


def seen_since() -> float:
    """The sequence number of the next node: code of the user's that hangs on earlier ones was not seen.

    Nor is what hangs on any where a context of hooks on saved tensors has begun, or may have.
    """
    top: Any = getattr(torch._C._autograd, "_top_saved_tensors_default_hooks", None)
    now = sequence_now()
    return math.inf if (now > 0 if top is None else top(True) is not None) else now
