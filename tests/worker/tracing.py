"""Runs a script's text under the tracer, in this process, and tells what it saw."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from gradviz.model import Binding
from gradviz.worker import trace
from gradviz.worker.monitor import MonitoringWatch, can_monitor
from gradviz.worker.threads import SettraceWatch
from gradviz.worker.trace import Site, Tracer
from gradviz.worker.userfiles import UserFiles

# All ways of watching that this Python has.
WATCHES = [SettraceWatch, *([MonitoringWatch] if can_monitor() else [])]


@dataclass
class Traced:
    """Variables of the script afterwards, the sites of all nodes that it made in the main thread, its bindings."""

    space: dict[str, Any]
    sites: list[Site | None]
    bindings: list[Binding]

    def rows(self) -> list[tuple[int, str, int | None, str | None] | None]:
        """Line, function, iteration and name of each node."""
        return [
            None if site is None else (site.place.line, site.place.function, site.iteration, site.name)
            for site in self.sites
        ]


def traced(text: str, folder: Path, watch: type = WATCHES[-1]) -> Traced:
    """Run `text` as a script of its own."""
    path = folder / "script.py"
    path.write_text(textwrap.dedent(text))
    code = compile(path.read_text(), str(path), "exec", dont_inherit=True)
    space: dict[str, Any] = {"__name__": "__main__"}
    tracer = Tracer(UserFiles(str(folder)))
    chosen = trace.can_monitor
    trace.can_monitor = lambda: watch is not SettraceWatch
    try:
        tracer.attach()
    finally:
        trace.can_monitor = chosen
    first = torch._C._autograd._get_sequence_nr()
    try:
        exec(code, space)
        tracer.settle(1)
    finally:
        tracer.detach()
    last = torch._C._autograd._get_sequence_nr()
    sites = [tracer.site(number) for number in range(first, last)]
    return Traced(space, sites, tracer.drain_bindings(lambda sequence, tensor: sequence, final=True))
