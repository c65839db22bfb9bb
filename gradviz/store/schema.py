"""The tables of a recording: one commented constant, its version, and the list of its changes.

A reader refuses a newer major version. A newer minor version may only add tables, and columns at a table's end (no
views, triggers, indices or virtual tables); a reader ignores what it does not know.

Format history:
    2026-11-30  1.0  first format
    2026-12-01  2.0  values packed as BRIEF (codec); a value of `.grad` that is as the one before takes no bytes (runs)
"""

from __future__ import annotations

import re

APPLICATION_ID = 0x47525644  # "GRVD", in the header of the SQLite file
MAJOR = 2
MINOR = 0
VERSION = MAJOR * 1000 + MINOR  # as `user_version` in the header of the SQLite file

# Without comments the statements fit on the first page of the file: a file that is cut off opens when it has that.
# Columns of texts that repeat hold a row of `strings`; "JSON" is a text. The column crc holds the checksum of all
# columns before it (tables.Table.checksum): a row that was damaged is never taken for what was recorded.
SCHEMA = """
-- Facts about the run, one JSON value each: format, header, outcome, writer (the process that writes).
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL, crc INTEGER) WITHOUT ROWID;

-- Texts that repeat (ops, files, functions, module paths, stacks and outputs as JSON), stored once.
CREATE TABLE strings (id INTEGER PRIMARY KEY, text TEXT NOT NULL, crc INTEGER);

-- dtype, device and shape (JSON) of values that were kept whole; a packed value names its row (see codec).
CREATE TABLE tensor_types (
    id INTEGER PRIMARY KEY, dtype TEXT NOT NULL, device TEXT NOT NULL, shape TEXT NOT NULL, crc INTEGER
);

-- A graph template. Calls whose graphs are equal share one; node id = ids of the call [index in the template].
-- Both blobs are codec.pack_columns: one int32 column after the other, -1 for "none".
CREATE TABLE graphs (
    id INTEGER PRIMARY KEY, node_count INTEGER NOT NULL, edge_count INTEGER NOT NULL,
    nodes BLOB NOT NULL,        -- the columns of rows.NodeRow
    edges BLOB NOT NULL,        -- source, slot, target, output_nr; source and target are indices in the template
    crc INTEGER
);

-- A way into the engine: what is known before it runs.
CREATE TABLE calls (
    number INTEGER PRIMARY KEY, label TEXT NOT NULL, api TEXT NOT NULL, group_api TEXT,
    parent INTEGER, parent_node INTEGER, engine INTEGER NOT NULL, what_if INTEGER NOT NULL,
    detail TEXT NOT NULL,       -- full, summary or none
    file TEXT, line INTEGER, function TEXT, stack TEXT NOT NULL, thread TEXT NOT NULL,
    retain_graph INTEGER NOT NULL, create_graph INTEGER NOT NULL, accumulates INTEGER NOT NULL,
    batched INTEGER NOT NULL,
    inputs TEXT,                -- JSON [[name, node id, output_nr], ...] or null
    node_count INTEGER NOT NULL, note TEXT,
    root_count INTEGER NOT NULL, has_graph INTEGER NOT NULL, -- how many rows other tables have for it
    crc INTEGER
);
-- How it ended, in a second transaction: a call without this row is not complete.
CREATE TABLE call_ends (
    call INTEGER PRIMARY KEY, error TEXT, failed_node INTEGER, seconds REAL, note TEXT,
    execution_count INTEGER NOT NULL, accumulation_count INTEGER NOT NULL, has_returned INTEGER NOT NULL,
    crc INTEGER
);
-- The nodes of a call: a template and what differs from call to call. No row where there is none (or detail = none).
CREATE TABLE call_graphs (
    call INTEGER PRIMARY KEY, graph INTEGER NOT NULL,
    base_node INTEGER,          -- id of node 0 where ids are consecutive, else null
    ids BLOB,                   -- zlib of int64 ids where they are not
    iterations BLOB,            -- zlib of int32: the k-th time that the node's line ran, 0 unknown
    sequences BLOB,             -- zlib of int64: autograd sequence numbers, -1 unknown
    value_count INTEGER NOT NULL, -- entries of node_values
    crc INTEGER
);
CREATE TABLE roots (
    call INTEGER, idx INTEGER, kind TEXT NOT NULL, name TEXT, node INTEGER,
    output_nr INTEGER NOT NULL, shape TEXT, dtype TEXT, seed BLOB, seed_given INTEGER NOT NULL,
    seed_name TEXT, value BLOB, crc INTEGER, PRIMARY KEY (call, idx)
) WITHOUT ROWID;
-- What torch.autograd.grad (or the like) returned: codec.pack_values.
CREATE TABLE returned (call INTEGER PRIMARY KEY, data BLOB NOT NULL, crc INTEGER);

-- The three tables that follow hold runs of entries (see runs); `first` is how many of the call lie before a run.
-- Forward values: node, slot (-1 the node's own output 0, k >= 0 its saved tensor k), packed value.
CREATE TABLE node_values (
    call INTEGER, first INTEGER, data BLOB NOT NULL, crc INTEGER, PRIMARY KEY (call, first)
) WITHOUT ROWID;

-- Runs of nodes in the engine's order: order, node, codec.pack_execution.
CREATE TABLE executions (
    call INTEGER, first INTEGER, data BLOB NOT NULL, crc INTEGER, PRIMARY KEY (call, first)
) WITHOUT ROWID;

-- `.grad` of leaves and of retained tensors; the order is that of the execution at which it happened.
CREATE TABLE accumulations (
    call INTEGER, first INTEGER, data BLOB NOT NULL, crc INTEGER, PRIMARY KEY (call, first)
) WITHOUT ROWID;

-- What changed .grad or a parameter between calls; names and norms are JSON lists.
CREATE TABLE events (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, before_call INTEGER, names TEXT NOT NULL,
    file TEXT, line INTEGER, function TEXT, detail TEXT, norms TEXT NOT NULL, crc INTEGER
);
CREATE TABLE warnings (
    id INTEGER PRIMARY KEY, category TEXT NOT NULL, message TEXT NOT NULL, file TEXT, line INTEGER,
    before_call INTEGER, crc INTEGER
);

-- Names of the user's and the tensors that they held after a line had run (see model.Binding).
CREATE TABLE bindings (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL, line INTEGER NOT NULL, function INTEGER NOT NULL,
    name INTEGER NOT NULL, cause TEXT NOT NULL, tensor INTEGER NOT NULL, storage INTEGER,
    shape TEXT NOT NULL, dtype TEXT NOT NULL, requires_grad INTEGER NOT NULL, is_leaf INTEGER NOT NULL,
    retains_grad INTEGER NOT NULL, op TEXT, node INTEGER, version INTEGER NOT NULL, before_call INTEGER,
    count INTEGER NOT NULL, crc INTEGER
);

CREATE TABLE sources (file TEXT PRIMARY KEY, text TEXT NOT NULL, crc INTEGER) WITHOUT ROWID;
CREATE TABLE output (
    id INTEGER PRIMARY KEY, stream TEXT NOT NULL, seconds REAL NOT NULL, omitted INTEGER NOT NULL,
    data BLOB NOT NULL, crc INTEGER
);
"""

STATEMENTS = " ".join(re.sub(r"--[^\n]*", "", SCHEMA).split()).replace("( ", "(").replace(" )", ")")
