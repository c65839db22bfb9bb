"""Hooks of ours leave no trace: not in torch's count of handles, not on a node, not where torch makes handles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch.utils.hooks import RemovableHandle

import gradviz
from gradviz.worker.placing import Bound, Handle, Placing

_MAKER: Any = torch.autograd.function._HookMixin  # type: ignore[attr-defined]


def test_torch_counts_only_the_handles_of_the_user(tmp_path: Path) -> None:
    weight = torch.ones(2, requires_grad=True)
    with gradviz.record(tmp_path / "it.gradviz"):
        (weight * 2).exp().sum().backward()
        handle = weight.register_hook(lambda grad: grad)
        before = RemovableHandle.next_id
        (weight * 2).exp().sum().backward()
        assert RemovableHandle.next_id == before == handle.id + 1


def test_what_makes_handles_is_torchs_own_again() -> None:
    before = vars(_MAKER)["_register_hook"]
    with Placing().unnoticed():
        assert vars(_MAKER)["_register_hook"] is not before
    assert vars(_MAKER)["_register_hook"] is before


def test_a_hook_of_the_users_gets_a_handle_of_torchs_at_any_time() -> None:
    node = (torch.ones(1, requires_grad=True) * 2).grad_fn
    assert node is not None
    with Placing().unnoticed():
        handle = node.register_hook(lambda inputs, outputs: None)
    assert isinstance(handle, RemovableHandle)


def test_hooks_of_both_stand_on_one_node() -> None:
    seen: list[str] = []
    weight = torch.ones(1, requires_grad=True)
    result = weight * 2
    node: Any = result.grad_fn
    first = node.register_hook(lambda inputs, outputs: seen.append("first"))
    with Placing().unnoticed():
        ours: Any = node.register_hook(Bound(lambda *_: seen.append("ours"), 0))
    last = node.register_hook(lambda inputs, outputs: seen.append("last"))
    assert isinstance(ours, Handle)
    assert list(ours.hooks_dict_ref()) == [first.id, ours.id, last.id]
    result.backward(retain_graph=True)
    ours.remove()
    ours.remove()  # once more does no harm
    result.backward()
    assert seen == ["first", "ours", "last", "first", "last"]


def test_a_node_that_had_a_hook_of_ours_takes_one_of_the_users() -> None:
    seen: list[int] = []
    weight = torch.ones(1, requires_grad=True)
    result = weight * 2
    node: Any = result.grad_fn
    placing = Placing()
    with placing.unnoticed():
        assert node.register_prehook(Bound(lambda *_: seen.append(1), 0)) is None
    handle = node.register_prehook(lambda outputs: seen.append(2))
    placing.remove()
    result.backward(retain_graph=True)
    assert seen == [2]
    assert list(handle.hooks_dict_ref()) == [handle.id]
    handle.remove()
    with placing.unnoticed():  # the dictionary is still there, and empty
        assert node.register_prehook(Bound(lambda *_: seen.append(3), 0)) is None
    result.backward()
    assert seen == [2, 3]
