"""How rules read, with texts and numbers worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradviz.model import Edge, Graph, Saved, TensorValue
from gradviz.rules import rules_at
from gradviz.rules.at_node import backward_of
from gradviz.rules.evaluate import UnknownValueError, evaluate
from gradviz.rules.formulas import functions_in
from gradviz.rules.notation import ATOM, notation
from gradviz.rules.simplify import Facts, simplify
from gradviz.rules.tree import ZERO, Constant, FormulaError, parse
from tests import recordings
from tests.recordings import execution, leaf, node, tensor


def written(text: str, facts: Facts | None = None, **labels: str) -> str:
    return notation(simplify(parse(text), facts or Facts()), {name: (label, ATOM) for name, label in labels.items()})


def test_the_rule_of_the_two_call_example() -> None:
    recording = recordings.two_calls()
    graph = recording.graph(2)
    run = next(e for e in recording.detail(2).executions if e.node == 0)
    (rule,) = rules_at(graph, graph.by_id[0], run)
    assert rule.notation == "∂L/∂t1 = ∂L/∂t2 · other"
    assert rule.numbers == "5 · 4 = 20"
    assert (rule.slot, rule.target, rule.where) == (0, 1, ())


def test_without_an_execution_there_is_the_rule_and_no_numbers() -> None:
    graph = recordings.two_calls().graph(1)
    (rule,) = rules_at(graph, graph.by_id[0])
    assert (rule.notation, rule.numbers) == ("∂L/∂t1 = ∂L/∂t2 · other", None)


def test_a_product_with_itself_has_two_rules() -> None:
    recording = recordings.returned()
    graph = recording.graph(1)
    rules = rules_at(graph, graph.by_id[0], recording.detail(1).executions[0])
    assert [rule.notation for rule in rules] == ["∂L/∂x = ∂L/∂y · x"] * 2
    assert [rule.numbers for rule in rules] == ["1 · 3 = 3"] * 2


def test_a_name_that_was_bound_again_is_not_told_for_what_it_was_before() -> None:
    """`y = y * other`: the input is another tensor than the output of the same name."""
    saved = (Saved("other", (), tensor(3.0)),)
    before = node(1, "TanhBackward0", "y")
    graph = Graph((node(0, "MulBackward0", "y", saved=saved), before), (Edge(0, 0, 1, 0),))
    (rule,) = rules_at(graph, graph.by_id[0])
    assert rule.notation == "∂L/∂self = ∂L/∂y · other"


def test_definitions_are_put_in_too() -> None:
    """The mean of squares of [1, 3] - [0, 1]: 2 (x - t) / 2 = [1, 2], times the 1 that arrives."""
    saved = (Saved("self", (2,), tensor([1.0, 3.0])), Saved("target", (2,), tensor([0.0, 1.0])))
    saved = (*saved, Saved("reduction", None, None, "1"))
    graph = Graph(
        (node(0, "MseLossBackward0", "loss", saved=saved), leaf(1, "x", tensor([1.0, 3.0]))), (Edge(0, 0, 1, 0),)
    )
    run = execution(0, 0, [tensor(1.0)], [tensor([1.0, 2.0]), None])
    (rule,) = rules_at(graph, graph.by_id[0], run)
    assert rule.where == ("g = ∂L/∂loss / 2",)
    assert rule.numbers == "0.5 · 2 · ([1, 3] − [0, 1]) = [1, 2]"


def matmul() -> Graph:
    """Z = A @ B with A = [[1, 2]] and B = [[10, 20, 30], [100, 200, 300]]."""
    a = leaf(1, "A", tensor([[1.0, 2.0]]))
    b = leaf(2, "B", tensor([[10.0, 20.0, 30.0], [100.0, 200.0, 300.0]]))
    z = node(0, "MmBackward0", "Z", shape=(1, 3))
    return Graph((z, a, b), (Edge(0, 0, 1, 0), Edge(0, 1, 2, 0)))


def test_a_matrix_product_uses_the_neighbours_names_and_values() -> None:
    graph = matmul()
    run = execution(
        0, 0, [tensor([[1.0, 0.0, 0.0]])], [tensor([[10.0, 100.0]]), tensor([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])]
    )
    left, right = rules_at(graph, graph.nodes[0], run)
    assert left.notation == "∂L/∂A = ∂L/∂Z @ Bᵀ"
    assert left.numbers == "[[1, 0, 0]] @ [[10, 20, 30], [100, 200, 300]]ᵀ = [[10, 100]]"
    assert right.notation == "∂L/∂B = Aᵀ @ ∂L/∂Z"
    assert right.numbers == "[[1, 2]]ᵀ @ [[1, 0, 0]] = [[1, 0, 0], [2, 0, 0]]"


def test_numbers_that_a_hook_changed_are_not_claimed_to_follow_from_the_rule() -> None:
    graph = matmul()
    changed = execution(0, 0, [tensor([[1.0, 0.0, 0.0]])], [tensor([[7.0, 7.0]]), None])
    assert [rule.numbers for rule in rules_at(graph, graph.nodes[0], changed)] == [None, None]


def test_an_undefined_gradient_drops_out() -> None:
    saved = (
        Saved("eigenvalues", (2,), tensor([1.0, 3.0])),
        Saved("eigenvectors", (2, 2), tensor([[1.0, 0.0], [0.0, 1.0]])),
    )
    eigh = node(0, "LinalgEighBackward0", "w", shape=(2,), saved=saved, outputs=2)
    graph = Graph((eigh, leaf(1, "A", shape=(2, 2))), (Edge(0, 0, 1, 0),))
    values_only = execution(0, 0, [tensor([1.0, 2.0]), None], [tensor([[1.0, 0.0], [0.0, 2.0]])])
    (rule,) = rules_at(graph, eigh, values_only)
    assert rule.where == ("X = eigenvectors @ diag(∂L/∂w) @ eigenvectorsᵀ",)
    (whole,) = rules_at(graph, eigh)
    assert whole.where[0] == "G = gaps(eigenvalues)"
    assert "∂L/∂eigenvectors" in whole.where[1]


def test_a_saved_tensor_that_could_not_be_read_keeps_its_name() -> None:
    y = node(0, "MulBackward0", "y", saved=(Saved("other", None, None, "behind a hook"),))
    (rule,) = rules_at(Graph((y, leaf(1, "x")), (Edge(0, 0, 1, 0),)), y)
    assert rule.notation == "∂L/∂x = ∂L/∂y · other"


def test_an_op_without_a_formula_has_no_rules() -> None:
    graph = Graph((node(0, "MyFunctionBackward"), leaf(1, "x")), (Edge(0, 0, 1, 0),))
    assert rules_at(graph, graph.nodes[0]) == ()


def test_a_value_that_was_not_recorded_is_not_computed() -> None:
    graph = Graph((node(0, "MulBackward0", "y"), leaf(1, "x")), (Edge(0, 0, 1, 0),))
    assert backward_of(graph, graph.nodes[0], graph.edges[0], (np.asarray(1.0),)) is None
    large = Saved("other", (9000,), TensorValue((9000,), "float32", data=bytes(36000)))
    y = node(0, "MulBackward0", "y", shape=(9000,), saved=(large,))
    graph = Graph((y, leaf(1, "x", shape=(9000,))), (Edge(0, 0, 1, 0),))
    assert backward_of(graph, y, graph.edges[0], (np.ones(9000),)) is None


@pytest.mark.parametrize(
    ("text", "facts", "expected"),
    [
        ("grad * (exponent * x ** (exponent - 1))", Facts({"exponent": 3}), "g · 3 · x²"),
        ("grad * (exponent * x ** (exponent - 1))", Facts({"exponent": 2}), "g · 2 · x"),
        ("alpha * grad", Facts({"alpha": 1}), "g"),
        ("-(alpha * grad)", Facts({"alpha": 2}), "−2 · g"),
        ("grad * -x", Facts(), "g · (−x)"),
        ("grad - -x", Facts(), "g + x"),
        ("grad * x + g1 * y", Facts(undefined=frozenset(("g1",))), "g · x"),
        ("grad @ T(x) + y", Facts(undefined=frozenset(("grad",))), "y"),
        ("conj(x) * grad", Facts(), "x · g"),
        ("conj(x) * grad", Facts(complex=True), "conj(x) · g"),
        ("sum_to(grad * x, shape)", Facts({"shape": (2,)}, shapes={"grad": (2,)}), "g · x"),
        ("sum_to(grad * x, shape)", Facts({"shape": (1, 3)}, shapes={"grad": (2, 3)}), "Σ₀(g · x)"),
        ("sum_to(grad, shape)", Facts({"shape": ()}, shapes={"grad": (2, 3)}), "Σ₀,₁(g)"),
        ("(grad + x) * (x - (y - grad))", Facts(), "(g + x) · (x − (y − g))"),
        ("grad / (x * y)", Facts(), "g / (x · y)"),
        ("x ** 0.5 * y ** x", Facts(), "x⁰·⁵ · y^x"),
        ("(x @ y) * grad", Facts(), "(x @ y) · g"),
        ("T(x + y)", Facts(), "(x + y)ᵀ"),
        ("[x > 0] * grad", Facts(), "[x > 0] · g"),
        ("[-3 < x < 3]", Facts(), "[-3 < x < 3]"),
        ("between(x, low, 1)", Facts({"low": None}), "[x ≤ 1]"),
        ("grad * x if mode == 'a' else y", Facts({"mode": "b"}), "y"),
        ("x if w is None else y", Facts({"w": None}), "x"),
        ("x if w is None else y", Facts(), "y"),
        ("grad / numel(shape)", Facts({"shape": (2, 3)}), "g / 6"),
        ("total(grad, dim)", Facts({"dim": 1}), "Σ₁(g)"),
    ],
)
def test_what_a_node_saved_decides_how_its_formula_reads(text: str, facts: Facts, expected: str) -> None:
    assert written(text, facts, grad="g") == expected


@pytest.mark.parametrize("text", ["x.y", "f(a=1)", "lambda: 1", "x[0]", "a and b", "import os", "1 +", "'a' 2", "~x"])
def test_only_the_little_language_is_read(text: str) -> None:
    with pytest.raises(FormulaError):
        parse(text)


def test_functions_of_an_expression() -> None:
    assert functions_in(parse("-T(exp(x)) if y == 1 else [abs(z) > 2] @ w")) == {"T", "exp", "abs"}


def test_a_name_without_a_value_is_named() -> None:
    with pytest.raises(UnknownValueError, match="other"):
        evaluate(parse("grad * other"), {"grad": np.asarray(1.0)})


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("x ** 2 + 2 * x", {"x": np.asarray(3.0)}, 15.0),
        ("[x > 1] * x", {"x": np.asarray([1.0, 2.0])}, [0.0, 2.0]),
        ("-x @ y", {"x": np.asarray([1.0, 2.0]), "y": np.asarray([3.0, 4.0])}, -11.0),
    ],
)
def test_expressions_compute(text: str, values: dict[str, Any], expected: Any) -> None:
    assert np.array_equal(evaluate(parse(text), values), expected)


def test_zero_is_a_constant() -> None:
    assert simplify(parse("grad * x"), Facts(undefined=frozenset(("grad",)))) == ZERO == Constant(0)
