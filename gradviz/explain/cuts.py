"""Where the chain from a tensor back to its leaves was cut, found by going backwards through the script's code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gradviz.explain.definitions import Definition, Scope, binding_of, called, definitions, returns
from gradviz.explain.facts import Facts
from gradviz.explain.source import Source, dotted, gives_indices, is_constant, names_in, text_of
from gradviz.model import Binding, Call, Place

CutKind = Literal[
    "detach", "data", "item", "numpy", "list", "index", "draw", "comparison", "integer", "new-tensor", "no-grad",
    "inference-mode", "disabled", "checkpoint", "grad-call", "grad-attribute",
]  # fmt: skip

_MOST_STEPS = 400
_FEW_STEPS = 40
_DTYPES = {"long", "int", "short", "char", "byte", "bool", "int8", "int16", "int32", "int64", "uint8"}
_INDICES = {"argmax", "argmin", "argsort", "argwhere", "nonzero", "searchsorted", "bucketize", "bincount",
            "histc", "unique", "one_hot"}  # fmt: skip
_DRAWS = {"sample", "multinomial", "bernoulli", "poisson", "randint_like"}
_COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge", "isclose", "logical_and", "logical_or", "logical_not", "isnan",
                "greater", "less", "equal"}  # fmt: skip
_NEW = {"tensor", "Tensor", "FloatTensor", "DoubleTensor", "LongTensor", "as_tensor", "from_numpy", "new_tensor",
        "scalar_tensor"}  # fmt: skip
_NUMPY = {"np", "numpy", "math"}


@dataclass(frozen=True)
class Cut:
    """An expression behind which nothing is tracked. `names` went in; `tracked` tells whether one of them required
    grad: True, False, or None where that is not known (the result of a module, say).
    """

    kind: CutKind
    place: Place
    code: str
    names: tuple[str, ...]
    tracked: bool | None
    operand: str | None = None  # what went in, as it is written: `model(x)` of `model(x).argmax(1)`


@dataclass(frozen=True)
class Slice:
    """What a value was computed from: the cuts on the way, nearest first, and all names met."""

    cuts: tuple[Cut, ...]
    names: tuple[tuple[str, Scope], ...]


def slice_of(facts: Facts, call: Call | None, expression: ast.expr, scope: Scope) -> Slice:
    """Go back from an expression through assignments and the user's functions."""
    waiting: list[Definition] = [(expression, scope)]
    seen: set[tuple[str, int, str]] = set()
    cuts: list[Cut] = []
    names: list[tuple[str, Scope]] = []
    while waiting and len(seen) < _MOST_STEPS:
        value, here = waiting.pop(0)
        key = (here.source.file, here.line, ast.dump(value))
        if key in seen:
            continue
        seen.add(key)
        cuts += _cuts_in(facts, call, value, here)
        for name in names_in(value):
            names.append((name, here))
            waiting += definitions(facts, call, name, here)
        for node in ast.walk(value):
            if isinstance(node, ast.Call):
                waiting += [found for f, s in called(facts, node, here) for found in returns(f, s)]
    return Slice(tuple(cuts), tuple(dict.fromkeys(names)))


def _cuts_in(facts: Facts, call: Call | None, value: ast.expr, scope: Scope) -> Iterator[Cut]:
    """The cuts inside one expression, innermost first, then what stands around its statement."""
    around = _around(scope)
    for node in _inside_out(value):
        kind = _kind(node)
        # An update that reads `w.grad` under no_grad is cut off by the block: a gradient with a graph would not help.
        if kind is not None and not (kind == "grad-attribute" and around is not None):
            operand = _operand(node)
            names = tuple(names_in(operand)) if operand is not None else ()
            place = Place(scope.source.file, getattr(node, "lineno", scope.line), scope.function)
            yield Cut(
                kind, place, text_of(node), names, _tracked(facts, call, names, scope, operand), _first_of(operand)
            )
    if around is not None:
        names = tuple(names_in(value))
        yield Cut(around, scope.place, text_of(value), names, _tracked(facts, call, names, scope, None))


def _tracked(
    facts: Facts, call: Call | None, names: tuple[str, ...], scope: Scope, operand: ast.expr | None
) -> bool | None:
    known = [_held(facts, call, name, scope) for name in names]
    if any(binding is not None and binding.requires_grad for binding in known):
        return True
    unknown = [name for name, binding in zip(names, known, strict=True) if binding is None]
    if any(_seems_tracked(facts, call, name, scope) for name in unknown):
        return True
    if operand is not None and _returns_tracked(facts, call, operand, scope):
        return True
    return None if unknown else False


def _returns_tracked(facts: Facts, call: Call | None, operand: ast.expr, scope: Scope) -> bool:
    """Tell whether a function of the user's that is called there returned what required grad, and cut nothing off."""
    for node in ast.walk(operand):
        for function, source in called(facts, node, scope) if isinstance(node, ast.Call) else ():
            for value, here in returns(function, source):
                if any(_kind(part) is not None for part in ast.walk(value) if isinstance(part, ast.expr)):
                    continue
                held = [binding_of(facts, call, name, here) for name in names_in(value)]
                if any(binding is not None and binding.requires_grad for binding in held):
                    return True
    return False


def _held(facts: Facts, call: Call | None, name: str, scope: Scope) -> Binding | None:
    """The tensor that a name holds; of a list its first one."""
    found = binding_of(facts, call, name, scope)
    return found or facts.history.last(f"{name}[0]", call, scope.place, scope.below)


def _seems_tracked(facts: Facts, call: Call | None, name: str, scope: Scope) -> bool:
    """Tell whether the code that gave a name its value asks for gradients; for what no binding tells of."""
    waiting = list(definitions(facts, call, name, scope))
    seen: set[int] = set()
    while waiting and len(seen) < _FEW_STEPS:
        value, here = waiting.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        if any(_asks_for_grad(node) for node in ast.walk(value)):
            return True
        if any(_kind(node) is not None for node in ast.walk(value) if isinstance(node, ast.expr)):
            continue
        for inner in names_in(value):
            waiting += definitions(facts, call, inner, here)
    return False


def _asks_for_grad(node: ast.AST) -> bool:
    if isinstance(node, ast.keyword):
        return node.arg == "requires_grad" and is_constant(node.value, True)
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else dotted(node.func) or ""
    return name == "Parameter" or (name == "requires_grad_" and not node.args)


def _inside_out(value: ast.expr) -> Iterator[ast.expr]:
    nodes = [node for node in ast.walk(value) if isinstance(node, ast.expr)]
    return reversed(nodes)


def _kind(node: ast.expr) -> CutKind | None:
    """What kind of cut this node is, without looking inside it."""
    if isinstance(node, ast.Compare) and not all(isinstance(op, ast.Is | ast.IsNot | ast.In) for op in node.ops):
        return "comparison"
    if isinstance(node, ast.Subscript) and is_constant(node.slice, 1) and gives_indices(node.value):
        return "index"
    if isinstance(node, ast.Attribute) and node.attr == "indices" and gives_indices(node.value):
        return "index"
    if isinstance(node, ast.Attribute):
        kinds: dict[str, CutKind] = {"data": "data", "grad": "grad-attribute"}
        return kinds.get(node.attr) if dotted(node.value) not in ("torch.autograd", "autograd") else None
    if not isinstance(node, ast.Call):
        return None
    return _kind_of_call(node)


def _kind_of_call(node: ast.Call) -> CutKind | None:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else dotted(node.func) or ""
    owner = dotted(node.func.value) if isinstance(node.func, ast.Attribute) else None
    plain: dict[str, CutKind] = {
        "detach": "detach", "detach_": "detach", "item": "item", "numpy": "numpy", "tolist": "list",
    }  # fmt: skip
    if name in plain:
        return plain[name]
    if owner in _NUMPY and owner != "math":
        return "numpy"
    if name == "grad" and (owner is None or owner.endswith("autograd")):
        graph = any(k.arg == "create_graph" and not is_constant(k.value, False) for k in node.keywords)
        return None if graph else "grad-call"
    if name in _INDICES:
        return "index"
    if name in _DRAWS and owner not in ("random", "np.random"):
        return "draw"
    if name in _COMPARISONS:
        return "comparison"
    if name == "float" and isinstance(node.func, ast.Name):
        return "item"
    if (name in _DTYPES and isinstance(node.func, ast.Attribute)) or (
        name in ("type", "to") and any(_is_integer(argument) for argument in [*node.args, *_values(node)])
    ):
        return "integer"
    if name in _NEW and (owner is None or owner == "torch" or name == "new_tensor"):
        return "new-tensor"
    if name == "checkpoint" and any(k.arg == "use_reentrant" and is_constant(k.value, True) for k in node.keywords):
        return "checkpoint"
    return None


def _values(node: ast.Call) -> list[ast.expr]:
    return [keyword.value for keyword in node.keywords]


def _is_integer(node: ast.expr) -> bool:
    name = (dotted(node) or "").rsplit(".", 1)[-1]
    return name in _DTYPES or name in ("LongTensor", "IntTensor", "ByteTensor", "BoolTensor")


def _operand(node: ast.expr) -> ast.expr | None:
    """What goes into a cut: the receiver of a method, else the arguments."""
    if isinstance(node, ast.Subscript | ast.Attribute) and gives_indices(node.value):
        return _operand(node.value)
    if isinstance(node, ast.Attribute):
        return node.value
    if isinstance(node, ast.Call):
        inside = list(node.args)
        if isinstance(node.func, ast.Attribute) and dotted(node.func.value) not in ("torch", "F", "np", "numpy"):
            inside.insert(0, node.func.value)
        return ast.Tuple(elts=inside, ctx=ast.Load())
    return node


def _first_of(operand: ast.expr | None) -> str | None:
    first = operand.elts[0] if isinstance(operand, ast.Tuple) and operand.elts else operand
    return None if first is None or isinstance(first, ast.Tuple | ast.Compare) else text_of(first)


def _around(scope: Scope) -> CutKind | None:
    """The block or decorator that switches tracking off at a line."""
    statement = scope.source.statement(scope.line)
    if statement is None:
        return None
    for node in scope.source.ancestors(statement):
        marks: list[ast.expr] = []
        if isinstance(node, ast.With | ast.AsyncWith):
            marks = [item.context_expr for item in node.items]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            marks = list(node.decorator_list)
        for mark in marks:
            if (kind := _switches_off(mark)) is not None:
                return kind
    return "disabled" if switched_off_for_good(scope.source, scope.line) is not None else None


def _switches_off(mark: ast.expr) -> CutKind | None:
    function = mark.func if isinstance(mark, ast.Call) else mark
    name = (dotted(function) or "").rsplit(".", 1)[-1]
    argument = mark.args[0] if isinstance(mark, ast.Call) and mark.args else None
    if name == "no_grad":
        return "no-grad"
    if name == "inference_mode" and not is_constant(argument, False):
        return "inference-mode"
    return "no-grad" if name == "set_grad_enabled" and is_constant(argument, False) else None


def switched_off_for_good(source: Source, line: int) -> int | None:
    """The line of a bare `torch.set_grad_enabled(False)` above `line` that is not taken back before it."""
    last: tuple[int, bool] | None = None
    for node in source.walk(ast.Expr):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.lineno < line:
            name = (dotted(node.value.func) or "").rsplit(".", 1)[-1]
            if name == "set_grad_enabled" and node.value.args:
                on = is_constant(node.value.args[0], True)
                if last is None or node.lineno > last[0]:
                    last = (node.lineno, on)
    return last[0] if last is not None and not last[1] else None
