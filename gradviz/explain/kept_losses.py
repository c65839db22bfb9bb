"""The part of graph-grows about losses that are summed up or collected as tensors, each with its graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradviz.explain import words
from gradviz.explain.facts import Facts
from gradviz.explain.source import Source, dotted, targets
from gradviz.model import Binding, Finding, Place
from gradviz.texts import tr

_TIMES = 3  # fewer are no habit
_CUTS = ("item", "detach", "tolist", "numpy", "float")


def kept_losses(facts: Facts) -> Iterator[Finding]:
    """`total += loss`, `ema = 0.9 * ema + 0.1 * loss`, `losses.append(loss)` of a root of calls."""
    roots = {root.name for call in facts.user_calls for root in call.roots if root.name}
    losses = roots | _also_called(facts, roots)
    in_graphs = {n.name for c in facts.looked_at for n in facts.graph(c.number).nodes if n.name}
    for source in facts.sources.values():
        for statement in source.walk(ast.AugAssign, ast.Assign):
            assert isinstance(statement, ast.AugAssign | ast.Assign)
            total, loss = _added(statement, losses)
            if total is None or loss is None or total in roots | in_graphs:
                continue
            bound = [b for b in facts.history.named(total) if b.place.line == statement.lineno]
            if any(b.requires_grad for b in bound) and _times(bound) >= _TIMES and _between_calls(bound) > 1:
                yield _sum(Place(source.file, statement.lineno), statement, total, loss)
        yield from _collected(facts, source, losses)


def _also_called(facts: Facts, roots: set[str]) -> set[str]:
    """Other names of the tensors that calls start from: the argument of a function that keeps them."""
    tensors = {b.tensor for name in roots for b in facts.history.named(name) if b.requires_grad}
    return {b.name for tensor in tensors for b in facts.history.of_tensor(tensor) if "[" not in b.name}


def _added(statement: ast.AugAssign | ast.Assign, losses: set[str]) -> tuple[str | None, str | None]:
    """The sum and the loss of a statement that adds one to the other: its new value reads both."""
    for total, value in targets(statement):
        read = list(_tensors_in(value))
        loss = next((name for name in read if name in losses and name != total), None)
        if total in read and loss is not None and isinstance(value, ast.BinOp):
            return total, loss
    return None, None


def _tensors_in(value: ast.expr) -> Iterator[str]:
    """The names that an expression reads as tensors: not inside `float(...)`, not before `.item()`."""
    waiting: list[ast.AST] = [value]
    while waiting:
        node = waiting.pop(0)
        function = node.func if isinstance(node, ast.Call) else node
        last = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if (isinstance(node, ast.Call) and last in _CUTS) or (isinstance(node, ast.Attribute) and last == "data"):
            continue
        name = dotted(node)
        if name is not None:
            yield name
        else:
            waiting += ast.iter_child_nodes(node)


def _between_calls(bound: list[Binding]) -> int:
    """Between how many different calls something was kept: what is built up for one call is used by it."""
    return len({b.before_call for b in bound})


def _times(bound: list[Binding]) -> int:
    return max((b.count for b in bound), default=0) if len(bound) < _TIMES else len(bound)


def _sum(place: Place, statement: ast.stmt, total: str, loss: str) -> Finding:
    message = tr(
        "{total} adds up the tensor {loss}, not its number, so it keeps the graph of every step in memory.",
        total=words.code(total),
        loss=words.code(loss),
    )
    return Finding("graph-grows", "warning", None, None, place, message, _write(statement, loss))


def _write(statement: ast.stmt, loss: str) -> str:
    """The statement with the number of the loss instead of its tensor."""
    code = ast.unparse(_Numbered(loss).visit(ast.parse(ast.unparse(statement))))
    return tr("Write {code}.", code=words.code(code))


class _Numbered(ast.NodeTransformer):
    """Puts `.item()` behind a name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Name | ast.Attribute) and dotted(node) == self._name:
            return ast.Call(ast.Attribute(node, "item", ast.Load()), [], [])
        return super().generic_visit(node)


def _collected(facts: Facts, source: Source, losses: set[str]) -> Iterator[Finding]:
    """`losses.append(loss)`, where the elements of the list are known to be such tensors."""
    for node in source.walk(ast.Call):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "append":
            continue
        kept, value = dotted(node.func.value), node.args[0] if node.args else None
        if kept is None or value is None or _has_limit(source, kept):
            continue
        loss = next((name for name in _tensors_in(value) if name in losses), None)
        if loss is None or _times_kept(facts, source, node, kept, loss) < _TIMES:
            continue
        message = tr(
            "{code} keeps the tensor {loss}, not its number, so the graph of every step stays in memory.",
            code=words.code(ast.unparse(node)),
            loss=words.code(loss),
        )
        place = Place(source.file, node.lineno)
        yield Finding("graph-grows", "warning", None, None, place, message, _write(ast.Expr(node), loss))


def _times_kept(facts: Facts, source: Source, node: ast.Call, kept: str, loss: str) -> int:
    """How often a loss was appended: elements that bindings tell of, else the calls of that name in its loop."""
    held = [b for b in facts.history.all if b.name.startswith(f"{kept}[") and b.place.line == node.lineno]
    if held:
        return _between_calls([b for b in held if b.requires_grad])
    calls = [call for call in facts.user_calls if any(root.name == loss for root in call.roots)]
    return 0 if source.loop_of(node) is None or kept.isidentifier() else len(calls)


def _has_limit(source: Source, name: str) -> bool:
    """Tell whether a list is a `deque(maxlen=...)`, which lets go of old ones."""
    return any(
        isinstance(value, ast.Call) and any(k.arg == "maxlen" for k in value.keywords)
        for statement in source.walk(ast.Assign)
        if isinstance(statement, ast.Assign)
        for target, value in targets(statement)
        if target == name
    )
