"""Checks a gradient by measuring: central differences in double precision, in a copy of the script."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from gradviz.errors import SeedError
from gradviz.protocol import FiniteDifference
from gradviz.texts import tr
from gradviz.worker.heads import is_tensor
from gradviz.worker.held import HeldCall
from gradviz.worker.names import reached
from gradviz.worker.replay import Replay, in_double, replays, value_of
from gradviz.worker.seeds import Target, make
from gradviz.worker.walk import node_of, reaching, walk
from gradviz.worker.what_if import engine

_STEP = 6e-6  # the cube root of the double precision epsilon, 2.2e-16
_MOST_NODES = 1 << 22
_AGREE = 1e-3  # a forward pass in single precision, run again in double, is the same one within this


@dataclass(frozen=True)
class _Question:
    """d (seed . root) / d input along `direction`. Tensors are in double precision.

    `stale` holds the nodes between root and input as the script made them: a forward pass that was really run again
    uses none of them.
    """

    root: Any
    stale: frozenset[Any]
    root_name: str | None
    seed: Any
    input_name: str
    input: Any
    direction: Any


def difference(
    call: HeldCall, message: FiniteDifference, in_place: bool, evaluated: Callable[[], None]
) -> dict[str, Any]:
    """Measure, and compare with what the engine says.

    Raises:
        SeedError: the script is held in place (running its lines again would change it), or the forward pass cannot
            be run again to the same value.
    """
    if in_place:
        raise SeedError(tr("A script that is held in place cannot be run again; this needs a snapshot of it."))
    question, gradient = _question(call, message)
    evaluated()
    in_double(call)
    for replay in replays(call, question.root_name):
        measured = _measure(call, replay, question)
        if measured is not None:
            return {
                "difference": measured,
                "gradient": gradient,
                "step": _step(question),
                "dtype": "float64",
                "from_start": replay.from_start,
            }
    raise SeedError(tr("The forward pass cannot be run again: its lines do not give the root's value a second time."))


def _question(call: HeldCall, message: FiniteDifference) -> tuple[_Question, float]:
    root, target = call.root(message.root), call.find(message.input)
    if not is_tensor(root) or not is_tensor(target):
        raise SeedError(tr("Differences are measured between tensors that the script can name."))
    if root.is_complex() or target.is_complex():
        raise SeedError(tr("Differences are measured for real numbers only."))
    seed = _fitting(message.seed or "ones", call, call.target(root))
    direction = torch.zeros(target.shape, dtype=target.dtype)
    if message.direction:
        direction = _fitting(message.direction, call, call.target(target))
    else:
        if not 0 <= message.element < target.numel():
            raise SeedError(tr("The input has {n} elements; there is no {k}.", n=target.numel(), k=message.element))
        direction.reshape(-1)[message.element] = 1
    (found,) = engine((root,), (seed,), (target,), False)
    gradient = 0.0 if found is None else float((found.detach().to_dense().double() * direction.double()).sum())
    name = message.root if message.root is not None else call.name_of(root)
    doubles = value_of(seed), message.input, target, value_of(direction)
    return _Question(value_of(root), _between(root, target), name, *doubles), gradient


def _between(root: Any, target: Any) -> frozenset[Any]:
    """The nodes through which the root depends on the input, the input's own left out."""
    end, _ = node_of(target)
    found = walk([node_of(root)[0]], None, _MOST_NODES)
    at = found.index_of(end)
    if at is None:
        return frozenset()
    return frozenset(found.nodes[index] for index in reaching(found, {at}) - {at})


def _is_fresh(root: Any, stale: frozenset[Any]) -> bool:
    """Whether nothing that the script itself had computed stands between a root and the input."""
    if not stale or node_of(root)[0] is None:
        return not stale
    return not stale.intersection(walk([node_of(root)[0]], None, _MOST_NODES).nodes)


def _fitting(text: str, call: HeldCall, target: Target) -> Any:
    made = make(text, target, call.variables)
    if made.tensor is None:
        raise SeedError(str(made.fit.message))
    return made.tensor


def _step(question: _Question) -> float:
    size = float((question.input.detach().double() * question.direction).abs().max())
    return _STEP * max(1.0, size)


def _measure(call: HeldCall, replay: Replay, question: _Question) -> float | None:
    """The central difference; None where the replay does not give the root's value."""
    try:
        plain = _weighted(call, replay, question, 0.0)
        if plain is None:
            return None
        step = _step(question)
        above, below = (_weighted(call, replay, question, sign * step) for sign in (1.0, -1.0))
    except Exception:
        # The user's lines were made to run once: whatever they raise now means that they cannot run again.
        return None
    return None if above is None or below is None else (above - below) / (2 * step)


def _weighted(call: HeldCall, replay: Replay, question: _Question, shift: float) -> float | None:
    moved = _Moved(question, shift)
    if replay.from_start:
        call.put_back_random()
        variables = {"__name__": "__main__", "__file__": replay.file, "__builtins__": __builtins__}
    else:
        variables = dict(call.variables)
    try:
        root = replay.run(variables, moved.after)
        value = value_of(root)
    finally:
        moved.undo()
    if not moved.found or value.shape != question.root.shape or not _is_fresh(root, question.stale):
        return None
    if shift == 0.0 and not _same(value, question.root):
        return None
    return float((value * question.seed).sum())


def _same(value: Any, recorded: Any) -> bool:
    scale = float(recorded.abs().max()) if recorded.numel() else 0.0
    return bool(torch.allclose(value, recorded, rtol=_AGREE, atol=_AGREE * scale))


class _Moved:
    """Moves the input by `shift` along the direction: where it stands, and each time that its name is bound anew."""

    def __init__(self, question: _Question, shift: float) -> None:
        self._question = question
        self._shift = shift
        self._done: list[tuple[Any, Any]] = []

    @property
    def found(self) -> bool:
        """Whether there was anything to move."""
        return bool(self._done)

    def after(self, variables: dict[str, Any]) -> None:
        """Called before the first statement and after each."""
        found = reached(self._question.input_name, variables)
        direction = self._question.direction
        if not isinstance(found, torch.Tensor) or found.shape != direction.shape:
            return
        if any(found is tensor for tensor, _ in self._done):
            return
        self._done.append((found, found.data))
        found.data = found.data + (self._shift * direction).to(found.dtype)

    def undo(self) -> None:
        """Put back what was there."""
        for tensor, data in self._done:
            tensor.data = data
