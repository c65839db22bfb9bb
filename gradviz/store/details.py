"""Reads what moved in a call: executions in the engine's order, accumulations, returned values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from gradviz.model import Accumulation, CallDetail, Execution, Gradient
from gradviz.store import runs
from gradviz.store.codec import damaged
from gradviz.store.executions import read_executions
from gradviz.store.tables import ACCUMULATIONS, EXECUTIONS, RETURNED, Table

if TYPE_CHECKING:
    from gradviz.store.reader import Reader


def read_detail(reader: Reader, number: int) -> CallDetail:
    """What moved in call `number`.

    Raises:
        DamagedRecordingError: a part cannot be read, or is not what was written.
    """
    executions = _executions(reader, number)
    accumulations = _accumulations(reader, number)
    returned = _returned(reader, number)
    expected = reader.expected.get(number)
    counts = (len(executions), len(accumulations), returned is not None)
    # A page that was overwritten by an empty one loses its rows without a word of SQLite's.
    if expected is not None and any(
        want not in (None, count) for want, count in zip(expected[1:], counts, strict=True)
    ):
        raise damaged()
    return CallDetail(
        executions,
        tuple([entry for retained, entry in accumulations if not retained]),
        tuple([entry for retained, entry in accumulations if retained]),
        returned,
    )


def _executions(reader: Reader, number: int) -> tuple[Execution, ...]:
    done: dict[int, Execution] = {}
    for blob in runs_of(reader, EXECUTIONS, number, lambda: len(done)):
        read_executions(blob, reader.types, done)
    return tuple(done.values())


def _accumulations(reader: Reader, number: int) -> list[tuple[bool, Accumulation]]:
    found: list[tuple[bool, Accumulation]] = []
    for blob in runs_of(reader, ACCUMULATIONS, number, lambda: len(found)):
        for retained, node, output_nr, order, name, packed in runs.accumulations_in(blob):
            before, incoming, after, left = map(reader.value, packed)
            found.append((retained, Accumulation(name, node, output_nr, before, incoming, after, left, order)))
    return found


def _returned(reader: Reader, number: int) -> tuple[Gradient, ...] | None:
    for call, data in reader.rows(RETURNED, "WHERE call=?", number):
        if call == number:
            return reader.unpacker(data).values()
    return None


def runs_of(reader: Reader, table: Table, number: int, done: Callable[[], int]) -> Iterator[bytes]:
    """The blobs of a call's runs in a table; `done` tells how many entries were read before each."""
    for call, first, data in reader.rows(table, "WHERE call=?", number):
        # Exchanged pages give rows of another call, or twice the same: SQLite compares keys only at both ends.
        if call != number or first != done():
            raise damaged()
        yield data
