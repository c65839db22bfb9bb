"""Where the script reads `.grad`, and which calls had run by then."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gradviz.explain.facts import Facts
from gradviz.explain.scopes import function_at, scope_of_name
from gradviz.explain.source import Source, dotted, is_constant
from gradviz.model import Call, Place


@dataclass(frozen=True)
class Read:
    """`name.grad` read at a line. `died` tells that the script ended there because it was None.

    `scope` is where the name is looked up: `place` in the function that reads, or in a comprehension of its line.
    """

    name: str
    place: Place
    source: Source
    node: ast.Attribute
    died: bool = False

    @property
    def scope(self) -> Place:
        """The scope that the name belongs to, as a place."""
        return replace(self.place, function=scope_of_name(self.source, self.node, self.name))


def grad_reads(facts: Facts) -> Iterator[Read]:
    """All reads of `.grad` that are not asked about None, those of the line where the script died first."""
    end = death(facts)
    reads = [read for source in facts.sources.values() for read in _of_source(source)]
    reads.sort(key=lambda read: (read.place.file, read.place.line))
    for read in reads:
        if end is not None and (read.place.file, read.place.line) == (end.file, end.line):
            yield Read(read.name, read.place, read.source, read.node, True)
    for read in reads:
        if not _guarded(read) and _was_reached(facts, read):
            yield read


def _of_source(source: Source) -> Iterator[Read]:
    for node in source.walk(ast.Attribute):
        if isinstance(node, ast.Attribute) and node.attr == "grad" and isinstance(node.ctx, ast.Load):
            name = dotted(node.value)
            if name is not None and name not in ("torch.autograd", "autograd", "torch"):
                yield Read(name, Place(source.file, node.lineno, function_at(source, node)), source, node)


def death(facts: Facts) -> Place | None:
    """The line where the script died of a None."""
    outcome = facts.recording.outcome
    return facts.end_place if "NoneType" in (outcome.message or "") else None


def _guarded(read: Read) -> bool:
    """Tell whether the read is `x.grad is None`, or stands in a branch that such a question guards."""
    for ancestor in read.source.ancestors(read.node):
        if isinstance(ancestor, ast.Compare) and any(is_constant(c, None) for c in ancestor.comparators):
            return True
        if isinstance(ancestor, ast.If | ast.IfExp | ast.While) and ".grad" in ast.unparse(ancestor.test):
            return True
        if isinstance(ancestor, ast.Try):
            return True
        if isinstance(ancestor, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return False
    return False


def _was_reached(facts: Facts, read: Read) -> bool:
    """False only where the script died at an earlier line of the same top-level code."""
    death = facts.end_place
    if death is None or read.place.function != "<module>" or death.file != read.place.file:
        return True
    return read.place.line <= death.line or read.source.loop_of(read.node) is not None


def calls_before(facts: Facts, read: Read) -> list[Call]:
    """The user's calls that had run when the line was reached; all of them where that cannot be told."""
    calls = [call for call in facts.user_calls if call.error is None]
    loop = read.source.loop_of(read.node)
    if read.place.function != "<module>" or loop is not None:
        return calls
    return [call for call in calls if (line := top_line(call, read.place.file)) is None or line < read.place.line]


def top_line(call: Call, file: str) -> int | None:
    """The line of the file's own code, outside all functions, from which a call came."""
    places = [place for place in (*call.stack, call.place) if place is not None]
    return next((p.line for p in reversed(places) if p.file == file and p.function == "<module>"), None)
