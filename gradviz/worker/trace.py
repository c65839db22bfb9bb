"""Where a node was made: line, stack, iteration, variable name and module of each autograd node.

Used by the recorder like this:

    tracer = Tracer(UserFiles(folder_of_the_script))
    tracer.attach()
    ...                         # the script runs; a call of the user's into the engine starts:
    tracer.settle(number)       # once, before the graph is walked; `number` is the call's
    tracer.site(node._sequence_nr())
    tracer.drain_bindings(resolve)
    ...
    tracer.detach()             # leaves nothing behind
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gradviz.model import Binding, Place
from gradviz.worker.bindings import Resolve
from gradviz.worker.intervals import UNSEEN, Intervals, Located
from gradviz.worker.monitor import MonitoringWatch, can_monitor
from gradviz.worker.threads import SettraceWatch, Tables, ThreadLines, Watch
from gradviz.worker.userfiles import UserFiles
from gradviz.worker.writes import Writes


@dataclass(frozen=True, slots=True)
class Site:
    """Where a node was made. `stack` holds the user's frames, innermost first, `place` among them as the first.

    `iteration` counts from 1 how often this part of the line had run. `name` is the variable that was bound to the
    node's tensor. `module` is the path of the innermost `torch.nn.Module` that was running, from the outermost one.
    """

    place: Place
    stack: tuple[Place, ...]
    iteration: int | None = None
    name: str | None = None
    module: str | None = None
    module_class: str | None = None


class Tracer:
    """Watches the lines of the user's files. One for a process; no lock, no thread of its own."""

    def __init__(self, files: UserFiles) -> None:
        self._files = files
        self._tables = tables = Tables()
        self._sites, self._serials, self._log = tables.sites, tables.serials, tables.log
        self._threads: dict[int, ThreadLines] = {}
        self._watch: Watch | None = None

    def attach(self) -> None:
        """Start watching: the calling thread with all its running frames, and threads that start from now on."""
        kind = MonitoringWatch if can_monitor() else SettraceWatch
        self._watch = kind(self._files, self._tables, self._threads)

    def detach(self) -> None:
        """Stop watching; what was seen can still be asked."""
        if self._watch is not None:
            self._watch.stop()
            self._watch = None

    def settle(self, before_call: int | None = None) -> None:
        """Attribute the nodes made so far by the line that runs now. Called when call `before_call` starts."""
        lines = self._threads.get(threading.get_ident())
        if lines is not None:
            lines.settle()
        self._log.settle(before_call)

    def is_alone(self) -> bool:
        """Whether one thread has made all nodes that there are: sequence numbers count per thread."""
        return len(self._threads) <= 1 and len(sys._current_frames()) == 1

    def site(self, sequence: int) -> Site | None:
        """The site of the node with this autograd sequence number, None when no line is known to have made it.

        Sequence numbers count per thread: the calling thread's own nodes win, and where several other threads made
        a node with this number no line is better than a wrong one.
        """
        own = self._threads.get(threading.get_ident())
        found = (own.intervals.find(sequence) if own is not None else None) or self._elsewhere(sequence)
        return None if found is None or found[0] == UNSEEN else self.spell(*found)

    def locate(self, sequences: Sequence[int]) -> Located:
        """As `site` for many nodes at once, in numbers that `spell` spells out: equal numbers are equal sites."""
        own = self._threads.get(threading.get_ident())
        found = (Intervals() if own is None else own.intervals).find_all(sequences)
        if len(self._threads) > (own is not None):
            for at, site in enumerate(found.sites):
                hit = None if site else self._elsewhere(sequences[at])
                if hit is not None:
                    found.sites[at], found.iterations[at], found.names[at] = hit
        if UNSEEN in found.sites:
            for at, site in enumerate(found.sites):
                if site == UNSEEN:
                    found.sites[at] = found.iterations[at] = found.names[at] = 0
        return found

    def _elsewhere(self, sequence: int) -> tuple[int, int, int] | None:
        own = self._threads.get(threading.get_ident())
        others = [lines.intervals.find(sequence) for lines in tuple(self._threads.values()) if lines is not own]
        hits = [hit for hit in others if hit is not None and hit[0] != UNSEEN]
        return hits[0] if len(hits) == 1 else None

    def spell(self, row: int, iteration: int, name: int) -> Site:
        """The site behind the numbers of `locate`."""
        places = self._sites.places(row)
        module, kind = self._sites.module_of(row)
        return Site(places[0], places, iteration or None, self._sites.text(name), module, kind)

    def drain_bindings(self, resolve: Resolve, final: bool = False) -> list[Binding]:
        """The bindings that are new since the last time; with `final` also the latest state of lines that ran often."""
        found = self._log.drain(resolve, final)
        if final:  # no weak reference to a tensor of the script's stays behind
            self._tables.forget()
        return found

    def holds(self, name: str, tensor: Any, place: Place, call: int) -> None:
        """Note that at a call a module holds the parameter `name`, which the call's graph does not contain."""
        entry = self._log.add((0, 0, name, "parameter"), lambda: place, tensor)
        if entry is not None:
            entry.before_call = call

    def wrote(self, tensor: Any, gradient: bool) -> Place | None:
        """The line that last wrote into a tensor's value (or its `.grad`) by hand, once; None where none is known."""
        line = self._tables.writes.line(tensor, gradient)
        return None if line is None else self._sites.place(line.code, line.number)

    @property
    def writes(self) -> Writes:
        """What is known of writes by hand."""
        return self._tables.writes

    def memory(self, tensor: Any) -> int | None:
        """The serial number of a tensor's memory, as in `Binding.storage`."""
        return self._serials.memory(tensor)

    def swapping(self, *tensors: Any) -> Callable[[], None]:
        """Let go of tensors that `torch.utils.swap_tensors` is about to swap; what is returned takes them up again."""
        self._log.let_go(*tensors)
        return self._serials.let_go(*tensors)
