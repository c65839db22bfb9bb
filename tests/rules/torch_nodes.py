"""Makes model values from a live autograd node, and asks that node itself what it sends back: the oracle."""

from __future__ import annotations

import math
import struct
from typing import Any

import torch
from torch.autograd.graph import GradientEdge

from gradviz.model import Edge, Execution, Gradient, Graph, Node, Output, Saved, TensorValue

Results = tuple[torch.Tensor | None, ...]


def value_of(tensor: torch.Tensor | None) -> Gradient:
    if tensor is None:
        return None
    if tensor._is_zerotensor():
        tensor = torch.zeros(tensor.shape, dtype=tensor.dtype)
    dtype = str(tensor.dtype).removeprefix("torch.")
    code = {"float64": "d", "float32": "f", "complex128": "d", "int64": "q", "int32": "i", "bool": "?"}[dtype]
    flat: list[Any] = tensor.detach().resolve_conj().resolve_neg().reshape(-1).tolist()
    if dtype == "complex128":
        flat = [part for number in flat for part in (number.real, number.imag)]
    return TensorValue(tuple(tensor.shape), dtype, data=struct.pack(f"<{len(flat)}{code}", *flat))


def saved_of(grad_fn: Any) -> tuple[Saved, ...]:
    found = []
    for name in sorted(n.removeprefix("_saved_") for n in dir(grad_fn) if n.startswith("_saved_")):
        value = getattr(grad_fn, f"_saved_{name}")
        if isinstance(value, torch.Tensor):
            found.append(Saved(name, tuple(value.shape), value_of(value)))
        elif isinstance(value, tuple) and value and isinstance(value[0], torch.Tensor):
            found += [Saved(f"{name}[{k}]", tuple(each.shape), value_of(each)) for k, each in enumerate(value)]
        else:
            found.append(Saved(name, None, None, repr(value)))
    return tuple(found)


def op_of(grad_fn: Any) -> str:
    """The name as the recorder stores it."""
    return str(grad_fn.name()).removeprefix("torch::autograd::")


def graph_of(grad_fn: Any, names: tuple[str | None, ...] = (), result: str | None = None) -> Graph:
    """The node (id 0) and what it leads to, as leaves."""
    metadata = grad_fn._input_metadata
    outputs = tuple(Output(tuple(m.shape), str(m.dtype).removeprefix("torch.")) for m in metadata)
    nodes = [Node(0, "node", op_of(grad_fn), "operation", result, outputs, saved=saved_of(grad_fn))]
    edges = []
    for slot, (target, output_nr) in enumerate(grad_fn.next_functions):
        if target is None:
            continue
        made = tuple(Output(tuple(m.shape), str(m.dtype).removeprefix("torch.")) for m in target._input_metadata)
        if hasattr(target, "variable"):
            made = (Output(tuple(target.variable.shape), str(target.variable.dtype).removeprefix("torch.")),)
        name = names[slot] if slot < len(names) else None
        value = value_of(target.variable) if hasattr(target, "variable") else None
        nodes.append(Node(slot + 1, f"leaf{slot}", "AccumulateGrad", "leaf", name, made, value=value))
        edges.append(Edge(0, slot, slot + 1, output_nr))
    return Graph(tuple(nodes), tuple(edges))


def run(grad_fn: Any, grads: Results) -> Results:
    """What the engine sends back from the node (calling the node alone leaves broadcast gradients unsummed)."""
    edges = [None if target is None else GradientEdge(target, nr) for target, nr in grad_fn.next_functions]
    roots = [(GradientEdge(grad_fn, k), grad) for k, grad in enumerate(grads) if grad is not None]
    found = iter(
        torch.autograd.grad(
            [root for root, _ in roots],
            [edge for edge in edges if edge is not None],
            [grad for _, grad in roots],
            allow_unused=True,
        )
    )
    return tuple(None if edge is None else next(found) for edge in edges)


def random_grads(grad_fn: Any, defined: tuple[int, ...]) -> Results:
    made: list[torch.Tensor | None] = []
    for k, m in enumerate(grad_fn._input_metadata):
        shape = tuple(m.shape)
        made.append(torch.randn(shape, dtype=m.dtype) if k in defined else None)
    return tuple(made)


def execution_of(grads: Results, left: Results) -> Execution:
    return Execution(0, 0, tuple(map(value_of, grads)), tuple(map(value_of, left)))


def small(tensor: TensorValue | None) -> bool:
    return tensor is None or math.prod(tensor.shape) <= 64
