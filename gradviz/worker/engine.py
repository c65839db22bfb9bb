"""The ways into the engine: every function of torch that the recorder stands before while it is attached."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Protocol

import torch

from gradviz.worker import placing
from gradviz.worker.entry import Public
from gradviz.worker.frames import is_ours, is_torch
from gradviz.worker.patches import Patches
from gradviz.worker.quiet import compiling
from gradviz.worker.unseen import LEAVING, Hush, Unseen

_AUTOGRAD: Any = torch.autograd
GROUPS = ("jacobian", "hessian", "vjp", "jvp", "vhp", "hvp")


class Listener(Protocol):
    """What the recorder does at each way in."""

    def public(self, call: Public, function: Callable[[], Any]) -> Any:
        """`torch.autograd.backward` or `torch.autograd.grad` was called; run `function`."""
        ...

    def run(self, outputs: Any, arguments: tuple[Any, ...], named: dict[str, Any], engine: Callable[..., Any]) -> Any:
        """The engine is about to run."""
        ...

    def group(self, api: str, function: Callable[[], Any]) -> Any:
        """A function was called that starts engine runs on the user's behalf."""
        ...

    def retaining(self, tensor: Any) -> None:
        """`tensor.retain_grad()` has returned."""
        ...

    def hooking(self, tensor: Any) -> None:
        """`tensor.register_hook()` has returned; None: a hook is set on a node, or on what is saved for backward."""
        ...

    def swapping(self, first: Any, second: Any) -> Callable[[], None]:
        """Two tensors are about to be swapped; the result is called afterwards."""
        ...

    def changing(self, function: Callable[[], Any], detail: str | None, values: bool) -> Any:
        """A function of torch's that changes `.grad` of many tensors (or their values) was called; run `function`."""
        ...

    def compiles(self) -> None:
        """`torch.compile` was called."""
        ...


class Installed(NamedTuple):
    """All wrappers that are in place.

    `lasting`: of the engine. `between`: of what changes tensors between calls; what is compiled passes through them.
    `until_compiled`: they would break the graphs of torch.compile.
    """

    lasting: Patches
    between: Patches
    until_compiled: Patches

    def retire(self) -> None:
        """Leave only what counts calls."""
        self.between.undo()
        self.until_compiled.undo()


def install(listener: Listener) -> Installed:
    """Put all wrappers in place."""
    lasting, until_compiled = Patches(), Patches()
    Unseen(lasting)
    lasting.wrap(_AUTOGRAD, "backward", partial(_backward, listener))
    lasting.wrap(_AUTOGRAD, "grad", partial(_grad, listener))
    for owner in (_AUTOGRAD.graph, _AUTOGRAD):
        lasting.wrap(owner, "_engine_run_backward", partial(_run, listener))
    variable = _AUTOGRAD.Variable
    if "_execution_engine" in vars(variable):
        lasting.put(variable, "_execution_engine", EngineAttribute(listener, variable._execution_engine))
    lasting.wrap(torch.utils, "swap_tensors", partial(_swap, listener))
    lasting.wrap(torch, "compile", partial(_first_noting, listener.compiles))
    for name in GROUPS:
        api = f"torch.autograd.functional.{name}"
        until_compiled.wrap(_AUTOGRAD.functional, name, partial(_group, listener, api))
    for name in ("gradcheck", "gradgradcheck"):
        api = f"torch.autograd.{name}"
        for owner in (_AUTOGRAD, sys.modules["torch.autograd.gradcheck"]):
            until_compiled.wrap(owner, name, partial(_group, listener, api))
    until_compiled.wrap(torch.Tensor, "retain_grad", partial(_noting, listener.retaining))
    until_compiled.wrap(torch.Tensor, "register_hook", partial(_noting, listener.hooking))
    note = partial(_first_noting, partial(listener.hooking, None))
    until_compiled.wrap(torch.autograd.graph.saved_tensors_hooks, "__enter__", note)
    if placing.OWNER is not None:
        lasting.put(placing.OWNER, placing.NAME, staticmethod(note(getattr(placing.OWNER, placing.NAME))))
    return Installed(lasting, _between(listener), until_compiled)


def _between(listener: Listener) -> Patches:
    patches = Patches()
    for clearing in (torch.nn.Module, torch.optim.Optimizer):
        patches.wrap(clearing, "zero_grad", partial(_changing, listener, None, False))
    for name in ("clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_"):
        for owner in (torch.nn.utils, sys.modules["torch.nn.utils.clip_grad"]):
            patches.wrap(owner, name, partial(_changing, listener, name, False))
    scaler = getattr(getattr(torch, "amp", None), "GradScaler", None) or torch.cuda.amp.GradScaler
    patches.wrap(scaler, "unscale_", partial(_changing, listener, "unscale_", False))
    patches.wrap(torch.nn.Module, "load_state_dict", partial(_changing, listener, "load_state_dict", True))
    return patches


_TORCH_HAS_A_FUNCTION = hasattr(torch.autograd.graph, "_engine_run_backward")


class EngineAttribute:
    """Stands at `Variable._execution_engine`: the real engine for torch, a recording one for scripts that use it.

    A proxy for all would move the place of warnings from the engine into our file. But torch 2.1 and 2.2 have no
    function of their own between `backward` and the engine; there it is the only place where a call can be seen.
    """

    def __init__(self, listener: Listener, engine: Any) -> None:
        self._engine = engine
        self._proxy = EngineProxy(listener, engine)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        file = sys._getframe(1).f_code.co_filename
        real = is_ours(file) or (is_torch(file) and _TORCH_HAS_A_FUNCTION)
        return self._engine if real else self._proxy


class EngineProxy:
    """The engine with `run_backward` recorded; everything else is the engine's own."""

    def __init__(self, listener: Listener, engine: Any) -> None:
        self._listener = listener
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def run_backward(self, outputs: Any, *arguments: Any, **named: Any) -> Any:
        """As the engine's own."""
        with LEAVING:
            return self._listener.run(outputs, arguments, named, self._engine.run_backward)


def _backward(listener: Listener, original: Callable[..., Any]) -> Callable[..., Any]:
    def backward(*args: Any, **kwargs: Any) -> Any:
        if compiling():
            return original(*args, **kwargs)
        names = ("tensors", "grad_tensors", "retain_graph", "create_graph", "grad_variables", "inputs")
        known = {**dict(zip(names, args, strict=False)), **kwargs}
        given = known.get("grad_tensors")
        call = Public(
            outputs=known.get("tensors"),
            given=known.get("grad_variables") if given is None else given,
            retain_graph=known.get("retain_graph"),
            create_graph=known.get("create_graph", False),
            inputs=known.get("inputs"),
            accumulates=True,
            batched=False,
            frame=sys._getframe(1),
        )
        with LEAVING:
            return listener.public(call, lambda: original(*args, **kwargs))

    return backward


def _grad(listener: Listener, original: Callable[..., Any]) -> Callable[..., Any]:
    def grad(*args: Any, **kwargs: Any) -> Any:
        if compiling():
            return original(*args, **kwargs)
        names = (
            *("outputs", "inputs", "grad_outputs", "retain_graph", "create_graph", "only_inputs"),
            *("allow_unused", "is_grads_batched", "materialize_grads"),
        )
        known = {**dict(zip(names, args, strict=False)), **kwargs}
        call = Public(
            outputs=known.get("outputs"),
            given=known.get("grad_outputs"),
            retain_graph=known.get("retain_graph"),
            create_graph=known.get("create_graph", False),
            inputs=known.get("inputs"),
            accumulates=False,
            batched=bool(known.get("is_grads_batched", False)),
            frame=sys._getframe(1),
        )
        with LEAVING:
            return listener.public(call, lambda: original(*args, **kwargs))

    return grad


def _run(listener: Listener, original: Callable[..., Any]) -> Callable[..., Any]:
    def engine_run_backward(t_outputs: Any, *args: Any, **kwargs: Any) -> Any:
        if compiling():
            return original(t_outputs, *args, **kwargs)
        hush = Hush() if Hush.is_needed() else None
        try:
            with LEAVING:
                if hush is None:
                    return listener.run(t_outputs, args, kwargs, original)
                hush.hold()
                return listener.run(t_outputs, args, kwargs, hush.except_in(original))
        finally:
            if hush is not None:
                hush.release()

    return engine_run_backward


def _group(listener: Listener, api: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def group(*args: Any, **kwargs: Any) -> Any:
        if compiling():
            return original(*args, **kwargs)
        with LEAVING:
            return listener.group(api, lambda: original(*args, **kwargs))

    return group


def _noting(note: Callable[[Any], None], original: Callable[..., Any]) -> Callable[..., Any]:
    def noting(self: Any, *args: Any, **kwargs: Any) -> Any:
        with LEAVING:
            result = original(self, *args, **kwargs)
        if not compiling():
            note(self)
        return result

    return noting


def _first_noting(note: Callable[[], None], original: Callable[..., Any]) -> Callable[..., Any]:
    def noting(*args: Any, **kwargs: Any) -> Any:
        note()
        return original(*args, **kwargs)

    return noting


def _changing(listener: Listener, detail: str | None, values: bool, original: Callable[..., Any]) -> Callable[..., Any]:
    def changing(*args: Any, **kwargs: Any) -> Any:
        if compiling():
            return original(*args, **kwargs)
        with LEAVING:
            return listener.changing(lambda: original(*args, **kwargs), detail, values)

    return changing


def _swap(listener: Listener, original: Callable[..., Any]) -> Callable[..., Any]:
    def swap_tensors(t1: Any, t2: Any) -> Any:
        take_up_again = listener.swapping(t1, t2)
        try:
            with LEAVING:
                return original(t1, t2)
        finally:
            take_up_again()

    return swap_tensors
