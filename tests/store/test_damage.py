"""Damaged files open as far as they are whole, say what is missing, and never say what was not recorded."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gradviz.errors import DamagedRecordingError
from gradviz.model import Edge, Graph
from gradviz.store.json_view import json_view
from gradviz.store.reader import close_recording, open_recording
from gradviz.store.tables import TABLES
from tests.store import damage, samples

LAST = damage.CALLS + 1


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "r.gradviz"
    samples.write(damage.larger(), path)
    return path.read_bytes()


def test_the_larger_recording_comes_back_whole(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "r.gradviz"
    path.write_bytes(whole)
    report = damage.read_and_compare(str(path), damage.larger())
    everything = list(range(1, LAST + 1))
    assert (report.damage, report.calls, report.graphs, report.details) == (None, everything, everything, everything)


def pages_of(path: Path, table: str) -> list[int]:
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT pageno FROM dbstat WHERE name=? AND pagetype='leaf' ORDER BY path", (table,))
    pages = [page for (page,) in rows]
    connection.close()
    return pages


def zeroed(whole: bytes, page: int) -> bytes:
    return whole[: 4096 * (page - 1)] + bytes(4096) + whole[4096 * page :]


def test_a_cut_file_says_how_much_is_there_and_what_is_lost(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "r.gradviz"
    wanted, opened = damage.larger(), 0
    for size in range(0, len(whole), 10_000):
        path.write_bytes(whole[:size])
        report = damage.read_and_compare(str(path), wanted)
        if report.opened:
            opened += 1
            assert report.damage is not None
            assert f"{size:,} of {len(whole):,} bytes" in report.damage
    assert opened > len(whole) // 10_000 // 2


def test_a_file_that_lacks_its_last_page_lacks_only_that(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "r.gradviz"
    path.write_bytes(whole[:-4096])
    report = damage.read_and_compare(str(path), damage.larger())
    assert report.calls == list(range(1, LAST + 1))
    assert report.graphs == report.calls
    assert len(report.details) >= LAST - 1


@pytest.mark.parametrize("table", ["executions", "accumulations", "node_values", "call_graphs"])
def test_a_damaged_page_costs_only_the_calls_on_it(whole: bytes, tmp_path: Path, table: str) -> None:
    path = tmp_path / "r.gradviz"
    path.write_bytes(whole)
    pages = pages_of(path, table)
    path.write_bytes(zeroed(whole, pages[len(pages) // 2]))
    report = damage.read_and_compare(str(path), damage.larger())
    everything = list(range(1, LAST + 1))
    assert report.calls == everything
    if table in ("executions", "accumulations"):
        assert report.graphs == everything
        assert len(report.details) in range(LAST // 3, LAST)
    else:
        assert report.details == everything
        assert len(report.graphs) < LAST


def test_a_damaged_page_of_heads_costs_only_the_calls_on_it(whole: bytes, tmp_path: Path) -> None:
    """SQLite stops at the first damaged page; those behind it are read from the other end, those between one by one."""
    path = tmp_path / "r.gradviz"
    path.write_bytes(whole)
    pages = pages_of(path, "calls")
    assert len(pages) >= 4
    damaged = zeroed(zeroed(whole, pages[0]), pages[-1])
    path.write_bytes(damaged)
    report = damage.read_and_compare(str(path), damage.larger())
    assert report.damage is not None and "Some calls cannot be read" in report.damage
    middle = list(range(LAST // 2 - 2, LAST // 2 + 2))
    assert set(middle) <= set(report.calls)
    assert report.calls == report.graphs == report.details


def test_roots_of_other_calls_are_not_lost(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "r.gradviz"
    path.write_bytes(whole)
    pages = pages_of(path, "roots")
    path.write_bytes(zeroed(whole, pages[0]))
    found = open_recording(str(path))
    assert found.damage is not None and "roots of some calls" in found.damage
    assert [call.number for call in found.calls] == list(range(1, LAST + 1))
    if len(pages) > 1:
        assert any(call.roots for call in found.calls)
    close_recording(found)


def test_a_lost_table_of_texts_costs_the_graphs(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "r.gradviz"
    path.write_bytes(whole)
    for page in pages_of(path, "strings"):
        path.write_bytes(zeroed(path.read_bytes(), page))
    report = damage.read_and_compare(str(path), damage.larger())
    assert report.details == list(range(1, LAST + 1))
    assert report.graphs == [LAST]  # which has none


def test_a_page_replaced_by_an_empty_one_is_noticed(whole: bytes, tmp_path: Path) -> None:
    """For SQLite such a file is in order."""
    path = tmp_path / "r.gradviz"
    path.write_bytes(whole)
    pages = pages_of(path, "executions")
    page = pages[len(pages) // 2]
    empty = b"\x0a\x00\x00\x00\x00\x10\x00\x00".ljust(4096, b"\x00")
    path.write_bytes(whole[: 4096 * (page - 1)] + empty + whole[4096 * page :])
    report = damage.read_and_compare(str(path), damage.larger())
    assert report.calls == list(range(1, LAST + 1))
    assert len(report.details) < LAST


@pytest.mark.parametrize(("one", "other"), [("executions", "accumulations"), ("meta", "sources"), ("calls", "events")])
def test_tables_that_changed_places_are_noticed(whole: bytes, tmp_path: Path, one: str, other: str) -> None:
    """Rows of another table with the same columns are whole rows, only not of this table."""
    path = tmp_path / "r.gradviz"
    path.write_bytes(whole)
    connection = sqlite3.connect(path)
    roots = dict(connection.execute("SELECT name, rootpage FROM sqlite_schema"))
    connection.close()
    first, second = sorted((roots[one] - 1, roots[other] - 1))
    data = [whole[4096 * page : 4096 * (page + 1)] for page in range(len(whole) // 4096)]
    data[first], data[second] = data[second], data[first]
    path.write_bytes(b"".join(data))
    report = damage.read_and_compare(str(path), damage.larger())
    if "executions" in (one, other):
        assert report.details == [LAST]  # which has neither
    else:
        assert report.damage is not None


def test_a_number_beyond_all_calls_costs_no_time(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "r.gradviz"
    path.write_bytes(whole)
    change(path, "calls", 3, number=1 << 60)
    change(path, "call_ends", 3, call=1 << 50, error="[]")
    started = time.process_time()
    found = open_recording(str(path))
    assert time.process_time() - started < 4
    close_recording(found)


def test_a_flipped_bit_of_a_number_is_noticed(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "r.gradviz"
    at = whole.index(damage.LARGE.data[4000:4400])  # type: ignore[index]
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    report = damage.read_and_compare(str(path), damage.larger())
    assert report.graphs == report.calls == list(range(1, LAST + 1))
    assert len(report.details) == LAST - 1


def test_json_of_a_damaged_recording_names_the_calls(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "r.gradviz"
    for size in range(len(whole), 0, -4096):
        path.write_bytes(whole[:size])
        found = open_recording(str(path))
        view = json_view(found)
        close_recording(found)
        assert view["damage"] == found.damage
        lost = [call["label"] for call in view["calls"] if call["damage"]]
        if len(lost) > 3:
            break
    assert found.damage is not None
    for label in lost[:5]:
        assert f"call {label}" in found.damage
    whole_ones = [call for call in view["calls"] if not call["damage"]]
    assert whole_ones and all(call["executions"] for call in whole_ones if call["number"] < LAST)


# -- values that no recorder writes, with right checksums ------------------------------------------------------------


def change(path: Path, table: str, row: int, **values: object) -> None:
    """Change columns of the k-th row of a table and give it the right checksum; also to NULL where none may be."""
    shape = TABLES[table]
    with lenient(path) as connection:
        old = connection.execute(shape.select()).fetchall()[row][:-1]
        fresh = [values.get(name, item) for name, item in zip(shape.columns, old, strict=True)]
        where = " AND ".join(f"{name}=?" for name in shape.key)
        connection.execute(f"DELETE FROM {table} WHERE {where}", [old[shape.columns.index(name)] for name in shape.key])
        connection.execute(shape.insert(), (*fresh, shape.checksum(fresh)))


@contextmanager
def lenient(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a recording whose columns take NULL; afterwards the tables are ours again."""
    kept = set_schema(path, lambda sql: sql.replace("NOT NULL", ""))
    connection = sqlite3.connect(path, isolation_level=None)
    yield connection
    connection.close()
    set_schema(path, lambda sql: kept[sql])


def set_schema(path: Path, changed: Callable[[str], str]) -> dict[str, str]:
    """Write the statements of all tables anew; returns new -> old."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA writable_schema=ON")
    old = [sql for (sql,) in connection.execute("SELECT sql FROM sqlite_schema")]
    for sql in old:
        connection.execute("UPDATE sqlite_schema SET sql=? WHERE sql=?", (changed(sql), sql))
    connection.close()
    return {changed(sql): sql for sql in old}


@pytest.mark.parametrize(
    ("table", "values"),
    [
        ("graphs", {"node_count": 1 << 40}),
        ("graphs", {"node_count": -5}),
        ("graphs", {"node_count": 4}),
        ("graphs", {"edge_count": 1 << 62}),
        ("graphs", {"nodes": b""}),
        ("graphs", {"edges": b"abc"}),
        ("graphs", {"node_count": "5"}),
        ("call_graphs", {"graph": 99}),
        ("call_graphs", {"base_node": -3, "ids": None}),
        ("call_graphs", {"base_node": None, "ids": None}),
        ("call_graphs", {"iterations": b"\x00"}),
        ("call_graphs", {"value_count": 77}),
        ("node_values", {"data": b"\x01"}),
        ("node_values", {"data": bytes(12) + b"\x01\x00\x00\x00" + b"\x01"}),
        ("node_values", {"data": None}),
        ("strings", {"text": 5}),
        ("strings", {"text": b"text"}),
    ],
)
def test_a_graph_of_absurd_values_is_refused(
    whole: bytes, tmp_path: Path, table: str, values: dict[str, object]
) -> None:
    path = tmp_path / "r.gradviz"
    path.write_bytes(whole)
    change(path, table, 0, **values)
    found = open_recording(str(path))
    with pytest.raises(DamagedRecordingError):
        found.graph(1)
    assert found.detail(1) == damage.larger().detail(1)
    close_recording(found)


@pytest.mark.parametrize(
    ("table", "values"),
    [
        ("executions", {"data": b""}),
        ("executions", {"data": "text"}),
        ("executions", {"data": b"\xff" * 16}),
        ("executions", {"data": bytes(12) + b"\x09\x00\x00\x00" + b"\xff\xff\xff\xff\x00" + bytes(4)}),
        ("executions", {"first": -1}),
        ("executions", {"call": 2}),
        ("accumulations", {"data": b"\x09"}),
        ("accumulations", {"data": bytes(25) + b"\x01\x00\x00\x00" * 4 + b"\x09" * 4}),
        ("accumulations", {"data": bytes(21) + b"\x01\x00\x00\x00" + bytes(16) + b"\xff"}),
        ("accumulations", {"first": 7}),
        ("tensor_types", {"shape": "[1, -1]"}),
        ("tensor_types", {"shape": "[" * 5000}),
        ("tensor_types", {"shape": "[9999999999, 9999999999]"}),
        ("tensor_types", {"dtype": 3}),
        ("tensor_types", {"dtype": "float64"}),
    ],
)
def test_a_detail_of_absurd_values_is_refused(
    whole: bytes, tmp_path: Path, table: str, values: dict[str, object]
) -> None:
    path = tmp_path / "r.gradviz"
    path.write_bytes(whole)
    change(path, table, 0, **values)
    found = open_recording(str(path))
    with pytest.raises(DamagedRecordingError):
        found.detail(1)
    close_recording(found)


@pytest.mark.parametrize(
    ("table", "values"),
    [
        ("calls", {"detail": "all"}),
        ("calls", {"stack": "[[1, 2, 3]]"}),
        ("calls", {"inputs": "{}"}),
        ("calls", {"parent": 1}),
        ("calls", {"label": None}),
        ("calls", {"number": 1 << 60}),
        ("call_ends", {"error": "[]"}),
        ("call_ends", {"error": '{"type": 1, "message": ""}'}),
        ("call_ends", {"seconds": "long"}),
        ("roots", {"kind": "leaf"}),
        ("roots", {"shape": '["a"]'}),
        ("roots", {"seed": b"\x03"}),
        ("roots", {"idx": 5}),
        ("events", {"names": "[1]"}),
        ("events", {"norms": '[["a", 1]]'}),
        ("events", {"kind": "exploded"}),
        ("warnings", {"line": "seven"}),
        ("meta", {"value": "[]"}),
        ("meta", {"value": '{"kind": "vanished"}'}),
        ("meta", {"value": b"{}"}),
    ],
)
def test_heads_of_absurd_values_are_told(whole: bytes, tmp_path: Path, table: str, values: dict[str, object]) -> None:
    path = tmp_path / "r.gradviz"
    path.write_bytes(whole)
    change(path, table, 2 if table == "meta" else 0, **values)
    found = open_recording(str(path))
    assert found.damage is not None
    json_view(found)
    assert len(found.calls) >= LAST - 1
    close_recording(found)


def test_a_graph_with_a_cycle_is_refused(tmp_path: Path) -> None:
    """No autograd graph has one, and what walks it would not end."""
    wanted = samples.sample()
    drawn = wanted.graph(1)
    source = samples.MemorySource({1: Graph(drawn.nodes, (*drawn.edges, Edge(4, 0, 0, 0)))}, {1: samples.CallDetail()})
    samples.write(samples.replace(wanted, calls=(samples.call(1),), source=source), tmp_path / "r.gradviz")
    found = open_recording(str(tmp_path / "r.gradviz"))
    with pytest.raises(DamagedRecordingError):
        found.graph(1)
    close_recording(found)
