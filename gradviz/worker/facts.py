"""What is looked up for each node of a call beside the walk: sites, names, saved values, forward values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from gradviz.worker.bindings import node_of as grad_fn_of
from gradviz.worker.capture import Capture
from gradviz.worker.entry import Entry
from gradviz.worker.heads import Ends
from gradviz.worker.identity import Known
from gradviz.worker.intervals import Intervals, Located
from gradviz.worker.saved import Entry as SavedEntry
from gradviz.worker.saved import SavedReader
from gradviz.worker.walk import Walk

if TYPE_CHECKING:
    from gradviz.worker.names import Names
    from gradviz.worker.trace import Tracer

OWN_OUTPUT = -1  # the slot of a node's own forward value in `node_values`
# What each node saves costs 2 us a node to read; of graphs larger than this nobody reads it node by node.
DETAILED_UP_TO = 5_000
LARGEST_HELD = 1 << 20  # elements of a forward value that is looked at
_RESULTS = ("result", "result0", "output", "output0")

Saved = tuple[tuple[SavedEntry, ...], list[tuple[int, Any]]]  # entries; small tensors by position


@dataclass(slots=True)
class Facts:
    """All lists go by index in the walk. `located` is what `Tracer.locate` tells."""

    located: Located
    leaf_names: dict[int, str | None]
    saved: list[Saved] | None  # None: not read
    retained: set[tuple[int, int]]  # (index, output number)


def look(
    found: Walk, names: Names, tracer: Tracer | None, saved: SavedReader, retained: set[tuple[int, int]]
) -> Facts:  # fmt: skip
    """Look everything up before the engine runs: it frees what the nodes have saved."""
    count, sequences = len(found.nodes), found.sequences
    return Facts(
        Intervals().find_all(sequences) if tracer is None else tracer.locate(sequences),
        name_leaves(found, names),
        [saved.read(node) for node in found.nodes] if count <= DETAILED_UP_TO else None,
        retained,
    )


def name_leaves(found: Walk, names: Names) -> dict[int, str | None]:
    """The names of the leaves at the call; a leaf that no variable leads to any more keeps its last one for events."""
    found_names = names.of_all(found.leaves)
    for index, name in found_names.items():
        if name is not None:
            found.known[index].name = name
    return found_names


def name_new_leaves(found: Walk, names: Names) -> None:
    """Name those leaves that have no name yet, for events: a search in each of 10,000 steps would cost much."""
    for index, known in found.known.items():
        if known.name is None and not known.is_nameless:
            known.name = names.of(found.leaves[index])
            known.is_nameless = known.name is None


def node_values(
    found: Walk, facts: Facts, entry: Entry, ends: Ends, names: Names, capture: Capture,
    leaf_values: Callable[[Mapping[int, Any], Mapping[int, Known]], dict[int, bytes]],
) -> list[tuple[int, int, bytes]]:  # fmt: skip
    """Rows `(node id, slot, packed value)`: small saved values, and forward values where something holds them.

    A forward value is known where a variable holds the output, where it is a root, where a node has saved its own
    result, and where another node has saved this node's output: a saved tensor knows the node that made it.
    """
    pack, ids = capture.pack, found.ids
    rows: list[tuple[int, int, bytes]] = []
    forward = {at: pack(tensor) for at, tensor in _held(found, names)}
    for index, (entries, small) in enumerate(facts.saved or ()):
        for slot, tensor in small:
            value = pack(tensor)
            rows.append((ids[index], slot, value))
            maker = tensor.grad_fn
            if maker is None:
                if entries[slot][0] in _RESULTS and not tensor.requires_grad:
                    forward[index] = value
            elif tensor.output_nr == 0 and (at := found.index.get(maker)) is not None:
                forward[at] = value
    for output, (node, output_nr) in zip(entry.outputs, ends.roots, strict=True):
        at = found.index_of(node)
        if at is not None and output_nr == 0 and isinstance(output, torch.Tensor):
            forward[at] = pack(output)
    forward.update(leaf_values(found.leaves, found.known))
    rows += [(ids[at], OWN_OUTPUT, value) for at, value in forward.items()]
    return rows


def _held(found: Walk, names: Names) -> Iterator[tuple[int, Any]]:
    """Index and tensor of all nodes whose first output is in sight of the call."""
    for tensor in names.results():
        try:
            node = None if tensor.is_leaf else grad_fn_of(tensor)
            is_shown = node is not None and tensor.output_nr == 0 and tensor.numel() <= LARGEST_HELD
        except (RuntimeError, NotImplementedError):  # a wrapper of a transform that has ended, a nested tensor
            continue
        at = found.index_of(node)
        if is_shown and at is not None:
            yield at, tensor
