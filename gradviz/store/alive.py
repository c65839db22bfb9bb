"""Is the process that writes a recording still there? A log must not be written back under its hands."""

from __future__ import annotations

import os
import socket
from typing import Any

Stamp = dict[str, Any]


def stamp() -> Stamp:
    """What tells this process apart from all others, as JSON."""
    return {"pid": os.getpid(), "started": _start_of(os.getpid()), "host": socket.gethostname()}


def is_running(found: object) -> bool:
    """Tell whether the process that made this stamp runs on this machine.

    False where that cannot be known; the file's locks then speak.
    """
    if not isinstance(found, dict) or found.get("host") != socket.gethostname():
        return False
    number, started = found.get("pid"), found.get("started")
    if type(number) is not int or type(started) is not int:
        return False
    return _start_of(number) == started


def _start_of(number: int) -> int | None:
    """When a process started, in clock ticks since the machine did; None where the system does not tell (not Linux).

    A process id alone says little: ids are used again.
    """
    try:
        with open(f"/proc/{number}/stat", "rb") as file:
            # The name of the program, in brackets, may hold spaces and brackets itself.
            return int(file.read().rpartition(b")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None
