"""Keeps our file descriptors away from the numbers that a script would get without us."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

if sys.platform != "win32":
    import resource

# Above what scripts close by number (`for fd in range(3, 64)`), below the usual limit of 1,024.
FIRST = 400


@contextmanager
def out_of_the_way() -> Iterator[None]:
    """What is opened inside gets numbers from FIRST on: all lower ones are taken as long as the block runs."""
    taken: list[int] = []
    try:
        if _may_open(FIRST + 64):
            taken.append(os.open(os.devnull, os.O_RDONLY))
            while taken[-1] < FIRST - 1:
                taken.append(os.dup(taken[0]))
            if taken[-1] >= FIRST:
                os.close(taken.pop())
        yield
    finally:
        for number in taken:
            os.close(number)


def _may_open(number: int) -> bool:
    if sys.platform == "win32":  # there numbers mean little
        return False
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft == resource.RLIM_INFINITY or soft > number
