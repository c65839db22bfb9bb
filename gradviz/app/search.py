"""Finding nodes: words over what is known of them, filters over what their gradients are. No Qt; runs in a thread."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from gradviz.app.texts import tr
from gradviz.model import Gradient, Node, Statistics
from gradviz.model.numbers import number_text, shape_text
from gradviz.playback import Timeline
from gradviz.playback.act import Act
from gradviz.playback.words import short_name

MOST_MATCHES = 500
_LARGEST = 20
_WORD = re.compile(r'(?:(\w+):)?("[^"]*"|\S+)')


@dataclass(frozen=True, slots=True)
class Match:
    """A node that was found: its id on the stage, its name and what else tells it apart."""

    node: int
    title: str
    detail: str


@dataclass(frozen=True, slots=True)
class Matches:
    """The first matches and how many there are in all."""

    shown: tuple[Match, ...]
    total: int


def search(timeline: Timeline, call: int | None, text: str) -> Matches:
    """Nodes for which every word of `text` holds, in the order of the engine; with `is:largest` the largest first.

    A word is looked for in name, op, module, line and shape. `op:mul`, `name:w`, `line:12`, `module:encoder`,
    `shape:(3,)`, `file:model.py` look in one of them only; `is:nan`, `is:inf`, `is:zero`, `is:none`, `is:leaf`,
    `is:custom`, `is:retained`, `is:unreached` and `is:largest` (the 20 largest) look at what happened in this call:
    a gradient that is nan or zero is found where it arrived and where it was made.
    """
    act = next((act for act in timeline.acts if act.call.number == call), timeline.acts[0])
    tests = [_test(field, word.strip('"').casefold(), act) for field, word in _WORD.findall(text)]
    if not tests:
        return Matches((), 0)
    found = [node for node in _in_order(act) if all(test(node) for test in tests)]
    if "is:largest" in text:
        found.sort(key=lambda node: -_size(act, node))
    shown = tuple(Match(act.stage.stand_in(n.id), short_name(n), _detail(n, act)) for n in found[:MOST_MATCHES])
    return Matches(shown, len(found))


def filters() -> tuple[tuple[str, str], ...]:
    """The filters that a menu offers: words for the user and what is typed for them."""
    return (
        (tr("nan or inf"), "is:nonfinite"),
        (tr("exactly zero"), "is:zero"),
        (tr("undefined (None)"), "is:none"),
        (tr("did not run"), "is:unreached"),
        (tr("largest gradients"), "is:largest"),
        (tr("leaves"), "is:leaf"),
        (tr("custom functions"), "is:custom"),
        (tr("retained"), "is:retained"),
    )


def _in_order(act: Act) -> Iterator[Node]:
    """The nodes that ran, as they ran, then the others."""
    ran = {execution.node for execution in act.detail.executions}
    for execution in act.detail.executions:
        yield act.graph.by_id[execution.node]
    yield from (node for node in act.graph.nodes if node.id not in ran)


def _test(field: str, word: str, act: Act) -> Callable[[Node], bool]:
    if field == "is":
        return _filter(word, act)
    readers: dict[str, Callable[[Node], str]] = {
        "op": lambda node: node.op,
        "name": lambda node: node.name or "",
        "module": lambda node: f"{node.module or ''} {node.module_class or ''}",
        "file": lambda node: os.path.basename(node.place.file) if node.place is not None else "",
        "shape": lambda node: " ".join(shape_text(output.shape) for output in node.outputs),
    }
    if field == "line":
        return lambda node: node.place is not None and str(node.place.line) == word
    if field in readers:
        read = readers[field]
        return lambda node: word in read(node).casefold()
    whole = f"{field}:{word}" if field else word
    return lambda node: whole in _haystack(node)


def _haystack(node: Node) -> str:
    # Without the file's name: it would be found at each of its nodes.
    where = "" if node.place is None else f"line {node.place.line} {node.place.function}"
    shapes = " ".join(shape_text(output.shape) for output in node.outputs)
    # "mul" is not meant to find every AccumulateGrad.
    op = "leaf" if node.kind == "leaf" else node.op
    return " ".join((node.name or "", op, node.module or "", node.module_class or "", where, shapes)).casefold()


def _filter(word: str, act: Act) -> Callable[[Node], bool]:
    runs = {execution.node: execution for execution in act.detail.executions}
    if word == "largest":
        there = [node for node in act.graph.nodes if _received(act, node)]
        order = sorted(there, key=lambda node: -_size(act, node))
        largest = frozenset(node.id for node in order[:_LARGEST])
        return lambda node: node.id in largest
    plain: dict[str, Callable[[Node], bool]] = {
        "leaf": lambda node: node.kind == "leaf",
        "custom": lambda node: node.kind == "custom",
        "retained": lambda node: any(output.retains_grad for output in node.outputs),
        "failed": lambda node: node.id == act.call.failed_node,
        "none": lambda node: bool(got := _received(act, node)) and all(value is None for value in got),
        "unreached": lambda node: node.id not in runs and not _received(act, node),
    }
    if word in plain:
        return plain[word]
    counted: dict[str, Callable[[Statistics], bool]] = {
        "nan": lambda s: bool(s.nan),
        "inf": lambda s: bool(s.inf),
        "nonfinite": lambda s: bool(s.nan or s.inf),
        "zero": lambda s: s.norm == 0.0,
    }
    test = counted.get(word)
    return lambda node: test is not None and any(map(test, _statistics(act, node)))


def _received(act: Act, node: Node) -> tuple[Gradient, ...]:
    """What came to a node per output, also without running it; empty where nothing did."""
    return tuple(act.received(act.stage.stand_in(node.id)).values())


def _left(act: Act, node: Node) -> tuple[Gradient, ...]:
    """What left a node per slot; empty where it did not run."""
    run = act.execution(act.stage.stand_in(node.id))
    return () if run is None else run.grad_inputs


def _statistics(act: Act, node: Node) -> Iterator[Statistics]:
    for value in (*_received(act, node), *_left(act, node)):
        if value is not None and value.statistics is not None:
            yield value.statistics


def _norm(values: Iterable[Gradient]) -> float | None:
    """The largest norm, nan where one is; None where there is none."""
    norms = [value.norm for value in values if value is not None and value.norm is not None]
    return math.nan if any(map(math.isnan, norms)) else max(norms, default=None)


def _size(act: Act, node: Node) -> float:
    """What arrived at a node, to sort by: nothing is less than zero, nan more than all."""
    norm = _norm(_received(act, node))
    return -1.0 if norm is None else math.inf if math.isnan(norm) else norm


def _norm_words(act: Act, node: Node) -> str:
    """The norm of what arrived, and of what left where it became nan or zero here: `‖g‖ 1.4 → 0`."""
    arrived = _norm(_received(act, node))
    if arrived is None:
        return ""
    left = [value.norm for value in _left(act, node) if value is not None and value.norm is not None]
    words = f"‖g‖ {number_text(arrived)}"
    if any(map(math.isnan, left)) and not math.isnan(arrived):
        return f"{words} → {number_text(math.nan)}"
    return f"{words} → 0" if 0.0 in left and arrived != 0.0 else words


def _detail(node: Node, act: Act) -> str:
    op = tr("leaf") if node.kind == "leaf" else node.short_op
    parts = [] if op == short_name(node) else [op]
    if node.place is not None:
        again = f" #{node.iteration}" if node.iteration is not None and node.iteration > 1 else ""
        parts.append(tr("line {n}", n=node.place.line) + again)
    if node.module:
        parts.append(node.module)
    parts += [shape_text(output.shape) for output in node.outputs[:1]]
    parts.append(_norm_words(act, node))
    return " · ".join(filter(None, parts))
