"""Fingerprints of tensors: what tells, some lines later, whether a value has changed, and its norm then."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from ctypes import string_at
from functools import partial
from typing import Any, NamedTuple, cast

import torch

from gradviz.store.codec import UNDEFINED, is_whole, norm_in, pack_value
from gradviz.worker.capture import HEAD, Capture
from gradviz.worker.quiet import below_autograd
from gradviz.worker.reading import PLAIN, STRIDED
from gradviz.worker.summary import REDUCED, norm_of

_SAMPLE = 1024
# Two ways to add up a norm differ by less than this.
_SAME_NORM = 1e-5


class Print(NamedTuple):
    """Of a small tensor `data` holds all of it. Of a large one `sample` is a hash of elements at equal distances.

    `version` counts writes, which a write through `.data` escapes. `told` gives the norm of the whole.
    """

    data: bytes | None
    version: int = 0
    sample: int = 0
    told: Callable[[], float | None] | None = None

    @property
    def norm(self) -> float | None:
        """The norm of a large tensor, None where it is not known."""
        return None if self.told is None else self.told()


class Asked(NamedTuple):
    """A tensor of which a print is asked (None: undefined).

    `before` is an earlier print of it, whose norm is taken over where nothing was written since; `packed` is its value
    as it is recorded, where that is known already.
    """

    tensor: Any
    before: Print | None = None
    packed: bytes | None = None


NOTHING = Print(UNDEFINED)


class Prints:
    """Takes fingerprints of one recording's tensors."""

    def __init__(self, capture: Capture) -> None:
        self._capture = capture

    def take(self, tensor: Any, before: Print | None = None) -> Print:
        """The print of a tensor as it is now."""
        return self.take_all([Asked(tensor, before)])[0]

    def take_all(self, asked: Sequence[Asked]) -> list[Print]:
        """The prints of tensors as they are now; the large ones are looked at together."""
        found: list[Print | None] = [self._at_once(one.tensor) for one in asked]
        large = [at for at, known in enumerate(found) if known is None]
        if large:
            with below_autograd():
                samples = _samples([asked[at].tensor.detach().reshape(-1) for at in large])
                for at, sample in zip(large, samples, strict=True):
                    found[at] = _of_large(*asked[at], sample)
        return cast(list[Print], found)

    def _at_once(self, tensor: Any) -> Print | None:
        """The print of what is small or unusual, None of others."""
        if tensor is None:
            return NOTHING
        packed = self._capture.pack_small(tensor)
        if packed is not None:
            return Print(packed)
        return None if _has_regular_sample(tensor) else Print(pack_value(self._capture.value(tensor)))

    def norm_of(self, entry: Print) -> float | None:
        """The norm of the tensor as it was, None where it was undefined or cannot be read."""
        return entry.norm if entry.data is None else self._capture.norm_of(entry.data)


def _of_large(tensor: Any, before: Print | None, packed: bytes | None, sample: int) -> Print:
    version = tensor._version
    if before is not None and before.version == version and before.sample == sample:
        return before
    if packed is not None:
        return Print(None, version, sample, partial(_norm_in, packed, tensor.dtype))
    norm = norm_of(tensor.detach().reshape(-1))
    return Print(None, version, sample, lambda: norm)


def _norm_in(packed: bytes, dtype: torch.dtype) -> float | None:
    """The norm of a recorded value, read only where a print is compared: that takes longer than all the rest of it."""
    if not is_whole(packed):
        return norm_in(packed)
    with below_autograd():
        return norm_of(torch.frombuffer(bytearray(packed[HEAD:]), dtype=dtype))


def _samples(tensors: Sequence[torch.Tensor]) -> list[int]:
    """For each tensor a number that changes when one of its sample does; in another process it is another one."""
    alike: dict[tuple[torch.dtype, torch.device], list[int]] = {}
    for at, tensor in enumerate(tensors):
        alike.setdefault((tensor.dtype, tensor.device), []).append(at)
    found = [0] * len(tensors)
    for (dtype, _), members in alike.items():
        parts = [tensors[at][:: -(-tensors[at].numel() // _SAMPLE)] for at in members]
        lying = torch.cat(parts).cpu()
        data = memoryview(string_at(lying.data_ptr(), lying.nbytes))
        start = 0
        for at, part in zip(members, parts, strict=True):
            end = start + part.numel() * dtype.itemsize
            found[at] = hash(data[start:end])
            start = end
    return found


def _has_regular_sample(tensor: Any) -> bool:
    if type(tensor) not in PLAIN or tensor.layout is not STRIDED or tensor.dtype not in REDUCED:
        return False
    return not tensor.is_meta and not tensor.is_nested


def differ(one: Print, other: Print) -> bool:
    """Tell whether two prints are of different values."""
    if one is other:
        return False
    if one.data is not None or other.data is not None:
        return one.data != other.data
    first, second = one.norm, other.norm
    if one.sample != other.sample or first is None or second is None:
        return True
    both_nan = math.isnan(first) and math.isnan(second)
    return not both_nan and not math.isclose(first, second, rel_tol=_SAME_NORM)
