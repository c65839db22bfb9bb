"""Which names held which tensors after which line: what later explanations are computed from.

Bounded by the code, not by its run: of a line that runs often the first binding is kept, the last and a count.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import torch

from gradviz.model import Binding, Place
from gradviz.model.recording import BindingCause
from gradviz.worker.reading import PLAIN
from gradviz.worker.serials import Serials

# After so many bindings at one line the facts are read when they are asked for, if the tensor still lives then.
WARM = 16
MOST_WRITES = 1_000

# (sequence number of the tensor's grad_fn or None, the tensor itself where it still lives) -> node id or None
Resolve = Callable[[int | None, Any], int | None]
_Look = TypeVar("_Look", bound=Callable[..., Any])
_C: Any = torch._C


class Facts(NamedTuple):
    """A tensor as it was. `address` is its `id`, good only as long as `tensor` names the same object."""

    address: int
    tensor: int
    storage: int | None
    shape: tuple[int, ...]
    dtype: str
    requires_grad: bool
    is_leaf: bool
    retains_grad: bool
    version: int
    sequence: int | None
    op: str | None


@dataclass(slots=True)
class Entry:
    """One name at one line. `latest` is the tensor of the last binding where its facts were not read."""

    order: int
    place: Place
    name: str
    cause: BindingCause
    first: Facts
    before_call: int | None = None
    last: Facts | None = None
    last_order: int = 0
    last_call: int | None = None
    settled: int = 0  # the `last_order` to which `last_call` belongs
    latest: weakref.ref[Any] | None = None
    count: int = 1
    is_changed: bool = True
    is_warm: bool = False  # to note it again is to note the order, the tensor and that it is one more
    told: int = 0  # the count when it was last drained
    last_item: tuple[str, Any] | None = (
        None  # container and key where the last name is another: `hs[999]` after `hs[64]`
    )

    @property
    def last_name(self) -> str:
        """The name of the last binding."""
        return self.name if self.last_item is None else "{}[{!r}]".format(*self.last_item)


Key = tuple[int, int, str, str]  # code, line, name, cause


class Log:
    """The bindings of all threads."""

    def __init__(self, serials: Serials) -> None:
        self._serials = serials
        self._entries: dict[Key, Entry] = {}
        self._changed: list[Entry] = []
        self._writes: dict[int, int] = {}  # memory -> the version whose line was noted
        self.order = 0  # of the last binding

    def add(self, key: Key, place: Callable[[], Place], tensor: Any) -> Entry | None:
        """Note that a name holds `tensor` after its line."""
        entry = self._entries.get(key)
        if entry is not None:
            self.again(entry, tensor)
            return entry
        facts = facts_of(tensor, self._serials)
        if facts is None:
            return None
        cause: Any = key[3]
        self.order += 1
        entry = self._entries[key] = Entry(self.order, place(), key[2], cause, facts)
        self._changed.append(entry)
        return entry

    def again(self, entry: Entry, tensor: Any, item: tuple[str, Any] | None = None) -> None:
        """Note that the name of `entry` (or the one of another `item`) holds `tensor` after the same line."""
        self.order = entry.last_order = self.order + 1
        entry.last_item = item
        entry.count += 1
        if entry.count > WARM:
            entry.latest = weakref.ref(tensor)
        else:
            entry.last = facts_of(tensor, self._serials) or entry.last
        if not entry.is_changed:
            entry.is_changed = True
            self._changed.append(entry)
        entry.is_warm = entry.count > WARM

    def is_news(self, tensor: Any) -> bool:
        """Whether no line has been noted yet for the last write into this memory: a callee's line comes first."""
        memory = self._serials.memory(tensor) or -self._serials.tensor(tensor)
        version = version_of(tensor)
        if self._writes.get(memory) == version:
            return False
        if len(self._writes) >= MOST_WRITES:
            self._writes.clear()
        self._writes[memory] = version
        return True

    def settle(self, before_call: int | None) -> None:
        """All that was noted since the last time happened before call `before_call`."""
        for entry in self._changed:
            if entry.told == 0 and entry.before_call is None:
                entry.before_call = before_call
            if entry.settled != entry.last_order and before_call is not None:
                entry.last_call, entry.settled = before_call, entry.last_order

    def drain(self, resolve: Resolve, final: bool = False) -> list[Binding]:
        """What is new since the last time.

        Of a line that goes on binding the latest state is told when its count has doubled, and at the end (`final`):
        some 15 rows for 10,000 steps.
        """
        found: list[Binding] = []
        waiting: list[Entry] = []
        for entry in self._changed:
            if entry.told and not final and entry.count < 2 * entry.told:
                waiting.append(entry)
                continue
            self._refresh(entry)
            if entry.told == 0:
                found.append(self._binding(entry, entry.name, entry.first, entry.order, entry.before_call, resolve))
            if entry.last is not None and entry.count > 1:
                found.append(
                    self._binding(entry, entry.last_name, entry.last, entry.last_order, entry.last_call, resolve)
                )
            entry.told, entry.is_changed, entry.is_warm = entry.count, False, False
        self._changed = waiting
        return found

    def let_go(self, *tensors: Any) -> None:
        """Drop weak references to tensors that are about to be swapped."""
        wanted = {id(tensor) for tensor in tensors}
        for entry in self._entries.values():
            if entry.latest is not None and id(entry.latest()) in wanted:
                self._refresh(entry)

    def forget(self) -> None:
        """Drop all weak references."""
        for entry in self._entries.values():
            entry.latest = None

    def _refresh(self, entry: Entry) -> None:
        tensor = None if entry.latest is None else entry.latest()
        if tensor is not None:
            entry.last = facts_of(tensor, self._serials) or entry.last
        entry.latest = None

    def _binding(
        self, entry: Entry, name: str, facts: Facts, order: int, call: int | None, resolve: Resolve
    ) -> Binding:
        return Binding(
            order=order,
            place=entry.place,
            name=name,
            cause=entry.cause,
            tensor=facts.tensor,
            storage=facts.storage,
            shape=facts.shape,
            dtype=facts.dtype,
            requires_grad=facts.requires_grad,
            is_leaf=facts.is_leaf,
            retains_grad=facts.retains_grad,
            op=facts.op,
            node=resolve(facts.sequence, self._serials.living(facts.tensor, facts.address)),
            version=facts.version,
            before_call=call,
            count=entry.count,
        )


def _unseen(look: _Look) -> _Look:
    """Let `look` read attributes of a tensor without the `__torch_function__` of its class noticing."""

    @wraps(look)
    def looking(tensor: Any, *others: Any) -> Any:
        if type(tensor) in PLAIN:
            return look(tensor, *others)
        with _C.DisableTorchFunctionSubclass():
            return look(tensor, *others)

    return looking  # type: ignore[return-value]


@_unseen
def facts_of(tensor: Any, serials: Serials) -> Facts | None:
    """Read a tensor without anybody noticing; None where that cannot be done (a wrapper of a transform that ended)."""
    try:
        node = node_of(tensor)
        return Facts(
            address=id(tensor),
            tensor=serials.tensor(tensor),
            storage=serials.memory(tensor),
            shape=tuple(map(int, tensor.shape)),
            dtype=str(tensor.dtype)[6:],
            requires_grad=tensor.requires_grad,
            is_leaf=tensor.is_leaf,
            retains_grad=tensor.retains_grad,
            version=max(version_of(tensor), 0),
            sequence=None if node is None else node._sequence_nr(),
            op=None if node is None else node.name(),
        )
    except (RuntimeError, NotImplementedError, TypeError, ValueError):
        return None


def node_of(tensor: Any) -> Any:
    """`grad_fn`, where reading it makes nothing: a view whose base was written to gets a new node by being asked."""
    if type(tensor) in PLAIN:  # at each line that binds a tensor: without the wrapper of `_unseen`
        return None if tensor._is_view() and version_of(tensor) > 0 else tensor.grad_fn
    with _C.DisableTorchFunctionSubclass():
        return None if tensor._is_view() and version_of(tensor) > 0 else tensor.grad_fn


def version_of(tensor: Any) -> int:
    """How often a tensor's memory was written to, -1 for one that does not count (made in inference mode)."""
    # Read several times for each line that runs, so it goes without the wrapper of `_unseen`.
    try:
        if type(tensor) in PLAIN:
            version: int = tensor._version
            return version
        with _C.DisableTorchFunctionSubclass():
            return int(tensor._version)
    except RuntimeError:
        return -1


@_unseen
def is_trained(tensor: Any) -> bool:
    """Whether this is a leaf that gets a gradient."""
    return bool(tensor.requires_grad and tensor.is_leaf)


@_unseen
def gradient_of(tensor: Any) -> tuple[bool, Any]:
    """Whether `.grad` can be read without a warning, and `.grad`."""
    known = bool(tensor.is_leaf or tensor.retains_grad)
    return known, tensor.grad if known else None
