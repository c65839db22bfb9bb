"""Custom `autograd.Function` classes of the script, read from its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace

from gradviz.explain.facts import Facts
from gradviz.explain.source import FunctionNode, Source, dotted, targets, text_of
from gradviz.model import Node, Place


@dataclass(frozen=True)
class CustomFunction:
    """A class with `forward` and `backward`, and the file that it stands in."""

    node: ast.ClassDef
    source: Source

    def method(self, name: str) -> FunctionNode | None:
        """A method by name."""
        return next(
            (
                item
                for item in self.node.body
                if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and item.name == name
            ),
            None,
        )

    def place(self, method: str) -> Place:
        """Where a method begins; the class where it has none of that name."""
        found = self.method(method)
        line = self.node.lineno if found is None else found.lineno
        return Place(self.source.file, line, f"{self.node.name}.{method}" if found else "<module>")


def custom_function(facts: Facts, node: Node) -> CustomFunction | None:
    """The class behind a custom node."""
    return custom_class(facts, node.short_op)


def custom_class(facts: Facts, name: str) -> CustomFunction | None:
    """The `autograd.Function` called `name`, with or without its `Backward` ending."""
    wanted = name.removesuffix("Backward")
    for source in facts.sources.values():
        for found in source.walk(ast.ClassDef):
            if isinstance(found, ast.ClassDef) and found.name == wanted:
                function = CustomFunction(found, source)
                if function.method("backward") is not None or function.method("vjp") is not None:
                    return function
    return None


def switched_off_in_backward(function: CustomFunction) -> str | None:
    """`@once_differentiable` or `torch.no_grad()` where the backward computes what it returns under it."""
    backward = function.method("backward")
    if backward is None:
        return None
    for mark in backward.decorator_list:
        name = (dotted(mark.func if isinstance(mark, ast.Call) else mark) or "").rsplit(".", 1)[-1]
        if name in ("once_differentiable", "no_grad"):
            return f"@{name}" if name == "once_differentiable" else "@torch.no_grad()"
    for block in ast.walk(backward):
        if isinstance(block, ast.With):
            names = [(dotted(i.context_expr.func) or "") for i in block.items if isinstance(i.context_expr, ast.Call)]
            if any(name.rsplit(".", 1)[-1] == "no_grad" for name in names):
                return "torch.no_grad()"
    return None


@dataclass(frozen=True)
class Constant:
    """A value that a custom backward computes with and that has no history: how and where it is made.

    `attribute` is what `ctx` keeps it as, None for one that the backward makes itself; `operand` is the tensor whose
    values it is, None where it is computed from one.
    """

    code: str
    place: Place
    attribute: str | None
    operand: str | None


def constant_in(function: CustomFunction) -> Constant | None:
    """What forward keeps on `ctx` without its history and backward uses, else what backward cuts off itself."""
    backward = function.method("backward")
    if backward is None or not backward.args.args:
        return None
    kept = _kept_on_ctx(function, backward)
    if kept is not None:
        return kept
    place = function.place("backward")
    for node in _without(backward, _NO_SLOPE):
        operand = _detached(node)
        if operand is not None:
            return Constant(text_of(node), replace(place, line=node.lineno), None, text_of(operand))
    return None


def _kept_on_ctx(function: CustomFunction, backward: FunctionNode) -> Constant | None:
    """A tensor that forward computes and keeps as `ctx.foo`, and that backward uses: a constant for a second pass."""
    forward = function.method("forward")
    if forward is None or not forward.args.args:
        return None
    context = f"{forward.args.args[0].arg}."
    second = backward.args.args[0].arg
    used = {dotted(node) for node in ast.walk(backward) if isinstance(node, ast.Attribute)}
    inputs = {argument.arg for argument in forward.args.args[1:]}
    computed: dict[str, ast.expr] = {}
    for name, value in _assignments(forward):
        value = computed.get(value.id, value) if isinstance(value, ast.Name) else value
        if not _is_computed(value, inputs | computed.keys()):
            continue
        computed[name] = value
        attribute = name.removeprefix(context)
        if attribute != name and f"{second}.{attribute}" in used:
            operand = _detached(value)
            whole = None if operand is None else text_of(operand)
            place = replace(function.place("forward"), line=value.lineno)
            return Constant(text_of(value), place, attribute, whole)
    return None


def _assignments(forward: FunctionNode) -> list[tuple[str, ast.expr]]:
    found = [
        (value.lineno, name, value)
        for statement in ast.walk(forward)
        if isinstance(statement, ast.stmt)
        for name, value in targets(statement)
    ]
    return [(name, value) for _, name, value in sorted(found, key=lambda entry: entry[0])]


def _is_computed(value: ast.expr, tensors: Set[str]) -> bool:
    """Tell whether an expression is an operation on an input or on what was computed from one."""
    if not isinstance(value, ast.BinOp | ast.Call | ast.UnaryOp) and _detached(value) is None:
        return False
    return any(isinstance(node, ast.Name) and node.id in tensors for node in _without(value, _NO_SLOPE + _NUMBERS))


_NUMBERS = ("size", "dim", "numel", "item", "len", "shape", "dtype", "device")
_NO_SLOPE = ("sign", "argmax", "argmin", "floor", "ceil", "round", "gt", "lt", "ge", "le", "eq", "ne")


def _without(root: ast.AST, names: Sequence[str]) -> Iterator[ast.expr]:
    """The expressions below a node, without comparisons and what is called by one of these names, nor what is in them.

    The derivative of a mask or a sign is zero almost everywhere, so nothing is lost where its history is.
    """
    waiting: list[ast.AST] = [root]
    while waiting:
        node = waiting.pop(0)
        function = node.func if isinstance(node, ast.Call) else node
        name = getattr(function, "attr", None) or getattr(function, "id", None)
        if isinstance(node, ast.Compare) or (isinstance(node, ast.Call | ast.Attribute) and name in names):
            continue
        if isinstance(node, ast.expr):
            yield node
        waiting += ast.iter_child_nodes(node)


def _detached(node: ast.expr) -> ast.expr | None:
    """`x` of `x.detach()`, `x.data`, `x.numpy()` and any row of them."""
    found = None
    while True:
        bare = node.func if isinstance(node, ast.Call) and not node.args else node
        if not isinstance(bare, ast.Attribute):
            return found and node
        if bare.attr in ("detach", "data", "numpy"):
            found = node
        elif not isinstance(node, ast.Call) or bare.attr not in ("cpu", "clone"):
            return found and node
        node = bare.value
