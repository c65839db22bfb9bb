"""The history of one `.grad`: what each call brought, where it was cleared, what it held when an optimizer stepped.

`as_if_cleared` tells what would have been there if it had been cleared before some call. Pure functions of a recording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from gradviz.errors import DamagedRecordingError
from gradviz.model import Accumulation, Call, CallDetail, Event, Gradient, Place, Recording
from gradviz.playback.ledger import is_zero, same
from gradviz.playback.sums import total

EntryKind = Literal["brought", "cleared", "assigned", "step", "missed"]


@dataclass(frozen=True)
class HistoryEntry:
    """One thing that happened to a `.grad`, in order.

    `brought`: a call (its number and label) added `incoming`. `cleared`: `.grad` was emptied or set to zero.
    `assigned`: something else changed it (a hook, a hand, clipping). `step`: an optimizer stepped while it held
    `after`. `missed`: it changed while calls ran of which this was not kept, or cannot be read. `before` and `after`
    are `.grad` around it; `known` is False where `after` could only be inferred.
    """

    kind: EntryKind
    before: Gradient
    after: Gradient
    call: int | None = None
    label: str | None = None
    incoming: Gradient = None
    place: Place | None = None
    known: bool = True


@dataclass(frozen=True)
class GradHistory:
    """`.grad` of output `output_nr` of node `node` over the calls of a recording.

    `unread` are the labels of the calls that a damaged recording does not give any more.
    """

    node: int
    output_nr: int
    name: str | None
    retained: bool
    entries: tuple[HistoryEntry, ...]
    unread: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[HistoryEntry, ...]:
        """The calls whose contributions are in `.grad` at the end: the segments of the bar."""
        last = 0
        for index, entry in enumerate(self.entries):
            if entry.kind in ("cleared", "assigned", "missed"):
                last = index + 1
        return tuple(entry for entry in self.entries[last:] if entry.kind == "brought")

    @property
    def final(self) -> Gradient:
        """What is there at the end."""
        return self.entries[-1].after if self.entries else None


def grad_histories(
    recording: Recording, calls: Iterable[int] | None = None, check: Callable[[], None] = lambda: None
) -> tuple[GradHistory, ...]:
    """The histories of all leaves and retained tensors, in the order in which they first received something.

    `calls` are the numbers of the calls to look at, None all that accumulate and are the script's own. `check` is
    called before each; what it raises ends the work. Calls that cannot be read are passed over and named.

    Raises:
        RecordingError: the recording was closed, or its file is gone.
    """
    wanted = None if calls is None else set(calls)
    tracks = _Tracks()
    events = _by_call(recording.events)
    for call in recording.calls:
        check()
        for event in events.pop(call.number, ()):
            tracks.tell(event)
        if not call.what_if and call.complete and (wanted is None or call.number in wanted):
            tracks.enter(call, _detail(recording, call))
    for rest in events.values():
        for event in rest:
            tracks.tell(event)
    return tracks.histories()


def _detail(recording: Recording, call: Call) -> CallDetail | None:
    """What moved in a call; None where that was not kept or cannot be read."""
    try:
        return None if call.detail == "none" else recording.detail(call.number)
    except DamagedRecordingError:
        return None


def as_if_cleared(history: GradHistory, call: int) -> GradHistory:
    """The history as it would be if `.grad` had been cleared just before call number `call`.

    What each call brings stays as recorded. Entries from there on are `known=False` where sums cannot be made (too
    many elements were not kept); what was assigned by hand is kept as it was.
    """
    entries: list[HistoryEntry] = []
    held: Gradient = None
    changed, known = False, True
    for entry in history.entries:
        if not changed and entry.call == call and entry.kind == "brought":
            entries.append(HistoryEntry("cleared", entry.before, None, call, entry.label, known=False))
            held, changed = None, True
        if not changed:
            entries.append(entry)
            continue
        made = _again(entry, held, known)
        entries.append(made)
        held, known = made.after, made.known
    return replace(history, entries=tuple(entries))


def _again(entry: HistoryEntry, held: Gradient, known: bool) -> HistoryEntry:
    """An entry on another `.grad`; `known` is False where that is not known itself."""
    if entry.kind == "brought":
        after, sure = total((held, entry.incoming)) if known else (None, False)
        return replace(entry, before=held, after=after, known=sure)
    if entry.kind == "step":
        return replace(entry, before=held, after=held, known=known)
    if entry.kind == "missed":
        return replace(entry, before=held, after=None, known=False)
    return replace(entry, before=held, known=True)


class _Track:
    """One history while it is gathered."""

    def __init__(self, name: str | None, retained: bool) -> None:
        self.name = name
        self.retained = retained
        self.missed = False  # calls ran meanwhile of which nothing is known
        self.entries: list[HistoryEntry] = []

    @property
    def held(self) -> Gradient:
        return self.entries[-1].after if self.entries else None

    def bring(self, entry: Accumulation, call: int, label: str, place: Place | None) -> None:
        """A call has added to it; what had changed unseen since the last call is told first."""
        self.name = entry.name or self.name
        if not same(entry.before, self.held) and (self.entries or entry.before is not None):
            self._changed(entry.before, None)
        self.missed = False
        if entry.incoming is not None:
            where = (call, label, entry.incoming, place)
            self.entries.append(HistoryEntry("brought", entry.before, entry.after, *where))
        elif not same(entry.before, entry.after):
            self._changed(entry.after, place)
        if not same(entry.after, entry.left):
            self._changed(entry.left, place)

    def tell(self, event: Event) -> None:
        """Something happened between calls."""
        if event.kind == "grad_cleared":
            if not (self.held is None or is_zero(self.held)):
                self.entries.append(HistoryEntry("cleared", self.held, None, place=event.place))
        elif event.kind == "optimizer_step":
            self.entries.append(HistoryEntry("step", self.held, self.held, place=event.place))

    def _changed(self, now: Gradient, place: Place | None) -> None:
        kind: EntryKind = "cleared" if now is None or is_zero(now) else "missed" if self.missed else "assigned"
        last = self.entries[-1] if self.entries else None
        if last is not None and last.kind == "cleared" and kind == "cleared":
            # The event has told that it was cleared, the next call how: to None or to zero.
            self.entries[-1] = replace(last, after=now)
            return
        self.entries.append(HistoryEntry(kind, self.held, now, place=place))


class _Tracks:
    """All histories while they are gathered, found by node and by the names that events use."""

    def __init__(self) -> None:
        self._tracks: dict[tuple[int, int], _Track] = {}
        self._by_name: dict[str, dict[tuple[int, int], _Track]] = {}
        self._unread: list[str] = []

    def enter(self, call: Call, detail: CallDetail | None) -> None:
        """A call has run; None: what it brought is not known."""
        if detail is None:
            if call.detail != "none":
                self._unread.append(call.label)
            for known in self._tracks.values():
                known.missed = True
            return
        for retained, entry in _in_order(detail.accumulations, detail.retained):
            key = entry.node, entry.output_nr
            track = self._tracks.get(key)
            if track is None:
                track = self._tracks[key] = _Track(entry.name, retained)
            for name in (f"#{entry.node}", *([entry.name] if entry.name is not None else [])):
                self._by_name.setdefault(name, {})[key] = track
            track.bring(entry, call.number, call.label, call.place)

    def tell(self, event: Event) -> None:
        """Something happened between calls."""
        concerned = {key: track for name in event.names for key, track in self._by_name.get(name, {}).items()}
        for each in concerned.values():
            each.tell(event)

    def histories(self) -> tuple[GradHistory, ...]:
        """What has been gathered."""
        unread = tuple(self._unread)
        return tuple(GradHistory(*key, t.name, t.retained, tuple(t.entries), unread) for key, t in self._tracks.items())


def _by_call(events: Iterable[Event]) -> dict[int | None, list[Event]]:
    found: dict[int | None, list[Event]] = {}
    for event in events:
        found.setdefault(event.before_call, []).append(event)
    return found


def _in_order(
    accumulations: Iterable[Accumulation], retained: Iterable[Accumulation]
) -> Iterator[tuple[bool, Accumulation]]:
    """Both kinds as they happened in the engine's order; those without a place in it come last."""
    both = [(False, entry) for entry in accumulations] + [(True, entry) for entry in retained]
    yield from sorted(both, key=lambda item: (item[1].order is None, item[1].order or 0))
