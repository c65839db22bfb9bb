"""Experiments become calls of a finished recording, beside the script's own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

from gradviz.runner.experiments import WhatIf
from gradviz.store.database import cannot_write
from gradviz.store.merge import add_what_if


def keep(recording: str, what_if: WhatIf) -> int:
    """Add an experiment to the finished recording of its script, beside the script's own calls.

    Returns:
        The number of the call there.

    Raises:
        RecordingError: one of the files cannot be read or written.
    """
    return add_what_if(recording, what_if.recording, what_if.first_new_node)


def keep_in_copy(recording: str, target: str, what_ifs: Sequence[WhatIf]) -> None:
    """Write a finished recording with experiments added to `target`, which may be the same file; all or nothing.

    Whoever reads `recording` may go on.

    Raises:
        RecordingError: one of the files cannot be read or written.
    """
    fresh = f"{target}.{os.getpid()}.saving"
    try:
        shutil.copyfile(recording, fresh)
        for what_if in what_ifs:
            keep(fresh, what_if)
        os.replace(fresh, target)
    except OSError as error:
        raise cannot_write(target, error) from error
    finally:
        if os.path.exists(fresh):
            os.unlink(fresh)
