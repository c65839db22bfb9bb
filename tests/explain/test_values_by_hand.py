"""Findings read from values, from recordings in memory: no torch, each number worked out by hand."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import pytest

from gradviz.explain import findings
from gradviz.model import (
    Call,
    CallDetail,
    Edge,
    Graph,
    Outcome,
    Place,
    Recording,
    Saved,
)
from tests.explain.hand import codes, deep, failing, only
from tests.recordings import SCRIPT, MemorySource, accumulation, call, execution, leaf, node, recording, root, tensor


def one_op(
    op: str, came: Any, went: Any, *, value: Any = None, saved: tuple[Saved, ...] = (), line: int = 2
) -> Recording:
    """x -> op -> sum; what arrives at the op and what leaves it."""
    x = leaf(1, "x", None if value is None else tensor(value), line=1, shape=(2,))
    y = node(0, op, "y", shape=(2,), line=line, saved=saved)
    graph = Graph((y, x), (Edge(0, 0, 1, 0),))
    detail = CallDetail(
        (execution(0, 0, [came], [went]), execution(1, 1, [went])), (accumulation("x", 1, None, went, went, 1),)
    )
    return recording([(call(1, [root(y, came, True)], 2, line=3), graph, detail)], "x = ...\ny = f(x)\ny.backward(g)\n")


NAN, INF = float("nan"), float("inf")


def test_the_first_infinity_with_the_remedy_of_its_operation() -> None:
    saved = (Saved("result", (2,), tensor([0.0, 2.0])),)
    finding = only(
        findings(one_op("SqrtBackward0", tensor([1.0, 0.5]), tensor([INF, 0.125]), saved=saved)), "nonfinite"
    )
    assert (finding.level, finding.node) == ("error", 0)
    assert "[1, 0.5] arrived and [inf, 0.125] left" in finding.message
    assert "1 / (2 sqrt(x)), is infinite at 0" in finding.message and "clamp" in finding.advice


def test_a_nan_that_was_in_the_leaf_already() -> None:
    finding = only(
        findings(one_op("MulBackward0", tensor([1.0, 2.0]), tensor([NAN, 2.0]), value=[NAN, 1.0])), "nonfinite"
    )
    assert "It was there before the backward: the forward value of `x` (line 1) is [nan, 1]" in finding.message


def test_finite_numbers_however_large_are_fine() -> None:
    assert "nonfinite" not in codes(findings(one_op("SqrtBackward0", tensor([1.0, 2.0]), tensor([1e30, 1e-30]))))


@pytest.mark.parametrize(
    ("op", "words"),
    [
        ("ReluBackward0", "all its inputs are negative"),
        ("RoundBackward0", "constant between its steps"),
        ("ClampBackward1", "lie outside its limits"),
    ],
)
def test_zeros_by_construction(op: str, words: str) -> None:
    finding = only(findings(one_op(op, tensor([1.0, 2.0]), tensor([0.0, 0.0]))), "zero-gradient")
    assert (finding.level, finding.node) == ("warning", 0)
    assert words in finding.message


def test_a_zero_that_arrived_is_not_the_operations() -> None:
    assert findings(one_op("ReluBackward0", tensor([0.0, 0.0]), tensor([0.0, 0.0]))) == ()


def test_a_zero_at_a_minimum_is_fine() -> None:
    assert findings(one_op("PowBackward0", tensor([1.0, 2.0]), tensor([0.0, 0.0]))) == ()


def test_a_gradient_that_fades() -> None:
    finding = only(findings(deep(0.25)), "vanishing")
    assert finding.place is not None and finding.place.line == 4
    assert "from 1 at" in finding.message and "to 2.384e-07" in finding.message  # 0.25 ** 11
    assert "times 0.25" in finding.message


def test_a_gradient_that_grows() -> None:
    finding = only(findings(deep(4.0)), "exploding")
    assert "to 4.194e+06" in finding.message and "times 4" in finding.message  # 4 ** 11


@pytest.mark.parametrize("factor", [0.6, 1.0, 1.5])
def test_moderate_changes_with_depth_are_fine(factor: float) -> None:
    assert findings(deep(factor)) == ()


def test_one_small_factor_is_no_fading() -> None:
    """A loss multiplied by 1e-6 is small at once, not with depth."""
    found = deep(0.9)
    detail = found.detail(1)
    runs = tuple(
        dataclasses.replace(run, grad_outputs=(tensor(1e-6 * 0.9**run.order, "float64"),)) if run.order else run
        for run in detail.executions
    )
    source = found.source
    assert isinstance(source, MemorySource)
    source.details[1] = dataclasses.replace(detail, executions=runs)
    assert findings(found) == ()


def test_a_few_large_matrices_are_no_depth() -> None:
    """Twelve different operations, three of which multiply by a hundred: a million, but not with depth."""
    found = deep(1.0)
    source = found.source
    assert isinstance(source, MemorySource)
    nodes = tuple(dataclasses.replace(n, op=f"Op{n.id}Backward0") for n in source.graphs[1].nodes)
    source.graphs[1] = dataclasses.replace(source.graphs[1], nodes=nodes)
    runs = tuple(
        dataclasses.replace(run, grad_outputs=(tensor(100.0 ** min(run.order, 3), "float64"),))
        for run in found.detail(1).executions
    )
    source.details[1] = dataclasses.replace(source.details[1], executions=runs)
    assert findings(found) == ()


def test_a_hook_that_changed_a_gradient() -> None:
    base = one_op("MulBackward0", tensor([1.0, -1.0]), tensor([3.0, -3.0]))
    source = base.source
    assert isinstance(source, MemorySource)
    first = dataclasses.replace(source.details[1].executions[0], arrived=(tensor([6.0, -12.0]),))
    source.details[1] = dataclasses.replace(source.details[1], executions=(first, source.details[1].executions[1]))
    source.texts[SCRIPT] = "x = ...\ny = f(x)\ny.register_hook(clip)\ny.backward(g)\n"
    finding = only(findings(base), "hook-changed")
    assert "[6, -12] arrived, [1, -1] went on" in finding.message
    assert finding.place is not None and finding.place.line == 3


def growing(shared: bool) -> Recording:
    """Three calls of one line through 2, 3 and 4 nodes, with or without the older nodes in them."""
    w = leaf(0, "w", tensor(1.0), line=1)
    parts: list[tuple[Call, Graph, CallDetail]] = []
    ids = iter(range(1, 99))
    kept: list[Any] = []
    for number in range(1, 4):
        fresh = node(next(ids), "AddBackward0", "total", value=tensor(1.0), line=3)
        older = kept if shared else [node(next(ids), "MulBackward0", line=9) for _ in range(number - 1)]
        nodes = (fresh, *older, w)
        edges = tuple(Edge(a.id, 0, b.id, 0) for a, b in itertools.pairwise(nodes))
        parts.append((call(number, [root(fresh, tensor(1.0))], len(nodes), line=4), Graph(nodes, edges), CallDetail()))
        kept = [fresh, *kept]
    return recording(parts, "w = ...\nfor step in range(3):\n    total = total + w\n    total.backward()\n")


def test_a_graph_that_drags_its_past_along() -> None:
    finding = only(findings(growing(shared=True)), "graph-grows")
    assert "2, 3 and 4 nodes" in finding.message and "`total`" in finding.message
    assert finding.place is not None and finding.place.line == 3
    assert "`total = total.detach()`" in finding.advice


def test_longer_graphs_of_new_nodes_are_fine() -> None:
    assert findings(growing(shared=False)) == ()


def test_an_old_script_that_does_not_parse() -> None:
    text = "import torch\nprint x.grad\n"
    outcome = Outcome("raised", 1, None, "SyntaxError", "Missing parentheses in call to 'print'.", SCRIPT, 2)
    old = dataclasses.replace(recording([], text), outcome=outcome)
    finding = only(findings(old), "legacy-api")
    assert finding.level == "error" and finding.place == Place(SCRIPT, 2)
    assert "`print(x.grad)`" in finding.advice


def test_a_wrong_gradient_shape_of_a_custom_function() -> None:
    x = leaf(1, "x", tensor([1.0, 2.0]), line=9)
    y = node(0, "RowsBackward", "y", value=tensor([1.0, 2.0]), line=10, kind="custom")
    graph = Graph((y, x), (Edge(0, 0, 1, 0),))
    message = (
        "Function RowsBackward returned an invalid gradient at index 0 - got [7] but expected shape compatible with [2]"
    )
    text = "class Rows(Function):\n    def forward(ctx, x):\n        pass\n    def backward(ctx, g):\n        pass\n"
    finding = only(findings(failing(message, graph, root(y, tensor([1.0, 1.0]), True), text, 11)), "opaque")
    assert finding.level == "error" and finding.place == Place(SCRIPT, 4, "Rows.backward")
    assert "shape [7] for input 0, whose shape is [2]" in finding.message
