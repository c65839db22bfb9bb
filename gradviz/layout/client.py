"""Asks the helper process for placements, with a time budget; the layered engine answers when the helper cannot.

Plain threads, no Qt: `place` blocks the thread that calls it, `cancel` may come from any other.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from time import monotonic
from types import TracebackType
from typing import IO

from gradviz.errors import LayoutError, ProtocolError
from gradviz.layout.engines import engine, graphviz_engine, place_now, why_not_graphviz
from gradviz.layout.scene import with_note
from gradviz.layout.values import LayoutGraph, Placement
from gradviz.layout.wire import Message, graph_to_json, placement_from_json, read_message, write_message
from gradviz.texts import handed_on, tr

BUDGET_S = 1.0
IN_PROCESS = 600
"""A layered placement of so many boxes and edges takes less than a job for the helper costs the window's thread."""
PATIENCE_S = 120.0
"""The layered engine is linear: an answer that takes longer will not come."""
HELPERS = 2
"""One that works and a warm spare, for when the first was killed."""


class LayoutCancelledError(LayoutError):
    """The placement is no longer wanted."""


class LayoutClient:
    """Places graphs in helper processes. Use as a context manager, or call `close`.

    Args:
        prefer: "auto" takes the better of Graphviz and the layered engine; or the name of the engine to use always.
    """

    def __init__(self, prefer: str = "auto") -> None:
        self._prefer = prefer
        self._placing = threading.Lock()
        self._changing = threading.Lock()
        self._helpers: list[_Helper] = []
        self._closed = False
        self._cancelled = False
        self._jobs = 0
        self._refill(1)

    def __enter__(self) -> LayoutClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def place(self, graph: LayoutGraph, budget_s: float = BUDGET_S) -> Placement:
        """Return a placement of `graph`; its note says so when another engine was used than the wanted one.

        Args:
            graph: what to place.
            budget_s: seconds that Graphviz may take.

        Raises:
            LayoutCancelledError: `cancel` or `close` was called meanwhile.
            LayoutError: the preferred engine is unknown.
        """
        with self._placing:
            self._cancelled = False
            name, reason = self._choose(graph, budget_s)
            placement = None
            if name != "layered":
                placement, reason = self._ask(graph, name, budget_s)
            if placement is None:
                placement = self._layered(graph)
                if reason:
                    placement = with_note(placement, reason)
            self._refill(HELPERS)
            if self._cancelled:
                raise LayoutCancelledError(tr("The layout is no longer wanted."))
            return placement

    def cancel(self) -> None:
        """End the placement that is running, if one is; its `place` raises LayoutCancelledError."""
        self._cancelled = True
        with self._changing:
            for helper in self._helpers:
                if helper.busy:
                    helper.kill()

    def wait_until_warm(self, timeout_s: float = 30.0) -> bool:
        """Wait until Graphviz answers without delay in a helper; return whether it does."""
        helper = self._first()
        return helper is not None and helper.wait_until_warm(timeout_s)

    @property
    def process_ids(self) -> tuple[int, ...]:
        """The processes of the helpers that live."""
        with self._changing:
            return tuple(helper.process_id for helper in self._helpers if helper.alive)

    def close(self) -> None:
        """End every helper and wait until they are gone."""
        self._closed = True
        self._cancelled = True
        with self._changing:
            helpers, self._helpers = self._helpers, []
        for helper in helpers:
            helper.kill()

    def _choose(self, graph: LayoutGraph, budget_s: float) -> tuple[str, str | None]:
        """Return the engine to ask and, where it is the layered one for lack of another, the reason."""
        if self._prefer != "auto":
            return engine(self._prefer).name, None
        reason = why_not_graphviz(graph, budget_s)
        if reason or graphviz_engine() is None:
            return "layered", reason
        helper = self._first()
        if helper is None or not helper.wait_until_warm(0.0):
            return "layered", tr("Drawn by the layered layout: Graphviz is still starting.")
        return "auto", None

    def _layered(self, graph: LayoutGraph) -> Placement:
        if len(graph.sizes) + len(graph.edges) > IN_PROCESS:
            placement, _ = self._ask(graph, "layered", PATIENCE_S)
            if placement is not None:
                return placement
        return place_now(graph)

    def _ask(self, graph: LayoutGraph, name: str, budget_s: float) -> tuple[Placement | None, str | None]:
        """Return the helper's placement, or None and the reason why there is none."""
        helper = self._first()
        if helper is None:
            return None, tr("Drawn by the layered layout: the layout helper does not run.")
        self._jobs += 1
        job = {"id": self._jobs, "engine": name, "budget_s": budget_s, "graph": graph_to_json(graph)}
        answer = helper.ask(job, budget_s)
        if self._cancelled:
            raise LayoutCancelledError(tr("The layout is no longer wanted."))
        if answer is not None and answer["type"] == "placed":
            return placement_from_json(answer["placement"]), None
        if answer is not None:
            return None, tr("Drawn by the layered layout: {error}", error=answer["message"])
        ended = not helper.alive
        helper.kill()
        self._refill(1)
        if ended:
            return None, tr("Drawn by the layered layout: the layout helper ended by itself.")
        return None, tr("Drawn by the layered layout: Graphviz was not ready within {seconds} s.", seconds=budget_s)

    def _first(self) -> _Helper | None:
        with self._changing:
            self._helpers = [helper for helper in self._helpers if helper.alive]
            return self._helpers[0] if self._helpers else None

    def _refill(self, count: int) -> None:
        with self._changing:
            self._helpers = [helper for helper in self._helpers if helper.alive]
            while len(self._helpers) < count and not self._closed:
                self._helpers.append(_Helper())


class _Helper:
    """One helper process and the thread that reads what it says."""

    def __init__(self) -> None:
        # -P: the folder in which the window was started must not lend its modules to the helper.
        command = [sys.executable, "-P", "-m", "gradviz.layout.helper", *handed_on()]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._answers: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._warm = threading.Event()
        self._has_graphviz = False
        self._silent = False
        self.busy = False
        assert self._process.stdout is not None
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True)
        self._reader.start()

    @property
    def alive(self) -> bool:
        """Whether it can be asked: it has not closed its output, which it does at its end, and has not ended."""
        return not self._silent and self._process.poll() is None

    @property
    def process_id(self) -> int:
        return self._process.pid

    def ask(self, job: Message, timeout_s: float) -> Message | None:
        """Return the answer to `job`; None when it did not come in time or the helper has ended."""
        assert self._process.stdin is not None
        self.busy = True
        deadline = monotonic() + timeout_s
        try:
            write_message(self._process.stdin, job)
            while True:
                answer = self._answers.get(timeout=max(0.0, deadline - monotonic()))
                if answer is None or answer.get("id") == job["id"]:
                    return answer
        except (queue.Empty, OSError):
            return None
        finally:
            self.busy = False

    def wait_until_warm(self, timeout_s: float) -> bool:
        return self._warm.wait(timeout_s) and self._has_graphviz

    def kill(self) -> None:
        """End the process with the `dot` that it may have started, and wait for it."""
        if self._process.poll() is None:
            self._end_group()
        self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                _close(stream)

    def _end_group(self) -> None:
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError, PermissionError):  # nobody is left in it
                os.killpg(self._process.pid, signal.SIGKILL)
        else:
            self._process.kill()

    def _read(self, stream: IO[bytes]) -> None:
        with suppress(ProtocolError):
            while (message := read_message(stream)) is not None:
                if message["type"] == "warm":
                    self._has_graphviz = message["engine"] is not None
                    self._warm.set()
                elif message["type"] != "ready":
                    self._answers.put(message)
        self._end_group()  # a `dot` outlives a helper that died alone, and may never end
        self._silent = True
        self._warm.set()
        self._answers.put(None)


def _close(stream: IO[bytes]) -> None:
    """Close a pipe whose other end is gone: what is still in its buffer cannot be written any more."""
    try:
        stream.close()
    except BrokenPipeError:
        return
