"""Takes gradients in while the engine runs, as quickly as Python can: copies now, statistics later and many at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from gradviz.store.codec import UNDEFINED, numbers_head, retyped
from gradviz.worker.arenas import ARENA, Arena, Arenas
from gradviz.worker.capture import Capture, Head, memory_at
from gradviz.worker.pictures import SMALL_SAMPLE
from gradviz.worker.reading import STRIDED
from gradviz.worker.summary import Reduced, Summary, packed_numbers, reduce, summaries

# Larger tensors are reduced on the spot: a copy would cost as much as the passes over it.
COPIED_UP_TO = 65_536  # elements
_UNFINISHED = 256  # so many tensors of one kind, reduced, wait for their pictures; 8 KB each
_BATCHED = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
# Without the stack of contexts in `quiet`: a plain intake is one that nobody watches.
_TENSOR = torch.Tensor
_below_autograd: Any = torch._C._AutoDispatchBelowAutograd

Mark = tuple[int, int, tuple[int, ...]]
"""Which tensor it is and in which state: memory, version, strides."""


class Deferred:
    """A value that was copied or reduced; `packed` is there after `Intake.settle`."""

    __slots__ = ("packed",)
    packed: bytes


class View(Deferred):
    """The same numbers under another shape: `row` is that of its type."""

    __slots__ = ("_of", "row")

    def __init__(self, of: Deferred, row: int) -> None:
        self._of = of
        self.row = row

    @property
    def packed(self) -> bytes:  # type: ignore[override]
        """The value, where the other one is settled."""
        return retyped(self._of.packed, self.row)


Item = bytes | Deferred
Take = Callable[[Any], Item]


def packed(item: Item) -> bytes:
    """The packed value of an item that is settled."""
    return item if isinstance(item, bytes) else item.packed


class Intake:
    """The gradients of one call. `plain`: all are dense, real, on the CPU, and nobody watches what we do."""

    def __init__(
        self,
        capture: Capture,
        plain: bool,
        thumbnails: bool,
        kinds: Sequence[tuple[torch.dtype, torch.Size]] = (),
        arenas: Arenas | None = None,
    ) -> None:
        """`kinds` are those that are expected: `takes` has a way for each, and at last one for all others."""
        self.surprised = False  # a gradient was of another kind than was expected
        self._kinds = kinds
        self._arenas = arenas or Arenas()
        self._capture = capture
        self.plain = plain
        self._thumbnails = thumbnails
        self._takes: dict[tuple[torch.dtype, torch.Size], Take] = {}
        self._batches: list[Batch] = []
        self._rows: dict[Any, int | None] = {}  # of the types of views
        self.takes = [*((self._way(*kind) if plain else capture.pack) for kind in kinds), self.take]

    def take(self, tensor: Any) -> Item:
        """Take one gradient in (None: undefined); it may be changed or freed right afterwards."""
        if tensor is None:
            return UNDEFINED
        if not self.plain:
            return self._capture.pack(tensor)
        try:
            key = (tensor.dtype, tensor.shape)
            return (self._takes.get(key) or self._way(*key))(tensor)
        except (AttributeError, RuntimeError):  # a kind without size or memory, or whose size is a symbol
            return self.pack(tensor)

    def otherwise(self, tensor: Any, dtype: torch.dtype, shape: torch.Size) -> Item:
        """Take in a tensor that was expected to be a plain one of this type and shape."""
        try:
            if tensor.is_cpu and tensor.dtype is dtype and tensor.shape == shape:
                return self.pack(tensor)
            self.surprised = True
            is_usual = type(tensor) is torch.Tensor and tensor.is_cpu
            return (
                self.take(tensor) if is_usual and (tensor.dtype, tensor.shape) != (dtype, shape) else self.pack(tensor)
            )
        except (AttributeError, RuntimeError):  # as in `take`
            self.surprised = True
            return self.pack(tensor)

    def view(self, tensor: Any, of: Any, item: Deferred, kind: int) -> Item | None:
        """Take in a tensor that may be a view of `of`, of which `item` was taken and which was not written to since.

        A transposed gradient has the same statistics. None where it is no such view, or where pictures are wanted,
        which differ.
        """
        if self._thumbnails or not self.plain or tensor.layout is not STRIDED or tensor.data_ptr() != of.data_ptr():
            return None
        key = tensor.dtype, tensor.shape, tensor.stride(), of.numel()
        if kind >= 0 and key[:2] != self._kinds[kind]:
            self.surprised = True
        if key not in self._rows:
            self._rows[key] = self._view_row(*key)
        row = self._rows[key]
        return None if row is None else View(item, row)

    def _view_row(self, dtype: torch.dtype, shape: torch.Size, strides: tuple[int, ...], elements: int) -> int | None:
        """The row of the type of such a view; None where it is not of all elements, or is kept whole."""
        count = shape.numel()
        if count != elements or count <= self._capture.whole_up_to or not fills(shape, strides):
            return None
        return self._capture.type_row(dtype, tuple(shape))

    def settle(self) -> None:
        """Finish all values that were put off."""
        settle(self._batches)

    def _way(self, dtype: torch.dtype, shape: torch.Size) -> Take:
        """Choose how tensors of this type and shape are taken in."""
        capture = self._capture
        head = capture.head(dtype, shape)
        if head is not None and 0 < head.count <= capture.whole_up_to:
            take = _whole(self, head, dtype, shape)
        elif head is not None and head.count > 0 and dtype in _BATCHED:
            take = (_copied if head.count <= COPIED_UP_TO else _reduced)(self, dtype, shape)
        else:
            take = partial(self.otherwise, dtype=dtype, shape=shape)
        self._takes[dtype, shape] = take
        return take

    def batch(self, dtype: torch.dtype, shape: torch.Size, strides: tuple[int, ...]) -> Batch:
        """A new batch of tensors that lie in memory in this way."""
        batch = Batch(self._capture, dtype, shape, strides, self._thumbnails, self._arenas)
        self._batches.append(batch)
        return batch

    def pack(self, tensor: Any) -> bytes:
        """The general way for one tensor."""
        return self._capture.pack(tensor)


class Batch:
    """Tensors of one type, shape and order in memory, summarised together when there are enough.

    They go through three states: copied, reduced (the passes over the elements are made), packed.
    """

    __slots__ = (
        *("_append", "_arena", "_arenas", "_capture", "_dtype", "_items", "_memory", "_most", "_order", "_parts"),
        *("_room", "_sample", "_shape", "_size", "_write", "elements"),
    )

    def __init__(
        self,
        capture: Capture,
        dtype: torch.dtype,
        shape: torch.Size,
        strides: tuple[int, ...],
        thumbnails: bool,
        arenas: Arenas,
    ) -> None:
        self._capture = capture
        self._dtype = dtype
        self._sample = SMALL_SAMPLE if thumbnails else 0
        self._shape = tuple(shape)
        self.elements = math.prod(self._shape)  # of each tensor
        # Dimensions from the slowest to the fastest: a transposed gradient is copied as it lies.
        self._order = order_of(strides)
        self._items: list[Deferred] = []  # not packed yet
        self._append = self._items.append
        self._parts: list[Reduced] = []
        self._size = self.elements * dtype.itemsize
        self._memory = memory_at(self._size)
        self._arenas = arenas
        self._arena: Arena | None = None
        self._write: Callable[[Any], int] = _nowhere
        self._most = ARENA // self._size  # copies that an arena holds
        self._room = 0  # for so many more

    def add(self, address: int) -> Deferred:
        """Copy the tensor at `address`."""
        if not self._room:
            self._make_room()
        self._room -= 1
        self._write(self._memory(address))
        item = Deferred()
        self._append(item)
        return item

    def add_large(self, tensor: Any) -> Deferred:
        """Reduce a tensor at once."""
        with _below_autograd():
            ordered = None if tensor.is_contiguous() else tensor.permute(order_of(tensor.stride())).unsqueeze(0)
            if ordered is not None and not self._sample:
                self._parts.append(reduce(ordered))
            else:
                self._parts.append(reduce(tensor.unsqueeze(0), self._sample, ordered))
        item = Deferred()
        self._items.append(item)
        if self._sample and len(self._items) >= _UNFINISHED:
            _pack([self])
        return item

    @property
    def draws(self) -> bool:
        """Whether pictures are wanted."""
        return self._sample > 0

    def _make_room(self) -> None:
        self.reduce_copies()
        self._arena = self._arenas.take()
        self._arena.memory.seek(0)
        self._write = self._arena.memory.write
        self._room = self._most

    def reduce_copies(self) -> None:
        """Make the passes over what was copied."""
        arena, copies = self._arena, self._most - self._room
        self._arena, self._room = None, 0
        if arena is None:
            return
        with _below_autograd():
            lying = arena.tensor(copies * self._size, self._dtype).view(-1, self.elements)
            tensors = lying
            if self._sample:
                back = [self._order.index(at) + 1 for at in range(len(self._order))]
                tensors = lying.view(-1, *(self._shape[at] for at in self._order)).permute(0, *back)
            self._parts.append(reduce(tensors, self._sample, lying))
        self._arenas.give(arena)
        if self._sample and len(self._items) >= _UNFINISHED:
            _pack([self])

    def unpacked(self) -> tuple[list[Deferred], list[Reduced]]:
        """What is reduced and waits to be packed, which it does no longer."""
        items, parts = self._items, self._parts
        self._items, self._parts = [], []
        self._append = self._items.append
        return items, parts

    def pack(self, items: Sequence[Deferred], summaries_: Sequence[Summary]) -> None:
        """Pack tensors of this batch, which are summarised."""
        pack = self._capture.summary_packer(self._dtype, self._shape)
        for item, summary in zip(items, summaries_, strict=True):
            item.packed = pack(summary)

    def pack_numbers(self, items: Sequence[Deferred], parts: Sequence[Reduced]) -> None:
        """Pack tensors of this batch without pictures."""
        tag, size, data, careful = packed_numbers(parts, self.elements)
        head = numbers_head(tag, self._capture.type_row(self._dtype, self._shape))
        at = 0
        for item in items:
            item.packed = head + data[at : at + size]
            at += size
        if careful:
            pack = self._capture.summary_packer(self._dtype, self._shape)
            for position, measured in careful.items():
                items[position].packed = pack(Summary(measured))


def settle(batches: Sequence[Batch]) -> None:
    """Finish all values of batches."""
    for batch in batches:
        batch.reduce_copies()
    _pack(batches)


def _pack(batches: Sequence[Batch]) -> None:
    """Pack all that is reduced. Pictures are made for all batches at once: each takes twenty calls into torch."""
    drawn: list[tuple[Batch, list[Deferred], list[Reduced]]] = []
    with _below_autograd():
        for batch in batches:
            items, parts = batch.unpacked()
            if not items:
                continue
            if batch.draws:
                drawn.append((batch, items, parts))
            else:
                batch.pack_numbers(items, parts)
        found = summaries([(parts, batch.elements) for batch, _, parts in drawn]) if drawn else ()
    for (batch, items, _), of_batch in zip(drawn, found, strict=True):
        batch.pack(items, of_batch)


# In the ways below reads are spelled out: a call costs as much as one of them. That type, shape and device are as
# expected keeps from reading beyond a tensor's end, or where there is nothing.


def _whole(intake: Intake, head: Head, dtype: torch.dtype, shape: torch.Size) -> Take:
    data, memory = head.data, head.memory

    def take(tensor: Any) -> Item:
        if (
            tensor.__class__ is _TENSOR
            and tensor.shape == shape
            and tensor.dtype is dtype
            and tensor.is_cpu
            and tensor.layout is STRIDED
            and tensor.is_contiguous()
            and not tensor.is_neg()
        ):
            address = tensor.data_ptr()
            if address:  # an efficient zero tensor has no memory
                return data + memory(address).raw
        return intake.otherwise(tensor, dtype, shape)

    return take


def _copied(intake: Intake, dtype: torch.dtype, shape: torch.Size) -> Take:
    batches: dict[tuple[int, ...], Batch | None] = {}
    usual: Batch | None = None

    def take(tensor: Any) -> Item:
        nonlocal usual
        if (
            tensor.__class__ is not _TENSOR
            or tensor.shape != shape
            or tensor.dtype is not dtype
            or not tensor.is_cpu
            or tensor.layout is not STRIDED
            or tensor.is_neg()
            or not (address := tensor.data_ptr())
        ):
            return intake.otherwise(tensor, dtype, shape)
        is_usual = tensor.is_contiguous()
        if is_usual and usual is not None:
            return usual.add(address)
        strides = tensor.stride()
        if strides not in batches:
            batches[strides] = intake.batch(dtype, shape, strides) if fills(shape, strides) else None
        batch = batches[strides]
        if is_usual:
            usual = batch
        return intake.pack(tensor) if batch is None else batch.add(address)

    return take


def _reduced(intake: Intake, dtype: torch.dtype, shape: torch.Size) -> Take:
    batch: Batch | None = None

    def take(tensor: Any) -> Item:
        nonlocal batch
        if (
            tensor.__class__ is not _TENSOR
            or tensor.shape != shape
            or tensor.dtype is not dtype
            or not tensor.is_cpu
            or tensor.layout is not STRIDED
            or tensor.is_neg()
            or not tensor.data_ptr()
        ):
            return intake.otherwise(tensor, dtype, shape)
        if batch is None:
            batch = intake.batch(dtype, shape, tensor.stride())
        return batch.add_large(tensor)

    return take


def _nowhere(_: Any) -> int:
    raise AssertionError("no arena yet")


def order_of(strides: tuple[int, ...]) -> list[int]:
    """Dimensions from the slowest to the fastest."""
    return sorted(range(len(strides)), key=lambda at: -strides[at])


def fills(shape: Any, strides: Sequence[int]) -> bool:
    """Tell whether a tensor's elements lie side by side in memory, in whatever order of dimensions."""
    expected = 1
    for stride, size in sorted(zip(strides, shape, strict=True)):
        if size == 1:
            continue
        if stride != expected:
            return False
        expected *= size
    return True
