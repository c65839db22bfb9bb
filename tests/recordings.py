"""Recordings made by hand, with numbers worked out by hand, for tests that need no torch."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gradviz.model import (
    Accumulation,
    Binding,
    Call,
    CallDetail,
    CallError,
    Edge,
    Event,
    Execution,
    Gradient,
    Graph,
    Header,
    Input,
    Kind,
    Node,
    Outcome,
    Output,
    OutputChunk,
    Place,
    Recording,
    Root,
    Saved,
    TensorValue,
)

SCRIPT = "/home/me/accumulate.py"
ACCUMULATE = """import torch

t1 = torch.tensor(3.0, requires_grad=True)

t2 = t1 * 4
t2.retain_grad()

t2.backward(retain_graph=True)

t3 = t2 * 5
t3.retain_grad()

t3.backward()
"""


def tensor(values: Any, dtype: str = "float32") -> TensorValue:
    """A tensor from a number or nested lists, its bytes kept whole."""
    shape: list[int] = []
    level = values
    while isinstance(level, list):
        shape.append(len(level))
        level = level[0] if level else 0.0
    flat = [values]
    for _ in shape:
        flat = [item for part in flat for item in part]
    code = {"float32": "f", "float64": "d", "complex64": "f", "int64": "q"}[dtype]
    if dtype == "complex64":
        flat = [part for number in flat for part in (complex(number).real, complex(number).imag)]
    assert dtype == "complex64" or len(flat) == math.prod(shape)
    return TensorValue(tuple(shape), dtype, data=struct.pack(f"<{len(flat)}{code}", *flat))


@dataclass
class MemorySource:
    """A `RecordingSource` whose parts are in memory."""

    graphs: dict[int, Graph] = field(default_factory=dict)
    details: dict[int, CallDetail] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    bound: tuple[Binding, ...] = ()
    chunks: tuple[OutputChunk, ...] = ()
    reads: list[tuple[str, int]] = field(default_factory=list)

    def graph(self, number: int) -> Graph:
        self.reads.append(("graph", number))
        return self.graphs[number]

    def detail(self, number: int) -> CallDetail:
        self.reads.append(("detail", number))
        return self.details[number]

    def bindings(self) -> tuple[Binding, ...]:
        return self.bound

    def sources(self) -> dict[str, str]:
        return self.texts

    def output(self) -> tuple[OutputChunk, ...]:
        return self.chunks


def node(
    id: int,
    op: str,
    name: str | None = None,
    *,
    value: TensorValue | None = None,
    shape: tuple[int, ...] = (),
    line: int | None = None,
    kind: Kind = "operation",
    retains: bool = False,
    saved: tuple[Saved, ...] = (),
    key: str | None = None,
    outputs: int = 1,
    **more: Any,
) -> Node:
    """A node; its shape is that of `value` where there is one."""
    shape = value.shape if value is not None else shape
    place = None if line is None else Place(SCRIPT, line)
    made = tuple(Output(shape, "float32", "cpu", retains) for _ in range(outputs))
    return Node(
        id,
        key or (name if kind == "leaf" and name else f"{op}@a.py:{line}#{id}"),
        op,
        kind,
        name,
        made,
        place,
        value=value,
        saved=saved,
        **more,
    )


def leaf(id: int, name: str, value: TensorValue | None = None, **more: Any) -> Node:
    """A leaf."""
    return node(id, "AccumulateGrad", name, value=value, kind="leaf", **more)


def root(of: Node, seed: Gradient, given: bool = False, output_nr: int = 0) -> Root:
    """A root at output `output_nr` of a node."""
    out = of.outputs[output_nr]
    return Root("tensor", of.name, of.id, output_nr, out.shape, out.dtype, seed, given, of.value)


def call(number: int, roots: Sequence[Root], nodes: int, *, line: int = 1, **more: Any) -> Call:
    """The head of a `backward` call."""
    fields: dict[str, Any] = {
        "label": str(number),
        "api": "torch.Tensor.backward",
        "parent": None,
        "parent_node": None,
        "engine": True,
        "what_if": False,
        "complete": True,
        "detail": "full",
        "place": Place(SCRIPT, line),
        "stack": (),
        "thread": "MainThread",
        "retain_graph": False,
        "create_graph": False,
        "accumulates": True,
        "inputs": None,
        "error": None,
        "failed_node": None,
    }
    return Call(number=number, roots=tuple(roots), node_count=nodes, **(fields | more))


def recording(
    parts: Sequence[tuple[Call, Graph, CallDetail]], text: str = "", events: Sequence[Event] = (), **outcome: Any
) -> Recording:
    """A recording of these calls."""
    source = MemorySource(
        {c.number: graph for c, graph, _ in parts}, {c.number: d for c, _, d in parts}, {SCRIPT: text} if text else {}
    )
    header = Header(SCRIPT, (), "3.11.7", "2.13.0", "/usr/bin/python", "/home/me")
    ended = Outcome(**({"kind": "finished", "exit_code": 0} | outcome))
    return Recording(header, ended, tuple(c for c, _, _ in parts), tuple(events), (), source)


def execution(order: int, of: int, outputs: Sequence[Gradient], inputs: Sequence[Gradient] = ()) -> Execution:
    """One run of a node."""
    return Execution(order, of, tuple(outputs), tuple(inputs))


def accumulation(
    name: str, of: int, before: Gradient, incoming: Gradient, after: Gradient, order: int | None
) -> Accumulation:
    """One change of a `.grad`, still there when the call returns."""
    return Accumulation(name, of, 0, before, incoming, after, after, order)


def two_calls(events: Sequence[Event] = ()) -> Recording:
    """t1 = 3, t2 = 4 t1 = 12 (retained), t3 = 5 t2 = 60 (retained); t2.backward(), then t3.backward().

    By hand: call 1 brings 1 to t2 and 4 to t1. Call 2 brings 1 to t3, 5 to t2, 5 * 4 = 20 to t1; so in the end
    t1.grad = 4 + 20 = 24, t2.grad = 1 + 5 = 6, t3.grad = 1. With a clearing of t1 in between t1.grad = 20.
    """
    one, four, five, twenty = (tensor(x) for x in (1.0, 4.0, 5.0, 20.0))
    t2 = node(0, "MulBackward0", "t2", value=tensor(12.0), line=5, retains=True, saved=(Saved("other", (), four),))
    t1 = leaf(1, "t1", tensor(3.0), line=3)
    t3 = node(2, "MulBackward0", "t3", value=tensor(60.0), line=10, retains=True, saved=(Saved("other", (), five),))
    lower, upper = Edge(0, 0, 1, 0), Edge(2, 0, 0, 0)
    first = CallDetail(
        (execution(0, 0, [one], [four, None]), execution(1, 1, [four])),
        (accumulation("t1", 1, None, four, four, 1),),
        (accumulation("t2", 0, None, one, one, 0),),
    )
    cleared = any(event.kind == "grad_cleared" and "t1" in event.names for event in events)
    before, after = (None, twenty) if cleared else (four, tensor(24.0))
    second = CallDetail(
        (
            execution(0, 2, [one], [five, None]),
            execution(1, 0, [five], [twenty, None]),
            execution(2, 1, [twenty]),
        ),
        (accumulation("t1", 1, before, twenty, after, 2),),
        (accumulation("t3", 2, None, one, one, 0), accumulation("t2", 0, one, five, tensor(6.0), 1)),
    )
    return recording(
        [
            (call(1, [root(t2, one)], 2, line=8, retain_graph=True), Graph((t2, t1), (lower,)), first),
            (call(2, [root(t3, one)], 3, line=13), Graph((t3, t2, t1), (upper, lower)), second),
        ],
        ACCUMULATE,
        events,
    )


def fan_in() -> Recording:
    """x = 2, y = 3 x = 6 (retained), a = 2 y, b = 5 y, c = a + b = 42; c.backward().

    By hand: 1 goes from c to a and to b, then 2 and 5 arrive at y and are added to 7, and x.grad = 7 * 3 = 21.
    """
    one, two, three, five, seven = (tensor(x) for x in (1.0, 2.0, 3.0, 5.0, 7.0))
    c = node(0, "AddBackward0", "c", value=tensor(42.0), line=8)
    b = node(1, "MulBackward0", "b", value=tensor(30.0), line=7, saved=(Saved("other", (), five),))
    a = node(2, "MulBackward0", "a", value=tensor(12.0), line=6, saved=(Saved("other", (), two),))
    saved_three = (Saved("other", (), three),)
    y = node(3, "MulBackward0", "y", value=tensor(6.0), line=4, retains=True, saved=saved_three)
    x = leaf(4, "x", tensor(2.0), line=3)
    edges = (Edge(0, 0, 2, 0), Edge(0, 1, 1, 0), Edge(1, 0, 3, 0), Edge(2, 0, 3, 0), Edge(3, 0, 4, 0))
    twenty_one = tensor(21.0)
    detail = CallDetail(
        (
            execution(0, 0, [one], [one, one]),
            execution(1, 1, [one], [five, None]),
            execution(2, 2, [one], [two, None]),
            execution(3, 3, [seven], [twenty_one, None]),
            execution(4, 4, [twenty_one]),
        ),
        (accumulation("x", 4, None, twenty_one, twenty_one, 4),),
        (accumulation("y", 3, None, seven, seven, 3),),
    )
    graph = Graph((c, b, a, y, x), edges)
    return recording([(call(1, [root(c, one)], 5, line=9), graph, detail)])


def leaf_root() -> Recording:
    """x = 2 * ones(2, 2), requires_grad; x.backward(x): the root is the leaf, seed and `.grad` are [[2, 2], [2, 2]]."""
    twos = tensor([[2.0, 2.0], [2.0, 2.0]])
    x = leaf(0, "x", twos, line=3)
    detail = CallDetail((execution(0, 0, [twos]),), (accumulation("x", 0, None, twos, twos, 0),))
    return recording([(call(1, [root(x, twos, True)], 1, line=4), Graph((x,), ()), detail)], "\n\n\nx.backward(x)\n")


def no_seed() -> Recording:
    """Z = A @ B of shape (1, 3); Z.backward() fails before the engine runs: no seed can be made up."""
    a = leaf(1, "A", tensor([[1.0, 2.0]]), line=3)
    b = leaf(2, "B", tensor([[10.0, 20.0, 30.0], [100.0, 200.0, 300.0]]), line=4)
    z = node(0, "MmBackward0", "Z", value=tensor([[210.0, 420.0, 630.0]]), line=6)
    graph = Graph((z, a, b), (Edge(0, 0, 1, 0), Edge(0, 1, 2, 0)))
    error = CallError("RuntimeError", "grad can be implicitly created only for scalar outputs", Place(SCRIPT, 8))
    head = call(1, [root(z, None)], 3, line=8, engine=False, error=error)
    return recording([(head, graph, CallDetail())], "\n" * 7 + "Z.backward()\n", kind="raised", exit_code=1)


def returned() -> Recording:
    """x = 3, y = x * x; torch.autograd.grad(y, x): two terms 3 + 3 = 6 arrive at x, 6 is returned, `.grad` stays."""
    one, three, six = tensor(1.0), tensor(3.0), tensor(6.0)
    saved = (Saved("self", (), three), Saved("other", (), three))
    y = node(0, "MulBackward0", "y", value=tensor(9.0), line=4, saved=saved)
    x = leaf(1, "x", three, line=3)
    graph = Graph((y, x), (Edge(0, 0, 1, 0), Edge(0, 1, 1, 0)))
    detail = CallDetail((execution(0, 0, [one], [three, three]),), returned=(six,))
    head = call(1, [root(y, one)], 2, line=5, api="torch.autograd.grad", accumulates=False, inputs=(Input("x", 1, 0),))
    return recording([(head, graph, detail)])


def loop(count: int) -> Recording:
    """`for k in 1..count: (w * k).backward()`, w = 2: new nodes each time with equal keys; w.grad grows by k."""
    parts = []
    w = leaf(0, "w", tensor(2.0), line=2)
    total: Gradient = None
    for k in range(1, count + 1):
        factor, one = tensor(float(k)), tensor(1.0)
        y = node(
            k,
            "MulBackward0",
            "y",
            value=tensor(2.0 * k),
            line=4,
            saved=(Saved("other", (), factor),),
            key="MulBackward0@a.py:4#0",
        )
        after = tensor(float(k * (k + 1) // 2))
        detail = CallDetail(
            (execution(0, k, [one], [factor, None]), execution(1, 0, [factor])),
            (accumulation("w", 0, total, factor, after, 1),),
        )
        parts.append((call(k, [root(y, one)], 2, line=5), Graph((y, w), (Edge(k, 0, 0, 0),)), detail))
        total = after
    return recording(parts)


def chain(length: int) -> Recording:
    """x, then `length` times `x = x * 1`: every gradient is 1; the last node is the leaf."""
    one = tensor(1.0)
    nodes = [node(k, "MulBackward0", line=k + 1, shape=()) for k in range(length)]
    nodes.append(leaf(length, "x", tensor(1.0), line=0))
    edges = tuple(Edge(k, 0, k + 1, 0) for k in range(length))
    runs = [execution(k, k, [one], [one, None]) for k in range(length)] + [execution(length, length, [one])]
    detail = CallDetail(tuple(runs), (accumulation("x", length, None, one, one, length),))
    head = call(1, [root(nodes[0], one)], length + 1)
    return recording([(head, Graph(tuple(nodes), edges), detail)])


def from_edges(edges: Sequence[tuple[int, int]], count: int, shape: tuple[int, ...] = ()) -> Recording:
    """A recording of any graph: box 0 is the root; each edge passes on the gradient times a factor.

    The factors walk through 0.5, 0.8, 1.1, 1.4, so that norms spread; boxes without outgoing edges are leaves.
    `edges` must lead from what runs earlier to what runs later in a depth-free topological order.
    """
    outgoing: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for source, target in edges:
        outgoing[source].append(target)
        waiting[target] += 1
    nodes, made_edges, runs, sums = [], [], [], []
    arrived = [0.0] * count
    arrived[0] = 1.0
    ready = [k for k in range(count) if waiting[k] == 0]
    size = math.prod(shape)

    def value(x: float) -> TensorValue:
        return TensorValue(shape, "float32", data=struct.pack("<f", x) * size)

    while ready:
        k = ready.pop()
        total = min(arrived[k], 1e6)
        left = []
        for slot, target in enumerate(outgoing[k]):
            passed = total * (0.5 + 0.3 * ((k + slot) % 4)) / max(1, len(outgoing[k]) - 1)
            left.append(value(passed))
            arrived[target] += passed
            waiting[target] -= 1
            made_edges.append(Edge(k, slot, target, 0))
            if waiting[target] == 0:
                ready.append(target)
        now = value(total)
        runs.append(execution(len(runs), k, [now], left))
        if outgoing[k]:
            nodes.append(node(k, ("MulBackward0", "AddBackward0", "TanhBackward0")[k % 3], line=k % 40, shape=shape))
        else:
            nodes.append(leaf(k, f"w{k}", value(0.5)))
            sums.append(accumulation(f"w{k}", k, None, now, now, len(runs) - 1))
    head = call(1, [root(nodes[0], value(1.0))], count)
    graph = Graph(tuple(sorted(nodes, key=lambda n: n.id)), tuple(made_edges))
    return recording([(head, graph, CallDetail(tuple(runs), tuple(sums)))])
