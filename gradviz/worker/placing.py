"""Puts hooks of ours on autograd nodes.

Torch counts every handle that it makes, and scripts print such counts; its handles cost twice as much as ours, too.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch

_OWNER: Any = getattr(torch.autograd.function, "_HookMixin", None)  # where the engine finds what makes handles
_NAME = "_register_hook"


class Bound(partial[None]):
    """A hook of ours with the index of its node."""

    __slots__ = ()


class Handle:
    """As torch's RemovableHandle, and its own key among the hooks of its node."""

    __slots__ = ("_hooks",)

    def __init__(self, hooks: OrderedDict[Any, Any]) -> None:
        self._hooks = hooks

    @property
    def id(self) -> Handle:
        """The key of the hook."""
        return self

    def hooks_dict_ref(self) -> OrderedDict[Any, Any]:
        """All hooks of this kind on the node, in the order in which they run."""
        return self._hooks

    def remove(self) -> None:
        """Take the hook away."""
        self._hooks.pop(self, None)


@contextmanager
def unnoticed() -> Iterator[None]:
    """Inside, hooks that are `Bound` get a `Handle`. Whoever else registers a hook meanwhile gets what torch gives."""
    before = None if _OWNER is None else vars(_OWNER).get(_NAME)
    if before is None:
        yield
        return
    try:
        setattr(_OWNER, _NAME, staticmethod(_maker(getattr(_OWNER, _NAME))))
        yield
    finally:
        setattr(_OWNER, _NAME, before)


def _maker(torchs: Callable[[Any, Any], tuple[Any, Any]]) -> Callable[[Any, Any], tuple[Any, Any]]:
    def register_hook(hooks: Any, hook: Any) -> tuple[Any, Any]:
        if hook.__class__ is not Bound:
            return torchs(hooks, hook)
        if hooks is None:
            hooks = OrderedDict()
        handle = Handle(hooks)
        hooks[handle] = hook
        return hooks, handle

    return register_hook
