"""Names that once meant a leaf, or were meant to, and mean the result of an operation now."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from gradviz.explain.facts import Facts
from gradviz.explain.source import dotted, is_constant, targets
from gradviz.model import Binding, Call, Place


@dataclass(frozen=True)
class Remade:
    """`binding` is the non-leaf; `leaf` the place where the leaf was made, `leaf_node` its node where a call met it.

    `inline` tells a leaf that never had a name, `update` tells `w = w - lr * w.grad`.
    """

    binding: Binding
    statement: ast.stmt
    value: ast.expr
    leaf: Place
    inline: bool
    update: bool = False
    leaf_node: int | None = None


def remade(facts: Facts, binding: Binding, call: Call | None = None) -> Remade | None:
    """How a non-leaf came to carry a name that stood, or seems to stand, for a leaf."""
    statement = facts.statement_of(binding.place, binding.name)
    if statement is None or binding.is_leaf:
        return None
    value = next((value for name, value in targets(statement) if name == binding.name), None)
    if value is None:
        return None
    if _makes_leaf(value):
        return Remade(binding, statement, value, binding.place, inline=True)
    former = [
        b
        for b in facts.history.named(binding.name)
        if b.order < binding.order and _asked(b) and b.place.function == binding.place.function
    ]
    if not former or binding.name not in _read(value):
        return None
    update = f"{binding.name}.grad" in ast.unparse(value)
    leaf = former[-1]
    return Remade(binding, statement, value, leaf.place, inline=False, update=update, leaf_node=leaf.node)


def _asked(binding: Binding) -> bool:
    """Tell whether a binding is of a leaf that required grad then, or later by `x.requires_grad_()`: a call met it."""
    return binding.is_leaf and (binding.requires_grad or binding.node is not None)


def _read(value: ast.expr) -> set[str]:
    return {name for node in ast.walk(value) if (name := dotted(node)) is not None}


def _makes_leaf(value: ast.expr) -> bool:
    """Tell whether the expression makes a leaf that requires grad and then applies something to it."""
    for node in ast.walk(value):
        if node is value or not isinstance(node, ast.Call):
            continue
        if any(k.arg == "requires_grad" and is_constant(k.value, True) for k in node.keywords):
            return True
        name = node.func.attr if isinstance(node.func, ast.Attribute) else dotted(node.func) or ""
        if name == "Parameter" or (name == "requires_grad_" and not node.args):
            return True
    return False


def as_leaf(value: ast.expr) -> str | None:
    """`(torch.randn(3) * 0.01).requires_grad_()` for `torch.randn(3, requires_grad=True) * 0.01`.

    `nn.Parameter(torch.ones(1)) * 0.1` becomes `nn.Parameter(torch.ones(1) * 0.1)`.
    """
    unmade = _Unmade()
    text = ast.unparse(unmade.visit(ast.parse(ast.unparse(value), mode="eval").body))
    if unmade.parameter is not None:
        return f"{unmade.parameter}({text})"
    if not unmade.asked:
        return None
    simple = isinstance(ast.parse(text, mode="eval").body, ast.Call | ast.Name)
    return f"{text}.requires_grad_()" if simple else f"({text}).requires_grad_()"


class _Unmade(ast.NodeTransformer):
    """Takes out of an expression what makes a leaf: `requires_grad=True`, `Parameter(...)`, `.requires_grad_()`."""

    def __init__(self) -> None:
        self.asked = False
        self.parameter: str | None = None

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        kept = [k for k in node.keywords if not (k.arg == "requires_grad" and is_constant(k.value, True))]
        self.asked = self.asked or len(kept) < len(node.keywords)
        node.keywords = kept
        name = dotted(node.func) or ""
        if name.rsplit(".", 1)[-1] == "Parameter" and len(node.args) == 1:
            self.parameter = name
            return node.args[0]
        if isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_" and not node.args:
            self.asked = True
            return node.func.value
        return node
