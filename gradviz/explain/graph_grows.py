"""graph-grows: each call of a loop goes through a longer graph than the last."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from gradviz.explain import words
from gradviz.explain.carried import carried_names, detaching
from gradviz.explain.facts import Facts
from gradviz.explain.kept_losses import kept_losses
from gradviz.explain.page import Page
from gradviz.model import Call, Finding, Graph, Node, Place
from gradviz.texts import tr

PAGE = Page(
    code="graph-grows",
    title="The graph grows from step to step",
    cause=(
        "Something that is carried from one step of a loop to the next still remembers how it was made: a hidden state "
        "that is not detached, a running loss that adds tensors instead of numbers. Each backward then goes through "
        "all steps so far, memory and time grow, and gradients of old steps are added again."
    ),
    example="""\
import torch

w = torch.tensor(0.5, requires_grad=True)
total = 0
for step in range(3):
    loss = (w - step) ** 2
    total = total + loss
    total.backward(retain_graph=True)
""",
    remedy=(
        "Add plain numbers, `total += loss.item()`, detach the state between the steps, `state = state.detach()`, and "
        "leave out the `retain_graph=True` that hides the problem."
    ),
    fixed="""\
import torch

w = torch.tensor(0.5, requires_grad=True)
total = 0
for step in range(3):
    loss = (w - step) ** 2
    total += loss.item()
    loss.backward()
""",
)

_CALLS = 3  # fewer calls of one line are no trend


def find(facts: Facts) -> Iterator[Finding]:
    """A finding for each line whose calls grow, and for each running sum that keeps all graphs alive."""
    lines: dict[Place, list[Call]] = {}
    for call in facts.user_calls:
        if call.engine and call.error is None and call.place is not None:
            lines.setdefault(call.place, []).append(call)
    told = set()
    for calls in lines.values():
        finding = _growing(facts, calls)
        if finding is not None:
            told.add(finding.place)
            yield finding
    yield from (f for f in kept_losses(facts) if f.place not in told)


def _growing(facts: Facts, calls: list[Call]) -> Finding | None:
    counts = [call.node_count for call in calls]
    if len(calls) < _CALLS or any(b <= a for a, b in itertools.pairwise(counts)):
        return None
    earlier, call = calls[-2], calls[-1]
    graph = facts.graph(call.number)
    shared = _shared(graph, facts.graph(earlier.number))
    if not shared or _is_unrolled(facts, calls, shared):
        return None
    carrier = next((n for n in graph.nodes if n.id in shared and _leads_to(graph, n, shared)), None)
    carried = [] if carrier is None else carried_names(facts, [carrier])
    name = carried[0] if carried else None if carrier is None else facts.name_of(graph, carrier)
    message = tr(
        "The calls in {line} go through longer and longer graphs: {counts} nodes.",
        line=words.line(facts, call.place),
        counts=words.listed([str(count) for count in [*counts[:3], *counts[3:][-1:]]]),
    )
    node = None if carrier is None else carrier.id
    place = call.place
    if carrier is not None:
        shown = words.code(name) if name else words.node_text(facts, carrier)
        message += " " + tr(
            "{name} (made in {line}) carries the graph of the earlier steps along.",
            name=shown,
            line=words.line(facts, carrier.place),
        )
        place = carrier.place or place
    advice = tr(
        "Cut it between the steps: {detach}; where only its value is needed, use {item}.",
        detach=words.code(detaching(facts, name) if name else ".detach()"),
        item=words.code(".item()"),
    )
    return Finding("graph-grows", "warning", call.number, node, place, message, advice, () if node is None else (node,))


def _is_unrolled(facts: Facts, calls: list[Call], shared: set[int]) -> bool:
    """Tell whether the steps are kept on purpose, as the inner loop of meta-learning is: `grad(..., create_graph=True)`
    in each, and a call at another line that goes back through all of them.
    """
    if any(call.accumulates or not call.create_graph for call in calls):
        return False
    later = (c for c in facts.looked_at if c.number > calls[-1].number and c.place != calls[-1].place)
    return any(shared <= {node.id for node in facts.graph(call.number).nodes} for call in later)


def _shared(graph: Graph, earlier: Graph) -> set[int]:
    """Operations that both graphs hold: what was made before the earlier call and is still attached."""
    mine = {node.id for node in graph.nodes if node.kind != "leaf"}
    return mine & {node.id for node in earlier.nodes if node.kind != "leaf"}


def _leads_to(graph: Graph, node: Node, shared: set[int]) -> bool:
    return any(edge.source not in shared for edge in graph.incoming.get(node.id, ()))
