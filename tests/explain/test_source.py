"""Reading the user's code: names, targets, statements; nothing of it runs."""

from __future__ import annotations

import ast

import pytest

from gradviz.explain.source import Source, argument, dotted, names_in, prefixes, targets, text_of
from gradviz.explain.writers import out_of_place, written_names


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def statement(text: str) -> ast.stmt:
    return ast.parse(text).body[0]


@pytest.mark.parametrize(
    ("text", "name"),
    [("x", "x"), ("self.net.weight", "self.net.weight"), ("ws[3]", "ws[3]"), ("d['a'].b", "d['a'].b"), ("f(x)", None),
     ("x[i]", None), ("a + b", None)],
)  # fmt: skip
def test_dotted(text: str, name: str | None) -> None:
    assert dotted(expression(text)) == name


def test_names_are_the_longest_chains() -> None:
    assert names_in(expression("(self.w * x[0]).sum() + f(y.T)")) == ["self.w", "x[0]", "f", "y.T"]


def test_prefixes() -> None:
    assert list(prefixes("self.ws[3].grad")) == ["self.ws[3].grad", "self.ws[3]", "self.ws", "self"]


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("a = b", [("a", "b")]),
        ("a = b = c", [("a", "c"), ("b", "c")]),
        ("a, (b, c) = x, y", [("a", "x"), ("b", "y"), ("c", "y")]),
        ("e, v = f(x)", [("e", "f(x)"), ("v", "f(x)")]),
        ("first, *rest = x", [("first", "x"), ("rest", "x")]),
        ("self.h: int = g(h)", [("self.h", "g(h)")]),
        ("a += b", [("a", "a + b")]),
        ("for p in net.parameters(): pass", [("p", "net.parameters()")]),
        ("x[i] = 3", []),
        ("f(x)", []),
    ],
)
def test_targets(text: str, pairs: list[tuple[str, str]]) -> None:
    assert [(name, ast.unparse(value)) for name, value in targets(statement(text))] == pairs


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("b[1] = 2", ["b[1]", "b"]),
        ("self.buf[0][1] += x", ["self.buf[0][1]", "self.buf[0]", "self.buf", "self"]),
        ("w -= 0.1 * g", ["w"]),
        ("h.mul_(2).add_(1)", ["h"]),
        ("y = F.relu(h, inplace=True)", ["h"]),
        ("torch.exp(x, out=x)", ["x"]),
        ("x.requires_grad_()", []),
        ("obj.__init__()", []),
        ("y = x + 1", []),
    ],
)
def test_what_a_statement_writes_to(text: str, names: list[str]) -> None:
    assert list(written_names(statement(text))) == names


@pytest.mark.parametrize(
    ("text", "name", "better"),
    [
        ("b += 1", "b", "b = b + 1"),
        ("w *= a - c", "w", "w = w * (a - c)"),
        ("b[1] = 2", "b", "b = b.clone()"),
        ("x.relu_()", "x", "x = x.relu()"),
        ("x.add_(y)", "x", "x = x.add(y)"),
        ("y = F.relu(h, inplace=True)", "h", "F.relu(h)"),
    ],
)
def test_the_same_out_of_place(text: str, name: str, better: str) -> None:
    assert out_of_place(statement(text), name) == better


def test_statements_by_line() -> None:
    source = Source("a.py", "def f(x):\n    y = (x *\n         2)\n    return y\n\nz = f(1)\n")
    assert [type(source.statement(line)).__name__ for line in range(1, 7)] == [
        "FunctionDef", "Assign", "Assign", "Return", "NoneType", "Assign",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["print x", "x = (", "a\x00b", "\ufeffx = 1\n\tif", "(" * 500])
def test_what_does_not_parse_is_an_empty_module(text: str) -> None:
    source = Source("a.py", text)
    assert source.tree.body == [] and source.statement(1) is None


def test_an_argument_by_place_or_name() -> None:
    call = expression("y.backward(torch.ones(2), retain_graph=True)")
    assert isinstance(call, ast.Call)
    first = argument(call, 0, "gradient")
    assert first is not None and text_of(first) == "torch.ones(2)"
    assert argument(call, 1, "inputs") is None


def test_long_code_is_cut_in_the_middle() -> None:
    text = text_of(expression("function(" + ", ".join(f"argument{k}" for k in range(20)) + ")"), 40)
    assert len(text) <= 40 and text.startswith("function(argument0") and text.endswith("ment19)")
