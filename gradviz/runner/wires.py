"""The ways to a held call and back: a connection of its own, or the run's own connection."""

from __future__ import annotations

import queue
import select
from collections import deque
from typing import Protocol

from gradviz.protocol import Message
from gradviz.runner.listener import Connection

_SECONDS_TO_NOTICE = 0.2  # a closed connection, by a thread that waits for an answer


class Wire(Protocol):
    """The way to a held call and back."""

    def send(self, message: Message) -> int:
        """Send and return the message's id. Raises OSError."""
        ...

    def receive(self) -> Message | None:
        """Wait for the next message, None when the other side is gone."""
        ...

    def close(self) -> None:
        """Hang up."""
        ...


class SocketWire:
    """To a snapshot: its own connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._waiting: deque[Message] = deque()

    def send(self, message: Message) -> int:
        """Send and return the message's id."""
        return self._connection.send(message)

    def receive(self) -> Message | None:
        """Wait for the next message."""
        while not self._waiting:
            if self._connection.socket.fileno() < 0:
                return None
            try:
                if not select.select([self._connection.socket], [], [], _SECONDS_TO_NOTICE)[0]:
                    continue
            except ValueError:  # closed by another thread between the two
                return None
            messages = self._connection.receive()
            if messages is None:
                return None
            self._waiting.extend(messages)
        return self._waiting.popleft()

    def close(self) -> None:
        """Hang up."""
        self._connection.socket.close()


class QueueWire:
    """To a script that is held in place: the run's own loop hears it and feeds what is an answer."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._queue: queue.Queue[Message | None] = queue.Queue()

    def feed(self, message: Message | None) -> None:
        """A message has come; None: the script is gone."""
        self._queue.put(message)

    def send(self, message: Message) -> int:
        """Send and return the message's id."""
        return self._connection.send(message)

    def receive(self) -> Message | None:
        """Wait for the next message."""
        return self._queue.get()

    def close(self) -> None:
        """The connection is the run's own: nothing to do."""
