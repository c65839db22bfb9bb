"""The application's end of the connection to a worker: a loopback socket that only a process with the token may use."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from dataclasses import replace

from gradviz.errors import ProtocolError
from gradviz.protocol import Hello, Message, decode, encode

_LONGEST_LINE = 1 << 24


class Connection:
    """One process that has connected; it is heard only after it has said the token."""

    def __init__(self, sock: socket.socket, token: str) -> None:
        self.socket = sock
        self.hello: Hello | None = None
        self._token = token
        self._buffer = b""
        self._last_id = 0
        sock.setblocking(False)

    def receive(self) -> list[Message] | None:
        """The messages that have arrived, None when the other side has hung up or is not one of ours."""
        try:
            data = self.socket.recv(1 << 16)
        except BlockingIOError:
            return []
        except OSError:
            return None
        if not data or len(self._buffer) > _LONGEST_LINE:
            return None
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        try:
            return self._accepted([decode(line) for line in lines])
        except ProtocolError:
            return None

    def _accepted(self, messages: list[Message]) -> list[Message] | None:
        if self.hello is None and messages:
            first = messages[0]
            if not (isinstance(first, Hello) and secrets.compare_digest(first.token, self._token)):
                return None
            self.hello = first
        return messages

    def send(self, message: Message) -> int:
        """Send a message and return its id."""
        self._last_id += 1
        self.socket.setblocking(True)
        try:
            self.socket.sendall(encode(replace(message, id=self._last_id)))
        finally:
            self.socket.setblocking(False)
        return self._last_id


class Listener:
    """Listens on a free port of the loopback interface."""

    def __init__(self) -> None:
        self.token = secrets.token_hex(16)
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.port: int = self.socket.getsockname()[1]
        self.connections: list[Connection] = []

    def accept(self) -> Connection | None:
        """The process that has just connected."""
        try:
            sock, _ = self.socket.accept()
        except OSError:
            return None
        connection = Connection(sock, self.token)
        self.connections.append(connection)
        return connection

    def drop(self, connection: Connection) -> None:
        """Hang up on one process."""
        connection.socket.close()
        if connection in self.connections:
            self.connections.remove(connection)

    def hand_over(self, connection: Connection) -> None:
        """Forget a process that somebody else talks to from now on; the connection stays open."""
        if connection in self.connections:
            self.connections.remove(connection)

    def close(self) -> None:
        """Hang up on all."""
        for connection in tuple(self.connections):
            self.drop(connection)
        self.socket.close()


Hear = Callable[[Connection, Message], None]
