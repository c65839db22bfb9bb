"""Layout: sizes and edges in, positions and curves out.

`place_now` is the pure function for small graphs, `place_export` the one for files (no clock decides anything there),
`gradviz.layout.client.LayoutClient` talks to the helper process, where big graphs and Graphviz belong.
"""

from __future__ import annotations

from gradviz.layout.engines import Engine, place_export, place_now
from gradviz.layout.values import Curve, LayoutGraph, Placement, Point

__all__ = ["Curve", "Engine", "LayoutGraph", "Placement", "Point", "place_export", "place_now"]
