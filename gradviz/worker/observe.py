"""Looks at the tensors that a line binds or writes into, from inside a trace callback.

Everything here must leave no trace in the program: plain reads of plain tensors, nothing kept, nothing locked.
"""

from __future__ import annotations

import weakref
from types import FrameType
from typing import Any

import torch

from gradviz.worker.bindings import Log, is_trained, node_of, version_of
from gradviz.worker.intervals import Intervals
from gradviz.worker.kinds import attributes, is_key
from gradviz.worker.lines import COLD, LAST, MOST_ITEMS, CodeInfo, Line, Step, Target
from gradviz.worker.locals import ABSENT, KEPT, Slot, Variables, value_at, variables_of
from gradviz.worker.modules import ModuleNames
from gradviz.worker.sites import Sites
from gradviz.worker.writes import Before, Writes, changed, dull, state_of
from gradviz.worker.writing import Write

_C: Any = torch._C
# Looked at so often without finding a tensor, a name that is only used is looked at no more; a bound one later.
DULL_USE, DULL_STORE = 3, 200
_TENSOR = torch.Tensor
_reference = weakref.ref
_TENSORS: dict[type, bool] = {torch.Tensor: True, torch.nn.Parameter: True}
# What a line uses as it was before the line ran: id and version.
Seen = dict[Target, tuple[int, int]]
NOTHING: Seen = {}
# Whether a mode of the user's is on, which would see us look.
is_watched: Any = _C._len_torch_function_stack


class Activation:
    """A function of the user's that is running: its code, its line, how often that line had run, its callers.

    A frame is known by its id only, so that no variable of the user's lives longer than without us.
    """

    __slots__ = (
        *("before", "frame", "info", "iteration", "parent", "seen", "since", "stack", "step"),
        *("time", "variables", "writes"),
    )

    def __init__(self, frame: FrameType, info: CodeInfo, line: int, stack: int, parent: Activation | None) -> None:
        self.frame = id(frame)
        self.variables: Variables = variables_of(frame) if KEPT else None
        self.info = info
        self.step = info.start(line)
        self.before: Step | None = None  # the step of a generator that goes on, when it had yielded
        self.iteration = 0
        self.stack = stack
        self.parent = parent
        self.seen = NOTHING  # when the line started
        self.since = 0  # the number that the next node got then
        self.writes: list[tuple[Write, Before]] = []  # what it may write into without binding it
        self.time = 0  # of `Writes`

    def look_away(self) -> None:
        """What a line does while a mode of the user's is on is not looked at."""
        self.seen, self.writes = NOTHING, []


class Observer:
    """The eyes of one thread's tracer."""

    def __init__(self, log: Log, sites: Sites, intervals: Intervals, modules: ModuleNames, writes: Writes) -> None:
        self._log = log
        self._sites = sites
        self._intervals = intervals
        self._modules = modules
        self._writes = writes

    def before(self, frame: FrameType, top: Activation, now: int) -> None:
        """The versions of what a line that may write into tensors uses; the next node gets the number `now`.

        This and `after` run at each line of the user's: what most lines need stands here in full, since to call a
        function of ours costs as much as to look at a tensor.
        """
        look, variables = top.step.look, top.variables
        top.since = now
        if look.quick_uses is None or variables is None:
            self._before_any(frame, top, look)
            return
        top.seen = seen = {}
        for target, position in look.quick_uses:
            try:
                value = variables[position]
                if type(value) is _TENSOR:
                    seen[target] = id(value), value._version
                else:
                    self._use(look, target, value, seen)
            except ValueError:  # unbound
                self._use(look, target, ABSENT, seen)
            except RuntimeError:  # without a version: made in inference mode
                self._use(look, target, value, seen)

    def _before_any(self, frame: FrameType, top: Activation, look: Line) -> None:
        variables = top.variables if KEPT else variables_of(frame)
        top.seen = {}
        for target in look.uses:
            self._use(look, target, _value(frame, top.info, target, variables), top.seen)
        if look.writes:
            self._before_writes(frame, top, look, variables)

    def _use(self, look: Line, target: Target, value: Any, seen: Seen) -> None:
        if is_plain(value):
            seen[target] = id(value), version_of(value)
        else:
            target.misses += 1
            if target.misses >= DULL_USE:
                look.shorten(DULL_STORE, DULL_USE)

    def _before_writes(self, frame: FrameType, top: Activation, look: Line, variables: Variables) -> None:
        top.writes, top.time = [], self._writes.time
        for write in look.writes:
            if not dull(write):
                value = _reached(frame, top.info, write, variables)
                state = state_of(value, write.gradient) if is_plain(value) else None
                write.misses += state is None
                top.writes.append((write, None if state is None else (id(value), state)))

    def after(self, frame: FrameType, top: Activation) -> None:
        """What the line bound, and which of its tensors it wrote into."""
        look, variables, seen = top.step.look, top.variables, top.seen
        top.seen = NOTHING
        if look.quick_stores is None or variables is None:
            self._after_any(frame, top, look, seen)
            return
        for target, (address, version) in seen.items():
            position = target.position
            try:
                if position >= 0:
                    value = variables[position]
                    if id(value) != address or (type(value) is _TENSOR and value._version == version):
                        continue
            except (ValueError, RuntimeError):  # unbound, or without a version: made in inference mode
                pass
            self._compare(frame, top, target, address, version)
        intervals, log = self._intervals, self._log
        for target, position, use in look.quick_stores:
            try:
                value = variables[position]
            except ValueError:  # unbound
                value = ABSENT
            if type(value) is not _TENSOR:
                self._store(frame, top, look, target, value, seen)
                continue
            if use in seen and seen[use][0] == id(value):
                continue
            # As `_store` does it.
            node = node_of(value) if value._is_view() else value.grad_fn
            if node is not None:
                sequence = node._sequence_nr()
                try:
                    if not intervals.names[sequence - intervals.first]:
                        intervals.name(sequence, target.row or self._row(target))
                except IndexError:
                    intervals.name(sequence, target.row or self._row(target))
            entry = target.entry
            if entry.is_warm:
                log.order = entry.last_order = log.order + 1
                entry.count += 1
                entry.latest = _reference(value)
            else:
                self._note(top, target, value)

    def _after_any(self, frame: FrameType, top: Activation, look: Line, seen: Seen) -> None:
        variables = top.variables if KEPT else variables_of(frame)
        for target, (address, version) in seen.items():
            self._compare(frame, top, target, address, version)
        if top.writes:
            self._noted(frame, top, variables)
        for target in look.stores:
            self._store(frame, top, look, target, _value(frame, top.info, target, variables), seen)

    def _compare(self, frame: FrameType, top: Activation, target: Target, address: int, version: int) -> None:
        """Note a tensor whose version rose."""
        value = _value(frame, top.info, target, top.variables if KEPT else variables_of(frame))
        if id(value) == address and is_plain(value) and version_of(value) != version:
            self._wrote(top.info, top.step.line, target.text, value, top.since)

    def _store(self, frame: FrameType, top: Activation, look: Line, target: Target, value: Any, seen: Seen) -> None:
        """Note what a target holds after its line."""
        if not is_plain(value):
            self._missed(look, target, value)
        elif target.use in seen and seen[target.use][0] == id(value):
            pass  # written into at most
        elif target.key is not None:
            self._item_assigned(frame, top, target, value)
        else:
            node = node_of(value)
            if node is not None:
                self._intervals.name(node._sequence_nr(), target.row or self._row(target))
            self._note(top, target, value)

    def _note(self, top: Activation, target: Target, value: Any, cause: str = "assigned") -> None:
        if target.entry is not COLD:
            self._log.again(target.entry, value)
        else:
            target.entry = self._add(top.info, top.step.line, target.text, cause, value) or COLD

    def arguments(self, frame: FrameType, top: Activation) -> None:
        """The tensors that a function was called with."""
        info = top.info
        variables = top.variables if KEPT else variables_of(frame)
        for target in info.arguments:
            value = value_at(variables, target.slot)
            if type(value) is _TENSOR or is_plain(value):
                self._note(top, target, value, "argument")
            else:
                target.misses += 1
                if target.misses >= DULL_STORE:
                    info.arguments = [argument for argument in info.arguments if argument.misses < DULL_STORE]

    def returned(self, info: CodeInfo, number: int, value: Any) -> None:
        """What a function returned, where it is a tensor."""
        if is_plain(value) and not is_watched():
            self._add(info, number, info.code.co_name, "returned", value)

    def _wrote(self, info: CodeInfo, number: int, name: str, tensor: Any, since: int) -> None:
        """The line wrote into a tensor under this name: so it made its node anew, or changed a leaf."""
        node = node_of(tensor)
        if node is not None and node._sequence_nr() >= since:
            self._intervals.name(node._sequence_nr(), self._sites.name(name))
        if self._log.is_news(tensor):
            self._add(info, number, name, "written", tensor)
            if is_trained(tensor):
                self._writes.note(tensor, False, info.id, number, self._writes.time)

    def _noted(self, frame: FrameType, top: Activation, variables: Variables) -> None:
        """Note the line as the one that wrote into `.grad`, or into a value in a way that no version tells."""
        writes, top.writes = top.writes, []
        for write, before in writes:
            value = _reached(frame, top.info, write, variables)
            if is_plain(value) and changed(value, write, before):
                self._writes.note(value, write.gradient, top.info.id, top.step.line, top.time)

    def _missed(self, look: Line, target: Target, value: Any) -> None:
        """A name was bound to something else than a tensor."""
        target.misses += 1
        if target.misses >= DULL_STORE:
            look.shorten(DULL_STORE, DULL_USE)
        if issubclass(type(value), torch.nn.Module):
            self._modules.bound(value, target.text)

    def _item_assigned(self, frame: FrameType, top: Activation, target: Target, value: Any) -> None:
        """`ws[i] = x`, `ws.append(x)`: the name says which item, and is written out only where it is needed."""
        variables = top.variables if KEPT else variables_of(frame)
        key = _key(target, frame, top.info, variables)
        if key is LAST:
            key = len(_container(frame, top.info, target, variables)) - 1
        node = node_of(value)
        if node is not None and not self._intervals.is_named(sequence := node._sequence_nr()):
            self._intervals.name(sequence, self._sites.name(f"{target.text}[{key!r}]"))
        entry = target.items.get(key, COLD)
        if entry is not COLD:
            self._log.again(entry, value)
        elif target.entry is not COLD:  # which is made when there are enough items
            self._log.again(target.entry, value, (target.text, key))
        else:
            name = f"{target.text}[{key!r}]"
            entry = self._add(top.info, top.step.line, name, "assigned", value) or COLD
            if len(target.items) < MOST_ITEMS:
                target.items[key] = entry
            else:
                target.entry = entry

    def _row(self, target: Target) -> int:
        target.row = self._sites.name(target.text)
        return target.row

    def _add(self, info: CodeInfo, number: int, name: str, cause: str, tensor: Any) -> Any:
        return self._log.add((info.id, number, name, cause), lambda: self._sites.place(info.id, number), tensor)


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
    """Whether reading its attributes can be kept from a class: it may look at that, or compute them."""
    default = getattr(_C, "_disabled_torch_dispatch_impl", None)
    computes = getattr(kind, "__torch_dispatch__", None) is not default
    return not computes and getattr(kind, "__getattribute__", None) is torch.Tensor.__getattribute__


def _value(frame: FrameType, info: CodeInfo, target: Target, variables: Variables) -> Any:
    """What a target holds now, without running any code of the user's."""
    value = _container(frame, info, target, variables)
    return value if target.key is None else _item(value, _key(target, frame, info, variables))


def _container(frame: FrameType, info: CodeInfo, target: Target, variables: Variables) -> Any:
    """What a target holds without its `[...]`."""
    value = _variable(frame, info, target.base, target.slot, variables)
    for attribute in target.attributes:
        value = attribute_of(value, attribute)
    return value


def _reached(frame: FrameType, info: CodeInfo, write: Write, variables: Variables) -> Any:
    """What the expression of a write leads to now."""
    value = _variable(frame, info, write.base, write.slot, variables)
    for kind, key, slot in write.steps:
        if kind == "attribute":
            value = attribute_of(value, key)
        else:
            value = _item(value, key if kind == "item" else _variable(frame, info, key, slot, variables))
    return value


def _variable(frame: FrameType, info: CodeInfo, name: str, slot: Slot, variables: Variables) -> Any:
    if slot:
        return value_at(variables, slot)
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


def _key(target: Target, frame: FrameType, info: CodeInfo, variables: Variables) -> Any:
    assert target.key is not None
    name, is_name, slot = target.key
    return _variable(frame, info, name, slot, variables) if is_name else name
