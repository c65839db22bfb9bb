"""Reads a recording: `open_recording(path)` gives a `model.Recording` whose heavy parts are read when asked for."""

from __future__ import annotations

import itertools
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, get_args

from gradviz.errors import ClosedRecordingError, DamagedRecordingError
from gradviz.model import Binding, CallDetail, Gradient, Graph, OutputChunk, Place, Recording
from gradviz.model.recording import BindingCause
from gradviz.store import details, graphs, heads
from gradviz.store.check import SQLITE_ERRORS, bound, cannot_read
from gradviz.store.codec import TypeRow, Unpacker, bytes_of, damaged
from gradviz.store.fields import json_of, shape_of
from gradviz.store.interned import Interned
from gradviz.store.opening import Opened, open_database
from gradviz.store.tables import BINDINGS, META, OUTPUT, SOURCES, STRINGS, TENSOR_TYPES, Table
from gradviz.texts import tr

_SIZED = (bytes, str)
_SLACK = 1 << 16
_ROW = 8  # bytes that any row takes at least
_CACHED_NODES = 200_000


def open_recording(path: str, live: bool = False) -> Recording:
    """Open a recording; its `source` keeps the file open until `close_recording`.

    `live`: a worker still writes it. What a graph or a detail lacks is told by the error that reading it raises
    (`DamagedRecordingError`); the others are not hidden by that.

    Raises:
        RecordingError: (and its kinds) the file is not a readable recording; nothing of it was executed.
    """
    reader = Reader(open_database(path, live))
    try:
        return reader.recording()
    except BaseException:
        reader.close()
        raise


def close_recording(recording: Recording) -> None:
    """Let go of the file of a recording that `open_recording` opened."""
    if isinstance(recording.source, Reader):
        recording.source.close()


def read_fact(recording: Recording, key: str) -> Any:
    """A fact about the run that has no place in the model (`random`: the states at its start); None: it is not there.

    Raises:
        DamagedRecordingError: the file cannot be read.
    """
    if not isinstance(recording.source, Reader):
        return None
    rows, _ = recording.source.readable(META)
    text = dict(rows).get(key)
    return None if text is None else json_of(text)


class Reader:
    """A `model.RecordingSource` over one SQLite file; may be used from several threads."""

    def __init__(self, opened: Opened) -> None:
        self.opened = opened
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._depth = 0
        self._limit = 0
        self._closed = False
        self.types: Interned[TypeRow] = Interned(self._read_types, opened.live)
        self.strings: Interned[str] = Interned(self._read_strings, opened.live)
        self.heads = heads.Heads()
        self._templates: OrderedDict[int, graphs.Template] = OrderedDict()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._closed = True
            if self._connection is not None:
                self._connection.close()
                self._connection = None
            self.opened.close()

    # -- RecordingSource -------------------------------------------------------------------------------------------

    def recording(self) -> Recording:
        """The recording with its heads read; of a live one those that are there by now."""
        with self.session():
            return heads.read_recording(self)

    def graph(self, number: int) -> Graph:
        """The graph of call `number`; empty where the recording holds none.

        Raises:
            DamagedRecordingError: it cannot be read whole.
        """
        with self.session():
            return graphs.read_graph(self, number)

    def detail(self, number: int) -> CallDetail:
        """Executions, accumulations and returned values of call `number`.

        Raises:
            DamagedRecordingError: they cannot be read whole.
        """
        with self.session():
            return details.read_detail(self, number)

    def bindings(self) -> tuple[Binding, ...]:
        """All bindings in order; of a damaged recording those that can be read."""
        with self.session():
            rows, _ = self.readable(BINDINGS)
            return tuple([binding for row in rows if (binding := self._binding(row)) is not None])

    def sources(self) -> dict[str, str]:
        """File name -> text; of a damaged recording those that can be read."""
        rows, _ = self.readable(SOURCES)
        return dict(rows)

    def output(self) -> tuple[OutputChunk, ...]:
        """What the script printed, in order of time; of a damaged recording what can be read."""
        rows, _ = self.readable(OUTPUT)
        return tuple([OutputChunk(stream, seconds, data, omitted) for _, stream, seconds, omitted, data in rows])

    # -- primitives, shared with the modules that read a part ----------------------------------------------------------

    @contextmanager
    def session(self) -> Iterator[sqlite3.Connection]:
        """A connection for some queries; of a live recording they all see the same moment.

        Raises:
            RecordingError: the recording was closed, or its file is gone.
        """
        with self._lock:
            if self._closed:
                raise ClosedRecordingError(tr("The recording was closed."))
            live = self.opened.live
            try:
                if self._connection is None:
                    self._limit = self.opened.size() + _SLACK
                    self._connection = self.opened.connect()
                    if live:
                        self._connection.execute("BEGIN")
            except (*SQLITE_ERRORS, OSError) as error:
                raise cannot_read(self.opened.path, error) from error
            self._depth += 1
            try:
                yield self._connection
            finally:
                self._depth -= 1
                if live and not self._depth and self._connection is not None:
                    self._connection.close()
                    self._connection = None

    def rows(self, table: Table, where: str, *arguments: Any) -> list[Any]:
        """The rows of a table that fulfil a condition, without their checksums, in the order of the key.

        Raises:
            DamagedRecordingError: they cannot be read, or are not what was written.
        """
        found: list[Any] = []
        self._fetch(found, table.select(where), arguments)
        if not table.holds(found):
            raise damaged()
        return [row[:-1] for row in found]

    def readable(self, table: Table, after: int = 0) -> tuple[list[Any], bool]:
        """The rows of a table as far as they can be read; False when some cannot. `after`: only keys above it.

        SQLite ends a query at the first damaged page, so the table is then read from its other end too.
        """
        found: list[Any] = []
        back: list[Any] = []
        where, arguments = (f"WHERE {table.key[0]}>?", (after,)) if after else ("", ())
        try:
            self._fetch(found, table.select(where), arguments)
            if table.holds(found) and _ascends(found, len(table.key)):
                return [row[:-1] for row in found], True
        except DamagedRecordingError:
            try:
                descending = ", ".join(f"{part} DESC" for part in table.key)
                self._fetch(back, table.select(where, descending), arguments)
            except DamagedRecordingError:
                pass  # `back` holds what lies behind the damage
        whole = {row[: len(table.key)]: row[:-1] for row in found + back if table.holds([row])}
        return [whole[key] for key in sorted(whole)], False

    @property
    def expected(self) -> dict[int, heads.Expected]:
        """What the tables must hold of the calls whose heads were read."""
        return self.heads.expected

    def value(self, blob: bytes | None) -> Gradient:
        """One packed value; NULL is undefined."""
        return None if blob is None else self.unpacker(blob).one()

    def unpacker(self, blob: bytes) -> Unpacker:
        """An unpacker over a blob of this recording."""
        return Unpacker(blob, self.types)

    def template(self, row: int) -> graphs.Template:
        """A graph template; the last ones are kept, since the calls of a training loop share theirs."""
        template = self._templates.get(row)
        if template is None:
            template = self._templates[row] = graphs.read_template(self, row)
        self._templates.move_to_end(row)
        while len(self._templates) > 1 and sum(len(t.nodes) for t in self._templates.values()) > _CACHED_NODES:
            self._templates.popitem(last=False)
        return template

    # -- inside ------------------------------------------------------------------------------------------------------

    def _read_strings(self) -> dict[int, str]:
        rows, _ = self.readable(STRINGS)
        return dict(rows)

    def _read_types(self) -> dict[int, TypeRow]:
        rows, _ = self.readable(TENSOR_TYPES)
        found = {}
        for number, dtype, device, text in rows:
            try:
                shape = shape_of(text)
            except DamagedRecordingError:
                continue  # a value of this type then raises
            found[number] = TypeRow(dtype, device, shape, bytes_of(dtype, shape))
        return found

    def _binding(self, row: Sequence[Any]) -> Binding | None:
        number, file, line, function, name, cause, tensor, storage, shape, dtype, requires, leaf, retains, *rest = row
        if cause not in get_args(BindingCause):
            return None
        try:
            place = Place(self.strings[file], line, self.strings[function])
            name, shape = self.strings[name], shape_of(shape)
        except DamagedRecordingError:
            return None
        return Binding(
            *(number, place, name, cause, tensor, storage, shape, dtype, bool(requires), bool(leaf), bool(retains)),
            *rest,
        )

    def _fetch(self, found: list[Any], sql: str, arguments: Sequence[Any]) -> None:
        """Append the rows of a query to `found`, which also holds those before a damage.

        A table whose pages point at each other has more rows and bytes than the file; it is left.
        """
        with self.session() as connection:
            bound(connection, self._limit)
            left = self._limit
            try:
                cursor = connection.execute(sql, tuple(arguments))
                try:
                    for row in cursor:
                        found.append(row)
                        left -= _ROW + sum([len(item) for item in row if item.__class__ in _SIZED])
                        if left < 0:
                            raise damaged()
                finally:
                    cursor.close()
            except (*SQLITE_ERRORS, OverflowError, MemoryError) as error:
                if "locked" in str(error):
                    raise cannot_read(self.opened.path, error) from error
                raise damaged() from error


def _ascends(rows: Sequence[Any], size: int) -> bool:
    """Tell whether keys of `size` columns rise: SQLite gives the rows of exchanged pages as they lie."""
    return all(before[:size] < after[:size] for before, after in itertools.pairwise(rows))
