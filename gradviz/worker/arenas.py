"""Memory for copies of gradients, used again from call to call: new memory costs more than what is copied into it."""

from __future__ import annotations

from io import BytesIO

import torch

ARENA = 1 << 21  # bytes of one batch: passes cost more than their 20 calls into torch, and 2 MB are near
_KEPT = 16  # so many are kept from call to call


class Arena:
    """Memory for the copies of one batch."""

    __slots__ = ("memory",)

    def __init__(self) -> None:
        self.memory = BytesIO(bytes(ARENA))  # to write into it is the quickest way there is to copy from an address

    def tensor(self, end: int, dtype: torch.dtype) -> torch.Tensor:
        """The elements that lie before `end`; the arena must not be written to while they are in use."""
        return torch.frombuffer(self.memory.getbuffer()[:end], dtype=dtype)


class Arenas:
    """Arenas that are free."""

    def __init__(self) -> None:
        self._free: list[Arena] = []

    def take(self) -> Arena:
        """An arena, whatever it holds."""
        try:
            return self._free.pop()
        except IndexError:
            return Arena()

    def give(self, arena: Arena) -> None:
        """An arena is free again."""
        if len(self._free) < _KEPT:
            self._free.append(arena)
