"""The stage: one graph on which several calls are played.

The same autograd node met in two calls is one node already. Calls of a loop make new nodes each time; where such a
call's graph equals an earlier one under the nodes' keys, it is played on the earlier one's nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from gradviz.errors import DamagedRecordingError
from gradviz.model import Call, Edge, Graph, Node, Recording
from gradviz.model.collector import held_collector

SMALL_PICTURE = 60  # so many boxes are read at a glance: calls that only share leaves may stand side by side
MOST_NODES = 60_000  # more are not loaded at once: the calls of a long training loop are told in pieces

Signature = tuple[frozenset[str], frozenset[tuple[str, int, str, int]]]


@dataclass(frozen=True)
class Stage:
    """The graph that `calls` (in the order of playing) share.

    `graph` is the union; `graphs` the recorded graph of each call; `aliases` maps a recorded node id to the node of
    `graph` that stands for it, where the two differ.
    """

    calls: tuple[Call, ...]
    graph: Graph
    graphs: tuple[Graph, ...]
    aliases: Mapping[int, int]

    @staticmethod
    def of(recording: Recording, numbers: Iterable[int]) -> Stage:
        """Read the graphs of the calls `numbers` and join them."""
        calls = tuple(recording.call(number) for number in numbers)
        return Stage.joining(calls, tuple(_named(call, recording.graph(call.number)) for call in calls))

    @staticmethod
    def joining(calls: tuple[Call, ...], graphs: tuple[Graph, ...]) -> Stage:
        """Join graphs that have been read already."""
        aliases = _aliases(graphs)
        return Stage(calls, _union(graphs, aliases), graphs, aliases)

    def stand_in(self, node: int) -> int:
        """The id, in `graph`, of the recorded node `node`."""
        return self.aliases.get(node, node)

    @cached_property
    def edge_index(self) -> dict[tuple[int, int, int, int], int]:
        """(source, slot, target, output_nr) in stage ids -> place in `graph.edges`."""
        return {(e.source, e.slot, e.target, e.output_nr): i for i, e in enumerate(self.graph.edges)}

    def edge_of(self, edge: Edge) -> int:
        """The place in `graph.edges` of an edge of one of the recorded graphs."""
        source, target = self.stand_in(edge.source), self.stand_in(edge.target)
        return self.edge_index[source, edge.slot, target, edge.output_nr]


def story(recording: Recording, label: str | None = None) -> tuple[int, ...]:
    """The numbers of the calls that are best told together with the call `label`.

    Without one it is the last call that has something to show: one of which only a summary was kept has no graph.

    Calls belong together when they share a node, directly or through other calls. When that would be more than a
    small picture they must share an operation (or have equal graphs), and never more than `MOST_NODES` are loaded.
    A call that only groups others (`torch.autograd.functional.jacobian`) is told by those that it started.

    Raises:
        KeyError: there is no such call.
    """
    if not recording.calls:
        return ()
    chosen = _chosen(recording, label)
    numbers = _players(recording, chosen)
    lead = recording.call(numbers[0])
    if chosen.parent is not None or chosen.what_if or len(numbers) > 1:
        return numbers
    candidates = _candidates(recording, lead)
    if len(candidates) == 1:
        return numbers
    with held_collector():
        graphs = {call.number: found for call in candidates if (found := _graph(recording, call)) is not None}
    if lead.number not in graphs:
        return numbers  # whoever reads it is told why it cannot be read
    together = _connected(graphs, lead.number, any_node=True)
    stage = Stage.joining(tuple(map(recording.call, together)), tuple(graphs[n] for n in together))
    if len(stage.graph.nodes) > SMALL_PICTURE:
        together = _connected(graphs, lead.number, any_node=False)
    return together


def readable(recording: Recording, numbers: Iterable[int]) -> tuple[int, ...]:
    """Those of the calls `numbers` that a damaged recording still gives whole."""
    return tuple(number for number in numbers if _is_readable(recording, number))


def _is_readable(recording: Recording, number: int) -> bool:
    try:
        recording.graph(number)
        recording.detail(number)
    except DamagedRecordingError:
        return False
    return True


def _graph(recording: Recording, call: Call) -> Graph | None:
    """The graph of a call, None where it cannot be read."""
    try:
        return recording.graph(call.number)
    except DamagedRecordingError:
        return None


def _named(call: Call, graph: Graph) -> Graph:
    """The graph with nameless nodes called as the call's roots were: `loss` at the call, if not at the operation."""
    names = {root.node: root.name for root in call.roots if root.name and root.output_nr == 0}
    if not any(node.id in names and not node.name for node in graph.nodes):
        return graph
    nodes = (replace(n, name=names[n.id]) if n.id in names and not n.name else n for n in graph.nodes)
    return Graph(tuple(nodes), graph.edges)


def _chosen(recording: Recording, label: str | None) -> Call:
    if label is not None:
        return recording.call_by_label(label)
    calls = recording.top_calls or recording.calls
    return next((call for call in reversed(calls) if call.whole or call.error is not None), calls[-1])


def _players(recording: Recording, call: Call) -> tuple[int, ...]:
    """The call itself, or the engine runs under a call that ran no engine; iterative, nesting can be deep."""
    children: dict[int, list[Call]] = {}
    for other in recording.calls:
        if other.parent is not None:
            children.setdefault(other.parent, []).append(other)
    found, waiting = [], [call]
    while waiting:
        current = waiting.pop()
        if current.engine or current.error is not None or not children.get(current.number):
            found.append(current.number)
        else:
            waiting.extend(reversed(children[current.number]))
    return tuple(found)


def _candidates(recording: Recording, lead: Call) -> list[Call]:
    """Fully recorded calls of the user's around `lead`, nearest first until `MOST_NODES` nodes, in order."""
    calls = [c for c in recording.top_calls if c.number == lead.number or (c.engine and c.detail == "full")]
    calls += [c for c in recording.top_calls if c.error is not None and not c.engine and c.number != lead.number]
    calls.sort(key=lambda call: (abs(call.number - lead.number), call.number))
    taken: list[Call] = []
    nodes = 0
    for call in calls:
        if taken and nodes + call.node_count > MOST_NODES:
            break
        taken.append(call)
        nodes += call.node_count
    if all(call.number != lead.number for call in taken):
        taken.append(lead)
    return sorted(taken, key=lambda call: call.number)


def _connected(graphs: Mapping[int, Graph], lead: int, any_node: bool) -> tuple[int, ...]:
    """The calls that share nodes with `lead`, at any number of removes."""
    marks = {number: _belongings(graph, any_node) for number, graph in graphs.items()}
    found, known = {lead}, set(marks[lead])
    grown = True
    while grown:
        grown = False
        for number, mine in marks.items():
            if number not in found and not known.isdisjoint(mine):
                found.add(number)
                known |= mine
                grown = True
    return tuple(sorted(found))


def _belongings(graph: Graph, any_node: bool) -> set[object]:
    found: set[object] = {node.id for node in graph.nodes if any_node or node.kind != "leaf"}
    if graph.nodes:
        found.add(_signature(graph))
    return found


def _signature(graph: Graph) -> Signature:
    keys = {node.id: node.key for node in graph.nodes}
    edges = frozenset((keys[e.source], e.slot, keys[e.target], e.output_nr) for e in graph.edges)
    return frozenset(keys.values()), edges


def _aliases(graphs: tuple[Graph, ...]) -> dict[int, int]:
    """Node id -> stand-in. Empty when one call would have two nodes on one place."""
    if len(graphs) == 1:
        return {}
    first: dict[Signature, dict[str, int]] = {}
    aliases: dict[int, int] = {}
    for graph in graphs:
        mine = {node.key: node.id for node in graph.nodes}
        if not mine or len(mine) != len(graph.nodes):
            continue
        model = first.setdefault(_signature(graph), mine)
        for key, node in mine.items():
            if model[key] != node:
                aliases[node] = aliases.get(model[key], model[key])
    for graph in graphs:
        places = {aliases.get(node.id, node.id) for node in graph.nodes}
        if len(places) != len(graph.nodes):
            return {}
    return aliases


def _union(graphs: tuple[Graph, ...], aliases: Mapping[int, int]) -> Graph:
    if len(graphs) == 1:
        return graphs[0]
    nodes: dict[int, Node] = {}
    edges: dict[tuple[int, int, int, int], Edge] = {}
    for graph in graphs:
        for node in graph.nodes:
            place = aliases.get(node.id, node.id)
            nodes[place] = _newer(nodes.get(place), node)
        for edge in graph.edges:
            source, target = aliases.get(edge.source, edge.source), aliases.get(edge.target, edge.target)
            key = (source, edge.slot, target, edge.output_nr)
            edges.setdefault(key, edge if edge.source == source and edge.target == target else Edge(*key))
    return Graph(tuple(nodes.values()), tuple(edges.values()))


def _newer(old: Node | None, new: Node) -> Node:
    """The later look at a node, keeping the place of the earlier one and what only that one knew."""
    if old is None:
        return new
    return replace(
        new,
        id=old.id,
        name=new.name or old.name,
        value=new.value or old.value,
        outputs=new.outputs or old.outputs,
        saved=new.saved or old.saved,
    )
