"""Serial numbers of tensor objects and of their memory, without keeping any alive."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

_C: Any = torch._C
WeakMemory: Any = StorageWeakRef
storage_address: Callable[[Any], int] = _C._storage_id


class Serials:
    """Equal numbers mean the same tensor object (or memory). An address counts only while what it named still lives."""

    def __init__(self) -> None:
        self._tensors: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._memories: dict[int, tuple[Any, int]] = {}
        self._next = 0
        self._prune_at = 1024

    def tensor(self, tensor: Any) -> int:
        """The number of a tensor object."""
        known = self._tensors.get(id(tensor))
        if known is not None and known[0]() is tensor:
            return known[1]
        self._count()
        self._tensors[id(tensor)] = (weakref.ref(tensor), self._next)
        return self._next

    def memory(self, tensor: Any) -> int | None:
        """The number of the memory that holds a tensor's elements, None where it has none of its own."""
        try:
            address = storage_address(tensor)
            known = self._memories.get(address)
            if known is not None and not known[0].expired():
                return known[1]
            # As long as this weak reference exists no other storage gets the address.
            reference = WeakMemory(tensor.untyped_storage())
        except (RuntimeError, NotImplementedError):  # sparse tensors, wrappers of transforms
            return None
        self._count()
        self._memories[address] = (reference, self._next)
        return self._next

    def let_go(self, *tensors: Any) -> Callable[[], None]:
        """Drop the weak references to tensors that `torch.utils.swap_tensors` is about to swap.

        Returns:
            A function that takes them up again under the same numbers.
        """
        numbers = {id(tensor): self._tensors.pop(id(tensor))[1] for tensor in tensors if id(tensor) in self._tensors}

        def take_up() -> None:
            for tensor in tensors:
                if id(tensor) in numbers:
                    self._tensors[id(tensor)] = (weakref.ref(tensor), numbers[id(tensor)])

        return take_up

    def living(self, number: int, address: int) -> Any:
        """The tensor object with this number, if it still lives. `address` is its `id`."""
        known = self._tensors.get(address)
        return known[0]() if known is not None and known[1] == number else None

    def forget(self) -> None:
        """Drop all weak references; the numbers go on."""
        self._tensors.clear()
        self._memories.clear()

    def _count(self) -> None:
        self._next += 1
        if len(self._tensors) + len(self._memories) >= self._prune_at:
            self._tensors = {key: known for key, known in self._tensors.items() if known[0]() is not None}
            self._memories = {key: known for key, known in self._memories.items() if not known[0].expired()}
            self._prune_at = max(1024, 2 * (len(self._tensors) + len(self._memories)))
