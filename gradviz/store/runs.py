"""Runs of small entries in one blob: a call may have 30,000 executions, and a row of SQLite's costs more than one.

A run holds at most about 64 KB. Its row has the call, how many entries of the call lie before it, and the blob: the
entries one after the other, each with a fixed head and packed values behind. Little endian.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise

from gradviz.store.codec import EXECUTION, SAME, SAME_HEAD, damaged
from gradviz.store.rows import AccumulationRow

RUN_BYTES = 1 << 16

Run = tuple[int, bytes]  # how many entries lie before it, the blob
EXECUTION_HEAD = struct.Struct("<IqI")  # order, node, bytes
_ONE = struct.Struct(EXECUTION_HEAD.format + EXECUTION.format.replace("<", ""))
_SENT_ON = struct.Struct(_ONE.format + SAME_HEAD.format.replace("<", ""))
_one, _sent_on = _ONE.pack, _SENT_ON.pack
_SHORT = EXECUTION.size
_SENT_ON_BYTES = _SHORT + SAME_HEAD.size
_NODE_VALUE = struct.Struct("<qiI")  # node, slot, bytes
# Retained, node, output_nr, order (-1: none), bytes of name and values; 0 bytes: the same value as the one before.
_ACCUMULATION = struct.Struct("<BqIq5I")


def execution(order: int, node: int, data: bytes) -> bytes:
    """An entry from what `codec.pack_execution` made."""
    return EXECUTION_HEAD.pack(order, node, len(data)) + data


def sent_on(order: int, node: int, source: int, slot: int, count: int, grad_inputs: bytes) -> bytes:
    """The entry of an execution that got one gradient, the very one that execution `source` sent along `slot`.

    Most are: in one step it is made in a third of the time. It sent `count` gradients on, packed one after the other.
    """
    return _sent_on(order, node, _SENT_ON_BYTES + len(grad_inputs), 1, count, 0, SAME, source, slot) + grad_inputs


def simple(order: int, node: int, got: Sequence[bytes], count: int, grad_inputs: bytes) -> bytes:
    """The entry of an execution that finished and got what was sent: as `sent_on`, of any number of gradients."""
    outputs = b"".join(got)
    return _one(order, node, _SHORT + len(outputs) + len(grad_inputs), len(got), count, 0) + outputs + grad_inputs


def execution_runs(entries: Iterable[bytes], before: int) -> list[Run]:
    """Runs of entries; `before` entries of the call were written already."""
    return _split(entries, before)


def node_value_runs(rows: Iterable[tuple[int, int, bytes]]) -> list[Run]:
    """Runs of `(node id, slot, packed value)`."""
    head = _NODE_VALUE.pack
    return _split((head(node, slot, len(value)) + value for node, slot, value in rows), 0)


def accumulation_runs(rows: Iterable[AccumulationRow]) -> list[Run]:
    """Runs of accumulations."""
    return _split(map(_accumulation, rows), 0)


def node_values_in(blob: bytes) -> Iterator[tuple[int, int, bytes]]:
    """The entries of a run of node values."""
    for (node, slot, _), (value,) in _entries(blob, _NODE_VALUE, 1):
        yield node, slot, value


def accumulations_in(blob: bytes) -> Iterator[tuple[bool, int, int, int | None, str | None, list[bytes]]]:
    """The entries of a run of accumulations: retained, node, output_nr, order, name, the four values."""
    for (retained, node, output_nr, order, *_), (name, *values) in _entries(blob, _ACCUMULATION, 5):
        try:
            text = name.decode() or None
        except UnicodeDecodeError as error:
            raise damaged() from error
        for at in range(1, len(values)):
            values[at] = values[at] or values[at - 1]
        yield bool(retained), node, output_nr, None if order < 0 else order, text, values


def _accumulation(row: AccumulationRow) -> bytes:
    name = b"" if row.name is None else row.name.encode("utf-8", "backslashreplace")
    values = (row.before, row.incoming, row.after, row.left)
    parts = [name, row.before, *(b"" if one == before else one for before, one in pairwise(values))]
    order = -1 if row.order is None else row.order
    return b"".join((_ACCUMULATION.pack(row.retained, row.node, row.output_nr, order, *map(len, parts)), *parts))


def _split(entries: Iterable[bytes], before: int) -> list[Run]:
    every = list(entries)
    ends = list(accumulate(map(len, every)))  # in bytes
    runs: list[Run] = []
    start = 0
    while start < len(every):
        done = ends[start - 1] if start else 0
        end = max(start + 1, bisect_right(ends, done + RUN_BYTES))
        runs.append((before + start, b"".join(every[start:end])))
        start = end
    return runs


def _entries(blob: bytes, head: struct.Struct, parts_behind: int) -> Iterator[tuple[Sequence[int], list[bytes]]]:
    at, end = 0, len(blob)
    while at < end:
        if at + head.size > end:
            raise damaged()
        fields = head.unpack_from(blob, at)
        at += head.size
        parts = []
        for length in fields[-parts_behind:]:
            parts.append(blob[at : at + length])
            at += length
        if at > end:
            raise damaged()
        yield fields, parts
