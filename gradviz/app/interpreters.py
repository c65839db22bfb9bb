"""The Pythons that may run a script: environments near it, conda's, and the one that runs gradviz. No Qt widgets."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from gradviz.errors import InterpreterError
from gradviz.runner.interpreter import ask

_HOW_FAR_UP = 4
_USUAL = (".venv", "venv", "env", ".env")
_CONDA_HOMES = ("miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A Python: `label` says where it is from, `torch` its version of torch (None: it has none)."""

    path: str
    label: str
    version: str
    torch: str | None


def interpreters_near(script: str) -> tuple[Candidate, ...]:
    """All Pythons that answer, the likeliest first; each is asked once what it is (30 ms), none imports torch."""
    found = []
    seen: set[str] = set()
    for path, label in _paths(os.path.dirname(os.path.abspath(script))):
        # Two environments can share one binary by a link, so the path itself tells them apart.
        if path in seen or not os.access(path, os.X_OK):
            continue
        seen.add(path)
        try:
            known = ask(path)
        except InterpreterError:
            continue  # a broken environment is no choice
        found.append(Candidate(path, label, known.version, known.torch))
    return tuple(found)


def _paths(folder: str) -> Iterator[tuple[str, str]]:
    yield sys.executable, "gradviz"
    for _ in range(_HOW_FAR_UP):
        yield from _environments_in(folder)
        above = os.path.dirname(folder)
        if above == folder:
            break
        folder = above
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if os.environ.get(name):
            yield _python_in(os.environ[name]), os.path.basename(os.environ[name])
    yield from _conda()


def _environments_in(folder: str) -> Iterator[tuple[str, str]]:
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
    except OSError:
        return
    for name in sorted(names, key=lambda name: name not in _USUAL):
        home = os.path.join(folder, name)
        if os.path.exists(os.path.join(home, "pyvenv.cfg")) or os.path.isdir(os.path.join(home, "conda-meta")):
            yield _python_in(home), os.path.join(os.path.basename(folder), name)


def _conda() -> Iterator[tuple[str, str]]:
    user = os.path.expanduser("~")
    for home in _CONDA_HOMES:
        base = os.path.join(user, home)
        if os.path.isdir(os.path.join(base, "conda-meta")):
            yield _python_in(base), f"{home} (base)"
        envs = os.path.join(base, "envs")
        for name in sorted(os.listdir(envs)) if os.path.isdir(envs) else ():
            yield _python_in(os.path.join(envs, name)), f"conda {name}"


def _python_in(home: str) -> str:
    return os.path.join(home, "python.exe") if os.name == "nt" else os.path.join(home, "bin", "python")
