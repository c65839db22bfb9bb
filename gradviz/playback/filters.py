"""Views of one graph: what leads to a node, what it reaches, what lies between, what has no gradient.

A filter is a word of `ViewState.filters`, nodes are named by key:

- `call-only`: only the nodes of the view's call (of the last one, when the view names none);
- `upstream:KEY`: the node and all through which gradient comes to it from the roots;
- `downstream:KEY`: the node and all that its gradient reaches;
- `between:KEY|KEY`: all on a way from the first to the second;
- `no-grad`: what got no gradient in any call (undefined, pruned, or nothing flowed there);
- `no-leaves`: without leaves;
- `fold-leaves`: leaves that one operation alone uses are lines in its box (nothing is taken away here);
- `no-constants`: without the inputs that need no gradient (they are no nodes of the graph, so nothing is taken away
  here).

Several filters are applied together: what is left fulfils all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gradviz.errors import UsageError
from gradviz.model import Graph
from gradviz.model.suggestions import suggested
from gradviz.playback.timeline import Timeline
from gradviz.texts import tr

NO_CONSTANTS, FOLD_LEAVES = "no-constants", "fold-leaves"
_PLAIN = ("call-only", "no-grad", "no-leaves", FOLD_LEAVES, NO_CONSTANTS)
_KEYED = ("upstream", "downstream", "between")


def filtered(timeline: Timeline, filters: Iterable[str], call: str | None = None) -> Graph:
    """The part of the stage's graph that is left by the filters; the graph itself when there are none.

    Raises:
        UsageError: there is no such filter, or no node with that key.
    """
    graph = timeline.stage.graph
    kept: set[int] | None = None
    for word in filters:
        if word in (NO_CONSTANTS, FOLD_LEAVES):
            continue  # these are about boxes, not about nodes
        mine = _kept(timeline, word, call)
        kept = mine if kept is None else kept & mine
    if kept is None:
        return graph
    nodes = tuple(node for node in graph.nodes if node.id in kept)
    return Graph(nodes, tuple(e for e in graph.edges if e.source in kept and e.target in kept))


def _kept(timeline: Timeline, word: str, call: str | None) -> set[int]:
    graph = timeline.stage.graph
    name, found, key = word.partition(":")
    if found and name in _KEYED:
        if name == "upstream":
            return _upstream(graph, _node(graph, key))
        if name == "downstream":
            return _downstream(graph, _node(graph, key))
        first, _, second = key.partition("|")
        return _downstream(graph, _node(graph, first)) & _upstream(graph, _node(graph, second))
    if word == "no-leaves":
        return {node.id for node in graph.nodes if node.kind != "leaf"}
    if word == "no-grad":
        return {node.id for node in graph.nodes if not _has_gradient(timeline, node.id)}
    if word == "call-only":
        acts = [act for act in timeline.acts if act.call.label == call] or list(timeline.acts[-1:])
        return set().union(*(act.recorded for act in acts))
    known = ", ".join((*_PLAIN, *(f"{keyed}:KEY" for keyed in _KEYED)))
    raise UsageError(tr("There is no filter {word!r}: use {known}.", word=word, known=known))


def _node(graph: Graph, key: str) -> int:
    """The node with this key, or with this name."""
    for node in graph.nodes:
        if node.key == key:
            return node.id
    named = [node.id for node in graph.nodes if node.name == key]
    if not named:
        names = [node.name for node in graph.nodes if node.name]
        known = suggested(key, (*names, *[node.key for node in graph.nodes]))
        raise UsageError(tr("There is no node {key!r} in this picture. It has: {known}", key=key, known=known))
    return named[0]


def _has_gradient(timeline: Timeline, node: int) -> bool:
    for act in timeline.acts:
        execution = act.execution(node)
        if execution is not None and any(value is not None for value in execution.grad_outputs):
            return True
        if any(owner == node and value is not None for (owner, _), value in act.captured.items()):
            return True
    return False


def _upstream(graph: Graph, start: int) -> set[int]:
    return _reached(start, lambda node: (edge.source for edge in graph.incoming.get(node, ())))


def _downstream(graph: Graph, start: int) -> set[int]:
    return _reached(start, lambda node: (edge.target for edge in graph.outgoing.get(node, ())))


def _reached(start: int, following: Callable[[int], Iterable[int]]) -> set[int]:
    """All nodes that can be reached; iterative, chains can be long."""
    found, waiting = {start}, [start]
    while waiting:
        for node in following(waiting.pop()):
            if node not in found:
                found.add(node)
                waiting.append(node)
    return found
