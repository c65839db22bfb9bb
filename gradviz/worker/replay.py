"""Runs the script's forward pass once more, in a copy of the script: from the lines that made a graph to its root.

There is no function to call again, only lines that have run. So the statements before the call are run again: first
only those that made nodes of the graph, and where that does not give the root's value, all of them. What comes out is
compared with the value that the root really has; a replay that differs is not used.
"""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch

from gradviz.errors import SeedError
from gradviz.texts import tr
from gradviz.worker.frames import path_of
from gradviz.worker.held import HeldCall
from gradviz.worker.names import reached
from gradviz.worker.sites import qualified_name
from gradviz.worker.walk import LEAF

Bound = Callable[[dict[str, Any]], None]  # looks at the variables after each statement


@dataclass(frozen=True)
class Replay:
    """Statements to run, and the expression of the root after them."""

    statements: tuple[ast.stmt, ...]
    root: str
    file: str
    from_start: bool  # all statements, with the random states of the start

    def run(self, variables: dict[str, Any], after_each: Bound) -> Any:
        """Run it on `variables`, which it changes; returns the root's value."""
        after_each(variables)
        for statement in self.statements:
            code = compile(ast.Module([statement], []), self.file, "exec")
            exec(code, variables)
            after_each(variables)
        found = reached(self.root, variables)
        return eval(compile(self.root, self.file, "eval"), variables) if found is None else found


def replays(call: HeldCall, root_name: str | None) -> Iterator[Replay]:
    """Ways to compute the root again, the cheapest first.

    Raises:
        SeedError: the lines that made the graph cannot be told.
    """
    frame, lines = _frame_of(call)
    file = path_of(frame.f_code.co_filename)
    try:
        with tokenize.open(file) as source:
            tree = ast.parse(source.read(), file)
    except (OSError, SyntaxError, ValueError) as error:
        raise SeedError(tr("The forward pass cannot be run again: {why}.", why=error)) from error
    body = _body(tree, frame)
    root = root_name or _expression(body, frame.f_lineno)
    if root is None:
        raise SeedError(tr("The forward pass cannot be run again: the root has no name in the script."))
    before = list(_before(body, frame.f_lineno))
    chosen = tuple(statement for statement in before if any(_spans(statement, line) for line in lines))
    yield Replay(chosen, root, file, from_start=False)
    if isinstance(tree, ast.Module) and body is tree.body:
        yield Replay(tuple(before), root, file, from_start=True)


def _frame_of(call: HeldCall) -> tuple[FrameType, set[int]]:
    """The innermost running frame of the user's in which all nodes of the graph were made, and the lines there."""
    nodes = [node for node, kind in zip(call.walk.nodes, call.walk.kinds, strict=True) if kind != LEAF]
    sites = [call.site(node) for node in nodes]
    frame = call.entry.frame
    while frame is not None:
        if call.is_user_file(frame.f_code.co_filename):
            where = path_of(frame.f_code.co_filename), qualified_name(frame.f_code)
            lines = [_line_in(site, where) for site in sites]
            if all(line is not None for line in lines):
                return frame, {line for line in lines if line is not None}
        frame = frame.f_back
    raise SeedError(tr("The forward pass cannot be run again: not all lines that made this graph are known."))


def _line_in(site: Any, where: tuple[str, str]) -> int | None:
    if site is None:
        return None
    return next((place.line for place in site.stack if (place.file, place.function) == where), None)


def _body(tree: ast.Module, frame: FrameType) -> list[ast.stmt]:
    """The statements of the function (or module) that a frame runs."""
    code = frame.f_code
    if code.co_name == "<module>":
        return tree.body
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first == code.co_firstlineno:
                return node.body
    raise SeedError(tr("The forward pass cannot be run again: {name} is not a plain function.", name=code.co_name))


def _before(body: Sequence[ast.stmt], line: int) -> Iterator[ast.stmt]:
    """The statements that stand before `line`, in its block and in the blocks around it."""
    for statement in body:
        if _spans(statement, line):
            for inner in _blocks(statement):
                if inner and inner[0].lineno <= line and any(_spans(each, line) for each in inner):
                    yield from _before(inner, line)
            return
        yield statement


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, [])
    for handler in getattr(statement, "handlers", []):
        yield handler.body


def _spans(statement: ast.stmt, line: int) -> bool:
    return statement.lineno <= line <= (statement.end_lineno or statement.lineno)


def _expression(body: list[ast.stmt], line: int) -> str | None:
    """The root as the call's own line writes it: `(a @ b).sum()` of `(a @ b).sum().backward()`."""
    for statement in body:
        if not _spans(statement, line):
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or line):
                found = _receiver(node)
                if found is not None:
                    return ast.unparse(found)
    return None


def _receiver(node: ast.Call) -> ast.expr | None:
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)
    if name not in ("backward", "grad"):
        return None
    named = next((word.value for word in node.keywords if word.arg in ("outputs", "tensors")), None)
    first = named or (node.args[0] if node.args else None)
    is_torch = isinstance(function, ast.Name) or ast.unparse(function).startswith(("torch.", "autograd."))
    if name == "backward" and not is_torch and isinstance(function, ast.Attribute):
        return function.value
    if isinstance(first, (ast.Tuple, ast.List)):
        return first.elts[0] if first.elts else None
    return first


def in_double(call: HeldCall) -> None:
    """Turn every floating-point tensor that the copy can name into double precision, in place."""
    torch.set_default_dtype(torch.float64)
    for tensor in call.tensors.values():
        if tensor.layout != torch.strided:
            continue
        if tensor.is_floating_point() and tensor.dtype != torch.float64:
            tensor.data = tensor.data.double()
        elif tensor.is_complex() and tensor.dtype != torch.complex128:
            tensor.data = tensor.data.to(torch.complex128)


def value_of(root: Any) -> Any:
    """A detached double copy of a root."""
    return root.detach().to(torch.float64).clone()
