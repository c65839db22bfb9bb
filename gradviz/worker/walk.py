"""Walks the graph from the roots of a call, iteratively: chains of a million operations are graphs too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from gradviz.store.writer import EdgeRow
from gradviz.worker.identity import Identities, Known, Lowest
from gradviz.worker.threads import sequence_now

OPERATION, LEAF, CUSTOM, OPAQUE = range(4)
UNKNOWN_SEQUENCE = -1
LARGEST_SEQUENCE = 2**63 - 1
_PYTHON_NODE: Any = torch._C._FunctionBase
ACCUMULATE = "torch::autograd::AccumulateGrad"


@dataclass(slots=True)
class Walk:
    """The nodes reachable from the roots, breadth first, by index; edges and everything else go by index.

    A leaf is one node per tensor: `twins` lists further AccumulateGrad nodes of a leaf with its index. The node
    objects are held for the length of the call only.
    """

    nodes: list[Any] = field(default_factory=list)
    index: dict[Any, int] = field(default_factory=dict)
    twins: list[tuple[int, Any]] = field(default_factory=list)
    edges: list[EdgeRow] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    slots: list[int] = field(default_factory=list)  # how many next functions each has
    names: list[str] = field(default_factory=list)  # of the nodes, as torch calls them
    ids: list[int] = field(default_factory=list)
    orders: list[int] = field(default_factory=list)
    hooked: set[int] = field(default_factory=set)
    sequences: list[int] = field(default_factory=list)  # of the nodes, where all have ids
    leaves: dict[int, Any] = field(default_factory=dict)  # index -> the leaf tensor
    known: dict[int, Known] = field(default_factory=dict)  # index -> what is known of the leaf from call to call
    cut: bool = False  # the walk ended at its limit

    def index_of(self, node: Any) -> int | None:
        """The index of a node object, None when it is not part of this graph."""
        return None if node is None else self.index.get(node)

    def id_of(self, node: Any) -> int | None:
        """The recording's id of a node object, None when it is not part of this graph."""
        at = self.index_of(node)
        return None if at is None or self.ids[at] < 0 else self.ids[at]


def node_of(root: Any) -> tuple[Any, int]:
    """The node and output number at which a call starts (or ends): of a tensor or of a GradientEdge.

    The node is None for a tensor that no gradient can reach.
    """
    if not isinstance(root, torch.Tensor):
        return root[0], int(root[1])
    if root.grad_fn is not None:
        return root.grad_fn, root.output_nr
    if root.requires_grad:
        try:
            return _leaf_node(root), 0
        except AttributeError:
            pass  # a tensor of a transform of torch.func that has ended: no operation on it is recorded any more
    return None, root.output_nr


def _leaf_node(leaf: torch.Tensor) -> Any:
    """The AccumulateGrad node of a leaf. Raises: AttributeError, when there is none."""
    if hasattr(torch.autograd.graph, "get_gradient_edge"):
        return torch.autograd.graph.get_gradient_edge(leaf).node
    with torch.enable_grad():  # torch 2.1: a view of it leads there
        return leaf.view_as(leaf).grad_fn.next_functions[0][0]  # type: ignore[union-attr]


def walk(
    roots: list[Any],
    identities: Identities | None,
    limit: int,
    only_leaves: bool = False,
    is_freed: bool | None = None,
) -> Walk:
    """Walk from the root nodes (None is passed over) up to about `limit` nodes; number what is met.

    With `only_leaves` no other node gets a number (its id is -1); without `identities` none does. `is_freed` tells
    whether the call frees the graph; None: sequence numbers do not tell nodes, since several threads make some.
    """
    found = Walk()
    enter = _entrance(found)
    index, edges, nodes = found.index, found.edges, found.nodes
    for root in roots:
        if root is not None and root not in index:
            enter(root)
    # What is met is put at the end of what is gone through.
    for source, (node, kind) in enumerate(zip(nodes, found.kinds)):  # noqa: B905 (both grow)
        if kind == LEAF:
            found.slots.append(0)
            continue
        following = node.next_functions
        found.slots.append(len(following))
        for slot, (target, output_nr) in enumerate(following):
            at = index.get(target)
            if at is None:
                if target is None:
                    continue
                if len(nodes) >= limit:
                    found.cut = True
                    continue
                at = enter(target)
            edges.append((source, slot, at, output_nr))
    if identities is None:
        found.ids, found.orders = [-1] * len(nodes), [1] * len(nodes)
    else:
        _number(found, identities, only_leaves, is_freed)
    return found


def _entrance(found: Walk) -> Callable[[Any], int]:
    """What gives a node that is met for the first time its index, and returns that. It is made for one walk."""
    index, nodes, kinds, names = found.index, found.nodes, found.kinds, found.names
    of_type: dict[type, tuple[int, str]] = {}  # kind and name of the nodes of a type
    leaf_at: dict[int, int] = {}

    def enter(node: Any) -> int:
        at = index[node] = len(nodes)
        kind, name = of_type.get(type(node)) or _look(node, of_type)
        if kind == LEAF:
            variable = node.variable
            twin = leaf_at.setdefault(id(variable), at)
            if twin != at:
                index[node] = twin
                found.twins.append((twin, node))
                return twin
            found.leaves[at] = variable
        nodes.append(node)
        kinds.append(kind)
        names.append(name)
        return at

    return enter


def _look(node: Any, of_type: dict[type, tuple[int, str]]) -> tuple[int, str]:
    """Kind and name of a node."""
    name = node.name()
    kind = LEAF if name == ACCUMULATE else OPERATION
    if isinstance(node, _PYTHON_NODE):
        # What torch.compile made of a region is one Python node that holds its whole backward.
        kind = OPAQUE if name.startswith("CompiledFunction") else CUSTOM
    if name.endswith(type(node).__name__):  # not so for nodes of extensions: they share one type
        of_type[type(node)] = kind, name
    return kind, name


def _number(found: Walk, identities: Identities, only_leaves: bool, is_freed: bool | None) -> None:
    if only_leaves:
        found.ids, found.orders = [-1] * len(found.nodes), [1] * len(found.nodes)
        leaves = dict(enumerate(found.leaves.values()))
        known = identities.number(list(leaves.values()), leaves).leaves
        found.known = dict(zip(found.leaves, known.values(), strict=True))
        for at, leaf in found.known.items():
            found.ids[at] = leaf.node
        return
    sequences = found.sequences = _sequences_of(found)
    if found.cut:  # nobody knows which nodes are the lowest
        identities.mark_each()
    graph = None
    lowest = None if is_freed is None else _lowest_of_one_thread(found)
    if lowest is not None:
        has_errors = sequences.count(UNKNOWN_SEQUENCE) > len(found.leaves)  # their nodes have no number of their own
        is_enough = bool(is_freed) and not found.cut and not has_errors
        graph = Lowest(sequences, None if found.cut else lowest, is_enough)
    elif is_freed is not None:
        identities.doubt()
    found.ids, found.orders, found.hooked, found.known = identities.number(found.nodes, found.leaves, graph)


def _sequences_of(found: Walk) -> list[int]:
    """Sequence numbers by index, -1 for leaves and error nodes (theirs is the highest of all: they run at once)."""
    kinds = found.kinds
    return [
        UNKNOWN_SEQUENCE if kind == LEAF or (number := node._sequence_nr()) > LARGEST_SEQUENCE else number
        for kind, node in zip(kinds, found.nodes, strict=True)
    ]  # fmt: skip


def _lowest_of_one_thread(found: Walk) -> list[int] | None:
    """The nodes that lead to no other node but leaves; None where the sequence numbers may not be all of this thread.

    If they are, they tell a node from any other. Torch has threads of its own, and those of `torch.jit.fork` make
    nodes. What leads to a node is made after it.
    """
    sequences, kinds = found.sequences, found.kinds
    numbers = [number for number in sequences if number != UNKNOWN_SEQUENCE]
    if len(set(numbers)) < len(numbers) or max(numbers, default=0) >= sequence_now():
        return None
    higher: set[int] = set()
    add = higher.add
    for source, _, target, _ in found.edges:
        if kinds[target] != LEAF:
            if UNKNOWN_SEQUENCE != sequences[source] <= sequences[target]:
                return None
            add(source)
    return [at for at, kind in enumerate(kinds) if kind != LEAF and at not in higher]


def reaching(found: Walk, targets: set[int]) -> set[int]:
    """The indices from which one of `targets` can be reached: all that the engine runs for `inputs=`."""
    sources: dict[int, list[int]] = {}
    for source, _, target, _ in found.edges:
        sources.setdefault(target, []).append(source)
    seen = set(targets)
    queue = list(targets)
    for at in queue:
        for source in sources.get(at, ()):
            if source not in seen:
                seen.add(source)
                queue.append(source)
    return seen
