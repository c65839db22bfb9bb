"""Reads the graph of a call from its template."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from gradviz.model import Edge, Graph, Kind, Node, Output, Place, Saved, TensorValue
from gradviz.store.codec import damaged, unpack_columns, unsqueeze
from gradviz.store.details import runs_of
from gradviz.store.fields import outputs_of, places_of, saved_of
from gradviz.store.rows import KINDS, NodeRow
from gradviz.store.runs import node_values_in
from gradviz.store.tables import CALL_GRAPHS, GRAPHS, NODE_VALUES

if TYPE_CHECKING:
    from gradviz.store.reader import Reader

T = TypeVar("T")
Values = dict[int, TensorValue | None]  # slot -> value; slot -1 is output 0 of the forward pass


class TemplateNode(NamedTuple):
    """A node without what differs between the calls that share a template."""

    key: str
    op: str
    kind: Kind
    name: str | None
    outputs: tuple[Output, ...]
    place: Place | None
    stack: tuple[Place, ...]
    module: str | None
    module_class: str | None
    order: int
    saved: tuple[Saved, ...]


class Template(NamedTuple):
    """A graph by index; `edges` holds source, slot, target, output_nr in (source, slot) order."""

    nodes: list[TemplateNode]
    edges: list[tuple[int, int, int, int]]


def read_graph(reader: Reader, number: int) -> Graph:
    """The graph of call `number`, empty where none was recorded.

    Raises:
        DamagedRecordingError: its rows do not fit together.
    """
    found = reader.rows(CALL_GRAPHS, "WHERE call=?", number)
    if not found:
        if number in reader.expected and reader.expected[number].graph:
            raise damaged()
        return Graph((), ())
    call, row, base, packed_ids, *packed, value_count = found[0]
    if call != number:
        raise damaged()
    template = reader.template(row)
    count = len(template.nodes)
    ids: Sequence[int] = range(base, base + count) if base is not None else unsqueeze("q", packed_ids, count)
    if count and (min(ids) < 0 or len(set(ids)) != count):
        raise damaged()
    iterations = [0] * count if packed[0] is None else unsqueeze("i", packed[0], count)
    sequences = [-1] * count if packed[1] is None else unsqueeze("q", packed[1], count)
    values = _values(reader, number)
    if sum(map(len, values.values())) != value_count:
        raise damaged()
    nodes = [
        _node(node, number, iteration, sequence, values.get(number))
        for node, number, iteration, sequence in zip(template.nodes, ids, iterations, sequences, strict=True)
    ]
    edges = [Edge(ids[source], slot, ids[target], output_nr) for source, slot, target, output_nr in template.edges]
    return Graph(tuple(nodes), tuple(edges))


def _node(node: TemplateNode, number: int, iteration: int, sequence: int, values: Values | None) -> Node:
    key, op, kind, name, outputs, place, stack, module, module_class, order, saved = node
    if values and saved:
        saved = tuple([replace(entry, value=values.get(slot)) for slot, entry in enumerate(saved)])
    again = iteration if iteration > 0 else None
    made = sequence if sequence >= 0 else None
    value = values.get(-1) if values else None
    head = (number, key, op, kind, name, outputs, place, stack)
    return Node(*head, again, module, module_class, made, order, value, saved)


def _values(reader: Reader, number: int) -> dict[int, Values]:
    entries: list[tuple[int, int, bytes]] = []
    for run in runs_of(reader, NODE_VALUES, number, lambda: len(entries)):
        entries.extend(node_values_in(run))
    found: dict[int, Values] = {}
    for node, slot, blob in entries:
        found.setdefault(node, {})[slot] = reader.value(blob)
    return found


def read_template(reader: Reader, row: int) -> Template:
    """A template from its columns.

    Raises:
        DamagedRecordingError: there is none, it names texts that are lost, or it is not an acyclic graph.
    """
    found = reader.rows(GRAPHS, "WHERE id=?", row)
    if not found or found[0][0] != row:
        raise damaged()
    _, node_count, edge_count, packed_nodes, packed_edges = found[0]
    columns = unpack_columns(packed_nodes, node_count, len(NodeRow._fields))
    source, slot, target, output_nr = unpack_columns(packed_edges, edge_count, 4)
    edges = sorted(zip(source, slot, target, output_nr, strict=True))
    if len(set(zip(source, slot, strict=True))) != edge_count or min(slot + output_nr, default=0) < 0:
        raise damaged()
    _check_acyclic(edges, node_count)
    return Template(list(_Rows(reader).nodes(columns)), edges)


def _check_acyclic(edges: Sequence[tuple[int, int, int, int]], count: int) -> None:
    """Refuse what is no autograd graph: layouts and timelines walk it and rely on its being acyclic."""
    targets: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for source, _, target, _ in edges:
        if not (0 <= source < count and 0 <= target < count):
            raise damaged()
        targets[source].append(target)
        waiting[target] += 1
    ready = [node for node, left in enumerate(waiting) if not left]
    for node in ready:
        for target in targets[node]:
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    if len(ready) != count:
        raise damaged()


class _Rows:
    """Turns interned texts into values, each one once per template."""

    def __init__(self, reader: Reader) -> None:
        self._strings = reader.strings
        self._keys: set[str] = set()

    def nodes(self, columns: Sequence[Sequence[int]]) -> Iterator[TemplateNode]:
        """The nodes of a template from the columns of `NodeRow`."""
        op, kind, name, file, line, function, rank, stack, module, module_class, outputs, saved, derivative = columns
        if min(min(column, default=0) for column in (kind, rank, derivative)) < 0 or max(kind, default=0) >= len(KINDS):
            raise damaged()
        ops, names, places = self._texts(op, ""), self._texts(name, None), self._places(file, line, function)
        kinds = [KINDS[number] for number in kind]
        keys = map(self._unique, map(node_key, ops, kinds, names, places, rank))
        outs, stacks, kept = (
            self._parsed(outputs, outputs_of),
            self._parsed(stack, places_of),
            self._parsed(saved, saved_of),
        )
        paths, classes = self._texts(module, None), self._texts(module_class, None)
        # Put together without a step of Python's for each: a graph may have 50,000 nodes.
        rows = zip(keys, ops, kinds, names, outs, places, stacks, paths, classes, derivative, kept, strict=True)
        return map(TemplateNode._make, rows)

    def _unique(self, key: str) -> str:
        """Keys name files by their last part only, so that two files may give the same one."""
        first, again = key, 1
        while key in self._keys:
            again += 1
            key = f"{first}~{again}"
        self._keys.add(key)
        return key

    def _texts(self, rows: Sequence[int], missing: T) -> list[str | T]:
        known: dict[int, str | T] = {row: self._strings[row] for row in set(rows) if row != -1}
        known[-1] = missing
        return [known[row] for row in rows]

    def _parsed(self, rows: Sequence[int], parse: Callable[[str], tuple[T, ...]]) -> list[tuple[T, ...]]:
        known: dict[int, tuple[T, ...]] = {row: parse(self._strings[row]) for row in set(rows) if row != -1}
        known[-1] = ()
        return [known[row] for row in rows]

    def _places(self, *columns: Sequence[int]) -> list[Place | None]:
        triples = list(zip(*columns, strict=True))
        known: dict[tuple[int, ...], Place | None] = {}
        for triple in set(triples):
            file, line, function = triple
            name = "<module>" if function == -1 else self._strings[function]
            known[triple] = None if file == -1 else Place(self._strings[file], max(line, 0), name)
        return [known[triple] for triple in triples]


def node_key(op: str, kind: Kind, name: str | None, place: Place | None, rank: int) -> str:
    """The name of a node that is equal in another call, run or recording of the same code.

    `op@file:line#rank` for operations; a leaf goes by its qualified name, else by the line of its creation.
    The file is its last part, so that a recording made elsewhere compares.
    """
    if kind == "leaf" and name is not None:
        return name if rank == 0 else f"{name}#{rank}"
    return f"{op}@{'?' if place is None else f'{_last_part(place.file)}:{place.line}'}#{rank}"


@lru_cache(maxsize=1024)
def _last_part(file: str) -> str:
    return file.replace("\\", "/").rsplit("/", 1)[-1]
