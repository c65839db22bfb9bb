"""Which scope a name belongs to, by Python's rules: a function, a class body, a comprehension or the file.

Scopes are named as `co_qualname` names functions: `<module>`, `Net.forward`, `outer.<locals>.inner`. A comprehension is
a scope of its own here, named by its line, in every version of Python: 3.12 runs it inside of the function around it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gradviz.explain.source import Source, targets
from gradviz.model import Binding, Place

MODULE = "<module>"
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_OPENERS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def function_at(source: Source, node: ast.AST) -> str:
    """The function or class body that runs the code of `node`."""
    parts: list[str] = []
    for ancestor in source.ancestors(node):
        if isinstance(ancestor, _OPENERS):
            if parts and not isinstance(ancestor, ast.ClassDef):
                parts.append("<locals>")
            parts.append("<lambda>" if isinstance(ancestor, ast.Lambda) else ancestor.name)
    return ".".join(reversed(parts)) or MODULE


def scope_of_name(source: Source, node: ast.AST, name: str) -> str:
    """The scope that looks up (the first part of) `name` at `node`: a comprehension where that binds it."""
    base = _base(name)
    for ancestor in source.ancestors(node):
        if isinstance(ancestor, _COMPREHENSIONS) and base in _variables(ancestor):
            return comprehension_scope(ancestor.lineno)
        if isinstance(ancestor, _OPENERS):
            break
    return function_at(source, node)


def comprehension_scope(line: int) -> str:
    """The name of the scope of a comprehension that begins on a line."""
    return f"<comprehension {line}>"


def is_comprehension(scope: str) -> bool:
    """Tell whether a scope is that of a comprehension."""
    return scope.startswith("<comprehension ")


def around(scope: str) -> Iterator[str]:
    """A scope and those around it in which a name is looked for, from the inside out; class bodies are passed over."""
    yield scope
    if is_comprehension(scope) or scope == MODULE:
        return
    while ".<locals>." in scope:
        scope = scope.rpartition(".<locals>.")[0]
        yield scope
    yield MODULE


def class_of(scope: str) -> str:
    """The class whose method a scope is; empty for a plain function."""
    owner = scope.rpartition(".")[0]
    return "" if owner.endswith("<locals>") else owner


def settled(bindings: Iterable[Binding], sources: Mapping[str, Source]) -> Iterator[Binding]:
    """The bindings, each with the scope that its name belongs to as the function of its place.

    What a function binds after `global w` belongs to the file, after `nonlocal w` to the function around it; the
    variable of a comprehension to that alone.
    """
    declared = {file: dict(_declared(source)) for file, source in sources.items()}
    variables = {file: dict(_comprehensions(source)) for file, source in sources.items()}
    for binding in bindings:
        place, base = binding.place, _base(binding.name)
        if place.file not in sources:
            yield binding
            continue
        line = variables[place.file].get((place.line, base)) if binding.cause != "argument" else None
        if line is not None:
            scope = comprehension_scope(line)
        else:
            scope = declared[place.file].get((place.function, base), place.function)
        yield binding if scope == place.function else replace(binding, place=_in(place, scope))


def _in(place: Place, scope: str) -> Place:
    return replace(place, function=scope)


def _declared(source: Source) -> Iterator[tuple[tuple[str, str], str]]:
    """(function, name) -> scope, for what `global` and `nonlocal` say."""
    for node in source.walk(ast.Global, ast.Nonlocal):
        assert isinstance(node, ast.Global | ast.Nonlocal)
        function = function_at(source, node)
        outer = MODULE if isinstance(node, ast.Global) else function.rpartition(".<locals>.")[0]
        for name in node.names:
            yield (function, name), outer
            yield (function.rpartition(".")[2], name), outer  # as Python 3.10 names functions


def _comprehensions(source: Source) -> Iterator[tuple[tuple[int, str], int]]:
    """(line, name) -> first line of the comprehension that binds the name there, unless the statement binds it too."""
    for node in source.walk(*_COMPREHENSIONS):
        assert isinstance(node, _COMPREHENSIONS)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
            statement = source.statement(line)
            bound = set() if statement is None else {name for name, _ in targets(statement)}
            for name in _variables(node) - bound:
                yield (line, name), node.lineno


def _variables(node: ast.AST) -> set[str]:
    assert isinstance(node, _COMPREHENSIONS)
    return {n.id for part in node.generators for n in ast.walk(part.target) if isinstance(n, ast.Name)}


def _base(name: str) -> str:
    return re.split(r"[.\[]", name, maxsplit=1)[0]
