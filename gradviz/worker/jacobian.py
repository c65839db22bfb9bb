"""Rows of a Jacobian by one-hot seeds: batched where torch can, one by one where it cannot."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
import torch._vmap_internals

from gradviz.errors import SeedError
from gradviz.store.codec import UNDEFINED, pack_values
from gradviz.store.writer import CallEnd, CallStart
from gradviz.texts import tr
from gradviz.worker.heads import call_of, ends_of, is_tensor
from gradviz.worker.held import HeldCall
from gradviz.worker.quiet import quiet
from gradviz.worker.ranks import Rank
from gradviz.worker.reading import read
from gradviz.worker.walk import walk
from gradviz.worker.what_if import engine

MOST_ELEMENTS = 4096 * 4096
_BATCH_ELEMENTS = 1 << 21  # of seeds in one batch: 16 MB in double precision
_BATCH_ROWS = 64
_vmap: Any = torch._vmap_internals._vmap
Report = Callable[[int, int], None]  # rows done, rows asked for


def compute(
    call: HeldCall, root: Any, target: Any, rows: tuple[int, ...] | None, output: str, report: Report
) -> dict[str, Any]:
    """Compute rows of d root / d target and write them as a what-if whose returned value is the matrix.

    The matrix has shape `(rows, *target.shape)`; `rows` are flat indices into the root, None means all of them.

    Raises:
        SeedError: too many elements, complex numbers, or a row that the root does not have.
    """
    fit, to = call.target(root), call.target(target)
    wanted = _checked(rows, fit, to)
    matrix, batched = _matrix(root, target, wanted, fit, to, report)
    _write(call, root, target, matrix, batched, output)
    return {
        "rows": list(wanted),
        "root_shape": list(fit.shape),
        "input_shape": list(to.shape),
        "batched": batched,
        "output": output,
        "first_new_node": call.first_new_node,
    }


def _checked(rows: tuple[int, ...] | None, root: Any, target: Any) -> tuple[int, ...]:
    count, width = root.numel, target.numel
    if root.dtype.is_complex or target.dtype.is_complex:
        dtype = root.dtype if root.dtype.is_complex else target.dtype
        raise SeedError(tr("A Jacobian is shown for real numbers only; {dtype} is complex.", dtype=dtype))
    if rows is None and count * width > MOST_ELEMENTS:
        raise SeedError(
            tr("This Jacobian has {rows} x {columns} elements, more than {most}. Ask for some of its rows.",
               rows=count, columns=width, most=MOST_ELEMENTS)
        )  # fmt: skip
    wanted = tuple(range(count)) if rows is None else rows
    outside = [row for row in wanted if not 0 <= row < count]
    if outside:
        raise SeedError(tr("The root has {n} elements; there is no row {row}.", n=count, row=outside[0]))
    if len(wanted) * width > MOST_ELEMENTS:
        raise SeedError(
            tr("{n} rows of {columns} elements are more than {most}. Ask for fewer.",
               n=len(wanted), columns=width, most=MOST_ELEMENTS)
        )  # fmt: skip
    return wanted


def _matrix(root: Any, target: Any, rows: tuple[int, ...], fit: Any, to: Any, report: Report) -> tuple[Any, bool]:
    matrix = torch.zeros((len(rows), *to.shape), dtype=to.dtype)
    size = max(1, min(_BATCH_ROWS, _BATCH_ELEMENTS // max(fit.numel, to.numel, 1)))
    batched = True
    report(0, len(rows))
    for start, part in _parts(rows, size):
        found = _batch(root, target, part, fit) if batched else None
        if found is not None:
            matrix[start : start + len(part)] = found.detach().to_dense().cpu()
            report(start + len(part), len(rows))
            continue
        batched = False
        for at, row in enumerate(part, start):
            (one,) = engine((root,), (_seed(row, fit),), (target,), False)
            if one is not None:
                matrix[at] = one.detach().to_dense().cpu()
            report(at + 1, len(rows))
    return matrix, batched


def _parts(rows: tuple[int, ...], size: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    for start in range(0, len(rows), size):
        yield start, rows[start : start + size]


def _seed(row: int, fit: Any) -> Any:
    seed = torch.zeros(fit.shape, dtype=fit.dtype, device=fit.device)
    seed.reshape(-1)[row] = 1
    return seed


def _batch(root: Any, target: Any, rows: tuple[int, ...], fit: Any) -> Any:
    """Many rows at once; None where the graph cannot be batched (a custom backward with `.item()`, sparse ...).

    It does what `torch.autograd.grad(is_grads_batched=True)` does, below its checks: those import a second's worth of
    modules, which a script that is held in place would find in `sys.modules`.
    """
    seeds = torch.zeros((len(rows), max(fit.numel, 1)), dtype=fit.dtype, device=fit.device)
    seeds[torch.arange(len(rows)), torch.tensor(rows, device=fit.device)] = 1

    def one(seed: Any) -> Any:
        return engine((root,), (seed,), (target,), False)[0]

    try:
        found = _vmap(one, 0, 0, allow_none_pass_through=True)(seeds.reshape(len(rows), *fit.shape))
    except Exception:
        # Whatever a backward raises under vmap, row by row it may work; where it does not, the row's error is told.
        return None
    return torch.zeros((len(rows), *call_shape(target)), dtype=fit.dtype) if found is None else found


def call_shape(target: Any) -> tuple[int, ...]:
    """The shape of a tensor or of the output behind a GradientEdge."""
    return tuple(target.shape) if is_tensor(target) else tuple(target.node._input_metadata[target.output_nr].shape)


def _write(call: HeldCall, root: Any, target: Any, matrix: Any, batched: bool, output: str) -> None:
    """Write the matrix as the returned value of a what-if call."""
    scribe, writer = call.scribe(output)
    note = "jacobian"
    with quiet():
        entry = replace(
            call.entry, outputs=(root,), seeds=(None,), given=None, inputs=(target,), accumulates=False,
            retain_graph=True, create_graph=False, api="torch.autograd.grad", batched=batched, what_if=True, note=note,
        )  # fmt: skip
        ends = ends_of(entry)
        found = walk([node for node, _ in ends.roots], scribe.identities, 1 << 22)
        head = call_of(Rank(1, call.label, None, None, "summary"), entry, ends, found, call.names(), True)
        value = scribe.capture.pack(root) if is_tensor(root) else UNDEFINED
        writer.begin_call(CallStart(head, (UNDEFINED,), (value,)))
        data = read(matrix, max(math.prod(matrix.shape), 1))
        writer.end_call(CallEnd(1, returned=pack_values([_packed(writer, data)])))
        writer.close()


def _packed(writer: Any, value: Any) -> bytes:
    packed: bytes = writer.pack(value.dtype, value.device, value.shape, value.data)
    return packed
