"""Reads all of a damaged recording and holds it against what was written: less is allowed, other is not."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from gradviz.errors import GradvizError
from gradviz.model import Call, CallDetail, Event, Execution, Graph, Outcome, Recording, ScriptWarning, TensorValue
from gradviz.store.reader import close_recording, open_recording
from tests.recordings import MemorySource
from tests.store import samples

CALLS = 24
LARGE = TensorValue((40, 40), "float32", data=struct.pack("<1600f", *range(1600)))  # lies on pages of its own


def larger() -> Recording:
    """A recording of some hundred pages: the calls of a training loop, long texts, many bindings."""
    small = samples.sample()
    calls: list[Call] = []
    graphs: dict[int, Graph] = {}
    details: dict[int, CallDetail] = {}
    for number in range(1, CALLS + 1):
        ids = [5 * number + k for k in range(4)] + [4]
        root = replace(small.calls[0].roots[0], node=ids[0])
        calls.append(samples.call(number, (root,), node_count=5, seconds=number / 8, note=f"step {number} " * 60))
        graphs[number] = samples.graph(ids, number, 10 * number)
        moved = samples.detail(ids, float(number))
        big = (Execution(5, ids[3], (LARGE,), (LARGE, None)),) if number % 6 == 0 else ()
        details[number] = replace(moved, executions=(*moved.executions, *big))
    nested = replace(small.calls[2], number=CALLS + 1, parent=2, label="2.1")
    details[CALLS + 1], graphs[CALLS + 1] = small.detail(3), Graph((), ())
    names = [replace(entry, order=order) for order in range(1, 80) for entry in small.source.bindings()[:1]]
    texts = {**small.source.sources(), "/home/me/long.py": "".join(f"x{i} = {i}\n" for i in range(1500))}
    events = tuple(Event("grad_cleared", number, (f"w{number}",), samples.HERE) for number in range(1, 60))
    warnings = tuple(ScriptWarning("UserWarning", f"number {k} " * 20, samples.HERE, k) for k in range(1, 40))
    source = MemorySource(graphs, details, texts, tuple(names), small.source.output())
    return Recording(small.header, small.outcome, (*calls, nested), events, warnings, source)


@dataclass
class Report:
    """What was read and what was not. `opened` is False when the file was refused as a whole."""

    opened: bool = True
    damage: str | None = None
    calls: list[int] = field(default_factory=list)
    graphs: list[int] = field(default_factory=list)
    details: list[int] = field(default_factory=list)


def read_and_compare(path: str, wanted: Recording, live: bool = False) -> Report:
    """Read everything; only errors of ours may come, and nothing that was not written."""
    try:
        found = open_recording(path, live)
    except GradvizError as error:
        assert str(error)
        return Report(opened=False)
    try:
        return _compared(found, wanted)
    finally:
        close_recording(found)


def _compared(found: Recording, wanted: Recording) -> Report:
    report = Report(damage=found.damage)
    assert found.header == wanted.header or (found.damage and found.header.script == "")
    assert found.outcome in (wanted.outcome, Outcome("running")) or (found.damage and found.outcome.kind == "lost")
    for call in found.calls:
        _compare_call(call, wanted.call(call.number), found.damage)
        report.calls.append(call.number)
        try:
            graph = found.graph(call.number)
            assert graph == wanted.graph(call.number)
            report.graphs.append(call.number)
        except GradvizError as error:
            assert str(error)
        try:
            detail = found.detail(call.number)
            if call.complete:
                assert detail == wanted.detail(call.number)
            else:
                assert_subsequence(detail.executions, wanted.detail(call.number).executions)
            report.details.append(call.number)
        except GradvizError as error:
            assert str(error)
    assert_subsequence(report.calls, [call.number for call in wanted.calls])
    assert_subsequence(found.events, wanted.events)
    assert_subsequence(found.warnings, wanted.warnings)
    source, other = found.source, wanted.source
    assert_subsequence(source.bindings(), other.bindings())
    assert_subsequence(source.output(), other.output())
    assert source.sources().items() <= other.sources().items()
    return report


def _compare_call(call: Call, wanted: Call, damage: str | None) -> None:
    if not call.roots and wanted.roots:
        assert damage
        call = replace(call, roots=wanted.roots)
    if not call.complete and wanted.complete:
        assert (call.error, call.failed_node, call.seconds) == (None, None, None)
        call = replace(
            call,
            complete=True,
            error=wanted.error,
            failed_node=wanted.failed_node,
            seconds=wanted.seconds,
            note=wanted.note if call.note in (None, wanted.note) else call.note,
        )
    if call.parent is None and wanted.parent is not None:
        call = replace(call, parent=wanted.parent, parent_node=wanted.parent_node)
    assert call == wanted


def assert_subsequence(part: Iterable[object], whole: Sequence[object]) -> None:
    """All of `part` is in `whole`, in the same order."""
    rest = iter(whole)
    for item in part:
        assert any(item == other for other in rest), f"{item!r:.200} is not what was written"
