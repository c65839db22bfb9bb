"""What a script prints: kept as bytes with time and stream, the first and the last megabyte of each stream."""

from __future__ import annotations

from collections import deque

from gradviz.model import OutputChunk

KEPT = 1_000_000  # bytes at each end of a stream
# Writes that follow within this time are kept as one chunk: a script can flush after each character.
_TOGETHER = 0.05
_CHUNK = 65536


class Kept:
    """One stream. Memory stays below 2 * KEPT, however much the script prints."""

    def __init__(self, stream: str) -> None:
        self._stream = stream
        self._first: list[tuple[float, bytearray]] = []
        self._last: deque[tuple[float, bytearray]] = deque()
        self._first_size = 0
        self._last_size = 0
        self._omitted = 0

    def add(self, seconds: float, data: bytes) -> None:
        """Keep what arrived `seconds` after the start."""
        room = KEPT - self._first_size
        if room > 0:
            self._first_size += len(data[:room])
            _append(self._first, seconds, data[:room])
            data = data[room:]
        if data:
            self._last_size += len(data)
            _append(self._last, seconds, data)
            self._drop()

    def chunks(self) -> list[OutputChunk]:
        """All that was kept, in order; the first chunk after a gap says how much was dropped."""
        found = [OutputChunk(self._stream, at, bytes(data)) for at, data in self._first]
        omitted = self._omitted
        for at, data in self._last:
            found.append(OutputChunk(self._stream, at, bytes(data), omitted))
            omitted = 0
        return found

    def _drop(self) -> None:
        while self._last_size > KEPT:
            _, data = self._last[0]
            extra = min(self._last_size - KEPT, len(data))
            self._omitted += extra
            self._last_size -= extra
            del data[:extra]
            if not data:
                self._last.popleft()


def _append(chunks: list[tuple[float, bytearray]] | deque[tuple[float, bytearray]], at: float, data: bytes) -> None:
    if chunks and at - chunks[-1][0] < _TOGETHER and len(chunks[-1][1]) < _CHUNK:
        chunks[-1][1].extend(data)
    else:
        chunks.append((at, bytearray(data)))


def merged(*streams: Kept) -> list[OutputChunk]:
    """The chunks of several streams in the order in which they arrived."""
    return sorted((chunk for kept in streams for chunk in kept.chunks()), key=lambda chunk: chunk.seconds)
