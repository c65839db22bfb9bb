"""The recorder: attached to torch, it writes every call into the engine to a recording.

It assumes nothing about the process (`gradviz.record` works in a notebook), and `detach` leaves nothing behind.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from gradviz.model import Header, Outcome
from gradviz.protocol import CallCommitted, CallStarted, Message
from gradviz.store.writer import Writer
from gradviz.worker.between import Between
from gradviz.worker.budget import Budget, Options
from gradviz.worker.calls import Active, Scribe
from gradviz.worker.care import Care
from gradviz.worker.engine import Installed, install
from gradviz.worker.entry import Entry, Public, engine_entry, locate
from gradviz.worker.frames import hidden
from gradviz.worker.held import Knowledge
from gradviz.worker.names import names_at
from gradviz.worker.pause import Pause
from gradviz.worker.quiet import quiet
from gradviz.worker.ranks import Group, Rank, Ranks, current_node
from gradviz.worker.sweep import sweep
from gradviz.worker.tasks import Tasks
from gradviz.worker.trace import Tracer
from gradviz.worker.userfiles import UserFiles
from gradviz.worker.warned import Warned

if TYPE_CHECKING:
    from gradviz.worker.hold import Holder

ENDED = Outcome("finished")


class Recorder:
    """Records one process from `attach` to `detach`."""

    def __init__(
        self,
        path: str,
        header: Header,
        options: Options,
        roots: Sequence[str] = (),
        trace: bool = True,
        say: Callable[[Message], None] | None = None,
    ) -> None:
        """Create the recording at `path`; nothing is recorded before `attach`.

        `roots` are folders whose files are the user's. `say` is told when a call has started and when it is
        committed, outside any lock.

        Raises:
            RecordingError: the file cannot be created.
        """
        self.writer = self._writer = writer = Writer(path, header)
        self._header = header
        self._options = options
        self._files = UserFiles(*roots)
        self._tracer = tracer = Tracer(self._files) if trace else None
        self._say = say
        self._pid = os.getpid()
        self._care = Care(writer)
        self._tasks = Tasks()
        self._budget = Budget(options, writer.size)
        self._ranks = Ranks(self._budget)
        self._scribe = Scribe(writer, options.max_values, options.max_nodes, tracer)
        self._changes = self._scribe.changes
        self._patches: Installed | None = None
        self._between = Between(self._changes, self._care, self._listens)
        self._public: dict[int, list[Public]] = {}  # thread -> public functions that it is inside of
        self._warned = Warned()
        self._hooked = self._disturbed = False  # whether the script has ever set a tensor hook, or one in the engine
        self._suspended = False
        self._retired = False  # whether the user's limit is reached
        self.holder: Holder | None = None  # tries other seeds at a call; set by whoever wants that

    # -- life --------------------------------------------------------------------------------------------------------

    def attach(self) -> None:
        """Start recording."""
        self._patches = install(self)
        self._warned.watch(self._patches.lasting)
        self._between.attach()
        if self._tracer is not None:
            self._tracer.attach()

    def detach(self) -> None:
        """Stop recording and leave torch as it was."""
        if self._tracer is not None:
            self._tracer.detach()
        listened = self._listens()
        if (note := self._budget.note()) is not None:
            self._care.note(note)
        self._between.detach()
        for patches in self._patches or ():
            patches.undo()
        self._patches = None
        if listened:
            self._care.aside(self._write_the_rest)
        self._writer.flush()

    def _write_the_rest(self) -> None:
        self._changes.measure(values=True)
        self._changes.write(None)
        self._writer.add_warnings(self._warned.take(None))
        self._scribe.write_bindings(None)

    def close(self, outcome: Outcome | None = ENDED) -> None:
        """Write how it ended, unless somebody else will (None), and what is left; let go of the file."""
        if outcome is not None:
            self._writer.set_outcome(outcome)
        self._writer.close()

    # -- engine.Listener ---------------------------------------------------------------------------------------------

    @hidden
    def public(self, call: Public, function: Callable[[], Any]) -> Any:
        """Run `torch.autograd.backward` or `grad`; a failure before the engine is a call too."""
        waiting = self._public.setdefault(threading.get_ident(), [])
        waiting.append(call)
        try:
            return function()
        except Exception as error:
            if not call.entered and self._listens():
                self._fail_early(call, error)
            raise
        finally:
            waiting.remove(call)
            if not waiting:
                self._public.pop(threading.get_ident(), None)

    @hidden
    def run(self, outputs: Any, arguments: tuple[Any, ...], named: dict[str, Any], engine: Callable[..., Any]) -> Any:
        """Run the engine under observation."""
        waiting = self._public.get(threading.get_ident())
        public = waiting[-1] if waiting and not waiting[-1].entered else None
        if public is not None:
            public.entered = True
        if self._retired and self._tasks.enclosing() is None:
            self._budget.skipped += 1
        pause = Pause()
        begun: list[Active] = []
        try:
            active = self._begin(pause, begun, outputs, arguments, named, public) if self._listens() else None
            if active is None:
                return engine(outputs, *arguments, **named)
            try:
                result = engine(outputs, *arguments, **named)
            except BaseException as error:
                self._finish(active, None, error)
                raise
            self._finish(active, result, None)
            return result
        finally:  # wherever a signal handler of the user's may have raised
            for left in begun:
                self._clean(left)
            pause.release()

    @hidden
    def group(self, api: str, function: Callable[[], Any]) -> Any:
        """Run a function whose engine runs belong together."""
        group = Group(api, sys._getframe(2), self._tasks.enclosing())
        self._ranks.enter(group)
        try:
            return function()
        except BaseException as error:
            group.error = error
            raise
        finally:
            self._ranks.leave(group)
            self._close_group(group)
            group.error = None

    def retaining(self, tensor: Any) -> None:
        """Remember a tensor whose `.grad` is kept."""
        with torch._C.DisableTorchFunction():
            if tensor.grad_fn is not None and self._scribe.identities.retained.find(tensor) is None:
                self._scribe.identities.retained.add(tensor, 0)

    def hooking(self, tensor: Any) -> None:
        """Remember where a tensor hook was set (None: a hook on a node, or on what is saved for backward)."""
        self._disturbed = True
        if tensor is None:
            return
        self._hooked = True
        with torch._C.DisableTorchFunction():
            if tensor.grad_fn is not None:
                self._scribe.identities.mark_hooked(tensor.grad_fn)

    def swapping(self, first: Any, second: Any) -> Callable[[], None]:
        """Let go of two tensors while they are swapped."""
        found = self._scribe.identities.swapping(first, second)
        traced = None if self._tracer is None else self._tracer.swapping(first, second)

        def swapped() -> None:
            self._scribe.identities.swapped(found)
            if traced is not None:
                traced()

        return swapped

    def _retire(self) -> None:
        """The limit is reached: from now on calls are only counted, and the script runs at its own speed."""
        self._retired = True
        self._between.detach()
        if self._patches is not None:
            self._patches.retire()
        if self._tracer is not None:
            self._tracer.detach()
            self._scribe.write_bindings(None)

    def compiles(self) -> None:
        """Take away, for good, what would break graphs of torch.compile."""
        self._disturbed = True  # what is compiled sets hooks that nobody sees
        if self._patches is not None:
            self._patches.until_compiled.undo()

    @hidden
    def changing(self, function: Callable[[], Any], detail: str | None, values: bool) -> Any:
        """Run a function of torch's that changes many tensors: here the line of the user's that calls it is known."""
        if self._tracer is not None and self._tracer.writes.has_gradients():
            self._between.measure(None)  # what the user's own lines have done before
        result = function()
        self._between.measure(sys._getframe(2), detail, values)
        return result

    # -- a call ------------------------------------------------------------------------------------------------------

    def _listens(self) -> bool:
        is_mine = self._patches is not None and os.getpid() == self._pid and not self._suspended and not self._retired
        return is_mine and self._writer.stopped is None

    def _begin(self, pause: Pause, begun: list[Active], *call: Any) -> Active | None:
        self._hold_still(pause)
        active = None
        try:
            with self._care.taken():
                active = self._start(engine_entry(*call), pause, begun)
        finally:
            if active is None:
                for left in begun:  # ours has failed: the engine runs without us
                    self._clean(left)
                pause.release()
        return active

    def _hold_still(self, pause: Pause) -> None:
        # The tracer takes a missing trace function for somebody else's doing: it must close its line before that.
        if self._tracer is not None:
            self._tracer.settle()
        pause.hold()

    def _start(self, entry: Entry, pause: Pause, begun: list[Active]) -> Active | None:
        """Everything before the engine: first transaction, then hooks. The call is added to `begun`."""
        with self._care.lock, quiet():
            active = self._open(entry, engine=True)
        if active is None:
            return None
        begun.append(active)
        active.pause = pause
        self._tell(CallStarted(call=active.rank.number))
        self._hold(active)
        active.task = self._tasks.open(active)
        if active.rank.detail != "none":
            self._hook(active, pause)
        return active

    def _hook(self, active: Active, pause: Pause) -> None:
        with quiet():
            hooks = self._scribe.hooks(active, pause, lambda: self._flush(active), self._disturbed)
            hooks.register()
        if self._hooked or hooks.sees_user_hooks:
            pause.release()

    def _flush(self, active: Active) -> None:
        """A call takes long: write what it has done so far."""
        if self._listens():
            with self._care.alone():
                self._scribe.flush(active)

    def _unhook(self, active: Active) -> None:
        if active.hooks is not None:
            active.hooks.remove()
        if active.task is not None:
            active.task.end()
        active.clean = True

    def _clean(self, active: Active) -> None:
        """Take away the hooks of a call that was broken off before or after the engine ran."""
        if active.clean:
            return
        with quiet():
            self._unhook(active)
            if active.hooks is not None:
                sweep(active.walk, active.hooks)

    def _open(self, entry: Entry, engine: bool) -> Active | None:
        task = self._tasks.enclosing()
        if task is None:
            self._changes.measure()
        rank = self._ranks.next(task, current_node, self._open_group)
        if rank is None:
            if self._budget.ended:
                self._retire()
            return None
        if self._tracer is not None:
            self._tracer.settle(rank.number)
        active = self._scribe.begin(rank, entry, names_at(entry.frame, self._files), engine)
        if task is None:
            self._changes.write(rank.number)
            self._writer.add_warnings(self._warned.take(rank.number))
        return active

    def _open_group(self, group: Group, rank: Rank) -> None:
        self._changes.write(rank.number)
        entry = locate(Entry((), (), None, False, False, None, False, group.api, frame=group.frame))
        entry.api = group.api
        self._scribe.begin_group(rank, entry)

    def _close_group(self, group: Group) -> None:
        if group.family is not None and self._listens():
            with self._care.alone():
                self._scribe.end_group(group.family.rank, group.error)
            self._tell(CallCommitted(call=group.family.rank.number))

    def _finish(self, active: Active, result: Any, error: BaseException | None) -> None:
        """Everything after the engine: hooks away, second transaction."""
        if active.pause is not None:
            active.pause.hold()
        try:
            self._unhook(active)
            with self._care.alone():
                self._scribe.end(active, result, error)
        finally:
            self._clean(active)
            active.forget()  # before the collector runs again: it would look through all of it
            if active.pause is not None:
                active.pause.release()
        self._tell(CallCommitted(call=active.rank.number))

    def _fail_early(self, call: Public, error: BaseException) -> None:
        active = None
        pause = Pause()
        try:
            self._hold_still(pause)
            with self._care.alone():
                active = self._open(call.entry(), engine=False)
                if active is not None:
                    self._scribe.end(active, None, error)
        finally:
            pause.release()
        if active is not None:
            self._tell(CallStarted(call=active.rank.number))
            self._tell(CallCommitted(call=active.rank.number))
            self._hold(active, failed=True)

    def _hold(self, active: Active, failed: bool = False) -> None:
        """Let other seeds be tried here: the graph is whole, none of our hooks is set, and nothing is paused."""
        if self.holder is None:
            return
        try:
            if active.pause is not None:
                active.pause.users_turn()
            with self._care.taken():
                self.holder.meet(active, failed)
        finally:
            if active.pause is not None:
                active.pause.our_turn()

    def knowledge(self) -> Knowledge:
        """What experiments on this recorder's calls need to know."""
        return Knowledge(self._scribe.identities, self._files, self._tracer, self._options.max_nodes)

    def elsewhere(self, path: str) -> tuple[Scribe, Writer]:
        """A scribe that knows all nodes and names that this recorder knows, and writes a what-if to `path`."""
        writer = Writer(path, self._header)
        scribe = Scribe(writer, self._options.max_values, self._options.max_nodes, self._tracer)
        scribe.identities = self._scribe.identities
        return scribe, writer

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Inside it runs of the engine are not the script's: they are not recorded."""
        self._suspended = True
        try:
            yield
        finally:
            self._suspended = False

    def _tell(self, message: Message) -> None:
        if self._say is not None:
            self._say(message)
