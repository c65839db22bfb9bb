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

OWNER: Any = getattr(torch.autograd.function, "_HookMixin", None)  # where the engine finds what makes handles
NAME = "_register_hook"
_KEY = object()  # of a hook of ours that is the first one on its node


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


class Placing:
    """Hooks of ours on many nodes.

    Inside `unnoticed` the registering of a `Bound` gives None where it stands alone, else a handle, for `keep`. Whoever
    else registers a hook meanwhile gets what torch gives.
    """

    def __init__(self) -> None:
        self._alone: list[OrderedDict[Any, Any]] = []  # the hooks of nodes that had none
        self._handles: list[Any] = []
        self.keep = self._handles.append

    @contextmanager
    def unnoticed(self) -> Iterator[None]:
        """Stand in for what makes handles."""
        before = None if OWNER is None else vars(OWNER).get(NAME)
        if before is None:
            yield
            return
        try:
            setattr(OWNER, NAME, staticmethod(self._maker(getattr(OWNER, NAME))))
            yield
        finally:
            setattr(OWNER, NAME, before)

    def _maker(self, torchs: Callable[[Any, Any], tuple[Any, Any]]) -> Callable[[Any, Any], tuple[Any, Any]]:
        alone = self._alone.append

        def register_hook(hooks: Any, hook: Any) -> tuple[Any, Any]:
            if hook.__class__ is not Bound:
                return torchs(hooks, hook)
            if hooks:
                handle = Handle(hooks)
                hooks[handle] = hook
                return hooks, handle
            if hooks is None:
                hooks = OrderedDict()
            alone(hooks)
            hooks[_KEY] = hook
            return hooks, None

        return register_hook

    def remove(self) -> None:
        """Take all of them away."""
        for hooks in self._alone:
            hooks.pop(_KEY, None)
        self._alone.clear()
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
