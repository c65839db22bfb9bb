"""Turns a tensor into packed bytes at one moment: all elements of a small one, a summary of a large one.

Nothing is kept of the tensor itself: a kept gradient would change aliasing, versions and memory of the script.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from ctypes import Array, c_char
from typing import Any

import torch

from gradviz.model import TensorValue
from gradviz.model.dtypes import ITEM_SIZES, decode, is_complex
from gradviz.model.tensors import statistics_of
from gradviz.store import codec
from gradviz.store.codec import UNDEFINED
from gradviz.store.writer import Writer
from gradviz.worker.quiet import quiet, started_here
from gradviz.worker.reading import PLAIN, STRIDED, dtype_name, read, unreadable
from gradviz.worker.summary import Summary, summarise

SMALL = 64  # elements of a tensor that is always kept whole
HEAD = 9  # bytes of a packed whole value before its elements
_CACHE = 10_000
_FLOAT = struct.Struct("<f")
_SUMMARISED = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


class Head:
    """How a dtype and shape are packed when kept whole: the bytes before the elements, the sizes, and `memory_at`."""

    __slots__ = ("count", "data", "memory", "size")

    def __init__(self, data: bytes, count: int, size: int) -> None:
        self.data = data
        self.count = count  # elements
        self.size = size  # bytes of the elements
        self.memory = memory_at(size)


def memory_at(size: int) -> Callable[[int], Array[c_char]]:
    """What lets `size` bytes at an address be read as `.raw`: a fraction of the cost of a call to `string_at`."""
    at: Callable[[int], Array[c_char]] = (c_char * size).from_address
    return at


class Capture:
    """Packs values for one recording.

    `whole_up_to` is the number of elements up to which all are kept, of larger ones statistics and, with
    `thumbnails`, a small picture.
    """

    def __init__(self, writer: Writer, whole_up_to: int, thumbnails: bool = True) -> None:
        self._writer = writer
        self.thumbnails = thumbnails
        self.whole_up_to = whole_up_to
        # Types without a lazy conjugate only. They grow with the number of distinct shapes, so they are bounded.
        self._heads: dict[tuple[torch.dtype, torch.Size], Head] = {}
        self._dtypes: dict[bytes, str] = {}

    def pack(self, tensor: Any) -> bytes:
        """Pack a gradient (None is undefined). Never fails: what cannot be read says why."""
        if tensor is None:
            return UNDEFINED
        # The quick way costs 0.7 us where the general one costs 20.
        if type(tensor) in PLAIN:
            try:
                head = self._heads.get((tensor.dtype, tensor.shape))
                if (
                    head is not None
                    and head.count <= self.whole_up_to
                    and tensor.is_cpu
                    and tensor.layout is STRIDED
                    and not tensor.is_neg()
                    and tensor.is_contiguous()
                ):
                    # Zero for a tensor of torch's that holds no memory (an efficient zero tensor).
                    address = tensor.data_ptr()
                    if address:
                        return head.data + head.memory(address).raw
            except RuntimeError as error:  # nested and functorch tensors raise on these reads
                if not started_here(error):
                    raise
        return self._pack_slowly(tensor)

    def pack_small(self, tensor: Any) -> bytes | None:
        """Pack a tensor of at most `SMALL` elements whole; None for others."""
        small = not tensor.is_nested and tensor.numel() <= min(SMALL, self.whole_up_to)
        return self.pack(tensor) if small else None

    def head(self, dtype: torch.dtype, shape: torch.Size) -> Head | None:
        """How a dense tensor on the CPU is packed whole; None for types that need more than their bytes."""
        head = self._heads.get((dtype, shape))
        name = dtype_name(dtype)
        if head is None and name in ITEM_SIZES and not dtype.is_complex:
            count = shape.numel()
            size = count * ITEM_SIZES[name]
            data = codec.pack_whole(self._writer.type_row(name, "cpu", tuple(shape)), bytes(size))[:HEAD]
            if len(self._heads) > _CACHE or len(self._dtypes) > _CACHE:
                self._heads.clear()
                self._dtypes.clear()
            self._dtypes[data] = name
            head = self._heads[dtype, shape] = Head(data, count, size)
        return head

    def value(self, tensor: Any) -> TensorValue:
        """The general way: any kind of tensor as a value. Never fails."""
        try:
            with quiet(below_autograd=True):
                return read(tensor, self.whole_up_to, self.thumbnails)
        except Exception as error:
            if not started_here(error):
                raise
            first_line = next(iter(str(error).splitlines()), "")
            return unreadable(tensor, f"{type(error).__name__}: {first_line[:120]}")

    def summary_packer(self, dtype: torch.dtype, shape: tuple[int, ...]) -> Callable[[Summary], bytes]:
        """What packs the summaries of tensors of this type on the CPU."""
        name, row = dtype_name(dtype), self.type_row(dtype, shape)
        draw = codec.picture_packer({"shape": shape, "dtype": name, "device": "cpu", "whole": False})

        def pack(summary: Summary) -> bytes:
            if summary.picture is None:
                return codec.pack_measured(row, summary.measured)
            return draw(summary.measured, *summary.picture)

        return pack

    def type_row(self, dtype: torch.dtype, shape: tuple[int, ...]) -> int:
        """The row in `tensor_types` of tensors of this type on the CPU."""
        return self._writer.type_row(dtype_name(dtype), "cpu", shape)

    def norm_of(self, packed: bytes) -> float | None:
        """The norm of a packed value, where it is known."""
        dtype = self._dtypes.get(packed[:HEAD])
        if dtype is None:
            return codec.norm_in(packed)
        if len(packed) == HEAD + 4 and dtype == "float32":  # a scalar: most leaves of a small network are
            return abs(float(_FLOAT.unpack_from(packed, HEAD)[0]))
        return statistics_of(decode(dtype, packed[HEAD:]), is_complex(dtype)).norm

    def dtype_of(self, head: bytes) -> str | None:
        """The dtype of packed values that start with `head` (tag, type and length), where it was seen."""
        return self._dtypes.get(head)

    def _pack_slowly(self, tensor: Any) -> bytes:
        if type(tensor) in PLAIN and self._is_plain(tensor):
            head = self.head(tensor.dtype, tensor.shape)
            if head is not None and head.count > self.whole_up_to:
                with quiet(below_autograd=True):
                    summary = summarise(tensor.detach().unsqueeze(0), self.thumbnails)[0]
                return self.summary_packer(tensor.dtype, tuple(tensor.shape))(summary)
        value = self.value(tensor)
        if value.data is None or value.layout != "strided" or value.batch:
            return codec.pack_value(value)
        packed = self._writer.pack(value.dtype, value.device, value.shape, value.data)
        self._dtypes[packed[:HEAD]] = value.dtype
        return packed

    def _is_plain(self, tensor: Any) -> bool:
        try:
            is_dense = tensor.layout is STRIDED and tensor.is_cpu and not tensor.is_neg() and not tensor.is_nested
            return is_dense and tensor.dtype in _SUMMARISED and bool(tensor.data_ptr())
        except RuntimeError as error:
            if not started_here(error):
                raise
            return False
