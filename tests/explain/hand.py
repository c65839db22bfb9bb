"""Recordings in memory for the tests of findings, beside those of tests/recordings.py."""

from __future__ import annotations

import dataclasses
from typing import Any

from gradviz.model import (
    Binding,
    CallDetail,
    CallError,
    Edge,
    Event,
    Execution,
    Finding,
    Graph,
    Place,
    Recording,
    Root,
)
from tests.recordings import SCRIPT, MemorySource, accumulation, call, execution, leaf, node, recording, root, tensor


def only(found: tuple[Finding, ...], code: str) -> Finding:
    """The only finding of a code."""
    (finding,) = [finding for finding in found if finding.code == code]
    return finding


def codes(found: tuple[Finding, ...]) -> list[str]:
    return [finding.code for finding in found]


def binding(order: int, line: int, name: str, tensor_id: int, **more: Any) -> Binding:
    fields: dict[str, Any] = {
        "cause": "assigned",
        "storage": tensor_id,
        "shape": (2,),
        "dtype": "float32",
        "requires_grad": True,
        "is_leaf": True,
        "retains_grad": False,
        "op": None,
        "node": None,
        "version": 0,
        "before_call": 1,
    }
    return Binding(order=order, place=Place(SCRIPT, line), name=name, tensor=tensor_id, **(fields | more))


def with_bindings(made_recording: Recording, *bound: Binding) -> Recording:
    source = made_recording.source
    assert isinstance(source, MemorySource)
    source.bound = bound
    return made_recording


def failing(message: str, graph: Graph, top: Root, text: str, line: int, **more: Any) -> Recording:
    """One call that raised `message`."""
    head = call(1, [top], len(graph.nodes), line=line, error=CallError("RuntimeError", message), **more)
    return recording(
        [(head, graph, CallDetail())], text, kind="raised", exit_code=1, message=message, file=SCRIPT, line=line
    )


def vector_call(seed: list[float], **more: Any) -> Recording:
    """y = 2 x of two numbers, `y.backward(seed)`."""
    x = leaf(1, "x", tensor([1.0, 2.0]), line=1)
    y = node(0, "MulBackward0", "y", value=tensor([2.0, 4.0]), line=2)
    graph = Graph((y, x), (Edge(0, 0, 1, 0),))
    given = tensor(seed)
    left = tensor([2 * number for number in seed])
    detail = CallDetail(
        (execution(0, 0, [given], [left]), execution(1, 1, [left])), (accumulation("x", 1, None, left, left, 1),)
    )
    head = call(1, [root(y, given, True)], 2, line=3, **more)
    return recording([(head, graph, detail)], "x = ...\ny = 2 * x\ny.backward(v)\n")


SECOND = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
    "been freed)."
)


def carried(second_line: int, retain: bool = False, step: bool = False, create: bool = False) -> Recording:
    """Two calls whose graphs share `state`: the second raises as torch does when the first did not retain."""
    one = tensor(1.0)
    w = leaf(1, "w", one, line=1)
    state = node(0, "TanhBackward0", "state", value=one, line=3)
    newer = node(2, "TanhBackward0", "state", value=one, line=3)
    first = Graph((state, w), (Edge(0, 0, 1, 0),))
    second = Graph((newer, state, w), (Edge(2, 0, 0, 0), Edge(0, 0, 1, 0)))
    done = CallDetail((execution(0, 0, [one], [one]), execution(1, 1, [one])))
    error = None if retain else CallError("RuntimeError", SECOND)
    text = "w = ...\nfor step in range(2):\n    state = (state * w).tanh()\n    state.backward()\nstate.backward()\n"
    calls = [
        (call(1, [root(state, one)], 2, line=4, retain_graph=retain, create_graph=create), first, done),
        (call(2, [root(newer, one)], 3, line=second_line, error=error, failed_node=None if retain else 0), second,
         CallDetail()),
    ]  # fmt: skip
    events = [Event("optimizer_step", 2, ("w",), Place(SCRIPT, 5))] if step else []
    return recording(calls, text, events)


def rebound() -> Recording:
    """w (line 1) is bound to its view in line 2; the leaf got [1, 1], `w.grad` of line 4 is None."""
    w = leaf(1, None, tensor([1.0, 2.0]), line=1)  # type: ignore[arg-type]
    view = node(0, "ViewBackward0", "w", value=tensor([1.0, 2.0]), line=2)
    graph = Graph((view, w), (Edge(0, 0, 1, 0),))
    ones = tensor([1.0, 1.0])
    arrived = accumulation("", 1, None, ones, ones, 1)
    detail = CallDetail((execution(0, 0, [ones], [ones]), execution(1, 1, [ones])),
                        (dataclasses.replace(arrived, name=None),))  # fmt: skip
    text = "w = torch.ones(2, requires_grad=True)\nw = w.view(2)\nw.sum().backward()\nprint(w.grad)\n"
    base = recording([(call(1, [root(view, ones)], 2, line=3), graph, detail)], text)
    return with_bindings(
        base, binding(0, 1, "w", 1, node=1), binding(1, 2, "w", 2, is_leaf=False, op="ViewBackward0", node=0)
    )


def deep(factor: float, count: int = 12) -> Recording:
    """`count` operations of one line, each multiplying the gradient by `factor`."""
    nodes = [node(k, "SigmoidBackward0", line=4, key=f"s{k}") for k in range(count)]
    nodes.append(leaf(count, "x", tensor(0.5), line=1))
    edges = tuple(Edge(k, 0, k + 1, 0) for k in range(count))
    runs: list[Execution] = []
    for k in range(count + 1):
        here, after = tensor(factor**k, "float64"), tensor(factor ** (k + 1), "float64")
        runs.append(execution(k, k, [here], [after] if k < count else []))
    head = call(1, [root(nodes[0], tensor(1.0))], count + 1, line=5)
    return recording([(head, Graph(tuple(nodes), edges), CallDetail(tuple(runs)))], "\n" * 5)
