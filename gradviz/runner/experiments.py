"""Other seeds on a held call: blocking calls for a thread that may wait, with callbacks for progress.

A `Held` talks to a snapshot of the script, or to the script itself where it is held in place; both answer alike.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gradviz.errors import SeedError
from gradviz.protocol import (
    Cancel,
    CheckSeed,
    Continue,
    End,
    Error,
    Finished,
    FiniteDifference,
    Jacobian,
    ListNames,
    Message,
    Progress,
    RunSeed,
    SnapshotReady,
)
from gradviz.runner.wires import Wire
from gradviz.store.replace import finish
from gradviz.texts import tr

Report = Callable[[int, int], None]  # done, total
_IN_MEMORY = "/dev/shm"
_ROOM = 1 << 29  # bytes: the largest Jacobian in double precision is 134 MB


@dataclass(frozen=True)
class SeedFit:
    """Whether a seed fits its root. `nearest` is an expression that would; `note` is worth knowing of one that does.

    `values` are the numbers of one that fits, as nested lists; None where they are complex or more than 4,096.
    """

    expected: tuple[int, ...]
    given: tuple[int, ...] | None
    dtype: str
    message: str | None = None
    nearest: str | None = None
    note: str | None = None
    nan: int = 0
    inf: int = 0
    values: Any = None

    @property
    def fits(self) -> bool:
        """Whether it can be run."""
        return self.message is None


@dataclass(frozen=True)
class NamedTensor:
    """A tensor that can be a root or an input."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    is_leaf: bool
    grad_fn: str | None
    is_root: bool


@dataclass(frozen=True)
class WhatIf:
    """An experiment that was run. `recording` is a file whose only call is the experiment, with its gradients.

    `error` is what the engine raised, None where it ran to its end.
    """

    recording: str
    label: str
    first_new_node: int
    error: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class JacobianFound:
    """Rows of a Jacobian; the matrix is the returned value of the call in `what_if.recording`, (rows, *input_shape)."""

    what_if: WhatIf
    rows: tuple[int, ...]
    root_shape: tuple[int, ...]
    input_shape: tuple[int, ...]
    batched: bool


@dataclass(frozen=True)
class Measured:
    """A central difference with `step`, in `dtype`, and the gradient that the engine gives for the same direction."""

    difference: float
    gradient: float
    step: float
    dtype: str


class Held:
    """A call at which other seeds can be tried. Methods block; `cancel` may be called from another thread.

    All of them raise SeedError with a text for the user: a seed that does not fit, an experiment that failed or was
    cancelled, a held script that has died. The recording is not touched by any of that.
    """

    def __init__(self, wire: Wire, ready: SnapshotReady, process: int | None = None) -> None:
        """`process` is the id of the process that answers."""
        self.call = ready.call
        self.label = ready.label
        self.in_place = ready.in_place
        self.failed = ready.failed
        self.hooks = ready.hooks  # the user's, that an experiment in place would run
        self.process = process
        self.when_released: Callable[[], None] | None = None
        self._wire = wire
        self._lock = threading.Lock()
        self._current: int | None = None
        self._count = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._over = False

    # -- questions -------------------------------------------------------------------------------------------------

    def check(self, seed: str, root: str | None = None) -> SeedFit:
        """Whether a seed fits a root (None: the call's own). Nothing is run."""
        found = self._ask(CheckSeed(root=root, seed=seed))
        return SeedFit(**{**found, "expected": tuple(found["expected"]), "given": _shape(found["given"])})

    def names(self) -> tuple[NamedTensor, ...]:
        """The tensors that can be roots or inputs."""
        found = self._ask(ListNames())
        return tuple(NamedTensor(**{**entry, "shape": tuple(entry["shape"])}) for entry in found["tensors"])

    def run(self, seeds: Sequence[str], roots: Sequence[str] | None = None, hooks: bool = False) -> WhatIf:
        """Run the engine with other seeds, one per root; `hooks` agrees to run the user's hooks in place."""
        asked = RunSeed(roots=_tuple(roots), seeds=tuple(seeds), output=self._new_file(), hooks=hooks)
        return self._what_if(self._ask(asked))

    def jacobian(
        self,
        input: str,
        root: str | None = None,
        rows: Sequence[int] | None = None,
        progress: Report | None = None,
        hooks: bool = False,
    ) -> JacobianFound:
        """Rows (flat indices into the root, None: all) of d root / d input."""
        asked = Jacobian(root=root, input=input, rows=_tuple(rows), output=self._new_file(), hooks=hooks)
        found = self._ask(asked, progress)
        shapes = tuple(found["root_shape"]), tuple(found["input_shape"])
        return JacobianFound(self._what_if(found), tuple(found["rows"]), *shapes, found["batched"])

    def finite_difference(
        self, input: str, element: int = 0, seed: str = "ones", root: str | None = None, direction: str = ""
    ) -> Measured:
        """Measure the derivative of seed . root along an element of the input, or along a direction."""
        asked = FiniteDifference(root=root, seed=seed, input=input, element=element, direction=direction)
        found = self._ask(asked)
        return Measured(found["difference"], found["gradient"], found["step"], found["dtype"])

    # -- life ------------------------------------------------------------------------------------------------------

    def cancel(self) -> None:
        """Stop what another thread waits for (a script that is held in place finishes it first)."""
        if self._current is not None:
            with contextlib.suppress(OSError):
                self._wire.send(Cancel(re=self._current))

    def release(self) -> None:
        """Let go: a snapshot ends, a script that is held in place goes on. The files of experiments stay."""
        if not self._over:
            self._over = True
            with contextlib.suppress(OSError):
                self._wire.send(Continue() if self.in_place else End())
            self._wire.close()
            if self.when_released is not None:
                self.when_released()

    @property
    def over(self) -> bool:
        """Whether nothing can be tried here any more."""
        return self._over

    def end(self) -> None:
        """Let go, and remove the files of experiments."""
        self.release()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    # -- inside ----------------------------------------------------------------------------------------------------

    def _ask(self, message: Message, progress: Report | None = None) -> dict[str, Any]:
        with self._lock:
            self._check()
            try:
                self._current = self._wire.send(message)
                return self._answer(self._current, progress)
            except OSError as error:
                raise self._gone() from error
            finally:
                self._current = None

    def _check(self) -> None:
        if self._over:
            raise SeedError(tr("Call {label} is not held any more.", label=self.label))

    def _answer(self, number: int, progress: Report | None) -> dict[str, Any]:
        while (said := self._wire.receive()) is not None:
            if said.re != number:
                continue
            if isinstance(said, Progress) and progress is not None:
                progress(said.done, said.total)
            if isinstance(said, Error):
                raise SeedError(said.message)
            if isinstance(said, Finished):
                return dict(said.result)
        raise self._gone()

    def _gone(self) -> SeedError:
        self._over = True
        self._wire.close()
        if self.in_place:
            return SeedError(tr("The script ended while it was held at call {label}.", label=self.label))
        return SeedError(
            tr("The snapshot of call {label} is gone. Run the script again to that call.", label=self.label)
        )

    def _new_file(self) -> str:
        self._check()
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="gradviz-what-if-", dir=_fast_place())
        self._count += 1
        return os.path.join(self._folder.name, f"{self._count}.gradviz")

    def _what_if(self, found: dict[str, Any]) -> WhatIf:
        try:
            finish(found["output"])
        except sqlite3.Error as error:
            raise SeedError(tr("The experiment could not be written: {why}.", why=error)) from error
        notes = tuple(found.get("notes", ()))
        return WhatIf(found["output"], self.label, found["first_new_node"], found.get("error"), notes)


def _fast_place() -> str | None:
    """A folder in memory, where writing an experiment takes a tenth of the time; None: the usual temporary one."""
    try:
        room = os.statvfs(_IN_MEMORY)
    except (OSError, AttributeError):
        return None
    is_roomy = room.f_bavail * room.f_frsize > _ROOM and os.access(_IN_MEMORY, os.W_OK)
    return _IN_MEMORY if is_roomy else None


def _tuple(values: Sequence[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)


def _shape(sizes: Sequence[int] | None) -> tuple[int, ...] | None:
    return None if sizes is None else tuple(sizes)
