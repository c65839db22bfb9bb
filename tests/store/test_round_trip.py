"""What is written comes back equal, and equal things are stored once."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from gradviz.model import Header, Recording
from gradviz.store.reader import close_recording, open_recording
from gradviz.store.rows import CallEnd, CallStart
from gradviz.store.writer import Writer
from tests.store import samples


def heads(recording: Recording) -> object:
    return recording.header, recording.outcome, recording.calls, recording.events, recording.warnings


@pytest.mark.parametrize("same", [True, False])
def test_all_that_is_written_is_read(tmp_path: Path, same: bool) -> None:
    wanted = samples.sample()
    samples.write(wanted, tmp_path / "a.gradviz", same)
    found = open_recording(str(tmp_path / "a.gradviz"))
    assert heads(found) == heads(wanted)
    assert found.damage is None
    for call in wanted.calls:
        assert found.graph(call.number) == wanted.graph(call.number)
        assert found.detail(call.number) == wanted.detail(call.number)
    assert found.source.bindings() == wanted.source.bindings()
    assert found.source.sources() == wanted.source.sources()
    assert found.source.output() == wanted.source.output()
    close_recording(found)


def test_a_finished_recording_is_one_plain_file(tmp_path: Path) -> None:
    samples.write(samples.sample(), tmp_path / "a.gradviz")
    assert [path.name for path in tmp_path.iterdir()] == ["a.gradviz"]
    assert (tmp_path / "a.gradviz").read_bytes()[18:20] == b"\x01\x01"  # not in WAL mode


def test_equal_graphs_and_texts_are_stored_once(tmp_path: Path) -> None:
    samples.write(samples.sample(), tmp_path / "a.gradviz")
    connection = sqlite3.connect(tmp_path / "a.gradviz")
    graphs = connection.execute("SELECT node_count, edge_count FROM graphs").fetchall()
    texts = [text for (text,) in connection.execute("SELECT text FROM strings")]
    kinds = connection.execute("SELECT dtype, device, shape FROM tensor_types").fetchall()
    connection.close()
    assert graphs == [(5, 5)]  # of calls 1 and 2
    assert len(texts) == len(set(texts))
    assert len(kinds) == len(set(kinds))


def test_two_files_of_one_name_give_two_keys(tmp_path: Path) -> None:
    """Keys hold only the last part of a file's name, and must still tell the nodes of a call apart."""
    wanted = samples.sample()
    drawn = wanted.graph(1)
    other = replace(drawn.nodes[3], id=1, place=replace(samples.INSIDE, file="/elsewhere/net.py"))
    twins = replace(drawn, nodes=(drawn.nodes[3], other, drawn.nodes[4]), edges=())
    source = samples.MemorySource({1: replace(twins)}, {1: samples.CallDetail()})
    one = replace(wanted, calls=(samples.call(1),), source=source)
    samples.write(one, tmp_path / "a.gradviz")
    found = open_recording(str(tmp_path / "a.gradviz"))
    assert [node.key for node in found.graph(1).nodes] == [
        "MulBackward0@net.py:12#1",
        "MulBackward0@net.py:12#1~2",
        "layers.0.weight",
    ]
    close_recording(found)


def test_a_recording_is_continued_after_its_writer(tmp_path: Path) -> None:
    """The parent of a worker adds outcome and output; texts that it interns must not take a used number."""
    path = tmp_path / "a.gradviz"
    samples.write(samples.sample(), path)
    writer = Writer(str(path), None)
    outcome = samples.Outcome("killed", None, 9)
    writer.set_outcome(outcome)
    writer.add_output([samples.OutputChunk("stdout", 9.0, b"last words")])
    writer.intern("a text that is not there yet")
    assert writer.flush(), writer.stopped
    writer.close()
    found = open_recording(str(path))
    assert found.outcome == outcome
    assert found.source.output()[-1].data == b"last words"
    assert found.graph(2) == samples.sample().graph(2)
    close_recording(found)


def test_notes_of_the_recorder_join_those_of_the_header(tmp_path: Path) -> None:
    path = tmp_path / "a.gradviz"
    writer = Writer(str(path), samples.HEADER)
    writer.set_meta("notes", ["first"])
    writer.flush()
    writer.set_meta("notes", ["first", "second"])
    writer.close()
    found = open_recording(str(path))
    assert found.header.notes == (*samples.HEADER.notes, "first", "second")
    close_recording(found)


def test_an_empty_recording_opens(tmp_path: Path) -> None:
    Writer(str(tmp_path / "a.gradviz"), samples.HEADER).close()
    found = open_recording(str(tmp_path / "a.gradviz"))
    assert (found.calls, found.damage, found.outcome.kind) == ((), None, "running")
    assert found.header == samples.HEADER
    close_recording(found)


def test_names_that_are_no_text_can_be_stored(tmp_path: Path) -> None:
    """A file name that is not UTF-8 has lone surrogates in Python, which SQLite refuses."""
    path = tmp_path / "a.gradviz"
    bad = "dir\udcff/x.py"
    place = samples.Place(bad, 1, bad)
    header = Header(bad, (bad,), "3", None, "", "")
    writer = Writer(str(path), header)
    call = samples.call(1, place=place, stack=(place,), thread=bad, note=bad)
    writer.begin_call(CallStart(call, [], []))
    writer.end_call(CallEnd(1, error=samples.CallError(bad, bad, place), note=bad))
    writer.add_events([samples.Event("grad_cleared", 1, (bad,), place, bad)])
    writer.add_warnings([samples.ScriptWarning(bad, bad, place, 1)])
    writer.add_source(bad, bad)
    assert writer.flush(), writer.stopped
    writer.close()
    found = open_recording(str(path))
    assert found.calls[0].place == samples.Place("dir\\udcff/x.py", 1, "dir\\udcff/x.py")
    assert list(found.source.sources()) == ["dir\\udcff/x.py"]
    assert (found.header, found.damage) == (header, None)
    close_recording(found)
