"""Array functions of the formulas that move elements: views, indexing, reductions and their adjoints.

An *adjoint* sends a gradient back: what an op read from, its adjoint adds to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Shape = tuple[int, ...]
Dims = int | tuple[int, ...] | None


def dims_of(dim: Dims, rank: int) -> tuple[int, ...]:
    """`dim` as sorted non-negative numbers; None and () mean all."""
    if dim is None or dim == ():
        return tuple(range(rank))
    numbers = (dim,) if isinstance(dim, int) else dim
    return tuple(sorted(number % max(rank, 1) for number in numbers)) if rank else ()


def count(shape: Shape, dim: Dims = None) -> int:
    """How many elements are reduced into one."""
    return math.prod(shape[d] for d in dims_of(dim, len(shape)))


def sum_to(x: Array, shape: Shape, _of: Shape | None = None) -> Array:
    """Undo broadcasting: sum over the dimensions in which `shape` is smaller."""
    extra = x.ndim - len(shape)
    kept = tuple(extra + d for d, size in enumerate(shape) if size == 1 and x.shape[extra + d] != 1)
    return np.asarray(x.sum(axis=(*range(extra), *kept)).reshape(shape))


def spread(x: Array, shape: Shape, dim: Dims = None, keepdim: bool = False) -> Array:
    """Undo a reduction over `dim`: repeat `x` along it until it has `shape`."""
    if not keepdim or x.ndim != len(shape):
        for d in dims_of(dim, len(shape)):
            x = np.expand_dims(x, d)
    return np.broadcast_to(x, shape)


def total(x: Array, dim: Dims = None) -> Array:
    """Sum over `dim`, which stays with size 1."""
    return np.asarray(x.sum(axis=dims_of(dim, x.ndim), keepdims=True))


def mean(x: Array, dim: Dims = None) -> Array:
    """Mean over `dim`, which stays with size 1."""
    return np.asarray(x.mean(axis=dims_of(dim, x.ndim), keepdims=True))


def total_but(x: Array, dim: int, rank: int) -> Array:
    """Sum over all dimensions but `dim`; `rank` is that of one sample where the batch may be missing."""
    keep = dim % x.ndim if x.ndim == rank else 0
    return np.asarray(x.sum(axis=tuple(d for d in range(x.ndim) if d != keep)))


def product_of_others(x: Array, dim: Dims = None) -> Array:
    """For each element the product of the others along `dim`; right also where some are zero."""
    if dim is None:
        return product_of_others(x.reshape(-1), 0).reshape(x.shape)
    assert isinstance(dim, int)
    if x.ndim == 0:
        return np.ones_like(x)
    moved = np.moveaxis(x, dim, 0)
    rest = [np.prod(np.delete(moved, k, axis=0), axis=0) for k in range(moved.shape[0])]
    return np.moveaxis(np.stack(rest), 0, dim) if rest else x


def sum_from_here(x: Array, dim: int) -> Array:
    """Element i becomes the sum of the elements j >= i along `dim`: the adjoint of cumsum."""
    return np.flip(np.cumsum(np.flip(x, dim), dim), dim) if x.ndim else x


def put(x: Array, index: Array, dim: int, shape: Shape, keepdim: bool = True) -> Array:
    """Zeros of `shape` with `x` added at `index` along `dim` (the adjoint of gather, max, sort ...)."""
    if not shape:
        return x.reshape(())
    if not keepdim:
        x, index = np.expand_dims(x, dim), np.expand_dims(index, dim)
    result = np.zeros(shape, x.dtype)
    np.add.at(result, _along(index, dim), x)
    return result


def take_along(x: Array, index: Array, dim: int) -> Array:
    """The elements of `x` at `index` along `dim` (gather)."""
    return np.asarray(x[_along(index, dim)])


def zero_along(x: Array, index: Array, dim: int) -> Array:
    """`x` with zeros at `index` along `dim`."""
    result = x.copy()
    result[_along(index, dim)] = 0
    return result


def _along(index: Array, dim: int) -> tuple[Array, ...]:
    grid = list(np.ogrid[tuple(slice(size) for size in index.shape)])
    grid[dim] = index
    return tuple(grid)


def put_rows(x: Array, index: Array, dim: int, shape: Shape) -> Array:
    """Zeros of `shape` with the slices of `x` added at the slices `index` of `dim`."""
    result = np.zeros(shape, x.dtype)
    np.add.at(np.moveaxis(result, dim, 0), index.reshape(-1), np.moveaxis(x, dim, 0))
    return result


def rows(x: Array, index: Array, dim: int) -> Array:
    """The slices `index` of `x` along `dim`."""
    return np.take(x, index, axis=dim)


def zero_rows(x: Array, index: Array, dim: int) -> Array:
    """`x` with zeros in the slices `index` of `dim`."""
    result = x.copy()
    np.moveaxis(result, dim, 0)[index.reshape(-1)] = 0
    return result


def put_index(x: Array, indices: Sequence[Array | None], shape: Shape) -> Array:
    """Zeros of `shape` with `x` added at advanced `indices`."""
    result = np.zeros(shape, x.dtype)
    np.add.at(result, _advanced(indices), x)
    return result


def at_index(x: Array, indices: Sequence[Array | None]) -> Array:
    """`x[indices]`."""
    return np.asarray(x[_advanced(indices)])


def zero_index(x: Array, indices: Sequence[Array | None]) -> Array:
    """`x` with zeros at advanced `indices`."""
    result = x.copy()
    result[_advanced(indices)] = 0
    return result


def _advanced(indices: Sequence[Array | None]) -> tuple[Any, ...]:
    return tuple(slice(None) if index is None else index for index in indices)


def put_flat(x: Array, index: Array, shape: Shape, dims: int) -> Array:
    """Zeros of `shape` with `x` added at `index`, which counts within the last `dims` dimensions."""
    planes = math.prod(shape[: len(shape) - dims])
    result = np.zeros((planes, math.prod(shape[len(shape) - dims :])), x.dtype)
    plane = np.arange(planes)[:, None]
    np.add.at(result, (plane, index.reshape(planes, -1)), x.reshape(planes, -1))
    return result.reshape(shape)


def put_mask(x: Array, mask: Array, shape: Shape) -> Array:
    """Zeros of `shape` with the elements of `x`, in order, where `mask` holds."""
    result = np.zeros(np.broadcast_shapes(shape, mask.shape), x.dtype)
    result[np.broadcast_to(mask, result.shape)] = x
    return sum_to(result, shape)


def at_mask(x: Array, mask: Array, size: int) -> Array:
    """The elements of `x` where `mask` holds, filled up with zeros to `size` elements."""
    chosen = x[np.broadcast_to(mask, x.shape)]
    return np.concatenate([chosen, np.zeros(size - chosen.size, x.dtype)])


def put_slice(x: Array, shape: Shape, dim: int, start: int, end: int, step: int = 1) -> Array:
    """Zeros of `shape` with `x` at `[start:end:step]` of `dim`."""
    result = np.zeros(shape, x.dtype)
    np.moveaxis(result, dim, 0)[start:end:step] = np.moveaxis(x, dim, 0)
    return result


def get_slice(x: Array, dim: int, start: int, end: int, step: int = 1) -> Array:
    """`x[start:end:step]` along `dim`."""
    return np.moveaxis(np.moveaxis(x, dim, 0)[start:end:step], 0, dim)


def zero_slice(x: Array, dim: int, start: int, end: int, step: int = 1) -> Array:
    """`x` with zeros at `[start:end:step]` of `dim`."""
    result = x.copy()
    np.moveaxis(result, dim, 0)[start:end:step] = 0
    return result


def put_select(x: Array, shape: Shape, dim: int, index: int) -> Array:
    """Zeros of `shape` with `x` at place `index` of `dim`."""
    result = np.zeros(shape, x.dtype)
    np.moveaxis(result, dim, 0)[index] = x
    return result


def zero_select(x: Array, dim: int, index: int) -> Array:
    """`x` with zeros at place `index` of `dim`."""
    result = x.copy()
    np.moveaxis(result, dim, 0)[index] = 0
    return result


def put_diagonal(x: Array, shape: Shape, offset: int, dim1: int, dim2: int) -> Array:
    """Zeros of `shape` with `x` on a diagonal."""
    result = np.zeros(shape, x.dtype)
    rank = len(shape)
    moved = np.moveaxis(result, (dim1 % rank, dim2 % rank), (-2, -1))
    place = np.arange(x.shape[-1])
    moved[..., place + max(-offset, 0), place + max(offset, 0)] = x
    return result


def zero_diagonal(x: Array, offset: int, dim1: int, dim2: int) -> Array:
    """`x` with zeros on a diagonal."""
    return x - put_diagonal(np.diagonal(x, offset, dim1, dim2), x.shape, offset, dim1, dim2)


def put_windows(x: Array, shape: Shape, dim: int, size: int, step: int) -> Array:
    """The adjoint of `tensor.unfold`: windows of `size`, `step` apart along `dim`, added up."""
    result = np.zeros(shape, x.dtype)
    moved, windows = np.moveaxis(result, dim, 0), np.moveaxis(x, dim, 0)
    for k in range(windows.shape[0]):
        moved[k * step : k * step + size] += np.moveaxis(windows[k], -1, 0)
    return result


def embedding_rows(x: Array, indices: Array, count_of_rows: int, padding_idx: int) -> Array:
    """Row i is the sum of the gradients of all places that looked up row i; none for `padding_idx`."""
    flat, width = indices.reshape(-1), x.shape[-1]
    result = np.zeros((count_of_rows, width), x.dtype)
    kept = flat != padding_idx
    np.add.at(result, flat[kept], x.reshape(-1, width)[kept])
    return result


def unrepeat(x: Array, shape: Shape, repeats: tuple[int, ...]) -> Array:
    """The adjoint of `repeat`: the copies added up."""
    full = (1,) * (len(repeats) - len(shape)) + shape
    split = x.reshape([number for pair in zip(repeats, full, strict=True) for number in pair])
    return np.asarray(split.sum(axis=tuple(range(0, 2 * len(full), 2))).reshape(shape))


def first_half(x: Array, dim: int) -> Array:
    """The first half along `dim`."""
    return np.split(x, 2, axis=dim)[0]


def second_half(x: Array, dim: int) -> Array:
    """The second half along `dim`."""
    return np.split(x, 2, axis=dim)[1]


def join(x: Array, y: Array, dim: int) -> Array:
    """Two arrays one after the other along `dim`."""
    return np.concatenate([x, y], axis=dim)


def picks(target: Array, shape: Shape, ignore_index: int) -> Array:
    """1 at the class of each sample, 0 elsewhere and for `ignore_index`; classes are dimension 1."""
    dim = min(1, len(shape) - 1)
    result = np.zeros(shape)
    chosen = np.expand_dims(np.where(target == ignore_index, 0, target), dim)
    np.put_along_axis(result, chosen, np.expand_dims((target != ignore_index).astype(float), dim), dim)
    return result


def per_class(weight: Array, shape: Shape) -> Array:
    """Weights of the classes, ready to be multiplied with an array of `shape`."""
    dim = min(1, len(shape) - 1)
    return weight.reshape([-1 if d == dim else 1 for d in range(len(shape))])


def per_channel(weight: Array, rank: int) -> Array:
    """A value per channel (dimension 1), ready to be multiplied with an array of `rank` dimensions."""
    return weight.reshape([-1 if d == 1 else 1 for d in range(rank)])


def grouped(x: Array, samples: int, groups: int) -> Array:
    """`x` of shape (N, C, ...) as (N, groups, the rest)."""
    return x.reshape(samples, groups, -1)


def per_group(statistic: Array) -> Array:
    """A value per sample and group, ready to be combined with a `grouped` array."""
    return statistic.reshape(*statistic.shape[:2], 1)
