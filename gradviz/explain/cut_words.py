"""What is said of a cut: where it is, why nothing is tracked behind it, and what to write instead."""

from __future__ import annotations

from gradviz.explain import words
from gradviz.explain.cuts import Cut, CutKind, switched_off_for_good
from gradviz.explain.facts import Facts
from gradviz.model import Place
from gradviz.texts import tr


def blamed(facts: Facts, cut: Cut) -> Place:
    """The line to look at: that of the cut, or of the switch that was turned off above it."""
    source = facts.source(cut.place) if cut.kind == "disabled" else None
    line = None if source is None else switched_off_for_good(source, cut.place.line)
    return cut.place if line is None else Place(cut.place.file, line)


def cut_text(facts: Facts, cut: Cut) -> str:
    """`` `h.detach()` in line 7 cuts it off.``"""
    where = words.line(facts, cut.place)
    if cut.kind in ("no-grad", "inference-mode"):
        mode = words.code("torch.no_grad()" if cut.kind == "no-grad" else "torch.inference_mode()")
        return tr("{code} in {where} was computed under {mode}.", code=words.code(cut.code), where=where, mode=mode)
    if cut.kind == "disabled":
        source = facts.source(cut.place)
        line = None if source is None else switched_off_for_good(source, cut.place.line)
        return tr(
            "{code} in {where} was computed after {switch} in line {line}.",
            code=words.code(cut.code),
            where=where,
            switch=words.code("torch.set_grad_enabled(False)"),
            line=line,
        )
    return tr("{code} in {where} cuts it off.", code=words.code(cut.code), where=where)


def why(cut: Cut) -> str:
    """Why such an expression is not tracked."""
    reasons: dict[CutKind, str] = {
        "detach": tr("It gives the same values without their history."),
        "data": tr("It gives the same values without their history, and hides later changes from autograd."),
        "item": tr("It gives a plain Python number."),
        "numpy": tr("What NumPy computes is not recorded."),
        "list": tr("It gives plain Python numbers."),
        "index": tr("Its result is an index, which has no derivative."),
        "draw": tr("Its result is a random draw, which has no derivative."),
        "comparison": tr("A comparison gives True or False, which has no derivative."),
        "integer": tr("Integers have no derivative."),
        "new-tensor": tr("It makes a new tensor of the values alone."),
        "no-grad": tr("Nothing is recorded there."),
        "inference-mode": tr("Nothing is recorded there."),
        "disabled": tr("Nothing is recorded from there on."),
        "checkpoint": tr("A reentrant checkpoint tracks its result only if one of its inputs requires grad."),
        "grad-call": tr("The gradients that it returns are plain values unless it builds a graph of them."),
        "grad-attribute": tr("A gradient is a plain value unless the backward that made it builds a graph."),
    }
    return reasons[cut.kind]


def what_to_do(facts: Facts, cut: Cut) -> str:
    """The remedy for one kind of cut, with the script's own names."""
    updated = next(
        (name for name in cut.names if cut.code.startswith(f"{name} - ") and f"{name}.grad" in cut.code), None
    )
    if cut.kind == "no-grad" and updated is not None:
        code = cut.code.replace(f"{updated} - ", f"{updated} -= ", 1)
        return tr("Change the values of the leaf itself there: {code}.", code=words.code(code))
    names = [name for name in cut.names if name not in ("torch", "F", "nn", "np")]
    first = cut.operand or (names[0] if names else "x")
    remedies: dict[CutKind, str] = {
        "detach": tr("Use {x} itself here; detach only what is printed or must not be trained.", x=words.code(first)),
        "data": tr("Use {x} itself here.", x=words.code(first)),
        "item": tr(
            "Keep the tensor {x}; take {item} for printing only.", x=words.code(first), item=words.code(".item()")
        ),
        "numpy": tr("Do this step with the torch function of the same name on {x}.", x=words.code(first)),
        "list": tr("Keep the tensor {x}; take numbers for printing only.", x=words.code(first)),
        "index": tr(
            "Compute the loss from the scores that go in, {x}, not from the chosen index: {loss} for classes, or a "
            "softmax-weighted sum.",
            x=words.code(first),
            loss=words.code("torch.nn.functional.cross_entropy"),
        ),
        "draw": tr(
            "Use {rsample} where the distribution has it, or let the loss depend on the probability of the draw: "
            "{log_prob}.",
            rsample=words.code(".rsample()"),
            log_prob=words.code("-dist.log_prob(a) * reward"),
        ),
        **_operations(),
    }
    return remedies[cut.kind]


def _operations() -> dict[CutKind, str]:
    """The remedies that name an operation or a switch, whatever went in."""
    return {
        "comparison": tr(
            "Use a smooth measure instead, such as {loss} or {sigmoid} of the difference.",
            loss=words.code("torch.nn.functional.binary_cross_entropy_with_logits"),
            sigmoid=words.code("torch.sigmoid"),
        ),
        "integer": tr("Stay with floating point numbers up to the loss."),
        "new-tensor": tr(
            "Join tensors with {stack} or {cat}, which keep their history.",
            stack=words.code("torch.stack"),
            cat=words.code("torch.cat"),
        ),
        "no-grad": tr("Compute what is to be trained outside of that block."),
        "inference-mode": tr("Compute what is to be trained outside of that block."),
        "disabled": tr("Switch it on again with {on}.", on=words.code("torch.set_grad_enabled(True)")),
        "checkpoint": tr(
            "Pass {flag}, which has no such condition, or let the input require grad.",
            flag=words.code("use_reentrant=False"),
        ),
        "grad-call": tr("Pass {flag} to that call.", flag=words.code("create_graph=True")),
        "grad-attribute": tr(
            "Use {call} instead, which returns a gradient that can be differentiated again.",
            call=words.code("torch.autograd.grad(..., create_graph=True)"),
        ),
    }
