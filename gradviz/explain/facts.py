"""What findings are computed from: the recording, its graphs and its sources, each read once."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TypeVar

from gradviz.errors import RecordingError
from gradviz.explain.history import History, plain
from gradviz.explain.scopes import settled
from gradviz.explain.source import Source, targets
from gradviz.model import Call, CallDetail, Event, Graph, Node, Place, Recording

_KEPT_NODES = 400_000  # graphs and details are kept until they hold so many nodes
_BUDGET_NODES = 150_000  # of all calls so many nodes are looked at: a loop repeats itself
_BUDGET_CALLS = 400
T = TypeVar("T", Graph, CallDetail)


class Facts:
    """One recording, asked by the rules. Reading a damaged part gives an empty one: no finding is made up from it."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._graphs = _Kept[Graph](lambda graph: len(graph.nodes))
        self._details = _Kept[CallDetail](lambda detail: len(detail.executions))
        self._unread = False

    @property
    def is_whole(self) -> bool:
        """Tell whether all calls were recorded and could be read so far: only then is an absence known."""
        return not self._unread and all(call.detail != "none" and call.complete for call in self.calls)

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """All calls of the script, nested ones too; no experiments."""
        return tuple(call for call in self.recording.calls if not call.what_if)

    @cached_property
    def user_calls(self) -> tuple[Call, ...]:
        """The calls that the user wrote: not nested, not started by a function such as `functional.jacobian`."""
        return tuple(call for call in self.calls if call.parent is None and call.group is None)

    @cached_property
    def events_before(self) -> dict[int | None, list[Event]]:
        """The number of a call (None: the script's end) -> the events between the call before it and this one."""
        found: dict[int | None, list[Event]] = {}
        for event in self.recording.events:
            found.setdefault(event.before_call, []).append(event)
        return found

    @cached_property
    def failed(self) -> tuple[Call, ...]:
        """Calls that raised, each failure once: where a nested call brought down the one around it, the outer one."""
        numbers = {call.number for call in self.calls if call.error is not None}
        return tuple(call for call in self.calls if call.error is not None and call.parent not in numbers)

    @cached_property
    def looked_at(self) -> tuple[Call, ...]:
        """The user's calls that are worth opening: all, or of a long loop the first two, the last, and some between."""
        return _within_budget(self.user_calls)

    @cached_property
    def moved(self) -> tuple[Call, ...]:
        """The engine runs, nested ones too, whose values are worth reading: full detail, within the same budget."""
        return _within_budget([call for call in self.calls if call.engine and call.detail == "full" and call.complete])

    def graph(self, number: int) -> Graph:
        """The graph of a call."""
        if number not in self._graphs:
            try:
                graph = self.recording.graph(number)
            except (RecordingError, KeyError):
                graph, self._unread = Graph((), ()), True
            self._graphs.add(number, graph)
        return self._graphs[number]

    def detail(self, number: int) -> CallDetail:
        """What moved in a call."""
        if number not in self._details:
            try:
                detail = self.recording.detail(number)
            except (RecordingError, KeyError):
                detail, self._unread = CallDetail(), True
            self._details.add(number, detail)
        return self._details[number]

    @cached_property
    def history(self) -> History:
        """The bindings."""
        try:
            return History(settled(self.recording.source.bindings(), self.sources))
        except RecordingError:
            return History(())

    @cached_property
    def sources(self) -> dict[str, Source]:
        """File -> source."""
        try:
            texts = self.recording.source.sources()
        except RecordingError:
            texts = {}
        return {file: Source(file, text) for file, text in texts.items()}

    def source(self, place: Place | None) -> Source | None:
        """The source that a place lies in."""
        return None if place is None else self.sources.get(place.file)

    def statement(self, place: Place | None) -> ast.stmt | None:
        """The innermost statement at a place."""
        source = self.source(place)
        return None if source is None or place is None else source.statement(place.line)

    def statement_of(self, place: Place | None, name: str) -> ast.stmt | None:
        """The statement at a place that binds `name`, of several on one line; else the innermost one."""
        source = self.source(place)
        found = [] if source is None or place is None else source.statements(place.line)
        binding = [statement for statement in found if any(bound == name for bound, _ in targets(statement))]
        return next(reversed(binding or found), None)

    def line_text(self, place: Place | None) -> str:
        """The line of code at a place, stripped; empty when its source was not kept."""
        source = self.source(place)
        if source is None or place is None or not 1 <= place.line <= len(source.lines):
            return ""
        return source.lines[place.line - 1].strip()

    @property
    def end_place(self) -> Place | None:
        """The user's line at which the script died, None where it did not."""
        outcome = self.recording.outcome
        if outcome.kind != "raised" or outcome.file is None or outcome.line is None:
            return None
        return Place(outcome.file, outcome.line)

    @property
    def last_call(self) -> Call | None:
        """The last call that the user wrote."""
        return self.user_calls[-1] if self.user_calls else None

    def died_at(self, call: Call) -> bool:
        """Tell whether the error of this call is the one that ended the script."""
        outcome, error = self.recording.outcome, call.error
        return error is not None and outcome.kind == "raised" and outcome.message == error.message

    def node_named(self, call: Call, name: str) -> Node | None:
        """The node of the call's graph whose output is known by `name`, a leaf before an operation.

        A tensor has one name in the graph but may have several in the script; bindings lead from the others to it.
        """
        graph = self.graph(call.number)
        wanted = plain(name)
        found = [node for node in graph.nodes if node.name is not None and plain(node.name) == wanted]
        if not found:
            binding = self.history.last(name, call, call.place)
            return None if binding is None or binding.node is None else graph.by_id.get(binding.node)
        return next((node for node in found if node.kind == "leaf"), found[0])

    def name_of(self, graph: Graph, node: Node) -> str | None:
        """What the script calls a node's output: its recorded name, a binding, else what its line assigns to."""
        if node.name is not None:
            return node.name
        bound = self.history.of_node(node.id)
        if bound:
            return bound[0].name
        statement = self.statement(node.place)
        names = [] if statement is None or isinstance(statement, ast.For) else [name for name, _ in targets(statement)]
        return names[0] if len(names) == 1 and self._last_of_line(graph, node) else None

    def _last_of_line(self, graph: Graph, node: Node) -> bool:
        """Tell whether a node is the last one that its line made: the one that the assignment took."""
        return not any(
            edge.source in graph.by_id
            and graph.by_id[edge.source].place == node.place
            and graph.by_id[edge.source].iteration == node.iteration
            for edge in graph.incoming.get(node.id, ())
        )


def _within_budget(calls: Sequence[Call]) -> tuple[Call, ...]:
    nodes, chosen = 0, list[Call]()
    for call in _spread(calls):
        if not chosen or (nodes + call.node_count <= _BUDGET_NODES and len(chosen) < _BUDGET_CALLS):
            nodes += call.node_count
            chosen.append(call)
    return tuple(sorted(chosen, key=lambda call: call.number))


def _spread(calls: Sequence[Call]) -> Iterator[Call]:
    """The calls, those first that tell most: the first two and the last of each line, then the others."""
    lines: dict[tuple[str, int] | None, list[Call]] = {}
    for call in calls:
        lines.setdefault(None if call.place is None else (call.place.file, call.place.line), []).append(call)
    for group in lines.values():
        yield from [*group[:2], *group[2:][-1:]]
    for group in lines.values():
        yield from group[2:-1]


class _Kept(dict[int, T]):
    """What was read, by call; beyond some thousand nodes the oldest is forgotten."""

    def __init__(self, size: Callable[[T], int]) -> None:
        super().__init__()
        self._size: Callable[[T], int] = size
        self._total = 0

    def add(self, number: int, value: T) -> None:
        """Keep one more."""
        self[number] = value
        self._total += self._size(value)
        while self._total > _KEPT_NODES and len(self) > 1:
            self._total -= self._size(self.pop(next(iter(self))))
