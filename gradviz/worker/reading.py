"""Reads tensors of every kind as values: dense, sparse, complex, batched by vmap, subclasses, and what has no values.

All is called inside `quiet(below_autograd=True)`.
"""

from __future__ import annotations

import math
import warnings
from ctypes import string_at
from typing import Any

import torch

from gradviz.model import Statistics, TensorValue
from gradviz.model.dtypes import ITEM_SIZES
from gradviz.worker.summary import measure, summarise

PLAIN = frozenset((torch.Tensor, torch.nn.Parameter))
STRIDED = torch.strided
_COMPRESSED = tuple(
    getattr(torch, name) for name in ("sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc") if hasattr(torch, name)
)
_C: Any = torch._C
_torch: Any = torch


def read(tensor: Any, max_values: int, thumbnails: bool = True) -> TensorValue:
    """Read a tensor whole up to `max_values` elements, else its statistics and with `thumbnails` a small picture.

    Raises whatever torch raises for a kind that cannot be read.
    """
    kind = _unreadable_kind(tensor)
    if kind is not None:
        return unreadable(tensor, kind)
    shape = tuple(map(int, tensor.shape))
    base, batch = unwrap_batch(tensor)
    base = base.detach()
    if base.layout != STRIDED:
        return _read_sparse(base, shape, max_values)
    if base.is_conj():
        base = base.resolve_conj()
    if base.is_neg():
        base = base.resolve_neg()
    return _dense(base, shape, batch, max_values, thumbnails)


def unreadable(tensor: Any, why: str) -> TensorValue:
    """A value of which only shape, type and device are known."""
    return TensorValue(safe_shape(tensor), dtype_name(tensor.dtype), str(tensor.device), unreadable=why)


def gradient_of(tensor: Any) -> Any:
    """`tensor.grad`, without the warning that torch gives when a tensor that keeps none is asked.

    A leaf becomes such a one when an operation in place makes it a result.
    """
    if tensor.is_leaf or tensor.retains_grad:
        return tensor.grad
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tensor.grad


def safe_shape(tensor: Any) -> tuple[int, ...]:
    """The shape of any tensor; `()` for a nested one, which has none."""
    try:
        return sizes_of(tensor.shape)
    except RuntimeError:
        return ()


def sizes_of(shape: Any) -> tuple[int, ...]:
    """A torch size as plain integers; `()` where one of them is a symbol (ragged and traced tensors)."""
    try:
        return tuple([int(size) for size in shape])
    except (AttributeError, RuntimeError, TypeError, ValueError):
        return ()


def dtype_name(dtype: Any) -> str:
    """`float32` for `torch.float32`."""
    return str(dtype).removeprefix("torch.")


def unwrap_batch(tensor: Any) -> tuple[Any, tuple[int, ...]]:
    """The tensor that a vmap hides, with its batch sizes in front, and those sizes."""
    batch: tuple[int, ...] = ()
    functorch = _C._functorch
    while functorch.is_functorch_wrapped_tensor(tensor):
        at = functorch.maybe_get_bdim(tensor)
        tensor = functorch.get_unwrapped(tensor)
        if at >= 0:
            tensor = tensor.movedim(at + len(batch), 0)
            batch = (tensor.shape[0], *batch)
    if not batch and "Batched" in str(_C._dispatch_keys(tensor)):
        # `is_grads_batched` still uses the older vmap, one level deep; the size is only for tensors without a batch.
        tensor = _torch._remove_batch_dim(tensor, 1, 1, 0)
        batch = (tensor.shape[0],)
    return tensor, batch


def row_major_bytes(tensor: Any) -> bytes:
    """The elements of a dense tensor, row-major."""
    plain = tensor.cpu().contiguous()
    count = plain.numel() * plain.element_size()
    if count and not plain.data_ptr():  # an efficient zero tensor holds no memory
        plain = torch.zeros(plain.shape, dtype=plain.dtype)
    return string_at(plain.data_ptr(), count) if count else b""


def _unreadable_kind(tensor: Any) -> str | None:
    """Say why the values of a tensor cannot be read, None where they can."""
    if type(tensor) not in PLAIN and _dispatches(type(tensor)):
        return f"values of a {type(tensor).__name__} are not read"
    if tensor.is_nested:
        return "a nested tensor"
    if tensor.device.type == "meta":
        return "a meta tensor has no values"
    if tensor.is_quantized:
        return "a quantised tensor"
    return None


def _dispatches(kind: type) -> bool:
    """Tell whether a subclass holds its values elsewhere (DTensor, FakeTensor): torch then asks its class."""
    return getattr(kind, "__torch_dispatch__", None) is not getattr(torch.Tensor, "__torch_dispatch__", None)


def _dense(base: Any, shape: tuple[int, ...], batch: tuple[int, ...], max_values: int, thumbnails: bool) -> TensorValue:
    dtype, device = dtype_name(base.dtype), str(base.device)
    if dtype not in ITEM_SIZES:
        base = base.to(torch.float32)
    elif base.numel() <= max_values:
        return TensorValue(shape, dtype, device, row_major_bytes(base), batch=batch)
    if base.is_complex():
        return TensorValue(shape, dtype, device, None, _complex_statistics(base), None, batch=batch)
    summary = summarise(base.unsqueeze(0), thumbnails)[0]
    small = summary.thumbnail if thumbnails else None
    return TensorValue(shape, dtype, device, None, summary.statistics, small, batch=batch)


def _complex_statistics(base: Any) -> Statistics:
    """Norm and counts; complex numbers have no order."""
    parts = torch.view_as_real(base.contiguous())
    nan = parts.isnan().any(-1)
    inf = parts.isinf().any(-1) & ~nan
    zero = base.numel() - int(torch.count_nonzero(base).item())
    return Statistics(measure(parts).norm, None, None, None, int(nan.sum().item()), int(inf.sum().item()), zero)


def _read_sparse(base: Any, shape: tuple[int, ...], max_values: int) -> TensorValue:
    dtype, device, layout = dtype_name(base.dtype), str(base.device), str(base.layout).removeprefix("torch.")
    nnz = int(base._nnz()) if base.is_sparse or base.layout in _COMPRESSED else None
    if math.prod(shape) <= max_values:
        return TensorValue(shape, dtype, device, row_major_bytes(base.to_dense()), layout=layout, nnz=nnz)
    values = base.coalesce().values() if base.is_sparse else base.values() if nnz is not None else base.to_dense()
    found = measure(values)
    if values.numel() < math.prod(shape):
        # What is not listed is zero, and counts for the smallest, the largest and the mean.
        rest = math.prod(shape) - values.numel()
        low, high = min(found.min or 0.0, 0.0), max(found.max or 0.0, 0.0)
        mean = (found.mean or 0.0) * values.numel() / math.prod(shape)
        found = type(found)(found.norm, low, high, mean, found.nan, found.inf, found.zero + rest)
    return TensorValue(shape, dtype, device, None, found, None, layout, nnz)
