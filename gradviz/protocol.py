"""The messages between the application and a worker or snapshot: one JSON object a line.

Each line carries `v` (version), `id` and `type`; a reply carries `re`, the id that it answers. Tensors never travel
here: they lie in the recording, and a message names the call that holds them.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields
from json import dumps, loads  # not by way of the module: a script may have put a mock there
from typing import Any, ClassVar

from gradviz.errors import ProtocolError, UsageError
from gradviz.texts import tr

VERSION = 1


@dataclass(frozen=True, slots=True)
class Message:
    """What all messages have. `id` counts up per sender; `re` is the id of the message that this one answers."""

    TYPE: ClassVar[str] = ""
    id: int = 0
    re: int | None = None


# -- said by the worker or a snapshot ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hello(Message):
    """First message on a connection: proves with `token` that the sender is ours. `role` is worker or snapshot."""

    TYPE: ClassVar[str] = "hello"
    token: str = ""
    role: str = "worker"
    pid: int = 0


@dataclass(frozen=True, slots=True)
class Started(Message):
    """The script is about to run; the recording exists from now on."""

    TYPE: ClassVar[str] = "started"
    recording: str = ""
    python: str = ""


@dataclass(frozen=True, slots=True)
class CallStarted(Message):
    """The first transaction of a call is in the recording."""

    TYPE: ClassVar[str] = "call_started"
    call: int = 0


@dataclass(frozen=True, slots=True)
class CallCommitted(Message):
    """The second transaction of a call is in the recording."""

    TYPE: ClassVar[str] = "call_committed"
    call: int = 0


@dataclass(frozen=True, slots=True)
class SnapshotReady(Message):
    """A snapshot (or a worker that is held in place) answers seeds for this call from now on.

    `hooks` names the user's hooks that an experiment would run (held in place only). `failed`: the call raised before
    the engine ran.
    """

    TYPE: ClassVar[str] = "snapshot"
    call: int = 0
    label: str = ""
    in_place: bool = False
    failed: bool = False
    hooks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress(Message):
    """How far a long answer is: `done` of `total`."""

    TYPE: ClassVar[str] = "progress"
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Finished(Message):
    """The script (or, with `re`, an answer) is complete. `result` is small JSON; `call` the what-if call written."""

    TYPE: ClassVar[str] = "finished"
    call: int | None = None
    result: Any = None


@dataclass(frozen=True, slots=True)
class Error(Message):
    """What was asked cannot be done; `message` is a text for the user."""

    TYPE: ClassVar[str] = "error"
    message: str = ""
    detail: str = ""


# -- said by the application -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CheckSeed(Message):
    """Evaluate a seed and compare its shape and dtype with the root's, without running the engine."""

    TYPE: ClassVar[str] = "check_seed"
    root: str | None = None
    seed: str = ""


@dataclass(frozen=True, slots=True)
class RunSeed(Message):
    """Run the engine with other seeds; `roots` are names (None: the call's own), one seed expression each.

    `hooks` agrees to run the user's hooks in a script that is held in place.
    """

    TYPE: ClassVar[str] = "run_seed"
    roots: tuple[str, ...] | None = None
    seeds: tuple[str, ...] = ()
    output: str = ""  # the file that the what-if is written to
    hooks: bool = False


@dataclass(frozen=True, slots=True)
class Jacobian(Message):
    """Compute rows of d root / d input by one-hot seeds, written as a what-if to `output`."""

    TYPE: ClassVar[str] = "jacobian"
    root: str | None = None
    input: str = ""
    rows: tuple[int, ...] | None = None
    output: str = ""
    hooks: bool = False


@dataclass(frozen=True, slots=True)
class FiniteDifference(Message):
    """Central difference in float64 of the root, weighted by the seed, along element `element` of `input`.

    With `direction` (an expression for a tensor of the input's shape) along that instead.
    """

    TYPE: ClassVar[str] = "finite_difference"
    root: str | None = None
    seed: str = ""
    input: str = ""
    element: int = 0
    direction: str = ""


@dataclass(frozen=True, slots=True)
class ListNames(Message):
    """Ask for the tensors that can be roots or inputs."""

    TYPE: ClassVar[str] = "list_names"


@dataclass(frozen=True, slots=True)
class Cancel(Message):
    """Stop working on the message whose id is `re`."""

    TYPE: ClassVar[str] = "cancel"


@dataclass(frozen=True, slots=True)
class Continue(Message):
    """Let a worker that is held in place go on."""

    TYPE: ClassVar[str] = "continue"


@dataclass(frozen=True, slots=True)
class End(Message):
    """End the snapshot."""

    TYPE: ClassVar[str] = "end"


_KINDS: tuple[type[Message], ...] = (
    *(Hello, Started, CallStarted, CallCommitted, SnapshotReady, Progress, Finished, Error),
    *(CheckSeed, RunSeed, Jacobian, FiniteDifference, ListNames, Cancel, Continue, End),
)
_BY_TYPE = {kind.TYPE: kind for kind in _KINDS}


def encode(message: Message) -> bytes:
    """Return the line of a message, newline included."""
    body = {"v": VERSION, "type": message.TYPE, **asdict(message)}
    return dumps(body, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> Message:
    """Read a line; fields that a newer sender added are ignored.

    Raises:
        ProtocolError: the line is not a message of this version.
    """
    try:
        raw = loads(line)
        if raw["v"] != VERSION:
            raise ProtocolError(tr("The other process speaks version {v}, this one {ours}.", v=raw["v"], ours=VERSION))
        kind = _BY_TYPE[raw["type"]]
        known = {f.name: _tuples(raw[f.name]) for f in fields(kind) if f.name in raw}
        return kind(**known)
    except (ValueError, KeyError, TypeError) as error:
        raise ProtocolError(tr("The other process said something that is not a message.")) from error


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def parse_calls(text: str) -> tuple[range, ...]:
    """Read `1,5,10-20`: the calls that are to be recorded in full, counted from 1.

    Raises:
        UsageError: it is something else.
    """
    found = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:\s*-\s*(\d+))?\s*", part)
        first = int(match[1]) if match else 0
        last = int(match[2] or first) if match else 0
        if not 1 <= first <= last:
            raise UsageError(tr("{text!r} names no calls. Write numbers and ranges, as in 1,5,10-20.", text=text))
        found.append(range(first, last + 1))
    return tuple(found)
