"""Makes a recording that can be given away: nothing in it tells where on which machine it was made."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence
from typing import Any

from gradviz.model import Header
from gradviz.store.database import cannot_write
from gradviz.store.tables import META, OUTPUT, TABLES, Table

_PRIVATE = ("writer",)  # facts about the process that wrote, of use only while it runs


def make_portable(path: str, header: Header) -> None:
    """Rewrite a finished recording in place: files relative to the script's folder, no machine, no user.

    Paths below the interpreter's environment become relative to it, in tracebacks and in what the script printed too.

    Raises:
        RecordingError: the file cannot be rewritten.
    """
    folder = os.path.dirname(os.path.abspath(os.path.join(header.cwd, header.script)))
    environment = os.path.dirname(os.path.dirname(header.executable))
    prefixes = [prefix + os.sep for prefix in (folder, environment, header.cwd) if len(prefix) > 1]
    prefixes += [json.dumps(prefix)[1:-1] for prefix in prefixes]  # as they stand in JSON
    try:
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            connection.execute("BEGIN")
            for table in TABLES.values():
                _rewrite(connection, table, prefixes)
            connection.execute("COMMIT")
            # Old bytes stay in free pages until the file is written anew.
            connection.execute("VACUUM")
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise cannot_write(path, error) from error


def _rewrite(connection: sqlite3.Connection, table: Table, prefixes: Sequence[str]) -> None:
    """Write the rows of a table anew where something private is in them; a damaged row stays damaged."""
    for row in connection.execute(table.select()).fetchall():
        if not table.holds([row]):
            continue
        fresh = [_without(item, prefixes) if table is OUTPUT or isinstance(item, str) else item for item in row[:-1]]
        if table is META:
            if row[0] in _PRIVATE:
                connection.execute("DELETE FROM meta WHERE key=?", row[:1])
                continue
            if row[0] == "header":
                fresh[1] = _plain_header(str(fresh[1]))
        if fresh != list(row[:-1]):
            where = " AND ".join(f"{name}=?" for name in table.key)
            keys = [row[table.columns.index(name)] for name in table.key]
            connection.execute(f"DELETE FROM {table.name} WHERE {where}", keys)
            connection.execute(table.insert(), (*fresh, table.checksum(fresh)))


def _without(item: Any, prefixes: Sequence[str]) -> Any:
    for prefix in prefixes:
        if isinstance(item, str):
            item = item.replace(prefix, "")
        elif isinstance(item, bytes):
            item = item.replace(os.fsencode(prefix), b"")
    return item


def _plain_header(text: str) -> str:
    raw = json.loads(text)
    return json.dumps({**raw, "script": os.path.basename(raw["script"]), "cwd": "", "executable": "python"})
