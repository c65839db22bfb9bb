"""The plan of a picture: boxes with their sizes and the links between them, before anything has a place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from gradviz.layout import LayoutGraph
from gradviz.model import Gradient, ViewState
from gradviz.model.collector import held_collector
from gradviz.model.grouping import build_groups
from gradviz.model.groups import GroupTree
from gradviz.playback import Boundary, Bundle, Flow, Frame, GroupState, Timeline
from gradviz.playback.constants import Constant, constants
from gradviz.playback.filters import FOLD_LEAVES, NO_CONSTANTS, filtered
from gradviz.render.constant_measure import constant_card
from gradviz.render.fonts import Fonts, ensure_gui, fonts
from gradviz.render.leaf_lines import folded_leaves, with_leaves
from gradviz.render.measure import Card, Measurer, Size
from gradviz.render.scale import LogScale, scale_of
from gradviz.render.shapes import DisplayList

MOST_WITH_CONSTANTS = 40  # boxes: a larger picture is about gradients alone
MOST_LABELLED = 80  # more labels on edges would hide the picture; every node still tells what arrives

BoxKind = Literal["node", "group", "root", "constant"]


@dataclass(frozen=True)
class Box:
    """A box of the picture. `nodes` are the stage nodes that it stands for: an operation first, then its leaves.

    A root without a `grad_fn` and an input that needs no gradient stand for none. `id` is the id of its display item;
    `root` is (call number, place in its roots) for a box of kind "root".
    """

    index: int
    id: str
    kind: BoxKind
    nodes: tuple[int, ...]
    card: Card
    root: tuple[int, int] | None = None
    constant: Constant | None = None


@dataclass(frozen=True)
class Link:
    """An edge of the picture between two boxes (indices); `edges` are the stage edges that it stands for.

    To an input that needs no gradient no edge leads: nothing ever flows on that link.
    """

    index: int
    id: str
    source: int
    target: int
    edges: tuple[int, ...]
    label: Size | None


@dataclass(frozen=True)
class ScenePlan:
    """Boxes, links and the colour scale of a timeline under a view."""

    timeline: Timeline
    view: ViewState
    fonts: Fonts
    boxes: tuple[Box, ...]
    links: tuple[Link, ...]
    scale: LogScale
    tree: GroupTree

    @cached_property
    def _boundaries(self) -> dict[tuple[int, int], Boundary]:
        return {}

    @cached_property
    def legends(self) -> dict[str, DisplayList]:
        """The legend by theme: it looks through all that is played, and is the same in every frame."""
        return {}

    @cached_property
    def two_lines(self) -> dict[tuple[float, str | None], bool]:
        """Whether titles of a picture need two lines, by its width and title: looked up for every frame."""
        return {}

    @cached_property
    def _bundles(self) -> dict[tuple[int, int], Bundle]:
        return {}

    def group_state(self, box: Box, frame: Frame) -> GroupState:
        """The state of a folded group; its border is worked out once a call."""
        if frame.act is None:
            return GroupState("absent", 0, len(box.nodes), None, None, None)
        key = (frame.act.call.number, box.index)
        boundary = self._boundaries.get(key)
        if boundary is None:
            boundary = self._boundaries[key] = Boundary(frame.act, frozenset(box.nodes), self.timeline.leaves)
        return boundary.at(frame.moment)

    def flow(self, link: Link, frame: Frame) -> Flow:
        """What flows on a link, be it one edge or several."""
        if frame.act is None:
            return Flow("absent")
        if len(link.edges) == 1:
            state = frame.edge(link.edges[0])
            shown = state.phase in ("flowing", "done")
            norm = state.value.norm if shown and state.value is not None else None
            return Flow(state.phase, state.alpha, state.value, norm, int(shown and state.value is None))
        key = (frame.act.call.number, link.index)
        bundle = self._bundles.get(key)
        if bundle is None:
            bundle = self._bundles[key] = Bundle(frame.act, link.edges)
        return bundle.at(frame.moment, frame.flow)

    @property
    def horizontal(self) -> bool:
        """Whether gradients flow along x."""
        return self.view.direction in ("RL", "LR")

    @cached_property
    def box_of_node(self) -> dict[int, Box]:
        """Stage node -> the box that shows it."""
        return {node: box for box in self.boxes for node in box.nodes}

    @cached_property
    def links_of_edge(self) -> dict[int, Link]:
        """Stage edge (index) -> the link that shows it; edges inside a group have none."""
        return {edge: link for link in self.links for edge in link.edges}

    @cached_property
    def boxes_with_seeds(self) -> dict[int, tuple[Box, ...]]:
        """Number of a call -> the boxes at which its seeds enter."""
        found: dict[int, list[Box]] = {}
        for box in self.boxes:
            for call in box.card.seeds:
                found.setdefault(call, []).append(box)
        return {call: tuple(boxes) for call, boxes in found.items()}

    def layout_graph(self, anchors: Sequence[tuple[float, float] | None] = ()) -> LayoutGraph:
        """What a layout engine is asked; `anchors` are the earlier centres of boxes that should stay about there."""
        return LayoutGraph(
            tuple(box.card.outer(self.horizontal) for box in self.boxes),
            tuple((link.source, link.target) for link in self.links),
            tuple(link.label for link in self.links) if any(link.label for link in self.links) else (),
            self.view.direction,
            tuple(anchors),
        )


def plan_scene(timeline: Timeline, view: ViewState | None = None) -> ScenePlan:
    """Plan the picture of a timeline. Makes a QGuiApplication when there is none (texts are measured).

    Raises:
        ExportError: there is no font.
        UsageError: a filter of the view is none, or names a node that is not there.
    """
    ensure_gui()
    view = view or ViewState()
    measurer = Measurer(timeline, fonts())
    with held_collector():
        tree = build_groups(filtered(timeline, view.filters, view.call))
        boxes = _boxes(timeline, measurer, tree, view)
        boxes += _constants(timeline, boxes, view)
        links = _links(timeline, boxes, measurer)
        scale = scale_of(_norms(timeline), view.scale_range)
        plan = ScenePlan(timeline, view, fonts(), boxes, links, scale, tree)
        _ = plan.box_of_node, plan.links_of_edge, plan.boxes_with_seeds  # not in the first frame that needs them
    return plan


def _boxes(timeline: Timeline, measurer: Measurer, tree: GroupTree, view: ViewState) -> tuple[Box, ...]:
    boxes: list[Box] = []
    by_id = timeline.stage.graph.by_id
    visible = tree.visible(tree.open_groups(view.expanded, view.folded))
    folded: dict[int, list[int]] = {}
    if FOLD_LEAVES in view.filters:
        folded = folded_leaves(timeline, (shown for shown in visible if isinstance(shown, int)))
    gone = {leaf for leaves in folded.values() for leaf in leaves}
    for shown in visible:
        index = len(boxes)
        if isinstance(shown, int):
            if shown in gone:
                continue
            card, leaves = measurer.card(by_id[shown]), folded.get(shown, [])
            card = with_leaves(card, leaves, timeline, fonts()) if leaves else card
            boxes.append(Box(index, f"node-{shown}", "node", (shown, *leaves), card))
        else:
            members = tree.members(shown.index)
            card = measurer.group_card(shown, members)
            boxes.append(Box(index, f"group-{shown.index}", "group", tuple(members), card))
    for act in timeline.acts:
        for place, root in enumerate(act.call.roots):
            if root.node is None:
                card = measurer.root_card(root, act.call, place)
                name = f"root-{act.call.number}-{place}"
                boxes.append(Box(len(boxes), name, "root", (), card, (act.call.number, place)))
    return tuple(boxes)


def _constants(timeline: Timeline, boxes: Sequence[Box], view: ViewState) -> tuple[Box, ...]:
    """The inputs without gradient of what is shown as nodes, where the picture is not full without them."""
    if len(boxes) > MOST_WITH_CONSTANTS or NO_CONSTANTS in view.filters:
        return ()
    shown = [box.nodes[0] for box in boxes if box.kind == "node"]
    found = constants(timeline.recording, timeline.stage.graph, shown)[:MOST_WITH_CONSTANTS]
    first = len(boxes)
    return tuple(
        Box(first + k, f"constant-{k}", "constant", (), constant_card(made, timeline, fonts()), None, made)
        for k, made in enumerate(found)
    )


def _links(timeline: Timeline, boxes: Sequence[Box], measurer: Measurer) -> tuple[Link, ...]:
    """One link for each edge between two nodes; edges of a folded group are gathered by the box at the other end."""
    box_of = {node: box.index for box in boxes for node in box.nodes}
    gathered: dict[tuple[int, int, int], list[int]] = {}
    for index, edge in enumerate(timeline.stage.graph.edges):
        source, target = box_of.get(edge.source), box_of.get(edge.target)
        if source is None or target is None or source == target:
            continue
        single = boxes[source].kind == "node" and boxes[target].kind == "node"
        gathered.setdefault((source, target, index if single else -1), []).append(index)
    labelled = len(gathered) <= MOST_LABELLED
    links = []
    for number, ((source, target, _), edges) in enumerate(gathered.items()):
        size = _label_size(timeline, edges, measurer) if labelled else (0.0, 0.0)
        links.append(Link(number, f"edge-{edges[0]}", source, target, tuple(edges), size if size[0] else None))
    for box in boxes:
        for user in box.constant.users if box.constant is not None else ():
            links.append(Link(len(links), f"{box.id}-{user}", box_of[user], box.index, (), None))
    return tuple(links)


def _label_size(timeline: Timeline, edges: Sequence[int], measurer: Measurer) -> Size:
    if len(edges) == 1:
        return measurer.label(_flowing(timeline, edges[0]))
    return measurer.norm_label() if any(True for edge in edges for _ in _flowing(timeline, edge)) else (0.0, 0.0)


def _flowing(timeline: Timeline, index: int) -> Iterator[Gradient]:
    edge = timeline.stage.graph.edges[index]
    for act in timeline.acts:
        left = act.leaving(edge)
        if left is not None:
            yield left[1]


def _norms(timeline: Timeline) -> Iterator[float | None]:
    for act in timeline.acts:
        for execution in act.detail.executions:
            for value in execution.grad_outputs:
                if value is not None:
                    yield value.norm
        for value in act.detail.returned or ():
            if value is not None:
                yield value.norm
