"""An output is written as a whole or not at all, and never over another one unasked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gradviz.errors import ExportError
from gradviz.export.files import check_writable, replacing, write


def test_a_file_is_there_with_usual_rights_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    write(path, b"picture", force=False)
    assert path.read_bytes() == b"picture"
    assert [p.name for p in tmp_path.iterdir()] == ["a.png"]
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    assert path.stat().st_mode == plain.stat().st_mode


def test_an_existing_file_needs_force(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"old")
    with pytest.raises(ExportError, match="--force"):
        write(path, b"new", force=False)
    assert path.read_bytes() == b"old"
    write(path, b"new", force=True)
    assert path.read_bytes() == b"new"


def test_a_failure_leaves_the_old_file_and_no_part(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError), replacing(path, force=True) as part:
        part.write_bytes(b"half")
        raise RuntimeError("in the middle")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.png"]


def test_what_cannot_be_written_is_said_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="no folder"):
        check_writable(tmp_path / "nowhere" / "a.png", force=False)
    with pytest.raises(ExportError, match="is a folder"):
        check_writable(tmp_path, force=True)


def test_an_error_of_the_system_is_told_with_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.png"

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(ExportError, match=r"a\.png.*No space left"):
        write(path, b"x", force=False)
    assert list(tmp_path.iterdir()) == []
