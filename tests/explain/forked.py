"""Records many small scripts with one `import torch`: each runs in a forked child under the real Recorder.

    python -m tests.explain.forked FOLDER SCRIPT [SCRIPT ...]

The recordings are FOLDER/0.gradviz, 1.gradviz, ... in the order of the scripts. That a whole `gradviz record` gives
the same is the business of tests/worker; here only the findings count, and a second a script is too much.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import traceback
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def record_all(scripts: Sequence[Path], folder: Path) -> list[Path]:
    """Record the scripts into `folder` and return the recordings, in the same order."""
    words = [str(folder.resolve()), *(str(script.resolve()) for script in scripts)]
    command = [sys.executable, "-m", "tests.explain.forked", *words]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    return [folder / f"{index}.gradviz" for index in range(len(scripts))]


def _main(folder: Path, scripts: Sequence[Path]) -> None:
    import torch

    # Imported before the forks, or every child pays for it: an optimizer pulls in the compiler's front end.
    for name in ("numpy", "torch._dynamo", "torch.optim", "torch.utils.checkpoint", "gradviz.worker.recorder"):
        importlib.import_module(name)
    torch.set_num_threads(1)
    for index, script in enumerate(scripts):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                _record(script, folder / f"{index}.gradviz")
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(status)
        _, status = os.waitpid(child, 0)
        if status:
            raise SystemExit(f"{script} could not be recorded")


def _record(script: Path, target: Path) -> None:
    import torch

    from gradviz.model import Header, Outcome
    from gradviz.worker.budget import Options
    from gradviz.worker.recorder import Recorder

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.chdir(script.parent)
    text = script.read_text(encoding="utf-8")
    header = Header(str(script), (), sys.version.split()[0], torch.__version__, sys.executable, str(script.parent))
    recorder = Recorder(str(target), header, Options(), (str(script.parent),))
    recorder.attach()
    outcome = Outcome("finished", 0)
    try:
        _run(script, text)
    except SystemExit as error:
        outcome = Outcome("exited", error.code if isinstance(error.code, int) else 1)
    except BaseException as error:
        outcome = _raised(script, error)
    finally:
        recorder.detach()
        recorder.writer.add_source(str(script), text)
        recorder.close(outcome)


def _run(script: Path, text: str) -> None:
    module: Any = types.ModuleType("__main__")
    module.__file__ = str(script)
    sys.modules["__main__"] = module
    sys.argv = [str(script)]
    sys.path.insert(0, str(script.parent))  # as `python script.py` does
    exec(compile(text, str(script), "exec"), module.__dict__)


def _raised(script: Path, error: BaseException) -> Any:
    from gradviz.model import Outcome

    line = error.lineno if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(script):
            line = trace.tb_lineno
        trace = trace.tb_next
    return Outcome("raised", 1, None, type(error).__name__, str(error), str(script), line)


if __name__ == "__main__":
    _main(Path(sys.argv[1]), [Path(word) for word in sys.argv[2:]])
