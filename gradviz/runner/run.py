"""Runs a script under the recorder, from start to a finished recording: blocking, with callbacks, without Qt."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradviz.model import Outcome
from gradviz.protocol import Finished, Message, SnapshotReady, Started
from gradviz.runner import outcome as outcomes
from gradviz.runner.closing import finish_recording
from gradviz.runner.experiments import Held
from gradviz.runner.launch import Launched, launch
from gradviz.runner.listener import Connection, Listener
from gradviz.runner.output import Kept, merged
from gradviz.runner.streams import Stream, open_streams
from gradviz.runner.target import Target
from gradviz.runner.wires import QueueWire, SocketWire

STOP_PATIENCE = 2.0  # seconds between SIGTERM and SIGKILL
# A grandchild may hold the streams open for ever, or print for ever; what the script itself printed has arrived.
_QUIET = 0.2
_LONGEST_REST = 5.0


def _ignore(*_: Any) -> None:
    return


@dataclass(frozen=True)
class Callbacks:
    """Called in the thread that runs `Run.run`. `output` gets stream, seconds since the start and bytes.

    `held` gets a call at which other seeds can be tried; it must not block on it (see `experiments`).
    `ending` is called when the process has ended and before the recording is finished: whoever reads the file must
    let it go there, since leaving WAL mode wants it alone.
    """

    started: Callable[[int], None] = _ignore
    output: Callable[[str, float, bytes], None] = _ignore
    message: Callable[[Connection, Message], None] = _ignore
    ending: Callable[[], None] = _ignore
    held: Callable[[Held], None] = _ignore


@dataclass(frozen=True, slots=True)
class Ended:
    """What `Run.run` returns. `exit_code` is what a shell would report: 128 + n for signal n.

    `seen_torch` is False when the script never imported torch; `problems` are sentences about what is missing from
    the recording.
    """

    outcome: Outcome
    recording: str
    exit_code: int
    seconds: float
    seen_torch: bool
    problems: tuple[str, ...] = ()


@dataclass
class Run:
    """One run of a target. `run` may be called once; `stop` from any thread.

    `sinks` are descriptors that stdout and stderr are copied to (the command line), None keeps them here (the window).
    `own_group` puts the script into a session of its own, so that stopping reaches its children; the command line
    leaves it in the terminal's foreground group, where Ctrl-C and reading from the keyboard belong.
    """

    target: Target
    recording: str
    callbacks: Callbacks = field(default_factory=Callbacks)
    sinks: tuple[int | None, int | None] = (None, None)
    own_group: bool = True
    terminal: bool = False
    stdin: int | None = subprocess.DEVNULL

    def __post_init__(self) -> None:
        self.recording = os.path.abspath(self.recording)
        self._launched: Launched | None = None
        self._stopped_at: float | None = None
        self._killed = False
        self._last_words: dict[str, Any] | None = None
        self._seen_torch = False
        self._waker: tuple[socket.socket, socket.socket] | None = None
        self._selector = selectors.DefaultSelector()
        self._in_place: dict[Connection, QueueWire] = {}
        self._kept = {name: Kept(name) for name in ("stdout", "stderr")}

    def run(self) -> Ended:
        """Run to the end and finish the recording.

        Raises:
            ScriptError: there is nothing to run.
            InterpreterError: the interpreter cannot be started.
        """
        self.target.check()
        listener = Listener()
        self._waker = socket.socketpair()
        streams = open_streams(self.sinks, self.terminal)
        try:
            self._start(listener, streams)
            status = self._pump(listener, streams)
        finally:
            self._end(listener, streams)
        return self._finish(status)

    def stop(self) -> None:
        """Ask the script to end (SIGTERM); after two seconds it is killed with all its children."""
        if self._stopped_at is None:
            self._stopped_at = time.monotonic()
            self.send_signal(signal.SIGTERM)
            self._wake()

    def send_signal(self, number: int) -> None:
        """Pass a signal on to the script."""
        if self._launched is not None:
            self._launched.send_signal(number)

    def follow_size(self) -> None:
        """The terminal's size has changed."""
        for key in tuple(self._selector.get_map().values()) if self._selector.get_map() else ():
            if isinstance(key.data, Stream):
                key.data.follow_size()

    # -- inside --------------------------------------------------------------------------------------------------

    def _start(self, listener: Listener, streams: Sequence[Stream]) -> None:
        self._began = time.monotonic()
        role = "window" if self.own_group else "record"
        outputs = (streams[0].child, streams[-1].child)
        try:
            self._launched = launch(self.target, self.recording, listener, role, self.stdin, outputs, self.own_group)
        finally:
            for stream in streams:
                stream.close_child()
        self._selector.register(listener.socket, selectors.EVENT_READ, listener)
        assert self._waker is not None
        self._selector.register(self._waker[0], selectors.EVENT_READ, None)
        for stream in streams:
            self._selector.register(stream.parent, selectors.EVENT_READ, stream)
        threading.Thread(target=self._wait, name="gradviz-wait", daemon=True).start()
        self.callbacks.started(self._launched.process.pid)
        if self._stopped_at is not None:  # asked to stop before there was anything to stop
            self.send_signal(signal.SIGTERM)

    def _wait(self) -> None:
        assert self._launched is not None
        self._launched.process.wait()
        self._wake()

    def _wake(self) -> None:
        # Sockets and no pipe: one that is closed knows it, while the number of a pipe may mean another file by then.
        if self._waker is not None:
            with contextlib.suppress(OSError):  # the run is over
                self._waker[1].send(b"!")

    def _pump(self, listener: Listener, streams: Sequence[Stream]) -> int:
        """Copy, keep and listen until the script has ended and its streams are empty or quiet."""
        assert self._launched is not None
        process = self._launched.process
        ended_at = None
        while True:
            ended = process.poll() is not None
            if ended and ended_at is None:
                ended_at = time.monotonic()
            ready = self._selector.select(_QUIET if ended else self._patience())
            for key, _ in ready:
                self._serve(key, listener)
            self._escalate()
            if ended_at is not None and (not ready or time.monotonic() > ended_at + _LONGEST_REST):
                break
        assert process.returncode is not None
        return process.returncode

    def _patience(self) -> float | None:
        if self._stopped_at is None or self._killed:
            return None
        return max(0.0, self._stopped_at + STOP_PATIENCE - time.monotonic())

    def _escalate(self) -> None:
        late = self._stopped_at is not None and time.monotonic() >= self._stopped_at + STOP_PATIENCE
        if late and not self._killed and self._launched is not None:
            self._killed = True
            self._launched.kill()

    def _serve(self, key: selectors.SelectorKey, listener: Listener) -> None:
        if isinstance(key.data, Stream):
            self._read_stream(key.data)
        elif isinstance(key.data, Listener):
            if (connection := listener.accept()) is not None:
                self._selector.register(connection.socket, selectors.EVENT_READ, connection)
        elif isinstance(key.data, Connection):
            self._hear(key.data, listener)
        elif self._waker is not None:
            self._waker[0].recv(4096)

    def _read_stream(self, stream: Stream) -> None:
        data = stream.read()
        if not data:
            self._selector.unregister(stream.parent)
            return
        seconds = time.monotonic() - self._began
        self._kept[stream.name].add(seconds, data)
        self.callbacks.output(stream.name, seconds, data)
        if not stream.copy(data):
            # Nobody reads our output any more (`| head`). The script is to learn of it as it would without us.
            self._selector.unregister(stream.parent)
            stream.close()

    def _hear(self, connection: Connection, listener: Listener) -> None:
        messages = connection.receive()
        if messages is None:
            self._selector.unregister(connection.socket)
            listener.drop(connection)
            if connection in self._in_place:
                self._in_place.pop(connection).feed(None)
            return
        for message in messages:
            if isinstance(message, SnapshotReady):
                self._hold(connection, message, listener)
                continue
            if message.re is not None and connection in self._in_place:
                self._in_place[connection].feed(message)
                continue
            if isinstance(message, Finished):
                self._last_words = message.result
            self._seen_torch = self._seen_torch or isinstance(message, Started)
            self.callbacks.message(connection, message)

    def _hold(self, connection: Connection, ready: SnapshotReady, listener: Listener) -> None:
        """A call is held: a snapshot has a life of its own from here on, a held script is heard by us."""
        process = None if connection.hello is None else connection.hello.pid
        if ready.in_place:
            wire = self._in_place[connection] = QueueWire(connection)
            self.callbacks.held(Held(wire, ready, process))
            return
        self._selector.unregister(connection.socket)
        listener.hand_over(connection)
        self.callbacks.held(Held(SocketWire(connection), ready, process))

    def _end(self, listener: Listener, streams: Sequence[Stream]) -> None:
        if self._launched is not None and self._launched.process.poll() is None:
            self._launched.kill()
            self._launched.process.wait()
        for wire in self._in_place.values():
            wire.feed(None)
        listener.close()
        self._selector.close()
        for stream in streams:
            stream.close()
        for end in self._waker or ():
            end.close()

    def _finish(self, status: int) -> Ended:
        assert self._launched is not None
        found = outcomes.decide(status, self._last_words, self._stopped_at is not None)
        self.callbacks.ending()
        problems = finish_recording(
            self.recording, self._launched.header, found, merged(*self._kept.values()), self._last_words
        )
        code = found.exit_code if found.exit_code is not None else 1
        seconds = time.monotonic() - self._began
        return Ended(found, self.recording, code, seconds, self._seen_torch, tuple(problems))


def own_descriptors() -> tuple[int | None, int | None]:
    """The descriptors of our own stdout and stderr, None for one that is closed."""
    return _descriptor(sys.__stdout__, 1), _descriptor(sys.__stderr__, 2)


def _descriptor(stream: Any, number: int) -> int | None:
    try:
        return number if stream is None else int(stream.fileno())
    except (OSError, ValueError):
        return None
