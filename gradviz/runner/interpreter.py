"""Is this a Python that can run the script: it starts, is new enough, and has a torch that the recorder knows."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass

from gradviz.errors import InterpreterError
from gradviz.texts import tr

OLDEST_PYTHON = (3, 10)
OLDEST_TORCH = (2, 1)
_PATIENCE = 30.0

# Finds torch without importing it (seconds), and its version from its own version file or its metadata.
# The current folder goes from the path before anything is imported that a file there could be named like.
_QUESTION = """
import sys
if sys.path[:1] == [""]:
    del sys.path[0]
import json
def version():
    import importlib.util
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    import os, re
    try:
        text = open(os.path.join(os.path.dirname(spec.origin), "version.py")).read()
        return re.search(r"__version__ = ['\\"]([^'\\"]+)", text).group(1)
    except (OSError, AttributeError):
        from importlib import metadata
        return metadata.version("torch")
sys.stdout.write(json.dumps({"python": list(sys.version_info[:3]), "torch": version()}))
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python and the torch in it. `torch` is None where there is none."""

    path: str
    python: tuple[int, int, int]
    torch: str | None

    @property
    def version(self) -> str:
        """`3.11.7`."""
        return ".".join(map(str, self.python))


def ask(path: str) -> Interpreter:
    """Ask an interpreter what it is. It takes about 30 ms; torch is not imported.

    Raises:
        InterpreterError: the file is missing, cannot be executed, or is no Python.
    """
    found = shutil.which(path)
    if found is None:
        if os.path.exists(path):
            raise InterpreterError(tr("{path!r} cannot be executed. Choose a Python with --python.", path=path))
        raise InterpreterError(tr("There is no Python at {path!r}. Check the path given with --python.", path=path))
    try:
        answer = subprocess.run(
            [found, "-c", _QUESTION], capture_output=True, stdin=subprocess.DEVNULL, timeout=_PATIENCE, check=False
        )
        said = json.loads(answer.stdout)
        return Interpreter(path, tuple(said["python"]), said["torch"])
    except (OSError, ValueError, KeyError, TypeError, subprocess.TimeoutExpired) as error:
        raise InterpreterError(tr("{path!r} is not a Python 3. Choose one with --python.", path=path)) from error


def check_interpreter(path: str) -> Interpreter:
    """As `ask`, and see that the recorder can work there. A script without torch needs none, so that is no error here.

    Raises:
        InterpreterError: no Python, or one that is too old, or its torch is.
    """
    found = ask(path)
    if found.python < OLDEST_PYTHON:
        oldest = ".".join(map(str, OLDEST_PYTHON))
        raise InterpreterError(
            tr(
                "{path!r} is Python {version}; gradviz records with Python {oldest} or newer. Choose another with "
                "--python.",
                path=path,
                version=found.version,
                oldest=oldest,
            )
        )
    if found.torch is None:
        raise InterpreterError(
            tr(
                "{path!r} (Python {version}) has no torch. Install torch there, or choose the Python of the "
                "environment that has it with --python.",
                path=path,
                version=found.version,
            )
        )
    if _torch_number(found.torch) < OLDEST_TORCH:
        oldest = ".".join(map(str, OLDEST_TORCH))
        raise InterpreterError(
            tr(
                "{path!r} has torch {version}; gradviz records with torch {oldest} or newer. Install a newer one "
                "there, or choose another Python with --python.",
                path=path,
                version=found.torch,
                oldest=oldest,
            )
        )
    return found


def _torch_number(version: str) -> tuple[int, ...]:
    parts = version.split("+")[0].split(".")[:2]
    return tuple(int("".join(filter(str.isdigit, part)) or 0) for part in parts)
