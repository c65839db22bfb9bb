"""The layout helper: `python -m gradviz.layout.helper [LANGUAGE FOLDER]` places graphs for a `LayoutClient`.

It places one graph at a time. It says `ready` as soon as it can place anything, and `warm` when Graphviz answers
without delay. It ends at the end of its standard input, whatever it is doing: when the client is gone nobody wants the
answer.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from typing import BinaryIO

from gradviz.errors import GradvizError
from gradviz.layout.engines import engine, graphviz_engine, place_best
from gradviz.layout.values import LayoutGraph, Placement
from gradviz.layout.wire import Message, graph_from_json, placement_to_json, read_message, write_message
from gradviz.texts import use_language

WARM_UP = LayoutGraph(((10.0, 10.0), (10.0, 10.0)), ((0, 1),))


class _Answers:
    """Writes messages from the two threads that have some, one after the other."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def send(self, message: Message) -> None:
        with self._lock:
            write_message(self._stream, message)


def main() -> None:
    """Serve until standard input ends."""
    if len(sys.argv) == 3:
        use_language(sys.argv[1], sys.argv[2])
    jobs: queue.SimpleQueue[Message] = queue.SimpleQueue()
    answers = _Answers(sys.stdout.buffer)
    sys.stdout = sys.stderr  # a print of some library must not come between the messages
    answers.send({"type": "ready"})
    threading.Thread(target=_read_jobs, args=(sys.stdin.buffer, jobs), daemon=True).start()
    threading.Thread(target=_warm_up, args=(answers,), daemon=True).start()
    while True:
        answers.send(_answer(jobs.get()))


def _read_jobs(stream: BinaryIO, jobs: queue.SimpleQueue[Message]) -> None:
    while (job := read_message(stream)) is not None:
        jobs.put(job)
    _end()


def _end() -> None:
    """End at once, together with a `dot` that may be running."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(0)


def _warm_up(answers: _Answers) -> None:
    """Let Graphviz place a tiny graph, so that the first real one does not wait for it to load."""
    name = graphviz_engine()
    try:
        if name is not None:
            engine(name).place(WARM_UP)
    except GradvizError as error:
        answers.send({"type": "warm", "engine": None, "message": str(error)})
    else:
        answers.send({"type": "warm", "engine": name})


def _answer(job: Message) -> Message:
    try:
        placement = _place(job["engine"], graph_from_json(job["graph"]), job["budget_s"])
    except (GradvizError, ArithmeticError, LookupError, TypeError, ValueError, MemoryError) as error:
        return {"type": "failed", "id": job["id"], "message": str(error) or type(error).__name__}
    return {"type": "placed", "id": job["id"], "placement": placement_to_json(placement)}


def _place(name: str, graph: LayoutGraph, budget_s: float) -> Placement:
    return place_best(graph, budget_s, graphviz_engine()) if name == "auto" else engine(name).place(graph)


if __name__ == "__main__":
    main()
