"""A graph whose nodes were not asked for their outputs, since it looks like one met before (see `template.py`)."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from gradviz.store.writer import CallStart, Writer
from gradviz.worker.facts import Facts
from gradviz.worker.gathered import Gathered
from gradviz.worker.intake import Intake
from gradviz.worker.template import Templates
from gradviz.worker.walk import Walk


class Expected(NamedTuple):
    """What was written when the call began, with the graph that was expected."""

    start: CallStart
    facts: Facts

    def confirm(
        self, walk: Walk, intake: Intake, gathered: Gathered, failed: bool, templates: Templates, writer: Writer
    ) -> None:
        """The call has ended: where not all was seen to be as expected the nodes are asked after all."""
        if not failed and _was_seen(walk, intake, gathered):
            return
        graph = templates.confirmed(walk, self.facts).graph
        if graph != self.start.graph:
            writer.change_graph(replace(self.start, graph=graph))


def _was_seen(walk: Walk, intake: Intake, gathered: Gathered) -> bool:
    """Whether each output of each node got a gradient of the type and shape that was expected of it."""
    everyone_ran = len(gathered.ran) >= len(walk.nodes) + len(walk.twins)
    return everyone_ran and not intake.surprised and not gathered.unseen and gathered.trouble is None
