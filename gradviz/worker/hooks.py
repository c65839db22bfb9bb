"""The hooks of one engine run: what arrived at each node and what left it, in the order in which the engine ran."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import attrgetter
from time import perf_counter
from typing import Any

import torch

from gradviz.store.codec import UNDEFINED
from gradviz.worker.bare_leaves import BareLeaves
from gradviz.worker.calm_hooks import calm_hook
from gradviz.worker.flow import ANY, Flow
from gradviz.worker.gathered import Change, Gathered, Retained
from gradviz.worker.intake import Deferred, Intake, Item
from gradviz.worker.leaf_hooks import LeafHooks
from gradviz.worker.pause import Pause
from gradviz.worker.placing import Bound, Placing
from gradviz.worker.quiet import attribute_reads_are_seen
from gradviz.worker.reading import PLAIN, STRIDED
from gradviz.worker.sent import Sent, version
from gradviz.worker.sums import Sums, has_hooks
from gradviz.worker.tasks import Task, current
from gradviz.worker.walk import CUSTOM, LEAF, OPAQUE, Walk

_C: Any = torch._C
FLUSH_SECONDS = 1.0  # a run that takes longer writes what it has done so far


class Hooks:
    """Registers, and removes without trace, the hooks of one run. The hooks close over integers only."""

    def __init__(
        self,
        walk: Walk,
        intake: Intake,
        task: Task,
        retained: list[Retained],
        pause: Pause,
        flow: Flow | None,
        bare: BareLeaves | None = None,
        flush: Callable[[], None] | None = None,
    ) -> None:
        """Without a `flow` only the leaves get hooks; those in `bare` get none.

        `flush` is called now and then in a run that takes long.
        """
        self.gathered = Gathered()
        self.sees_user_hooks = False
        self._walk = walk
        self._take = intake.take
        self._intake = intake
        self._takes = intake.takes
        self._sent = Sent(flow, bare is not None)
        self._task = task
        self._pause = pause
        self._flow = flow
        self.bare = bare
        self._sums = Sums(walk, flow, self._take) if flow is not None and has_hooks(walk) else None
        self._retained: dict[int, list[Retained]] = {}
        for entry in retained:
            self._retained.setdefault(entry.index, []).append(entry)
        arriving = [ANY] * len(walk.nodes) if flow is None else flow.arriving
        self._at_leaves = LeafHooks(walk, task, intake, self._sent, self._sums, self.gathered, arriving)
        self._placing = Placing()
        self._flush = flush
        self.due = perf_counter() + FLUSH_SECONDS
        self._ran = self._usual = _unwatched if flow is None else self._watch_nodes(flow)
        if flow is not None and bare is not None:
            self._ran = calm_hook(self, flow, intake, self._sent, bare.after, self._usual)
        # A mode or a tensor subclass of the user's would see that we read `.grad` and `.shape`.
        leaves = walk.leaves.values()
        self._seen = attribute_reads_are_seen() or any(type(leaf) not in PLAIN for leaf in leaves)
        self._patched: list[tuple[Any, Any]] = []

    def register(self) -> None:
        """Put the hooks on all nodes of the walk, or on its leaves."""
        with self._placing.unnoticed():
            self._register()

    def _register(self) -> None:
        walk, ran, plain = self._walk, self._ran, not self._seen
        for index, (node, kind) in enumerate(zip(walk.nodes, walk.kinds, strict=True)):
            if kind == LEAF:
                if self.bare is None or index not in self.bare:
                    self._on_leaf(index, node)
            elif self._flow is None:
                continue
            elif kind in (CUSTOM, OPAQUE):
                self._first(node.register_prehook(self._bind(self._custom_starts, index)))
                self._last(index, node, node.register_hook(self._bind(self._custom_ran, index)))
            else:
                if index in self._retained:
                    self._first(node.register_prehook(self._bind(self._starts, index)))
                handle = node.register_hook(Bound(ran, index) if plain else self._bind(ran, index))
                if handle is not None:
                    self._last(index, node, handle)
        for index, node in walk.twins:
            self._on_leaf(index, node)
        if self.bare is not None and self.sees_user_hooks:
            self._sent.calm = False
            for index in self.bare.give_up():
                self._on_leaf(index, walk.nodes[index])

    def remove(self) -> None:
        """Take all hooks away."""
        self._placing.remove()
        for tensor, key in self._patched:
            hooks = tensor._post_accumulate_grad_hooks
            if hooks is not None:
                hooks.pop(key, None)
        self._patched.clear()

    def owns(self, function: Any) -> bool:
        """Tell whether a hook's function is ours."""
        return function is self._ran or getattr(function, "__self__", None) in (self, self._at_leaves)

    @property
    def calm(self) -> bool:
        """Whether nothing but torch's own nodes can run."""
        return self._sent.calm

    def settle(self, error: BaseException | None) -> None:
        """The run has ended, and nothing of the user's has run since."""
        if self.bare is not None:
            self.bare.settle(self.gathered.ran, error)

    def forget(self) -> None:
        """Let go of what holds us in a cycle."""
        self._flush = None
        self._sent.calm = False
        self._ran = self._usual = _unwatched

    # -- registering ---------------------------------------------------------------------------------------------

    def _on_leaf(self, index: int, node: Any) -> None:
        tensor = self._walk.leaves[index]
        before = node.register_prehook(self._bind(self._at_leaves.starts, index))
        self._first(before)
        handle = node.register_hook(self._bind(self._at_leaves.ran, index))
        if handle is not None:
            self._placing.keep(handle)
            others = handle.hooks_dict_ref()
            self.sees_user_hooks = self.sees_user_hooks or (others is not None and len(others) > 1)
        self._walk.known[index].is_bare = before is None and handle is None and _is_dense(tensor)
        hooks = tensor._post_accumulate_grad_hooks
        if hooks and not any(patched is tensor for patched, _ in self._patched):
            # A hook of the user's may clear `.grad` at once, so ours must read it first.
            self.sees_user_hooks = True
            key = f"gradviz-{index}"
            _put_first(hooks, key, self._bind(self._at_leaves.accumulated, index))
            self._patched.append((tensor, key))

    def _first(self, handle: Any) -> None:
        """Let our pre-hook run before the user's own ones on the same node, so that it sees what arrived."""
        if handle is None:  # it is the only one
            return
        self._placing.keep(handle)
        hooks = handle.hooks_dict_ref()
        if hooks is not None and len(hooks) > 1:
            self.sees_user_hooks = True
            _put_first(hooks, handle.id, hooks[handle.id])

    def _last(self, index: int, node: Any, handle: Any) -> None:
        """Where the user has hooks on a node, see what it computed before they change it."""
        if handle is None:
            return
        self._placing.keep(handle)
        hooks = handle.hooks_dict_ref()
        if hooks is not None and len(hooks) > 1:
            self._first(node.register_hook(self._bind(self._computed, index)))

    def _bind(self, hook: Callable[..., None], index: int) -> Callable[..., None]:
        return Bound(self._unseen, hook, index) if self._seen else Bound(hook, index)

    def _unseen(self, hook: Callable[..., None], index: int, *gradients: Any) -> None:
        with _C.DisableTorchFunction():
            hook(index, *gradients)

    # -- called by the engine --------------------------------------------------------------------------------------

    def _watch_nodes(self, flow: Flow) -> Callable[[int, Any, Any], None]:
        """The hook of a node of torch's, where other code may run as well.

        It runs for each node, so what it needs is at hand, and it is one piece: a call of a function for each part of
        it would cost as much as what the parts do.
        """
        task, sending, takes, intake, sums = self._task, self._sent, self._takes, self._intake, self._sums
        sent = sending.entries
        arriving, all_slots, no_views, places = flow.arriving, flow.slots, flow.no_views, flow.places
        append = self.gathered.ran.append
        version_of: Callable[[Any], float] = attrgetter("_version")

        def ran(index: int, grad_inputs: Any, grad_outputs: Any) -> None:
            nonlocal version_of
            if current() != task.number and not task.is_current():
                return
            try:
                outputs: list[Item] | None = None
                passing = grad_outputs[0] if len(grad_outputs) == 1 else None
                if passing is None:
                    passed: Item = UNDEFINED
                    if index not in flow.separate or not sending.are_known(index, grad_outputs):
                        outputs = self.several(index, grad_outputs)
                else:
                    place = places[index]
                    known = sent[place]
                    if known is not None and known[0] == id(passing) and known[1] == version_of(passing):
                        passed = known[2]
                    else:
                        passed = takes[arriving[index]](passing)
                        outputs = [passed]
                    sent[place] = None
                inputs: list[Item] = []
                for gradient, (kind, target) in zip(grad_inputs, all_slots[index]):  # noqa: B905 (a word more to read)
                    if gradient is None:
                        inputs.append(UNDEFINED)
                        continue
                    if gradient is passing:  # an addition hands on the very tensor that it got
                        item = passed
                        if kind != arriving[index] and kind >= 0:
                            intake.surprised = True
                    elif no_views[index] or len(grad_inputs) > 1 or not isinstance(passed, Deferred):
                        item = takes[kind](gradient)
                    else:
                        viewed = intake.view(gradient, passing, passed, kind)
                        no_views[index] = viewed is None
                        item = viewed or takes[kind](gradient)
                    inputs.append(item)
                    if target >= 0:
                        sent[target] = id(gradient), version_of(gradient), item
                if sums is not None:
                    sums.add(index, grad_inputs)
                    sums.close(index, self.gathered.sums)
                append((index, outputs, inputs, True))
                if perf_counter() > self.due:
                    self.write_so_far()
            except Exception as error:
                if version_of is version or not isinstance(error, RuntimeError):
                    self.gathered.note(error)
                else:  # a tensor of inference mode
                    version_of = version
                    self._usual(index, grad_inputs, grad_outputs)  # its own name would hold it for ever

        return ran

    def write_so_far(self) -> None:
        """What ran by now must outlive the process; never more than half of the time goes into that."""
        began = perf_counter()
        self.due = math.inf
        if self._flush is not None:
            self._flush()
            ended = perf_counter()
            self.due = ended + max(FLUSH_SECONDS, ended - began)

    def several(self, index: int, gradients: Any) -> list[Item]:
        """What arrives at a node, taken in as what is expected of each output."""
        kinds = [] if self._flow is None else self._flow.kinds[index]
        if len(kinds) != len(gradients):
            self._intake.surprised = True
            return [self._take(gradient) for gradient in gradients]
        self.gathered.unseen = self.gathered.unseen or any(gradient is None for gradient in gradients)
        return [
            UNDEFINED if gradient is None else self._takes[kind](gradient)
            for kind, gradient in zip(kinds, gradients, strict=True)
        ]

    def _starts(self, index: int, grad_outputs: Any) -> None:
        if not self._task.is_current():
            return
        try:
            arrived = self.several(index, grad_outputs)
            self.gathered.started[index] = arrived
            for entry in self._retained.get(index, ()):
                incoming = arrived[entry.output_nr] if entry.output_nr < len(arrived) else UNDEFINED
                after = self._take(entry.tensor.grad) if entry.tensor.retains_grad else UNDEFINED
                order = len(self.gathered.ran)
                change = Change(index, entry.output_nr, True, entry.before, incoming, after, order)
                self.gathered.changes.append(change)
        except Exception as error:
            self.gathered.note(error)

    def _computed(self, index: int, grad_inputs: Any, grad_outputs: Any) -> None:
        if not self._task.is_current():
            return
        try:
            self.gathered.computed[index] = [self._take(gradient) for gradient in grad_inputs]
        except Exception as error:
            self.gathered.note(error)

    def _custom_starts(self, index: int, grad_outputs: Any) -> None:
        self._starts(index, grad_outputs)
        if self._task.is_current():
            self._pause.users_turn()

    def _custom_ran(self, index: int, grad_inputs: Any, grad_outputs: Any) -> None:
        if self._task.is_current():
            self._pause.our_turn()
        self._ran(index, grad_inputs, grad_outputs)


def _unwatched(index: int, grad_inputs: Any, grad_outputs: Any) -> None:
    return None


def _is_dense(tensor: Any) -> bool:
    return tensor.layout is STRIDED and not tensor.is_nested


def _put_first(hooks: Any, key: Any, hook: Any) -> None:
    """Make `hook` the first entry of a hook dictionary (`move_to_end(last=False)` is not seen by the engine)."""
    others = [(other, value) for other, value in hooks.items() if other != key]
    hooks.clear()
    hooks[key] = hook
    hooks.update(others)
