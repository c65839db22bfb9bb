"""legacy-api: names and forms of PyTorch and Python that have changed or gone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from gradviz.explain import words
from gradviz.explain.facts import Facts
from gradviz.explain.legacy_deaths import deaths, unparsable
from gradviz.explain.legacy_names import (
    DEPRECATED,
    KEYWORDS,
    REMOVED,
    RENAMED,
    SCALAR_FIRST,
    WITHOUT_DIM,
)
from gradviz.explain.page import Page
from gradviz.explain.reads import death
from gradviz.explain.scopes import function_at
from gradviz.explain.source import Source, argument, dotted, is_constant, text_of
from gradviz.explain.writers import in_place_method
from gradviz.model import Finding, Level, Place
from gradviz.texts import tr

PAGE = Page(
    code="legacy-api",
    title="Names and forms that PyTorch has left behind",
    cause=(
        "The script was written for an older PyTorch or for Python 2. Some names are gone and raise (`torch.symeig`, "
        "`torch.lstsq`, `loss.data[0]`, `cuda(async=True)`), others do nothing any more (`volatile=True`) or still "
        "work but have a better successor (`Variable`, `.data`, `size_average`, `reduce`)."
    ),
    example="""\
import torch
from torch.autograd import Variable

x = Variable(torch.ones(2), requires_grad=True)
loss = (x * 2).sum()
loss.backward()
print(loss.data[0])
""",
    remedy=(
        "Replace it as the finding says. `Variable(x)` is `x`; `volatile=True` is `with torch.no_grad():`; `.data` is "
        "`.detach()`; `loss.data[0]` is `loss.item()`; `reduce=False` is `reduction='none'`. Python 2 prints need "
        "parentheses, `xrange` is `range`."
    ),
    fixed="""\
import torch

x = torch.ones(2, requires_grad=True)
loss = (x * 2).sum()
loss.backward()
print(loss.item())
""",
    errors=(
        (
            "This function was deprecated since version 1.9 and is now removed",
            "the replacement with the script's own arguments, ready to paste",
        ),
        ("invalid index of a 0-dim tensor. Use `tensor.item()`", "the line with `.item()`"),
        ("Missing parentheses in call to 'print'", "that this is Python 2, and the line for Python 3"),
        ("name 'xrange' is not defined", "the name of today"),
        ("got an unexpected keyword argument 'retain_variables'", "the name of today"),
        (
            "Legacy autograd function with non-static forward method is deprecated",
            "the decorators and the call that a function needs today",
        ),
        ("Subtraction, the `-` operator, with a bool tensor is not supported", "the line with `~mask`"),
    ),
)


_ZERO_DIM = "invalid index of a 0-dim tensor"


@dataclass(frozen=True)
class _Old:
    """One old form: where, how it is written, what to write instead (`code`), and how bad it is."""

    what: str
    node: ast.AST
    text: str
    code: str
    effect: str
    level: Level = "info"


def find(facts: Facts) -> Iterator[Finding]:
    """One finding for each old form, at its first line; an error where the script died of it."""
    for source in facts.sources.values():
        if source.tree.body or source.error is None:
            yield from _in_tree(facts, source)
        else:
            yield from unparsable(facts, source)
    yield from deaths(facts)


def _in_tree(facts: Facts, source: Source) -> Iterator[Finding]:
    first: dict[str, _Old] = {}
    variables = _imported(source)
    for node in source.walk(ast.Call, ast.Attribute, ast.Subscript):
        old = _old(facts, source, node, variables)
        if old is not None:
            known = first.get(old.what)
            if known is None or _line(node) < _line(known.node):
                first[old.what] = old
    for old in first.values():
        place = Place(source.file, _line(old.node))
        level: Level = "error" if old.what != "data" and _died_here(facts, place) else old.level
        message = tr(
            "{code} in {line}: {effect}", code=words.code(old.text), line=words.line(facts, place), effect=old.effect
        )
        advice = tr("Write {code}.", code=words.code(old.code))
        yield Finding("legacy-api", level, None, None, place, message, advice)


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _died_here(facts: Facts, place: Place) -> bool:
    """Tell whether the script died at a line, and not because something there was None."""
    end = facts.end_place if death(facts) is None else None
    return end is not None and (end.file, end.line) == (place.file, place.line)


def _old(facts: Facts, source: Source, node: ast.AST, variables: set[str]) -> _Old | None:
    """An old form at a node; `variables` are the file's names of `Variable`."""
    if isinstance(node, ast.Subscript):
        return _data_index(facts, source, node)
    if isinstance(node, ast.Attribute):
        return _data(facts, source, node)
    assert isinstance(node, ast.Call)
    name = dotted(node.func) or ""
    first, _, last = name.rpartition(".")
    if first == "torch" and last in REMOVED:
        return _removed(node, last, [text_of(a) for a in node.args[:2]])
    if first == "torch" and last in DEPRECATED:
        code = _filled(DEPRECATED[last], [text_of(a) for a in node.args[:2]])
        return _Old(f"torch.{last}", node, f"torch.{last}", code, tr("it is deprecated."))
    if (
        isinstance(node.func, ast.Attribute)
        and last in ("symeig", "eig", "lstsq")
        and _removed_here(facts, source, node)
    ):
        return _removed(node, last, [text_of(node.func.value), *(text_of(a) for a in node.args[:1])])
    short = _short(name)
    if short in RENAMED:
        return _Old(name, node, name, RENAMED[short], tr("it has another name now."))
    if name in variables:
        return _variable(node)
    return _arguments(node, short) or _keywords(node)


def _short(name: str) -> str:
    """A dotted name as the tables have it."""
    for long, short in (("torch.nn.", "nn."), ("nn.functional.", "F."), ("functional.", "F."), ("init.", "nn.init.")):
        if name.startswith(long):
            name = short + name[len(long) :]
    return name


def _imported(source: Source) -> set[str]:
    """What the file calls `torch.autograd.Variable`."""
    names = {"autograd.Variable", "torch.autograd.Variable"}
    for node in source.walk(ast.ImportFrom):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("torch"):
            names |= {alias.asname or alias.name for alias in node.names if alias.name == "Variable"}
    return names


def _removed_here(facts: Facts, source: Source, node: ast.Call) -> bool:
    """Tell whether the script died at this method because it is gone."""
    gone = "is now removed" in (facts.recording.outcome.message or "")
    return gone and _died_here(facts, Place(source.file, node.lineno))


def _filled(template: str, arguments: list[str]) -> str:
    """A replacement with the script's own arguments, `A` and `B` where it has none."""
    return template.format(*[*arguments, *("A", "B")[len(arguments) :]])


def _removed(node: ast.Call, name: str, arguments: list[str]) -> _Old:
    code = _filled(REMOVED[name], arguments)
    if name in ("symeig", "eig"):
        vectors = argument(node, 1, "eigenvectors")
        if not is_constant(vectors, True):
            code = code.replace("eigh(", "eigvalsh(").replace("linalg.eig(", "linalg.eigvals(")
        upper = argument(node, 2, "upper")
        if name == "symeig" and (upper is None or is_constant(upper, True)):
            code = code[:-1] + ", UPLO='U')"
    return _Old(f"torch.{name}", node, f"torch.{name}", code, tr("this function is gone and raises."), "warning")


def _variable(node: ast.Call) -> _Old:
    inner = text_of(node.args[0]) if node.args else "x"
    if any(k.arg == "volatile" and not is_constant(k.value, False) for k in node.keywords):
        return _Old("volatile", node, text_of(node), "with torch.no_grad():",
                    tr("volatile does nothing any more."), "warning")  # fmt: skip
    grad = argument(node, 1, "requires_grad")
    code = f"({inner}).requires_grad_()" if is_constant(grad, True) else inner
    code = code.replace(f"({inner})", inner) if re.fullmatch(r"[\w.]+(\([^()]*\))?", inner) else code
    return _Old("Variable", node, text_of(node), code, tr("tensors and Variables are one since PyTorch 0.4."))


def _arguments(node: ast.Call, name: str) -> _Old | None:
    """A softmax without `dim`, and `w.add_(-lr, g)`, where the number comes first."""
    if name in WITHOUT_DIM:
        given = argument(node, 0 if name.startswith("nn.") else 1, "dim")
        if given is None:
            inside = ", ".join([*(text_of(a) for a in node.args), "dim=-1"])
            code = f"{dotted(node.func)}({inside})"
            return _Old(name, node, text_of(node), code, tr("the choice of a dimension is left to PyTorch."), "warning")
    last = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if last in SCALAR_FIRST and len(node.args) == 2 and _is_number(node.args[0]):
        assert isinstance(node.func, ast.Attribute)
        number, tensor = map(text_of, node.args)
        code = f"{text_of(node.func)}({tensor}, alpha={number})"
        return _Old("number first", node, text_of(node), code, tr("the number comes last now, by name."))
    return None


def _is_number(node: ast.expr) -> bool:
    """Tell whether an argument can only be a number: a literal, or one with a minus before it (`-lr`)."""
    return isinstance(node, ast.UnaryOp) or (isinstance(node, ast.Constant) and isinstance(node.value, int | float))


def _keywords(node: ast.Call) -> _Old | None:
    name = dotted(node.func) or text_of(node.func)
    for keyword in node.keywords:
        if keyword.arg in KEYWORDS and name.rsplit(".", 1)[-1] in ("backward", "grad"):
            value = text_of(keyword.value)
            return _Old(keyword.arg, node, f"{keyword.arg}={value}", f"{KEYWORDS[keyword.arg]}={value}",
                        tr("this argument has another name now."), "warning")  # fmt: skip
        if keyword.arg == "reduction" and is_constant(keyword.value, "elementwise_mean"):
            return _Old("elementwise_mean", node, "reduction='elementwise_mean'", "reduction='mean'",
                        tr("it has another name now."))  # fmt: skip
        if keyword.arg == "volatile" and not is_constant(keyword.value, False):
            return _Old("volatile", node, f"volatile={text_of(keyword.value)}", "with torch.no_grad():",
                        tr("volatile does nothing any more."), "warning")  # fmt: skip
        if keyword.arg in ("reduce", "size_average") and "oss" in name:
            off = is_constant(keyword.value, False)
            good = ("none" if off else "mean") if keyword.arg == "reduce" else ("sum" if off else "mean")
            text = f"{keyword.arg}={text_of(keyword.value)}"
            return _Old(keyword.arg, node, text, f"reduction='{good}'", tr("this option is deprecated."))
    return None


def _data_index(facts: Facts, source: Source, node: ast.Subscript) -> _Old | None:
    """`loss.data[0]`; with another name or without `.data` only where the script died of it."""
    if not is_constant(node.slice, 0):
        return None
    behind = node.value.value if isinstance(node.value, ast.Attribute) and node.value.attr == "data" else None
    owner = text_of(node.value if behind is None else behind)
    fatal = _ZERO_DIM in (facts.recording.outcome.message or "") and _died_here(facts, Place(source.file, node.lineno))
    usual = behind is not None and ("loss" in owner.lower() or "err" in owner.lower())
    tensor = owner.removesuffix(".grad")  # which has the same shape
    binding = facts.history.last(tensor, None, Place(source.file, node.lineno, function_at(source, node)))
    if not (usual or fatal) or (binding is not None and binding.shape):
        return None
    effect = tr("a single number has no element 0.")
    return _Old("data[0]", node, text_of(node), f"{owner}.item()", effect, "warning")


def _data(facts: Facts, source: Source, node: ast.Attribute) -> _Old | None:
    """`.data` of something that was a tensor in this run."""
    if node.attr != "data":
        return None
    name = dotted(node.value)
    parent = source.parents.get(node)
    if isinstance(parent, ast.Subscript) and _data_index(facts, source, parent) is not None:
        return None
    is_tensor = name is not None and (name.endswith((".grad", ".weight", ".bias")) or bool(facts.history.named(name)))
    if name is None or not is_tensor:
        return None
    effect = tr("it hides changes from autograd, which then may compute wrong gradients without a word.")
    return _Old("data", node, text_of(node), _instead_of_data(source, node, name), effect)


def _instead_of_data(source: Source, node: ast.Attribute, name: str) -> str:
    """`x.detach()` for a reading of `x.data`, the same change under `no_grad` for a writing."""
    parent = source.parents.get(node)
    if isinstance(node.ctx, ast.Store) and isinstance(parent, ast.AugAssign):
        change = ast.unparse(parent).replace(f"{name}.data", name, 1)
        return f"with torch.no_grad(): {change}"
    if isinstance(node.ctx, ast.Store):
        return f"with torch.no_grad(): {name}.copy_(...)"
    if isinstance(parent, ast.Attribute) and in_place_method(parent.attr):
        return f"with torch.no_grad(): {name}.{parent.attr}(...)"
    return f"{name}.detach()"
