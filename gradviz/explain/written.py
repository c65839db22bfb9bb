"""How a backward call is written in the script: its root, its seed, its options, as expressions."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from gradviz.explain.facts import Facts
from gradviz.explain.source import Source, argument, dotted, is_constant, is_none, text_of
from gradviz.model import Call, Place

_FUNCTIONS = {"torch.autograd.backward": "backward", "torch.autograd.grad": "grad"}


@dataclass(frozen=True, slots=True)
class Written:
    """The code of one call. `method` tells `root.backward(...)` from `torch.autograd.backward/grad(...)`."""

    node: ast.Call
    method: bool
    is_grad: bool

    def root(self, index: int = 0) -> ast.expr | None:
        """The expression of root `index`."""
        if self.method:
            return self.node.func.value if isinstance(self.node.func, ast.Attribute) else None
        return _element(argument(self.node, 0, "tensors", "outputs"), index)

    def seed(self, index: int = 0) -> ast.expr | None:
        """The expression of the seed of root `index`; None where none is written."""
        if self.method:
            seed = argument(self.node, 0, "gradient")
        else:
            position = 2 if self.is_grad else 1
            seed = _element(argument(self.node, position, "grad_tensors", "grad_outputs", "grad_variables"), index)
        return None if is_none(seed) else seed

    def lists_seeds(self) -> bool:
        """Tell whether the seeds are written as a list, so that `seed()` is one of its elements."""
        names = ("grad_tensors", "grad_outputs", "grad_variables")
        given = None if self.method else argument(self.node, 2 if self.is_grad else 1, *names)
        return isinstance(given, ast.Tuple | ast.List)

    def inputs(self) -> list[ast.expr]:
        """The expressions of `inputs=`."""
        given = argument(self.node, 1 if self.is_grad else 9, "inputs")
        if isinstance(given, ast.Tuple | ast.List):
            return list(given.elts)
        return [] if given is None else [given]

    def says(self, keyword: str) -> bool:
        """Tell whether the call passes `keyword=True`."""
        return any(k.arg == keyword and is_constant(k.value, True) for k in self.node.keywords)


def written(facts: Facts, call: Call) -> Written | None:
    """The code of `call`; None where its source or its form is not known (a wrapper, `exec`, a library)."""
    source = facts.source(call.place)
    if source is None or call.place is None:
        return None
    function = _FUNCTIONS.get(call.api)
    method = call.api == "torch.Tensor.backward"
    if function is None and not method:
        return None
    aliases = _aliases(source)
    found = [
        Written(node, method, function == "grad")
        for statement in source.statements(call.place.line)
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and _calls(node, function, aliases)
    ]
    on_line = [w for w in found if w.node.lineno <= call.place.line <= (w.node.end_lineno or w.node.lineno)]
    found = on_line or found
    name = call.roots[0].name if call.roots else None
    exact = [w for w in found if name is not None and (root := w.root()) is not None and dotted(root) == name]
    found = exact or found
    return found[0] if found else None


def root_name(facts: Facts, call: Call, index: int = 0) -> str:
    """The root as the script writes it: its name, else its expression, else its operation."""
    root = call.roots[index] if index < len(call.roots) else None
    if root is not None and root.name:
        return root.name
    code = written(facts, call)
    expression = None if code is None else code.root(index)
    if expression is not None:
        text = text_of(expression)
        return text if dotted(expression) or isinstance(expression, ast.Call) else f"({text})"
    node = None if root is None or root.node is None else facts.graph(call.number).by_id.get(root.node)
    return node.short_op if node is not None else "?"


def seed_name(facts: Facts, call: Call, index: int = 0) -> str | None:
    """The seed of a root as the script writes it, None where none is given or its code is not known."""
    root = call.roots[index] if index < len(call.roots) else None
    code = written(facts, call)
    expression = None if code is None else code.seed(index)
    if expression is not None:
        return text_of(expression)
    return root.seed_name if root is not None and root.seed_given else None


def call_text(facts: Facts, call: Call) -> str:
    """The call as written, `A.backward()`, for sentences about it."""
    code = written(facts, call)
    if code is not None:
        return text_of(code.node)
    return f"{root_name(facts, call)}.backward()" if call.api.endswith("Tensor.backward") else f"{call.api}(...)"


def with_seed(facts: Facts, call: Call, seed: str, index: int = 0) -> str:
    """The call as it would be written with another seed; an empty seed leaves it out."""
    name = root_name(facts, call, index)
    if call.api == "torch.autograd.grad":
        code = written(facts, call)
        inputs = "inputs" if code is None or not code.inputs() else ", ".join(text_of(e) for e in code.inputs())
        inputs = f"({inputs})" if "," in inputs else inputs
        return f"torch.autograd.grad({name}, {inputs}" + (f", grad_outputs={seed})" if seed else ")")
    return f"{name}.backward({seed})"


def same_line(one: Place | None, other: Place | None) -> bool:
    """Tell whether two places are one line."""
    return one is not None and other is not None and (one.file, one.line) == (other.file, other.line)


def _element(expression: ast.expr | None, index: int) -> ast.expr | None:
    if isinstance(expression, ast.Tuple | ast.List):
        return expression.elts[index] if index < len(expression.elts) else None
    return expression if index == 0 else None


def _aliases(source: Source) -> dict[str, str]:
    """Names that the file imports from torch.autograd: `gr` -> `grad` after `import grad as gr`."""
    return {
        alias.asname or alias.name: alias.name
        for node in source.walk(ast.ImportFrom)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("torch.autograd")
        for alias in node.names
    }


def _calls(node: ast.Call, function: str | None, aliases: dict[str, str]) -> bool:
    if isinstance(node.func, ast.Name):
        return function is not None and aliases.get(node.func.id) == function
    if not isinstance(node.func, ast.Attribute):
        return False
    owner = dotted(node.func.value) or ""
    if function is None:
        return node.func.attr == "backward" and not owner.endswith("autograd")
    return node.func.attr == function and (owner.endswith("autograd") or aliases.get(owner) is not None)
