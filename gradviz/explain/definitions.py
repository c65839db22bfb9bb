"""Where a name got its value: the statement that bound it, by the recorded bindings, else by the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from gradviz.explain.facts import Facts
from gradviz.explain.history import happened_before
from gradviz.explain.scopes import function_at
from gradviz.explain.source import FunctionNode, Source, dotted, prefixes, targets
from gradviz.model import Binding, Call, Place


@dataclass(frozen=True)
class Scope:
    """A point in the run: a line of a file, in a function, before binding number `below` (None: not known)."""

    source: Source
    line: int
    function: str
    below: int | None = None

    @property
    def place(self) -> Place:
        """This point as a place."""
        return Place(self.source.file, self.line, self.function)


Definition = tuple[ast.expr, Scope]


def scope_of(facts: Facts, place: Place | None, below: int | None = None) -> Scope | None:
    """The scope of a place, None where its source was not kept."""
    source = facts.source(place)
    if source is None or place is None:
        return None
    return Scope(source, place.line, place.function, below)


def binding_of(facts: Facts, call: Call | None, name: str, scope: Scope) -> Binding | None:
    """The tensor that a (part of a) dotted name holds at a point of the run."""
    return facts.history.resolve(name, call, scope.place, scope.below)


def definitions(facts: Facts, call: Call | None, name: str, scope: Scope) -> Iterator[Definition]:
    """The expressions that gave `name` its value at a point of the run, each with its own scope."""
    binding = binding_of(facts, call, name, scope)
    if binding is not None:
        yield from _of_binding(facts, call, binding)
        return
    for part in prefixes(name):
        found = list(_in_comprehension(scope, part)) or list(_in_source(scope, part)) or list(_appended(scope, part))
        if found:
            yield from found
            return


def _of_binding(facts: Facts, call: Call | None, binding: Binding) -> Iterator[Definition]:
    """The statement that bound a tensor; an argument leads to where the same tensor was bound before."""
    same = [b for b in facts.history.of_tensor(binding.tensor) if b.order <= binding.order and happened_before(b, call)]
    for known in [binding, *reversed([b for b in same if b.order < binding.order])]:
        scope = scope_of(facts, known.place, known.order)
        statement = facts.statement_of(known.place, known.name)
        if scope is None or statement is None:
            continue
        found = [value for name, value in targets(statement) if name == known.name]
        if found:
            yield from ((value, scope) for value in found)
            return
        if known.cause == "written" and isinstance(statement, ast.Expr | ast.Assign):
            yield statement.value, scope


def _in_comprehension(scope: Scope, name: str) -> Iterator[Definition]:
    """What a comprehension on this line goes through with `name` as its variable."""
    at = scope.source.statement(scope.line)
    for node in () if at is None else ast.walk(at):
        if isinstance(node, ast.comprehension) and name in {
            n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)
        }:
            yield node.iter, scope


def _in_source(scope: Scope, name: str) -> Iterator[Definition]:
    """The last assignment above in the same function, else one of the file's top level."""
    here: list[Definition] = []
    outside: list[Definition] = []
    at = scope.source.statement(scope.line)
    function = None if at is None else scope.source.function_of(at)
    for statement in scope.source.walk(ast.stmt):
        assert isinstance(statement, ast.stmt)
        for target, value in targets(statement):
            if target != name or statement is at:
                continue
            owner = scope.source.function_of(statement)
            found = (value, Scope(scope.source, statement.lineno, function_at(scope.source, statement), scope.below))
            if owner is function:
                here.append(found)
            elif owner is None:
                outside.append(found)
    above = [found for found in here if found[1].line < scope.line]
    for chosen in (above, here, outside):
        if chosen:
            last = max(chosen, key=lambda found: found[1].line)
            yield last
            if isinstance(last[0], ast.List) or dotted(getattr(last[0], "func", last[0])) == "list":
                yield from _appended(scope, name)
            return


def _appended(scope: Scope, name: str) -> Iterator[Definition]:
    """What a list was filled with, `losses.append(loss)`; an attribute is known by its own name, whatever holds it."""
    for call in scope.source.walk(ast.Call):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not call.args:
            continue
        owner = dotted(call.func.value) or ""
        same = owner == name or ("." in name and owner.rpartition(".")[2] == name.rpartition(".")[2])
        if call.func.attr in ("append", "extend", "insert") and same:
            yield call.args[-1], Scope(scope.source, call.lineno, function_at(scope.source, call), scope.below)


def called(facts: Facts, call: ast.Call, scope: Scope) -> list[tuple[FunctionNode, Source]]:
    """The user's functions that a call expression runs: a function, a method, the `forward` of a module."""
    name = dotted(call.func)
    if name is None:
        return []
    last = name.rsplit(".", 1)[-1]
    direct = [(f, s) for s in facts.sources.values() for f in _functions(s) if f.name == last]
    if direct:
        return direct
    classes = {word for part in _made_by(scope, name) for word in part}
    return [
        (f, s)
        for s in facts.sources.values()
        for f in _functions(s)
        if f.name in ("forward", "__call__")
        and isinstance(owner := s.parents.get(f), ast.ClassDef)
        and owner.name in classes
    ]


def _made_by(scope: Scope, name: str) -> Iterator[set[str]]:
    """The names of classes in the expressions that an object may have come from: `Net` of `model = Net()`."""
    for statement in scope.source.walk(ast.Assign):
        assert isinstance(statement, ast.Assign)
        for target, value in targets(statement):
            if target == name:
                yield {
                    (dotted(node.func) or "").rsplit(".", 1)[-1]
                    for node in ast.walk(value)
                    if isinstance(node, ast.Call)
                }


def _functions(source: Source) -> Iterator[FunctionNode]:
    for node in source.walk(ast.FunctionDef, ast.AsyncFunctionDef):
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        yield node


def returns(function: FunctionNode, source: Source) -> Iterator[Definition]:
    """What a function returns, each expression with its scope."""
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value is not None and source.function_of(node) is function:
            yield node.value, Scope(source, node.lineno, function_at(source, node))
