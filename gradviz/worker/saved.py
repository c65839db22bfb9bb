"""What a node keeps for its backward: names, shapes and small values, read without running anything of the user's.

`node._saved_X` runs the user's unpack hooks (and the whole forward under checkpoint), so it is read only for plain
values; tensors are read through `node._raw_saved_X`, and only where no hook stands before them.
"""

from __future__ import annotations

from typing import Any

import torch

from gradviz.worker.reading import sizes_of

Entry = tuple[str, tuple[int, ...] | None, str | None]  # name, shape, text
SMALL = 64
_TEXT = 60
_RAW = "_raw_saved_"
_PLAIN = "_saved_"
# In an old torch nothing tells what a raw saved tensor holds without unpacking it.
_READABLE = hasattr(torch._C._autograd.SavedTensor, "data")


class SavedReader:
    """Reads saved values; the names are looked up once per class of node."""

    def __init__(self) -> None:
        self._names: dict[type, tuple[list[str], list[str]]] = {}

    def read(self, node: Any) -> tuple[tuple[Entry, ...], list[tuple[int, Any]]]:
        """The entries of a node, and the small tensors among them as `(position, tensor)`."""
        kind = type(node)
        names = self._names.get(kind)
        if names is None:
            names = self._names[kind] = _names_of(kind)
        entries: list[Entry] = []
        small: list[tuple[int, Any]] = []
        for name in names[0]:
            if not _READABLE:
                entries.append((name, None, "not readable in this torch"))
                continue
            try:
                raw = getattr(node, _RAW + name)
            except RuntimeError:  # freed by an earlier backward
                entries.append((name, None, "freed"))
                continue
            if isinstance(raw, tuple):
                for position, item in enumerate(raw):
                    _tensor(f"{name}[{position}]", item, entries, small)
            elif raw.data is None and raw.unpack_hook is None and _is_freed(node, name):
                entries.append((name, None, "freed"))
            else:
                _tensor(name, raw, entries, small)
        for name in names[1]:
            try:
                text = repr(_signed(getattr(node, _PLAIN + name)))
            except RuntimeError:
                text = "freed"
            entries.append((name, None, text[:_TEXT]))
        return tuple(entries), small


def _is_freed(node: Any, name: str) -> bool:
    """Whether a saved tensor that is not there was freed by an earlier backward; no hook stands before it."""
    try:
        getattr(node, _PLAIN + name)
    except RuntimeError:
        return True
    return False


def _signed(value: Any) -> Any:
    """The value with its integers as they were given: torch hands `dim=-1` out as 18446744073709551615."""
    if type(value) is tuple:
        return tuple(map(_signed, value))
    return value - (1 << 64) if type(value) is int and value >= 1 << 63 else value


def _names_of(kind: type) -> tuple[list[str], list[str]]:
    listed = dir(kind)
    raw = [name[len(_RAW) :] for name in listed if name.startswith(_RAW)]
    plain = [name[len(_PLAIN) :] for name in listed if name.startswith(_PLAIN) and name[len(_PLAIN) :] not in raw]
    return raw, plain


def _tensor(name: str, raw: Any, entries: list[Entry], small: list[tuple[int, Any]]) -> None:
    if raw.unpack_hook is not None:
        entries.append((name, None, "behind a hook"))
        return
    tensor = raw.data
    if tensor is None:
        entries.append((name, None, "None"))
        return
    try:
        shape = sizes_of(tensor.shape)  # one of a ragged tensor's is a symbol, which no recording can hold
        if tensor.numel() <= SMALL:
            small.append((len(entries), tensor))
    except RuntimeError:  # a nested tensor has no shape
        shape = None
    entries.append((name, shape, None))
