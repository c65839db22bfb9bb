"""Outlines of unfolded groups: a titled frame behind the boxes of a module, function or iteration that is open.

A layout puts boxes where their edges want them, so the boxes of a group are not always by themselves; an outline that
would hold a box of another group, or cross another outline, holds the operations only (leaves often stand beside
the next module), or is left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gradviz.model.groups import Group
from gradviz.render.plan import Box, ScenePlan
from gradviz.render.shapes import Bounds, overlap, united

OUTLINE_TITLE = 22.0  # height of the strip that bears the title
OUTLINE_SIGN = 30.0  # width of that strip's end, which bears the sign for folding
_PAD = 6.0
MOST_OUTLINED = 200  # boxes: in a larger picture frames would be many, and cost time
_KINDS = ("module", "function", "loop", "iteration", "repeat")


@dataclass(frozen=True, slots=True)
class Outline:
    """The frame of an open group; its title stands in the top `OUTLINE_TITLE` of the bounds."""

    group: Group
    bounds: Bounds


def outlines_of(plan: ScenePlan, reaches: Mapping[int, Bounds], ways: Sequence[Bounds]) -> tuple[Outline, ...]:
    """The outlines of a picture, outer ones first.

    `reaches` are the bounds of the boxes with what belongs to them, `ways` those of the links with their labels.
    """
    members = _members(plan, reaches)
    found: dict[int, Outline] = {}
    for index in sorted(members, reverse=True):  # children come after their parents, so they are done first
        inner = [known.bounds for known in found.values() if index in plan.tree.ancestors(known.group.index)]
        others = [known.bounds for known in found.values() if known.bounds not in inner]
        whole = members[index]
        core = {box for box in whole if plan.boxes[box].card.role not in ("leaf", "constant")}
        if len({box for box in whole if plan.boxes[box].kind != "constant"}) < 2:
            continue
        for mine in (whole, core):
            inside = [ways[link.index] for link in plan.links if link.source in mine and link.target in mine]
            tried = (_frame(mine, [*inner, *more], others, reaches) for more in (inside, []))
            bounds = next((frame for frame in tried if frame is not None), None)
            if bounds is not None:
                found[index] = Outline(plan.tree.groups[index], bounds)
                break
    return tuple(found[index] for index in sorted(found))


def _frame(
    mine: set[int], inner: Sequence[Bounds], others: Sequence[Bounds], reaches: Mapping[int, Bounds]
) -> Bounds | None:
    """The frame of these boxes and of what else is inside; None where it would not tell them from the others."""
    if len(mine) < 2 or len(mine) == len(reaches):
        return None
    left, top, right, bottom = united([*(reaches[box] for box in mine), *inner])
    bounds = (left - _PAD, top - _PAD - OUTLINE_TITLE, right + _PAD, bottom + _PAD)
    alien = (reach for box, reach in reaches.items() if box not in mine)
    return None if any(overlap(bounds, other) for other in (*alien, *others)) else bounds


def _members(plan: ScenePlan, boxes: Iterable[int]) -> dict[int, set[int]]:
    """Open group -> the boxes in it, at any depth. An input without gradient belongs to what takes it."""
    tree = plan.tree
    found: dict[int, set[int]] = defaultdict(set)
    for index in boxes:
        home = _home(plan, plan.boxes[index])
        for group in tree.ancestors(home) if home is not None else ():
            if group and tree.groups[group].kind in _KINDS:
                found[group].add(index)
    return found


def _home(plan: ScenePlan, box: Box) -> int | None:
    if box.card.group is not None:
        return box.card.group.group.parent
    nodes = box.nodes or (box.constant.users if box.constant is not None else ())
    return plan.tree.home.get(nodes[0]) if nodes else None
