"""Inputs of operations that need no gradient: tensors that end a way without any `.grad`, as far as they are known.

The graph has no node for them. Torch tells of a slot without an edge; the value is what the operation saved for its
backward, the name stands in the script: the operand of `x * w`, or the one argument on the line with that shape. Plain
numbers (`x * 4`) are no inputs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gradviz.model import Binding, Graph, Node, Place, Recording, Saved

# Operation -> names of its differentiable inputs in the order of slots, and of other tensors that it takes.
# Source: derivatives.yaml of PyTorch 2.13.
_TWO = ("self", "other")
_SLOTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("Add", "Sub", "Mul", "Div", "Maximum", "Minimum", "Atan2"), _TWO),
    "Pow": ("self", "exponent"),
    "Mm": ("self", "mat2"),
    "Bmm": ("self", "mat2"),
    "Mv": ("self", "vec"),
    "Dot": ("self", "tensor"),
    "Addmm": ("self", "mat1", "mat2"),
    "Baddbmm": ("self", "batch1", "batch2"),
    "Convolution": ("input", "weight", "bias"),
    "NativeBatchNorm": ("input", "weight", "bias"),
    "NativeLayerNorm": ("input", "weight", "bias"),
    **dict.fromkeys(("MseLoss", "SmoothL1Loss", "HuberLoss", "BinaryCrossEntropy"), ("self", "target")),
    "BinaryCrossEntropyWithLogits": ("self", "target"),
    "NllLoss": ("self",),
    "NllLoss2D": ("self",),
    "Embedding": ("weight",),
    "Gather": ("self",),
    "IndexSelect": ("self",),
}
_OTHERS = {
    **dict.fromkeys(("NllLoss", "NllLoss2D"), ("target", "weight")),
    "Embedding": ("indices",),
    "Gather": ("index",),
    "IndexSelect": ("index",),
}
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "Add",
    ast.Sub: "Sub",
    ast.Mult: "Mul",
    ast.Div: "Div",
    ast.MatMult: "Mm",
    ast.Pow: "Pow",
}
_MOST_LETTERS = 24  # longer operands are not names

Operands = dict[tuple[int, int], ast.expr]  # (node, slot) -> what the script writes there


@dataclass(frozen=True, slots=True)
class Constant:
    """An input that needs no gradient and the operations (stage ids) that take it.

    `saved` names what the first of them saved of it (None: nothing was saved); `shape` None means unknown.
    """

    key: str
    name: str | None
    shape: tuple[int, ...] | None
    saved: str | None
    users: tuple[int, ...]


def constants(recording: Recording, graph: Graph, shown: Iterable[int]) -> tuple[Constant, ...]:
    """The known inputs without gradient of the nodes `shown`; one that several of them take is one."""
    nodes = [graph.by_id[number] for number in shown]
    lines = _Lines(recording)
    asked = {(node.place, node.iteration) for node in nodes}  # not all lines of a graph of very many nodes
    operands = lines.operands(node for node in graph.nodes if (node.place, node.iteration) in asked)
    found: dict[str, Constant] = {}
    for node in nodes:
        taken = {edge.slot for edge in graph.outgoing.get(node.id, ())}
        for slot, word in _free(node, taken):
            made = _constant(node, word, lines, operands.get((node.id, slot)))
            if made is None:
                continue
            known = found.get(made.key)
            if known is not None:
                users = tuple(dict.fromkeys((*known.users, node.id)))
                made = Constant(known.key, known.name, known.shape or made.shape, known.saved or made.saved, users)
                if known.saved is None and made.saved is not None:
                    made = Constant(made.key, made.name, made.shape, made.saved, (node.id, *known.users))
            found[made.key] = made
    return tuple(found.values())


def _free(node: Node, taken: set[int]) -> Iterator[tuple[int, str]]:
    """Slot and name of each input from which no edge leads on; -1 is the slot of what never has one."""
    for slot, word in enumerate(_SLOTS.get(node.short_op, ())):
        if slot not in taken:
            yield slot, word
    for word in _OTHERS.get(node.short_op, ()):
        yield -1, word


def _constant(node: Node, word: str, lines: _Lines, operand: ast.expr | None) -> Constant | None:
    saved = next((s for s in node.saved if s.name == word and s.shape is not None), None)
    shape = None if saved is None else saved.shape
    if operand is not None:
        binding = lines.binding(node, ast.unparse(operand))
        if binding is not None and binding.requires_grad:
            return None
        if isinstance(operand, ast.Constant) or (binding is None and shape in (None, ())):
            return None  # a number, or nothing is known but how it is written
        text = ast.unparse(operand)
        name = text if len(text) <= _MOST_LETTERS else None
    else:
        if saved is None or not shape:
            return None
        binding = lines.only(node, saved)
        name = None if binding is None else binding.name
    kept = None if saved is None else saved.name
    if binding is not None:
        return Constant(f"tensor {binding.tensor}", name, binding.shape, kept, (node.id,))
    return Constant(f"{node.key} {word}", name, shape, kept, (node.id,))


class _Lines:
    """What the script writes on the lines of nodes, and the tensors that its names held."""

    def __init__(self, recording: Recording) -> None:
        self._sources = recording.source.sources()
        self._trees: dict[str, Mapping[int, list[ast.expr]]] = {}
        self._bound: dict[tuple[str, str], list[Binding]] = {}
        for binding in recording.source.bindings():
            self._bound.setdefault((binding.place.file, binding.name), []).append(binding)

    def operands(self, nodes: Iterable[Node]) -> Operands:
        """The operands of operators; on a line with other operators than operations nothing is told."""
        groups: dict[tuple[str, int, int | None, str], list[Node]] = {}
        for node in nodes:
            if node.place is not None and node.short_op in _OPERATORS.values() and node.sequence is not None:
                key = (node.place.file, node.place.line, node.iteration, node.short_op)
                groups.setdefault(key, []).append(node)
        found: Operands = {}
        for (file, line, _, op), members in groups.items():
            written = [pair for name, pair in _operators(self._on(file, line)) if name == op]
            members.sort(key=lambda node: node.sequence or 0)
            if len(written) == len(members):
                for node, pair in zip(members, written, strict=True):
                    found.update({(node.id, slot): operand for slot, operand in enumerate(pair)})
        return found

    def binding(self, node: Node, name: str) -> Binding | None:
        """What a name held at a node's line."""
        if node.place is None:
            return None
        known = self._bound.get((node.place.file, name), ())
        inside = [b for b in known if b.place.function == node.place.function] or known
        before = [b for b in inside if b.place.line < node.place.line] or inside
        return before[-1] if before else None

    def only(self, node: Node, saved: Saved) -> Binding | None:
        """The one name that a call on the node's line is given, for a tensor of this shape which needs no gradient."""
        if node.place is None:
            return None
        bound = [b for name in sorted(self._given(node.place)) if (b := self.binding(node, name)) is not None]
        fitting = [b for b in bound if b.shape == saved.shape and not b.requires_grad]
        return fitting[0] if len(fitting) == 1 else None

    def _given(self, place: Place) -> set[str]:
        """The names that are arguments or owners of calls on a line: not the `i` of `f(x[i])`, which is no input."""
        calls = [each for each in self._on(place.file, place.line) if isinstance(each, ast.Call)]
        given = [part for call in calls for part in (*call.args, *(word.value for word in call.keywords))]
        given += [call.func.value for call in calls if isinstance(call.func, ast.Attribute)]
        return {part.id for part in given if isinstance(part, ast.Name)}

    def _on(self, file: str, line: int) -> list[ast.expr]:
        """The expressions that begin on a line, in the order of evaluation."""
        if file not in self._trees:
            self._trees[file] = _by_line(self._sources.get(file, ""))
        return self._trees[file].get(line, [])


def _by_line(text: str) -> Mapping[int, list[ast.expr]]:
    found: dict[int, list[ast.expr]] = {}
    try:
        waiting: list[ast.AST] = [ast.parse(text)]
    except (SyntaxError, ValueError, RecursionError):
        return found
    order: list[ast.expr] = []
    while waiting:  # an operator is evaluated after its operands: the reverse of "from the root, the last one first"
        here = waiting.pop()
        if isinstance(here, ast.AugAssign):
            order.append(ast.copy_location(ast.BinOp(here.target, here.op, here.value), here))
        if isinstance(here, ast.expr):
            order.append(here)
        waiting.extend(ast.iter_child_nodes(here))
    for expression in reversed(order):
        found.setdefault(expression.lineno, []).append(expression)
    return found


def _operators(expressions: Iterable[ast.expr]) -> Iterator[tuple[str, tuple[ast.expr, ast.expr]]]:
    """Operation and operands of each operator; torch puts a plain number second where that changes nothing."""
    for expression in expressions:
        if not isinstance(expression, ast.BinOp) or type(expression.op) not in _OPERATORS:
            continue
        name, pair = _OPERATORS[type(expression.op)], (expression.left, expression.right)
        swaps = name in ("Add", "Mul") and isinstance(expression.left, ast.Constant)
        yield name, pair[::-1] if swaps else pair
