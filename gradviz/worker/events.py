"""What changes `.grad` or a parameter between calls: measured on the leaves that calls have met, never inferred."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from ctypes import string_at
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from gradviz.model import Event, Place
from gradviz.model.recording import EventKind
from gradviz.store.codec import is_whole
from gradviz.store.writer import Writer
from gradviz.worker.capture import HEAD, SMALL, Capture
from gradviz.worker.identity import Identities, Known
from gradviz.worker.prints import NOTHING, Asked, Print, Prints, differ
from gradviz.worker.quiet import below_autograd, started_here
from gradviz.worker.reading import PLAIN, gradient_of

if TYPE_CHECKING:
    from gradviz.worker.trace import Tracer

# In a long run an event names so many tensors and says how many more there were.
NAMES = 16
WHOLE_NAMES_UP_TO = 64  # events
_flatten: Any = torch._utils._flatten_dense_tensors
_MANY = 16  # values that are compared at one go
Norm = float | None
_SMALL = HEAD + 4 * SMALL  # bytes of a packed value that is surely kept whole in a print


@dataclass(slots=True)
class State:
    """A leaf's `.grad` and value when they were last looked at."""

    gradient: Print
    value: Print | None = None
    stored: bytes | None = None  # how the value was packed, while it is still that
    kind: tuple[torch.dtype, torch.Size] | None = None  # of the value when a call looked at it


Key = tuple[EventKind, str | None, Place | None]
"""What happened to some leaves, how, and the line that did it; None where it is not known."""


class Found:
    """What was found to have changed at one moment: by key the names of the leaves and their norms before and after."""

    def __init__(self) -> None:
        self.groups: dict[Key, tuple[list[str], list[tuple[Norm, Norm]]]] = {}
        self._key: Key | None = None

    def add(self, key: Key, name: str, norms: tuple[Norm, Norm]) -> None:
        """Add a leaf."""
        if key != self._key:  # most are of the same kind as the one before
            self._key = key
            self._names, self._norms = self.groups.setdefault(key, ([], []))
        self._names.append(name)
        self._norms.append(norms)


class Changes:
    """Compares the known leaves with how they were, at a few moments between calls."""

    def __init__(self, writer: Writer, capture: Capture, identities: Identities, tracer: Tracer | None) -> None:
        self._writer = writer
        self._tracer = tracer
        self._capture = capture
        self._prints = Prints(capture)
        self._identities = identities
        self._states: dict[int, State] = {}  # by node id
        self._waiting: list[Found] = []
        self._at_call = Found()  # values that the call that starts now has found changed
        self._written = 0

    def measure(self, place: Place | None = None, detail: str | None = None, values: bool = False) -> None:
        """Note which `.grad` (and value) changed since the last time.

        `place` is the line that called the function of torch's that did it, `detail` the function's name; without
        them it was done by hand.
        """
        found = Found()
        states, take = self._states, self._prints.take
        for tensor, known in self._identities.leaves.alive():
            state = states.get(known.node)
            if state is None:
                continue
            gradient, before = gradient_of(tensor), state.gradient
            if gradient is None and before is NOTHING and not values:  # most of them, between steps
                continue
            now = NOTHING if gradient is None else take(gradient, before)
            if now is not before and differ(before, now):
                kind, how = self._kind(before, now)
                where = place or self._line(tensor, gradient=True)
                found.add((kind, how or detail, where), _name(known), (self._norm(before), self._norm(now)))
                state.gradient = now
            if values and state.value is not None:
                self._compare_value(tensor, known, take(tensor, state.value), found, place, detail)
        self._note(found)
        if self._tracer is not None:
            self._tracer.writes.forget_gradients()

    def stepped(self, tensors: Iterable[Any], place: Place | None) -> None:
        """Note an optimizer's step on `tensors`, which has just ended."""
        found = Found()
        for tensor in tensors:
            known = self._identities.leaves.find(tensor)
            state = None if known is None else self._states.get(known.node)
            if known is None or state is None or state.value is None:
                continue
            now = self._prints.take(tensor, state.value)
            norms = self._norm(state.value), self._norm(now)
            found.add(("optimizer_step", None, place), _name(known), norms)
            if now is not state.value:
                state.value, state.stored = now, None
        self._note(found)
        self.measure(place)

    def leaf_values(
        self, leaves: Mapping[int, Any], known: Mapping[int, Known], pack: Callable[[Any], bytes]
    ) -> dict[int, bytes]:
        """A call looks at its leaves: note which values have changed, and return all of them packed by `pack`."""
        found = self._still(leaves, known)
        asked: dict[int, Asked] = {}
        for at, tensor in leaves.items():
            if at in found:
                continue
            before = self._state(known[at]).value
            if before is not None and self._is_still(tensor, before):
                found[at] = self._stored(tensor, known[at], pack)
            else:
                asked[at] = Asked(tensor, before)
        for (at, one), now in zip(asked.items(), self._prints.take_all([*asked.values()]), strict=True):
            self._compare_value(one.tensor, known[at], now, self._at_call)
            found[at] = self._stored(one.tensor, known[at], pack)
        return {at: found[at] for at in leaves}

    def _still(self, leaves: Mapping[int, Any], known: Mapping[int, Known]) -> dict[int, bytes]:
        """The packed values of small leaves, by position, if all of them are as they were.

        A network of single numbers has thousands; to compare them at one go takes a quarter of what reading each does.
        """
        found: dict[int, bytes] = {}
        if self._tracer is not None and self._tracer.writes.are_any():
            return found
        tensors, states = [], self._states
        for at, tensor in leaves.items():
            state = states.get(known[at].node)
            if state is None or state.value is None or state.kind is None or type(tensor) not in PLAIN:
                continue
            data = state.value.data
            if data is not None and (tensor.dtype, tensor.shape) == state.kind:
                tensors.append(tensor)
                found[at] = data
        if len(found) < _MANY:
            return {}
        try:
            with below_autograd():
                flat = _flatten(tensors)
        except RuntimeError as error:  # types that have nothing in common
            if not started_here(error):
                raise
            return {}
        now = string_at(flat.data_ptr(), flat.nbytes) if flat.is_cpu else b""  # elsewhere there is nothing to read
        return found if now == b"".join([data[HEAD:] for data in found.values()]) else {}

    def _stored(self, tensor: Any, known: Known, pack: Callable[[Any], bytes]) -> bytes:
        """A leaf's value, whose print was just taken, as `pack` packs it."""
        state = self._states[known.node]
        assert state.value is not None
        if state.value.data is not None:
            state.kind = (tensor.dtype, tensor.shape) if is_whole(state.value.data) else None
            return state.value.data
        if state.stored is None:
            state.stored = pack(tensor)
        return state.stored

    def settle(self, leaves: Iterable[tuple[Any, Known]], left: Mapping[int, bytes]) -> None:
        """A call has ended, and what it did to `.grad` of its `leaves` is recorded with it.

        `left` holds, by node id, the packed `.grad` of those that the call has written.
        """
        large: list[tuple[State, Asked]] = []
        for tensor, known in leaves:
            state = self._state(known)
            packed = left.get(known.node)
            if packed is not None and is_whole(packed) and len(packed) <= _SMALL:
                state.gradient = Print(packed)
            else:
                large.append((state, Asked(gradient_of(tensor), state.gradient, packed)))
        for (state, _), now in zip(large, self._prints.take_all([one for _, one in large]), strict=True):
            state.gradient = now

    def prune(self) -> None:
        """Forget leaves that are gone."""
        alive = {known.node for _, known in self._identities.leaves.alive()}
        self._states = {node: state for node, state in self._states.items() if node in alive}

    def forget(self) -> None:
        """A call goes by unmeasured: what changes in it must not be taken for the script's doing."""
        self._states.clear()

    def write(self, before_call: int | None) -> None:
        """Write what was noted since the last call; `before_call` is the one that starts now, None at the end."""
        self._note(self._at_call)
        self._at_call = Found()
        events = []
        for found in self._waiting:
            events += self._events(found, before_call)
        self._waiting.clear()
        self._written += len(events)
        self._writer.add_events(events)

    def _state(self, known: Known) -> State:
        state = self._states.get(known.node)
        if state is None:
            state = self._states[known.node] = State(NOTHING)
        return state

    def _note(self, found: Found) -> None:
        if found.groups:
            self._waiting.append(found)

    def _line(self, tensor: Any, gradient: bool) -> Place | None:
        return None if self._tracer is None else self._tracer.wrote(tensor, gradient)

    def _norm(self, entry: Print) -> Norm:
        return None if entry is NOTHING else self._prints.norm_of(entry)

    def _kind(self, before: Print, now: Print) -> tuple[EventKind, str | None]:
        """What a change of `.grad` is, and how it was cleared."""
        if now is NOTHING:
            return "grad_cleared", "to None"
        if self._norm(now) == 0.0 and before is not NOTHING:
            return "grad_cleared", "to zero"
        return "grad_assigned", None

    def _is_still(self, tensor: Any, before: Print) -> bool:
        """Tell at little cost whether a small value is as it was and no line has written into any."""
        quick = before.data is not None and (self._tracer is None or not self._tracer.writes.are_any())
        return quick and self._capture.pack_small(tensor) == before.data

    def _compare_value(
        self, tensor: Any, known: Known, now: Print, found: Found, place: Place | None = None, detail: str | None = None
    ) -> None:
        """Note whether a leaf's value has changed; it is known from `now` on."""
        state = self._states[known.node]
        before, state.value = state.value, now
        if before is None:
            return
        where = self._line(tensor, gradient=False)
        if differ(before, now):
            norms = self._norm(before), self._norm(now)
            found.add(("value_changed", detail, place or where), _name(known), norms)
            state.stored = None

    def _events(self, found: Found, before_call: int | None) -> list[Event]:
        events = []
        for (kind, detail, place), (names, norms) in found.groups.items():
            if self._written >= WHOLE_NAMES_UP_TO and len(names) > NAMES:
                detail = f"{detail + '; ' if detail else ''}{len(names)} in all"
                names, norms = names[:NAMES], norms[:NAMES]
            events.append(Event(kind, before_call, tuple(names), place, detail, tuple(norms)))
        return events


def _name(known: Known) -> str:
    return known.name if known.name is not None else f"#{known.node}"
