"""vanishing: the gradient shrinks by orders of magnitude on its way down."""

from __future__ import annotations

from collections.abc import Iterator

from gradviz.explain import words
from gradviz.explain.depth import Step, decisive, is_deep, way_words, ways
from gradviz.explain.facts import Facts
from gradviz.explain.page import Page
from gradviz.explain.repeated import Repeats
from gradviz.model import Call, Finding
from gradviz.texts import tr

PAGE = Page(
    code="vanishing",
    title="A gradient that fades with depth",
    cause=(
        "Each operation multiplies the gradient by its derivative. The derivative of `sigmoid` is at most 0.25, that "
        "of `tanh` at most 1 and mostly less, so after many of them next to nothing is left for the first layers, or "
        "for the early steps of a recurrent network."
    ),
    example="""\
import torch

x = torch.tensor(0., requires_grad=True)
h = x
for layer in range(9):
    h = torch.sigmoid(h)
h.backward()
print(x.grad)
""",
    remedy=(
        "Use `relu`, `gelu` or the like between layers, skip connections (`h = h + layer(h)`), normalisation, an "
        "initialisation that keeps the size (`torch.nn.init.xavier_uniform_`), or gates (LSTM, GRU) in recurrent "
        "networks. The finding names the operation that takes most."
    ),
    fixed="""\
import torch

x = torch.tensor(0., requires_grad=True)
h = x
for layer in range(9):
    h = h + torch.sigmoid(h)
h.backward()
print(x.grad)
""",
)

_TOO_SMALL = 1e-4  # of the largest norm on the way


def find(facts: Facts) -> Iterator[Finding]:
    """A finding for each line whose backward fades."""
    repeats = Repeats(facts)
    for call, way in ways(facts):
        if _fades(way):
            repeats.add(call.place, _finding(facts, call, way))
    yield from repeats.findings()


def _fades(way: tuple[Step, ...]) -> bool:
    top = max(range(len(way)), key=lambda index: way[index].norm)
    below = way[top:]
    if below[-1].norm > _TOO_SMALL * below[0].norm:
        return False
    return is_deep(way, below, growing=False)


def _finding(facts: Facts, call: Call, way: tuple[Step, ...]) -> Finding:
    top = max(range(len(way)), key=lambda index: way[index].norm)
    below = way[top:]
    worst, factor = decisive(below, growing=False)
    culprit = below[worst].node
    message = tr(
        "In {call} the norm of the gradient falls from {first} at {top} to {last} at {bottom}, {count} operations "
        "below. The largest drop is at {worst}: times {factor}.",
        **way_words(facts, call, below, worst, factor),
    )
    advice = tr(
        "Use {relu} or {gelu} between the layers, skip connections, normalisation, or gates in a recurrent network.",
        relu=words.code("relu"),
        gelu=words.code("gelu"),
    )
    show = tuple(step.node.id for step in below)
    return Finding("vanishing", "warning", call.number, culprit.id, culprit.place or call.place, message, advice, show)
