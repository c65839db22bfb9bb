"""The backward rule of a node of a recording: the formula with the node's own names, and with its numbers put in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gradviz.model import Edge, Execution, Gradient, Graph, Node
from gradviz.model.dtypes import is_complex
from gradviz.model.numbers import brief
from gradviz.rules import in_place
from gradviz.rules.evaluate import Array, UnknownValueError, Value, evaluate
from gradviz.rules.formulas import Formula, formulas
from gradviz.rules.notation import ATOM, GRADIENT, Text, notation
from gradviz.rules.simplify import Facts, simplify
from gradviz.rules.tree import Expression, Plain, names_in
from gradviz.rules.values import array_of, saved_of, value_of

MOST_ELEMENTS = 4096  # above it nothing is computed again
_SHOWN_ELEMENTS = 6
_LONGEST_NUMBERS = 160
_OUT = "out"  # the output of a node that no variable of the script holds
_TOLERANCES = {"float16": 1e-2, "bfloat16": 5e-2, "float32": 1e-4, "complex64": 1e-4, "float64": 1e-8}


@dataclass(frozen=True)
class SlotRule:
    """What leaves a node at one slot.

    `notation` is the rule (`∂L/∂t1 = ∂L/∂t2 · other`), `where` the definitions that it uses; `numbers` the right-hand
    side with the numbers put in and its result (`5 · 4 = 20`), None where a number is not known or too large to show.
    """

    slot: int
    target: int
    notation: str
    where: tuple[str, ...] = ()
    numbers: str | None = None


def rules_at(graph: Graph, node: Node, execution: Execution | None = None) -> tuple[SlotRule, ...]:
    """The rule of each slot of `node` that leads somewhere; empty for an op without a formula.

    With `execution` the gradients that arrived and left in one call are used: undefined ones drop out of the
    notation, and small ones are put in.
    """
    if node.op == in_place.OP:
        return tuple(_slice_rule(graph, node, edge, execution) for edge in graph.outgoing.get(node.id, ()))
    formula = formulas().get(node.op)
    if formula is None:
        return ()
    site = Site(graph, node, formula, execution)
    rules = (site.rule(edge) for edge in graph.outgoing.get(node.id, ()))
    return tuple(rule for rule in rules if rule is not None)


def _slice_rule(graph: Graph, node: Node, edge: Edge, execution: Execution | None) -> SlotRule:
    name = _script_name(graph, node, edge) or (f"input{edge.slot}" if edge.slot else "base")
    rule = in_place.slice_rule(edge, name, node.name or _OUT, execution)
    return SlotRule(edge.slot, edge.target, rule.notation, rule.where, rule.numbers)


def _script_name(graph: Graph, node: Node, edge: Edge) -> str | None:
    """The script's name for what is behind an edge; none for one that means the node's own output by now (`y *= 2`)."""
    target = graph.by_id.get(edge.target)
    if target is None or not target.name or edge.output_nr != 0 or target.name == node.name:
        return None
    return target.name


def backward_of(graph: Graph, node: Node, edge: Edge, grads: tuple[Array | None, ...]) -> Array | None:
    """What `node` would send along `edge` if `grads` arrived at its outputs; None where that is not known."""
    formula = formulas().get(node.op)
    return None if formula is None else Site(graph, node, formula, None, grads).value(edge)


class Site:
    """A formula at a node: which names it has here, and which values are known."""

    def __init__(
        self,
        graph: Graph,
        node: Node,
        formula: Formula,
        execution: Execution | None,
        grads: tuple[Array | None, ...] | None = None,
    ) -> None:
        self._graph = graph
        self._node = node
        self._formula = formula
        self._execution = execution
        self._edges = graph.outgoing.get(node.id, ())
        self._grads = (
            grads if grads is not None else tuple(map(array_of, () if execution is None else execution.grad_outputs))
        )
        self._undefined = self._undefined_grads(grads)
        self._plain, self._saved = saved_of(node)

    # -- what the window asks ------------------------------------------------------------------------------------

    def rule(self, edge: Edge) -> SlotRule | None:
        """The rule of a slot."""
        expression, definitions = self._at(edge)
        if expression is None:
            return None
        labels = self._labels(edge)
        conjugates = self._complex
        here = simplify(expression, self._facts(edge))
        used = _used(here, definitions)
        left = f"∂L/∂{self._input_name(edge)}"
        where = tuple(f"{name} = {notation(definitions[name], labels, conjugates)}" for name in used)
        numbers = self._numbers(edge, here, definitions, labels)
        return SlotRule(edge.slot, edge.target, f"{left} = {notation(here, labels, conjugates)}", where, numbers)

    def value(self, edge: Edge) -> Array | None:
        """The gradient that leaves along an edge, computed by the formula; None where a value is not known."""
        expression, definitions = self._at(edge)
        if expression is None:
            return None
        return self._computed(edge, simplify(expression, self._facts(edge)), definitions)

    # -- inside --------------------------------------------------------------------------------------------------

    def _at(self, edge: Edge) -> tuple[Expression | None, dict[str, Expression]]:
        name = self._formula.input(edge.slot)
        expression = self._formula.gradients.get(name or "")
        facts = self._facts(edge)
        return expression, {name: simplify(part, facts) for name, part in self._formula.where.items()}

    @property
    def _complex(self) -> bool:
        return any(is_complex(output.dtype) for output in self._node.outputs)

    def _undefined_grads(self, grads: tuple[Array | None, ...] | None) -> frozenset[str]:
        if grads is None and self._execution is None:
            return frozenset()
        arrived = grads if grads is not None else self._execution.grad_outputs if self._execution else ()
        return frozenset(_grad_name(k) for k, value in enumerate(arrived) if value is None)

    def _facts(self, edge: Edge) -> Facts:
        shapes = {saved.name: saved.shape for saved in self._node.saved if saved.shape is not None}
        plain: dict[str, Plain] = {**self._plain, "slot": edge.slot}
        if (shape := self._input_shape(edge)) is not None:
            plain["shape"] = shape
        if self._node.outputs:
            out = self._node.outputs[0].shape
            shapes["grad"] = plain["out_shape"] = out
            plain["out_spread"] = (*out[:1], 1, *out[1:])  # a loss per sample, with a dimension for the classes
        for other in self._edges:
            name = self._formula.input(other.slot)
            if name and (there := self._input_shape(other)) is not None:
                plain[f"{name}_shape"] = there
        sizes = self._sizes_along()
        if sizes is not None:
            plain["sizes"] = sizes
        return Facts(plain, self._undefined, shapes, self._complex)

    def _sizes_along(self) -> tuple[int, ...] | None:
        """The sizes of all inputs along `dim` (for `cat`), where each slot leads somewhere."""
        dim = self._plain.get("dim")
        if not isinstance(dim, int) or [edge.slot for edge in self._edges] != list(range(len(self._edges))):
            return None
        shapes = [self._input_shape(edge) for edge in self._edges]
        if any(shape is None or not -len(shape) <= dim < len(shape) for shape in shapes):
            return None
        return tuple(shape[dim] for shape in shapes if shape)

    def _input_shape(self, edge: Edge) -> tuple[int, ...] | None:
        target = self._graph.by_id.get(edge.target)
        if target is None or edge.output_nr >= len(target.outputs):
            return None
        return target.outputs[edge.output_nr].shape

    def _input_name(self, edge: Edge) -> str:
        own = _script_name(self._graph, self._node, edge)
        if own is not None:
            return own
        name = self._formula.input(edge.slot) or f"input{edge.slot}"
        return f"input{edge.slot}" if name == "each" else name

    def _labels(self, edge: Edge) -> dict[str, Text]:
        """The texts of the names: the script's own where the recording knows them."""
        labels: dict[str, Text] = {"pi": ("π", ATOM)}
        for other in self._edges:
            name = self._formula.input(other.slot)
            own = _script_name(self._graph, self._node, other)
            if name and own is not None:
                labels[name] = (own, ATOM)
        out = self._node.name or _OUT
        if self._node.name and len(self._formula.outputs) < 2:
            labels["result"] = (self._node.name, ATOM)
        for k in range(max(len(self._node.outputs), 1)):
            label = out if k == 0 or k >= len(self._formula.outputs) else self._formula.outputs[k]
            if k == 0 and len(self._node.outputs) > 1 and not self._node.name and self._formula.outputs:
                label = self._formula.outputs[0]
            labels[_grad_name(k)] = (f"∂L/∂{label}", GRADIENT)
        labels["grads"] = ("∂L/∂" + ", ∂L/∂".join(f"{out}[{k}]" for k in range(len(self._node.outputs))), ATOM)
        return labels

    def _values(self, edge: Edge) -> dict[str, Value]:
        values: dict[str, Value] = {"pi": np.asarray(math.pi)}
        for other in self._edges:
            # What an op did not save it may still have been given: the neighbour's forward value.
            name, target = self._formula.input(other.slot), self._graph.by_id.get(other.target)
            if name and target is not None and other.output_nr == 0 and (known := array_of(target.value)) is not None:
                values[name] = known
        if (own := array_of(self._node.value)) is not None:
            values["result"] = own
        values.update(self._saved)
        for k, grad in enumerate(self._grads):
            if grad is not None:
                values[_grad_name(k)] = grad
        whole = [
            grad if grad is not None else np.zeros(output.shape)
            for grad, output in zip(self._grads, self._node.outputs, strict=False)
        ]
        if len(whole) == len(self._node.outputs):
            values["grads"] = tuple(whole)
        return values

    def _computed(self, edge: Edge, here: Expression, definitions: Mapping[str, Expression]) -> Array | None:
        values = self._values(edge)
        shape = self._input_shape(edge)
        if sum(np.size(value) for value in values.values() if not isinstance(value, tuple)) > MOST_ELEMENTS:
            return None
        try:
            result = np.asarray(evaluate(here, self._defined(edge, here, definitions)))
        except (UnknownValueError, ValueError, TypeError, IndexError, AttributeError, np.linalg.LinAlgError):
            return None  # not all of it was recorded, or it was changed in place since: there is nothing to show
        return result if shape is None or result.shape == shape else np.broadcast_to(result, shape)

    def _numbers(
        self, edge: Edge, here: Expression, definitions: Mapping[str, Expression], labels: Mapping[str, Text]
    ) -> str | None:
        left = None if self._execution is None else _item(self._execution.grad_inputs, edge.slot)
        if left is None or math.prod(left.shape) > _SHOWN_ELEMENTS:
            return None
        result = self._computed(edge, here, definitions)
        recorded = array_of(left)
        if result is None or recorded is None or not _agree(result, recorded, left.dtype):
            return None
        numbers = self._number_texts(self._defined(edge, here, definitions))
        if not names_in(here) <= numbers.keys() | {"pi"}:
            return None
        text, end = notation(here, {**labels, **numbers}, self._complex), brief(left, _SHOWN_ELEMENTS)
        text = end if text == end else f"{text} = {end}"
        return text if len(text) <= _LONGEST_NUMBERS else None

    def _defined(self, edge: Edge, here: Expression, definitions: Mapping[str, Expression]) -> dict[str, Value]:
        """The values of all names, those of the definitions too; raises what `evaluate` raises."""
        values = self._values(edge)
        for name in _used(here, definitions):
            values[name] = evaluate(definitions[name], values)
        return values

    def _number_texts(self, values: Mapping[str, Value]) -> dict[str, Text]:
        texts: dict[str, Text] = {}
        for name, value in values.items():
            if isinstance(value, tuple) or name == "pi" or np.size(value) > _SHOWN_ELEMENTS:
                continue
            text = brief(value_of(np.asarray(value)), _SHOWN_ELEMENTS)
            texts[name] = (f"({text})" if text.startswith("-") else text, ATOM)
        return texts


def _used(here: Expression, definitions: Mapping[str, Expression]) -> list[str]:
    """The definitions that an expression needs, in the order in which they are given."""
    wanted = names_in(here)
    for name in reversed(list(definitions)):
        if name in wanted:
            wanted = wanted | names_in(definitions[name])
    return [name for name in definitions if name in wanted]


def _grad_name(output: int) -> str:
    return "grad" if output == 0 else f"g{output}"


def _item(values: tuple[Gradient, ...], index: int) -> Gradient:
    return values[index] if index < len(values) else None


def _agree(computed: Array, recorded: Array, dtype: str) -> bool:
    """Whether the formula gives what was recorded (a hook of the user's may have changed it)."""
    if computed.shape != recorded.shape:
        return False
    tolerance = _TOLERANCES.get(dtype, 1e-8)
    return bool(np.allclose(computed, recorded, rtol=tolerance, atol=tolerance * 1e-2, equal_nan=True))
