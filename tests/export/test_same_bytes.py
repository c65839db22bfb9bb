"""The same recording, options and fonts give the same bytes, also in another process with other hash seeds."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
from pathlib import Path
from gradviz.export import ExportOptions, export
from tests import recordings as made
for name in sys.argv[2:]:
    export(made.two_calls(), Path(sys.argv[1]) / name, ExportOptions(width=320, hold=0.2, fps=None))
    export(made.loop(3), Path(sys.argv[1]) / ("loop-" + name), ExportOptions(width=320, hold=0.2))
"""
NAMES = ["a.png", "a.svg", "a.gif", "a.apng", "a.webp", "a.pdf", "a.html", "a.dot", "a.mp4"]


def digests(folder: Path, seed: str) -> dict[str, str]:
    folder.mkdir()
    environment = {**os.environ, "PYTHONHASHSEED": seed, "SOURCE_DATE_EPOCH": "1000000000"}
    command = [sys.executable, "-c", PROGRAM, str(folder), *NAMES]
    subprocess.run(command, check=True, env=environment, cwd=Path(__file__).parents[2], timeout=240)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_two_processes_write_the_same_bytes(tmp_path: Path) -> None:
    first, second = digests(tmp_path / "one", "1"), digests(tmp_path / "two", "77")
    assert len(first) == 2 * len(NAMES)
    assert first == second
