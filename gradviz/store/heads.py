"""Reads the heads of a recording: what ran, the calls with their roots, events, warnings; and what is missing."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, get_args

from gradviz.errors import DamagedRecordingError
from gradviz.model import Call, CallError, Event, Header, Input, Outcome, Place, Recording, Root, ScriptWarning
from gradviz.model.calls import Detail
from gradviz.model.checking import built
from gradviz.model.recording import EventKind
from gradviz.store.check import newer
from gradviz.store.codec import damaged
from gradviz.store.fields import inputs_of, json_of, names_of, norms_of, places_of, shape_of
from gradviz.store.schema import MAJOR
from gradviz.store.tables import CALL_ENDS, CALLS, EVENTS, META, ROOTS, WARNINGS, Table
from gradviz.texts import tr

if TYPE_CHECKING:
    from gradviz.store.reader import Reader

_OVERLAP = 64
_PROBES = 100_000
_PAGEFUL = 256  # more rows than this do not lie on a page
_LOOK_SECONDS = 2.0  # for finding out what a damaged file has and lacks
_NAMED = 5
T = TypeVar("T")
_NO_HEADER = Header("", (), "", None, "", "")


class Expected(NamedTuple):
    """What other tables must hold of a call; None where it never ended, so that nobody knows."""

    graph: bool
    executions: int | None = None
    accumulations: int | None = None
    returned: bool | None = None

    @staticmethod
    def of(row: Sequence[Any], end: Sequence[Any] | None) -> Expected:
        """From the rows of `calls` and `call_ends` (without its key)."""
        return Expected(bool(row[-1]), *(() if end is None else (*end[4:6], bool(end[6]))))


@dataclass
class Heads:
    """What was read of the heads. Of a live recording only what came since is read again."""

    expected: dict[int, Expected] = field(default_factory=dict)  # by call
    calls: dict[int, Call] = field(default_factory=dict)
    settled: int = 0  # calls up to this one have ended and never change
    rows: dict[str, dict[int, Any]] = field(default_factory=dict)  # events and warnings by id, of a live recording


@dataclass(frozen=True)
class _Format:
    """The version that a recording says it has."""

    major: int
    minor: int


def read_recording(reader: Reader) -> Recording:
    """The recording with its heads; `damage` says what cannot be read."""
    until = time.monotonic() + _LOOK_SECONDS
    missing = [] if reader.opened.missing is None else [reader.opened.missing]
    header, outcome = _meta(reader, missing)
    calls = _calls(reader, missing, until)
    events = _parsed(reader, EVENTS, _event, tr("Some events cannot be read."), missing)
    warnings = _parsed(reader, WARNINGS, _warning, tr("Some warnings cannot be read."), missing)
    if missing:
        missing += _look_at_calls(reader, calls, until)
    return Recording(header, outcome, calls, events, warnings, reader, " ".join(missing) or None)


def _meta(reader: Reader, missing: list[str]) -> tuple[Header, Outcome]:
    rows, _ = reader.readable(META)
    facts = dict(rows)
    _check_format(reader, facts.get("format", ""))
    header, outcome = _NO_HEADER, Outcome("lost")
    try:
        outcome = built(Outcome, json_of(facts.get("outcome", "")))
        header = built(Header, json_of(facts.get("header", "")))
        header = replace(header, notes=(*header.notes, *names_of(facts.get("notes", "[]"))))
    except (ValueError, DamagedRecordingError):
        missing.append(tr("What ran, or how it ended, cannot be read."))
    return header, outcome


def _check_format(reader: Reader, text: str) -> None:
    """Refuse what says of itself that it is newer: `user_version` is a number that any tool can set.

    Raises:
        NewerRecordingError: of a newer major version.
    """
    try:
        found = built(_Format, json_of(text))
    except (ValueError, DamagedRecordingError):
        return  # the tables are ours, they have been compared
    if found.major > MAJOR:
        raise newer(reader.opened.path, found.major, found.minor)


# -- calls -----------------------------------------------------------------------------------------------------------


def _calls(reader: Reader, missing: list[str], until: float) -> tuple[Call, ...]:
    heads = reader.heads
    rows, whole = reader.readable(CALLS, heads.settled)
    if not whole:
        rows = _probed(reader, CALLS, rows, until)
    ends, all_ends = reader.readable(CALL_ENDS, heads.settled)
    if not all_ends:
        ends = _probed(reader, CALL_ENDS, ends, until)
        missing.append(tr("How some calls ended cannot be read."))
    ended = {row[0]: row[1:] for row in ends}
    heads.expected.update({row[0]: Expected.of(row, ended.get(row[0])) for row in rows})
    roots, rootless = _roots(reader, {row[0]: row[-2] for row in rows}, heads.settled)
    calls = {number: call for number, call in heads.calls.items() if number <= heads.settled}
    for row in rows:
        try:
            call = _call(row, tuple(roots.get(row[0], ())), ended.get(row[0]))
        except (ValueError, DamagedRecordingError):
            whole = False
            continue
        if call.parent is not None and call.parent not in calls:
            call = replace(call, parent=None, parent_node=None)  # it was left out, or it is lost
        calls[call.number] = call
    if not whole:
        missing.append(tr("Some calls cannot be read."))
    if rootless:
        missing.append(tr("The roots of some calls cannot be read: {calls}.", calls=_labels(calls, rootless)))
    if reader.opened.live and whole and all_ends:
        _settle(heads, calls)
    return tuple(calls.values())


def _settle(heads: Heads, calls: dict[int, Call]) -> None:
    """Keep the calls that have ended, up to the first that has not; threads may begin calls a little out of order."""
    last = max(calls, default=0) - _OVERLAP
    for number, call in calls.items():
        if not call.complete or number > last:
            break
        heads.settled = number
    heads.calls = calls


def _probed(reader: Reader, table: Table, rows: Sequence[Any], until: float) -> list[Any]:
    """The rows of a table by call that can be read, those between two damaged pages too: asked for one by one."""
    known = {row[0]: row for row in rows}
    number, last = 1, min(max(known, default=0), _PROBES)
    while number <= last + _PAGEFUL and time.monotonic() < until:
        if number not in known:
            try:
                found = reader.rows(table, f"WHERE {table.key[0]}=?", number)
            except DamagedRecordingError:
                found = []  # this one is lost; the caller says so
            known.update({row[0]: row for row in found})
        if number in known:
            last = max(last, number)
        number += 1
    return [known[number] for number in sorted(known)]


def _roots(reader: Reader, counts: Mapping[int, int], after: int) -> tuple[dict[int, list[Root]], list[int]]:
    """Roots by call, and the calls whose roots are lost; `counts` says how many each call has."""
    rows, whole = reader.readable(ROOTS, after)
    by_call: dict[int, list[Any]] = {}
    for row in rows:
        by_call.setdefault(row[0], []).append(row)
    found, lost = {}, []
    for number, count in counts.items():
        try:
            if not whole:
                by_call[number] = reader.rows(ROOTS, "WHERE call=?", number)
            if len(by_call.get(number, ())) != count:
                raise damaged()
            found[number] = [_root(reader, row, (number, index)) for index, row in enumerate(by_call.get(number, ()))]
        except DamagedRecordingError:
            lost.append(number)
    return found, lost


def _root(reader: Reader, row: Sequence[Any], place: tuple[int, int]) -> Root:
    call, index, kind, name, node, output_nr, shape, dtype, seed, given, seed_name, value = row
    if (call, index) != place or kind not in ("tensor", "edge"):
        raise damaged()
    return Root(
        *(kind, name, node, output_nr, None if shape is None else shape_of(shape), dtype),
        *(reader.value(seed), bool(given), reader.value(value), seed_name),
    )


def _call(row: Sequence[Any], roots: tuple[Root, ...], end: Sequence[Any] | None) -> Call:
    number, label, api, group, parent, parent_node, engine, what_if, detail, file, line, function, *rest = row
    stack, thread, retain, create, accumulates, batched, inputs, node_count, note, _, _ = rest
    if detail not in get_args(Detail) or (parent is not None and not 0 < parent < number):
        raise damaged()
    error, failed, seconds, last_note = (None, None, None, None) if end is None else end[:4]
    return Call(
        *(number, label, api, parent, parent_node, bool(engine), bool(what_if), end is not None, detail),
        *(_place(file, line, function), places_of(stack), thread, bool(retain), bool(create), bool(accumulates), roots),
        inputs=None if inputs is None else tuple([Input(*entry) for entry in inputs_of(inputs)]),
        node_count=node_count,
        error=None if error is None else built(CallError, json_of(error)),
        failed_node=failed,
        group=group,
        batched=bool(batched),
        seconds=seconds,
        note=note if last_note is None else last_note,
    )


# -- the rest --------------------------------------------------------------------------------------------------------


def _parsed(
    reader: Reader, table: Table, parse: Callable[[Sequence[Any]], T], lack: str, missing: list[str]
) -> tuple[T, ...]:
    known = reader.heads.rows.setdefault(table.name, {})
    rows, whole = reader.readable(table, max(max(known, default=0) - _OVERLAP, 0))
    found = dict(known)
    for row in rows:
        try:
            found[row[0]] = parse(row)
        except DamagedRecordingError:
            whole = False
    if not whole:
        missing.append(lack)
    elif reader.opened.live:
        reader.heads.rows[table.name] = found
    return tuple([found[number] for number in sorted(found)])


def _event(row: Sequence[Any]) -> Event:
    _, kind, before, names, file, line, function, detail, norms = row
    if kind not in get_args(EventKind):
        raise damaged()
    return Event(kind, before, names_of(names), _place(file, line, function), detail, norms_of(norms))


def _warning(row: Sequence[Any]) -> ScriptWarning:
    _, category, message, file, line, before = row
    return ScriptWarning(category, message, _place(file, line, None), before)


def _place(file: str | None, line: int | None, function: str | None) -> Place | None:
    return None if file is None else Place(file, line or 0, function or "<module>")


def _look_at_calls(reader: Reader, calls: Sequence[Call], until: float) -> list[str]:
    """Say which calls of a recording that is known to be damaged cannot be shown; not for ever."""
    lost = []
    for call in calls:
        try:
            reader.graph(call.number)
            reader.detail(call.number)
        except DamagedRecordingError:
            lost.append(call.number)
        if time.monotonic() > until:
            break
    if not lost:
        return []
    named = _labels({call.number: call for call in calls}, lost)
    return [tr("Graph or gradients are missing of: {calls}.", calls=named)]


def _labels(calls: dict[int, Call], numbers: Sequence[int]) -> str:
    labels = [calls[number].label if number in calls else str(number) for number in numbers]
    return ", ".join([tr("call {label}", label=label) for label in labels[:_NAMED]] + ["..."] * (len(labels) > _NAMED))
