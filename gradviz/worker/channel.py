"""The worker's end of the connection to the application, through a descriptor of its own.

A script that runs only speaks; what the application says is read while the script is held, or by a snapshot.
"""

from __future__ import annotations

import os
import socket
from dataclasses import replace

from gradviz.protocol import Hello, Message, decode, encode
from gradviz.store import guard

# The parent reads all the time; one that does not must not hold the script for longer than this.
_PATIENCE = 2.0


class Lines:
    """Messages out of a stream of bytes."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[Message]:
        """The messages that are complete with `data`.

        Raises:
            ProtocolError: the other side is not ours.
        """
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [decode(line) for line in lines]


class Channel:
    """Says messages; says nothing when the application is gone, in a fork, or when the script took the descriptor."""

    def __init__(self, port: int, token: str, role: str = "worker") -> None:
        self._process = os.getpid()
        self._socket: socket.socket | None = None
        self._last_id = 0
        self._lines = Lines()
        try:
            self._socket = _connect(port)
        except OSError:  # the application is gone: the script goes on, and so does its recording
            return
        self._identity = guard.identity_of(self._socket.fileno())
        self.say(Hello(token=token, role=role, pid=os.getpid()))

    def say(self, message: Message) -> None:
        """Send a message; its id is set here."""
        if self._socket is None or os.getpid() != self._process:
            return
        if guard.identity_of(self._socket.fileno()) != self._identity:
            self._socket.detach()  # the number belongs to a file of the script's now: never close it
            self._socket = None
            return
        self._last_id += 1
        try:
            self._socket.sendall(encode(replace(message, id=self._last_id)))
        except OSError:
            self.close()

    def fileno(self) -> int:
        """The descriptor to wait on, -1 when the application is gone."""
        return -1 if self._socket is None else self._socket.fileno()

    def receive(self) -> list[Message] | None:
        """Wait for what the application says; None when it has hung up.

        Raises:
            ProtocolError: the other side is not ours.
        """
        if self._socket is None or guard.identity_of(self._socket.fileno()) != self._identity:
            return None
        self._socket.settimeout(None)
        try:
            data = self._socket.recv(1 << 16)
        except OSError:
            return None
        finally:
            self._socket.settimeout(_PATIENCE)
        return self._lines.feed(data) if data else None

    def close(self) -> None:
        """Hang up."""
        if self._socket is not None and os.getpid() == self._process:
            if guard.identity_of(self._socket.fileno()) == self._identity:
                self._socket.close()
            else:
                self._socket.detach()
        self._socket = None


def _connect(port: int) -> socket.socket:
    # Not `create_connection`: resolving even "127.0.0.1" loads the codec for international host names.
    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    connection.settimeout(_PATIENCE)
    try:
        connection.connect(("127.0.0.1", port))
    except OSError:
        connection.close()
        raise
    return connection
