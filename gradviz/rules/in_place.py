"""The rule of `CopySlices`: a write into a slice of a tensor, in place.

The node does not tell which slice was written, nor which op wrote it; so its rule is said in words, and the numbers
beside it are the recorded ones: where they differ lies inside the slice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradviz.model import Edge, Execution, Gradient, TensorValue
from gradviz.model.numbers import brief
from gradviz.rules.values import array_of
from gradviz.texts import tr

OP = "CopySlices"
_SHOWN_ELEMENTS = 6


@dataclass(frozen=True)
class SliceRule:
    """The rule of one slot in words, and its numbers where they are few."""

    notation: str
    where: tuple[str, ...]
    numbers: str | None


def slice_rule(edge: Edge, name: str, out: str, execution: Execution | None) -> SliceRule:
    """The rule of slot 0 (the tensor that was written into) or of another one (what the write reads)."""
    arrived = None if execution is None or not execution.grad_outputs else execution.grad_outputs[0]
    left = None if execution is None or edge.slot >= len(execution.grad_inputs) else execution.grad_inputs[edge.slot]
    if edge.slot:
        words = tr("∂L/∂{name} = what the write hands on of (∂L/∂{out}) inside its slice", name=name, out=out)
        return SliceRule(words, (), _arrow(arrived, left))
    words = tr("∂L/∂{name} = ∂L/∂{out} outside the slice, what the write hands on inside it", name=name, out=out)
    return SliceRule(words, _inside(arrived, left), _arrow(arrived, left))


def _arrow(arrived: Gradient, left: Gradient) -> str | None:
    if arrived is None or left is None or max(arrived.numel, left.numel) > _SHOWN_ELEMENTS:
        return None
    return f"{brief(arrived)} → {brief(left)}"


def _inside(arrived: Gradient, left: Gradient) -> tuple[str, ...]:
    """What the numbers tell of the slice: that it was overwritten, or how many elements were changed."""
    if not isinstance(arrived, TensorValue) or not isinstance(left, TensorValue):
        return ()
    a, b = array_of(arrived), array_of(left)
    if a is None or b is None or a.shape != b.shape:
        return ()
    inside = ~((a == b) | (np.isnan(a) & np.isnan(b)))
    if not inside.any():
        return ()
    if not b[inside].any():
        return (tr("0 where they differ: what stood in the slice was overwritten (or multiplied by 0)"),)
    return (tr("{n} of {all} elements differing, all of them inside the slice", n=int(inside.sum()), all=a.size),)
