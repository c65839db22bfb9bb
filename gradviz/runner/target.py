"""What is to run: a script, a notebook or a module, with its arguments, interpreter and the recorder's options."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from gradviz.errors import ScriptError
from gradviz.texts import handed_on, tr


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a recording; None means the default of the recorder."""

    max_calls: int | None = None
    calls: str | None = None  # "1,5,10-20": the calls that are recorded in full
    max_values: int | None = None  # elements up to which a tensor is kept whole
    size_limit: int | None = None  # bytes of the recording
    hold: int | None = None  # snapshots to keep alive


@dataclass(frozen=True, slots=True)
class Hold:
    """Which calls are to be held for trying other seeds: those with these labels, None the latest ones.

    `in_place` stops the script itself there instead of leaving a copy (which happens by itself where no copy can be
    made). With `last` nothing after them is wanted: the script waits there until it is ended, and does nothing more.
    """

    labels: tuple[str, ...] | None = None
    in_place: bool = False
    last: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """`script` (a file, or a folder with `__main__.py`) or `module`, never both."""

    script: str | None = None
    module: str | None = None
    argv: tuple[str, ...] = ()
    python: str = sys.executable
    cwd: str | None = None
    limits: Limits = field(default_factory=Limits)
    environment: dict[str, str] = field(default_factory=dict)  # added to the application's own
    hold: Hold | None = None
    random: dict[str, Any] | None = None  # the random states of another run, from its recording, to start with

    @property
    def name(self) -> str:
        """How the target is called in sentences and in the recording's name."""
        return os.path.basename(os.path.normpath(self.script)) if self.script is not None else str(self.module)

    @property
    def is_notebook(self) -> bool:
        """Whether the cells of a notebook are to run."""
        return self.script is not None and self.script.endswith(".ipynb")

    def check(self) -> None:
        """See that there is something to run.

        Raises:
            ScriptError: the file is missing, not a file, or not readable.
        """
        if self.script is None:
            return
        path = os.path.join(self.cwd or os.getcwd(), self.script)
        if not os.path.exists(path):
            raise ScriptError(tr("There is no script {path!r}. Check the path and the folder.", path=self.script))
        if os.path.isdir(path) and not os.path.exists(os.path.join(path, "__main__.py")):
            raise ScriptError(
                tr("{path!r} is a folder without a __main__.py. Name the script itself.", path=self.script)
            )
        if not os.access(path, os.R_OK):
            raise ScriptError(tr("The script {path!r} cannot be read. Check its permissions.", path=self.script))
        if self.is_notebook:
            _check_notebook(path, self.script)

    def words(self) -> list[str]:
        """The words after the interpreter: what `python` itself gets."""
        if self.module is not None:
            return ["-m", self.module, *self.argv]
        if self.is_notebook:
            return [_NOTEBOOK, str(self.script), *self.argv]
        return [str(self.script), *self.argv]


def _check_notebook(path: str, name: str) -> None:
    try:
        with open(path, encoding="utf-8") as file:
            raw = json.load(file)
        cells = isinstance(raw, dict) and ("cells" in raw or "worksheets" in raw)
    except ValueError:
        cells = False
    if not cells:
        raise ScriptError(tr("{path!r} is no notebook: it holds no cells. Save it again in Jupyter.", path=name))
    language = str(raw.get("metadata", {}).get("kernelspec", {}).get("language", "python")).lower()
    if not language.startswith("python"):
        raise ScriptError(tr("{path!r} is a notebook in {language}; only Python runs.", path=name, language=language))


Stream = Literal["stdout", "stderr"]
_WORKER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "worker")
_NOTEBOOK = os.path.join(_WORKER, "start", "notebook.py")
START_FOLDER = os.path.join(_WORKER, "start")


def order_for(target: Target, recording: str, port: int, token: str, role: str, hash_seed: str) -> dict[str, Any]:
    """What the worker is told through its inherited pipe, as JSON values."""
    limits = target.limits
    return {
        "token": token,
        "port": port,
        "role": role,
        "recording": recording,
        "script": target.script,
        "module": target.module,
        "argv": list(target.argv),
        "cwd": target.cwd or os.getcwd(),
        "hash_seed": hash_seed,
        "language": handed_on(),
        "hold": None if target.hold is None else asdict(target.hold),
        "random": target.random,
        "limits": {name: getattr(limits, name) for name in limits.__dataclass_fields__},
    }
