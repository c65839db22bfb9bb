"""The tables of `SCHEMA` as values: their columns, the types in them, and the checksum of a row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple
from zlib import crc32

from gradviz.store.schema import STATEMENTS

CRC = "crc"
_KINDS = {"INTEGER": "i", "REAL": "r", "TEXT": "t", "BLOB": "b"}
_TYPES: dict[str, set[type]] = {
    "i": {int},
    "I": {int, type(None)},
    "r": {float},
    "R": {float, type(None)},
    "t": {str},
    "T": {str, type(None)},
    "b": {bytes},
    "B": {bytes, type(None)},
}


class Table(NamedTuple):
    """A table. `kinds` has a letter for each column: int, real, text or blob, a capital one allows NULL."""

    name: str
    columns: tuple[str, ...]  # without crc
    kinds: str
    key: tuple[str, ...]

    def insert(self) -> str:
        """The statement that writes a row, in the place of one with the same key."""
        return f"INSERT OR REPLACE INTO {self.name} VALUES ({'?,' * len(self.columns)}?)"

    def select(self, where: str = "", order: str = "") -> str:
        """The query for all columns and the checksum, in the order of the key unless another one is given."""
        columns = ", ".join((*self.columns, CRC))
        return f"SELECT {columns} FROM {self.name} {where} ORDER BY {order or ', '.join(self.key)}"

    def checksum(self, row: Sequence[Any]) -> int:
        """CRC-32 of a row: of the table's name and the columns' `repr` (a blob's length), then of the blobs.

        With the name, since pages that were exchanged bring rows of another table with the same columns.
        """
        plain_part = [self.name, *(len(item) if item.__class__ is bytes else item for item in row)]
        total = crc32(repr(plain_part).encode("utf-8", "surrogatepass"))
        for item in row:
            if item.__class__ is bytes:
                total = crc32(item, total)
        return total

    def holds(self, rows: Sequence[Sequence[Any]]) -> bool:
        """Tell whether rows (with checksum) have the types of this table and were written so."""
        columns = zip(*rows, strict=True)
        if not all(set(map(type, column)) <= _TYPES[kind] for kind, column in zip(self.kinds, columns, strict=False)):
            return False
        return all(self.checksum(row[:-1]) == row[-1] for row in rows)


def plain(row: Sequence[Any]) -> list[Any]:
    """A row as SQLite gives it back: with 0 and 1 for False and True."""
    return [int(item) if item.__class__ is bool else item for item in row]


def _parsed(statements: str) -> dict[str, Table]:
    found = {}
    for statement in statements.split(";"):
        match = re.fullmatch(r"\s*CREATE TABLE (\w+) \((.*)\)[A-Z\s]*", statement)
        if match is None:
            continue
        name, body = match.groups()
        table_key = re.search(r"PRIMARY KEY \(([^)]*)\)", body)
        key = [] if table_key is None else table_key[1].split(", ")
        columns, kinds = [], ""
        for column, kind, rest in re.findall(r"(\w+) (INTEGER|REAL|TEXT|BLOB)([^,]*)", body):
            if "PRIMARY KEY" in rest:
                key = [column]
            if column != CRC:
                columns.append(column)
                letter = _KINDS[kind]
                kinds += letter if column in key or "NOT NULL" in rest else letter.upper()
        found[name] = Table(name, tuple(columns), kinds, tuple(key))
    return found


TABLES = _parsed(STATEMENTS)
(META, STRINGS, TENSOR_TYPES, GRAPHS, CALLS, CALL_ENDS, CALL_GRAPHS, ROOTS, RETURNED, NODE_VALUES, EXECUTIONS,
 ACCUMULATIONS, EVENTS, WARNINGS, BINDINGS, SOURCES, OUTPUT) = TABLES.values()  # fmt: skip

# Tables whose ids the writer gives out.
NUMBERED = (STRINGS, TENSOR_TYPES, GRAPHS, EVENTS, WARNINGS, OUTPUT)
