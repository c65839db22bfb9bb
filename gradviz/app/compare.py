"""Two calls node by node: which gradients differ, and by how much. No Qt; runs in a thread."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gradviz.app.panels.matrix import array_of
from gradviz.app.texts import tr
from gradviz.model import Gradient, Node, Root, TensorValue
from gradviz.model.dtypes import is_complex
from gradviz.model.numbers import number_text
from gradviz.playback import Timeline
from gradviz.playback.act import Act
from gradviz.playback.words import short_name

Where = Literal["both", "left", "right"]
_FEW = 6  # elements of a difference that are told one by one


@dataclass(frozen=True, slots=True)
class Difference:
    """A node of one or both calls.

    `distance` is the norm of the difference over the larger of the two norms: 0 where they are equal, 1 where one is
    there and the other is not, up to 2 where they are opposite. `change` is right minus left, in numbers where they
    are few, else its norm; empty where there is no such thing. `is_seed`: of a root's seed, not of what arrived.
    """

    key: str
    name: str
    detail: str
    left: Gradient
    right: Gradient
    distance: float
    where: Where = "both"
    change: str = ""
    is_seed: bool = False


def compare(left: Timeline, right: Timeline) -> tuple[Difference, ...]:
    """Seeds and nodes of two timelines of one call each, matched by key: seeds, then the most different first."""
    found = list(_differences(left.acts[0], right.acts[0]))
    seeds = _seeds(left.acts[0], right.acts[0])
    return (*seeds, *sorted(found, key=lambda difference: -difference.distance))


def distance(a: Gradient, b: Gradient) -> float:
    """How different two gradients are; by their norms alone where the elements were not kept."""
    if a is None or b is None:
        return 0.0 if a is b else 1.0
    if a.full_shape != b.full_shape:
        return 1.0
    first, second = _numbers(a), _numbers(b)
    if first is None or second is None:
        return _by_norms(a, b)
    with np.errstate(all="ignore"):
        if np.array_equal(first, second, equal_nan=True):
            return 0.0
        whole = max(float(np.linalg.norm(first)), float(np.linalg.norm(second)))
        apart = float(np.linalg.norm(first - second))
    return apart / whole if whole > 0.0 and math.isfinite(apart / whole) else 1.0


def change_text(a: Gradient, b: Gradient) -> str:
    """Right minus left: `+20`, `[0, -2.5]`, of more elements `‖3.2‖`."""
    if a is None or b is None or a.full_shape != b.full_shape:
        return ""
    first, second = _numbers(a), _numbers(b)
    if first is None or second is None:
        return ""
    with np.errstate(all="ignore"):
        change = second - first
        if len(change) > _FEW:
            return f"‖{number_text(float(np.linalg.norm(change)))}‖"
    return _nested(change.reshape(a.full_shape).tolist())


def _nested(values: Any) -> str:
    return f"[{', '.join(map(_nested, values))}]" if isinstance(values, list) else number_text(values)


def _seeds(left: Act, right: Act) -> Iterator[Difference]:
    """The seeds of roots at the same node."""
    theirs = {_key_of(right, root): root for root in right.call.roots}
    for root in left.call.roots:
        key = _key_of(left, root)
        other = theirs.pop(key, None)
        name = tr("seed of {name}", name=root.name or tr("the root"))
        where: Where = "left" if other is None else "both"
        seed = None if other is None else other.seed
        yield replace(_made(key, name, tr("seed"), root.seed, seed, where), is_seed=True)
    for key, root in theirs.items():
        name = tr("seed of {name}", name=root.name or tr("the root"))
        yield replace(_made(key, name, tr("seed"), None, root.seed, "right"), is_seed=True)


def _key_of(act: Act, root: Root) -> str:
    node = None if root.node is None else act.graph.by_id.get(root.node)
    return "" if node is None else node.key


def _made(key: str, name: str, detail: str, a: Gradient, b: Gradient, where: Where) -> Difference:
    apart = distance(a, b) if where == "both" else 1.0
    return Difference(key, name, detail, a, b, apart, where, change_text(a, b))


def _differences(left: Act, right: Act) -> Iterator[Difference]:
    ours = {node.key: node for node in left.graph.nodes}
    theirs = {node.key: node for node in right.graph.nodes}
    for key, node in ours.items():
        other = theirs.get(key)
        yield from _at_node(node, _arrived(left, node), _arrived(right, other), "left" if other is None else "both")
    for key, node in theirs.items():
        if key not in ours:
            yield from _at_node(node, {}, _arrived(right, node), "right")


def _at_node(node: Node, a: dict[int, Gradient], b: dict[int, Gradient], where: Where) -> Iterator[Difference]:
    """A difference for each output of a node at which something arrived in one of the calls; one where nothing did."""
    parts = [tr("leaf") if node.kind == "leaf" else node.short_op]
    if node.place is not None:
        parts.append(tr("line {n}", n=node.place.line))
    for number in sorted(a.keys() | b.keys()) or [0]:
        output = [tr("output {n}", n=number)] if len(node.outputs) > 1 else []
        yield _made(node.key, short_name(node), " · ".join(parts + output), a.get(number), b.get(number), where)


def _arrived(act: Act, node: Node | None) -> dict[int, Gradient]:
    """What arrived at the outputs of a node; of a leaf that `torch.autograd.grad` does not run, what was returned."""
    got = {} if node is None else act.received(act.stage.stand_in(node.id))
    return {number: value for number, value in got.items() if value is not None}


def _numbers(value: TensorValue) -> npt.NDArray[Any] | None:
    array = array_of(value)
    if array is None:
        return None
    return array.astype(np.complex128 if is_complex(value.dtype) else np.float64).ravel()


def _by_norms(a: TensorValue, b: TensorValue) -> float:
    if a.norm is None or b.norm is None:
        return 1.0
    whole = max(a.norm, b.norm)
    return abs(a.norm - b.norm) / whole if whole > 0.0 and math.isfinite(whole) else float(a.norm != b.norm)
