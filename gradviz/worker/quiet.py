"""Lets the recorder look at tensors without being seen by the user's modes, profilers, subclasses or transforms."""

from __future__ import annotations

import sys
import threading
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import torch

from gradviz.worker.frames import is_called, is_ours, is_torch

_C: Any = torch._C
_autograd: Any = torch.autograd
_hushed = threading.local()  # whether a `quiet` that this thread is in has switched the profiler off already


class quiet(AbstractContextManager[None]):  # noqa: N801
    """Inside it nothing that we do reaches a TorchFunctionMode, a TorchDispatchMode or a profiler.

    With `below_autograd` operations leave no nodes either; without it the leaf of a tensor can be asked for.
    """

    def __init__(self, below_autograd: bool = False) -> None:
        self._below_autograd = below_autograd

    def __enter__(self) -> None:
        self._stack = ExitStack()
        self._stack.enter_context(_C.DisableTorchFunction())
        if self._below_autograd:
            self._stack.enter_context(_C._AutoDispatchBelowAutograd())
        if _C._len_torch_dispatch_stack():
            from torch.utils._python_dispatch import _disable_current_modes

            self._stack.enter_context(_disable_current_modes())
        if self._below_autograd and transforms_active():
            from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack

            self._stack.enter_context(temporarily_clear_interpreter_stack())
        if _autograd._profiler_enabled() and not getattr(_hushed, "profiler", False):
            _hushed.profiler = True
            _autograd._enable_record_function(False)
            self._stack.callback(_let_profiler_look)

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def _let_profiler_look() -> None:
    _autograd._enable_record_function(True)
    _hushed.profiler = False


def below_autograd() -> AbstractContextManager[Any]:
    """As `quiet(below_autograd=True)` inside a `quiet()`, at a tenth of its cost."""
    return quiet(below_autograd=True) if transforms_active() else _C._AutoDispatchBelowAutograd()


def attribute_reads_are_seen() -> bool:
    """Tell whether a mode of the user's (a default device is one) sees even a read of `tensor.shape`."""
    return bool(_C._len_torch_function_stack())


def is_watched() -> bool:
    """Tell whether a mode, a profiler or a transform of the user's would see or change what we do with a tensor."""
    modes = _C._len_torch_function_stack() or _C._len_torch_dispatch_stack()
    return bool(modes or _autograd._profiler_enabled() or transforms_active())


def transforms_active() -> bool:
    """Tell whether `torch.func` or `vmap` is at work: values may not be readable."""
    return bool(_C._are_functorch_transforms_active())


# torch 2.1 and 2.2 know it under another name.
_is_compiling = getattr(torch.compiler, "is_compiling", None) or torch._utils.is_compiling


def compiling() -> bool:
    """Tell whether torch.compile is looking at the code that runs now."""
    return bool(_is_compiling())


class deep_enough(AbstractContextManager[None]):  # noqa: N801
    """Room for our own frames in a script that has set a low recursion limit or is near its end."""

    ROOM = 400

    def __enter__(self) -> None:
        self._limit = sys.getrecursionlimit()
        self._raised = _depth_left(self._limit) < self.ROOM
        if self._raised:
            sys.setrecursionlimit(self._limit + self.ROOM)

    def __exit__(self, *_: object) -> None:
        # A script's signal handler may have set another limit meanwhile: then it is not ours to put back.
        if self._raised and sys.getrecursionlimit() == self._limit + self.ROOM:
            sys.setrecursionlimit(self._limit)


def _depth_left(limit: int) -> int:
    try:
        sys._getframe(limit - deep_enough.ROOM if limit > deep_enough.ROOM else 0)
    except ValueError:  # the stack is shallower than that
        return deep_enough.ROOM
    return 0


def started_here(error: BaseException) -> bool:
    """Tell whether an exception that our code caught was raised by our code, not by a handler of the user's.

    A signal handler runs on top of whatever runs, so its exceptions pass through our frames.
    """
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not (is_ours(file) or is_torch(file) or is_called(file)):
            return False
        trace = trace.tb_next
    return True
