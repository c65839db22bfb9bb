"""What a script printed, as lines: bounded, decoded, fed from any thread. No widgets."""

from __future__ import annotations

import codecs
import re
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, cast

from gradviz.app.texts import tr

Stream = Literal["stdout", "stderr", "note"]
MOST_LINES = 10_000
LONGEST_LINE = 20_000

# Colours and cursor movements of terminals (ECMA-48 control sequences) mean nothing here.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of one stream. `note` lines are gradviz's own (what was left out)."""

    stream: Stream
    text: str


@dataclass(frozen=True, slots=True)
class News:
    """What changed since the last look: `replaces_last` when the last line seen then has grown."""

    lines: tuple[Line, ...]
    replaces_last: bool
    dropped: bool


class _Turns:
    """A lock at which the event loop waits for one piece of work at most.

    A plain lock is unfair: a thread that feeds without a pause takes it again before a waiting one has woken, and the
    event loop was held for 140 ms by 100 MB of output. Who feeds must pass `_next`; the loop holds it while it waits.
    """

    def __init__(self) -> None:
        self._feeders, self._next, self._work = threading.Lock(), threading.Lock(), threading.Lock()

    @contextmanager
    def feeding(self) -> Iterator[None]:
        """The turn of a thread that brings output."""
        with self._feeders:
            with self._next:
                self._work.acquire()
            try:
                yield
            finally:
                self._work.release()

    @contextmanager
    def looking(self) -> Iterator[None]:
        """The turn of the event loop."""
        with self._next:
            self._work.acquire()
        try:
            yield
        finally:
            self._work.release()


class ConsoleLines:
    """The last 10,000 lines of a script's output. `feed` may be called from any thread.

    A carriage return starts its line anew, as on a terminal, so that a progress bar is one line.
    """

    def __init__(self, most: int = MOST_LINES) -> None:
        self._turns = _Turns()
        self._most = most
        self._clear()

    def _clear(self) -> None:
        self._lines: deque[Line] = deque(maxlen=self._most)
        self._count = 0  # lines ever started
        self._open: Stream | None = None  # the stream whose last line goes on
        self._returned = False  # a carriage return came last: what follows overwrites the line
        self._decoders: dict[str, codecs.IncrementalDecoder] = {}
        self._seen = 0
        self._seen_open = False

    def clear(self) -> None:
        """Forget everything."""
        with self._turns.looking():
            self._clear()

    def feed(self, stream: str, data: bytes, omitted: int = 0) -> None:
        """Take what a stream brought; `omitted` bytes before it were dropped by the runner."""
        with self._turns.feeding():
            if omitted:
                self._open = None
                self._append("note", tr("… {n:,} bytes left out …", n=omitted))
            decoder = self._decoders.setdefault(stream, codecs.getincrementaldecoder("utf-8")("replace"))
            text = _ESCAPES.sub("", decoder.decode(data))
            if text:
                self._write(cast(Stream, stream), text)

    def note(self, text: str) -> None:
        """Add a line of gradviz's own."""
        with self._turns.looking():
            self._open = None
            self._append("note", text)

    @property
    def fed(self) -> int:
        """How many lines have come in all."""
        return self._count

    def news(self) -> News:
        """What changed since `news` was asked last."""
        with self._turns.looking():
            grown = self._seen_open and self._seen > 0
            start = self._seen - 1 if grown else self._seen
            fresh = min(self._count - start, len(self._lines))
            lines = tuple(list(self._lines)[len(self._lines) - fresh :]) if fresh else ()
            dropped = self._count - start > len(self._lines)
            self._seen, self._seen_open = self._count, self._open is not None
            return News(lines, grown and not dropped, dropped)

    @property
    def lines(self) -> tuple[Line, ...]:
        """All lines that are kept."""
        with self._turns.looking():
            return tuple(self._lines)

    def _write(self, stream: Stream, text: str) -> None:
        parts = text.replace("\r\n", "\n").split("\n")
        skipped = len(parts) - 1 - self._most
        if skipped > 0:
            # They would be dropped one by one below; nobody would ever see them.
            parts = parts[skipped:]
            self._open = None
            self._count += skipped
        for place, part in enumerate(parts):
            last = place == len(parts) - 1
            if part or not last:
                self._put(stream, part)
            if not last:
                self._open, self._returned = None, False

    def _put(self, stream: Stream, text: str) -> None:
        going_on = self._open == stream
        overwrite = self._returned and going_on
        body, found, tail = text.rpartition("\r")
        if found:
            # The last non-empty piece is what a terminal would show.
            text = tail or body.rpartition("\r")[2]
            overwrite = True
        if going_on and not (found and not text):
            self._lines[-1] = Line(stream, _clean(text if overwrite else self._lines[-1].text + text))
        elif not going_on:
            self._append(stream, text)
        self._open, self._returned = stream, bool(found) and not tail

    def _append(self, stream: Stream, text: str) -> None:
        self._lines.append(Line(stream, _clean(text)))
        self._count += 1


def _clean(text: str) -> str:
    text = _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)
    return text if len(text) <= LONGEST_LINE else text[:LONGEST_LINE] + " …"


def as_text(lines: Sequence[Line]) -> str:
    """Lines as one text, for the clipboard."""
    return "\n".join(line.text for line in lines)
