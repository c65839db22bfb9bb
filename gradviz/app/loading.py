"""What is read and computed in the background before the window can show it. No Qt widgets; runs in threads."""

from __future__ import annotations

import io
import json
import math
import os
import threading
import tokenize
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gradviz.app.background import Cancelled, Task
from gradviz.app.call_tree import Entry, call_tree
from gradviz.app.overlay import Extra, read_extra, with_extras
from gradviz.app.panels.highlight import Span, highlight
from gradviz.app.texts import tr
from gradviz.errors import DamagedRecordingError, ScriptError
from gradviz.model import Finding, OutputChunk, Place, Recording
from gradviz.playback import Timeline, readable, story
from gradviz.playback.beats import Order
from gradviz.rules import formulas
from gradviz.runner.experiments import WhatIf
from gradviz.store.reader import Reader, close_recording, open_recording

_WARM_AT_ONCE = 2_000  # nodes; the lines of larger graphs get their heat when the picture is there


@dataclass(frozen=True)
class Source:
    """The text of a file of the user's, with what the colours need to know, line by line."""

    text: str
    spans: tuple[tuple[Span, ...], ...]


@dataclass(frozen=True)
class Loaded:
    """A recording with what the docks show of it. `findings` is None until they have been computed."""

    path: str
    recording: Recording
    sources: Mapping[str, Source]
    entries: tuple[Entry, ...]
    findings: tuple[Finding, ...] | None = None
    output: tuple[OutputChunk, ...] = ()
    last_place: Place | None = None
    live: bool = False


@dataclass(frozen=True, slots=True)
class Heat:
    """The largest gradient that arrived at what a line made, and where its logarithm is among all lines (0 to 1)."""

    norm: float
    share: float


@dataclass(frozen=True)
class Story:
    """The calls that are told together, and where their nodes are found.

    `unread` are the labels of calls that belong here and cannot be read, since the recording is damaged.
    """

    timeline: Timeline
    unread: tuple[str, ...] = ()

    @cached_property
    def by_key(self) -> dict[str, int]:
        """The key of a node -> its id on the stage."""
        return {node.key: node.id for node in self.timeline.stage.graph.nodes}

    @property
    def known_heat(self) -> Mapping[tuple[str, int], Heat] | None:
        """`heat`, where it has been worked out already."""
        return self.__dict__.get("heat")

    @cached_property
    def heat(self) -> dict[tuple[str, int], Heat]:
        """File and line -> its heat; lines at which nothing but zero arrived have none."""
        norms: dict[tuple[str, int], float] = {}
        for act in self.timeline.acts:
            for execution in act.detail.executions:
                place = act.graph.by_id[execution.node].place
                largest = max((v.norm or 0.0 for v in execution.grad_outputs if v is not None), default=0.0)
                if place is not None and math.isfinite(largest) and largest > 0.0:
                    line = (place.file, place.line)
                    norms[line] = max(norms.get(line, 0.0), largest)
        if not norms:
            return {}
        low, high = (math.log10(limit(norms.values())) for limit in (min, max))
        room = high - low
        return {line: Heat(n, (math.log10(n) - low) / room if room else 1.0) for line, n in norms.items()}

    @cached_property
    def by_edge_key(self) -> dict[str, int]:
        """The key of an edge -> its place in the stage's list of edges."""
        return {self.edge_key(place): place for place in range(len(self.timeline.stage.graph.edges))}

    def edge_key(self, place: int) -> str:
        """A name for an edge that is equal in another run of the same code."""
        graph = self.timeline.stage.graph
        edge = graph.edges[place]
        return f"edge:{edge.slot}:{graph.by_id[edge.source].key}"

    @cached_property
    def by_line(self) -> dict[tuple[str, int], tuple[int, ...]]:
        """File and line -> the nodes that the line made, in the order of the forward pass."""
        found: dict[tuple[str, int], list[int]] = {}
        for node in self.timeline.stage.graph.nodes:
            if node.place is not None:
                found.setdefault((node.place.file, node.place.line), []).append(node.id)
        return {place: tuple(sorted(nodes)) for place, nodes in found.items()}


class LiveFile:
    """A recording that is still being written, read again and again through one connection.

    The writer can finish the file only when nobody else has it open, so `let_go` closes it, from any thread.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._recording: Recording | None = None
        self._extras: list[Extra] = []
        self._over = False
        self.what_ifs: list[WhatIf] = []  # those that are shown, and are to be kept when the script has ended

    def add(self, what_if: WhatIf) -> None:
        """Show an experiment among the calls from now on.

        Raises:
            Cancelled: the script has ended.
            RecordingError: the experiment cannot be read.
        """
        with self._lock:
            if self._over:
                raise Cancelled
            self._extras.append(read_extra(what_if, self._extras))
            self.what_ifs.append(what_if)

    def read(self) -> Recording:
        """The recording as it is now.

        Raises:
            Cancelled: it was let go.
            RecordingError: the file is not a readable recording.
        """
        with self._lock:
            if self._over:
                raise Cancelled
            if self._recording is None:
                self._recording = open_recording(self.path, live=True)
            elif isinstance(self._recording.source, Reader):
                self._recording = self._recording.source.recording()
            return with_extras(self._recording, tuple(self._extras))

    def let_go(self) -> None:
        """Close the file; it cannot be read any more."""
        with self._lock:
            self._over = True
            if self._recording is not None:
                close_recording(self._recording)


def load(path: str, live: LiveFile | None, task: Task[Any], first: Callable[[], None] | None = None) -> Loaded:
    """Read the heads of a recording, of one that is being written through `live`. `first` is done before.

    Raises:
        RecordingError: the file is not a readable recording.
    """
    if first is not None:
        first()
    recording = open_recording(path) if live is None else live.read()
    task.check()
    texts = recording.source.sources()
    sources = {file: Source(text, highlight(text)) for file, text in texts.items()}
    entries = call_tree(recording, texts)
    if live is not None:
        return Loaded(path, recording, sources, entries, live=True)
    output = recording.source.output()
    return Loaded(path, recording, sources, entries, output=output, last_place=_last_place(recording))


def _last_place(recording: Recording) -> Place | None:
    """The last line that is known to have run, of a script whose end Python did not see."""
    if recording.outcome.kind not in ("killed", "lost", "stopped"):
        return None
    bindings = recording.source.bindings()
    if recording.calls and not (bindings and bindings[-1].before_call is None):
        return recording.calls[-1].place
    return bindings[-1].place if bindings else None


def read_script(path: str, task: Task[Any]) -> Mapping[str, Source]:
    """Read a script that has not run yet, in its own encoding (PEP 263); of a notebook its cells, by their names.

    Raises:
        ScriptError: it cannot be read.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        why = error.strerror or str(error)
        raise ScriptError(tr("The script {path} cannot be read: {why}.", path=path, why=why)) from error
    task.check()
    texts = _cells(path, data) if path.endswith(".ipynb") else {path: _decoded(data)}
    return {file: Source(text, highlight(text)) for file, text in texts.items()}


def _cells(path: str, data: bytes) -> dict[str, str]:
    """The code cells of a notebook under the names that the recorder gives them; a damaged file as it is."""
    try:
        raw = json.loads(data)
        cells = [cell for sheet in (raw, *raw.get("worksheets", ())) for cell in sheet.get("cells", ())]
        code = ["".join(cell.get("source", cell.get("input", ""))) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, AttributeError, KeyError, TypeError):
        return {path: _decoded(data)}  # it will not run either; the reason is told then
    return {f"<{os.path.basename(path)}, cell {number}>": text for number, text in enumerate(code, 1)}


def _decoded(data: bytes) -> str:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return io.IncrementalNewlineDecoder(None, translate=True).decode(data.decode(encoding))
    except (SyntaxError, UnicodeDecodeError, LookupError):
        # It will not run either; what Python says of it comes with its outcome.
        return data.decode("utf-8", "replace")


def _rest_of_story(
    recording: Recording, numbers: tuple[int, ...], label: str | None, order: Order, error: DamagedRecordingError
) -> Story:
    """The calls of a story that can be read; without a call that was asked for, the last one that can."""
    whole = readable(recording, numbers)
    asked = None if label is None else recording.call_by_label(label).number
    if asked in numbers and asked not in whole:
        raise error
    if not whole and asked is None:
        whole = next(
            (found for call in reversed(recording.top_calls) if (found := readable(recording, (call.number,)))), ()
        )
    if not whole:
        raise error
    unread = tuple(recording.call(number).label for number in numbers if number not in whole)
    return Story(Timeline(recording, whole, order), unread)


def make_story(recording: Recording, label: str | None, order: Order, task: Task[Any]) -> Story:
    """Lay the timeline of the calls that belong together with the call `label` (None: the last one).

    Raises:
        DamagedRecordingError: the call that was asked for, or without one every call, cannot be read.
    """
    known = {call.label for call in recording.calls}
    numbers = story(recording, label if label in known else None)
    task.check()
    try:
        made = Story(Timeline(recording, numbers, order))
    except DamagedRecordingError as error:
        made = _rest_of_story(recording, numbers, label if label in known else None, order, error)
    task.check()
    # Computed here, so that the event loop does not pay for it.
    _ = made.by_key, made.by_edge_key, made.by_line, made.timeline.marks, formulas()
    if len(made.by_key) <= _WARM_AT_ONCE:
        _ = made.heat
    return made
