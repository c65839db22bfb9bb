"""Which node, leaf and retained tensor is which, from one call to the next.

A node carries our serial number in `node.metadata`, a dict that all its Python wrappers share; wrappers themselves
are freed and their addresses used again. To make such a dict and to free it costs 1 us. So of a graph that the call
frees only the lowest nodes carry anything: the numbers of all of the graph, by sequence number. Whoever meets one of
its nodes again meets a lowest one, too, since a node holds all that it leads to; and the numbers go with the graph.
A leaf is its tensor: its AccumulateGrad node is made anew for every graph.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

_recorders = itertools.count(1)
_ORDER_BITS = 4
_HOOKED = 1 << _ORDER_BITS
_SHIFT = _ORDER_BITS + 1
_ORDERS = (1 << _ORDER_BITS) - 1
_LARGEST_UNNUMBERED = (1 << _SHIFT) - 1


@dataclass(slots=True)
class Known:
    """A tensor that later calls must recognise. `reference` is dropped while torch swaps tensors."""

    reference: weakref.ref[Any] | None
    node: int
    name: str | None = None
    is_nameless: bool = False  # it was looked for in vain
    is_bare: bool = False  # it was dense when it was met, and nobody but us had a hook on its node

    def tensor(self) -> Any:
        """The tensor, None when it is gone."""
        return None if self.reference is None else self.reference()


class Tensors:
    """Leaves or retained tensors by object identity, without keeping any of them alive."""

    def __init__(self) -> None:
        self._known: dict[int, Known] = {}
        self._prune_at = 256

    def find(self, tensor: Any) -> Known | None:
        """What is known of this very tensor object."""
        known = self._known.get(id(tensor))
        return known if known is not None and known.tensor() is tensor else None

    def add(self, tensor: Any, node: int) -> Known:
        """Remember `tensor` as the leaf with node id `node`."""
        if len(self._known) >= self._prune_at:
            self._known = {key: known for key, known in self._known.items() if known.tensor() is not None}
            self._prune_at = max(256, 2 * len(self._known))
        known = self._known[id(tensor)] = Known(weakref.ref(tensor), node)
        return known

    def alive(self) -> list[tuple[Any, Known]]:
        """All that still live, in the order in which they were first met."""
        return [
            (tensor, known)
            for known in tuple(self._known.values())
            if known.reference is not None and (tensor := known.reference()) is not None
        ]

    def let_go(self, tensors: Iterable[Any]) -> list[tuple[Any, Known]]:
        """Drop our weak references to `tensors`: `torch.utils.swap_tensors` refuses tensors that have any."""
        found = [(tensor, known) for tensor in tensors if (known := self.find(tensor)) is not None]
        for _, known in found:
            known.reference = None
        return found


class Numbers(NamedTuple):
    """What is known of the nodes of a graph, by position: serials, derivative orders, which have a tensor hook."""

    serials: list[int]
    orders: list[int]
    hooked: set[int]
    leaves: dict[int, Known]


class Lowest(NamedTuple):
    """What tells the nodes of a graph apart by their sequence numbers, which are -1 for leaves and error nodes.

    `lowest` are the positions of the nodes that lead to no other node but leaves, None where it is not known which
    they are; `is_enough`: the call frees the graph, and all of its nodes have numbers.
    """

    sequences: Sequence[int]
    lowest: Sequence[int] | None
    is_enough: bool


class _Serials(dict[int, int]):
    """The serials of a graph, by sequence number; the lowest nodes hold them."""

    __slots__ = ("__weakref__",)


class Identities:
    """The serial numbers of one recording."""

    def __init__(self) -> None:
        # Two recorders in one process may meet the same graph: one after the other, or a block in a recorded script,
        # which has this module a second time.
        self._key = f"gradviz{id(_recorders):x}.{next(_recorders)}"
        self._graph = self._key + ".graph"
        self._is_marked = False  # whether any node carries a mark that no call has given it
        self._is_doubted = False  # whether threads that nobody sees have made nodes
        # No dictionary of weak values: its callbacks would run in the midst of the script, where a graph is freed.
        self._living: list[weakref.ref[_Serials]] = []
        self._sift_at = 256
        self._next = 0
        self.leaves = Tensors()
        self.retained = Tensors()

    @property
    def count(self) -> int:
        """How many serials were given out: the next one."""
        return self._next

    def read(self, node: Any) -> tuple[int | None, int, bool]:
        """Serial (None before the node's first call), derivative order and whether a tensor hook was set there."""
        mark = node.metadata.get(self._key, 1)
        serial = (mark >> _SHIFT) - 1 if mark > _LARGEST_UNNUMBERED else None
        return serial, mark & _ORDERS, bool(mark & _HOOKED)

    def serial(self, node: Any) -> int | None:
        """The node's serial number, None when no call has met it."""
        return self.read(node)[0]

    def number(self, nodes: Sequence[Any], leaves: Mapping[int, Any], graph: Lowest | None = None) -> Numbers:
        """Give serials to nodes that have none, in order; `leaves` maps positions to the tensors of leaves.

        `graph` is what tells nodes by their sequence numbers, None where these do not tell.
        """
        if graph is None or self._is_doubted:
            return self._number_each(nodes, leaves, ())
        marks = [nodes[at].metadata for at in graph.lowest or ()]
        earlier = self._earlier(marks, graph.lowest is not None)
        if not graph.is_enough or self._is_marked or earlier or any(self._key in mark for mark in marks):
            known = [next((found[n] for found in earlier if n in found), None) for n in graph.sequences]
            return self._number_each(nodes, leaves, known)
        numbers = self._number_new(nodes, leaves)
        serials = _Serials(zip(graph.sequences, numbers.serials, strict=True))
        serials.pop(-1, None)
        for mark in marks:
            mark[self._graph] = serials
        self._keep_track(serials)
        return numbers

    def _earlier(self, marks: Sequence[Any], are_all: bool) -> list[_Serials]:
        """The serials of earlier graphs that share nodes with one; `marks` are of its lowest nodes, if known."""
        if are_all:
            return list({id(found): found for mark in marks if (found := mark.get(self._graph)) is not None}.values())
        return [found for reference in self._living if (found := reference()) is not None]

    def _keep_track(self, serials: _Serials) -> None:
        self._living.append(weakref.ref(serials))
        if len(self._living) >= self._sift_at:
            self._living = [reference for reference in self._living if reference() is not None]
            self._sift_at = max(256, 2 * len(self._living))

    def _number_new(self, nodes: Sequence[Any], leaves: Mapping[int, Any]) -> Numbers:
        """The numbers of a graph of which only the leaves may be known."""
        serials: list[int] = []
        known_leaves: dict[int, Known] = {}
        following = self._next
        for at in sorted(leaves):
            between = at - len(serials)
            serials.extend(range(following, following + between))
            following += between
            known = self.leaves.find(leaves[at])
            if known is None:
                known = self.leaves.add(leaves[at], following)
                following += 1
            known_leaves[at] = known
            serials.append(known.node)
        self._next = following + len(nodes) - len(serials)
        serials.extend(range(following, self._next))
        return Numbers(serials, [1] * len(nodes), set(), known_leaves)

    def _number_each(self, nodes: Sequence[Any], leaves: Mapping[int, Any], earlier: Sequence[int | None]) -> Numbers:
        """Read and write the mark of each node; `earlier` are serials that others carry for them."""
        key, serials, orders = self._key, [], []
        find, add = self.leaves.find, self.leaves.add
        hooked, leaves_known = set(), {}
        for at, node in enumerate(nodes):
            if at in leaves:
                tensor = leaves[at]
                known = leaves_known[at] = find(tensor) or add(tensor, self.new_serial())
                serials.append(known.node)
                orders.append(1)
                continue
            metadata = node.metadata
            mark = metadata.get(key, 1)
            if mark <= _LARGEST_UNNUMBERED:
                serial = earlier[at] if earlier else None
                mark |= ((self.new_serial() if serial is None else serial) + 1) << _SHIFT
                metadata[key] = mark
            serials.append((mark >> _SHIFT) - 1)
            orders.append(mark & _ORDERS)
            if mark & _HOOKED:
                hooked.add(at)
        return Numbers(serials, orders, hooked, leaves_known)

    def mark_each(self) -> None:
        """From now on each node must carry its own mark."""
        self._is_marked = True

    def doubt(self) -> None:
        """From now on no sequence number tells a node: several threads have counted."""
        self._is_marked = self._is_doubted = True

    def new_serial(self) -> int:
        """The next serial number."""
        self._next += 1
        return self._next - 1

    def mark_order(self, node: Any, order: int) -> bool:
        """Say that a backward made this node; False when it was known before."""
        metadata = node.metadata
        if self._key in metadata:
            return False
        self._is_marked = True
        metadata[self._key] = min(order, _ORDERS)
        return True

    def mark_hooked(self, node: Any) -> None:
        """Say that the user has set a tensor hook on an output of this node."""
        self._is_marked = True
        node.metadata[self._key] = node.metadata.get(self._key, 1) | _HOOKED

    def swapping(self, *tensors: Any) -> list[tuple[Any, Known]]:
        """Let go of tensors that are about to be swapped; `swapped` takes them up again."""
        return [*self.leaves.let_go(tensors), *self.retained.let_go(tensors)]

    @staticmethod
    def swapped(found: list[tuple[Any, Known]]) -> None:
        """Take up again what `swapping` let go."""
        for tensor, known in found:
            known.reference = weakref.ref(tensor)
