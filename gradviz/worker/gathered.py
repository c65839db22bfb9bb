"""What the hooks of one engine run bring together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gradviz.worker.intake import Item, Mark
from gradviz.worker.quiet import started_here
from gradviz.worker.reading import PLAIN


class Ran(NamedTuple):
    """One run of a node. `outputs` is None where what arrived are the very tensors that the nodes before it sent."""

    at: int  # the index of the node
    outputs: list[Item] | None
    inputs: list[Item]
    finished: bool = True


@dataclass(slots=True)
class Change:
    """`.grad` of a leaf or of a retained tensor in this run. `order` is the execution at which it happened.

    `incoming` None: the very tensor that the node before sent. `after` None: `.grad` is now the tensor that came in,
    or, without an `order`, the run ended before. `mark` tells whether `.grad` is still what it was then.
    """

    index: int
    output_nr: int
    retained: bool
    before: Item
    incoming: Item | None
    after: Item | None = None
    order: int | None = None
    mark: Mark | None = None


@dataclass(slots=True)
class Retained:
    """A tensor whose `.grad` is kept although it is no leaf. The tensor is held for the length of the call."""

    index: int
    output_nr: int
    tensor: Any
    before: bytes


@dataclass(slots=True)
class Gathered:
    """What the hooks of a run have brought together so far."""

    ran: list[tuple[int, list[Item] | None, list[Item], bool]] = field(default_factory=list)  # each one a Ran
    started: dict[int, list[Item]] = field(default_factory=dict)  # index -> what arrived at nodes with a pre-hook
    changes: list[Change] = field(default_factory=list)
    sums: dict[int, Item] = field(default_factory=dict)  # index -> what came, where a tensor hook stands before it
    computed: dict[int, list[Item]] = field(default_factory=dict)  # index -> what left before hooks on the node
    unseen: bool = False  # whether an output got no gradient
    trouble: BaseException | None = None

    def note(self, error: Exception) -> None:
        """Keep what went wrong in our own code; what a handler of the user's raised in the midst of it goes on."""
        if not started_here(error):
            raise error
        self.trouble = error


def mark_of(gradient: Any) -> Mark | None:
    """The mark of a tensor, None where it has none."""
    if type(gradient) not in PLAIN:  # a fake one would complain when asked for its memory
        return None
    try:
        return gradient.data_ptr(), gradient._version, gradient.stride()
    except RuntimeError:  # sparse and batched tensors have no one memory
        return None
