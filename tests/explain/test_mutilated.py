"""Whatever is missing from a recording, or does not fit together in it, findings never raise."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gradviz.explain import findings
from gradviz.model import Call, CallDetail, Edge, Event, Graph, Recording
from tests import recordings as made
from tests.explain import hand
from tests.recordings import MemorySource

BASES = (
    made.two_calls,
    made.fan_in,
    made.leaf_root,
    made.no_seed,
    made.returned,
    hand.rebound,
    lambda: hand.carried(4),
    lambda: hand.carried(5, step=True),
    lambda: hand.deep(0.25),
    lambda: hand.vector_call([1.0, 1.0]),
)
MESSAGES = (
    "grad can be implicitly created only for scalar outputs",
    "grad can be implicitly created only for real scalar outputs but got torch.complex64",
    "Mismatch in shape: grad_output[3] has a shape of torch.Size([2]) and output[3] has a shape of torch.Size([]).",
    "got 2 tensors and 1 gradients",
    "element 7 of tensors does not require grad and does not have a grad_fn",
    "The differentiated Tensor at index 9 appears to not have been used in the graph.",
    "One of the differentiated Tensors does not require grad",
    "has been modified by an inplace operation: [torch.FloatTensor []], which is output 0 of Exp, is at version 1; "
    "expected version 0 instead.",
    "has been modified by an inplace operation",
    "Trying to backward through the graph a second time",
    "Function XBackward returned an invalid gradient at index 0 - got [7] but expected shape compatible with [2]",
    "'float' object is not iterable",
)
TEXTS = ("", "print x", "x = (\n", "x.backward(x)\n" * 20, "for p in q:\n    p.grad.zero_()\n" * 9, "\x00")


@settings(max_examples=400, deadline=None)
@given(st.integers(0, len(BASES) - 1), st.integers(0, 2**32))
def test_findings_of_a_mutilated_recording(base: int, seed: int) -> None:
    found = findings(mutilate(BASES[base](), random.Random(seed)))
    assert all(finding.message and finding.advice for finding in found)
    assert not any("{" in finding.message for finding in found if "{" not in "".join(TEXTS))


def mutilate(whole: Recording, chance: random.Random) -> Recording:
    source = whole.source
    assert isinstance(source, MemorySource)
    source.graphs = {number: graph_of(graph, chance) for number, graph in source.graphs.items()}
    source.details = {number: detail_of(detail, chance) for number, detail in source.details.items()}
    if chance.random() < 0.5:
        source.texts = {file: chance.choice(TEXTS) for file in source.texts}
    source.bound = tuple(b for b in source.bound if chance.random() < 0.7)
    calls = tuple(call_of(call, chance) for call in whole.calls)
    events = tuple(e for e in whole.events if chance.random() < 0.7)
    extra = Event("grad_assigned", None, (), None, None, ((None, 1.0),)) if chance.random() < 0.3 else None
    return dataclasses.replace(whole, calls=calls, events=events + ((extra,) if extra else ()))


def graph_of(graph: Graph, chance: random.Random) -> Graph:
    nodes = tuple(
        dataclasses.replace(node, place=None) if chance.random() < 0.2 else node
        for node in graph.nodes
        if chance.random() < 0.85
    )
    edges = [edge for edge in graph.edges if chance.random() < 0.85]
    if chance.random() < 0.3:
        edges.append(Edge(chance.randrange(-1, 9), chance.randrange(5), chance.randrange(-1, 9), 3))
    return Graph(nodes, tuple(edges))


def detail_of(detail: CallDetail, chance: random.Random) -> CallDetail:
    executions = tuple(
        dataclasses.replace(run, grad_inputs=run.grad_inputs[: chance.randrange(3)]) if chance.random() < 0.3 else run
        for run in detail.executions
        if chance.random() < 0.85
    )
    returned: Any = (None,) if chance.random() < 0.2 else detail.returned
    return dataclasses.replace(detail, executions=executions, returned=returned)


def call_of(call: Call, chance: random.Random) -> Call:
    changes: dict[str, Any] = {}
    if chance.random() < 0.5:
        error = None if chance.random() < 0.2 else hand.CallError("RuntimeError", chance.choice(MESSAGES))
        changes["error"] = error
    if chance.random() < 0.2:
        changes["roots"] = ()
    if chance.random() < 0.2:
        changes["place"] = None
    if chance.random() < 0.3:
        changes["failed_node"] = chance.randrange(9)
    if chance.random() < 0.2:
        changes["api"] = "torch.autograd.grad"
    if chance.random() < 0.2:
        changes["create_graph"] = True
    return dataclasses.replace(call, **changes)
