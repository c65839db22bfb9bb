"""Finds hooks of ours whose handles were lost: a signal handler of the user's may raise between any two steps."""

from __future__ import annotations

from typing import Any

from gradviz.worker.hooks import Hooks
from gradviz.worker.placing import Bound
from gradviz.worker.walk import Walk


def sweep(walk: Walk, owner: Hooks) -> None:
    """Take every hook of `owner` away from the nodes and leaves of a graph."""
    for node in (*walk.nodes, *(node for _, node in walk.twins)):
        for register in (node.register_hook, node.register_prehook):
            handle = register(_nothing)  # it leads to all Python hooks of the node
            _remove(handle.hooks_dict_ref(), owner)
            handle.remove()
    for leaf in walk.leaves.values():
        _remove(leaf._post_accumulate_grad_hooks, owner)


def _remove(hooks: Any, owner: Hooks) -> None:
    for key, hook in list((hooks or {}).items()):
        if isinstance(hook, Bound) and owner.owns(hook.func):
            del hooks[key]


def _nothing(*_: Any) -> None:
    return None
