"""The parts of the public JSON: tensors, nodes, calls. Written out field by field: a recording has many of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from gradviz.model import Accumulation, Call, CallDetail, Execution, Gradient, Node, Place, Root, Saved, TensorValue
from gradviz.model.tensors import nest

View = dict[str, Any]


def tensor_view(value: Gradient) -> View | None:
    """Return TENSOR of the public JSON, None for an undefined gradient."""
    if value is None:
        return None
    view: View = {
        "shape": list(value.shape),
        "dtype": value.dtype,
        "device": value.device,
        "values": _values(value),
        **_statistics(value),
    }
    if value.layout != "strided":
        view["layout"] = value.layout
    if value.nnz is not None:
        view["nnz"] = value.nnz
    if value.batch:
        view["batch"] = list(value.batch)
    if value.unreadable is not None:
        view["unreadable"] = value.unreadable
    return view


def number_view(number: float | complex | None) -> Any:
    """A number as JSON can hold it."""
    if number.__class__ is float:
        return number if math.isfinite(number) else repr(number)
    if isinstance(number, complex):
        return [number_view(number.real), number_view(number.imag)]
    return number


def where_view(place: Place | None) -> View:
    """`file` and `line` of a place."""
    return {"file": None, "line": None} if place is None else {"file": place.file, "line": place.line}


def _values(value: TensorValue) -> Any:
    nested = value.nested()
    if nested is None or isinstance(nested, float | int | complex):
        return number_view(nested)
    found = value.statistics
    if found is not None and not (found.nan or found.inf or value.dtype.startswith("complex")):
        return nested
    assert value.numbers is not None
    return nest([number_view(number) for number in value.numbers], value.full_shape)


def _statistics(value: TensorValue) -> View:
    found = value.statistics
    if found is None:
        return dict.fromkeys(("norm", "min", "max", "mean", "nan", "inf", "zero"))
    return {
        "norm": number_view(found.norm),
        "min": number_view(found.min),
        "max": number_view(found.max),
        "mean": number_view(found.mean),
        "nan": found.nan,
        "inf": found.inf,
        "zero": found.zero,
    }


class Parts:
    """Makes the views of nodes and calls; what nodes share (stacks, outputs) is made once."""

    def __init__(self) -> None:
        self._shared: dict[int, tuple[object, Any]] = {}

    def node(self, node: Node) -> View:
        """A node."""
        place = node.place
        return {
            "id": node.id,
            "key": node.key,
            "op": node.op,
            "kind": node.kind,
            "name": node.name,
            "file": None if place is None else place.file,
            "line": None if place is None else place.line,
            "function": None if place is None else place.function,
            "iteration": node.iteration,
            "module": node.module,
            "module_class": node.module_class,
            "derivative": node.order,
            "outputs": self._once(node.outputs, _outputs),
            "value": tensor_view(node.value),
            "saved": self._once(node.saved, _saved),
            "stack": self._once(node.stack, _stack),
        }

    def call(self, call: Call, detail: CallDetail) -> View:
        """A call without its nodes."""
        plain = ("number", "label", "api", "group", "parent", "parent_node", "engine", "what_if", "complete", "detail")
        flags = ("thread", "retain_graph", "create_graph", "accumulates", "batched", "failed_node", "seconds", "note")
        error = call.error
        return {
            **{name: getattr(call, name) for name in plain},
            **where_view(call.place),
            **{name: getattr(call, name) for name in flags},
            "roots": [_root(root) for root in call.roots],
            "inputs": None if call.inputs is None else [
                {"name": entry.name, "node": entry.node, "output_nr": entry.output_nr} for entry in call.inputs
            ],
            "executions": [_execution(execution) for execution in detail.executions],
            "accumulations": _accumulations(detail.accumulations, with_output=False),
            "retained": _accumulations(detail.retained, with_output=True),
            "returned": None if detail.returned is None else _tensors(detail.returned),
            "error": None
            if error is None
            else {"type": error.type, "message": error.message, **where_view(error.place)},
        }  # fmt: skip

    def _once(self, part: tuple[Any, ...], make: Callable[[Any], Any]) -> Any:
        """The view of `part`, which is kept so that its id stays its own."""
        known = self._shared.get(id(part))
        if known is None or known[0] is not part:
            if len(self._shared) > 100_000:
                self._shared.clear()
            known = self._shared[id(part)] = (part, make(part))
        return known[1]


def _outputs(outputs: Iterable[Any]) -> list[View]:
    return [
        {"shape": list(o.shape), "dtype": o.dtype, "device": o.device, "retains_grad": o.retains_grad} for o in outputs
    ]


def _saved(entries: Iterable[Saved]) -> list[View]:
    return [
        {
            "name": entry.name,
            "shape": None if entry.shape is None else list(entry.shape),
            "value": tensor_view(entry.value),
            "text": entry.text,
        }
        for entry in entries
    ]


def _stack(stack: Iterable[Place]) -> list[View]:
    return [{"file": place.file, "line": place.line, "function": place.function} for place in stack]


def _root(root: Root) -> View:
    return {
        "kind": root.kind,
        "name": root.name,
        "node": root.node,
        "output_nr": root.output_nr,
        "shape": None if root.shape is None else list(root.shape),
        "seed": tensor_view(root.seed),
        "seed_given": root.seed_given,
        "seed_name": root.seed_name,
        "value": tensor_view(root.value),
    }


def _execution(execution: Execution) -> View:
    return {
        "order": execution.order,
        "node": execution.node,
        "grad_outputs": _tensors(execution.grad_outputs),
        "grad_inputs": _tensors(execution.grad_inputs),
        "arrived": None if execution.arrived is None else _tensors(execution.arrived),
        "computed": None if execution.computed is None else _tensors(execution.computed),
        "finished": execution.finished,
    }


def _tensors(values: Iterable[Gradient]) -> list[View | None]:
    return [tensor_view(value) for value in values]


def _accumulations(entries: Iterable[Accumulation], with_output: bool) -> list[View]:
    return [
        {
            "name": entry.name,
            "node": entry.node,
            **({"output_nr": entry.output_nr} if with_output else {}),
            "order": entry.order,
            "before": tensor_view(entry.before),
            "incoming": tensor_view(entry.incoming),
            "after": tensor_view(entry.after),
            "left": tensor_view(entry.left),
        }
        for entry in entries
    ]
