"""accumulated: a call added its gradient to what an earlier call had left, or a gradient was cleared too early."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

from gradviz.explain import words
from gradviz.explain.cleared_early import cleared_early
from gradviz.explain.facts import Facts
from gradviz.explain.page import Page
from gradviz.explain.reads import grad_reads
from gradviz.explain.source import text_of, uncalled
from gradviz.model import Accumulation, Call, Event, Finding, Gradient, Level
from gradviz.model.numbers import brief
from gradviz.texts import tr

PAGE = Page(
    code="accumulated",
    title="A gradient was added to an older one",
    cause=(
        "`backward()` adds to `.grad`, it never replaces it. What an earlier call left stays until it is cleared, so "
        "without `zero_grad()` each step works with the sum of all gradients so far. Where several calls belong to one "
        "step (several losses, a large batch in small pieces) that sum is what is wanted."
    ),
    example="""\
import torch

w = torch.tensor([1.], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for step in range(3):
    loss = (w - 3.) ** 2
    loss.sum().backward()
    optimizer.step()
""",
    remedy=(
        "Call `optimizer.zero_grad()` once for each step, before the backward (or right after the step), never between "
        "the backward and the step. Without an optimizer set `w.grad = None`. With two optimizers clear the gradients "
        "of both: a backward fills all leaves that it reaches, not only those of one optimizer."
    ),
    fixed="""\
import torch

w = torch.tensor([1.], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = (w - 3.) ** 2
    loss.sum().backward()
    optimizer.step()
""",
)


@dataclass(frozen=True)
class _Sum:
    """An accumulation onto something: the call, its entry, the call that left `before`, a step in between if any."""

    call: Call
    entry: Accumulation
    earlier: Call
    step: Event | None


def find(facts: Facts) -> Iterator[Finding]:
    """One finding for each line that adds to older gradients, and for each clearing before a step."""
    sums = list(_sums(facts))
    stepped = [found for found in sums if found.step is not None]
    used = [found for found in stepped if _is_used(facts, found)]
    looked_at = {read.name for read in grad_reads(facts)}
    unused = [found for found in stepped if found not in used and found.entry.name in looked_at]
    yield from _grouped(facts, used, _forgotten)
    yield from _grouped(facts, unused, _plain)
    told = {(found.entry.name, found.call.place) for found in stepped}
    others = [s for s in sums if s.step is None and (s.entry.name, s.call.place) not in told]
    if not _on_purpose(facts):
        yield from _grouped(facts, others, _plain)
    yield from cleared_early(facts)


def _is_used(facts: Facts, found: _Sum) -> bool:
    """Tell whether a sum was stepped on, rather than cleared or left before anybody used it.

    A backward of one network often fills the leaves of another (the discriminator, in the generator's step), whose
    own `zero_grad()` throws that away in time.
    """
    for event in facts.recording.events:
        later = event.before_call is None or event.before_call > found.call.number
        if later and found.entry.name in event.names:
            if event.kind == "grad_cleared":
                return False
            if event.kind in ("optimizer_step", "value_changed"):
                return True
    return False


def _sums(facts: Facts) -> Iterator[_Sum]:
    """All accumulations onto a gradient that is there and not zero, of leaves and retained tensors."""
    left_by: dict[int, Call] = {}
    for call in facts.looked_at:
        if not call.engine or call.error is not None:
            continue
        detail = facts.detail(call.number)
        for entry in detail.accumulations:
            earlier = left_by.get(entry.node)
            is_sum = earlier is not None and _there(entry.before) and entry.incoming is not None
            if is_sum and not _lost_its_name(facts, call, entry.name):
                assert earlier is not None
                yield _Sum(call, entry, earlier, _step_between(facts, earlier, call, entry.name))
            left_by[entry.node] = call


def _lost_its_name(facts: Facts, call: Call, name: str | None) -> bool:
    """Tell whether the script's name means another tensor by now: its `.grad` cannot be read any more."""
    binding = None if name is None else facts.history.last(name, call)
    return binding is not None and not binding.is_leaf


def _there(value: Gradient) -> bool:
    """Tell whether an older gradient matters: not None, and not all zero."""
    return value is not None and value.norm != 0 and value.numel > 0


def _step_between(facts: Facts, earlier: Call, call: Call, name: str | None) -> Event | None:
    between = (facts.events_before.get(number, ()) for number in range(earlier.number + 1, call.number + 1))
    for event in chain.from_iterable(between):
        if event.kind in ("optimizer_step", "value_changed") and name is not None and name in event.names:
            return event
    return None


def _on_purpose(facts: Facts) -> bool:
    """Tell whether the script clears and steps: then a sum without a step between is a step of several calls."""
    kinds = {event.kind for event in facts.recording.events}
    return "optimizer_step" in kinds and "grad_cleared" in kinds


def _grouped(facts: Facts, sums: list[_Sum], build: Callable[[Facts, list[_Sum], int], Finding]) -> Iterator[Finding]:
    """One finding for each line, from its first call, for all leaves together."""
    groups: dict[object, list[_Sum]] = {}
    for found in sums:
        groups.setdefault(found.call.place, []).append(found)
    for group in groups.values():
        number = group[0].call.number
        first = [found for found in group if found.call.number == number]
        yield build(facts, first, len({found.call.number for found in group}))


def _equation(found: _Sum) -> str:
    """`` `w.grad`: 4 + 20 = 24 ``."""
    entry = found.entry
    name = words.code(f"{entry.name}.grad") if entry.name else words.code(".grad")
    return f"{name}: {brief(entry.before)} + {brief(entry.incoming)} = {brief(entry.after)}"


def _forgotten(facts: Facts, sums: list[_Sum], calls: int) -> Finding:
    found = sums[0]
    assert found.step is not None
    step = tr("the optimizer step") if found.step.kind == "optimizer_step" else tr("an update of the values")
    if found.step.place is not None:
        step += " (" + words.line(facts, found.step.place) + ")"
    message = tr(
        "{call} added to gradients that {earlier} had left, although {step} lies between and nothing cleared them: "
        "{sum}.",
        call=words.start(words.call_at(facts, found.call)),
        earlier=words.call_at(facts, found.earlier),
        step=step,
        sum=words.listed([_equation(one) for one in sums], 3),
    )
    message += words.again(calls)
    clear = words.code("optimizer.zero_grad()")
    names = [one.entry.name for one in sums if one.entry.name]
    if found.step.kind != "optimizer_step" and names:
        clear = words.code(f"{names[0]}.grad = None")
    advice = tr(
        "Clear them once for each step, before this backward: {clear}. It must reach {names}; a backward fills every "
        "leaf of its graph, whichever optimizer it belongs to.",
        clear=clear,
        names=words.codes(names) if names else tr("all of them"),
    )
    source = facts.source(found.call.place)
    for idle in () if source is None else uncalled(source, "zero_grad"):
        message += " " + tr("{code} in line {line} names the method but does not call it.",
                            code=words.code(text_of(idle)), line=idle.lineno)  # fmt: skip
        advice = tr("Write {code}.", code=words.code(f"{text_of(idle)}()"))
    return _finding(found, "warning", message, advice, sums)


def _plain(facts: Facts, sums: list[_Sum], calls: int) -> Finding:
    found = sums[0]
    message = tr(
        "{call} added to what {earlier} had left: {sum}.",
        call=words.start(words.call_at(facts, found.call)),
        earlier=words.call_at(facts, found.earlier),
        sum=words.listed([_equation(one) for one in sums], 3),
    )
    message += words.again(calls)
    advice = tr(
        "Right where the sum is wanted (several losses, one batch in pieces). For the gradient of this call alone set "
        "{clear} before it.",
        clear=words.code(f"{found.entry.name}.grad = None" if found.entry.name else ".grad = None"),
    )
    return _finding(found, "info", message, advice, sums)


def _finding(found: _Sum, level: Level, message: str, advice: str, sums: list[_Sum]) -> Finding:
    show = tuple(dict.fromkeys(one.entry.node for one in sums))
    return Finding("accumulated", level, found.call.number, found.entry.node, found.call.place, message, advice, show)
