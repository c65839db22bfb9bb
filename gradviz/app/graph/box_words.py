"""A box or a link in words: for tool tips and for screen readers."""

from __future__ import annotations

from gradviz.app.texts import tr, trn
from gradviz.model.numbers import brief, shape_text
from gradviz.playback import Frame
from gradviz.playback.words import short_name
from gradviz.render import Box, Link, Scene


def box_words(scene: Scene, box: Box, frame: Frame | None) -> str:
    """What a box is and what has arrived there: `t2, Mul, gradient 5`."""
    if box.kind == "group":
        group = scene.plan.tree.groups[int(box.id.removeprefix("group-"))]
        return tr("group {name}, {n} nodes", name=group.title, n=len(box.nodes))
    if box.kind == "constant":
        return tr("{name}, needs no gradient", name=box.card.title)
    if not box.nodes or frame is None:
        short = frame is not None and frame.call is not None and not frame.call.whole
        return tr("root of a call without its graph: only a summary was kept") if short else tr("root without a graph")
    node = frame.recorded(box.nodes[0])
    parts = [short_name(node), tr("leaf") if node.kind == "leaf" else node.short_op]
    parts += [tr("gradient {value}", value=brief(a.value)) for a in frame.node(box.nodes[0]).arrivals if not a.empty]
    return ", ".join(parts)


def box_tip(scene: Scene, box: Box, frame: Frame | None) -> str:
    """As `box_words`, with where the node was made and its shapes, a line each."""
    lines = [box_words(scene, box, frame)]
    if box.kind == "node" and frame is not None:
        node = frame.recorded(box.nodes[0])
        if node.place is not None:
            lines.append(tr("line {n}", n=node.place.line))
        if node.module:
            lines.append(node.module)
        lines += [f"{shape_text(output.shape)} {output.dtype}" for output in node.outputs[:4]]
    return "\n".join(lines)


def link_tip(scene: Scene, link: Link, frame: Frame | None) -> str:
    """Where a link leads and what flows on it."""
    graph = scene.plan.timeline.stage.graph
    if not link.edges:
        return box_words(scene, scene.plan.boxes[link.target], frame)
    if len(link.edges) > 1:
        return trn("{n} edge", "{n} edges", len(link.edges))
    edge = graph.edges[link.edges[0]]
    names = f"{short_name(graph.by_id[edge.source])} → {short_name(graph.by_id[edge.target])}"
    state = None if frame is None else frame.edge(link.edges[0])
    if state is None or state.phase not in ("flowing", "done"):
        return names
    return f"{names}: {brief(state.value)}"
