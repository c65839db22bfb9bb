"""What the recorder hands to the writer: rows with packed values, interned texts and template indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gradviz.model import Call, CallError, Kind

KINDS: tuple[Kind, ...] = ("operation", "leaf", "custom", "opaque")


class NodeRow(NamedTuple):
    """A node of a template; texts are rows of `strings`, `kind` is an index into `KINDS` (see SCHEMA)."""

    op: int
    kind: int
    name: int | None  # the variable, at creation (operations) or at the call (leaves)
    file: int | None
    line: int | None
    function: int | None
    rank: int  # the j of its key op@file:line#j
    stack: int | None  # JSON [[file, line, function], ...], innermost first
    module: int | None
    module_class: int | None
    outputs: int  # JSON [[shape, dtype, device, retains_grad], ...]
    saved: int | None  # JSON [[name, shape or null, text or null], ...]
    derivative: int  # 1: forward pass; n + 1: made by a backward of order n


EdgeRow = tuple[int, int, int, int]  # source, slot, target, output_nr; source and target are template indices


@dataclass(frozen=True, slots=True)
class CallStart:
    """What the first transaction of a call writes. `seeds` and `values` hold a packed value per root."""

    call: Call
    seeds: Sequence[bytes]
    values: Sequence[bytes]
    graph: int | None = None
    ids: Sequence[int] = ()
    iterations: Sequence[int] = ()
    sequences: Sequence[int] = ()
    node_values: Sequence[tuple[int, int, bytes]] = ()  # node id, slot, packed value


class AccumulationRow(NamedTuple):
    """An accumulation with packed values. A call can have thousands: a frozen dataclass takes three times as long."""

    retained: bool
    name: str | None
    node: int
    output_nr: int
    order: int | None
    before: bytes
    incoming: bytes
    after: bytes
    left: bytes


@dataclass(frozen=True, slots=True)
class CallEnd:
    """What the second transaction of a call writes. `returned` is `codec.pack_values`, or None."""

    number: int
    accumulations: Sequence[AccumulationRow] = ()
    returned: bytes | None = None
    error: CallError | None = None
    failed_node: int | None = None
    seconds: float | None = None
    note: str | None = None
