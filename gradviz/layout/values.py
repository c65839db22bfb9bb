"""What a layout is asked and what it answers, as frozen values.

All lengths are scene units, y points down. A box is known by its index, an edge by its place in `edges`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gradviz.errors import LayoutError

Point = tuple[float, float]

DIRECTIONS = ("RL", "LR", "TB", "BT")
NODE_GAP = 28.0
RANK_GAP = 64.0
STUB_SIZE = (64.0, 18.0)
VIEW = (1600.0, 1000.0)
LEGIBLE = 0.25


@dataclass(frozen=True)
class LayoutGraph:
    """Boxes of fixed sizes and the edges between them, in the direction in which gradients flow.

    Attributes:
        sizes: (width, height) of each box.
        edges: (source, target) indices into `sizes`; repeated pairs are parallel edges, cycles and loops may occur.
        edge_labels: the size of the label that each edge carries, or None; empty when no edge has one.
        direction: "RL" puts the source right of its target, "LR" left, "TB" above, "BT" below.
        anchors: the earlier centre of a box which should stay about there, or None; empty when all is new.
        node_gap: least distance of two boxes side by side in a rank.
        rank_gap: distance of two ranks of boxes (labels on edges come on top).
        stub_span: an edge over more ranks than this becomes two stubs; None lets the engine choose.
        stub_size: room that is kept for the label of a stub.
        view: the size of a window in which the whole should be seen.
        legible: a picture that fits the view only at a smaller scale than this is wrapped into rows where that makes
            it clearly larger; 0 never wraps.
    """

    sizes: tuple[Point, ...]
    edges: tuple[tuple[int, int], ...]
    edge_labels: tuple[Point | None, ...] = ()
    direction: str = "RL"
    anchors: tuple[Point | None, ...] = ()
    node_gap: float = NODE_GAP
    rank_gap: float = RANK_GAP
    stub_span: int | None = None
    stub_size: Point = STUB_SIZE
    view: Point = VIEW
    legible: float = LEGIBLE

    def __post_init__(self) -> None:
        """Refuse what no engine can place.

        Raises:
            LayoutError: an unknown direction, an edge to a box that is not there, a list of the wrong length.
        """
        count = len(self.sizes)
        if self.direction not in DIRECTIONS:
            raise LayoutError(f"Unknown direction {self.direction!r}: use one of {', '.join(DIRECTIONS)}.")
        if any(not (0 <= source < count and 0 <= target < count) for source, target in self.edges):
            raise LayoutError(f"An edge leads to a box that is not there: there are {count} boxes.")
        _check_length("edge_labels", self.edge_labels, len(self.edges))
        _check_length("anchors", self.anchors, count)

    @property
    def horizontal(self) -> bool:
        """Whether gradients flow along x."""
        return self.direction in ("RL", "LR")

    @property
    def flow_view(self) -> Point:
        """(along, across) the flow: the size of the view."""
        return self.view if self.horizontal else (self.view[1], self.view[0])

    def zoom(self, along: float, across: float) -> float:
        """Return the scale at which a picture of this size fits the view; 1 when it fits as it is."""
        width, height = self.flow_view
        return min(1.0, width / max(along, 1.0), height / max(across, 1.0))


@dataclass(frozen=True)
class Curve:
    """The way of one edge, from the border of its source to the border of its target.

    Attributes:
        points: 3n+1 control points of a chain of cubic Bezier pieces; empty when the edge is drawn as stubs.
        label: the centre of the edge's label (for one half of a stub: of the name of the other end).
        stub: for an edge that would run too far: a short piece that leaves the source and one that enters the target.
            Edges of one box may share a stub (equal curves): a weight used by 200 steps has one piece that enters it.
    """

    points: tuple[Point, ...]
    label: Point | None = None
    stub: tuple[Curve, Curve] | None = None


@dataclass(frozen=True)
class Placement:
    """Where boxes and edges are; everything lies in [left, left + width] x [top, top + height].

    Attributes:
        positions: the centre of each box.
        curves: in the order of the graph's edges.
        width: of the whole picture.
        height: of the whole picture.
        engine: "layered", "dot" or "wasi".
        note: why another engine than the wanted one was used, for the user; None when there is nothing to say.
        left: 0 unless anchors hold the picture where it was.
        top: as `left`.
    """

    positions: tuple[Point, ...]
    curves: tuple[Curve, ...]
    width: float
    height: float
    engine: str
    note: str | None = None
    left: float = 0.0
    top: float = 0.0


def _check_length(name: str, values: Sequence[object], wanted: int) -> None:
    if len(values) not in (0, wanted):
        raise LayoutError(f"{name} has {len(values)} entries where {wanted} (or none) are needed.")
