"""Puts back what an experiment in the script itself changes: `.grad`, random states, what it prints, warnings."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from gradviz.worker.quiet import quiet

_torch: Any = torch


@contextlib.contextmanager
def everything(tensors: Sequence[Any]) -> Iterator[None]:
    """All of it; `tensors` are those whose `.grad` an experiment may touch."""
    with contextlib.ExitStack() as stack:
        for part in (gradients(tensors), random_states(), silence(), warnings_unseen(), untraced()):
            stack.enter_context(part)
        yield


@contextlib.contextmanager
def gradients(tensors: Sequence[Any]) -> Iterator[None]:
    """`.grad` of tensors: the very objects come back. Inside, copies stand in their place."""
    with quiet():
        kept = [(tensor, tensor.grad) for tensor in tensors]
        for tensor, grad in kept:
            tensor.grad = None if grad is None else grad.detach().clone()
    try:
        yield
    finally:
        with quiet():
            for tensor, grad in kept:
                tensor.grad = grad


@contextlib.contextmanager
def random_states() -> Iterator[None]:
    """The generators of torch (all devices that are in use), of `random` and of numpy."""
    python, numpy = sys.modules.get("random"), sys.modules.get("numpy.random")
    python = python if hasattr(python, "getstate") else None  # a random.py of the script's own has no state
    cpu = torch.get_rng_state()
    devices = _torch.cuda.get_rng_state_all() if _torch.cuda.is_initialized() else None
    states = (None if python is None else python.getstate(), None if numpy is None else numpy.get_state())
    try:
        yield
    finally:
        torch.set_rng_state(cpu)
        if devices is not None:
            _torch.cuda.set_rng_state_all(devices)
        if python is not None:
            python.setstate(states[0])
        if numpy is not None:
            numpy.set_state(states[1])


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Nothing that an experiment prints reaches the script's output, whichever way it is printed."""
    streams = [stream for stream in (sys.stdout, sys.stderr) if stream is not None]
    names = sys.stdout, sys.stderr
    _flush(streams)  # what the script has printed so far is its own
    null = os.open(os.devnull, os.O_WRONLY)
    saved = {number: os.dup(number) for number in (1, 2) if _is_open(number)}
    try:
        for number in saved:
            os.dup2(null, number)
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            sys.stdout = sys.stderr = nowhere
            try:
                yield
            finally:
                sys.stdout, sys.stderr = names
                _flush(streams)  # what came by a name that was kept goes to nowhere too
    finally:
        for number, copy in saved.items():
            os.dup2(copy, number)
            os.close(copy)
        os.close(null)


def _flush(streams: Sequence[Any]) -> None:
    for stream in streams:
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or an object of the user's
            stream.flush()


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def warnings_unseen() -> Iterator[None]:
    """No warning is shown, and none is used up: a warning that is given once must be left for the script."""
    quiet_all = ("ignore", None, Warning, None, 0)
    # By hand: `warnings.catch_warnings` would make Python forget what it has warned about before.
    filters: list[Any] = warnings.filters  # type: ignore[assignment]
    filters.insert(0, quiet_all)
    try:
        yield
    finally:
        if quiet_all in filters:
            filters.remove(quiet_all)


@contextlib.contextmanager
def untraced() -> Iterator[None]:
    """No tracer (ours included) sees the lines that run. A profiler does: one in C could not be put back."""
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracer)
