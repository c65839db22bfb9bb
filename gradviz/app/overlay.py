"""Experiments shown among the calls of a recording that is still being written. No Qt.

Only the script's own process may write into its recording while it runs; so until it has ended the experiments lie in
files of their own, and are laid over what is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gradviz.model import Binding, Call, CallDetail, Graph, OutputChunk, Recording
from gradviz.model.recording import RecordingSource
from gradviz.runner.experiments import WhatIf
from gradviz.store.reader import close_recording, open_recording

_FIRST_NUMBER = 1_000_000_000  # of calls and of nodes: the script's own will not come so far
_ROOM = 10_000_000  # nodes of one experiment


@dataclass(frozen=True)
class Extra:
    """An experiment in memory, with numbers that the script's own calls and nodes do not have."""

    call: Call
    graph: Graph
    detail: CallDetail


def read_extra(what_if: WhatIf, before: Sequence[Extra]) -> Extra:
    """Read the one call of an experiment's file; `before` are those that are shown already.

    Raises:
        RecordingError: the file cannot be read.
    """
    recording = open_recording(what_if.recording)
    try:
        call, graph, detail = recording.call(1), recording.graph(1), recording.detail(1)
    finally:
        close_recording(recording)
    place = len(before)
    others = sum(extra.call.label.startswith(f"{what_if.label}?") for extra in before)
    shift = _FIRST_NUMBER + place * _ROOM - what_if.first_new_node
    ids = {node.id: node.id + shift for node in graph.nodes if node.id >= what_if.first_new_node}
    called = replace(call, number=_FIRST_NUMBER + place, label=f"{what_if.label}?{others + 1}", what_if=True)
    return Extra(_renumbered_call(called, ids), _renumbered_graph(graph, ids), _renumbered_detail(detail, ids))


def with_extras(recording: Recording, extras: tuple[Extra, ...]) -> Recording:
    """The recording with experiments after its own calls; its file is closed by whoever opened it."""
    if not extras:
        return recording
    calls = (*recording.calls, *(extra.call for extra in extras))
    by_number = {extra.call.number: extra for extra in extras}
    return replace(recording, calls=calls, source=Overlay(recording.source, by_number))


def without_extras(recording: Recording) -> Recording:
    """What is in the file."""
    source = recording.source
    if not isinstance(source, Overlay):
        return recording
    calls = tuple(call for call in recording.calls if call.number not in source.extras)
    return replace(recording, calls=calls, source=source.base)


@dataclass(frozen=True)
class Overlay:
    """A `model.RecordingSource`: that of the recording, and the experiments."""

    base: RecordingSource
    extras: Mapping[int, Extra]

    def graph(self, number: int) -> Graph:
        """The graph of a call or an experiment."""
        return self.extras[number].graph if number in self.extras else self.base.graph(number)

    def detail(self, number: int) -> CallDetail:
        """What moved in it."""
        return self.extras[number].detail if number in self.extras else self.base.detail(number)

    def bindings(self) -> tuple[Binding, ...]:
        """Those of the script."""
        return self.base.bindings()

    def sources(self) -> dict[str, str]:
        """Those of the script."""
        return self.base.sources()

    def output(self) -> tuple[OutputChunk, ...]:
        """That of the script."""
        return self.base.output()


def _renumbered_call(call: Call, ids: Mapping[int, int]) -> Call:
    roots = tuple(replace(root, node=_of(ids, root.node)) for root in call.roots)
    inputs = None if call.inputs is None else tuple(replace(to, node=_of(ids, to.node)) for to in call.inputs)
    return replace(call, roots=roots, inputs=inputs, failed_node=_of(ids, call.failed_node))


def _renumbered_graph(graph: Graph, ids: Mapping[int, int]) -> Graph:
    nodes = tuple(replace(node, id=ids.get(node.id, node.id)) for node in graph.nodes)
    edges = tuple(
        replace(edge, source=ids.get(edge.source, edge.source), target=ids.get(edge.target, edge.target))
        for edge in graph.edges
    )
    return Graph(nodes, edges)


def _renumbered_detail(detail: CallDetail, ids: Mapping[int, int]) -> CallDetail:
    return replace(
        detail,
        executions=tuple(replace(run, node=ids.get(run.node, run.node)) for run in detail.executions),
        accumulations=tuple(replace(entry, node=ids.get(entry.node, entry.node)) for entry in detail.accumulations),
        retained=tuple(replace(entry, node=ids.get(entry.node, entry.node)) for entry in detail.retained),
    )


def _of(ids: Mapping[int, int], node: int | None) -> int | None:
    return node if node is None else ids.get(node, node)
