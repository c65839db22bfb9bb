"""Saving under another name: whole, from a live recording too, and never in the place of something else unasked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gradviz.errors import RecordingError
from gradviz.model import Recording
from gradviz.store import alive, saving
from gradviz.store.reader import close_recording, open_recording
from gradviz.store.saving import save_as
from gradviz.store.writer import Writer
from tests.store import damage, samples
from tests.store.test_hostile import record


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "r.gradviz"
    samples.write(samples.sample(), path)
    return path


def saved(path: Path, target: Path, force: bool = False, live: bool = False) -> Recording:
    found = open_recording(str(path), live)
    try:
        save_as(found, str(target), force)
    finally:
        close_recording(found)
    copy = open_recording(str(target))
    close_recording(copy)
    return copy


def test_a_copy_holds_everything(recording: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.gradviz"
    saved(recording, target)
    report = damage.read_and_compare(str(target), samples.sample())
    assert (report.damage, report.details, report.graphs) == (None, [1, 2, 3, 4], [1, 2, 3, 4])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.gradviz", "r.gradviz"]


def test_a_running_recording_is_saved_as_it_is_by_now(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path / "r.gradviz"), samples.HEADER)
    record(writer, 1)
    copy = saved(tmp_path / "r.gradviz", tmp_path / "copy.gradviz", live=True)
    assert [call.number for call in copy.calls] == [1]
    record(writer, 2)
    writer.close()
    assert len(saved(tmp_path / "r.gradviz", tmp_path / "copy.gradviz", force=True).calls) == 2


def test_another_file_is_only_replaced_when_asked(recording: Path, tmp_path: Path) -> None:
    target = tmp_path / "mine.txt"
    target.write_text("mine")
    with pytest.raises(RecordingError, match=r"mine\.txt"):
        saved(recording, target)
    assert target.read_text() == "mine"
    assert len(saved(recording, target, force=True).calls) == 4


def test_a_file_that_came_meanwhile_is_not_replaced(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "copy.gradviz"
    write = saving._write

    def slowly(*arguments: object) -> None:
        write(*arguments)  # type: ignore[arg-type]
        target.write_text("mine")

    monkeypatch.setattr(saving, "_write", slowly)
    with pytest.raises(RecordingError, match="exists"):
        saved(recording, target)
    assert target.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.gradviz", "r.gradviz"]


def test_a_place_that_cannot_be_written_is_told(recording: Path, tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="nowhere"):
        saved(recording, tmp_path / "nowhere" / "copy.gradviz")
    found = open_recording(str(recording))
    close_recording(found)


def test_a_damaged_recording_is_copied_as_it_is(recording: Path, tmp_path: Path) -> None:
    data = recording.read_bytes()
    recording.write_bytes(data[:-5000])
    copy = saved(recording, tmp_path / "copy.gradviz")
    assert copy.damage is not None
    assert (tmp_path / "copy.gradviz").read_bytes() == data[:-5000]


def test_a_recording_damaged_inside_is_copied_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "r.gradviz"
    samples.write(damage.larger(), path)
    data = bytearray(path.read_bytes())
    for page in range(30, len(data) // 4096, 9):
        data[4096 * page : 4096 * page + 8] = b"\xff" * 8
    path.write_bytes(data)
    saved(path, tmp_path / "copy.gradviz")
    assert (tmp_path / "copy.gradviz").read_bytes() == data


def test_a_process_is_told_from_one_with_its_number() -> None:
    mine = alive.stamp()
    if mine["started"] is None:  # only Linux tells when a process started; elsewhere the file's locks must do
        assert not alive.is_running(mine)
        return
    assert alive.is_running(mine)
    for other in (
        {**mine, "started": mine["started"] + 1},
        {**mine, "host": "elsewhere"},
        {**mine, "pid": 1 << 22},
        {**mine, "pid": "1"},
        {**mine, "pid": None, "started": None},
        {"pid": os.getpid()},
        {},
        [],
        None,
        "1",
    ):
        assert not alive.is_running(other)
