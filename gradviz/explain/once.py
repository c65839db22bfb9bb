"""Why what a custom backward returns has no history, so that it cannot be differentiated again."""

from __future__ import annotations

from gradviz.explain import words
from gradviz.explain.custom import Constant, CustomFunction, constant_in, switched_off_in_backward
from gradviz.explain.facts import Facts
from gradviz.explain.reasons import Reason
from gradviz.model import Call
from gradviz.texts import tr


def without_history(facts: Facts, call: Call, function: CustomFunction) -> Reason | None:
    """Its backward runs where nothing is recorded, or computes with values alone."""
    mark = switched_off_in_backward(function)
    constant = constant_in(function)
    if mark is not None:
        return _switched_off(facts, call, function, mark)
    return None if constant is None else _of_values(facts, call, function, constant)


def _switched_off(facts: Facts, call: Call, function: CustomFunction, mark: str) -> Reason:
    place = function.place("backward")
    text = tr(
        "{call} was to build a graph of it, but {backward} stands under {mark}, so what it returns has no history.",
        call=words.call_at(facts, call),
        backward=words.code(place.function),
        mark=words.code(mark),
    )
    advice = tr(
        "Remove {mark} if that backward is made of differentiable operations, or write it with them.",
        mark=words.code(mark),
    )
    return Reason(text, advice, None, place)


def _of_values(facts: Facts, call: Call, function: CustomFunction, constant: Constant) -> Reason:
    backward = words.code(function.place("backward").function)
    if constant.attribute is None:
        text = tr(
            "{call} was to build a graph of it, but {backward} computes with {code} ({line}), which has no history.",
            call=words.call_at(facts, call),
            backward=backward,
            code=words.code(constant.code),
            line=words.line(facts, constant.place),
        )
    else:
        text = tr(
            "{call} was to build a graph of it, but {backward} computes with {kept}, which {line} keeps as a value "
            "without history ({code}).",
            call=words.call_at(facts, call),
            backward=backward,
            kept=words.code(f"ctx.{constant.attribute}"),
            line=words.line(facts, constant.place),
            code=words.code(constant.code),
        )
    return Reason(text, with_history(constant), None, constant.place)


def with_history(constant: Constant) -> str:
    """What to do so that a value in a custom backward has a history."""
    if constant.attribute is None:
        return tr("Use {x} itself there.", x=words.code(constant.operand or "x"))
    if constant.operand is not None:
        return tr(
            "Save {x} itself: {save}; it comes back with its history.",
            x=words.code(constant.operand),
            save=words.code(f"ctx.save_for_backward({constant.operand})"),
        )
    return tr(
        "Save the input with {save} and compute {kept} again in {backward}; {check} finds such mistakes.",
        save=words.code("ctx.save_for_backward"),
        kept=words.code(constant.attribute),
        backward=words.code("backward"),
        check=words.code("torch.autograd.gradgradcheck"),
    )
