"""`with gradviz.record("x.gradviz"):` around any code: a test, a notebook, another runner."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from gradviz.model import Header
from gradviz.worker.budget import Options
from gradviz.worker.recorder import Recorder

if TYPE_CHECKING:
    from os import PathLike


@contextmanager
def record(path: str | PathLike[str], *, trace: bool = True, **options: Any) -> Iterator[Recorder]:
    """Record all calls made inside the `with` block into the file `path`, which must not exist.

    `options` are those of `Options` (`max_calls`, `max_values`, ...); `trace=False` leaves lines and names of
    intermediates out and does not touch `sys.settrace`.

    Raises:
        RecordingError: the file cannot be created.
    """
    recorder = Recorder(os.fspath(path), process_header(), Options(**options), (os.getcwd(),), trace)
    recorder.attach()
    try:
        yield recorder
    finally:
        recorder.detach()
        recorder.close()


def process_header() -> Header:
    """What runs in this process."""
    return Header(
        script=sys.argv[0] if sys.argv else "",
        argv=tuple(sys.argv[1:]),
        python=platform.python_version(),
        torch=torch.__version__,
        executable=sys.executable,
        cwd=os.getcwd(),
        threads=torch.get_num_threads(),
    )
