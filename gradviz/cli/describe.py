"""A recording as text for a terminal: the calls in order, what went in, what came out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from gradviz.errors import DamagedRecordingError
from gradviz.model import Accumulation, Call, Event, Gradient, Recording, Root, TensorValue
from gradviz.runner import ending
from gradviz.texts import tr, trn

# More calls or lines than this are cut: the whole is in --json.
CALLS = 20
LINES = 12


def describe(recording: Recording) -> str:
    """The text, ending with a line feed."""
    lines = [*_head(recording), ""]
    shown = [call for call in recording.calls if not call.what_if]
    for call in shown[:CALLS]:
        lines += [*describe_call(recording, call), ""]
    if len(shown) > CALLS:
        lines += [trn("... {n} more call (see --json)", "... {n} more calls (see --json)", len(shown) - CALLS), ""]
    events = [_event(event) for event in recording.events[:LINES]]
    if events:
        lines += [tr("between calls:"), *events, ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _head(recording: Recording) -> Iterator[str]:
    header = recording.header
    if header.script:  # else it is among what is damaged
        yield f"{header.script} {' '.join(header.argv)}".rstrip()
        torch = f"torch {header.torch}" if header.torch else tr("no torch")
        yield f"Python {header.python or '?'}, {torch}"
    yield ending(recording)
    yield trn("{n} backward call", "{n} backward calls", len(recording.top_calls))
    yield from header.notes
    if recording.damage:
        yield recording.damage


def describe_call(recording: Recording, call: Call) -> Iterator[str]:
    """The lines of one call."""
    indent = "  " * call.label.count(".")
    where = "  " + tr("line {line}", line=call.place.line) if call.place is not None else ""
    flags = (("retain_graph", call.retain_graph), ("create_graph", call.create_graph))
    words = [word for word, holds in flags if holds]
    count = trn("{n} node", "{n} nodes", call.node_count)
    head = tr("call {label}", label=call.label)
    yield f"{indent}{head}  {call.api}{where}  {count}" + "".join(f"  {word}" for word in words)
    for root in call.roots[:LINES]:
        yield f"{indent}  {_root(root)}"
    if call.error is not None:
        yield f"{indent}  {call.error.type}: {call.error.message.splitlines()[0] if call.error.message else ''}"
    elif not call.complete:
        yield f"{indent}  " + tr("(cut off: the script ended inside this call)")
    try:
        detail = recording.detail(call.number)
    except DamagedRecordingError as error:
        yield f"{indent}  {error}"
        return
    yield from _cut(f"{indent}  {_accumulation(entry)}" for entry in (*detail.accumulations, *detail.retained))
    if detail.returned is not None:
        yield from _cut(f"{indent}  " + tr("returned {value}", value=short(value)) for value in detail.returned)


def _root(root: Root) -> str:
    name = root.name or (tr("an edge") if root.kind == "edge" else tr("(no name)"))
    if root.seed is None:
        return tr("root {name}, no seed", name=name)
    given = tr("seed") if root.seed_given else tr("implicit seed")
    return tr("root {name}, {kind} {seed}", name=name, kind=given, seed=short(root.seed))


def _accumulation(entry: Accumulation) -> str:
    name = f"{entry.name or '?'}.grad"
    if entry.incoming is None:
        return f"{name} = {short(entry.after)}"
    if entry.before is None:
        return f"{name} = {short(entry.after)}"
    return f"{name} = {short(entry.before)} + {short(entry.incoming)} = {short(entry.after)}"


def _event(event: Event) -> str:
    names = ", ".join(event.names[:LINES]) + (", ..." if len(event.names) > LINES else "")
    when = tr("before call {call}", call=event.before_call) if event.before_call else tr("at the end")
    where = tr(", ") + tr("line {line}", line=event.place.line) if event.place is not None else ""
    return f"  {_kind(event)} {when}{where}: {names}"


def _kind(event: Event) -> str:
    return {
        "grad_cleared": tr("grad cleared"),
        "grad_assigned": tr("grad assigned"),
        "value_changed": tr("value changed"),
        "optimizer_step": tr("optimizer step"),
    }[event.kind]


def _cut(lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    yield from found[:LINES]
    if len(found) > LINES:
        yield "  " + trn("... {n} more line (see --json)", "... {n} more lines (see --json)", len(found) - LINES)


def short(value: Gradient) -> str:
    """A value in few characters: numbers where there are at most eight, else shape and norm."""
    if value is None:
        return "None"
    nested = value.nested() if value.numel <= 8 and not value.batch else None
    if nested is not None:
        return _numbers(nested)
    norm = "" if value.norm is None else f", norm {_number(value.norm)}"
    return f"{value.dtype}{list(value.full_shape)}{norm}{_why(value)}"


def _why(value: TensorValue) -> str:
    return f", {value.unreadable}" if value.unreadable else ""


def _numbers(nested: Any) -> str:
    if isinstance(nested, (list, tuple)):
        return "[" + ", ".join(_numbers(part) for part in nested) + "]"
    return _number(nested)


def _number(number: Any) -> str:
    if isinstance(number, float) and math.isfinite(number):
        return f"{number:.4g}"
    return str(number)
