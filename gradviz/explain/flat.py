"""The part of zero-gradient about functions that are flat where they are evaluated, and about factors of zero."""

from __future__ import annotations

from gradviz.explain import words
from gradviz.explain.facts import Facts
from gradviz.explain.values import all_zero, bad, finite_sample, some
from gradviz.model import Call, Execution, Gradient, Graph, Level, Node
from gradviz.texts import tr

SATURATING = ("Sigmoid", "Tanh", "Erf", "Softsign")
SOFTMAXES = ("Softmax", "SafeSoftmax")
_MOST_BEHIND = 2000  # nodes; behind more there is some leaf that gets something
_ROUNDING = 1e-6  # of what arrives: what a float32 softmax leaves of a constant


def saturated(facts: Facts, call: Call, node: Node) -> tuple[Level, str, str]:
    """Level, message and advice for a function at the ends of its range."""
    message = tr(
        "In {call} nothing passes {node}: it is saturated, its values lie so near the ends of its range that its "
        "derivative is exactly 0.",
        call=words.call_at(facts, call),
        node=words.node_text(facts, node),
    )
    advice = tr(
        "Keep its inputs smaller (scale the data, smaller weights, normalisation); as part of a loss use the form on "
        "logits, such as {form}.",
        form=words.code("F.binary_cross_entropy_with_logits"),
    )
    return "warning", message, advice


def softmax_of_constant(facts: Facts, call: Call, node: Node, execution: Execution) -> tuple[Level, str, str] | None:
    """A softmax to whose entries the same gradient comes: they add up to 1 whatever goes in."""
    came = finite_sample(execution.grad_outputs[0]) if execution.grad_outputs else ()
    left = finite_sample(execution.grad_inputs[0]) if execution.grad_inputs else ()
    if len(came) < 2 or came[0] == 0 or len(set(came)) > 1 or not left or bad(execution.grad_inputs[0]):
        return None
    if max(map(abs, left)) > _ROUNDING * abs(came[0]):
        return None
    message = tr(
        "In {call} nothing but rounding passes {node}: the same gradient comes to all its entries, and they add up to "
        "1 whatever goes in.",
        call=words.call_at(facts, call),
        node=words.node_text(facts, node),
    )
    advice = tr("Weigh the entries differently: a sum or a mean of all of them is a constant.")
    return "warning", message, advice


def zero_factor(facts: Facts, call: Call, graph: Graph, node: Node, execution: Execution) -> (
    tuple[Level, str, str] | None
):  # fmt: skip
    """A product with a factor of zeros, where a leaf gets nothing but zeros for it."""
    factors = {saved.name: saved.value for saved in node.saved}
    targets = {edge.slot: graph.by_id.get(edge.target) for edge in graph.outgoing.get(node.id, ())}
    for slot, other in ((0, "other"), (1, "self")):
        left = execution.grad_inputs[slot] if slot < len(execution.grad_inputs) else None
        factor, kept = targets.get(1 - slot), targets.get(slot)
        if not all_zero(left) or not all_zero(factors.get(other)) or not _starves(facts, call, graph, kept):
            continue
        learns = factor is not None and some(_left(execution, 1 - slot))
        name = facts.name_of(graph, factor) if factor is not None else None
        message = tr(
            "In {call} nothing passes {node} to {kept}: the other factor, {factor}, is all zeros.",
            call=words.call_at(facts, call),
            node=words.node_text(facts, node),
            kept=words.node_text(facts, kept) if kept is not None else tr("one factor"),
            factor=words.code(name) if name else tr("a constant"),
        )
        advice = tr(
            "A factor that starts at zero wakes up after one step; if it was not meant to, initialise it randomly."
        )
        return (
            ("info", message, advice)
            if learns
            else ("warning", message, tr("Look at how the factor (a mask, a gate, a weight of the loss) is computed."))
        )
    return None


def _left(execution: Execution, slot: int) -> Gradient:
    return execution.grad_inputs[slot] if slot < len(execution.grad_inputs) else None


def _starves(facts: Facts, call: Call, graph: Graph, kept: Node | None) -> bool:
    """Tell whether every leaf behind what is multiplied, or every leaf of the call, gets zeros only.

    Inside a recurrent cell an initial state of zeros is usual.
    """
    detail = facts.detail(call.number)
    arrived = {entry.node: entry.incoming for entry in detail.accumulations}
    behind = [arrived[node] for node in _reachable(graph, kept) if node in arrived]
    if behind and all(map(all_zero, behind)):
        return True
    everything = [*arrived.values(), *(detail.returned or ())]
    return bool(everything) and all(map(all_zero, everything))


def _reachable(graph: Graph, start: Node | None) -> set[int]:
    waiting = [] if start is None else [start.id]
    seen = set(waiting)
    while waiting and len(seen) < _MOST_BEHIND:
        new = {edge.target for edge in graph.outgoing.get(waiting.pop(), ())} - seen
        seen |= new
        waiting += new
    return seen if len(seen) < _MOST_BEHIND else set()
