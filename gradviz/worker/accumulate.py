"""`.grad` of leaves and retained tensors: before, what came, after, and what is left when the call returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gradviz.store.codec import UNDEFINED
from gradviz.store.writer import AccumulationRow
from gradviz.worker.capture import Capture
from gradviz.worker.gathered import Change, Gathered, Retained, mark_of
from gradviz.worker.identity import Identities
from gradviz.worker.intake import packed
from gradviz.worker.reading import gradient_of
from gradviz.worker.walk import Walk


def find_retained(found: Walk, ends: Iterable[tuple[Any, Any, int]], capture: Capture) -> list[Retained]:
    """The retained tensors of a graph, from `(tensor, node, output number)`, with their `.grad` as it is now."""
    entries = []
    for tensor, node, output_nr in ends:
        index = found.index_of(node)
        if index is not None and not tensor.is_leaf:
            entries.append(Retained(index, output_nr, tensor, capture.pack(gradient_of(tensor))))
    return entries


def rows_of(
    found: Walk,
    gathered: Gathered,
    retained: list[Retained],
    capture: Capture,
    identities: Identities,
    sent: Callable[[int], bytes],
) -> list[AccumulationRow]:
    """The rows of a call that has ended; `sent` tells what the node before sent to the node with an index."""
    kept = {(entry.index, entry.output_nr): entry for entry in retained}
    rows = []
    for change in gathered.changes:
        index = change.index
        tensor = kept[index, change.output_nr].tensor if change.retained else found.leaves[index]
        before = packed(change.before)
        incoming = sent(index) if change.incoming is None else packed(change.incoming)
        after = packed(change.after) if change.after is not None else before if change.order is None else incoming
        gradient = gradient_of(tensor)
        is_same = change.mark is not None and gradient is not None and mark_of(gradient) == change.mark
        left = after if is_same and change.order is not None else capture.pack(gradient)
        name = _name(tensor, identities) if change.retained else found.known[index].name
        rows.append(_row(found, change, (before, incoming, after, left), name))
    seen = {(change.index, change.output_nr) for change in gathered.changes if change.retained}
    for at, entry in kept.items():
        left = capture.pack(gradient_of(entry.tensor))
        # `torch.autograd.grad` runs no hook of the node, yet it fills `.grad` of a tensor that retains it.
        if at not in seen and left != entry.before:
            change = Change(*at, True, entry.before, UNDEFINED)
            rows.append(_row(found, change, (entry.before, UNDEFINED, left, left), _name(entry.tensor, identities)))
    return rows


def _row(found: Walk, change: Change, values: tuple[bytes, ...], name: str | None) -> AccumulationRow:
    return AccumulationRow(change.retained, name, found.ids[change.index], change.output_nr, change.order, *values)


def _name(tensor: Any, identities: Identities) -> str | None:
    known = identities.retained.find(tensor)
    return None if known is None else known.name
