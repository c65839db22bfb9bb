"""scalar-only: a backward without a seed from a root that is not a single real number."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradviz.explain import words
from gradviz.explain.facts import Facts
from gradviz.explain.page import Page
from gradviz.explain.written import call_text, root_name, with_seed
from gradviz.model import Call, Finding, Root
from gradviz.model.numbers import shape_text
from gradviz.texts import tr

_REAL = "grad can be implicitly created only for scalar outputs"
_COMPLEX = "grad can be implicitly created only for real scalar outputs"

PAGE = Page(
    code="scalar-only",
    title="backward() on something that is not a single number",
    cause=(
        "`backward()` starts with a seed: the gradient of what you are interested in with respect to the root. For a "
        "root with exactly one real number PyTorch takes the seed 1. For a root with several numbers there is no such "
        "choice: each number has a gradient of its own, and you have to say how they are combined."
    ),
    example="""\
import torch

x = torch.tensor([5., 5.], requires_grad=True)
y = torch.tensor([8., 8.], requires_grad=True)
A = x * y
A.backward()
""",
    remedy=(
        "Say which combination you want. `A.sum().backward()`, which is the same as "
        "`A.backward(torch.ones_like(A))`, adds the gradients of all numbers. `A.mean().backward()` divides that by "
        "their count. A one-hot seed (1 at one place, 0 elsewhere) gives the gradient of one number alone. For all of "
        "them, each by itself, use `torch.autograd.functional.jacobian`. Of a complex root take the real number that "
        "you minimise, such as `f.abs()`, `f.real` or `f.abs().square().sum()`, or give a complex seed."
    ),
    fixed="""\
import torch

x = torch.tensor([5., 5.], requires_grad=True)
y = torch.tensor([8., 8.], requires_grad=True)
A = x * y
A.sum().backward()
""",
    errors=(
        (_REAL, "which root is meant and its shape; what ones, a one-hot seed, `.sum()` and `.mean()` would each give"),
        (_COMPLEX, "which root is complex; which real number of it to take, or which complex seed to give"),
    ),
)


def find(facts: Facts) -> Iterator[Finding]:
    """A finding for each call that failed for want of a seed."""
    for call in facts.failed:
        assert call.error is not None
        if call.error.message.startswith(_REAL):
            yield _many(facts, call)
        elif call.error.message.startswith(_COMPLEX):
            yield _complex(facts, call)


def _many(facts: Facts, call: Call) -> Finding:
    index, root = _culprit(call)
    name = root_name(facts, call, index)
    count = _numel(root)
    shape = "?" if root is None or root.shape is None else shape_text(root.shape)
    message = tr(
        "{root} has shape {shape}, that is {count} numbers, and {call} gives no seed; only for a root with exactly one "
        "number does PyTorch take 1 by itself.",
        root=words.code(name),
        shape=shape,
        count="?" if count is None else count,
        call=words.code(call_text(facts, call)),
    )
    advice = _choices(facts, call, index, name, count) + _unreduced(facts, call, index)
    node = None if root is None else root.node
    experiment = None if root is None or root.shape is None else f"torch.ones({shape})"
    show = () if node is None else (node,)
    return Finding("scalar-only", "error", call.number, node, call.place, message, advice, show, experiment)


def _choices(facts: Facts, call: Call, index: int, name: str, count: int | None) -> str:
    ones = words.code(with_seed(facts, call, f"torch.ones_like({name})", index))
    numbers = "?" if count is None else count
    if call.api == "torch.autograd.grad":
        return tr(
            "Say which combination you want: {ones} adds the gradients of all {count} numbers (as {sum} would); seed "
            "{seed} divides that by {count} (as {mean}); a one-hot seed gives the gradient of one number alone; "
            "{jacobian} gives all of them apart.",
            ones=ones,
            count=numbers,
            sum=words.code(f"{name}.sum()"),
            seed=words.code(f"torch.ones_like({name}) / {numbers}"),
            mean=words.code(f"{name}.mean()"),
            jacobian=words.code("torch.autograd.functional.jacobian"),
        )
    return tr(
        "Say which combination you want: {sum}, the same as {ones}, adds the gradients of all {count} numbers; {mean} "
        "is 1/{count} of that; a one-hot seed (1 at one place, 0 elsewhere) gives the gradient of one number alone; "
        "{jacobian} gives all of them apart.",
        sum=words.code(f"{name}.sum().backward()"),
        ones=ones,
        count=numbers,
        mean=words.code(f"{name}.mean().backward()"),
        jacobian=words.code("torch.autograd.functional.jacobian"),
    )


def _unreduced(facts: Facts, call: Call, index: int) -> str:
    """Say so when the root is a loss that was asked not to reduce."""
    root = call.roots[index] if index < len(call.roots) else None
    node = None if root is None or root.node is None else facts.graph(call.number).by_id.get(root.node)
    statement = None if node is None else facts.statement(node.place)
    if node is None or statement is None or "Loss" not in node.op:
        return ""
    source = facts.source(node.place)
    assert source is not None
    for keyword in source.walk(ast.keyword):
        if isinstance(keyword, ast.keyword) and keyword.arg in ("reduction", "reduce"):
            value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
            if value == "none" or value is False:
                text = f"{keyword.arg}={value!r}"
                return " " + tr(
                    "The loss keeps one number for each element because of {text} in line {line}; the default "
                    "reduces to their mean.",
                    text=words.code(text),
                    line=keyword.value.lineno,
                )
    return ""


def _complex(facts: Facts, call: Call) -> Finding:
    index, root = _culprit(call)
    name = root_name(facts, call, index)
    dtype = "complex" if root is None or root.dtype is None else root.dtype
    message = tr(
        "{root} is a complex number ({dtype}), and {call} gives no seed; PyTorch takes 1 by itself only for a real "
        "number.",
        root=words.code(name),
        dtype=dtype,
        call=words.code(call_text(facts, call)),
    )
    advice = tr(
        "Differentiate the real number that you mean, such as {abs} or {real}, or give a complex seed of the same "
        "shape: {seed}.",
        abs=words.code(f"{name}.abs().backward()"),
        real=words.code(f"{name}.real.backward()"),
        seed=words.code(with_seed(facts, call, f"torch.ones_like({name})", index)),
    )
    node = None if root is None else root.node
    show = () if node is None else (node,)
    return Finding("scalar-only", "error", call.number, node, call.place, message, advice, show)


def _culprit(call: Call) -> tuple[int, Root | None]:
    """The first root without a seed that is not one real number."""
    wanting = [(index, root) for index, root in enumerate(call.roots) if not root.seed_given]
    for index, root in wanting:
        if _numel(root) not in (None, 1) or (root.dtype or "").startswith("complex"):
            return index, root
    return wanting[0] if wanting else (0, _first(call))


def _first(call: Call) -> Root | None:
    """The first root of a call, None where none was recorded."""
    return call.roots[0] if call.roots else None


def _numel(root: Root | None) -> int | None:
    if root is None or root.shape is None:
        return None
    count = 1
    for size in root.shape:
        count *= size
    return count
