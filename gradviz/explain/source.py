"""The user's source files as syntax trees: which statement stands on a line, and what it says."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from functools import cached_property

_MAX_TEXT = 4_000_000  # a generated file of more characters is not parsed
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


class Source:
    """One user file. Its tree is an empty module where it does not parse (`error` says why)."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self.error: SyntaxError | None = None

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends."""
        return self.text.splitlines()

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree; nothing of it is ever executed."""
        empty = ast.Module(body=[], type_ignores=[])
        if len(self.text) > _MAX_TEXT:
            return empty
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # an invalid escape in the user's text is not our warning
                return ast.parse(self.text)
        except SyntaxError as error:
            self.error = error
        except (ValueError, RecursionError, MemoryError):  # NUL bytes; nesting beyond the parser's limits
            pass
        return empty

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Node -> the node that contains it."""
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    @cached_property
    def _by_line(self) -> dict[int, ast.stmt]:
        found: dict[int, ast.stmt] = {}
        for node in ast.walk(self.tree):  # outer statements come first, so inner ones win
            if isinstance(node, ast.stmt):
                for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                    found[line] = node
        return found

    def statement(self, line: int) -> ast.stmt | None:
        """The innermost statement that stands on `line`."""
        return self._by_line.get(line)

    def statements(self, line: int) -> list[ast.stmt]:
        """The innermost statements on `line`, several where semicolons part them."""
        last = self.statement(line)
        block = [] if last is None else self._neighbours(last)
        return [s for s in block if s.lineno <= line <= (s.end_lineno or s.lineno)] or ([] if last is None else [last])

    def _neighbours(self, statement: ast.stmt) -> list[ast.stmt]:
        parent = self.parents.get(statement)
        blocks = (getattr(parent, name, None) for name in ("body", "orelse", "finalbody"))
        return next((block for block in blocks if isinstance(block, list) and statement in block), [])

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """What contains `node`, from the inside out."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def function_of(self, node: ast.AST) -> FunctionNode | None:
        """The function whose body holds `node`, None at the top level of the file."""
        return next((a for a in self.ancestors(node) if isinstance(a, ast.FunctionDef | ast.AsyncFunctionDef)), None)

    def loop_of(self, node: ast.AST) -> ast.For | ast.While | None:
        """The innermost loop around `node` inside its function."""
        for ancestor in self.ancestors(node):
            if isinstance(ancestor, ast.For | ast.While):
                return ancestor
            if isinstance(ancestor, _SCOPES):
                return None
        return None

    def walk(self, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
        """All nodes of these kinds in the file."""
        return (node for node in ast.walk(self.tree) if isinstance(node, kinds))


def text_of(node: ast.AST, limit: int = 60) -> str:
    """The code of an expression on one line, shortened in the middle to `limit` characters."""
    text = " ".join(ast.unparse(node).split())
    if len(text) <= limit:
        return text
    return f"{text[: limit - 12]} … {text[-8:]}"


def dotted(node: ast.AST) -> str | None:
    """`x`, `self.state`, `ws[3]` as bindings name them; None for anything that is not such a name."""
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Name):
            return node.id + "".join(reversed(parts))
        if isinstance(node, ast.Attribute):
            parts.append(f".{node.attr}")
            node = node.value
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            parts.append(f"[{node.slice.value!r}]")
            node = node.value
        else:
            return None


def names_in(node: ast.AST) -> list[str]:
    """All names that an expression reads, in order, each chain as its longest dotted form (`self.net.weight`)."""
    found: list[str] = []
    waiting: list[ast.AST] = [node]
    while waiting:
        current = waiting.pop(0)
        name = dotted(current)
        if name is None:
            waiting[:0] = list(ast.iter_child_nodes(current))
        elif name not in found:
            found.append(name)
    return found


def prefixes(name: str) -> Iterator[str]:
    """`a.b.c` -> `a.b.c`, `a.b`, `a`: what a dotted expression may be a method or an attribute of."""
    while name:
        yield name
        cut = max(name.rfind("."), name.rfind("["))
        name = name[:cut] if cut > 0 else ""


def targets(statement: ast.stmt) -> list[tuple[str, ast.expr]]:
    """The names that an assignment binds, each with the expression that gives its value."""
    if isinstance(statement, ast.Assign):
        pairs = [pair for target in statement.targets for pair in _unpack(target, statement.value)]
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        pairs = _unpack(statement.target, statement.value)
    elif isinstance(statement, ast.AugAssign):
        left = ast.copy_location(ast.BinOp(_load(statement.target), statement.op, statement.value), statement)
        pairs = [(statement.target, left)]
    elif isinstance(statement, ast.For | ast.AsyncFor):
        pairs = [(name, statement.iter) for name, _ in _unpack(statement.target, statement.iter)]
    else:
        return []
    return [(name, value) for target, value in pairs if (name := dotted(target)) is not None]


def _load(target: ast.expr) -> ast.expr:
    return target


def _unpack(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Pairs of single targets and values; a tuple is taken apart where both sides show their elements."""
    if isinstance(target, ast.Starred):
        return [(target.value, value)]
    if not isinstance(target, ast.Tuple | ast.List):
        return [(target, value)]
    if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
        return [pair for t, v in zip(target.elts, value.elts, strict=True) for pair in _unpack(t, v)]
    if gives_indices(value) and len(target.elts) == 2:
        return [*_unpack(target.elts[0], value), *_unpack(target.elts[1], _second(value))]
    return [pair for element in target.elts for pair in _unpack(element, value)]


_WITH_INDICES = ("max", "min", "topk", "sort", "median", "mode", "kthvalue", "cummax", "cummin")


def gives_indices(value: ast.expr) -> bool:
    """Tell whether an expression is a call such as `scores.max(1)`, whose second result is indices."""
    function = value.func if isinstance(value, ast.Call) else None
    return isinstance(function, ast.Attribute) and function.attr in _WITH_INDICES


def _second(value: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Subscript(value=value, slice=ast.Constant(1), ctx=ast.Load()), value)


def argument(call: ast.Call, position: int, *keywords: str) -> ast.expr | None:
    """The argument at `position`, or under one of its keyword names; None when it is not written."""
    for keyword in call.keywords:
        if keyword.arg in keywords:
            return keyword.value
    plain = call.args[: position + 1]
    if len(plain) <= position or any(isinstance(a, ast.Starred) for a in plain):
        return None
    return plain[position]


def uncalled(source: Source, method: str) -> Iterator[ast.Attribute]:
    """Lines that are nothing but the name of a method, `loss.backward`, and so do nothing."""
    for node in source.walk(ast.Expr):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Attribute) and node.value.attr == method:
            yield node.value


def is_constant(node: ast.AST | None, value: object) -> bool:
    """Tell whether `node` is exactly this literal (`True` is not `1` here)."""
    return isinstance(node, ast.Constant) and type(node.value) is type(value) and node.value == value


def is_none(node: ast.AST | None) -> bool:
    """Tell whether an argument is not written or is a literal `None`."""
    return node is None or is_constant(node, None)


def parameters_of(expression: ast.AST) -> Iterator[str]:
    """The modules whose `parameters()` an expression asks for."""
    for node in ast.walk(expression):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = dotted(node.func.value)
            if node.func.attr in ("parameters", "named_parameters") and owner is not None:
                yield owner
