"""exploding: the gradient grows by orders of magnitude on its way down, or was cut down by clipping."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

from gradviz.explain import words
from gradviz.explain.depth import Step, decisive, is_deep, way_words, ways
from gradviz.explain.facts import Facts
from gradviz.explain.page import Page
from gradviz.explain.repeated import Repeats
from gradviz.explain.source import dotted
from gradviz.model import Call, Event, Finding, Level, Place
from gradviz.model.numbers import number_text
from gradviz.texts import tr

PAGE = Page(
    code="exploding",
    title="A gradient that grows with depth",
    cause=(
        "Each layer multiplies the gradient; where it multiplies by more than one, a deep or recurrent network makes "
        "it grow without bound, and one step of the optimizer throws the parameters far away. Gradient clipping cuts "
        "it down to a fixed norm: a clipping that bites often, and by much, says that the steps are not what the loss "
        "asks for."
    ),
    example="""\
import torch

x = torch.tensor(0.01, requires_grad=True)
h = x
for layer in range(9):
    h = 4 * h
h.backward()
print(x.grad)
""",
    remedy=(
        "Initialise so that a layer keeps the size of what goes through it (`torch.nn.init.orthogonal_`, "
        "`xavier_normal_`), normalise, use a smaller learning rate, and clip: `torch.nn.utils.clip_grad_norm_` between "
        "the backward and the step. With `GradScaler` call `scaler.unscale_(optimizer)` before clipping."
    ),
    fixed="""\
import torch

x = torch.tensor(0.01, requires_grad=True)
h = x
for layer in range(9):
    h = 1.1 * h
h.backward()
print(x.grad)
""",
)

_TOO_LARGE = 1e4
_BITES = 10.0  # clipping by less is what clipping is for


def find(facts: Facts) -> Iterator[Finding]:
    """A finding for each line whose backward grows, and for each clipping that took nearly everything."""
    repeats = Repeats(facts)
    for call, way in ways(facts):
        if _grows(way):
            repeats.add(call.place, _finding(facts, call, way))
    yield from repeats.findings()
    yield from _clipped(facts)


def _grows(way: tuple[Step, ...]) -> bool:
    low = min(range(len(way)), key=lambda index: way[index].norm)
    below = way[low:]
    if max(step.norm for step in below) < _TOO_LARGE * below[0].norm:
        return False
    return is_deep(way, below, growing=True)


def _finding(facts: Facts, call: Call, way: tuple[Step, ...]) -> Finding:
    low = min(range(len(way)), key=lambda index: way[index].norm)
    below = way[low:]
    worst, factor = decisive(below, growing=True)
    culprit = below[worst].node
    message = tr(
        "In {call} the norm of the gradient grows from {first} at {top} to {last} at {bottom}, {count} operations "
        "below. The largest growth is at {worst}: times {factor}.",
        **way_words(facts, call, below, worst, factor),
    )
    advice = tr(
        "Initialise the layers so that they keep the size ({init}), normalise, or clip with {clip}.",
        init=words.code("torch.nn.init.orthogonal_"),
        clip=words.code("torch.nn.utils.clip_grad_norm_"),
    )
    show = tuple(step.node.id for step in below)
    return Finding("exploding", "warning", call.number, culprit.id, culprit.place or call.place, message, advice, show)


def _clipped(facts: Facts) -> Iterator[Finding]:
    """One finding for each line of clipping that took more than nine tenths."""
    told = set()
    for event in facts.recording.events:
        if event.kind != "grad_assigned":
            continue
        place = _line_of_clipping(facts, event)
        before, after = _total(event, 0), _total(event, 1)
        if place is None or place in told or before is None or after is None:
            continue
        clip = replace(event, place=place)
        if after > 0 and before > _BITES * after and not _unscaled_too(facts, clip):
            told.add(place)
            yield _clip(facts, clip, before, after)


def _line_of_clipping(facts: Facts, event: Event) -> Place | None:
    """The line that clipped: the event's own, else the only clipping in the script where all norms shrank alike."""
    if "clip" in (event.detail or ""):
        return event.place
    pairs = [(before, after) for before, after in event.norms if before and after is not None]
    shares = [after / before for before, after in pairs]
    if event.detail is not None or not shares or max(shares) > 1.01 * min(shares):
        return None
    lines = [
        Place(source.file, node.lineno)
        for source in facts.sources.values()
        for node in source.walk(ast.Call)
        if isinstance(node, ast.Call) and (dotted(node.func) or "").rsplit(".", 1)[-1].startswith("clip_grad_norm")
    ]
    return _nearest(facts, event, lines)


def _unscaled_too(facts: Facts, clip: Event) -> bool:
    """Tell whether the measured change is that of `unscale_` and the clipping together, so neither is known."""
    source, call = facts.source(clip.place), _call_before(facts, clip)
    if clip.detail is not None or source is None or call is None or "GradScaler" not in source.text:
        return False
    return not _still_scaled(facts, call, clip)


def _nearest(facts: Facts, event: Event, lines: list[Place]) -> Place | None:
    """The first of some lines after the call that the event follows; the only one where there is one."""
    call = _call_before(facts, event)
    if len(lines) <= 1 or call is None or call.place is None:
        return lines[0] if lines else None
    below = [p for p in lines if p.file == call.place.file and p.line >= call.place.line]
    return min(below, key=lambda p: p.line) if below else None


def _total(event: Event, side: int) -> float | None:
    norms = [pair[side] for pair in event.norms]
    known = [norm for norm in norms if norm is not None]
    return math.hypot(*known) if known else None


def _clip(facts: Facts, event: Event, before: float, after: float) -> Finding:
    call = _call_before(facts, event)
    facts_of_line = {
        "line": words.start(words.line(facts, event.place)),
        "names": words.codes(event.names),
        "before": number_text(before),
        "after": number_text(after),
    }
    level: Level = "info"
    if call is not None and _still_scaled(facts, call, event):
        level = "warning"
        message = tr(
            "{line} clipped the gradients of {names} while they were still multiplied by the factor of {scaler}: of "
            "their norm {before} only {after} was left for the optimizer step.",
            scaler=words.code("GradScaler"),
            **facts_of_line,
        )
        advice = tr(
            "Call {unscale} before clipping, or almost nothing of the gradient is left.",
            unscale=words.code("scaler.unscale_(optimizer)"),
        )
    else:
        message = tr("{line} cut the norm of the gradients of {names} from {before} down to {after}.", **facts_of_line)
        advice = tr("If this happens at most steps, use a smaller learning rate or look for what makes them so large.")
    number = None if call is None else call.number
    return Finding("exploding", level, number, None, event.place, message, advice)


def _call_before(facts: Facts, event: Event) -> Call | None:
    calls = [c for c in facts.user_calls if event.before_call is None or c.number < event.before_call]
    return calls[-1] if calls else None


def _still_scaled(facts: Facts, call: Call, clip: Event) -> bool:
    """Tell whether the script scales its loss and nothing took the factor out between the call and the clipping."""
    source = facts.source(clip.place)
    if source is None or "GradScaler" not in source.text:
        return False
    events = facts.recording.events
    if clip.detail is not None:  # measured at each step of its own, in the order in which they happened
        earlier = itertools.takewhile(lambda event: event != clip, events)
        return not any("unscale" in (event.detail or "") for event in earlier if _follows(event, call))
    lines = [
        node.lineno
        for node in source.walk(ast.Attribute)
        if isinstance(node, ast.Attribute) and node.attr == "unscale_" and clip.place is not None
    ]
    first = 0 if call.place is None or call.place.file != source.file else call.place.line
    return not any(clip.place is not None and first <= line <= clip.place.line for line in lines)


def _follows(event: Event, call: Call) -> bool:
    return event.before_call is None or event.before_call > call.number
