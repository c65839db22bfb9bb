"""The public JSON of a recording (`gradviz info --json`): format 1, documented in the README.

Readers ignore unknown fields. Non-finite numbers are the strings "nan", "inf" and "-inf", complex ones `[re, im]`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from gradviz.errors import RecordingError
from gradviz.model import Call, CallDetail, Event, Finding, Graph, Recording
from gradviz.store.json_parts import Parts, number_view, tensor_view, where_view

__all__ = ["FORMAT", "json_text", "json_view", "number_view", "tensor_view"]

FORMAT = 1


def json_view(recording: Recording, findings: Sequence[Finding] = ()) -> dict[str, Any]:
    """Return the whole recording as plain JSON values. Equal parts (stacks, outputs) may be one object.

    A call whose graph or gradients cannot be read is there with empty lists, and its `damage` says why.
    """
    walk = _Walk(recording)
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    calls = []
    for call in recording.calls:
        graph, damage = walk.graph(call)
        nodes += walk.nodes(graph)
        edges += walk.edges(graph)
        calls.append(walk.call(call, graph, damage))
    return {
        **_head(recording),
        "nodes": sorted(nodes, key=_node_id),
        "edges": sorted(edges, key=_edge_place),
        "calls": calls,
        **_tail(recording, findings),
    }


def json_text(recording: Recording, findings: Sequence[Finding] = ()) -> Iterator[str]:
    """The text of `json_view` in pieces, a call at a time: a recording of 10,000 steps never lies in memory whole.

    Nodes and edges come in the order in which calls met them.
    """
    walk = _Walk(recording)
    encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
    edges = []
    yield encode(_head(recording))[:-1] + ',"nodes":['
    comma = ""
    for call in recording.calls:
        graph, _ = walk.graph(call)
        if found := walk.nodes(graph):
            yield comma + encode(found)[1:-1]
            comma = ",\n"
        if found := walk.edges(graph):
            edges.append(encode(found)[1:-1])
    yield '],"edges":[' + ",\n".join(edges) + '],"calls":['
    comma = ""
    for call in recording.calls:
        yield comma + encode(walk.call(call, *walk.graph(call)))
        comma = ",\n"
    yield "]," + encode(_tail(recording, findings))[1:]


class _Walk:
    """Goes through the calls; a node or edge that several calls met is given once."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._parts = Parts()
        self._nodes: set[int] = set()
        self._edges: set[tuple[int, int]] = set()

    def graph(self, call: Call) -> tuple[Graph, str | None]:
        """The graph of a call, and why it is empty when it cannot be read."""
        try:
            return self._recording.graph(call.number), None
        except RecordingError as error:
            return Graph((), ()), str(error)

    def nodes(self, graph: Graph) -> list[dict[str, Any]]:
        """The nodes that this graph met first."""
        fresh = [node for node in graph.nodes if node.id not in self._nodes]
        self._nodes.update([node.id for node in fresh])
        return [self._parts.node(node) for node in fresh]

    def edges(self, graph: Graph) -> list[dict[str, Any]]:
        """The edges that this graph met first."""
        fresh = [edge for edge in graph.edges if (edge.source, edge.slot) not in self._edges]
        self._edges.update([(edge.source, edge.slot) for edge in fresh])
        return [
            {"source": edge.source, "slot": edge.slot, "target": edge.target, "output_nr": edge.output_nr}
            for edge in fresh
        ]

    def call(self, call: Call, graph: Graph, damage: str | None) -> dict[str, Any]:
        """A call with all that moved in it."""
        detail = CallDetail()
        try:
            detail = self._recording.detail(call.number)
        except RecordingError as error:
            damage = str(error)
        return {**self._parts.call(call, detail), "nodes": [node.id for node in graph.nodes], "damage": damage}


def _head(recording: Recording) -> dict[str, Any]:
    header, outcome = recording.header, recording.outcome
    facts = ("kind", "exit_code", "signal", "type", "message", "file", "line")
    return {
        "format": FORMAT,
        "script": header.script,
        "argv": list(header.argv),
        "in_process": header.in_process,
        "python": header.python,
        "torch": header.torch,
        "outcome": {name: getattr(outcome, name) for name in facts},
    }


def _tail(recording: Recording, findings: Sequence[Finding]) -> dict[str, Any]:
    return {
        "events": [_event(event) for event in recording.events],
        "findings": [finding_view(finding) for finding in findings],
        "warnings": [
            {"category": w.category, "message": w.message, **where_view(w.place), "before_call": w.before_call}
            for w in recording.warnings
        ],
        "notes": list(recording.header.notes),
        "damage": recording.damage,
    }


def _event(event: Event) -> dict[str, Any]:
    return {
        "kind": event.kind,
        "before_call": event.before_call,
        "names": list(event.names),
        **where_view(event.place),
        "detail": event.detail,
        "norms": [[number_view(before), number_view(after)] for before, after in event.norms],
    }


def finding_view(finding: Finding) -> dict[str, Any]:
    """A finding as plain JSON values; `show` holds the ids of the nodes that it is about."""
    return {
        "code": finding.code,
        "level": finding.level,
        "call": finding.call,
        "node": finding.node,
        **where_view(finding.place),
        "message": finding.message,
        "advice": finding.advice,
        "show": list(finding.show),
        "experiment": finding.experiment,
    }


def _node_id(node: dict[str, Any]) -> int:
    number: int = node["id"]
    return number


def _edge_place(edge: dict[str, Any]) -> tuple[int, int]:
    return edge["source"], edge["slot"]
