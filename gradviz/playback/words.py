"""The words of the playback: titles, names and the sentence that says what a beat does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradviz.model import Call, CallError, Gradient, Node, Recording, Root
from gradviz.model.numbers import brief, number_text, shape_text
from gradviz.playback.states import GradState
from gradviz.texts import tr_picture as tr
from gradviz.texts import trn_picture as trn

if TYPE_CHECKING:
    from gradviz.playback.frame import Frame

_MOST_NAMES = 3


def short_name(node: Node) -> str:
    """The node's name in the script, else its op: `t2`, `Mul`; a leaf that no variable holds is told by its shape."""
    if node.name or node.kind != "leaf":
        return node.name or node.short_op
    return tr("leaf {shape}", shape=shape_text(node.outputs[0].shape)) if node.outputs else tr("leaf")


def spoken_name(node: Node) -> str:
    """As `short_name`, with the line where the op alone would not tell which: `Mul (line 5)`."""
    if node.name or node.place is None:
        return short_name(node)
    return tr("{op} (line {line})", op=node.short_op, line=node.place.line)


def title(recording: Recording, call: Call | None, code: str | None) -> str:
    """`Call 2 of 2   t3.backward()`: which call, and how the script wrote it; of an experiment what was tried."""
    if call is None:
        return tr("No backward call")
    top = recording.top_calls
    if call.what_if:
        return f"{tr('What if')}   {tried(call)}"
    if call.parent is None and call in top:
        head = tr("Call {n} of {all}", n=top.index(call) + 1, all=len(top))
    else:
        head = tr("Call {label}", label=call.label)
    return f"{head}   {code or called(call)}"


def tried(call: Call) -> str:
    """An experiment by its seeds: `seed 2 * G at Z`."""
    said = [(root.seed_name or brief(root.seed), root.name or tr("a node")) for root in call.roots]
    return ", ".join(tr("seed {seed} at {root}", seed=seed, root=root) for seed, root in said)


def called(call: Call) -> str:
    """The call as its public name and roots tell it: `t3.backward()`, `torch.autograd.grad(loss)`."""
    function = call.api.rsplit(".", 1)[-1]
    names = ", ".join(root.name or "…" for root in call.roots)
    if call.api.startswith("torch.Tensor."):
        return f"{names or '…'}.{function}()"
    return f"{call.api}({names})"


def statement(line: str, call: Call) -> str:
    """The part of a line of the script that makes the call: `loss.backward()` of `zero(); loss.backward(); step()`."""
    if {"'", '"'} & set(line):
        return line.strip()
    code = line.partition("#")[0].strip()
    word = call.api.rsplit(".", 1)[-1] + "("
    parts = [part.strip() for part in code.split(";") if word in part]
    return parts[0] if len(parts) == 1 and parts[0].count("(") == parts[0].count(")") else code


def sentence(frame: Frame, counted: bool = True) -> str:
    """What the beat of `frame` does; at the end what has come of the call. `counted`: with the number of the step."""
    beat, act = frame.beat, frame.act
    if beat is None or act is None:
        return tr("The script never called backward().")
    if frame.over and beat.kind != "error":
        return _outcome(frame, counted)
    if beat.kind == "seed":
        return "; ".join(_seed(frame, root) for root in act.call.roots if root.seed is not None)
    if beat.kind == "execution":
        return _execution(frame, beat.nodes, (beat.step or 0) if counted else None)
    if beat.kind == "error":
        assert act.call.error is not None
        return error_line(act.call.error)
    if beat.kind == "returned":
        return tr("the call returns {values}", values=", ".join(map(brief, act.detail.returned or ())))
    if beat.kind == "accumulation":
        return "; ".join(_sums(frame, beat.nodes)) or tr("gradients are added to .grad")
    return _events(frame)


def error_line(error: CallError) -> str:
    """An error in one line: its type and the first line of its message."""
    lines = error.message.strip().splitlines()
    return f"{error.type}: {lines[0]}" if lines else error.type


def product(node: Node, slot: int, arrived: Gradient, left: Gradient) -> str | None:
    """`5 · 4 = 20` where a multiplication by a saved number explains what leaves a slot, else None."""
    if node.short_op != "Mul" or arrived is None or left is None:
        return None
    factor = next((s.value for s in node.saved if s.name == ("other", "self")[slot & 1]), None)
    numbers = [None if value is None else value.item() for value in (arrived, factor, left)]
    if any(number is None or isinstance(number, complex) for number in numbers):
        return None
    a, b, c = (float(number.real) for number in numbers if number is not None)
    if not math.isclose(a * b, c, rel_tol=1e-3):
        return None
    return f"{number_text(a)} · {number_text(b)} = {number_text(c)}"


def sum_text(state: GradState) -> str:
    """A `.grad` as the sum of its last change: `4 + 20 = 24`, `None → 1`."""
    if state.change == "added" and state.parts:
        incoming = state.parts[-1].value
        if state.before is None:
            return f"None → {brief(state.total)}"
        if incoming is not None and incoming.numel > 1:
            return f"{brief(state.before)} + {brief(incoming)} = {brief(state.total)}"
        return f"{_plain(state.before)} {signed(incoming)} = {_plain(state.total)}"
    return brief(state.total)


def _plain(value: Gradient) -> str:
    number = None if value is None else value.item()
    return brief(value) if number is None else number_text(number)


def signed(value: Gradient) -> str:
    """A term with its operator in front: `+ 20`, `− 3`."""
    number = None if value is None else value.item()
    if number is not None and not isinstance(number, complex) and number < 0:
        return f"− {number_text(-number)}"
    return f"+ {brief(value) if number is None else number_text(number)}"


def _seed(frame: Frame, root: Root) -> str:
    name = root.name or (
        spoken_name(frame.recorded(frame.timeline.stage.stand_in(root.node))) if root.node is not None else "?"
    )
    if root.seed_given:
        shape = shape_text(root.seed.shape) if root.seed is not None else "?"
        return tr("the seed {v} of shape {shape} enters at {name}", v=brief(root.seed), shape=shape, name=name)
    return tr("the implicit seed {v} enters at {name}", v=brief(root.seed), name=name)


def _execution(frame: Frame, nodes: Sequence[int], step: int | None) -> str:
    act = frame.act
    assert act is not None
    count = len(act.detail.executions)
    if step is None:
        head = ""
    elif len(nodes) > 1:
        head = trn("wave of {n} node", "wave of {n} nodes", len(nodes))
    else:
        head = tr("engine step {k} of {n}", k=step, n=count)
    told = [text for node in nodes[:_MOST_NAMES] for text in _what_it_does(frame, node)]
    more = f" (+{len(nodes) - _MOST_NAMES})" if len(nodes) > _MOST_NAMES else ""
    return _headed(head, "; ".join(told) + more)


def _what_it_does(frame: Frame, stage_node: int) -> list[str]:
    act = frame.act
    assert act is not None
    node, execution = frame.recorded(stage_node), act.execution(stage_node)
    assert execution is not None
    if not execution.finished:
        return [tr("{name} fails", name=spoken_name(node))]
    texts = []
    for edge in act.graph.outgoing.get(node.id, ()):
        if edge.slot >= len(execution.grad_inputs):
            continue
        value = execution.grad_inputs[edge.slot]
        target = spoken_name(act.graph.by_id[edge.target])
        arrived = execution.grad_outputs[0] if len(execution.grad_outputs) == 1 else None
        amount = product(node, edge.slot, arrived, value) or brief(value)
        if value is None:
            texts.append(tr("{name} hands nothing (undefined) to {target}", name=spoken_name(node), target=target))
        else:
            texts.append(tr("{name} hands {v} to {target}", name=spoken_name(node), v=amount, target=target))
    return texts or _sums(frame, (stage_node,)) or [tr("{name} runs", name=spoken_name(node))]


def _sums(frame: Frame, nodes: Sequence[int]) -> list[str]:
    texts = []
    for node in nodes[:_MOST_NAMES]:
        leaf = frame.leaf(node)
        for state in (*((leaf,) if leaf is not None else ()), *frame.retained(node)):
            if state.change != "none":
                texts.append(f"{_holder(frame, node, state.name)}.grad: {sum_text(state)}")
    return texts


def _holder(frame: Frame, node: int, name: str | None) -> str:
    """What a `.grad` belongs to; of a call without its graph only a name of the script's is known."""
    if name or node not in frame.timeline.stage.graph.by_id:
        return name or tr("leaf")
    return short_name(frame.recorded(node))


def _events(frame: Frame) -> str:
    assert frame.beat is not None
    names = [name for event in frame.beat.events for name in event.names]
    shown = ", ".join(f"{name}.grad" for name in names[:_MOST_NAMES])
    more = f" (+{len(names) - _MOST_NAMES})" if len(names) > _MOST_NAMES else ""
    line = next((event.place.line for event in frame.beat.events if event.place is not None), None)
    where = "" if line is None else tr(" (line {line})", line=line)
    if frame.beat.kind == "cleared":
        return tr("between the calls: {names} cleared{where}", names=shown + more, where=where)
    if frame.beat.kind == "assigned":
        return tr("between the calls: {names} set by the script{where}", names=shown + more, where=where)
    if frame.beat.kind == "optimizer":
        return trn(
            "between the calls: the optimizer moves {n} parameter{where}",
            "between the calls: the optimizer moves {n} parameters{where}",
            len(names),
            where=where,
        )
    return tr("nothing was recorded inside this call")


def _outcome(frame: Frame, counted: bool) -> str:
    act = frame.act
    assert act is not None
    count = len(act.detail.executions)
    head = trn("after {n} engine step", "after {n} engine steps", count) if counted and act.call.whole else ""
    if act.detail.returned is not None:
        return _headed(head, tr("returned {values}", values=", ".join(map(brief, act.detail.returned))))
    sums = []
    for entry in act.detail.accumulations[:_MOST_NAMES]:
        stage_node = frame.timeline.stage.stand_in(entry.node)
        state = frame.leaf(stage_node)
        if state is not None:
            sums.append(f"{_holder(frame, stage_node, entry.name)}.grad = {brief(state.total)}")
    more = len(act.detail.accumulations) - len(sums)
    tail = ", ".join(sums) + (f" (+{more})" if sums and more > 0 else "")
    return _headed(head, tail)


def _headed(head: str, tail: str) -> str:
    return ": ".join(part for part in (head, tail) if part)
