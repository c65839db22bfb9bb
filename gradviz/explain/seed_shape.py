"""seed-shape: the seed does not fit its root: another shape, another kind of number, or too few seeds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from gradviz.explain import words
from gradviz.explain.facts import Facts
from gradviz.explain.page import Page
from gradviz.explain.source import names_in, text_of
from gradviz.explain.written import root_name, seed_name, with_seed, written
from gradviz.model import Call, Finding, Node, Root
from gradviz.model.numbers import shape_text
from gradviz.texts import tr, trn

PAGE = Page(
    code="seed-shape",
    title="The seed does not have the shape of the root",
    cause=(
        "The argument of `backward` (`gradient=`, or `grad_outputs=` of `torch.autograd.grad`) is the gradient of "
        "something further on with respect to the root. So it has one number for each number of the root: exactly "
        "the root's shape. It is not the tensor to differentiate with respect to; that one is found by itself, at the "
        "leaves of the graph."
    ),
    example="""\
import torch

z = torch.rand(164, requires_grad=True)
out = (z ** 2).sum()
out.backward(z)
""",
    remedy=(
        "For a root with a single number pass nothing: `out.backward()`, then read `z.grad`. For a root with several "
        "numbers pass a tensor of the root's shape, such as `torch.ones_like(root)` for the sum of all, or a one-hot "
        "for one of them. From TensorFlow: `tf.gradients(y, x)` and `tape.gradient(y, x)` are `y.backward()` for a "
        "single number, and a seed of ones otherwise."
    ),
    fixed="""\
import torch

z = torch.rand(164, requires_grad=True)
out = (z ** 2).sum()
out.backward()
""",
    errors=(
        (
            "Mismatch in shape: grad_output[0] has a shape of torch.Size([2]) and output[0] has a shape of",
            "which dimension differs, and whether you passed the input where the gradient of the output goes",
        ),
        (
            "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension.",
            "which sizes a batch of seeds must have",
        ),
        (
            "For complex Tensors, both grad_output and output are required to have the same dtype.",
            "which of the two is complex, and the conversion",
        ),
        ("got 2 tensors and 1 gradients", "how many roots and seeds there are, by name"),
        (
            "gradients can be either Tensors or None, but got float",
            "what was passed instead of a tensor, and the tensor that is meant",
        ),
    ),
)

_SIZES = r"\[([\d, ]*)\]"
_SHAPES = re.compile(
    rf"grad_output\[(\d+)\] has a shape of torch\.Size\({_SIZES}\) and output\[(\d+)\] has a shape of "
    rf"torch\.Size\({_SIZES}\)"
)
_DTYPES = re.compile(
    r"grad_output\[(\d+)\] has a dtype of torch\.(\w+) and output\[(\d+)\] has a dtype of torch\.(\w+)"
)
_COUNTS = re.compile(r"got (\d+) tensors and (\d+) gradients")
_ARRAYS = ("list", "tuple", "ndarray")
_NOT_A_TENSOR = re.compile(r"gradients can be either Tensors or None, but got (\w+)|'(\w+)' object is not iterable")


def find(facts: Facts) -> Iterator[Finding]:
    """A finding for each call whose seed was refused."""
    for call in facts.failed:
        assert call.error is not None
        text = call.error.message
        if shapes := _SHAPES.search(text):
            yield _shape(facts, call, int(shapes[1]), _sizes(shapes[2]), _sizes(shapes[4]), "batched" in text)
        elif dtypes := _DTYPES.search(text):
            yield _dtype(facts, call, int(dtypes[1]), dtypes[2], dtypes[4])
        elif counts := _COUNTS.search(text):
            yield _count(facts, call, int(counts[1]), int(counts[2]))
        elif not call.engine and (index := _unlike(call)) is not None:
            root = call.roots[index]
            yield _shape(facts, call, index, root.seed.shape if root.seed else (), root.shape or (), False)
        elif not call.engine and (kind := _NOT_A_TENSOR.search(text)):
            yield from _not_a_tensor(facts, call, kind[1] or kind[2], kind[2] is None)


def _unlike(call: Call) -> int | None:
    """The root whose seed has another shape, where the message does not tell.

    With several roots PyTorch 2.13 compares the shapes in a way that raises an error of its own.
    """
    if call.error is None or "Boolean value of Tensor" not in call.error.message:
        return None
    for index, root in enumerate(call.roots):
        if root.seed_given and root.seed is not None and root.shape is not None and root.seed.shape != root.shape:
            return index
    return None


def _shape(
    facts: Facts, call: Call, index: int, given: tuple[int, ...], wanted: tuple[int, ...], batched: bool
) -> Finding:
    name = root_name(facts, call, index)
    seed = seed_name(facts, call, index)
    of_root = tr("a single number, of shape ()") if wanted == () else tr("of shape {s}", s=shape_text(wanted))
    of_seed = words.code(seed) if seed else tr("the seed")
    message = tr(
        "{root} is {of_root}, but {seed}, given as its gradient, has shape {given}: {difference}.",
        root=words.code(name),
        of_root=of_root,
        seed=of_seed,
        given=shape_text(given),
        difference=_difference(given, wanted, batched),
    )
    culprit = _input_passed(facts, call, index)
    if culprit is not None:
        message += " " + _passed(culprit, name, seed or "")
    advice = _advice(facts, call, index, wanted, batched, None if culprit is None else culprit.name)
    node = _node(call, index)
    show = tuple(n for n in (node, None if culprit is None else culprit.id) if n is not None)
    seed_text = "" if batched else f"torch.ones({shape_text(wanted)})"
    return Finding("seed-shape", "error", call.number, node, call.place, message, advice, show, seed_text or None)


def _difference(given: tuple[int, ...], wanted: tuple[int, ...], batched: bool) -> str:
    if batched:
        return tr("with is_grads_batched its first dimension counts the seeds, and the rest must be the root's shape")
    if len(given) != len(wanted):
        return trn(
            "{n} dimension instead of {wanted}", "{n} dimensions instead of {wanted}", len(given), wanted=len(wanted)
        )
    different = [
        tr("dimension {k} is {given} instead of {wanted}", k=k, given=g, wanted=w)
        for k, (g, w) in enumerate(zip_longest(given, wanted))
        if g != w
    ]
    return words.listed(different)


def _input_passed(facts: Facts, call: Call, index: int) -> Node | None:
    """The leaf that was passed as the seed, or whose shape the seed was given (`ones_like(A)`)."""
    code = written(facts, call)
    expression = None if code is None else code.seed(index)
    root = call.roots[index] if index < len(call.roots) else None
    names = [] if expression is None else names_in(expression)
    if expression is None and root is not None and root.seed_name:
        names = [root.seed_name]
    for name in names:
        leaf = facts.node_named(call, name)
        if leaf is not None and (leaf.kind == "leaf" or (root is not None and leaf.id != root.node)):
            return leaf
    return None


def _passed(leaf: Node, root: str, seed: str) -> str:
    if seed == leaf.name:
        return tr(
            "You passed {leaf}, which {root} depends on, where the gradient of the output {root} belongs.",
            leaf=words.code(leaf.name or ""),
            root=words.code(root),
        )
    return tr(
        "It has the shape of {leaf}, which {root} depends on, instead of the shape of the output {root}.",
        leaf=words.code(leaf.name or ""),
        root=words.code(root),
    )


def _advice(facts: Facts, call: Call, index: int, wanted: tuple[int, ...], batched: bool, leaf: str | None) -> str:
    name = root_name(facts, call, index)
    if batched:
        return tr(
            "Give a tensor of shape (number of seeds, *{shape}), such as {eye} for a root with one dimension.",
            shape=shape_text(wanted),
            eye=words.code(f"torch.eye({name}.numel())"),
        )
    if wanted == ():
        read = words.code(f"{leaf}.grad") if leaf and call.accumulates else ""
        plain = words.code(with_seed(facts, call, "", index))
        start = tr("A single number needs no seed: write {plain}.", plain=plain)
        if read:
            start = tr("A single number needs no seed: write {plain} and read {read}.", plain=plain, read=read)
        more = tr(
            "(This is what {a} and {b} of TensorFlow compute; the argument of backward is not the tensor to "
            "differentiate with respect to.)",
            a=words.code("tf.gradients"),
            b=words.code("tape.gradient"),
        )
        return f"{start} {more}"
    return tr(
        "Give a seed of shape {shape}: {ones} adds the gradients of all its numbers (as {tf} of TensorFlow does), a "
        "one-hot of that shape gives the gradient of one number.",
        shape=shape_text(wanted),
        ones=words.code(with_seed(facts, call, f"torch.ones_like({name})", index)),
        tf=words.code("tape.gradient"),
    )


def _dtype(facts: Facts, call: Call, index: int, given: str, wanted: str) -> Finding:
    name, seed = root_name(facts, call, index), seed_name(facts, call, index)
    message = tr(
        "{root} holds {wanted} numbers, but the seed {seed} holds {given}; for complex numbers both must be the same.",
        root=words.code(name),
        wanted=wanted,
        seed=words.code(seed) if seed else "",
        given=given,
    )
    target = f"{seed or 'seed'}.to({name}.dtype)"
    advice = tr("Convert the seed: {call}.", call=words.code(with_seed(facts, call, target, index)))
    return _finding(call, index, message, advice)


def _count(facts: Facts, call: Call, roots: int, seeds: int) -> Finding:
    names = [root_name(facts, call, index) for index in range(len(call.roots))]
    message = tr(
        "The call has {roots} roots ({names}) but {seeds} seeds; each root needs one of its own.",
        roots=roots,
        names=words.codes(names),
        seeds=seeds,
    )
    advice = tr(
        "Give a list with one seed for each root, in the same order; None stands for 1 where the root is a single "
        "number."
    )
    return _finding(call, 0, message, advice)


def _not_a_tensor(facts: Facts, call: Call, kind: str, iterable: bool) -> Iterator[Finding]:
    """A number, or (`iterable`) a list or an array of them, where a tensor belongs."""
    code = written(facts, call)
    expression = None if code is None else code.seed()
    if code is None or expression is None:
        return
    name = root_name(facts, call)
    seed = text_of(expression)
    several = iterable and (not code.lists_seeds() or kind in _ARRAYS)
    fields = {"seed": words.code(seed), "root": words.code(name), "kind": kind}
    if several:
        message = tr("The seed {seed} of {root} holds numbers ({kind}), but is no tensor.", **fields)
    else:
        message = tr("The seed {seed} of {root} is a {kind}, not a tensor.", **fields)
    tensor = f"torch.as_tensor({seed})" if several else f"torch.full_like({name}, {seed})"
    advice = tr(
        "Give a tensor of the shape of {root}: {call}.",
        root=words.code(name),
        call=words.code(with_seed(facts, call, tensor)),
    )
    yield _finding(call, 0, message, advice)


def _finding(call: Call, index: int, message: str, advice: str) -> Finding:
    node = _node(call, index)
    show = () if node is None else (node,)
    return Finding("seed-shape", "error", call.number, node, call.place, message, advice, show)


def _node(call: Call, index: int) -> int | None:
    root: Root | None = call.roots[index] if index < len(call.roots) else None
    return None if root is None else root.node


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in text.replace(" ", "").split(",") if size)
