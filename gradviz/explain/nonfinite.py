"""nonfinite: where the first nan or infinity of a backward comes from."""

from __future__ import annotations

from collections.abc import Iterator

from gradviz.explain import words
from gradviz.explain.facts import Facts
from gradviz.explain.history import happened_before
from gradviz.explain.page import Page
from gradviz.explain.remedies import Remedy, overflow, overflows, remedy
from gradviz.explain.repeated import Repeats
from gradviz.explain.values import all_zero, bad, finite_sample, has_nan
from gradviz.explain.written import root_name
from gradviz.model import Call, Execution, Finding, Graph, Level, Node, TensorValue
from gradviz.model.numbers import brief
from gradviz.texts import tr

PAGE = Page(
    code="nonfinite",
    title="Where the first nan or infinity comes from",
    cause=(
        "A gradient becomes infinite where a derivative is (`sqrt` and `log` at 0, a division by 0), and nan where "
        "such an infinity meets a zero: `0 * inf` is nan. From there it spreads to everything below. A `torch.where` "
        "does not protect: the branch that was not taken gets the gradient 0, and `0 * inf` is nan all the same. Often "
        "the trouble is older: the forward values, or the seed, already held a nan."
    ),
    example="""\
import torch

x = torch.tensor([-1., 4.], requires_grad=True)
y = torch.where(x > 0, torch.sqrt(x), x)
y.sum().backward()
print(x.grad)
""",
    remedy=(
        "Keep the input of the operation inside its domain: add a small number, clamp, or use the stable form "
        "(`F.logsigmoid`, `torch.logsumexp`, `F.cross_entropy`). With `torch.where` choose a safe input first and "
        "apply the function to that (the double where)."
    ),
    fixed="""\
import torch

x = torch.tensor([-1., 4.], requires_grad=True)
safe = torch.where(x > 0, x, torch.ones_like(x))
y = torch.where(x > 0, torch.sqrt(safe), x)
y.sum().backward()
print(x.grad)
""",
)


def find(facts: Facts) -> Iterator[Finding]:
    """A finding for each line whose backward has, or starts from, something that is not finite."""
    repeats = Repeats(facts)
    for call in facts.moved:
        finding = _first(facts, call)
        if finding is not None:
            repeats.add((call.place, finding.place), finding)
    yield from repeats.findings()


def _first(facts: Facts, call: Call) -> Finding | None:
    graph = facts.graph(call.number)
    for index, root in enumerate(call.roots):
        if bad(root.seed):
            return _seed(facts, call, index)
    executions = facts.detail(call.number).executions
    for execution in executions:
        if any(map(bad, execution.grad_inputs)) and not any(map(bad, execution.grad_outputs)):
            node = graph.by_id.get(execution.node)
            if node is not None:
                return _at(facts, call, graph, node, execution)
    return _forward_only(facts, call, graph)


def _seed(facts: Facts, call: Call, index: int) -> Finding:
    root = call.roots[index]
    message = tr(
        "In {call} the seed of {root} is not finite: {seed}. So nothing below it can be.",
        call=words.call_at(facts, call),
        root=words.code(root_name(facts, call, index)),
        seed=brief(root.seed),
    )
    advice = tr("Look at how the seed was computed.")
    show = () if root.node is None else (root.node,)
    return Finding("nonfinite", "warning", call.number, root.node, call.place, message, advice, show)


def _at(facts: Facts, call: Call, graph: Graph, node: Node, execution: Execution) -> Finding:
    arrived = next((g for g in execution.grad_outputs if g is not None), None)
    left = next(g for g in execution.grad_inputs if bad(g))
    kind = tr("nan") if has_nan(left) else tr("infinite")
    message = tr(
        "In {call} the gradient becomes {kind} at {node}: {arrived} arrived and {left} left.",
        call=words.call_at(facts, call),
        kind=kind,
        node=words.node_text(facts, node),
        arrived=brief(arrived),
        left=brief(left),
    )
    origin = _origin(graph, node)
    known = remedy(node)
    if origin is not None:
        message += " " + _was_there(facts, call, origin)
        given = _given(facts, call, origin)
        advice = _origin_advice(origin) if given is None else _data_advice(given[0])
    elif known is not None:
        message += " " + known.why
        advice = known.advice
    elif (given := _given(facts, call, node)) is not None:
        message += " " + _went_in(given)
        advice = _data_advice(given[0])
    else:
        advice = tr("Look at the values that go into this operation.")
    if known is not None and (branch := _branch(graph, node, execution)) is not None:
        message += " " + tr(
            "The zeros come from {where}, which did not choose this branch there; 0 * inf is nan.",
            where=words.node_text(facts, branch),
        )
        advice = _double_where(known)
    if node.outputs and node.outputs[0].dtype == "float16":
        message += " " + tr("float16 holds no number beyond 65504.")
    level: Level = "error" if _reaches_leaf(facts, call) else "warning"
    show = tuple(dict.fromkeys([node.id, *([origin.id] if origin else [])]))
    return Finding("nonfinite", level, call.number, node.id, node.place or call.place, message, advice, show)


def _origin(graph: Graph, node: Node) -> Node | None:
    """The first node below in the forward pass whose value is not finite although what it was made from is."""
    below = _below(graph, node)
    held = [n for n in below if bad(n.value) or (n.value is None and overflows(n))]
    saved_bad = any(s.value is not None and bad(s.value) and s.name != "result" for s in node.saved)
    if not held:
        return None
    if node in held and len(held) == 1 and not saved_bad:
        return None  # its own result: the operation itself is the origin
    ids = {n.id for n in held}
    first = [n for n in held if not any(edge.target in ids for edge in graph.outgoing.get(n.id, ()))]
    found = first[0] if first else held[-1]
    return None if found.id == node.id else found


def _below(graph: Graph, node: Node) -> list[Node]:
    """The node and all that it was computed from, a bounded number."""
    found: list[Node] = []
    waiting, seen = [node.id], {node.id}
    while waiting and len(found) < 2000:
        current = waiting.pop(0)
        if current in graph.by_id:
            found.append(graph.by_id[current])
        for edge in graph.outgoing.get(current, ()):
            if edge.target not in seen:
                seen.add(edge.target)
                waiting.append(edge.target)
    return found


def _was_there(facts: Facts, call: Call, origin: Node) -> str:
    text = tr(
        "It was there before the backward: the forward value of {node} is {value}.",
        node=words.node_text(facts, origin),
        value=tr("too large") if origin.value is None else brief(origin.value),
    )
    given = _given(facts, call, origin)
    if given is None:
        return text
    return f"{text} {_went_in(given)}"


def _went_in(given: tuple[str | None, TensorValue]) -> str:
    name, value = given
    if name is None:
        return tr("What went into it held it already: {value}.", value=brief(value))
    return tr("{name}, which went into it, held it already: {value}.", name=words.code(name), value=brief(value))


def _given(facts: Facts, call: Call, origin: Node) -> tuple[str | None, TensorValue] | None:
    """The data that brought the trouble in: saved by the first bad node, made by none, and what the script calls it."""
    value = next((s.value for s in origin.saved if s.value is not None and bad(s.value) and s.name != "result"), None)
    if value is None:
        return None
    bound = {
        b.name: b
        for b in facts.history.all
        if b.shape == value.shape and b.dtype == value.dtype and not b.requires_grad and happened_before(b, call)
    }
    return (next(iter(bound)) if len({b.tensor for b in bound.values()}) == 1 else None), value


def _data_advice(name: str | None) -> str:
    return tr("Look at where {name} gets its values.", name=words.code(name) if name else tr("the data"))


def _origin_advice(origin: Node) -> str:
    if origin.kind == "leaf":
        return _data_advice(origin.name or "?")
    known = remedy(origin)
    return tr("Look at what goes into {op}.", op=origin.short_op) if known is None else f"{known.why} {known.advice}"


def _branch(graph: Graph, node: Node, execution: Execution) -> Node | None:
    """The `where` above that sent exact zeros to places where this node's derivative is not finite."""
    arrived = next((g for g in execution.grad_outputs if g is not None), None)
    numbers = finite_sample(arrived)
    if not (all_zero(arrived) or 0.0 in numbers):
        return None
    current = node
    for _ in range(8):
        above = [graph.by_id[edge.source] for edge in graph.incoming.get(current.id, ()) if edge.source in graph.by_id]
        found = next((n for n in above if n.short_op in ("Where", "MaskedFill", "MaskedScatter")), None)
        if found is not None:
            return found
        if len(above) != 1:
            return None
        current = above[0]
    return None


def _double_where(known: Remedy) -> str:
    return tr(
        "Choose a safe input first and apply the function to that: {safe}, then {where}.",
        safe=words.code("safe = torch.where(mask, x, torch.ones_like(x))"),
        where=words.code("torch.where(mask, f(safe), other)"),
    )


def _reaches_leaf(facts: Facts, call: Call) -> bool:
    detail = facts.detail(call.number)
    return any(bad(entry.incoming) for entry in detail.accumulations) or any(map(bad, detail.returned or ()))


def _forward_only(facts: Facts, call: Call, graph: Graph) -> Finding | None:
    """The root's own value is not finite, although its gradient is."""
    for index, root in enumerate(call.roots):
        if not bad(root.value):
            continue
        node = graph.by_id.get(root.node) if root.node is not None else None
        origin = None if node is None else _origin(graph, node)
        message = tr(
            "In {call} the value of the root {root} is {value}; its gradient is computed all the same, and is finite.",
            call=words.call_at(facts, call),
            root=words.code(root_name(facts, call, index)),
            value=brief(root.value),
        )
        if origin is not None:
            message += " " + tr(
                "It begins at {node}, whose value is {value}.",
                node=words.node_text(facts, origin),
                value=tr("too large") if origin.value is None else brief(origin.value),
            )
        first = origin or node
        dtype = root.dtype if first is None or not first.outputs else first.outputs[0].dtype
        known = None if first is None else remedy(first)
        if not has_nan(root.value):
            advice = overflow(dtype)
        elif node is not None and _of_nothing(graph, node):
            advice = tr("It is the mean of no numbers at all: look at why there are none.")
        else:
            advice = known.advice if known is not None else tr("Look at the values that go into it.")
        show = tuple(dict.fromkeys(n.id for n in (first, node) if n is not None))
        place = call.place if origin is None else origin.place or call.place
        number = root.node if first is None else first.id
        return Finding("nonfinite", "warning", call.number, number, place, message, advice, show)
    return None


def _of_nothing(graph: Graph, node: Node) -> bool:
    """Tell whether what a node was computed from has no elements."""
    below = [graph.by_id[e.target] for e in graph.outgoing.get(node.id, ()) if e.target in graph.by_id]
    return any(0 in output.shape for inner in below for output in inner.outputs)
