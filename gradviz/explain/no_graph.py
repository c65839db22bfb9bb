"""no-graph: the root does not require grad, so there is nothing to go back through."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from difflib import get_close_matches

from gradviz.explain import words
from gradviz.explain.custom import custom_function
from gradviz.explain.cut_words import blamed, cut_text, what_to_do, why
from gradviz.explain.cuts import Cut, Slice, slice_of
from gradviz.explain.definitions import Scope, binding_of, definitions, scope_of
from gradviz.explain.facts import Facts
from gradviz.explain.freezing import Freeze, freezes
from gradviz.explain.once import without_history
from gradviz.explain.page import Page
from gradviz.explain.reasons import Reason
from gradviz.explain.source import dotted, is_constant, prefixes, targets, text_of
from gradviz.explain.written import root_name, written
from gradviz.model import Binding, Call, Finding, Place
from gradviz.texts import tr

_MESSAGE = re.compile(r"element (\d+) of tensors does not require grad and does not have a grad_fn")

PAGE = Page(
    code="no-graph",
    title="The root does not require grad",
    cause=(
        "A tensor remembers how it was made only if something that went into it requires grad, and only along "
        "operations that can be differentiated. The chain ends at `.detach()`, `.data`, `.item()`, `.numpy()`, a new "
        "`torch.tensor(...)` made of values, under `torch.no_grad()`, and at results that are not real numbers: "
        "indices (`argmax`), comparisons, conversions to an integer type. If no leaf requires grad at all there is no "
        "chain to begin with."
    ),
    example="""\
import torch

model = torch.nn.Linear(2, 2)
x = torch.tensor([[1., 2.], [3., 4.]])
y = torch.tensor([0., 1.])
prediction = model(x).argmax(dim=1).float()
loss = ((prediction - y) ** 2).mean()
loss.backward()
""",
    remedy=(
        "Keep everything between the parameters and the loss in tensor operations on real numbers. For "
        "classification give the scores themselves to `cross_entropy`, not the chosen class. Take `.item()` and "
        "`.detach()` only for printing. Join tensors with `torch.stack` or `torch.cat` instead of `torch.tensor`. Set "
        "`requires_grad=True` on what is to be learned."
    ),
    fixed="""\
import torch

model = torch.nn.Linear(2, 2)
x = torch.tensor([[1., 2.], [3., 4.]])
y = torch.tensor([0, 1])
loss = torch.nn.functional.cross_entropy(model(x), y)
loss.backward()
""",
    errors=(
        (
            "element 0 of tensors does not require grad and does not have a grad_fn",
            "the line where the chain was cut, by what, and what to write there",
        ),
    ),
)


def find(facts: Facts) -> Iterator[Finding]:
    """A finding for each call whose root has no graph."""
    for call in facts.failed:
        assert call.error is not None
        found = _MESSAGE.search(call.error.message)
        if found:
            yield _finding(facts, call, int(found[1]))


def _finding(facts: Facts, call: Call, index: int) -> Finding:
    name = words.code(root_name(facts, call, index))
    start = tr("{root} does not require grad, so there is no graph to go back through", root=name)
    expression = _root_expression(facts, call, index)
    scope = scope_of(facts, call.place)
    if expression is None or scope is None:
        return _result(call, call.place, start + ".", _nothing_known())
    back = slice_of(facts, call, expression, scope)
    cut = first_cut(back)
    if cut is not None:
        message = start + ": " + cut_text(facts, cut) + " " + why(cut)
        return _result(call, blamed(facts, cut), message, what_to_do(facts, cut))
    once = _not_twice(facts, call, back)
    if once is not None:
        return _result(call, once.place, f"{start}: {once.text}", once.advice)
    frozen = frozen_in(facts, back, call)
    if frozen is not None:
        message = start + ": " + _frozen_text(facts, frozen)
        advice = tr("Leave {flag} on for what is to be learned.", flag=words.code("requires_grad"))
        return _result(call, frozen.place, message, advice)
    return _no_leaf(facts, call, start, back)


def _not_twice(facts: Facts, call: Call, back: Slice) -> Reason | None:
    """A custom function that ended the history of a first derivative which this root was computed from."""
    names = {part for name, _ in back.names for part in prefixes(name)}
    for earlier in facts.looked_at:
        statement = facts.statement(earlier.place)
        if earlier.number >= call.number or not earlier.create_graph or statement is None:
            continue
        if names & {name for name, _ in targets(statement)}:
            for node in facts.graph(earlier.number).nodes:
                function = custom_function(facts, node) if node.kind == "custom" else None
                reason = None if function is None else without_history(facts, earlier, function)
                if reason is not None:
                    return reason
    return None


def _result(call: Call, place: Place | None, message: str, advice: str) -> Finding:
    return Finding("no-graph", "error", call.number, None, place, message, advice)


def _root_expression(facts: Facts, call: Call, index: int) -> ast.expr | None:
    code = written(facts, call)
    expression = None if code is None else code.root(index)
    root = call.roots[index] if index < len(call.roots) else None
    if expression is None and root is not None and root.name:
        try:
            return ast.parse(root.name, mode="eval").body
        except (SyntaxError, ValueError):
            return None
    return expression


def first_cut(back: Slice) -> Cut | None:
    """The cut that something tracked went into; else one of which that is not known."""
    known = [cut for cut in back.cuts if cut.tracked]
    vague = ("new-tensor", "comparison", "grad-attribute")
    unknown = [cut for cut in back.cuts if cut.tracked is None and cut.kind not in vague]
    found = known or unknown
    return found[0] if found else None


def frozen_in(facts: Facts, back: Slice, call: Call | None) -> Freeze | None:
    """What was frozen by hand and stands in a slice."""
    names = {part for name, _ in back.names for part in prefixes(name)}
    for freeze in freezes(facts):
        if (
            not freeze.last
            and freeze.name in names
            and (call is None or call.place is None or freeze.place.file == call.place.file)
        ):
            return freeze
    return None


def _frozen_text(facts: Facts, freeze: Freeze) -> str:
    return tr(
        "{name} was frozen in {where} ({code}), and nothing else in it requires grad.",
        name=words.code(freeze.name),
        where=words.line(facts, freeze.place),
        code=words.code(facts.line_text(freeze.place)),
    )


def _no_leaf(facts: Facts, call: Call, start: str, back: Slice) -> Finding:
    tracked = _tracked(facts, call, back)
    if tracked is not None:
        message = (
            start
            + ": "
            + tr(
                "somewhere between {name} ({line}), which requires grad, and it the chain ends.",
                name=words.code(tracked.name),
                line=words.line(facts, tracked.place),
            )
        )
        return _result(call, call.place, message, _nothing_known())
    leaves = _plain_leaves(facts, call, back)
    if not leaves:
        vague = next((cut for cut in back.cuts if cut.tracked is None and cut.names), None)
        if vague is None:
            return _result(call, call.place, start + ".", _nothing_known())
        message = start + ": " + cut_text(facts, vague) + " " + why(vague)
        return _result(call, blamed(facts, vague), message, what_to_do(facts, vague))
    shown = [f"{words.code(name)} ({words.line(facts, place)})" for name, place in leaves]
    message = (
        start
        + ": "
        + tr("nothing that it is computed from requires grad; it comes from {names}.", names=words.listed(shown))
    )
    first = next((name for name, _ in leaves if name.startswith("self.")), leaves[0][0])  # rather than the data
    misspelt = next((found for name, _ in leaves if (found := _misspelt(facts, name)) is not None), None)
    if misspelt is not None:
        where, code, right = misspelt
        message += " " + tr(
            "{code} in {line} does not change that: it only sets an attribute of another name.",
            code=words.code(code),
            line=words.line(facts, where),
        )
        return _result(call, where, message, tr("Write {code}.", code=words.code(right)))
    advice = tr(
        "Tell autograd what to differentiate with respect to: {flag} where it is made, or {call} before it is used.",
        flag=words.code("requires_grad=True"),
        call=words.code(f"{first}.requires_grad_()"),
    )
    place = leaves[0][1] if len(leaves) == 1 else call.place
    return _result(call, place, message, advice)


def _tracked(facts: Facts, call: Call, back: Slice) -> Binding | None:
    """A tensor of the slice that did require grad."""
    for name, scope in back.names:
        binding = binding_of(facts, call, name, scope)
        if binding is not None and binding.requires_grad:
            return binding
    return None


def _plain_leaves(facts: Facts, call: Call, back: Slice) -> list[tuple[str, Place]]:
    """Floating point tensors of the slice that were not computed from other tensors, with the lines that made them."""
    found: dict[str, Place] = {}
    for name, scope in back.names:
        binding = binding_of(facts, call, name, scope)
        if binding is None:
            made = _creation(facts, call, name, scope)
            if made is not None:
                found.setdefault(name, made)
            continue
        if binding.requires_grad or not binding.is_leaf or not binding.dtype.startswith(("float", "bfloat", "complex")):
            continue
        origin = facts.history.first_of(binding)
        if any(name == root.name for root in call.roots) and _creation(facts, call, name, scope) is None:
            continue  # the root itself: to make that a leaf hides the error and trains nothing
        if not _computed(facts, call, origin.name, scope_of(facts, origin.place, origin.order)):
            found.setdefault(origin.name, origin.place)
    return list(found.items())


def _misspelt(facts: Facts, name: str) -> tuple[Place, str, str] | None:
    """`x.require_grad = True`: the line, its code, and what was meant."""
    for source in facts.sources.values():
        for node in source.walk(ast.Assign):
            assert isinstance(node, ast.Assign)
            target = node.targets[0]
            if not isinstance(target, ast.Attribute) or dotted(target.value) != name:
                continue
            if target.attr != "requires_grad" and get_close_matches(target.attr, ["requires_grad"], cutoff=0.8):
                return Place(source.file, node.lineno), text_of(node), f"{name}.requires_grad = True"
    return None


_CREATORS = ("tensor", "Tensor", "rand", "randn", "ones", "zeros", "arange", "linspace", "full", "eye", "normal")


def _creation(facts: Facts, call: Call, name: str, scope: Scope) -> Place | None:
    """The line that makes a tensor out of numbers, read from the source where no binding tells."""
    for value, here in definitions(facts, call, name, scope):
        function = (dotted(value.func) or "") if isinstance(value, ast.Call) else ""
        if function.startswith("torch.") and function.rsplit(".", 1)[-1] in _CREATORS:
            assert isinstance(value, ast.Call)
            asks = any(k.arg == "requires_grad" and not is_constant(k.value, False) for k in value.keywords)
            return None if asks else here.place
    return None


def _computed(facts: Facts, call: Call, name: str, scope: Scope | None) -> bool:
    """Tell whether the line that bound `name` reads another recorded tensor."""
    statement = None if scope is None else scope.source.statement(scope.line)
    if scope is None or statement is None:
        return False
    return any(
        (binding := binding_of(facts, call, part, scope)) is not None and binding.name != name
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        for part in [node.id]
    )


def _nothing_known() -> str:
    return tr(
        "Something on the way from the parameters to it is not tracked: look for {cuts}, a comparison or an integer, "
        "or a missing {flag}.",
        cuts=words.codes([".detach()", ".data", ".item()", "torch.no_grad()", "torch.tensor(...)"], 5),
        flag=words.code("requires_grad=True"),
    )
