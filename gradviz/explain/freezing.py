"""Where the script switches `requires_grad` off by hand."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from gradviz.explain.facts import Facts
from gradviz.explain.history import plain
from gradviz.explain.source import Source, dotted, is_constant, prefixes
from gradviz.model import Place


@dataclass(frozen=True)
class Freeze:
    """`name` is the tensor, or the module whose parameters are frozen (`net` of `for p in net.parameters()`).

    `last` is `weight` where `m.weight` is frozen for each `m in net.modules()`: of `net` only what is called so.
    """

    name: str
    place: Place
    last: str = ""

    def holds(self, name: str) -> bool:
        """Tell whether a tensor of this name is among what was frozen."""
        return plain(self.name) in prefixes(plain(name)) and plain(name).endswith(self.last)


def freezes(facts: Facts) -> Iterator[Freeze]:
    """All lines that freeze something, in the order of the files."""
    for source in facts.sources.values():
        for node in source.walk(ast.Assign, ast.Call):
            target = _target(node)
            if target is not None:
                name = dotted(target)
                if name is not None:
                    place = Place(source.file, getattr(node, "lineno", 0))
                    yield _frozen(source, node, name, place)


def _target(node: ast.AST) -> ast.expr | None:
    """What is frozen by a statement, None when it freezes nothing."""
    if isinstance(node, ast.Assign) and is_constant(node.value, False):
        target = node.targets[0]
        return target.value if isinstance(target, ast.Attribute) and target.attr == "requires_grad" else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_":
        flag = node.args[0] if node.args else next((k.value for k in node.keywords), None)
        return node.func.value if is_constant(flag, False) else None
    return None


def _frozen(source: Source, node: ast.AST, name: str, place: Place) -> Freeze:
    """A name, with the variables of loops over parts of a module replaced by that module, from the inside out."""
    last = ""
    for loop in source.ancestors(node):
        first, _, rest = name.partition(".")
        if isinstance(loop, ast.For) and any(isinstance(t, ast.Name) and t.id == first for t in ast.walk(loop.target)):
            whole = next((dotted(owner) for owner in _owners(loop.iter)), None)
            if whole is not None:
                name, last = whole, (f".{rest}{last}" if rest else last)
    return Freeze(name, place, last)


_PARTS = ("parameters", "named_parameters", "modules", "named_modules", "children", "named_children")


def _owners(expression: ast.expr) -> Iterator[ast.expr]:
    for node in ast.walk(expression):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _PARTS:
            yield node.func.value
