"""Writes a recording while the script runs: short transactions, never into a file that is not ours."""

from __future__ import annotations

import itertools
import sys
import threading
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from json import dumps  # not by way of the module: a script may have put a mock there
from types import FrameType
from typing import Any

from gradviz.model import Binding, Event, Header, Outcome, OutputChunk, Place, ScriptWarning
from gradviz.store import alive, codec, runs
from gradviz.store.database import Batch, GuardedDatabase, Statement
from gradviz.store.rows import KINDS, AccumulationRow, CallEnd, CallStart, EdgeRow, NodeRow
from gradviz.store.schema import MAJOR, MINOR
from gradviz.store.tables import (
    ACCUMULATIONS,
    BINDINGS,
    CALL_ENDS,
    CALL_GRAPHS,
    CALLS,
    EVENTS,
    EXECUTIONS,
    GRAPHS,
    META,
    NODE_VALUES,
    NUMBERED,
    OUTPUT,
    RETURNED,
    ROOTS,
    SOURCES,
    STRINGS,
    TENSOR_TYPES,
    WARNINGS,
    Table,
    plain,
)
from gradviz.texts import tr

__all__ = ["KINDS", "AccumulationRow", "CallEnd", "CallStart", "EdgeRow", "NodeRow", "Writer", "stack_json", "storable"]


class Writer:
    """One open recording. All methods may be called from any thread; in a forked child they do nothing.

    Rows are queued and written by `flush`. What cannot be written stops the recording (`stopped` says why) and never
    raises: the script goes on.
    """

    def __init__(self, path: str, header: Header | None) -> None:
        """Create the recording at `path`.

        Without a header a recording that exists is continued: outcome and output are added after the worker ended.

        Raises:
            RecordingError: the file cannot be created, or it is not ours.
        """
        self._lock = threading.RLock()
        self._writing: FrameType | None = None  # the flush that is under way
        self._queue: Batch = []
        self._pending: list[Batch] = []
        self._strings: dict[str, int] = {}
        self._types: dict[tuple[str, str, Any], int] = {}
        self._graphs: dict[bytes, int] = {}
        self._sources: set[str] = set()  # files whose text is there
        self._executed: dict[int, int] = {}  # call that has not ended -> its executions by now
        self._database = GuardedDatabase(path, None if header is None else _first_rows(header))
        # Numbers are never used twice, also when a handler of the user's broke off what wanted one.
        last = self._database.last_ids
        self._next = {table: itertools.count(last.get(table, 0) + 1) for table in NUMBERED}

    @property
    def path(self) -> str:
        """The recording's file, absolute."""
        return self._database.path

    @property
    def stopped(self) -> str | None:
        """Why nothing is written any more, in a sentence; None while all is well."""
        return self._database.stopped

    # -- interning ---------------------------------------------------------------------------------------------

    def intern(self, text: str) -> int:
        """Return the row of `text` in `strings`."""
        row = self._strings.get(text)
        if row is None:
            row = next(self._next[STRINGS])
            self._put(STRINGS, [(row, storable(text))])
            self._strings[text] = row
        return row

    def pack(self, dtype: str, device: str, shape: tuple[int, ...], data: bytes) -> bytes:
        """Pack a value that is kept whole."""
        return codec.pack_whole(self.type_row(dtype, device, shape), data)

    def type_row(self, dtype: str, device: str, shape: tuple[int, ...]) -> int:
        """Return the row of a type in `tensor_types`."""
        key = (dtype, device, shape)
        row = self._types.get(key)
        if row is None:
            row = next(self._next[TENSOR_TYPES])
            self._put(TENSOR_TYPES, [(row, dtype, device, dumps(shape))])
            self._types[key] = row
        return row

    def find_graph(self, digest: bytes) -> int | None:
        """Return the template with this digest, None when there is none yet."""
        return self._graphs.get(digest)

    def add_graph(self, digest: bytes, nodes: Sequence[array[int]], edges: Sequence[array[int]]) -> int:
        """Store a graph template and return its row: the columns of its `NodeRow`s and `EdgeRow`s."""
        row = next(self._next[GRAPHS])
        counts = [len(columns[0]) if columns else 0 for columns in (nodes, edges)]
        self._put(GRAPHS, [(row, *counts, codec.pack_columns(nodes), codec.pack_columns(edges))])
        self._graphs[digest] = row
        return row

    # -- calls -------------------------------------------------------------------------------------------------

    def begin_call(self, start: CallStart) -> None:
        """First transaction of a call: graph, roots and seeds, before the engine runs."""
        number = start.call.number
        self._put_all(
            _statement(CALLS, [_call_row(start)]),
            _statement(CALL_GRAPHS, [] if start.graph is None else [_graph_row(start)]),
            _statement(ROOTS, _root_rows(start)),
            _statement(NODE_VALUES, [(number, *run) for run in runs.node_value_runs(start.node_values)]),
        )
        self.flush()

    def change_graph(self, start: CallStart) -> None:
        """Queue another graph for a call that has begun."""
        self._put(CALL_GRAPHS, [_graph_row(start)])

    def add_executions(self, number: int, entries: Sequence[bytes]) -> None:
        """Queue executions of a call, each made by `runs.execution` or its like; `flush` writes them."""
        before = self._executed.get(number, 0)
        self._executed[number] = before + len(entries)
        self._put(EXECUTIONS, [(number, *run) for run in runs.execution_runs(entries, before)])

    def end_call(self, end: CallEnd) -> None:
        """Second transaction of a call."""
        number = end.number
        error = None if end.error is None else dumps(asdict(end.error))
        seconds = None if end.seconds is None else float(end.seconds)
        accumulated = runs.accumulation_runs(end.accumulations)
        counts = (self._executed.pop(number, 0), len(end.accumulations), end.returned is not None)
        self._put_all(
            _statement(ACCUMULATIONS, [(number, *run) for run in accumulated]),
            _statement(RETURNED, [] if end.returned is None else [(number, end.returned)]),
            _statement(
                CALL_ENDS, [(number, error, end.failed_node, seconds, end.note and storable(end.note), *counts)]
            ),
        )
        self.flush()

    # -- everything around the calls -----------------------------------------------------------------------------

    def add_events(self, events: Iterable[Event]) -> None:
        """Queue events."""
        fresh = self._next[EVENTS]
        rows = [
            (
                *(next(fresh), event.kind, event.before_call, dumps(event.names), *_where(event.place)),
                *(event.detail and storable(event.detail), dumps(event.norms)),
            )
            for event in events
        ]
        self._put(EVENTS, rows)

    def add_warnings(self, warnings: Iterable[ScriptWarning]) -> None:
        """Queue warnings that the script got."""
        fresh = self._next[WARNINGS]
        rows = [
            (next(fresh), storable(w.category), storable(w.message), *_where(w.place)[:2], w.before_call)
            for w in warnings
        ]
        self._put(WARNINGS, rows)

    def add_bindings(self, bindings: Iterable[Binding]) -> None:
        """Queue bindings; their `order` is the row."""
        rows = [
            (
                *(b.order, self.intern(b.place.file), b.place.line, self.intern(b.place.function)),
                *(self.intern(b.name), b.cause, b.tensor, b.storage, dumps(b.shape), b.dtype, b.requires_grad),
                *(b.is_leaf, b.retains_grad, b.op, b.node, b.version, b.before_call, b.count),
            )
            for b in bindings
        ]
        self._put(BINDINGS, rows)

    def add_source(self, file: str, text: str) -> None:
        """Queue the text of a user file; the first text of a file stays: it is what ran."""
        if file not in self._sources:
            self._sources.add(file)
            self._put(SOURCES, [(storable(file), storable(text))])

    def add_output(self, chunks: Iterable[OutputChunk]) -> None:
        """Queue output of the script."""
        fresh = self._next[OUTPUT]
        self._put(OUTPUT, [(next(fresh), c.stream, float(c.seconds), c.omitted_before, c.data) for c in chunks])

    def set_meta(self, key: str, value: Any) -> None:
        """Queue a fact about the run."""
        self._put(META, [(key, dumps(value))])

    def set_outcome(self, outcome: Outcome) -> None:
        """Queue how the script ended."""
        self.set_meta("outcome", asdict(outcome))

    def flush(self) -> bool:
        """Write all that is queued in one transaction; return False when writing has stopped (see `stopped`)."""
        if self._database.foreign or self.stopped is not None:
            return False
        with self._lock:
            if _runs(self._writing):  # a handler or finaliser of the user's ran in the midst of a flush and came here
                return True
            self._writing = sys._getframe()
            try:
                self._write_pending()
            finally:
                self._writing = None
        return self.stopped is None

    def size(self) -> int:
        """Bytes on disk, the write-ahead log included."""
        return self._database.size()

    def close(self) -> None:
        """Write what is queued and let go of the file."""
        if not self._database.foreign:
            self.flush()
            with self._lock:
                self._database.close()

    def stop(self, why: str) -> None:
        """Write no more; `why` is a sentence."""
        self._database.stop(why)

    def abandon(self) -> None:
        """Never touch the file again from this process (a forked child does this by itself)."""
        self._database.stop(tr("This process is a copy of the recorded one."))

    # -- inside --------------------------------------------------------------------------------------------------

    def _put(self, table: Table, rows: Sequence[Sequence[Any]]) -> None:
        self._put_all(_statement(table, rows))

    def _put_all(self, *parts: Statement) -> None:
        """Queue statements that belong together, all or none: `extend` cannot be broken off by a signal."""
        if self.stopped is None:
            with self._lock:
                self._queue.extend(parts)

    def _write_pending(self) -> None:
        """Write the queue, older batches first: one that a handler of the user's broke off comes again."""
        if not self._pending or self._pending[-1] is not self._queue:
            self._pending.append(self._queue)
        self._queue = []
        while self._pending:
            if self._pending[0] and not self._database.write(self._pending[0]):
                break
            del self._pending[0]
        if self.stopped is not None:
            self._pending.clear()


def _runs(frame: FrameType | None) -> bool:
    """Tell whether `frame` is among the callers. A mark alone would stay for ever when its clearing is broken off."""
    caller = None if frame is None else sys._getframe()
    while caller is not None and caller is not frame:
        caller = caller.f_back
    return caller is not None


def storable(text: str) -> str:
    """`text` without lone surrogates (from undecodable file names), which SQLite refuses."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def _first_rows(header: Header) -> Batch:
    facts = {
        "format": {"major": MAJOR, "minor": MINOR},
        "header": asdict(header),
        "outcome": asdict(Outcome("running")),
        "writer": alive.stamp(),
    }
    return [_statement(META, [(key, dumps(value)) for key, value in facts.items()])]


def _statement(table: Table, rows: Iterable[Sequence[Any]]) -> Statement:
    stored = map(plain, rows)
    return table.insert(), [(*row, table.checksum(row)) for row in stored]


def stack_json(stack: Iterable[Place]) -> str:
    """A stack as it is stored, innermost first."""
    return dumps([[place.file, place.line, place.function] for place in stack])


def _where(place: Place | None) -> tuple[str | None, int | None, str | None]:
    return (None, None, None) if place is None else (storable(place.file), place.line, storable(place.function))


def _call_row(start: CallStart) -> tuple[Any, ...]:
    call = start.call
    inputs = None if call.inputs is None else dumps([[i.name, i.node, i.output_nr] for i in call.inputs])
    return (
        *(call.number, call.label, call.api, call.group, call.parent, call.parent_node, call.engine, call.what_if),
        *(call.detail, *_where(call.place), stack_json(call.stack), storable(call.thread), call.retain_graph),
        *(call.create_graph, call.accumulates, call.batched, inputs, len(start.ids) or call.node_count),
        *(call.note and storable(call.note), len(call.roots), start.graph is not None),
    )


def _graph_row(start: CallStart) -> tuple[Any, ...]:
    base = start.ids[0] if start.ids and _consecutive(start.ids) else None
    return (
        *(start.call.number, start.graph, base),
        codec.squeeze(array("q", start.ids)) if base is None else None,
        codec.squeeze(array("i", start.iterations)) if start.iterations else None,
        codec.squeeze(array("q", start.sequences)) if start.sequences else None,
        len(start.node_values),
    )


def _root_rows(start: CallStart) -> list[tuple[Any, ...]]:
    return [
        (
            *(start.call.number, index, root.kind, root.name and storable(root.name), root.node, root.output_nr),
            *(None if root.shape is None else dumps(root.shape), root.dtype, seed, root.seed_given),
            *(root.seed_name and storable(root.seed_name), value),
        )
        for index, (root, seed, value) in enumerate(zip(start.call.roots, start.seeds, start.values, strict=True))
    ]


def _consecutive(ids: Sequence[int]) -> bool:
    return ids[-1] - ids[0] == len(ids) - 1 and all(b - a == 1 for a, b in itertools.pairwise(ids))
