"""Answers what the application asks of a held call: does this seed fit, run it, the Jacobian, the names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import Any, Protocol

from gradviz.errors import GradvizError, SeedError
from gradviz.protocol import (
    CheckSeed,
    Error,
    Finished,
    FiniteDifference,
    Jacobian,
    ListNames,
    Message,
    Progress,
    RunSeed,
)
from gradviz.texts import tr
from gradviz.worker import finite, jacobian
from gradviz.worker.held import HeldCall
from gradviz.worker.seeds import Made, make
from gradviz.worker.what_if import Plan, run_plan


class Ground(Protocol):
    """Where experiments run: in a copy of the script (snapshot) or in the script itself (held in place)."""

    in_place: bool

    def evaluating(self) -> AbstractContextManager[None]:
        """Around the evaluation of a seed: bounds its time and memory."""
        ...

    def running(self, roots: Sequence[Any], consent: bool) -> AbstractContextManager[None]:
        """Around a run of the engine: puts back what it changes.

        Raises:
            SeedError: it would run hooks of the user's in the script itself, and `consent` is not given.
        """
        ...


Say = Callable[[Message], None]


class Experiments:
    """The answers for one held call. `say` sends a message; each message asked for gets exactly one answer."""

    def __init__(self, call: HeldCall, ground: Ground, say: Say) -> None:
        self._call = call
        self._ground = ground
        self._say = say

    def answer(self, message: Message) -> None:
        """Answer a message; what goes wrong is an answer too."""
        try:
            result = self._result(message)
        except GradvizError as error:
            self._say(Error(re=message.id, message=str(error)))
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            self._say(Error(re=message.id, message=tr("The experiment failed: {what}", what=what), detail=what))
        else:
            self._say(Finished(re=message.id, call=self._call.number, result=result))

    def _result(self, message: Message) -> Any:
        match message:
            case ListNames():
                return {"tensors": self._call.listed(), "roots": len(self._call.entry.outputs)}
            case CheckSeed():
                root = self._call.root(message.root)
                made = self._make(message, message.seed, root)
                return asdict(made.fit)
            case RunSeed():
                return self._run(message)
            case Jacobian():
                return self._jacobian(message)
            case FiniteDifference():
                return finite.difference(self._call, message, self._ground.in_place, self._evaluated(message))
        raise SeedError(tr("A held call does not answer {kind!r}.", kind=message.TYPE))

    def _make(self, message: Message, text: str, root: Any) -> Made:
        with self._ground.evaluating():
            return make(text, self._call.target(root), self._call.variables)

    def _evaluated(self, message: Message) -> Callable[[], None]:
        """Tell that the user's expressions are done: from here on only the engine takes time."""
        return lambda: self._say(Progress(re=message.id))

    def _run(self, message: RunSeed) -> dict[str, Any]:
        plan, notes = self._plan(message)
        self._evaluated(message)()
        with self._ground.running(plan.roots, message.hooks):
            failure = run_plan(self._call, plan, message.output, self._ground.in_place)
        first = self._call.first_new_node
        return {"output": message.output, "error": failure, "notes": notes, "first_new_node": first}

    def _plan(self, message: RunSeed) -> tuple[Plan, list[str]]:
        names: Sequence[str | None] = message.roots if message.roots is not None else ()
        count = len(names) or len(self._call.entry.outputs)
        roots = [self._call.root(names[k] if names else None, k) for k in range(count)]
        texts: list[str | None] = [*message.seeds, *[None] * count][:count]
        if len(message.seeds) > count:
            raise SeedError(tr("{n} seeds for {m} roots.", n=len(message.seeds), m=count))
        seeds, notes = [], []
        for position, (root, text) in enumerate(zip(roots, texts, strict=True)):
            if text is None:
                seeds.append(self._own_seed(position, root, bool(names)))
                continue
            made = self._make(message, text, root)
            if made.tensor is None:
                raise SeedError(_unfit(made))
            notes += [made.fit.note] if made.fit.note else []
            seeds.append(made.tensor)
        return Plan(tuple(roots), tuple(seeds), tuple(texts)), notes

    def _own_seed(self, position: int, root: Any, is_other: bool) -> Any:
        """The seed that the script itself gives its root, or the implicit one of a scalar."""
        given = self._call.entry.seeds
        if not is_other and position < len(given) and given[position] is not None:
            return given[position].detach().clone()
        target = self._call.target(root)
        if target.numel != 1:
            raise SeedError(tr("Root {n} has shape {shape} and needs a seed.", n=position + 1, shape=target.shape))
        return make("ones", target, {}).tensor

    def _jacobian(self, message: Jacobian) -> dict[str, Any]:
        root = self._call.root(message.root)
        target = self._call.find(message.input)
        self._evaluated(message)()

        def report(done: int, total: int) -> None:
            self._say(Progress(re=message.id, done=done, total=total))

        with self._ground.running((root,), message.hooks):
            return jacobian.compute(self._call, root, target, message.rows, message.output, report)


def _unfit(made: Made) -> str:
    nearest = tr(" The nearest seed that fits: {seed}", seed=made.fit.nearest) if made.fit.nearest else ""
    return f"{made.fit.message}{nearest}"
