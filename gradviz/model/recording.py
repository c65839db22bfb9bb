"""A recording as a whole: calls, graphs, events, bindings, output and outcome of a script."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

from gradviz.model.calls import Call, CallDetail
from gradviz.model.graph import Graph, Place

OutcomeKind = Literal["finished", "raised", "exited", "killed", "stopped", "lost", "running"]
EventKind = Literal["grad_cleared", "grad_assigned", "value_changed", "optimizer_step"]
BindingCause = Literal["assigned", "written", "returned", "argument", "parameter"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the script ended. `file` and `line` are the innermost user line of an exception."""

    kind: OutcomeKind
    exit_code: int | None = None
    signal: int | None = None
    type: str | None = None
    message: str | None = None
    file: str | None = None
    line: int | None = None
    traceback: str | None = None


@dataclass(frozen=True, slots=True)
class Header:
    """What ran: script, arguments, interpreter, and the state that makes a re-run equal."""

    script: str
    argv: tuple[str, ...]
    python: str
    torch: str | None
    executable: str
    cwd: str
    module: str | None = None  # for `-m package.module`
    threads: int | None = None
    hash_seed: str | None = None
    rank: int | None = None  # in a torchrun job: gradients are local, before the all-reduce
    world_size: int | None = None
    notes: tuple[str, ...] = ()  # what the recorder could not do, in sentences
    in_process: bool = False  # a `with gradviz.record(...)` block of a running program, not a script as a whole


@dataclass(frozen=True, slots=True)
class Event:
    """Something that changed `.grad` or a parameter between calls. `before_call` is None at the script's end.

    For `optimizer_step` `names` are the parameters and `norms` their norms before and after the step.
    """

    kind: EventKind
    before_call: int | None
    names: tuple[str, ...]
    place: Place | None = None
    detail: str | None = None
    norms: tuple[tuple[float | None, float | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Binding:
    """A name of the user's and the tensor that it held after a line ran.

    `tensor` and `storage` are serial numbers of the tensor object and of its memory: equal numbers mean the same one.
    `cause`: `assigned` (the name was bound), `written` (its version rose at this line), `argument`, `returned`,
    `parameter` (of a module, qualified name; noted at a call whose graph does not hold it).
    `op` is the name of its `grad_fn` (None for a leaf), `node` the node's id when a call met it. `count` is how often
    this line bound this name; of a loop the first and the last are kept.
    """

    order: int
    place: Place
    name: str
    cause: BindingCause
    tensor: int
    storage: int | None
    shape: tuple[int, ...]
    dtype: str
    requires_grad: bool
    is_leaf: bool
    retains_grad: bool
    op: str | None
    node: int | None
    version: int
    before_call: int | None
    count: int = 1


@dataclass(frozen=True, slots=True)
class ScriptWarning:
    """A warning that the script got, `before_call` as in `Event`."""

    category: str
    message: str
    place: Place | None
    before_call: int | None


@dataclass(frozen=True, slots=True)
class OutputChunk:
    """Bytes that the script wrote to `stream` ("stdout" or "stderr"), `seconds` after its start."""

    stream: str
    seconds: float
    data: bytes
    omitted_before: int = 0  # bytes of this stream that were dropped just before this chunk


class RecordingSource(Protocol):
    """Where the heavy parts of a recording come from: a file, or values in memory."""

    def graph(self, number: int) -> Graph:
        """The graph of call `number`."""
        ...

    def detail(self, number: int) -> CallDetail:
        """What moved in call `number`."""
        ...

    def bindings(self) -> tuple[Binding, ...]:
        """All bindings in the order in which they happened."""
        ...

    def sources(self) -> dict[str, str]:
        """File name -> text of every user file that made a node or a call."""
        ...

    def output(self) -> tuple[OutputChunk, ...]:
        """What the script printed."""
        ...


@dataclass(frozen=True)
class Recording:
    """A recording that is open for reading. Heads are here; graphs and details are read when asked for."""

    header: Header
    outcome: Outcome
    calls: tuple[Call, ...]
    events: tuple[Event, ...]
    warnings: tuple[ScriptWarning, ...]
    source: RecordingSource
    damage: str | None = None  # what is missing from the file, in a sentence

    def call(self, number: int) -> Call:
        """The call with this number. Raises KeyError when there is none."""
        return self._by_number[number]

    def call_by_label(self, label: str) -> Call:
        """The call with this label (`2`, nested `2.1`). Raises KeyError when there is none."""
        return self._by_label[label]

    @cached_property
    def _by_number(self) -> dict[int, Call]:
        return {call.number: call for call in self.calls}

    @cached_property
    def _by_label(self) -> dict[str, Call]:
        return {call.label: call for call in reversed(self.calls)}

    @property
    def top_calls(self) -> tuple[Call, ...]:
        """The user's own calls: not nested, no what-ifs; these are what "call 2 of 2" counts."""
        return tuple(call for call in self.calls if call.parent is None and not call.what_if)

    @cached_property
    def places(self) -> dict[int, int]:
        """The number of a call -> its place (from 0) among the user's own calls and, after them, the experiments."""
        tried = tuple(call for call in self.calls if call.what_if)
        return {call.number: place for place, call in enumerate((*self.top_calls, *tried))}

    def graph(self, number: int) -> Graph:
        """The graph of call `number`, read from the source."""
        return self.source.graph(number)

    def detail(self, number: int) -> CallDetail:
        """Executions, accumulations, retained and returned values of call `number`, read from the source."""
        return self.source.detail(number)
