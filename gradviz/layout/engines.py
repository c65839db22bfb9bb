"""The engines behind one Protocol, and the choice among them by an estimate of the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from gradviz.errors import LayoutError
from gradviz.layout.dot import NativeDot, WasiDot
from gradviz.layout.layered import LayeredEngine
from gradviz.layout.quality import better, crossings
from gradviz.layout.ranks import acyclic, ranks
from gradviz.layout.scene import with_note
from gradviz.layout.values import LayoutGraph, Placement
from gradviz.texts import tr

EXPORT_BUDGET_S = 5.0
"""Graphviz draws an exported picture when the estimate is below this; no clock decides."""
SECONDS_PER_UNIT = (4e-5, 5e-12)
"""Time of Graphviz per unit of work and per unit cubed, fitted on chains, residual nets, transformers, random graphs
and LSTMs of 50 to 1,000 boxes with and without labels: right within a factor of two above 0.05 s."""
MINUTE = 60.0


class Engine(Protocol):
    """Something that places boxes and edges."""

    @property
    def name(self) -> str:
        """The `engine` of its placements."""
        ...

    def place(self, graph: LayoutGraph) -> Placement:
        """Return the placement; raises LayoutError when it cannot."""
        ...


ENGINES: dict[str, Callable[[], Engine]] = {"layered": LayeredEngine, "dot": NativeDot, "wasi": WasiDot}


def engine(name: str) -> Engine:
    """Return the engine of that name.

    Raises:
        LayoutError: there is none.
    """
    if name not in ENGINES:
        raise LayoutError(
            tr("Unknown layout engine {name!r}: use one of {known}.", name=name, known=", ".join(ENGINES))
        )
    return ENGINES[name]()


def place_now(graph: LayoutGraph) -> Placement:
    """Return the layered placement of `graph`, at once and in this process."""
    return LayeredEngine().place(graph)


def place_export(graph: LayoutGraph, engine_name: str = "auto") -> Placement:
    """Return a placement that depends on the graph, the engine and its version, and on no clock.

    Args:
        graph: what to place.
        engine_name: "layered", "dot", "wasi", or "auto": see `place_best`.

    Raises:
        LayoutError: the engine is unknown, or it was asked for by name and failed.
    """
    if engine_name != "auto":
        return engine(engine_name).place(graph)
    # The embedded Graphviz alone: a `dot` on PATH would give another picture on another machine.
    return place_best(graph, EXPORT_BUDGET_S, "wasi" if WasiDot.available() else None)


def place_best(graph: LayoutGraph, budget_s: float, graphviz: str | None) -> Placement:
    """Return the better one of Graphviz' placement and the layered one.

    Graphviz is asked where its estimated time is below `budget_s` seconds and no anchors hold boxes in place, which it
    cannot heed. Of two placements the one with clearly fewer crossings is taken, else the layered one, whose main lines
    are straight; where that one has no crossing at all Graphviz, slow to load, is not asked. `graphviz` names its
    engine, None for none.
    """
    layered = place_now(graph)
    reason = why_not_graphviz(graph, budget_s)
    if reason or graphviz is None or not crossings(graph, layered):
        return with_note(layered, reason)
    try:
        return better(graph, layered, engine(graphviz).place(graph))
    except LayoutError as error:
        return with_note(layered, tr("{error} Drawn by the layered layout.", error=error))


def graphviz_engine() -> str | None:
    """Return the name of the Graphviz engine to use: the program on PATH before the embedded one; None without both."""
    if NativeDot.available():
        return "dot"
    return "wasi" if WasiDot.available() else None


def why_not_graphviz(graph: LayoutGraph, budget_s: float) -> str | None:
    """Return a sentence for the user why Graphviz is not asked; None when it is."""
    if any(anchor is not None for anchor in graph.anchors):
        return tr("Drawn by the layered layout, which keeps boxes about where they were.")
    seconds = graphviz_seconds(graph)
    if seconds > budget_s:
        about = tr("about {seconds} s", seconds=f"{seconds:.1f}") if seconds < MINUTE else tr("minutes")
        return tr("Drawn by the layered layout: Graphviz would take {time}.", time=about)
    return None


def graphviz_seconds(graph: LayoutGraph) -> float:
    """Estimate how long Graphviz takes for `graph`: it makes a node of its own for every rank that an edge passes.

    Above a minute it may be far more.
    """
    whole = [edge for edge in graph.edges if edge[0] != edge[1]]
    least = _seconds(len(graph.sizes) + len(whole))
    if least > MINUTE:  # hopeless however short the edges are
        return least
    edges = acyclic(len(graph.sizes), whole)
    rank = ranks(graph.sizes, edges, graph)
    per_rank = 2 if any(graph.edge_labels) else 1
    spans = sum(per_rank * (rank[target] - rank[source]) - 1 for source, target in edges)
    return _seconds(len(graph.sizes) + len(edges) + spans)


def _seconds(work: int) -> float:
    linear, cubic = SECONDS_PER_UNIT
    return linear * work + cubic * float(work) ** 3
