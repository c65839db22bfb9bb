"""Records code of a test in this process, and checks what must hold for every recording, with torch as the oracle."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

import gradviz
from gradviz.model import Accumulation, Call, CallDetail, Graph, Recording, TensorValue
from gradviz.store.reader import close_recording, open_recording

_numbers = itertools.count()


class Recorded:
    """The recording of a `with` block, open after its end."""

    def __init__(self) -> None:
        self._recording: Recording | None = None

    @property
    def recording(self) -> Recording:
        assert self._recording is not None
        return self._recording

    @property
    def calls(self) -> tuple[Call, ...]:
        return self.recording.calls

    def graph(self, label: str = "1") -> Graph:
        return self.recording.graph(self.recording.call_by_label(label).number)

    def detail(self, label: str = "1") -> CallDetail:
        return self.recording.detail(self.recording.call_by_label(label).number)

    def accumulation(self, name: str, label: str = "1") -> Accumulation:
        return next(entry for entry in self.detail(label).accumulations if entry.name == name)

    def retained(self, name: str, label: str = "1") -> Accumulation:
        return next(entry for entry in self.detail(label).retained if entry.name == name)

    def events(self) -> list[tuple[str, int | None, tuple[str, ...]]]:
        return [(event.kind, event.before_call, event.names) for event in self.recording.events]


@contextmanager
def record(folder: Path, complete: bool = True, notes: tuple[str, ...] = (), **options: Any) -> Iterator[Recorded]:
    """Record the block; afterwards the recording is whole, has no other notes, and holds all invariants."""
    path = folder / f"r{next(_numbers)}.gradviz"
    found = Recorded()
    with gradviz.record(path, **options):
        yield found
    found._recording = open_recording(str(path))
    _open.append(found.recording)
    assert found.recording.damage is None
    assert found.recording.header.notes == notes
    for call in found.calls:
        assert call.note is None, call.note
        assert call.complete
        if complete:
            check_call(found.recording, call)


_open: list[Recording] = []


def close_all() -> None:
    while _open:
        close_recording(_open.pop())


def values(value: TensorValue | None) -> Any:
    return None if value is None else value.nested()


def tensor_of(value: TensorValue | None) -> torch.Tensor | None:
    """The tensor that was recorded, bit for bit; None where it is undefined or was not kept whole."""
    if value is None or value.data is None:
        return None
    dtype = getattr(torch, value.dtype)
    if not value.data:
        return torch.zeros(value.full_shape, dtype=dtype)
    return torch.frombuffer(bytearray(value.data), dtype=dtype).reshape(value.full_shape)


def equal(one: torch.Tensor | None, other: torch.Tensor | None) -> bool:
    """Bit-equal, any nan being as good as another."""
    if one is None or other is None:
        return one is other
    return (
        one.shape == other.shape
        and one.dtype == other.dtype
        and torch.equal(one.nan_to_num(7e7), other.nan_to_num(7e7))
    )


def check_call(recording: Recording, call: Call) -> None:
    """Invariants 2 and 3: what arrived is the sum of what was sent, and `.grad` is what it was plus what came."""
    graph, detail = recording.graph(call.number), recording.detail(call.number)
    ids = {node.id for node in graph.nodes}
    assert len(ids) == len(graph.nodes) == call.node_count or call.detail != "full"
    assert {edge.source for edge in graph.edges} | {edge.target for edge in graph.edges} <= ids
    assert [run.order for run in detail.executions] == list(range(len(detail.executions)))
    sent: dict[int, Any] = {}
    leaves = [node.id for node in graph.nodes if node.kind == "leaf"]
    once = {run.node for run in detail.executions}
    for run in detail.executions:
        assert run.node in ids
        arrived = run.grad_outputs if run.arrived is None else run.arrived
        if len(once) == len(detail.executions) or run.node not in leaves:
            for number, value in enumerate(arrived):
                check_sum(call, graph, sent, run.node, number, value)
        sent[run.node] = run
    for entry in (*detail.accumulations, *detail.retained):
        check_accumulation(entry)


def check_sum(
    call: Call, graph: Graph, sent: dict[int, Any], node: int, number: int, value: TensorValue | None
) -> None:
    terms = [(-1, root.seed) for root in call.roots if root.node == node and root.output_nr == number]
    for edge in graph.incoming[node]:
        run = sent.get(edge.source)
        if edge.output_nr == number and run is not None:
            terms.append((run.order, run.grad_inputs[edge.slot]))
    defined = [term for _, term in sorted(terms, key=lambda term: term[0]) if term is not None]
    if not defined:
        assert value is None
        return
    assert value is not None and all(term.shape == value.shape and term.dtype == value.dtype for term in defined)
    if any(term.data is None or term.layout != "strided" for term in (*defined, value)):
        return
    total = tensor_of(defined[0])
    assert total is not None
    for term in defined[1:]:
        total = total + tensor_of(term)
    assert equal(total, tensor_of(value)), (call.label, node, total, tensor_of(value))


def check_accumulation(entry: Accumulation) -> None:
    incoming, after = tensor_of(entry.incoming), tensor_of(entry.after)
    if entry.before is None:
        if entry.incoming is not None and entry.order is not None:
            assert entry.after is not None and entry.after.shape == entry.incoming.shape
            if incoming is not None and after is not None:
                assert equal(incoming, after)
        return
    before = tensor_of(entry.before)
    if before is not None and incoming is not None and after is not None:
        assert equal(before + incoming, after)
