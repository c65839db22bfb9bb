"""A snapshot: a copy of the script at one call, where any number of seeds is tried while the script goes on.

The copy itself (the keeper) only waits. Each experiment runs in a further copy of it (a runner) that is made ahead of
time and ends afterwards: so experiments cannot disturb each other, and one that never ends is simply ended.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from gradviz.errors import ProtocolError
from gradviz.protocol import Cancel, Continue, End, Error, Message, Progress, SnapshotReady, encode
from gradviz.texts import tr
from gradviz.worker import fork
from gradviz.worker.channel import Channel, Lines
from gradviz.worker.experiments import Experiments
from gradviz.worker.held import HeldCall
from gradviz.worker.what_if import engine

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

PATIENCE = 2.0  # seconds for the copy to say that it works
SEED_SECONDS = 5.0  # for the evaluation of a seed
_SPARE = 2  # runners that are made ahead: one experiment is often followed by another at once
_MEMORY = 1 << 30  # bytes that the evaluation of a seed may take beyond what is there


def take(call: HeldCall, port: int, token: str, failed: bool = False) -> int | None:
    """Leave a snapshot; returns its process id, None where forking does not work here."""
    if not fork.possible():
        return None

    def run(ready: Callable[[], None]) -> None:
        # Before the script goes on: it may end at once, and the application must have heard of us by then.
        channel = Channel(port, token, role="snapshot")
        channel.say(SnapshotReady(call=call.number, label=call.label, failed=failed))
        ready()
        Keeper(call, channel).serve()

    return fork.double_fork(_try_the_engine, run, PATIENCE)


def _try_the_engine() -> None:
    """A backward of our own: where the engine does not work in a copy, it hangs here and not later."""
    with torch.enable_grad():
        probe = torch.ones(2, requires_grad=True)
        engine(((probe * probe).sum(),), (torch.ones(()),), (), True)


class Keeper:
    """Waits for what the application asks, hands it to a runner, watches the runner."""

    def __init__(self, call: HeldCall, channel: Channel) -> None:
        self._call = call
        self._channel = channel
        self._waiting: list[Message] = []
        self._spare: list[Runner] = []
        self._busy: Runner | None = None

    def serve(self) -> None:
        """Serve until the application says that it is over, or hangs up."""
        with contextlib.suppress(ProtocolError):
            while self._step():
                pass
        for runner in (*self._spare, *((self._busy,) if self._busy is not None else ())):
            runner.end()

    def _step(self) -> bool:
        if self._busy is None:
            if self._waiting:
                self._start(self._waiting.pop(0))
            elif len(self._spare) < _SPARE:
                # Made now, while nobody waits: copying the page tables of a large script takes a while.
                self._spare.append(self._new_runner())
        watched: list[Any] = [self._channel] + ([self._busy] if self._busy is not None else [])
        if self._channel.fileno() < 0:
            return False
        ready = select.select(watched, [], [], self._patience())[0]
        if self._busy is not None and self._busy in ready:
            self._hear(self._busy)
        if self._busy is not None and self._busy.is_late():
            self._give_up(tr("The seed took more than {n} seconds to evaluate, and was stopped.", n=SEED_SECONDS))
        return self._channel not in ready or self._obey()

    def _patience(self) -> float | None:
        if self._busy is not None:
            return self._busy.patience()
        return None if len(self._spare) >= _SPARE else 0.0

    def _obey(self) -> bool:
        messages = self._channel.receive()
        if messages is None:
            return False
        for message in messages:
            if isinstance(message, (End, Continue)):
                return False
            if isinstance(message, Cancel):
                self._cancel(message.re)
            else:
                self._waiting.append(message)
        return True

    def _cancel(self, number: int | None) -> None:
        said = tr("Cancelled.")
        if self._busy is not None and self._busy.message == number:
            self._give_up(said)
        elif any(message.id == number for message in self._waiting):
            self._waiting = [message for message in self._waiting if message.id != number]
            self._channel.say(Error(re=number, message=said))

    def _start(self, message: Message) -> None:
        self._busy = self._spare.pop() if self._spare else self._new_runner()
        self._busy.ask(message)

    def _hear(self, runner: Runner) -> None:
        said = runner.receive()
        if said is None:
            self._give_up(_how_it_ended(runner.end()))
            return
        for message in said:
            # An empty Progress only says that the seed is evaluated: the clock stops.
            if not isinstance(message, Progress) or message.total:
                self._channel.say(message)
            if not isinstance(message, Progress):
                runner.end()
                self._busy = None

    def _give_up(self, why: str) -> None:
        if self._busy is not None:
            self._busy.end()
            self._channel.say(Error(re=self._busy.message, message=why))
            self._busy = None

    def _new_runner(self) -> Runner:
        ours, theirs = socket.socketpair()
        state = fork.random_state()
        number = os.fork()
        if number == 0:
            fork.put_back_random(state)
            _run(self._call, theirs, (ours.fileno(), self._channel.fileno()))
        theirs.close()
        return Runner(number, ours)


class Runner:
    """The keeper's end of one runner."""

    def __init__(self, number: int, sock: socket.socket) -> None:
        self.message: int | None = None
        self._number = number
        self._socket = sock
        self._lines = Lines()
        self._late: float | None = None
        self._ended: int | None = None

    def fileno(self) -> int:
        """The descriptor to wait on."""
        return self._socket.fileno()

    def ask(self, message: Message) -> None:
        """Hand over the one message that this runner answers."""
        self.message = message.id
        self._late = time.monotonic() + SEED_SECONDS
        self._socket.sendall(encode(message))

    def receive(self) -> list[Message] | None:
        """What it says, None when it has died."""
        try:
            data = self._socket.recv(1 << 16)
        except OSError:
            return None
        if not data:
            return None
        self._late = None
        return self._lines.feed(data)

    def patience(self) -> float | None:
        """Seconds until it is late."""
        return None if self._late is None else max(0.0, self._late - time.monotonic())

    def is_late(self) -> bool:
        """Whether its time for evaluating a seed is over."""
        return self._late is not None and time.monotonic() >= self._late

    def end(self) -> int:
        """End it and return its wait status."""
        if self._ended is None:
            self._ended = 0
            with contextlib.suppress(OSError):
                # One that has ended by itself keeps its own status.
                number, status = os.waitpid(self._number, os.WNOHANG)
                if not number:
                    os.kill(self._number, signal.SIGKILL)
                    _, status = os.waitpid(self._number, 0)
                self._ended = status
            self._socket.close()
        return self._ended


def _how_it_ended(status: int) -> str:
    if os.WIFEXITED(status):
        return tr("The experiment ended by itself before it had an answer (exit status {n}).", n=os.WEXITSTATUS(status))
    if os.WTERMSIG(status) != signal.SIGKILL:
        name = signal.Signals(os.WTERMSIG(status)).name
        return tr("The experiment crashed ({signal}). The script and its recording are not touched.", signal=name)
    return tr("The experiment was ended by the system: it took too much memory. The recording is not touched.")


# -- in the runner -----------------------------------------------------------------------------------------------------


def _run(call: HeldCall, sock: socket.socket, close: Sequence[int]) -> None:
    """Answer one message and end; never returns."""
    try:
        for number in close:
            os.close(number)
        _may_die_first()
        lines = Lines()
        asked: list[Message] = []
        while not asked:
            data = sock.recv(1 << 16)
            if not data:
                os._exit(0)
            asked = lines.feed(data)
        output = getattr(asked[0], "output", "")
        for side in ("", "-wal", "-shm", "-journal") if output else ():
            fork.allow_writing(output + side)
        Experiments(call, Copy(), lambda message: sock.sendall(encode(message))).answer(asked[0])
    finally:
        os._exit(0)


def _may_die_first() -> None:
    """When memory runs out the system should end an experiment, not the script. No core file of a crash."""
    if resource is None:
        return
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        fork.allow_writing("/proc/self/oom_score_adj")
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("900")


class Copy:
    """`experiments.Ground` of a runner: nothing has to be put back."""

    in_place = False

    @contextlib.contextmanager
    def evaluating(self) -> Iterator[None]:
        """Bound the memory; the keeper watches the time."""
        with bounded_memory():
            yield

    def running(self, roots: Sequence[Any], consent: bool) -> contextlib.AbstractContextManager[None]:
        """Nothing of the script's can be changed here."""
        return contextlib.nullcontext()


@contextlib.contextmanager
def bounded_memory() -> Iterator[None]:
    """Refuse a seed of 10^9 elements before the machine runs out of memory for it."""
    if sys.platform != "linux" or resource is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm", "rb") as file:
        pages = int(file.read().split()[0])
    wanted = pages * resource.getpagesize() + _MEMORY
    if soft == resource.RLIM_INFINITY or wanted < soft:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
