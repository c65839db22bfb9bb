"""What is known of a way into the engine before anything is looked at: the arguments, the API, the user's frame."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch

from gradviz.model import Place
from gradviz.worker.frames import function_of, is_ours, is_torch, user_frame, user_stack
from gradviz.worker.quiet import is_watched

_DIRECT = "torch.autograd.Variable._execution_engine.run_backward"
_TRANSFORMS = "_functorch/eager_transforms.py"
# Functions of torch that start engine runs on the user's behalf: end of the file name, function -> public name. The
# second name of a transform is that of its inner function, all that Python 3.10 tells of it.
_PUBLIC = {
    ("_tensor.py", "backward"): "torch.Tensor.backward",
    ("autograd/__init__.py", "backward"): "torch.autograd.backward",
    ("autograd/__init__.py", "grad"): "torch.autograd.grad",
    (_TRANSFORMS, "grad_and_value_impl"): "torch.func.grad",
    (_TRANSFORMS, "_vjp_with_argnums"): "torch.func.vjp",
    (_TRANSFORMS, "wrapper"): "torch.func.vjp",
    (_TRANSFORMS, "jacrev"): "torch.func.jacrev",
    (_TRANSFORMS, "wrapper_fn"): "torch.func.jacrev",
    (_TRANSFORMS, "jacfwd"): "torch.func.jacfwd",
}
_ENGINE_ARGUMENTS = ("grads", "retain_graph", "create_graph", "inputs", "allow_unreachable", "accumulate_grad")


@dataclass(slots=True)
class Entry:
    """One way into the engine. `given` are the seeds as the user gave them, None where all are implicit."""

    outputs: tuple[Any, ...]
    seeds: tuple[Any, ...]
    given: tuple[Any, ...] | None
    retain_graph: bool
    create_graph: bool
    inputs: tuple[Any, ...] | None
    accumulates: bool
    api: str
    batched: bool = False
    frame: FrameType | None = None
    stack: tuple[Place, ...] = ()
    group: str | None = None
    watched: bool = False  # a mode, profiler or transform of the user's is at work
    what_if: bool = False  # an experiment of ours, with a seed of the person's
    note: str | None = None


@dataclass(slots=True, eq=False)  # two calls are the same one by identity only: they hold tensors
class Public:
    """A call of `torch.autograd.backward` or `torch.autograd.grad` that has not reached the engine (yet)."""

    outputs: Any
    given: Any
    retain_graph: bool | None
    create_graph: bool
    inputs: Any
    accumulates: bool
    batched: bool
    frame: FrameType = field(repr=False)
    entered: bool = False

    @property
    def api(self) -> str:
        """The function's own name; what called it may be a better one."""
        return "torch.autograd.backward" if self.accumulates else "torch.autograd.grad"

    def entry(self) -> Entry:
        """The entry of a call that failed before the engine."""
        outputs = tuple(filter(_is_end, as_tuple(self.outputs)))
        given = None if self.given is None else tuple(seed if _is_end(seed) else None for seed in as_tuple(self.given))
        return locate(
            Entry(
                outputs=outputs,
                seeds=((given or ()) + (None,) * len(outputs))[: len(outputs)],
                given=given,
                retain_graph=bool(self.create_graph if self.retain_graph is None else self.retain_graph),
                create_graph=bool(self.create_graph),
                inputs=None if self.inputs is None else tuple(filter(_is_end, as_tuple(self.inputs))),
                accumulates=self.accumulates,
                api=self.api,
                batched=self.batched,
                frame=self.frame,
            )
        )


def engine_entry(outputs: Any, arguments: tuple[Any, ...], named: Mapping[str, Any], public: Public | None) -> Entry:
    """The entry of a run of the engine, from the arguments of `run_backward`."""
    known = {**dict(zip(_ENGINE_ARGUMENTS, arguments, strict=False)), **named}
    grads = known.get("grads", named.get("grad_tensors"))
    seeds = as_tuple(grads)
    outputs = as_tuple(outputs)
    inputs = as_tuple(known.get("inputs"))
    given: tuple[Any, ...] | None = seeds
    if public is not None:
        given = None if public.given is None else as_tuple(public.given)
    return locate(
        Entry(
            outputs=outputs,
            seeds=seeds if len(seeds) == len(outputs) else (*seeds, *[None] * len(outputs))[: len(outputs)],
            given=given,
            retain_graph=bool(known.get("retain_graph", known.get("keep_graph", False))),
            create_graph=bool(known.get("create_graph", False)),
            inputs=inputs or None,
            accumulates=bool(known.get("accumulate_grad", False)),
            api=_DIRECT if public is None else public.api,
            batched=public is not None and public.batched,
            frame=sys._getframe(1) if public is None else public.frame,
        )
    )


def locate(entry: Entry) -> Entry:
    """Fill in the user's frame and stack and the public name of the function that was called."""
    frame = entry.frame
    entry.watched = is_watched()  # asked here: later the modes are hidden from us, as we are from them
    entry.api = api_of(frame) or entry.api
    entry.frame = user_frame(frame)
    entry.stack = user_stack(entry.frame)
    return entry


def api_of(frame: FrameType | None) -> str | None:
    """The outermost public function among torch's frames from `frame` up to the user's."""
    found = None
    while frame is not None:
        file = frame.f_code.co_filename.replace("\\", "/")
        if not is_ours(file):
            if not is_torch(file):
                break
            known_as = {function_of(frame).split(".")[0], frame.f_code.co_name}
            for (end, function), name in _PUBLIC.items():
                if function in known_as and file.endswith("/torch/" + end):
                    found = name
        frame = frame.f_back
    return found


def _is_end(value: Any) -> bool:
    """Tell a tensor or GradientEdge from whatever else was given: this call may have failed because of it."""
    return isinstance(value, torch.Tensor) or hasattr(value, "output_nr")


def as_tuple(values: Any) -> tuple[Any, ...]:
    """Tensors or GradientEdges, one or many, as torch's own functions take them."""
    if values is None:
        return ()
    if isinstance(values, torch.Tensor) or hasattr(values, "output_nr"):
        return (values,)
    if isinstance(values, Mapping):
        return tuple(values.values())
    # An iterator can be read once only, and that is for torch to do.
    return tuple(values) if isinstance(values, Iterable) and not isinstance(values, Iterator) else ()
