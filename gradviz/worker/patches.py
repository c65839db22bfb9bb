"""Puts our functions in the place of torch's, and takes them away without trace."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gradviz.worker.frames import hidden

_ABSENT = object()


class Patches:
    """Attributes that were replaced, newest last."""

    def __init__(self) -> None:
        self._done: list[tuple[Any, str, Any, Any]] = []

    def wrap(self, owner: Any, name: str, make: Callable[[Any], Callable[..., Any]]) -> None:
        """Replace the function `owner.name` by `make(original)`, which looks like it; nothing where there is none."""
        original = getattr(owner, name, None)
        if original is None:
            return
        replacement = functools.wraps(original)(hidden(make(original)))
        self.put(owner, name, replacement)

    def put(self, owner: Any, name: str, value: Any) -> None:
        """Set `owner.name`."""
        self._done.append((owner, name, vars(owner).get(name, _ABSENT), value))
        setattr(owner, name, value)

    def undo(self) -> None:
        """Restore all, but what the script has replaced in its turn."""
        while self._done:
            owner, name, before, ours = self._done.pop()
            if vars(owner).get(name, _ABSENT) is not ours:
                continue
            if before is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
