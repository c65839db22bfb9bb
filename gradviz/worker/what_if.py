"""One run of the engine with other seeds, recorded to a file of its own by the recorder's own means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from gradviz.worker.calls import Active
from gradviz.worker.entry import Entry
from gradviz.worker.frames import is_ours
from gradviz.worker.gathered import Change, Ran
from gradviz.worker.held import HeldCall
from gradviz.worker.hooks import Hooks
from gradviz.worker.names import Names
from gradviz.worker.pause import Pause
from gradviz.worker.quiet import quiet
from gradviz.worker.ranks import Rank
from gradviz.worker.tasks import Tasks
from gradviz.worker.walk import node_of, walk

_torch: Any = torch


@dataclass(frozen=True)
class Plan:
    """What is to run: roots, a seed for each, and the texts that the seeds were made from (None: the script's own)."""

    roots: tuple[Any, ...]
    seeds: tuple[Any, ...]
    texts: tuple[str | None, ...]
    note: str | None = None


def engine(roots: Sequence[Any], seeds: Sequence[Any], inputs: Sequence[Any], accumulate: bool) -> Any:
    """Run the engine itself, below torch's own checks; the graph stays."""
    run = _torch.autograd.Variable._execution_engine.run_backward
    return run(tuple(roots), tuple(seeds), True, False, tuple(inputs), True, accumulate)


def run_plan(call: HeldCall, plan: Plan, output: str, in_place: bool) -> str | None:
    """Run and record; returns why the run failed, None where it did not.

    In place no AccumulateGrad runs: the leaves' gradients are asked for and added here, so that neither `.grad` nor
    an optimizer inside a post-accumulate hook is touched.
    """
    scribe, writer = call.scribe(output)
    entry = _entry(call.entry, plan)
    error: BaseException | None = None
    result: Any = None
    with quiet():
        rank = Rank(1, call.label, None, None, "full")
        active = scribe.begin(rank, entry, _Names(call, plan), True)
        hooks = _hook(active, scribe)
    try:
        result = _run(active, plan, in_place)
    except (Exception, SystemExit) as failure:  # whatever a hook or a backward of the user's raises is a result
        error = failure
    hooks.remove()
    if active.task is not None:
        active.task.end()
    with quiet():
        if in_place and error is None and call.entry.accumulates:
            _accumulate(active, result, scribe.capture)
        scribe.end(active, result, error)
    writer.close()
    return None if error is None else f"{type(error).__name__}: {error}"


def _entry(entry: Entry, plan: Plan) -> Entry:
    note = plan.note or "; ".join(text for text in plan.texts if text is not None)
    return replace(
        entry,
        outputs=plan.roots,
        seeds=plan.seeds,
        given=tuple(seed if text is not None else None for seed, text in zip(plan.seeds, plan.texts, strict=True)),
        retain_graph=True,
        create_graph=False,
        what_if=True,
        note=note or None,
    )


def _hook(active: Active, scribe: Any) -> Hooks:
    active.task = Tasks().open(active)
    hooks: Hooks = scribe.hooks(active, Pause())
    hooks.register()
    return hooks


def _run(active: Active, plan: Plan, in_place: bool) -> Any:
    entry = active.entry
    wanted = entry.inputs or ()
    if not in_place or not entry.accumulates:
        return engine(plan.roots, plan.seeds, wanted, entry.accumulates)
    wanted = wanted or tuple(active.walk.leaves.values())
    found = engine(plan.roots, plan.seeds, wanted, False)
    return dict(zip(map(id, wanted), found, strict=True))


def _accumulate(active: Active, found: dict[int, Any], capture: Any) -> None:
    """Do to every leaf what AccumulateGrad would have done; whoever called puts `.grad` back."""
    gathered = active.gathered
    for index, leaf in active.walk.leaves.items():
        came = found.get(id(leaf))
        if came is None:
            continue
        before, incoming = capture.pack(leaf.grad), capture.pack(came)
        with torch.no_grad():
            leaf.grad = came.clone() if leaf.grad is None else leaf.grad + came
        change = Change(index, 0, False, before, incoming, capture.pack(leaf.grad), len(gathered.ran))
        gathered.changes.append(change)
        gathered.ran.append(Ran(index, [incoming], []))


class _Names(Names):
    """The script's names, and for the seeds the texts that they were made from."""

    def __init__(self, call: HeldCall, plan: Plan) -> None:
        super().__init__([])
        self._script = call.names()
        self._texts = {id(seed): text for seed, text in zip(plan.seeds, plan.texts, strict=True) if text is not None}

    def of(self, tensor: Any) -> str | None:
        """The name of a tensor."""
        return self._texts.get(id(tensor)) or self._script.of(tensor)

    def of_all(self, tensors: Mapping[int, Any]) -> dict[int, str | None]:
        """The names of tensors, which go by number."""
        return {number: self.of(tensor) for number, tensor in tensors.items()}


def user_hooks(call: HeldCall, roots: Sequence[Any]) -> tuple[str, ...]:
    """The user's hooks that an experiment on these roots would run, by name where they have one."""
    found = walk([node_of(root)[0] for root in roots], None, 1 << 22)
    named: dict[str, None] = {}
    for node in found.nodes:
        for hook in _hooks_of(node):
            named.setdefault(_name_of(hook), None)
    for leaf in found.leaves.values():
        for hook in (getattr(leaf, "_backward_hooks", None) or {}).values():
            named.setdefault(_name_of(hook), None)
    for tensor in call.tensors.values():
        if tensor.grad_fn is not None and tensor.grad_fn in found.index:
            for hook in (getattr(tensor, "_backward_hooks", None) or {}).values():
                named.setdefault(_name_of(hook), None)
    hooked = [at for at, node in enumerate(found.nodes) if call.is_hooked(node)]
    if hooked and not named:
        named["a tensor hook"] = None
    return tuple(named)


def _hooks_of(node: Any) -> list[Any]:
    """The Python hooks of a node: a hook of ours shows the dictionary that they share."""
    hooks: list[Any] = []
    for register in (node.register_hook, node.register_prehook):
        handle = register(_nothing)
        shared = handle.hooks_dict_ref() or {}
        hooks += [hook for hook in shared.values() if hook is not _nothing]
        handle.remove()
    return [hook for hook in hooks if not _is_our_hook(hook)]


def _nothing(*_: Any) -> None:
    return None


def _is_our_hook(hook: Any) -> bool:
    code = getattr(getattr(hook, "func", hook), "__code__", None)
    return code is not None and is_ours(code.co_filename)


def _name_of(hook: Any) -> str:
    inner = getattr(hook, "__wrapped__", hook)
    name = getattr(inner, "__qualname__", None) or type(inner).__name__
    code = getattr(inner, "__code__", None)
    return f"{name} (line {code.co_firstlineno})" if code is not None else str(name)
