"""The autograd graph of a call: nodes and edges as torch made them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from gradviz.model.tensors import TensorValue

Kind = Literal["operation", "leaf", "custom", "opaque"]


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the user's code. `function` is the qualified name of the function, `<module>` at top level."""

    file: str
    line: int
    function: str = "<module>"


@dataclass(frozen=True, slots=True)
class Output:
    """One output of a node: the tensor whose gradient arrives there."""

    shape: tuple[int, ...]
    dtype: str
    device: str = "cpu"
    retains_grad: bool = False


@dataclass(frozen=True, slots=True)
class Saved:
    """Something that a node keeps for its backward: `name` as in `_saved_<name>`, shape None for a plain value.

    `version` is the tensor's version when it was saved, where torch tells it; `text` is a plain value's `repr`.
    """

    name: str
    shape: tuple[int, ...] | None
    value: TensorValue | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the graph.

    `id` is dense in the recording; `key` is equal in another call, run or recording of the same code. `iteration` is
    the k-th time (from 1) that the line ran. `order` is 1 for nodes of the forward pass and n + 1 for nodes that a
    backward with `create_graph` of order n made. `value` is the forward value of output 0 where it is known.
    """

    id: int
    key: str
    op: str
    kind: Kind
    name: str | None
    outputs: tuple[Output, ...]
    place: Place | None = None
    stack: tuple[Place, ...] = ()
    iteration: int | None = None
    module: str | None = None
    module_class: str | None = None
    sequence: int | None = None
    order: int = 1
    value: TensorValue | None = None
    saved: tuple[Saved, ...] = ()

    @property
    def short_op(self) -> str:
        """`Mul` for `MulBackward0`, `AccumulateGrad` as it is: the name that a picture shows."""
        return _short(self.op)


@lru_cache(maxsize=4096)
def _short(op: str) -> str:
    """Few words, asked for by tens of thousands of nodes."""
    name = op.rsplit("::", 1)[-1]
    head, found, tail = name.rpartition("Backward")
    return head if found and head and (not tail or tail.isdigit()) else name


@dataclass(frozen=True, slots=True)
class Edge:
    """Gradient flows from slot `slot` of node `source` to output `output_nr` of node `target` (node ids)."""

    source: int
    slot: int
    target: int
    output_nr: int


@dataclass(frozen=True)
class Graph:
    """The nodes reachable from a call's roots, and their edges in (source, slot) order."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    @cached_property
    def by_id(self) -> dict[int, Node]:
        """Node id -> node."""
        return {node.id: node for node in self.nodes}

    @cached_property
    def incoming(self) -> dict[int, tuple[Edge, ...]]:
        """Node id -> the edges that bring gradient to it (empty for nodes without any)."""
        found: dict[int, list[Edge]] = {node.id: [] for node in self.nodes}
        for edge in self.edges:
            found.setdefault(edge.target, []).append(edge)
        return {node: tuple(edges) for node, edges in found.items()}

    @cached_property
    def outgoing(self) -> dict[int, tuple[Edge, ...]]:
        """Node id -> the edges along which its gradients leave, in slot order."""
        found: dict[int, list[Edge]] = {node.id: [] for node in self.nodes}
        for edge in self.edges:
            found.setdefault(edge.source, []).append(edge)
        return {node: tuple(edges) for node, edges in found.items()}
