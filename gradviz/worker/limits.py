"""Room on the C stack for letting go of deep graphs.

Once Python has seen the nodes of a chain of some 40,000 operations, its release recurses in C and overflows a stack of
8 MB. The garbage collector releases in whatever thread runs, so all stacks must be large enough.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

if sys.platform != "win32":
    import resource  # not when it is needed: that may be inside a trace callback, and a script may have one of its own

# Far below the 40,000 that crash, far above what most scripts make.
DEEP = 5_000
_MAIN = 1 << 30
_THREAD = 512 << 20
_done: list[tuple[int, int]] = []  # the script's own limit, once it was raised


def make_room(nodes: int) -> None:
    """A graph with so many nodes has been looked at: raise the limits of this process, once, if that is needed."""
    if nodes < DEEP or _done or sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    _done.append((soft, hard))
    wanted = _MAIN if hard == resource.RLIM_INFINITY else min(_MAIN, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        # Not before the process starts: threads, and the children's threads, would take that much each.
        resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))
        os.register_at_fork(after_in_child=lambda: resource.setrlimit(resource.RLIMIT_STACK, (soft, hard)))
        _wrap_starting_programs(lambda limit: resource.setrlimit(resource.RLIMIT_STACK, (limit, hard)), soft, wanted)
    roomy_threads()


def roomy_threads() -> None:
    """Give threads that start from now on a large stack (512 MB of addresses, not of memory).

    `threading.stack_size()` goes on to say what the script has set, and what it has set itself is kept.
    """
    name = "_start_joinable_thread" if hasattr(threading, "_start_joinable_thread") else "_start_new_thread"
    start = getattr(threading, name, None)
    if (
        start is None
        or getattr(start, "__name__", "") == "start_roomy"
        or sys.platform == "win32"
        or _addresses_bound()
    ):
        return

    def start_roomy(*arguments: Any, **named: Any) -> Any:
        if threading.stack_size() != 0:
            return start(*arguments, **named)
        threading.stack_size(_THREAD)
        try:
            return start(*arguments, **named)
        finally:
            threading.stack_size(0)

    setattr(threading, name, start_roomy)


def _addresses_bound() -> bool:
    if sys.platform == "win32":
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def _wrap_starting_programs(limit: Callable[[int], None], soft: int, wanted: int) -> None:
    """Programs that the script starts get its own limit."""
    import _posixsubprocess
    import subprocess

    fork_exec = _posixsubprocess.fork_exec

    def with_own_limit(*arguments: Any) -> int:
        limit(soft)
        try:
            return int(fork_exec(*arguments))
        finally:
            limit(wanted)

    for module in (_posixsubprocess, subprocess):
        for name in ("fork_exec", "_fork_exec"):
            if getattr(module, name, None) is fork_exec:
                setattr(module, name, with_own_limit)
