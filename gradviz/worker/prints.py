"""Fingerprints of tensors: what tells, some lines later, whether a value has changed, and its norm then."""

from __future__ import annotations

import math
from collections.abc import Callable
from ctypes import string_at
from typing import Any, NamedTuple

import torch

from gradviz.store.codec import UNDEFINED, pack_value
from gradviz.worker.capture import Capture
from gradviz.worker.quiet import below_autograd
from gradviz.worker.reading import PLAIN, STRIDED
from gradviz.worker.summary import REDUCED, norm_of

_SAMPLE = 1024
# Two ways to add up a norm differ by less than this.
_SAME_NORM = 1e-5


class Print(NamedTuple):
    """Of a small tensor `data` holds all of it. Of a large one `sample` is a hash of elements at equal distances.

    `version` counts writes, which a write through `.data` escapes; `norm` is that of the whole.
    """

    data: bytes | None
    norm: float | None
    version: int = 0
    sample: int = 0


NOTHING = Print(UNDEFINED, None)


class Prints:
    """Takes fingerprints of one recording's tensors."""

    def __init__(self, capture: Capture) -> None:
        self._capture = capture

    def take(self, tensor: Any, before: Print | None = None, norm: Callable[[], float | None] | None = None) -> Print:
        """The print of a tensor as it is now (None: undefined).

        `before` is an earlier print of it, whose norm is taken over where nothing was written since; `norm` gives
        that of the whole where it is known already.
        """
        if tensor is None:
            return NOTHING
        packed = self._capture.pack_small(tensor)
        if packed is not None:
            return Print(packed, None)
        if not _has_regular_sample(tensor):
            return Print(pack_value(self._capture.value(tensor)), None)
        version = tensor._version
        with below_autograd():
            flat = tensor.detach().reshape(-1)
            sample = _hash(flat[:: -(-flat.numel() // _SAMPLE)])
            if before is not None and before.version == version and before.sample == sample:
                return before
            known = norm() if norm is not None else None
            return Print(None, norm_of(flat) if known is None else known, version, sample)

    def norm_of(self, entry: Print) -> float | None:
        """The norm of the tensor as it was, None where it was undefined or cannot be read."""
        return entry.norm if entry.data is None else self._capture.norm_of(entry.data)


def _hash(elements: torch.Tensor) -> int:
    """A number that changes when an element does; in another process it is another one."""
    lying = elements.cpu().contiguous()
    return hash(string_at(lying.data_ptr(), lying.nbytes))


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
    if one.sample != other.sample or one.norm is None or other.norm is None:
        return True
    both_nan = math.isnan(one.norm) and math.isnan(other.norm)
    return not both_nan and not math.isclose(one.norm, other.norm, rel_tol=_SAME_NORM)
