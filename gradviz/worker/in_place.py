"""Holds the script itself at a call, where it cannot be copied; tries seeds and puts back what they change."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gradviz.errors import ProtocolError, SeedError
from gradviz.protocol import Cancel, Continue, End, Message, Progress, SnapshotReady
from gradviz.texts import tr
from gradviz.worker import putback
from gradviz.worker.channel import Channel
from gradviz.worker.experiments import Experiments
from gradviz.worker.held import HeldCall
from gradviz.worker.snapshot import SEED_SECONDS, bounded_memory
from gradviz.worker.walk import node_of, walk
from gradviz.worker.what_if import user_hooks


def hold(call: HeldCall, channel: Channel, suspended: Callable[[], contextlib.AbstractContextManager[None]]) -> None:
    """Stop here and answer until the application lets the script go on, or hangs up.

    `suspended` keeps the recorder from taking our runs of the engine for the script's.
    """
    with suspended():
        hooks = user_hooks(call, call.entry.outputs)
        channel.say(SnapshotReady(call=call.number, label=call.label, in_place=True, hooks=hooks))

        def say(message: Message) -> None:
            if not isinstance(message, Progress) or message.total:
                channel.say(message)

        experiments = Experiments(call, Original(call), say)
        with contextlib.suppress(ProtocolError):
            _serve(channel, experiments)


def _serve(channel: Channel, experiments: Experiments) -> None:
    while (messages := channel.receive()) is not None:
        for message in messages:
            if isinstance(message, (Continue, End)):
                return
            # One thread only: a Cancel is read when there is nothing left to cancel.
            if not isinstance(message, Cancel):
                experiments.answer(message)


class Original:
    """`experiments.Ground` of a script that is held in place."""

    in_place = True

    def __init__(self, call: HeldCall) -> None:
        self._call = call

    @contextlib.contextmanager
    def evaluating(self) -> Iterator[None]:
        """Bound time and memory; nothing is printed."""
        with putback.everything(()), bounded_memory(), bounded_time(SEED_SECONDS):
            yield

    @contextlib.contextmanager
    def running(self, roots: Sequence[Any], consent: bool) -> Iterator[None]:
        """Put back `.grad` of all leaves and retained tensors that the roots reach, random states, warnings.

        Raises:
            SeedError: hooks of the user's would run in the script itself, and `consent` is not given.
        """
        hooks = user_hooks(self._call, roots)
        if hooks and not consent:
            listed = ", ".join(hooks)
            raise SeedError(
                tr("This would run hooks of yours in the script itself: {hooks}. Agree to it, or try a snapshot.",
                   hooks=listed)
            )  # fmt: skip
        with putback.everything(self._touched(roots)):
            yield

    def _touched(self, roots: Sequence[Any]) -> list[Any]:
        found = walk([node_of(root)[0] for root in roots], None, 1 << 22)
        touched = {id(leaf): leaf for leaf in found.leaves.values()}
        candidates = (*self._call.tensors.values(), *self._call.retained(), *(self._call.entry.inputs or ()))
        for tensor in candidates:
            if hasattr(tensor, "retains_grad") and tensor.retains_grad:
                touched[id(tensor)] = tensor
        return list(touched.values())


class _TimeoutError(BaseException):
    """Not an Exception: the seed's own `except Exception` must not catch it."""


@contextlib.contextmanager
def bounded_time(seconds: float) -> Iterator[None]:
    """End what runs too long, where a timer of the system can be used without taking the script's own.

    Raises:
        SeedError: it took longer.
    """
    alarm = getattr(signal, "SIGALRM", None)
    is_free = (
        alarm is not None
        and threading.current_thread() is threading.main_thread()
        and signal.getitimer(signal.ITIMER_REAL)[0] == 0
    )
    if not is_free or alarm is None:
        yield
        return

    def late(*_: object) -> None:
        raise _TimeoutError

    before = signal.signal(alarm, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except _TimeoutError as error:
        why = tr("The seed took more than {n} seconds to evaluate, and was stopped.", n=seconds)
        raise SeedError(why) from error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(alarm, before)
