"""Adds what-ifs, each recorded to a file of its own by a snapshot, to the recording of the script."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from gradviz.errors import RecordingError
from gradviz.model import Accumulation, Call, Edge, Execution, Gradient, Graph, Node, Recording
from gradviz.store.codec import columns_of, pack_execution, pack_value, pack_values
from gradviz.store.reader import close_recording, open_recording
from gradviz.store.replace import finish
from gradviz.store.rows import KINDS, AccumulationRow, CallEnd, CallStart, NodeRow
from gradviz.store.runs import execution
from gradviz.store.writer import Writer, stack_json


def add_what_if(path: str, what_if: str, first_new_node: int) -> int:
    """Add the call in the file `what_if` to the finished recording at `path`; returns its number there.

    Nodes below `first_new_node` are those of the script's own calls; others get numbers that no node has. Where a
    number means another node there (the script was run again and has changed) all get new ones.

    Raises:
        RecordingError: one of the files cannot be read, or the recording cannot be written.
    """
    found = open_recording(what_if)
    try:
        recording = open_recording(path)
        try:
            number = max((call.number for call in recording.calls), default=0) + 1
            graph = found.graph(1)
            ids = _Ids(recording, graph, first_new_node if _agree(recording, found.call(1), graph) else 0)
            label = _label(recording, found.call(1))
        finally:
            close_recording(recording)
        writer = Writer(path, None)
        _copy(writer, found, number, label, ids)
        stopped = writer.stopped
        writer.close()
        finish(path)
    finally:
        close_recording(found)
    if stopped is not None:
        raise RecordingError(stopped)
    return number


def _agree(recording: Recording, call: Call, graph: Graph) -> bool:
    """Whether the nodes of an experiment are those of the same numbers in the call that it was made on."""
    try:
        known = recording.graph(recording.call_by_label(call.label).number).by_id
    except KeyError:
        return True
    met = [(node, known[node.id]) for node in graph.nodes if node.id in known]
    return all((one.op, one.place) == (other.op, other.place) for one, other in met)


def _label(recording: Recording, call: Call) -> str:
    """`2?1` for the first experiment on call 2."""
    others = sum(other.label.startswith(f"{call.label}?") for other in recording.calls)
    return f"{call.label}?{others + 1}"


class _Ids:
    """Node ids of a what-if -> ids in the recording."""

    def __init__(self, recording: Recording, graph: Graph, first_new_node: int) -> None:
        self._first_new = first_new_node
        new = [node.id for node in graph.nodes if node.id >= first_new_node]
        taken = -1
        if new:  # every graph is read to know the last id, so only where it must be known
            calls = [call.number for call in recording.calls]
            taken = max((node.id for number in calls for node in recording.graph(number).nodes), default=-1)
        self._fresh = {old: taken + 1 + k for k, old in enumerate(new)}

    def __getitem__(self, node: int) -> int:
        return node if node < self._first_new else self._fresh[node]

    def of(self, node: int | None) -> int | None:
        """The same, None for a node that is not in the what-if's graph."""
        return node if node is None or node < self._first_new else self._fresh.get(node)


def _copy(writer: Writer, what_if: Recording, number: int, label: str, ids: _Ids) -> None:
    call, detail = what_if.call(1), what_if.detail(1)
    writer.begin_call(_start(writer, _renamed(call, number, label, ids), what_if.graph(1), ids))
    writer.add_executions(number, [execution(run.order, ids[run.node], _execution(run)) for run in detail.executions])
    entries = [(False, entry) for entry in detail.accumulations] + [(True, entry) for entry in detail.retained]
    returned = None if detail.returned is None else pack_values(_packed(detail.returned))
    accumulations = [_accumulation(entry, retained, ids) for retained, entry in entries]
    failed = ids.of(call.failed_node)
    writer.end_call(CallEnd(number, accumulations, returned, call.error, failed, call.seconds, call.note))


def _start(writer: Writer, call: Call, graph: Graph, ids: _Ids) -> CallStart:
    nodes = graph.nodes
    at = {node.id: index for index, node in enumerate(nodes)}
    values = [
        (ids[node.id], slot, pack_value(value))
        for node in nodes
        for slot, value in ((-1, node.value), *enumerate(saved.value for saved in node.saved))
        if value is not None
    ]
    return CallStart(
        call,
        _packed(root.seed for root in call.roots),
        _packed(root.value for root in call.roots),
        _add_graph(writer, graph, at) if nodes else None,
        [ids[node.id] for node in nodes],
        [node.iteration or 0 for node in nodes],
        [-1 if node.sequence is None else node.sequence for node in nodes],
        values,
    )


def _execution(run: Execution) -> bytes:
    arrived = None if run.arrived is None else _packed(run.arrived)
    computed = None if run.computed is None else _packed(run.computed)
    return pack_execution(_packed(run.grad_outputs), _packed(run.grad_inputs), arrived, run.finished, computed)


def _packed(values: Iterable[Gradient]) -> list[bytes]:
    return [pack_value(value) for value in values]


def _renamed(call: Call, number: int, label: str, ids: _Ids) -> Call:
    return replace(
        call,
        number=number,
        label=label,
        what_if=True,
        parent=None,
        parent_node=None,
        roots=tuple(replace(root, node=ids.of(root.node)) for root in call.roots),
        inputs=None if call.inputs is None else tuple(replace(to, node=ids.of(to.node)) for to in call.inputs),
    )


def _accumulation(entry: Accumulation, retained: bool, ids: _Ids) -> AccumulationRow:
    values = map(pack_value, (entry.before, entry.incoming, entry.after, entry.left))
    return AccumulationRow(retained, entry.name, ids[entry.node], entry.output_nr, entry.order, *values)


def _add_graph(writer: Writer, graph: Graph, at: Mapping[int, int]) -> int:
    rows = [_node_row(writer, node) for node in graph.nodes]
    edges = [_edge_row(edge, at) for edge in graph.edges]
    digest = hashlib.blake2b(repr((rows, edges)).encode(), digest_size=16).digest()
    known = writer.find_graph(digest)
    return writer.add_graph(digest, columns_of(rows), columns_of(edges)) if known is None else known


def _edge_row(edge: Edge, at: Mapping[int, int]) -> tuple[int, int, int, int]:
    return at[edge.source], edge.slot, at[edge.target], edge.output_nr


def _node_row(writer: Writer, node: Node) -> NodeRow:
    def text(value: str | None) -> int | None:
        return None if value is None else writer.intern(value)

    place = node.place
    outputs: list[Any] = [[out.shape, out.dtype, out.device, out.retains_grad] for out in node.outputs]
    saved: list[Any] = [[entry.name, entry.shape, entry.text] for entry in node.saved]
    return NodeRow(
        op=writer.intern(node.op),
        kind=KINDS.index(node.kind),
        name=text(node.name),
        file=None if place is None else text(place.file),
        line=None if place is None else place.line,
        function=None if place is None else text(place.function),
        rank=_rank(node),
        stack=writer.intern(stack_json(node.stack)) if node.stack else None,
        module=text(node.module),
        module_class=text(node.module_class),
        outputs=writer.intern(json.dumps(outputs)),
        saved=writer.intern(json.dumps(saved)) if saved else None,
        derivative=node.order,
    )


def _rank(node: Node) -> int:
    """The j at the end of a key, `op@file:line#j`."""
    _, found, number = node.key.partition("~")[0].rpartition("#")
    return int(number) if found and number.isdigit() else 0
