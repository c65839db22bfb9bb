"""The scopes of names are those that Python itself gives: compared with the code objects of the same text."""

from __future__ import annotations

import ast
import sys
from types import CodeType

from gradviz.explain.scopes import around, comprehension_scope, function_at, scope_of_name
from gradviz.explain.source import Source

TEXT = """\
x0 = 1
def outer(a):
    x1 = a
    def inner(b):
        x2 = b
        return lambda c: [x3 for x3 in c]
    return inner
class Net:
    x4 = 2
    def forward(self, x):
        x5 = x
        return [x6 for x6 in x5]
    class Part:
        async def run(self):
            x7 = 1
"""


def _stored(code: CodeType) -> dict[str, str]:
    """Name -> qualified name of the code that stores it, as the compiler sees it."""
    found = {}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _stored(constant)
    names = set(code.co_names) | set(code.co_varnames)
    qualified = code.co_qualname if sys.version_info >= (3, 11) else code.co_name
    return found | {name: qualified for name in names if name.startswith("x") and name[1:].isdigit()}


def test_functions_are_named_as_the_compiler_names_them() -> None:
    source = Source("a.py", TEXT)
    stored = _stored(compile(TEXT, "a.py", "exec"))
    for node in source.walk(ast.Assign):
        assert isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        mine = function_at(source, node)
        wanted = stored[node.targets[0].id]
        assert mine == wanted or mine.rpartition(".")[2] == wanted


def test_a_comprehension_is_a_scope_of_its_variables_only() -> None:
    source = Source("a.py", "def f(x, ts):\n    return [x + t.grad for t in ts]\n")
    names = {n.id: n for n in source.walk(ast.Name) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    assert scope_of_name(source, names["t"], "t.grad") == comprehension_scope(2)
    assert scope_of_name(source, names["x"], "x") == "f"


def test_a_name_is_looked_for_as_python_does() -> None:
    assert list(around("outer.<locals>.inner")) == ["outer.<locals>.inner", "outer", "<module>"]
    assert list(around("Net.forward")) == ["Net.forward", "<module>"]
    assert list(around("<module>")) == ["<module>"]
    assert list(around(comprehension_scope(3))) == [comprehension_scope(3)]
