"""DOT: the boxes and links of the picture as text for Graphviz and other tools."""

from __future__ import annotations

from pathlib import Path

from gradviz.export.files import write
from gradviz.export.job import Job, Made
from gradviz.model.numbers import brief, number_text
from gradviz.playback import Frame
from gradviz.render import Box, Link, Scene
from gradviz.texts import tr_picture as tr

_RANKS = {"RL": "RL", "LR": "LR", "TB": "TB", "BT": "BT"}
_STYLES = {
    "leaf": 'fillcolor="#e6f1f8", color="#0072b2"',
    "root": 'fillcolor="#e3f3ee", color="#00805d"',
    "custom": 'fillcolor="#f7eaf2", color="#a04f7d"',
    "opaque": 'fillcolor="#ececea", color="#6b7280"',
    "constant": 'fillcolor="#f7f5f0", color="#b9bdc4", style="rounded,filled,dashed"',
    "group": 'fillcolor="#f4f3ef", color="#7d8592", peripheries=2',
    "operation": 'fillcolor="#ffffff", color="#a3a9b3"',
}


def export_dot(job: Job, path: Path) -> Made:
    """Write the chosen moment of the picture as a DOT file."""
    picture = job.picture
    frame = picture.frame(picture.moment(job.options))
    job.advance(0, 1)
    write(path, dot_text(picture.scene, frame).encode("utf-8"), job.options.force)
    job.advance(1, 1)
    return Made(1)


def dot_text(scene: Scene, frame: Frame) -> str:
    """The picture of a frame as a directed graph in the direction in which gradients flow."""
    plan = scene.plan
    lines = [
        f"digraph {quoted(frame.title)} {{",
        f"  rankdir={_RANKS[plan.view.direction]};",
        '  node [shape=box, style="rounded,filled", fontname="sans-serif"];',
        '  edge [fontname="monospace"];',
    ]
    lines.extend(_box(scene, box, frame) for box in plan.boxes)
    lines.extend(_link(scene, link, frame) for link in plan.links)
    return "\n".join((*lines, "}", ""))


def quoted(text: str) -> str:
    """A DOT string; a backslash at its end would escape the quote."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _box(scene: Scene, box: Box, frame: Frame) -> str:
    words = [box.card.title, box.card.tag]
    if box.kind == "group":
        state = scene.plan.group_state(box, frame)
        words += [box.card.group.contents] if box.card.group else []
        words += [tr("norm in") + " " + number_text(state.came)] if state.came is not None else []
    for node in box.nodes if box.kind == "node" else ():
        for arrival in frame.node(node).arrivals:
            words.append(tr("gradient: {v}", v=brief(arrival.value)))
        leaf = frame.leaf(node)
        words += [f".grad = {brief(leaf.total)}"] if leaf is not None else []
        words += [tr("retained .grad") + f" = {brief(kept.total)}" for kept in frame.retained(node)]
    label = "\n".join(word for word in words if word)
    return f"  {quoted(box.id)} [label={quoted(label)}, {_STYLES[box.card.role]}];"


def _link(scene: Scene, link: Link, frame: Frame) -> str:
    boxes, flow = scene.plan.boxes, scene.plan.flow(link, frame)
    head = f"  {quoted(boxes[link.source].id)} -> {quoted(boxes[link.target].id)}"
    if not link.edges:
        return f'{head} [arrowhead=tee, color="#b9bdc4"];'
    if flow.phase not in ("flowing", "done"):
        return f"{head};"
    if flow.norm is None:
        return f"{head} [style=dotted];"
    text = brief(flow.value) if flow.value is not None else f"‖{number_text(flow.norm)}‖"
    return f"{head} [label={quoted(text)}];"
