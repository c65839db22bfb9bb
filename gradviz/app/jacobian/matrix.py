"""A Jacobian as numbers: its rows and columns, what a seed makes of them, and its blocks. No Qt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gradviz.app.panels.matrix import array_of
from gradviz.app.texts import tr
from gradviz.errors import RecordingError, SeedError
from gradviz.model import Call, Gradient, Recording
from gradviz.runner.experiments import JacobianFound
from gradviz.store.reader import close_recording, open_recording

Array = npt.NDArray[Any]
_CHUNK = 256  # rows that are widened to double precision at a time
_MOST_ASKED = 4096


@dataclass(frozen=True)
class JacobianMatrix:
    """`values[k, j]` is d root[rows[k]] / d input[j], `(rows, columns)`; indices into root and input are flat.

    `dtype` is torch's name of the input's type; `seeds` is the number of elements of the root, of which `rows` may be
    a part.
    """

    values: Array
    rows: tuple[int, ...]
    root: str
    input: str
    root_shape: tuple[int, ...]
    input_shape: tuple[int, ...]
    dtype: str

    @property
    def whole(self) -> bool:
        """Whether all rows are there, in order."""
        return len(self.rows) == math.prod(self.root_shape)

    @cached_property
    def most(self) -> float:
        """The largest finite magnitude, 0 when there is none."""
        return largest(self.values)

    @cached_property
    def odd(self) -> int:
        """How many elements are nan or infinite."""
        return int(self.values.size - np.count_nonzero(np.isfinite(self.values)))

    def combined(self, seed: Array) -> Array:
        """v^T J for a seed `(rows,)` float64: `(columns,)`, added in double precision, in the input's own type."""
        total = np.zeros(self.values.shape[1], dtype=np.float64)
        with np.errstate(all="ignore"):
            # A row of which nothing is taken adds nothing, not even where it is infinite: so does the engine's own row.
            taken = np.flatnonzero(seed)
            for start in range(0, len(taken), _CHUNK):
                part = taken[start : start + _CHUNK]
                total += seed[part] @ self.values[part].astype(np.float64)
            return total.astype(self.values.dtype)

    def row_name(self, row: int) -> str:
        """`y[0, 2]`."""
        return element_name(self.root, self.root_shape, self.rows[row])

    def column_name(self, column: int) -> str:
        """`x[1]`."""
        return element_name(self.input, self.input_shape, column)

    # -- blocks: the first dimension of a root or an input often counts samples ------------------------------------

    @property
    def rows_of_block(self) -> int:
        """Rows that share the first index of the root; all where it has only one dimension."""
        return math.prod(self.root_shape[1:]) if self.whole and len(self.root_shape) > 1 else len(self.rows)

    @property
    def columns_of_block(self) -> int:
        """Columns that share the first index of the input."""
        return math.prod(self.input_shape[1:]) if len(self.input_shape) > 1 else self.values.shape[1]

    @cached_property
    def samples(self) -> int:
        """How many samples there are where sample b of the input reaches only sample b of the root; else 0."""
        shapes = self.root_shape, self.input_shape
        if not self.whole or any(len(shape) < 2 for shape in shapes) or shapes[0][0] != shapes[1][0]:
            return 0
        count, out, width = shapes[0][0], self.rows_of_block, self.columns_of_block
        if count < 2 or not out or not width:
            return 0
        blocks = self.values.reshape(count, out, count, width)
        outside = ~np.eye(count, dtype=bool)
        return 0 if np.any(blocks.transpose(0, 2, 1, 3)[outside]) else count

    @cached_property
    def diagonal(self) -> Array:
        """The blocks on the diagonal one below the other: `(samples * out, in)`."""
        count, out, width = self.samples, self.rows_of_block, self.columns_of_block
        blocks = self.values.reshape(count, out, count, width)
        return np.ascontiguousarray(blocks[np.arange(count), :, np.arange(count), :]).reshape(count * out, width)


def largest(values: Array) -> float:
    """The largest finite magnitude, 0 when there is none."""
    if not values.size:
        return 0.0
    with np.errstate(all="ignore"):
        size = np.abs(values)
        return float(np.max(size, initial=0.0, where=np.isfinite(size)))


def element_name(name: str, shape: Sequence[int], flat: int) -> str:
    """`y[0, 2]`; the name alone for a scalar."""
    index = np.unravel_index(flat, tuple(shape)) if shape else ()
    return name + (f"[{', '.join(str(int(k)) for k in index)}]" if index else "")


def read_matrix(found: JacobianFound, root: str, name: str) -> JacobianMatrix:
    """The matrix that an experiment has written.

    Raises:
        SeedError: it failed, or its numbers cannot be read.
    """
    if found.what_if.error is not None:
        raise SeedError(found.what_if.error)
    try:
        recording = open_recording(found.what_if.recording)
        try:
            value = (recording.detail(1).returned or (None,))[0]
        finally:
            close_recording(recording)
    except RecordingError as error:
        raise SeedError(str(error)) from error
    array = None if value is None else array_of(value)
    if value is None or array is None:
        raise SeedError(tr("The Jacobian was computed, but its numbers cannot be read."))
    width = math.prod(found.input_shape)
    return JacobianMatrix(
        array.reshape(len(found.rows), width), found.rows, root, name, found.root_shape, found.input_shape, value.dtype
    )


def rows_asked(text: str) -> tuple[int, ...] | None:
    """Rows as a person writes them (`0-63, 128`); None: all.

    Raises:
        SeedError: it is something else, or too many.
    """
    text = text.strip().lower()
    if not text or text in ("all", tr("all")):
        return None
    rows: list[int] = []
    for part in text.split(","):
        ends = [end.strip() for end in part.split("-")]
        if not all(end.isdigit() for end in ends) or len(ends) > 2:
            raise SeedError(tr("Rows are written like 0-63, 128; {text!r} is something else.", text=part.strip()))
        first, last = int(ends[0]), int(ends[-1])
        if last - first >= _MOST_ASKED or len(rows) + last - first >= _MOST_ASKED:
            raise SeedError(tr("At most {n} rows can be asked for at once.", n=_MOST_ASKED))
        rows.extend(range(first, last + 1))
    return tuple(rows)


# -- the call itself -----------------------------------------------------------------------------------------------


def own_seed(call: Call, matrix: JacobianMatrix) -> Array:
    """The seed of the call on the rows of a matrix; ones where it has none (the sum of all outputs)."""
    seed = call.roots[0].seed if call.roots else None
    array = None if seed is None else array_of(seed)
    if array is None or array.size != math.prod(matrix.root_shape):
        return np.ones(len(matrix.rows))
    return array.reshape(-1)[list(matrix.rows)].astype(np.float64)


def own_gradient(recording: Recording, call: Call, name: str) -> Gradient:
    """What a call of one root computed for a tensor (its name, or `#id`); None where the recording does not tell.

    Raises:
        RecordingError: it cannot be read.
    """
    if len(call.roots) != 1 or call.detail == "none":
        return None
    detail = recording.detail(call.number)
    for entry in (*detail.accumulations, *detail.retained):
        if name in (entry.name, f"#{entry.node}"):
            return entry.incoming
    for asked, value in zip(call.inputs or (), detail.returned or (), strict=False):
        if name in (asked.name, f"#{asked.node}"):
            return value
    run = next((run for run in detail.executions if f"#{run.node}" == name), None)
    return None if run is None or len(run.grad_outputs) != 1 else run.grad_outputs[0]


@dataclass(frozen=True)
class Agreement:
    """How two gradients agree: bit for bit, or with `difference` as the largest one, `share` of the largest element."""

    same: bool
    difference: float
    share: float


def agreement(combined: Array, gradient: Array) -> Agreement:
    """Hold v^T J against a gradient; both flat."""
    if np.array_equal(combined, gradient, equal_nan=True):
        return Agreement(True, 0.0, 0.0)
    with np.errstate(all="ignore"):
        apart = np.abs(combined.astype(np.float64) - gradient.astype(np.float64))
        same = (combined == gradient) | (np.isnan(combined) & np.isnan(gradient))
        difference = float(np.max(np.where(same, 0.0, apart)))
    scale = largest(gradient)
    return Agreement(False, difference, difference / scale if scale else math.inf)
