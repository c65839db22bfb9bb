"""Every formula against the autograd node itself, in float64 on random inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from gradviz.rules import formulas, rules_at
from gradviz.rules.at_node import backward_of
from gradviz.rules.values import array_of, value_of
from tests.rules.samples import DEFINED, ELSEWHERE, SAMPLES, TOLERANCES
from tests.rules.torch_nodes import execution_of, graph_of, op_of, random_grads, run
from tests.rules.torch_nodes import value_of as torch_value


def node_of(label: str) -> tuple[Any, tuple[int, ...]]:
    """The autograd node of a sample, and which of its outputs get a gradient."""
    torch.manual_seed(sum(map(ord, label)))
    made = SAMPLES[label]()
    outputs = made if isinstance(made, tuple | list) else (made,)
    differentiable = [out for out in outputs if isinstance(out, torch.Tensor) and out.grad_fn is not None]
    grad_fn = differentiable[0].grad_fn
    assert all(out.grad_fn is grad_fn for out in differentiable)
    return grad_fn, DEFINED.get(label, tuple(out.output_nr for out in differentiable))


@pytest.mark.parametrize("label", SAMPLES)
def test_formula_gives_what_torch_gives(label: str) -> None:
    grad_fn, defined = node_of(label)
    graph = graph_of(grad_fn)
    assert graph.nodes[0].op in formulas(), f"no formula for {graph.nodes[0].op}"
    grads = random_grads(grad_fn, defined)
    left = run(grad_fn, grads)
    arrived = tuple(array_of(torch_value(grad)) for grad in grads)
    checked = 0
    for edge in graph.edges:
        expected = left[edge.slot]
        got = backward_of(graph, graph.nodes[0], edge, arrived)
        assert got is not None, f"slot {edge.slot} of {graph.nodes[0].op} was not computed"
        want = array_of(torch_value(expected)) if expected is not None else np.zeros(got.shape)
        assert want is not None and want.shape == got.shape
        np.testing.assert_allclose(got, want, rtol=TOLERANCES.get(label, 1e-9), atol=1e-11)
        checked += 1
    assert checked


def test_every_formula_has_a_sample() -> None:
    covered = {op_of(node_of(label)[0]) for label in SAMPLES}
    assert formulas().keys() - covered - ELSEWHERE == set()
    assert len(formulas()) >= 100


def test_every_slot_of_every_formula_is_evaluated() -> None:
    """The last test covers an op; this one covers each of its expressions."""
    seen: set[tuple[str, str]] = set()
    for label in SAMPLES:
        grad_fn, _ = node_of(label)
        formula = formulas()[op_of(grad_fn)]
        slots = [slot for slot, (target, _) in enumerate(grad_fn.next_functions) if target is not None]
        seen |= {(formula.op, name) for slot in slots if (name := formula.input(slot))}
    every = {(op, name) for op, formula in formulas().items() for name in formula.gradients if op not in ELSEWHERE}
    assert every - seen == set()


@pytest.mark.parametrize("label", SAMPLES)
def test_notation_names_what_arrived_and_what_leaves(label: str) -> None:
    grad_fn, defined = node_of(label)
    graph = graph_of(grad_fn, ("a", "b", "c"), "out")
    grads = random_grads(grad_fn, defined)
    for rule in rules_at(graph, graph.nodes[0], execution_of(grads, run(grad_fn, grads))):
        left, right = rule.notation.split(" = ", 1)
        name = graph.by_id[rule.target].name
        assert left == (f"∂L/∂{name}" if name else left)
        whole = " ".join((right, *rule.where))
        assert "∂L/∂" in whole or right == "0", rule.notation
        assert "None" not in whole and "grad" not in whole, whole
        assert whole.count("(") == whole.count(")")


def test_values_survive_the_way_into_the_model_and_back() -> None:
    for array in (np.array([[1.5, -2.0]]), np.array(3 + 4j), np.array([True, False]), np.array([7, -8])):
        back = array_of(value_of(array))
        assert back is not None and back.shape == array.shape and np.array_equal(back, array)
