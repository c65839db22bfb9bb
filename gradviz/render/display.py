"""From a scene and a frame to a display list, from scratch or from an earlier frame's list."""

from __future__ import annotations

from dataclasses import dataclass

from gradviz.model.collector import held_collector
from gradviz.playback import Changes, Frame
from gradviz.render.card import card_item
from gradviz.render.constant_card import constant_item
from gradviz.render.edges import label_item, link_item, pulse_items, seed_items
from gradviz.render.far import FAR_ZOOM, far_box, far_link, far_outlines, far_seed
from gradviz.render.group_card import group_item
from gradviz.render.outline_item import outline_item
from gradviz.render.plan import Box
from gradviz.render.scene import Scene
from gradviz.render.shapes import DisplayList, Item
from gradviz.render.theme import Theme


@dataclass(frozen=True)
class Stale:
    """The boxes and links (indices) whose items were made for an earlier frame and may be others now."""

    boxes: tuple[int, ...]
    links: tuple[int, ...]


class Display:
    """The items of one scene in one theme, kept from frame to frame and made when they are asked for.

    Args:
        scene: what is drawn.
        theme: in which colours.
        zoom: device pixels per scene unit.
        ratio: device pixels per pixel of the eye; when `zoom / ratio` is below `FAR_ZOOM` a box is a tint and a name.
    """

    def __init__(self, scene: Scene, theme: Theme, zoom: float = 1.0, ratio: float = 1.0) -> None:
        self._scene, self._theme, self._zoom = scene, theme, zoom
        self._ratio = ratio
        self.far = zoom / ratio < FAR_ZOOM
        self.seeds: list[Item] = []
        self.pulses: list[Item] = []
        self.outlines = self._outlines()
        self._links: list[Item | None] = []
        self._cards: list[Item | None] = []
        self._labels: dict[int, Item | None] = {}
        self._frame: Frame | None = None
        self._loose = tuple(box.index for box in scene.plan.boxes if box.kind == "root")

    def at(self, frame: Frame) -> DisplayList:
        """The display list of a frame of the scene's timeline: outlines, edges, boxes, seeds, labels, pulses."""
        self.advance(frame)
        plan = self._scene.plan
        with held_collector():
            links = [self.link(index) for index in range(len(plan.links))]
            cards = [self.card(index) for index in range(len(plan.boxes))]
            labels = [label for index in range(len(plan.links)) if (label := self.label(index)) is not None]
        items = (*self.outlines, *links, *cards, *self.seeds, *labels, *self.pulses)
        return DisplayList(items, self._scene.bounds, self._theme.paper)

    def advance(self, frame: Frame) -> Stale | None:
        """Go to another frame; None tells that everything may be another. Seeds and pulses are made anew."""
        plan = self._scene.plan
        changes = None if self._frame is None else plan.timeline.changes(self._frame, frame)
        self._frame = frame
        self.seeds = self._seeds(frame)
        self.pulses = pulse_items(self._scene, frame, self._theme)
        if changes is not None:
            return self._forget(changes)
        self._links = [None] * len(plan.links)
        self._cards = [None] * len(plan.boxes)
        self._labels = {}
        return None

    def link(self, index: int) -> Item:
        """The line of a link in the current frame."""
        item = self._links[index]
        if item is None:
            assert self._frame is not None
            link = self._scene.plan.links[index]
            if self.far:
                item = far_link(self._scene, link, self._frame, self._theme, self._zoom)
            else:
                item = link_item(self._scene, link, self._frame, self._theme)
            self._links[index] = item
        return item

    def card(self, index: int) -> Item:
        """The item of a box in the current frame."""
        item = self._cards[index]
        if item is None:
            item = self._cards[index] = self._box(self._scene.plan.boxes[index])
        return item

    def label(self, index: int) -> Item | None:
        """The label of a link in the current frame, where it has one now."""
        if self.far:
            return None
        if index not in self._labels:
            assert self._frame is not None
            self._labels[index] = label_item(self._scene, self._scene.plan.links[index], self._frame, self._theme)
        return self._labels[index]

    def _outlines(self) -> list[Item]:
        if not self.far:
            return [outline_item(outline, self._theme) for outline in self._scene.outlines]
        return far_outlines(self._scene.outlines, self._theme, self._zoom, self._ratio)

    def _box(self, box: Box) -> Item:
        assert self._frame is not None
        if self.far:
            return far_box(self._scene, box, self._frame, self._theme, self._zoom, self._ratio)
        if box.kind == "group":
            return group_item(self._scene, box, self._frame, self._theme)
        if box.kind == "constant":
            return constant_item(self._scene, box, self._frame, self._theme)
        return card_item(self._scene, box, self._frame, self._theme)

    def _seeds(self, frame: Frame) -> list[Item]:
        call = frame.call
        boxes = self._scene.plan.boxes_with_seeds.get(call.number, ()) if call is not None else ()
        if self.far and call is not None:
            return [
                far_seed(f"seed-{box.id}-{place}", rect, plan, frame.seeds[place], self._theme, self._zoom, self._ratio)
                for box in boxes
                for place, (rect, plan) in self._scene.seed_rects(box, call.number).items()
            ]
        return [item for box in boxes for item in seed_items(self._scene, box, frame, self._theme)]

    def _forget(self, changes: Changes) -> Stale:
        plan = self._scene.plan
        links = {plan.links_of_edge[e].index for e in changes.edges if e in plan.links_of_edge}
        boxes = {plan.box_of_node[node].index for node in changes.nodes if node in plan.box_of_node}
        boxes.update(self._loose)  # a root without a grad_fn is no node, but its error comes and goes
        # From far nobody asks for the items of the boxes and links that are on the screen.
        stale = Stale(
            tuple(sorted(index for index in boxes if self.far or self._cards[index] is not None)),
            tuple(sorted(index for index in links if self.far or self._links[index] is not None)),
        )
        for index in boxes:
            self._cards[index] = None
        for index in links:
            self._links[index] = None
            self._labels.pop(index, None)
        return stale


def build_display_list(scene: Scene, frame: Frame, theme: Theme, zoom: float = 1.0) -> DisplayList:
    """The display list of one frame, from scratch."""
    return Display(scene, theme, zoom).at(frame)


def changed_items(old: DisplayList, new: DisplayList) -> tuple[list[Item], list[str]]:
    """The items of `new` that are not the same in `old`, and the ids that are gone."""
    before, after = old.by_id, new.by_id
    changed = [item for item in new.items if before.get(item.id) is not item and before.get(item.id) != item]
    return changed, [name for name in before if name not in after]
