"""zero-gradient: something arrived at a node, and exact zeros left it, by the way the operation works."""

from __future__ import annotations

from collections.abc import Iterator

from gradviz.explain import words
from gradviz.explain.facts import Facts
from gradviz.explain.flat import SATURATING, SOFTMAXES, saturated, softmax_of_constant, zero_factor
from gradviz.explain.page import Page
from gradviz.explain.repeated import Repeats
from gradviz.explain.values import all_zero, some
from gradviz.model import Call, Execution, Finding, Graph, Level, Node, Place
from gradviz.texts import tr

PAGE = Page(
    code="zero-gradient",
    title="A gradient that is exactly zero",
    cause=(
        "A zero is not None: the tensor is in the graph, but a small change of it changes nothing. `relu` passes "
        "nothing for negative inputs (a unit that is negative for every example is dead), `clamp` and `hardtanh` "
        "nothing outside their limits, `round`, `floor` and `sign` nothing anywhere, `maximum` nothing to the smaller "
        "one, a layer whose weights are all zero nothing to its input."
    ),
    example="""\
import torch

w = torch.tensor([[1., 1.], [2., -3.], [-1., -1.]], requires_grad=True)
b = torch.tensor([0., -10., -1.], requires_grad=True)
x = torch.tensor([[1., 1.], [2., 0.], [0., 2.]])
torch.relu(x @ w.t() + b).sum().backward()
print(w.grad)
""",
    remedy=(
        "For dead units: a smaller learning rate, another initial bias, `leaky_relu` or `gelu`. For `round` and `sign` "
        "a straight-through estimate, `x + (x.round() - x).detach()`. For `clamp` make sure that the values start "
        "inside. A last layer of zeros gets its own gradient and wakes the rest after one step."
    ),
    fixed="""\
import torch

w = torch.tensor([[1., 1.], [2., -3.], [-1., -1.]], requires_grad=True)
b = torch.tensor([0., -10., -1.], requires_grad=True)
x = torch.tensor([[1., 1.], [2., 0.], [0., 2.]])
torch.nn.functional.leaky_relu(x @ w.t() + b).sum().backward()
print(w.grad)
""",
)

_RECTIFIERS = ("Relu", "Threshold", "Relu6", "Hardtanh", "Hardswish", "Hardsigmoid")
_LIMITS = ("Clamp", "ClampMin", "ClampMax", "Hardtanh", "Hardsigmoid", "Relu6")
_STEPS = {"Round": "x.round()", "Floor": "x.floor()", "Ceil": "x.ceil()", "Trunc": "x.trunc()", "Sign": "x.sign()",
          "Sgn": "x.sgn()", "Heaviside": "(x > 0)", "FloorDivide": "x // n"}  # fmt: skip
_CHOICES = ("Maximum", "Minimum", "Fmax", "Fmin")
_LAYERS = ("Addmm", "Mm", "Mv", "Bmm", "Convolution", "Linear")
_WAKES = {**dict.fromkeys(_RECTIFIERS, "units"), "Mul": "flat"}  # kinds that another run of the line takes back
_Key = tuple[Place | None, str, str]  # line, operation, kind
_FEW_ROWS = 3  # with fewer examples a unit without an active one says nothing
_MANY = 0.5  # more of the units than this


def find(facts: Facts) -> Iterator[Finding]:
    """A finding for each line of the forward pass that lets nothing through."""
    repeats = Repeats(facts)
    silent: dict[_Key, set[int | None]] = {}  # the runs of a line that let nothing through, and those that do
    alive: dict[_Key, set[int | None]] = {}
    for call in facts.moved:
        if call.what_if or call.error is not None or call.group is not None:
            continue
        graph = facts.graph(call.number)
        for execution in facts.detail(call.number).executions:
            node = graph.by_id.get(execution.node)
            if node is None or not any(map(some, execution.grad_outputs)):
                continue
            found = _of_node(facts, call, graph, node, execution)
            kind = found[0] if found is not None else _WAKES.get(node.short_op, "")
            key = (node.place, node.short_op, kind)
            (alive if found is None else silent).setdefault(key, set()).add(node.iteration)
            if found is not None:
                repeats.add(key, found[1])
    # Units of a line that are silent in one place and not in another are so by chance; a factor (`step`, that begins
    # at 0) is zero for good only if no other run of its line lets something through.
    awake = {key for key, runs in silent.items() if alive.get(key, set()) - (set() if key[2] == "units" else runs)}
    yield from repeats.findings(without=awake)


def _of_node(facts: Facts, call: Call, graph: Graph, node: Node, execution: Execution) -> tuple[str, Finding] | None:
    left = [gradient for gradient in execution.grad_inputs if gradient is not None]
    nothing = bool(left) and all(map(all_zero, left))
    op = node.short_op
    if nothing and op in _STEPS:
        return "step", _steps(facts, call, node)
    if nothing and op in _LIMITS and op not in ("Relu6",):
        return "limit", _limits(facts, call, node)
    if nothing and op in _RECTIFIERS:
        return "dead", _dead(facts, call, node, 1.0, "")
    if op in _RECTIFIERS and (units := _dead_units(graph, node, execution)) is not None:
        count, total = units
        return "units", _dead(facts, call, node, count / total, _units_text(count, total))
    if op in _CHOICES and any(map(all_zero, left)) and any(map(some, left)):
        return "choice", _choice(facts, call, graph, node, execution)
    found = None
    if nothing and op in SATURATING:
        found = saturated(facts, call, node)
    elif op in SOFTMAXES:
        found = softmax_of_constant(facts, call, node, execution)
    elif op == "Mul":
        found = zero_factor(facts, call, graph, node, execution)
    if found is not None:
        return "flat", _finding(call, node, *found)
    if op in _LAYERS and (weight := _zero_weight(graph, node, execution)) is not None:
        return "zero layer", _zero_layer(facts, call, node, weight)
    return None


def _dead_units(graph: Graph, node: Node, execution: Execution) -> tuple[int, int] | None:
    """How many columns got something and passed nothing on, of how many; None where that is not remarkable.

    With few different examples half of all units are silent by chance.
    """
    arrived, left = execution.grad_outputs[0], execution.grad_inputs[0] if execution.grad_inputs else None
    if arrived is None or left is None or len(arrived.shape) != 2 or arrived.shape != left.shape or arrived.batch:
        return None
    rows, columns = arrived.shape
    before, after = arrived.numbers, left.numbers
    if before is None or after is None or columns < 2 or _different_rows(graph, node, rows) < _FEW_ROWS:
        return None
    dead = [
        column
        for column in range(columns)
        if any(before[row * columns + column] != 0 for row in range(rows))
        and all(after[row * columns + column] == 0 for row in range(rows))
    ]
    return (len(dead), columns) if len(dead) > _MANY * columns else None


def _different_rows(graph: Graph, node: Node, rows: int) -> int:
    """How many different examples went into a rectifier, read from the nearest values known; 0 where none are."""
    current: Node | None = node
    for _ in range(4):
        edges = () if current is None else graph.outgoing.get(current.id, ())
        current = graph.by_id.get(edges[0].target) if edges else None
        values = [] if current is None else [current.value, *(saved.value for saved in current.saved)]
        for value in values:
            if value is not None and value.numbers is not None and len(value.shape) == 2 and value.shape[0] == rows:
                width = value.shape[1]
                return len({value.numbers[row * width : (row + 1) * width] for row in range(rows)})
    return 0


def _units_text(count: int, total: int) -> str:
    return tr(
        "{count} of its {total} units are negative for every example, so they pass nothing on", count=count, total=total
    )


def _dead(facts: Facts, call: Call, node: Node, share: float, units: str) -> Finding:
    name = words.node_text(facts, node)
    if share >= 1 and not units:
        message = tr(
            "In {call} nothing passes {node}: all its inputs are negative, so its gradient is exactly 0.",
            call=words.call_at(facts, call),
            node=name,
        )
    else:
        message = tr(
            "In {call} a part of {node} is dead: {units}.", call=words.call_at(facts, call), node=name, units=units
        )
    advice = tr(
        "Try a smaller learning rate, another initial bias, or a function that also passes something for negative "
        "inputs: {forms}.",
        forms=words.codes(["leaky_relu", "gelu", "silu"]),
    )
    return _finding(call, node, "warning" if share >= 1 else "info", message, advice)


def _limits(facts: Facts, call: Call, node: Node) -> Finding:
    message = tr(
        "In {call} nothing passes {node}: all its inputs lie outside its limits, so its gradient is exactly 0.",
        call=words.call_at(facts, call),
        node=words.node_text(facts, node),
    )
    advice = tr(
        "Start inside the limits, or use a smooth limit such as {forms}.",
        forms=words.codes(["torch.sigmoid", "torch.tanh"]),
    )
    return _finding(call, node, "warning", message, advice)


def _steps(facts: Facts, call: Call, node: Node) -> Finding:
    message = tr(
        "In {call} nothing passes {node}: its result is constant between its steps, so its gradient is exactly 0 "
        "everywhere.",
        call=words.call_at(facts, call),
        node=words.node_text(facts, node),
    )
    advice = tr(
        "To train through it use a straight-through estimate, {code}, or a smooth function instead.",
        code=words.code(f"x + ({_STEPS[node.short_op]} - x).detach()"),
    )
    return _finding(call, node, "warning", message, advice)


def _choice(facts: Facts, call: Call, graph: Graph, node: Node, execution: Execution) -> Finding:
    slot = next(slot for slot, gradient in enumerate(execution.grad_inputs) if all_zero(gradient))
    below = next((graph.by_id.get(e.target) for e in graph.outgoing.get(node.id, ()) if e.slot == slot), None)
    loser = words.node_text(facts, below) if below is not None else tr("one of its inputs")
    message = tr(
        "In {call} {node} never chose {loser}, so the gradient that goes there is exactly 0.",
        call=words.call_at(facts, call),
        node=words.node_text(facts, node),
        loser=loser,
    )
    advice = tr(
        "Right where that is the meaning; for a gradient to both use {soft}.", soft=words.code("torch.logaddexp")
    )
    return _finding(call, node, "info", message, advice)


def _zero_weight(graph: Graph, node: Node, execution: Execution) -> Node | None:
    """The leaf of zeros that keeps a layer from passing anything to its input."""
    zero_slots = {slot for slot, gradient in enumerate(execution.grad_inputs) if all_zero(gradient)}
    if not zero_slots:
        return None
    for edge in graph.outgoing.get(node.id, ()):
        below = graph.by_id.get(edge.target)
        is_weight = node.short_op == "Convolution" and edge.slot == 1
        if below is not None and below.short_op in ("T", "Transpose", "AsStrided", "Permute"):
            inner = graph.outgoing.get(below.id, ())  # a layer multiplies by its transposed weight, not by a plain leaf
            below = graph.by_id.get(inner[0].target) if inner else None
            is_weight = True
        if is_weight and below is not None and below.kind == "leaf" and all_zero(below.value):
            return None if edge.slot in zero_slots else below
    return None


def _zero_layer(facts: Facts, call: Call, node: Node, weight: Node) -> Finding:
    message = tr(
        "In {call} nothing passes {node} to its input, because {weight} is all zeros.",
        call=words.call_at(facts, call),
        node=words.node_text(facts, node),
        weight=words.code(weight.name or "?"),
    )
    advice = tr("A layer that starts at zero wakes up after one step; if it was not meant to, initialise it randomly.")
    return _finding(call, node, "info", message, advice)


def _finding(call: Call, node: Node, level: Level, message: str, advice: str) -> Finding:
    return Finding("zero-gradient", level, call.number, node.id, node.place or call.place, message, advice, (node.id,))
