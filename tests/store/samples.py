"""A recording worked out by hand with all that the format knows, and the way into a file through `Writer`."""

from __future__ import annotations

import json
import math
import os
import struct
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

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
    Node,
    Outcome,
    Output,
    OutputChunk,
    Place,
    Recording,
    Root,
    Saved,
    ScriptWarning,
    Statistics,
    TensorValue,
    Thumbnail,
)
from gradviz.store.codec import UNDEFINED, columns_of, pack_execution, pack_same, pack_value, pack_values
from gradviz.store.rows import KINDS, AccumulationRow, CallEnd, CallStart, NodeRow
from gradviz.store.runs import execution
from gradviz.store.writer import Writer, stack_json
from tests.recordings import MemorySource

FILE = "/home/me/train.py"
HERE = Place(FILE, 7)
INSIDE = Place("/home/me/net.py", 12, "Net.forward")
HEADER = Header(
    script=FILE,
    argv=("--lr", "0.1"),
    python="3.11.7",
    torch="2.13.0",
    executable="/usr/bin/python3",
    cwd="/home/me",
    module="pkg.train",
    threads=2,
    hash_seed="0",
    rank=1,
    world_size=2,
    notes=("Values above 4,096 elements are kept as thumbnails.",),
)


def floats(*numbers: float, shape: tuple[int, ...] | None = None) -> TensorValue:
    """A float32 tensor, one-dimensional unless `shape` says otherwise."""
    return TensorValue(
        (len(numbers),) if shape is None else shape, "float32", data=struct.pack(f"<{len(numbers)}f", *numbers)
    )


def scalar(number: float) -> TensorValue:
    return floats(number, shape=())


COMPLEX = TensorValue((2,), "complex64", data=struct.pack("<4f", 1.0, -2.0, math.inf, 0.5))
SPARSE = TensorValue((3,), "float32", data=struct.pack("<3f", 0.0, 5.0, 0.0), layout="sparse_coo", nnz=1)
BATCHED = TensorValue((2,), "float64", data=struct.pack("<6d", *range(6)), batch=(3,))
UNREADABLE = TensorValue((4, 4), "float32", "meta", unreadable="a meta tensor has no values")
LARGE = TensorValue(
    (100, 200),
    "float32",
    "cuda:0",
    measured=Statistics(12.5, -3.0, 4.0, 0.25, 0, 1, 17),
    thumbnail=Thumbnail(2, 3, (0.5, -0.5, math.inf, -math.inf, 0.125, 0.0), ((-3, 12), (0, 400))),
)


def graph(ids: Sequence[int], iteration: int | None, first_sequence: int) -> Graph:
    """loss = f(w * w): two edges from the multiplication to one leaf, a custom and an opaque node."""
    out = (Output((), "float32", "cpu", False),)
    kept = (Output((2, 2), "float32", "cpu", True), Output((3,), "float64", "cuda:0", False))
    stack = (INSIDE, HERE)
    loss, opaque, custom, mul, leaf = ids
    nodes = (
        Node(loss, "SumBackward0@train.py:7#0", "SumBackward0", "operation", "loss", out, HERE, (HERE,), iteration,
             None, None, first_sequence),
        Node(opaque, "CompiledFunctionBackward@?#0", "CompiledFunctionBackward", "opaque", None, out),
        Node(custom, "MyExpBackward@net.py:12#0", "MyExpBackward", "custom", None, kept, INSIDE, stack, iteration,
             "layers.0", "Net", first_sequence - 1, 2, None, (Saved("flag", None, None, "True"),)),
        Node(mul, "MulBackward0@net.py:12#1", "MulBackward0", "operation", "y", out, INSIDE, stack, iteration,
             "layers.0", "Net", first_sequence - 2, 1, scalar(9.0),
             (Saved("self", (), scalar(3.0)), Saved("other", (), None))),
        Node(leaf, "layers.0.weight", "AccumulateGrad", "leaf", "layers.0.weight", out, value=scalar(3.0)),
    )  # fmt: skip
    edges = (
        Edge(loss, 0, opaque, 0),
        Edge(opaque, 0, custom, 1),
        Edge(custom, 0, mul, 0),
        Edge(mul, 0, leaf, 0),
        Edge(mul, 1, leaf, 0),
    )
    return Graph(nodes, edges)


def detail(ids: Sequence[int], seed: float) -> CallDetail:
    """Executions in an order of the engine's own, with a hook's change, a None and an unfinished node."""
    loss, opaque, custom, mul, leaf = ids
    executions = (
        Execution(0, loss, (scalar(seed),), (scalar(seed),)),
        Execution(1, opaque, (scalar(seed),), (scalar(2 * seed),), (scalar(3 * seed),)),
        Execution(2, custom, (None, scalar(2 * seed)), (scalar(4 * seed),)),
        Execution(3, mul, (scalar(4 * seed),), (scalar(12 * seed), scalar(12 * seed))),
        Execution(4, leaf, (scalar(24 * seed),), (), None, False),
    )
    leaf_sum = Accumulation("layers.0.weight", leaf, 0, None, scalar(24 * seed), scalar(24 * seed), scalar(0.0), 4)
    kept = Accumulation("z", custom, 1, LARGE, scalar(2 * seed), scalar(2 * seed + 1), UNREADABLE)
    return CallDetail(executions, (leaf_sum,), (kept,))


def call(number: int, roots: tuple[Root, ...] = (), **more: object) -> Call:
    """A call with plain facts."""
    plain = Call(
        *(number, str(number), "torch.Tensor.backward", None, None, True, False, True, "full", HERE, (HERE,)),
        *("MainThread", False, False, True, roots, None, 0, None, None),
    )
    return replace(plain, **more)  # type: ignore[arg-type]


def sample() -> Recording:
    """Four calls: two with one template, one of `torch.autograd.grad` inside the second, one that never ended."""
    first, second = (0, 1, 2, 3, 4), (5, 6, 7, 8, 4)
    root = Root("tensor", "loss", 0, 0, (), "float32", scalar(1.0), False, scalar(9.0))
    edge = Root("edge", None, 5, 0, None, None, floats(2.0, 3.0), True, None, "v")
    grad = Root("tensor", "h", None, 0, (3,), "float64", BATCHED, True, COMPLEX, "torch.eye(3)")
    error = CallError("RuntimeError", "modified by an inplace operation", INSIDE, "self", 12)
    calls = (
        call(1, (root,), node_count=5, seconds=0.25, note="The graph is 5 nodes deep."),
        call(2, (edge, grad), node_count=5, error=error, failed_node=8, retain_graph=True, create_graph=True),
        call(3, (grad,), label="2.1", api="torch.autograd.grad", parent=2, parent_node=7, accumulates=False,
             inputs=(Input("w", 4, 0), Input(None, None, 1)), batched=True, thread="Thread-1 (f)",
             group="torch.autograd.functional.jacobian", what_if=True),
        call(4, (), engine=False, complete=False, detail="none", place=None, stack=()),
    )  # fmt: skip
    source = MemorySource(
        {1: graph(first, None, 40), 2: graph(second, 3, 90), 3: Graph((), ()), 4: Graph((), ())},
        {
            1: detail(first, 1.0),
            2: detail(second, -0.5),
            3: CallDetail(returned=(None, COMPLEX, SPARSE, BATCHED, UNREADABLE, LARGE, floats())),
            4: CallDetail(),
        },
        {FILE: "import torch\n", "/home/me/net.py": "# coding: latin-1\nü = 1\n"},
        (
            Binding(1, HERE, "loss", "assigned", 7, 3, (), "float32", True, False, False, "SumBackward0", 0, 0, 1, 20),
            Binding(2, INSIDE, "self.w", "written", 8, None, (2, 2), "float64", True, True, True, None, None, 3, None),
        ),
        (
            OutputChunk("stdout", 0.5, b"step 1\n"),
            OutputChunk("stderr", 1.5, b"\xff\x00bytes", omitted_before=1_000_000),
        ),
    )
    events = (
        Event("grad_cleared", 2, ("layers.0.weight",), HERE, "to None"),
        Event("optimizer_step", None, ("a", "b"), None, "SGD", ((1.0, 0.5), (None, math.inf))),
    )
    warnings = (ScriptWarning("UserWarning", "lone \\udc80 surrogate", HERE, 1), ScriptWarning("W", "m", None, None))
    outcome = Outcome("raised", 1, None, "ValueError", "too \ud800 far", FILE, 9, "Traceback ...")
    return Recording(HEADER, outcome, calls, events, warnings, source)


def write(recording: Recording, path: Path, same: bool = True) -> None:
    """Write a recording through `Writer`; `same` stores a gradient that equals a neighbour's as a reference."""
    writer = Writer(str(path), recording.header)
    for entry in recording.calls:
        _write_call(writer, recording, entry, same)
    writer.add_events(recording.events)
    writer.add_warnings(recording.warnings)
    writer.add_bindings(recording.source.bindings())
    for file, text in recording.source.sources().items():
        writer.add_source(file, text)
    writer.add_output(recording.source.output())
    writer.set_outcome(recording.outcome)
    assert writer.flush(), writer.stopped
    writer.close()


def pack(writer: Writer, value: Gradient) -> bytes:
    """Pack a value as the recorder does: bytes of a plain tensor, the general form otherwise."""
    if value is None:
        return UNDEFINED
    if value == TensorValue(value.shape, value.dtype, value.device, value.data) and value.data is not None:
        return writer.pack(value.dtype, value.device, value.shape, value.data)
    return pack_value(value)


def start_of(writer: Writer, entry: Call, drawn: Graph) -> CallStart:
    """The first transaction of a call."""
    packed = [(pack(writer, root.seed), pack(writer, root.value)) for root in entry.roots]
    seeds, values = [seed for seed, _ in packed], [value for _, value in packed]
    if not drawn.nodes:
        return CallStart(entry, seeds, values)
    index = {node.id: at for at, node in enumerate(drawn.nodes)}
    edges = [(index[edge.source], edge.slot, index[edge.target], edge.output_nr) for edge in drawn.edges]
    rows = [node_row(writer, node) for node in drawn.nodes]
    digest = repr((rows, edges)).encode()
    template = writer.find_graph(digest)
    if template is None:
        template = writer.add_graph(digest, columns_of(rows), columns_of(edges))
    forward = [(node.id, -1, pack(writer, node.value)) for node in drawn.nodes if node.value is not None]
    saved = [
        (node.id, slot, pack(writer, kept.value))
        for node in drawn.nodes
        for slot, kept in enumerate(node.saved)
        if kept.value is not None
    ]
    return CallStart(
        *(entry, seeds, values, template, list(index), [node.iteration or 0 for node in drawn.nodes]),
        [-1 if node.sequence is None else node.sequence for node in drawn.nodes],
        forward + saved,
    )


def node_row(writer: Writer, node: Node) -> NodeRow:
    def text(value: str | None) -> int | None:
        return None if value is None else writer.intern(value)

    outputs = json.dumps([[o.shape, o.dtype, o.device, o.retains_grad] for o in node.outputs])
    saved = json.dumps([[kept.name, kept.shape, kept.text] for kept in node.saved])
    place = node.place
    return NodeRow(
        *(writer.intern(node.op), KINDS.index(node.kind), text(node.name)),
        *((None, None, None) if place is None else (text(place.file), place.line, text(place.function))),
        *(int(node.key.rpartition("#")[2]) if "#" in node.key else 0, writer.intern(stack_json(node.stack))),
        *(
            text(node.module),
            text(node.module_class),
            writer.intern(outputs),
            writer.intern(saved) if node.saved else None,
            node.order,
        ),
    )


def executions(writer: Writer, ran: Iterable[Execution], same: bool) -> list[bytes]:
    """The entries of executions; a value that left an earlier one is referred to."""
    known: dict[TensorValue, tuple[int, int]] = {}
    rows = []
    for entry in ran:

        def packed(value: Gradient) -> bytes:
            if same and value is not None and value in known:
                return pack_same(*known[value])
            return pack(writer, value)

        outputs = [packed(value) for value in entry.grad_outputs]
        arrived = None if entry.arrived is None else [packed(value) for value in entry.arrived]
        inputs = [pack(writer, value) for value in entry.grad_inputs]
        data = pack_execution(outputs, inputs, arrived, entry.finished)
        rows.append(execution(entry.order, entry.node, data))
        for slot, value in enumerate(entry.grad_inputs):
            if value is not None:
                known.setdefault(value, (entry.order, slot))
    return rows


def _write_call(writer: Writer, recording: Recording, entry: Call, same: bool) -> None:
    moved = recording.detail(entry.number)
    writer.begin_call(start_of(writer, entry, recording.graph(entry.number)))
    writer.add_executions(entry.number, executions(writer, moved.executions, same))
    if not entry.complete:
        return
    rows = [
        AccumulationRow(
            *(retained, found.name, found.node, found.output_nr, found.order, pack(writer, found.before)),
            *(pack(writer, found.incoming), pack(writer, found.after), pack(writer, found.left)),
        )
        for retained, entries in ((False, moved.accumulations), (True, moved.retained))
        for found in entries
    ]
    returned = None if moved.returned is None else pack_values([pack(writer, value) for value in moved.returned])
    writer.end_call(CallEnd(entry.number, rows, returned, entry.error, entry.failed_node, entry.seconds, entry.note))


def run_python(script: str, *words: str, cwd: Path | None = None) -> None:
    """Run a script that may import these tests, as a process of its own."""
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-c", script, *words], cwd=cwd, env=environment, check=True, timeout=60)
