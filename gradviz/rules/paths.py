"""The sum behind a gradient: which paths through the graph brought how much to one element of a leaf's gradient.

A backward pass is linear in what arrives. So what came along one path is found by sending the seed along that path
alone, node by node; all paths together give the recorded gradient. Three ways tell what a node sends on when only a
part of what arrived is sent into it: nothing was added there (the recorded gradient is the part itself), it is a
scalar (the ratio of the recorded numbers is its factor), or its rule is known and can be computed.

The search begins with all that arrived as one way and splits the largest way first, at the place where several terms
were added. What cannot be split (an unknown rule, a hook of the user's, more paths than anybody reads) stays one way
that begins there; so the ways always add up to what was recorded.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from gradviz.model import Call, CallDetail, Edge, Execution, Graph
from gradviz.rules.at_node import backward_of
from gradviz.rules.evaluate import Array
from gradviz.rules.values import array_of

MOST_PATHS = 64
_MOST_SENDINGS = 20_000  # along edges, while ways are split: about a second


@dataclass(frozen=True)
class Step:
    """One edge of a path and what left its source along it, when only this path is looked at.

    `factor` is how much the step multiplies, where source and target are scalars.
    """

    edge: Edge
    value: float | None = None
    factor: float | None = None


@dataclass(frozen=True)
class Path:
    """A way from a seed to the leaf. `root` is the number of the root that it starts at.

    `amount` is what it brought to the element that was asked for. Where a part could not be followed further back,
    the path begins at node `start` with all that had arrived there, and `root` is None.
    """

    root: int | None
    start: int
    seed: float | None
    steps: tuple[Step, ...]
    amount: float

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes on the way, from the start to the leaf."""
        return (self.start, *(step.edge.target for step in self.steps))


@dataclass(frozen=True)
class Behind:
    """The paths to one element of a gradient, the largest first, and their sum beside the recorded number.

    `total` is the sum of all of them, `unlisted` the number of those that are not among `paths`; `listed` is False
    where some of them begin in the middle of the graph because there are more ways to that place than are listed.
    """

    node: int
    element: int
    paths: tuple[Path, ...]
    total: float
    recorded: float | None
    listed: bool = True
    unlisted: int = 0


def sum_behind(
    call: Call,
    graph: Graph,
    detail: CallDetail,
    node: int,
    element: int = 0,
    output_nr: int = 0,
    check: Callable[[], None] = lambda: None,
) -> Behind:
    """What the paths brought to element `element` (row-major) of the gradient at output `output_nr` of `node`.

    `check` is called now and then; what it raises ends the search.
    """
    search = _Search(call, graph, detail, element, check)
    ways = search.ways(node, output_nr)
    shown = tuple(search.path(way) for way in ways[:MOST_PATHS])
    arrived = search.arrived(node, output_nr)
    recorded = None if arrived is None or not arrived.size else float(np.real(arrived.reshape(-1)[element]))
    unlisted = max(len(ways) - MOST_PATHS, 0)
    return Behind(node, element, shown, sum(way.amount for way in ways), recorded, not search.cut, unlisted)


def contributions(
    graph: Graph, detail: CallDetail, node: int, output_nr: int = 0
) -> tuple[tuple[Edge, float | None], ...]:
    """What each edge brought to an output, as norms: the terms that were added there."""
    runs = {run.node: run for run in detail.executions}
    found = []
    for edge in graph.incoming.get(node, ()):
        if edge.output_nr == output_nr:
            run = runs.get(edge.source)
            value = run.grad_inputs[edge.slot] if run and edge.slot < len(run.grad_inputs) else None
            found.append((edge, None if value is None else value.norm))
    return tuple(found)


@dataclass(frozen=True)
class _Tail:
    """The edges of a way from its start on, as a linked list: ways that meet share what lies behind."""

    edge: Edge
    rest: _Tail | None


@dataclass(frozen=True)
class _Way:
    """A way from `start` to the leaf: from a seed (`root`), or with all that had arrived at the start."""

    root: int | None
    start: int
    output: int | None  # which output of the start is meant, None: all of them
    tail: _Tail | None
    amount: float

    def edges(self) -> Iterator[Edge]:
        """The edges in the order in which gradient flows."""
        tail = self.tail
        while tail is not None:
            yield tail.edge
            tail = tail.rest


class _Search:
    """Splits what arrived at an element into the ways that it came."""

    def __init__(self, call: Call, graph: Graph, detail: CallDetail, element: int, check: Callable[[], None]) -> None:
        self._call = call
        self._graph = graph
        self._element = element
        self._check = check
        self._runs: dict[int, Execution] = {run.node: run for run in detail.executions}
        self._arrays: dict[int, Array | None] = {}
        self._sendings = 0
        self._shape: tuple[int, ...] = ()
        self.cut = False

    def arrived(self, node: int, output_nr: int) -> Array | None:
        """What arrived at an output, before a hook of the user's."""
        run = self._runs.get(node)
        if run is None:
            return self._only_term(node, output_nr)
        values = run.arrived if run.arrived is not None else run.grad_outputs
        return self._array(values[output_nr]) if output_nr < len(values) else None

    def ways(self, node: int, output_nr: int) -> list[_Way]:
        """All ways, the largest first."""
        arrived = self.arrived(node, output_nr)
        if arrived is None or not arrived.size:
            return []
        self._shape = arrived.shape
        first = _Way(None, node, output_nr, None, self._of_element(arrived))
        waiting = [(-abs(first.amount), 0, first)]
        done: list[_Way] = []
        count = 0
        while waiting:
            self._check()
            way = heapq.heappop(waiting)[2]
            parts = self._split(way, len(waiting) + len(done))
            if parts is None:
                done.append(way)
                continue
            for part in parts:
                count += 1
                heapq.heappush(waiting, (-abs(part.amount), count, part))
        return sorted(done, key=lambda way: -abs(way.amount))

    def path(self, way: _Way) -> Path:
        """A way with all that is known of its steps."""
        seed = self._call.roots[way.root].seed if way.root is not None else None
        before = self._array(seed) if way.root is not None else self._whole(way.start)
        steps, part = [], before
        for edge, sent in zip_longest(way.edges(), self._follow(way) or ()):
            steps.append(Step(edge, _item(sent), _ratio(sent, part)))
            part = sent
        return Path(way.root, way.start, _item(before), tuple(steps), way.amount)

    # -- back: where a way came from -----------------------------------------------------------------------------

    def _split(self, way: _Way, others: int) -> list[_Way] | None:
        """The ways that a way consists of; None where it is one and stays one."""
        if way.root is not None:
            return None
        ins = list(self._ins(way))
        if any(self._is_unkept(edge) for edge in self._edges_into(way)):
            return None
        if len(ins) == 1:  # all that arrived came this way
            return ins
        if not ins:
            return None
        if way.tail is not None and (others + len(ins) > MOST_PATHS or self._sendings > _MOST_SENDINGS):
            self.cut = True
            return None
        parts = []
        for part in ins:
            amount = self._amount(part)
            if amount is None:
                return None  # parts cannot be told apart behind an obstacle, the whole can
            parts.append(_Way(part.root, part.start, part.output, part.tail, amount))
        return parts

    def _ins(self, way: _Way) -> Iterator[_Way]:
        """The seeds and edges that brought something to the start of a way."""
        for number, root in enumerate(self._call.roots):
            if root.node == way.start and way.output in (None, root.output_nr) and root.seed is not None:
                yield _Way(number, way.start, root.output_nr, way.tail, way.amount)
        for edge in self._edges_into(way):
            if self._sent(edge) is not None:
                yield _Way(None, edge.source, None, _Tail(edge, way.tail), way.amount)

    def _edges_into(self, way: _Way) -> list[Edge]:
        return [e for e in self._graph.incoming.get(way.start, ()) if way.output in (None, e.output_nr)]

    def _is_unkept(self, edge: Edge) -> bool:
        """Whether something left along an edge of which only a summary was kept."""
        run = self._runs.get(edge.source)
        there = run is not None and edge.slot < len(run.grad_inputs) and run.grad_inputs[edge.slot] is not None
        return there and self._sent(edge) is None

    def _sent(self, edge: Edge) -> Array | None:
        """What the recording says left along an edge."""
        run = self._runs.get(edge.source)
        if run is None or edge.slot >= len(run.grad_inputs):
            return None
        return self._array(run.grad_inputs[edge.slot])

    def _array(self, value: object) -> Array | None:
        """A recorded value as an array, made once."""
        if id(value) not in self._arrays:
            self._arrays[id(value)] = array_of(value)  # type: ignore[arg-type]
        return self._arrays[id(value)]

    # -- forward: how much comes along one of them ---------------------------------------------------------------

    def _amount(self, way: _Way) -> float | None:
        """What came to the element along a way; None where that cannot be told."""
        if way.tail is None and way.root is not None:
            seed = self._array(self._call.roots[way.root].seed)
            return None if seed is None else self._of_element(seed)
        sent = self._follow(way)
        return None if sent is None or sent[-1].shape != self._shape else self._of_element(sent[-1])

    def _of_element(self, array: Array) -> float:
        return float(np.real(array.reshape(-1)[self._element]))

    def _follow(self, way: _Way) -> list[Array] | None:
        """What left along each edge of a way when nothing but what began it moves."""
        part = None if way.root is None else self._array(self._call.roots[way.root].seed)
        found: list[Array] = []
        output = way.output
        whole = part is None or self._is_whole(way.start, output, part)
        for edge in way.edges():
            self._sendings += 1
            sent = self._sent(edge) if whole else self._send(edge, output, part)
            if sent is None:
                return None
            found.append(sent)
            part, output = sent, edge.output_nr
            whole = whole and self._is_whole(edge.target, output, part)
        return found

    def _whole(self, node: int) -> Array | None:
        """All that arrived at a node, where that is one tensor."""
        run = self._runs.get(node)
        defined = [k for k, value in enumerate(() if run is None else run.grad_outputs) if value is not None]
        return self.arrived(node, defined[0]) if len(defined) == 1 else None

    def _is_whole(self, node: int, output_nr: int | None, part: Array) -> bool:
        """Whether the part is all that arrived at the node: then what left it is recorded."""
        run = self._runs.get(node)
        if run is None or output_nr is None or output_nr >= len(run.grad_outputs):
            return False
        all_of_it = self._whole(node)
        if all_of_it is None or run.grad_outputs[output_nr] is None:
            return False
        return np.array_equal(all_of_it, part, equal_nan=True)

    def _send(self, edge: Edge, output_nr: int | None, part: Array | None) -> Array | None:
        """What leaves along an edge when only `part` arrives at its source, at one output."""
        recorded, run = self._sent(edge), self._runs[edge.source]
        if recorded is None or part is None or output_nr is None or run.arrived is not None:
            return None  # what a hook of the user's would make of a part is not known
        arrived = self._whole(edge.source)
        if arrived is not None and arrived.size == 1 and arrived.reshape(-1)[0] != 0:
            # One number arrives: what leaves is that number times something that the recording tells.
            return np.asarray(recorded * (part.reshape(-1)[0] / arrived.reshape(-1)[0]))
        grads = tuple(part if k == output_nr else None for k in range(len(run.grad_outputs)))
        sent = backward_of(self._graph, self._graph.by_id[edge.source], edge, grads)
        return None if sent is None or sent.shape != recorded.shape else sent

    def _only_term(self, node: int, output_nr: int) -> Array | None:
        """What arrives at a node that did not run (`torch.autograd.grad` runs no leaf): the sum of its terms."""
        terms = [self._sent(edge) for edge in self._graph.incoming.get(node, ()) if edge.output_nr == output_nr]
        known = [term for term in terms if term is not None]
        return np.asarray(sum(known[1:], known[0])) if known and len(known) == len(terms) else None


def _item(array: Array | None) -> float | None:
    return float(np.real(array.reshape(-1)[0])) if array is not None and array.size == 1 else None


def _ratio(sent: Array | None, part: Array | None) -> float | None:
    a, b = _item(sent), _item(part)
    return a / b if a is not None and b else None
