"""A recording from a word of the command line: the file itself, or a run of the script that is named."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator

from gradviz.cli.signals import forward_signals
from gradviz.model import Recording
from gradviz.runner import Run, Target, own_descriptors
from gradviz.runner.interpreter import check_interpreter
from gradviz.store.reader import close_recording, open_recording

_MAGIC = b"SQLite format 3\x00"


@contextlib.contextmanager
def opened(arguments: argparse.Namespace, script_output_to_stderr: bool = False) -> Iterator[Recording]:
    """The recording `arguments.path`, or that of a run of the script `arguments.path`, in a temporary file.

    Raises:
        RecordingError, ScriptError, InterpreterError: there is nothing to open or to run.
    """
    with contextlib.ExitStack() as stack:
        path = arguments.path
        if not is_recording(path):
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="gradviz-"))
            path = _run(arguments, os.path.join(folder, "recording.gradviz"), script_output_to_stderr)
        recording = open_recording(path)
        stack.callback(close_recording, recording)
        yield recording


def is_recording(path: str) -> bool:
    """Tell a recording from a script by its first bytes; what cannot be read is left to the opener to refuse."""
    try:
        with open(path, "rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC or path.endswith(".gradviz")
    except IsADirectoryError:
        return False
    except OSError:
        return path.endswith(".gradviz")


def _run(arguments: argparse.Namespace, path: str, to_stderr: bool) -> str:
    target = Target(arguments.path, None, tuple(arguments.theirs), arguments.python or sys.executable)
    target.check()
    check_interpreter(target.python)
    out, err = own_descriptors()
    run = Run(target, path, sinks=(err, err) if to_stderr else (out, err), own_group=False, stdin=None)
    with forward_signals(run):
        run.run()
    return path
