"""A portable recording tells nothing of the machine on which it was made."""

from __future__ import annotations

from pathlib import Path

from gradviz.store.reader import close_recording, open_recording
from tests.recorded import gradviz

SCRIPT = """
import os
import torch

x = torch.ones(2, requires_grad=True)
print(os.path.abspath(__file__))
x.backward()
"""


def test_no_folder_is_left_in_a_portable_recording(tmp_path: Path) -> None:
    folder = tmp_path / "private-place"
    folder.mkdir()
    (folder / "script.py").write_text(SCRIPT, encoding="utf-8")
    done = gradviz("record", "script.py", "-o", "out.gradviz", "--portable", cwd=folder)
    assert done.returncode == 1, done.stderr

    assert b"private-place" not in (folder / "out.gradviz").read_bytes()
    recording = open_recording(str(folder / "out.gradviz"))
    try:
        (call,) = recording.calls
        assert call.place is not None
        assert (recording.header.script, call.place.file) == ("script.py", "script.py")
        assert b"".join(chunk.data for chunk in recording.source.output() if chunk.stream == "stdout") == b"script.py\n"
        assert list(recording.source.sources()) == ["script.py"]
    finally:
        close_recording(recording)
