"""What the window says of a Jacobian and of what a seed makes of it. No Qt."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gradviz.app.jacobian.matrix import JacobianMatrix, agreement
from gradviz.app.panels.matrix import array_of
from gradviz.app.texts import tr, trn
from gradviz.model import Call, Gradient
from gradviz.model.numbers import number_text, shape_text

Array = npt.NDArray[Any]
_ROUNDING = {"float64": 1e-12, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}


def about(matrix: JacobianMatrix) -> str:
    """Its size, its blocks, and what is odd about it."""
    rows, columns = matrix.values.shape
    shape = shape_text((*matrix.root_shape, *matrix.input_shape))
    parts = [tr("{rows} × {columns}, a tensor of shape {shape}", rows=rows, columns=columns, shape=shape)]
    if not matrix.whole:
        parts[0] = tr("{rows} of {all} rows × {columns}", rows=rows, all=math.prod(matrix.root_shape), columns=columns)
    if matrix.samples:
        parts.append(
            tr("all blocks off the diagonal are zero: {input}[b] reaches only {root}[b]",
               input=matrix.input, root=matrix.root)
        )  # fmt: skip
    if matrix.odd:
        parts.append(trn("{n} element is nan or infinite", "{n} elements are nan or infinite", matrix.odd))
    elif matrix.values.size and not matrix.most:
        parts.append(tr("all zero: {root} does not depend on {input} here", root=matrix.root, input=matrix.input))
    return " · ".join(parts)


def gradient_words(
    matrix: JacobianMatrix, seed: Array, combined: Array, call: Call, own: Gradient, is_own: bool
) -> str:
    """What the seed makes: a row, a sum of rows, and whether that is the gradient that the call computed."""
    what = tr("vᵀJ, shape {shape}: {kind}", shape=shape_text(matrix.input_shape), kind=_kind(matrix, seed))
    if not is_own:
        return what
    if not matrix.whole:
        return tr("{what} The rows that are not shown are not in it.", what=what)
    array = None if own is None else array_of(own)
    if array is None or array.size != combined.size:
        return what
    found = agreement(combined, array.reshape(-1))
    if found.same:
        ending = tr("It is the gradient that call {label} computed, bit for bit.", label=call.label)
    elif found.share <= _ROUNDING.get(matrix.dtype, 1e-4):
        ending = tr("It is the gradient that call {label} computed; the largest difference, {x}, is rounding.",
                    label=call.label, x=number_text(found.difference))  # fmt: skip
    else:
        ending = tr("Call {label} computed another gradient, apart by up to {x}: a hook changed it on the way, or the "
                    "script drew other random numbers.", label=call.label, x=number_text(found.difference))  # fmt: skip
    return f"{what} {ending}"


def _kind(matrix: JacobianMatrix, seed: Array) -> str:
    """What a seed picks."""
    if not np.any(seed):
        return tr("nothing, since the seed is zero.")
    if len(seed) == 1 and seed[0] == 1:
        return tr("the only row.")
    if np.count_nonzero(seed) == 1 and seed.sum() == 1:
        return tr("the row of {name}.", name=matrix.row_name(int(np.argmax(seed))))
    if np.all(seed == 1):
        return tr("the sum of all rows.")
    return trn("{n} row, weighted.", "{n} rows, weighted and added.", int(np.count_nonzero(seed)))
