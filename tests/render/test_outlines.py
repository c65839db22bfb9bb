"""Frames round unfolded groups: what they hold, and that they never hold anything else."""

from __future__ import annotations

import pytest

from gradviz.model import CallDetail, Edge, Graph, Node, Recording, ViewState
from gradviz.render import Display, Scene, theme
from gradviz.render.far import FAR_ZOOM
from gradviz.render.outlines import OUTLINE_TITLE
from gradviz.render.shapes import Bounds, Rect, overlap
from tests import recordings as made
from tests.render.pictures import display_at, scene_of, words


def network(blocks: int) -> Recording:
    """A chain of modules of two operations and a leaf each, then a loss of no module."""
    nodes: list[Node] = [made.node(0, "MeanBackward0", "loss", line=9)]
    edges: list[Edge] = []
    last = 0
    for k in range(blocks):
        first = len(nodes)
        inside = {"module": f"net.{k}", "module_class": "Layer"}
        nodes.append(made.node(first, "ReluBackward0", None, line=3, **inside))
        nodes.append(made.node(first + 1, "MulBackward0", None, line=2, **inside))
        nodes.append(made.leaf(first + 2, f"net.{k}.weight", made.tensor(1.0), line=1))
        edges += [Edge(last, 0, first, 0), Edge(first, 0, first + 1, 0), Edge(first + 1, 1, first + 2, 0)]
        last = first + 1
    head = made.call(1, [made.root(nodes[0], made.tensor(1.0))], len(nodes))
    return made.recording([(head, Graph(tuple(nodes), tuple(edges)), CallDetail())])


def within(inner: Bounds, outer: Bounds) -> bool:
    return outer[0] <= inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2] and inner[3] <= outer[3]


@pytest.mark.parametrize("blocks", [1, 3, 8])
def test_an_outline_holds_its_boxes_and_no_other(blocks: int) -> None:
    scene = scene_of(network(blocks), ViewState(expanded=("*",)))
    assert scene.outlines
    for outline in scene.outlines:
        mine = set(scene.plan.tree.members(outline.group.index))
        for box in scene.plan.boxes:
            if mine.issuperset(box.nodes) and (box.card.role != "leaf" or outline.group.kind == "repeat"):
                assert within(scene.reach(box), outline.bounds)
            elif not mine.issuperset(box.nodes):
                assert not overlap(scene.cards[box.index], outline.bounds)
        assert within(outline.bounds, scene.bounds)


def test_outlines_lie_apart_or_in_each_other() -> None:
    scene = scene_of(network(4), ViewState(expanded=("*",)))
    ways = {outline.group.index: outline for outline in scene.outlines}
    assert len(ways) >= 2
    for a in ways.values():
        for b in ways.values():
            if a is not b and overlap(a.bounds, b.bounds):
                outer, inner = (a, b) if a.group.index in scene.plan.tree.ancestors(b.group.index) else (b, a)
                assert within(inner.bounds, outer.bounds)


def test_an_outline_bears_name_and_class_in_its_strip() -> None:
    scene = scene_of(network(3), ViewState(expanded=("*",)))
    display = display_at(scene, 0.0)
    outline = next(o for o in scene.outlines if o.group.detail == "Layer")
    item = display.by_id[f"outline-{outline.group.index}"]
    assert words(item) == [outline.group.label, "Layer"]
    ground = item.shapes[0]
    assert isinstance(ground, Rect) and ground.fill == theme("light").group_fill
    for text in display.texts():
        if text.text == "Layer":
            assert outline.bounds[1] < text.y <= outline.bounds[1] + OUTLINE_TITLE or text.y > outline.bounds[3]
    assert display.items[0].kind.startswith("outline")  # behind everything


def test_folded_and_moving_pictures_have_none() -> None:
    scene = scene_of(network(3), ViewState(folded=("*",)))
    assert scene.outlines == ()
    opened = scene_of(network(3), ViewState(expanded=("*",)))
    assert Scene(opened.plan, opened.placement, moving=True).outlines == ()


def test_from_far_the_title_is_as_large_on_the_screen() -> None:
    scene = scene_of(network(3), ViewState(expanded=("*",)))
    zoom = FAR_ZOOM / 2
    display = Display(scene, theme("light"), zoom).at(scene.plan.timeline.state_at(0.0))
    texts = [t for item in display.items if item.kind.startswith("outline") for t in item.shapes if hasattr(t, "style")]
    assert texts and all(t.style.size * zoom == pytest.approx(10, abs=0.5) for t in texts)
