"""Which calls are held, and how: a snapshot where forking works, else the script itself stops there."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, Protocol

from gradviz.errors import ProtocolError
from gradviz.store.writer import Writer
from gradviz.worker import in_place, snapshot
from gradviz.worker.calls import Active, Scribe
from gradviz.worker.channel import Channel
from gradviz.worker.held import Knowledge, held_call

_SHARE = 0.1  # of the script's time that snapshots may take
_FREE = 3  # calls that are always held, whatever they cost
_FREE_SECONDS = 1.0  # and as many as fit into this: of a short script then also the last ones


@dataclass(frozen=True)
class Wish:
    """What the application asked for.

    `labels`: hold these calls and no others; None: the latest calls, and every one that fails before the engine.
    `in_place` forces the script itself to be held (what happens by itself where it cannot be copied).
    `last`: when these calls are held the script is to do nothing more.
    """

    labels: frozenset[str] | None = None
    in_place: bool = False
    last: bool = False


class Recording(Protocol):
    """What a holder needs of the recorder."""

    def knowledge(self) -> Knowledge:
        """What it knows of nodes, names and lines."""
        ...

    def elsewhere(self, path: str) -> tuple[Scribe, Writer]:
        """A scribe that writes a what-if to a file."""
        ...

    def suspended(self) -> contextlib.AbstractContextManager[None]:
        """Inside it runs of the engine are not recorded."""
        ...


@dataclass(frozen=True)
class Ways:
    """How a snapshot reaches the application, and how it puts back the random states of the script's start."""

    port: int
    token: str
    put_back_random: Callable[[], None]


class Holder:
    """Holds calls as the recorder meets them. Called in the script's thread, outside any lock of ours."""

    def __init__(self, wish: Wish, channel: Channel, ways: Ways, recording: Recording) -> None:
        self._wish = wish
        self._channel = channel
        self._ways = ways
        self._recording = recording
        self._began = time.monotonic()
        self._spent = 0.0
        self._taken = 0
        self._to_come = set(wish.labels or ()) if wish.last else set()
        self._can_copy = not wish.in_place

    def meet(self, active: Active, failed: bool) -> None:
        """A call is about to run, or has failed before it could: hold it where that is wanted."""
        if not self._wants(active.rank.label, failed):
            return
        start = time.monotonic()
        self._taken += 1
        call = held_call(active, self._recording.knowledge(), self._recording.elsewhere, self._ways.put_back_random)
        left = snapshot.take(call, self._ways.port, self._ways.token, failed) if self._can_copy else None
        if left is None:
            self._can_copy = False
            # Stopping every call of a training loop is nobody's wish: in place only where a call was asked for.
            if self._wish.labels is not None:
                in_place.hold(call, self._channel, self._recording.suspended)
        self._spent += time.monotonic() - start
        if active.rank.label in self._to_come:
            self._to_come.remove(active.rank.label)
            if not self._to_come:
                self._wait_for_the_end()

    def _wait_for_the_end(self) -> NoReturn:
        """Do nothing more: the application ends us, or has hung up. The script may write files further down."""
        with contextlib.suppress(ProtocolError):
            while self._channel.receive() is not None:
                continue
        os._exit(0)

    def _wants(self, label: str, failed: bool) -> bool:
        if self._wish.labels is not None:
            return label in self._wish.labels
        if not self._can_copy or "." in label:
            return False
        # Nobody knows which call is the last: so all are held, as long as that costs the script little time.
        affordable = self._spent <= max(_FREE_SECONDS, _SHARE * (time.monotonic() - self._began))
        return failed or self._taken < _FREE or affordable
