"""The layered engine beside Graphviz' `dot` on the same graphs, layout alone."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from time import perf_counter

from gradviz.layout import LayoutGraph, place_now
from gradviz.layout.dot import dot_text
from tests.benchmarks.table import print_table
from tests.layout import graphs

DOT_LIMIT_S = 20.0
"""A `dot` that takes longer counts as no answer."""

Row = tuple[str, int, int, float, float | None]

MODELS = {
    "chain of 1,000": graphs.chain(1_000),
    "chain of 50,000": graphs.chain(50_000),
    "MLP, 40 layers": graphs.mlp(40),
    "residual net, 50 blocks": graphs.residual(50),
    "transformer, 1 block": graphs.transformer(1),
    "transformer, 48 blocks": graphs.transformer(48),
    "LSTM, 10 steps": graphs.lstm(10),
    "LSTM, 200 steps": graphs.lstm(200),
    "LSTM, 1,060 steps": graphs.lstm(1_060),
    "fan of 1,000": graphs.fan(1_000),
    "random, 1,000 boxes": graphs.random_dag(1_000, 1_400, 3),
    "random, 50,000 boxes": graphs.random_dag(50_000, 70_000, 3),
}


def rows(limit_s: float = DOT_LIMIT_S) -> Iterator[Row]:
    """Yield (name, boxes, edges, our seconds, seconds of `dot` or None without an answer in time)."""
    for name, build in MODELS.items():
        graph = build.graph()
        start = perf_counter()
        place_now(graph)
        ours = perf_counter() - start
        yield name, len(graph.sizes), len(graph.edges), ours, dot_seconds(graph, limit_s)


def dot_seconds(graph: LayoutGraph, limit_s: float) -> float | None:
    """Return how long `dot -Tplain` takes; None when it is missing, fails or takes longer than `limit_s`."""
    program = shutil.which("dot")
    if program is None:
        return None
    start = perf_counter()
    try:
        subprocess.run(
            [program, "-Tplain"], input=dot_text(graph).encode(), capture_output=True, timeout=limit_s, check=True
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return None
    return perf_counter() - start


def main() -> None:
    """Print the table."""
    header = ("graph", "boxes", "edges", "gradviz s", "dot s")
    print_table(f"Layout alone; a dash: dot gave no answer within {DOT_LIMIT_S:.0f} s", header, list(rows()))
