"""Looks at the tensors that a line binds or writes into, from inside a trace callback.

Everything here must leave no trace in the program: plain reads of plain tensors, nothing kept, nothing locked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, NamedTuple

import torch

from gradviz.worker.bindings import Log, is_trained, node_of, version_of
from gradviz.worker.intervals import Intervals
from gradviz.worker.kinds import attributes, is_key
from gradviz.worker.lines import LAST, CodeInfo, Line, Target
from gradviz.worker.locals import ABSENT, read
from gradviz.worker.modules import ModuleNames
from gradviz.worker.sites import Sites
from gradviz.worker.writes import Before, Writes, changed, dull, state_of
from gradviz.worker.writing import Write

_C: Any = torch._C
sequence_now: Callable[[], int] = _C._autograd._get_sequence_nr
# Looked at so often without finding a tensor, a name that is only used is looked at no more; a bound one later.
DULL_USE, DULL_STORE = 3, 200
_TENSOR = torch.Tensor
_TENSORS: dict[type, bool] = {torch.Tensor: True, torch.nn.Parameter: True}


class Seen(NamedTuple):
    """What a line uses as it was before it ran: target, id, version; and what it may write into without binding it."""

    uses: list[tuple[Target, int, int]]
    writes: list[tuple[Write, Before]]
    time: int  # of `Writes`
    sequence: int  # the number that the next node gets


class Observer:
    """The eyes of one thread's tracer."""

    def __init__(self, log: Log, sites: Sites, intervals: Intervals, modules: ModuleNames, writes: Writes) -> None:
        self._log = log
        self._sites = sites
        self._intervals = intervals
        self._modules = modules
        self._writes = writes

    def before(self, frame: FrameType, start: int, info: CodeInfo, line: Line) -> Seen | None:
        """The versions of what a line that may write into tensors uses."""
        if _C._len_torch_function_stack():
            return None
        seen = Seen([], [], self._writes.time, sequence_now())
        values = read(frame, start, line.slots) if line.slots else ()
        for target in line.uses:
            if target.misses < DULL_USE:
                value = values[target.index] if target.is_local else _value(frame, info, target, values)
                if type(value) is _TENSOR or is_plain(value):
                    seen.uses.append((target, id(value), version_of(value)))
                else:
                    target.misses += 1
        for write in line.writes:
            if not dull(write):
                value = _reached(frame, info, write, values)
                state = state_of(value, write.gradient) if is_plain(value) else None
                write.misses += state is None
                seen.writes.append((write, None if state is None else (id(value), state)))
        return seen

    def after(self, frame: FrameType, start: int, info: CodeInfo, number: int, line: Line, seen: Seen | None) -> None:
        """What the line bound, and which of its tensors it wrote into."""
        if _C._len_torch_function_stack():
            return
        values = read(frame, start, line.slots) if line.slots else ()
        kept = self._written(frame, info, number, values, seen) if seen else None
        if seen is not None and seen.writes:
            self._noted(frame, info, number, values, seen)
        for target in line.stores:
            if target.misses >= DULL_STORE:
                continue
            value = values[target.index] if target.is_local else _value(frame, info, target, values)
            if type(value) is not _TENSOR and not is_plain(value):
                target.misses += 1
                if issubclass(type(value), torch.nn.Module):
                    self._modules.bound(value, target.text)
            elif kept is None or kept.get(target.text) != id(value):
                self._assigned(frame, info, number, target, value, values)

    def arguments(self, frame: FrameType, start: int, info: CodeInfo) -> None:
        """The tensors that a function was called with."""
        if _C._len_torch_function_stack():
            return
        values = read(frame, start, info.argument_slots)
        for target, value in zip(info.arguments, values, strict=True):
            if target.misses < DULL_STORE:
                if is_plain(value):
                    self._note(info, frame.f_lineno, target, target.text, "argument", value)
                else:
                    target.misses += 1

    def returned(self, info: CodeInfo, number: int, value: Any) -> None:
        """What a function returned, where it is a tensor."""
        if is_plain(value) and not _C._len_torch_function_stack():
            self._note(info, number, None, info.code.co_name, "returned", value)

    def _written(
        self, frame: FrameType, info: CodeInfo, number: int, values: Sequence[Any], seen: Seen
    ) -> dict[str, int]:
        """Note the tensors whose version rose; return names and ids of those that are still the same object."""
        kept = {}
        for target, address, version in seen.uses:
            value = values[target.index] if target.is_local else _value(frame, info, target, values)
            if id(value) == address and (type(value) is _TENSOR or is_plain(value)):
                kept[target.text] = address
                if version_of(value) != version:
                    self._wrote(info, number, target.text, value, seen.sequence)
        return kept

    def _wrote(self, info: CodeInfo, number: int, name: str, tensor: Any, since: int) -> None:
        """The line wrote into a tensor under this name: so it made its node anew, or changed a leaf."""
        self._name(tensor, name, since)
        if self._log.is_news(tensor):
            self._note(info, number, None, name, "written", tensor)
            if is_trained(tensor):
                self._writes.note(tensor, False, info.id, number, self._writes.time)

    def _noted(self, frame: FrameType, info: CodeInfo, number: int, values: Sequence[Any], seen: Seen) -> None:
        """Note the line as the one that wrote into `.grad`, or into a value in a way that no version tells."""
        for write, before in seen.writes:
            value = _reached(frame, info, write, values)
            if is_plain(value) and changed(value, write, before):
                self._writes.note(value, write.gradient, info.id, number, seen.time)

    def _assigned(
        self, frame: FrameType, info: CodeInfo, number: int, target: Target, value: Any, values: Sequence[Any]
    ) -> None:
        name = target.text if target.key is None else _text(target, frame, info, values)
        self._name(value, name)
        has_own_entry = target.key is not None and target.keeps(name)
        self._note(info, number, None if has_own_entry else target, name, "assigned", value)

    def _name(self, tensor: Any, name: str, since: int = 0) -> None:
        node = node_of(tensor)
        if node is not None:
            sequence = node._sequence_nr()
            if sequence >= since:
                self._intervals.name(sequence, self._sites.name(name))

    def _note(self, info: CodeInfo, number: int, target: Target | None, name: str, cause: str, tensor: Any) -> None:
        if target is not None and target.entry is not None:
            self._log.again(target.entry, tensor, name)
            return
        entry = self._log.add((info.id, number, name, cause), lambda: self._sites.place(info.id, number), tensor)
        if target is not None:
            target.entry = entry


def is_plain(value: Any) -> bool:
    """Whether this is a tensor that may be looked at (by functions that keep it from a `__torch_function__`)."""
    kind = type(value)
    if not issubclass(kind, torch.Tensor):
        return False
    known = _TENSORS.get(kind)
    if known is None:
        known = _TENSORS[kind] = _is_passive(kind)
    return known


def _is_passive(kind: type) -> bool:
    """Whether reading its attributes can be kept from a class: they may be computed by its `__torch_dispatch__`."""
    default = getattr(_C, "_disabled_torch_dispatch_impl", None)
    return getattr(kind, "__torch_dispatch__", None) is default


def _value(frame: FrameType, info: CodeInfo, target: Target, values: Sequence[Any]) -> Any:
    """What a target holds now, without running any code of the user's."""
    value = _variable(frame, info, target.base, target.index, values)
    for attribute in target.attributes:
        value = attribute_of(value, attribute)
    return value if target.key is None else _item(value, _key(target, frame, info, values))


def _reached(frame: FrameType, info: CodeInfo, write: Write, values: Sequence[Any]) -> Any:
    """What the expression of a write leads to now."""
    value = _variable(frame, info, write.base, write.index, values)
    for kind, key, index in write.steps:
        if kind == "attribute":
            value = attribute_of(value, key)
        else:
            value = _item(value, key if kind == "item" else _variable(frame, info, key, index, values))
    return value


def _variable(frame: FrameType, info: CodeInfo, name: str, index: int, values: Sequence[Any]) -> Any:
    if index >= 0:
        return values[index]
    return (frame.f_globals if info.is_function else frame.f_locals).get(name, ABSENT)


def attribute_of(value: Any, name: str) -> Any:
    """An attribute that lies in the object's own dict (or among a module's parameters), ABSENT otherwise."""
    held = attributes(value)
    for table in (held, held.get("_parameters"), held.get("_buffers"), held.get("_modules")):
        if type(table) is dict and name in table:
            return table[name]
    return ABSENT


def _item(value: Any, key: Any) -> Any:
    kind = type(value)
    if kind is list and key is LAST:
        return value[-1] if value else ABSENT
    if (kind is list or kind is tuple) and type(key) is int:
        return value[key] if -len(value) <= key < len(value) else ABSENT
    return value.get(key, ABSENT) if kind is dict and is_key(key) else ABSENT


def _key(target: Target, frame: FrameType, info: CodeInfo, values: Sequence[Any]) -> Any:
    assert target.key is not None
    if not target.key.is_name:
        return target.key.value
    name, index = target.key.value
    return _variable(frame, info, name, index, values)


def _text(target: Target, frame: FrameType, info: CodeInfo, values: Sequence[Any]) -> str:
    """`ws[3]` for `ws[i]` when i is 3; the position for an element that was appended."""
    key = _key(target, frame, info, values)
    if key is LAST:
        whole = Target((target.base, *target.attributes))
        whole.index = target.index
        key = len(_value(frame, info, whole, values)) - 1
    return f"{target.text}[{key!r}]"
