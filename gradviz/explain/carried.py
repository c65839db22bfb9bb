"""What is carried from one step of a loop to the next: its names, and the line that cuts it."""

from __future__ import annotations

from collections.abc import Iterable

from gradviz.explain.facts import Facts
from gradviz.explain.source import names_in, prefixes, targets
from gradviz.model import Node


def carried_names(facts: Facts, nodes: Iterable[Node]) -> list[str]:
    """The names that the nodes' lines both read and bind: `hidden` of `hidden = cell(x, hidden)`."""
    found: list[str] = []
    for node in nodes:
        statement = facts.statement(node.place)
        for name, value in [] if statement is None else targets(statement):
            read = {part for used in names_in(value) for part in prefixes(used)}
            if name in read and name not in found:
                found.append(name)
    return found


def detaching(facts: Facts, name: str) -> str:
    """The line that detaches a state: of a tensor, or of a tuple of tensors (what no binding tells of)."""
    if facts.history.all and not facts.history.named(name):
        return f"{name} = tuple(part.detach() for part in {name})"
    return f"{name} = {name}.detach()"
