"""The head of a call: roots, seeds, inputs and names, as they were when it started."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from gradviz.model import Call, Input, Root
from gradviz.worker.entry import Entry
from gradviz.worker.ranks import Rank
from gradviz.worker.reading import dtype_name, safe_shape
from gradviz.worker.walk import Walk, node_of

if TYPE_CHECKING:
    from gradviz.worker.names import Names


@dataclass(frozen=True, slots=True)
class Ends:
    """The nodes at which a call starts and ends: `(node, output number)` per root and per element of `inputs=`."""

    roots: tuple[tuple[Any, int], ...]
    inputs: tuple[tuple[Any, int], ...]


def ends_of(entry: Entry) -> Ends:
    """Look the nodes up: at the call, since `grad_fn` of a view is made anew after a write to its base."""
    return Ends(tuple(map(node_of, entry.outputs)), tuple(map(node_of, entry.inputs or ())))


def resolved(entry: Entry, ends: Ends, found: Walk) -> Ends:
    """The ends with nodes for those inputs that are known only as leaves of the graph."""
    if all(node is not None for node, _ in ends.inputs):
        return ends
    leaves = {id(leaf): found.nodes[at] for at, leaf in found.leaves.items()}
    pairs = zip(entry.inputs or (), ends.inputs, strict=True)
    return Ends(ends.roots, tuple((leaves.get(id(item)) if node is None else node, nr) for item, (node, nr) in pairs))


def call_of(rank: Rank, entry: Entry, ends: Ends, found: Walk, names: Names | None, engine: bool) -> Call:
    """The head as it is stored; seeds and values of roots are stored packed beside it."""
    return Call(
        number=rank.number,
        label=rank.label,
        api=entry.api,
        parent=rank.parent,
        parent_node=rank.parent_node,
        engine=engine,
        what_if=entry.what_if,
        complete=False,
        detail=rank.detail,
        place=entry.stack[0] if entry.stack else None,
        stack=entry.stack,
        thread=thread_name(),
        retain_graph=entry.retain_graph,
        create_graph=entry.create_graph,
        accumulates=entry.accumulates,
        roots=_roots(entry, ends, found, names),
        inputs=_inputs(entry, ends, found, names),
        node_count=len(found.nodes),
        error=None,
        failed_node=None,
        group=rank.group or entry.group,
        batched=entry.batched,
        note=entry.note,
    )


def is_tensor(root: Any) -> bool:
    """Tell a tensor from a GradientEdge."""
    return isinstance(root, torch.Tensor)


def thread_name() -> str:
    """The name of this thread; asking `threading.current_thread()` would register a foreign one."""
    active: dict[int, threading.Thread] = threading._active  # type: ignore[attr-defined]
    thread = active.get(threading.get_ident())
    return thread.name if thread is not None else f"thread {threading.get_ident()}"


def _roots(entry: Entry, ends: Ends, found: Walk, names: Names | None) -> tuple[Root, ...]:
    given = entry.given or ()
    roots = []
    for position, (output, (node, output_nr)) in enumerate(zip(entry.outputs, ends.roots, strict=True)):
        seed = given[position] if position < len(given) else None
        plain = is_tensor(output)
        roots.append(
            Root(
                kind="tensor" if plain else "edge",
                name=names.as_called(output) if names is not None and plain else None,
                node=found.id_of(node),
                output_nr=output_nr,
                shape=safe_shape(output) if plain else None,
                dtype=dtype_name(output.dtype) if plain else None,
                seed=None,
                seed_given=seed is not None,
                seed_name=_name(seed, names),
            )
        )
    return tuple(roots)


def _inputs(entry: Entry, ends: Ends, found: Walk, names: Names | None) -> tuple[Input, ...] | None:
    if entry.inputs is None:
        return None
    pairs: Sequence[tuple[Any, tuple[Any, int]]] = list(zip(entry.inputs, ends.inputs, strict=True))
    return tuple(Input(_name(item, names), found.id_of(node), output_nr) for item, (node, output_nr) in pairs)


def _name(item: Any, names: Names | None) -> str | None:
    return names.of(item) if names is not None and is_tensor(item) else None
