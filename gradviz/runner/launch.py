"""Starts the worker process: the user's interpreter, natively on the script, with our first module in its path."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from gradviz.errors import InterpreterError
from gradviz.model import Header
from gradviz.runner.listener import Listener
from gradviz.runner.target import START_FOLDER, Target, order_for
from gradviz.texts import tr


@dataclass(frozen=True)
class Launched:
    """A worker that runs. `header` is what is known of the run without its help."""

    process: subprocess.Popen[bytes]
    header: Header
    own_group: bool

    def send_signal(self, number: int) -> None:
        """Pass on a signal, unless the process has ended."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)

    def kill(self) -> None:
        """End the process at once; with its children where it has a group of its own."""
        if self.own_group and sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()


def launch(
    target: Target,
    recording: str,
    listener: Listener,
    role: str,
    stdin: int | None,
    outputs: tuple[int, int],
    own_group: bool,
) -> Launched:
    """Start the worker.

    Raises:
        InterpreterError: the interpreter cannot be executed.
    """
    hash_seed = os.environ.get("PYTHONHASHSEED") or str(secrets.randbelow(4294967295) + 1)
    reader, writer = os.pipe()
    os.set_inheritable(reader, True)
    environment = _environment({**os.environ, **target.environment}, reader, hash_seed)
    try:
        process = subprocess.Popen(
            [target.python, *target.words()],
            stdin=stdin,
            stdout=outputs[0],
            stderr=outputs[1],
            env=environment,
            cwd=target.cwd,
            start_new_session=own_group,
            **_inherited(reader, own_group),
        )
    except OSError as error:
        os.close(writer)
        raise _cannot_start(target.python, error) from error
    finally:
        os.close(reader)
    order = order_for(target, recording, listener.port, listener.token, role, hash_seed)
    with contextlib.suppress(BrokenPipeError), open(writer, "wb") as pipe:
        pipe.write(json.dumps(order).encode() + b"\n")
    return Launched(process, _header(target, hash_seed), own_group)


def _cannot_start(path: str, error: OSError) -> InterpreterError:
    why = error.strerror or str(error)
    return InterpreterError(
        tr("The Python {path!r} cannot be started: {why}. Choose another with --python.", path=path, why=why)
    )


def _environment(base: dict[str, str], pipe: int, hash_seed: str) -> dict[str, str]:
    """The worker's environment. The user's own values of what we set go along and are put back before the script."""
    environment = dict(base)
    for name in ("PYTHONPATH", "PYTHONHASHSEED"):
        if name in base:
            environment[f"GRADVIZ_{name}"] = base[name]
    if any(name in base for name in ("DISPLAY", "WAYLAND_DISPLAY")) or sys.platform in ("win32", "darwin"):
        # `plt.show()` would wait for a person. Without a screen matplotlib chooses this back end by itself.
        environment.setdefault("MPLBACKEND", "Agg")
    environment["GRADVIZ_PIPE"] = str(pipe)
    environment["PYTHONHASHSEED"] = hash_seed
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (START_FOLDER, base.get("PYTHONPATH"))))
    return environment


def _inherited(descriptor: int, own_group: bool) -> dict[str, Any]:
    """The command line hands on what its shell gave it (`<(...)` is a descriptor); the window's own stay closed."""
    if sys.platform == "win32" or not own_group:
        return {"close_fds": False}
    return {"pass_fds": (descriptor,)}


def _header(target: Target, hash_seed: str) -> Header:
    cwd = target.cwd or os.getcwd()
    script = os.path.normpath(os.path.join(cwd, target.script)) if target.script is not None else str(target.module)
    return Header(
        script=script,
        argv=target.argv,
        python="",
        torch=None,
        executable=target.python,
        cwd=cwd,
        module=target.module,
        hash_seed=hash_seed,
    )
