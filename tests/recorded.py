"""Records a script with the real command, and reads the public JSON back: the way most tests see the product."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CASES = Path(__file__).resolve().parent / "cases"


@dataclass(frozen=True)
class Recorded:
    """What `gradviz record` did with a script, and what `gradviz info --json` says of it."""

    path: Path
    exit_code: int
    stdout: str
    stderr: str
    info: dict[str, Any]

    @property
    def calls(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.info["calls"]
        return found

    def node(self, number: int) -> dict[str, Any]:
        found: dict[str, Any] = next(node for node in self.info["nodes"] if node["id"] == number)
        return found

    def left(self, call: int, name: str) -> Any:
        """`.grad` of a leaf or retained tensor when call `call` (from 1) returned."""
        entries = self.calls[call - 1]["accumulations"] + self.calls[call - 1]["retained"]
        return next(entry for entry in entries if entry["name"] == name)["left"]["values"]


def gradviz(*words: str, cwd: Path | None = None, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    command = [sys.executable, "-m", "gradviz", *words]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL
    )


def record(script: Path, folder: Path, *options: str, arguments: tuple[str, ...] = ()) -> Recorded:
    """Record `script` into `folder`, in the script's own folder as the current one."""
    target = folder / (script.stem + ".gradviz")
    words = ["record", script.name, "-o", str(target), *options]
    done = gradviz(*words, *(("--", *arguments) if arguments else ()), cwd=script.parent)
    assert target.exists(), done.stderr
    view = gradviz("info", str(target), "--json")
    assert view.returncode == 0, view.stderr
    return Recorded(target, done.returncode, done.stdout, done.stderr, json.loads(view.stdout))


def record_text(text: str, folder: Path, *options: str) -> Recorded:
    """Record a script given as text."""
    script = folder / "script.py"
    script.write_text(text, encoding="utf-8")
    return record(script, folder, *options)
