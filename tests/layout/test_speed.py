"""The layered engine's time: bounds for large graphs, and growth no faster than the graph.

Time is that of the processor, the better of two runs: the engine has one thread, so it is what a user waits for on an
idle machine, and those that run tests are not idle. There it took 0.2 s, 0.9 s and 1.7 s.
"""

from __future__ import annotations

from time import process_time

import pytest

from gradviz.layout import place_now
from tests.layout import graphs


def seconds(build: graphs.Builder) -> float:
    """Return the better time of two runs."""
    graph = build.graph()
    times = []
    for _ in range(2):
        start = process_time()
        place_now(graph)
        times.append(process_time() - start)
    return min(times)


@pytest.mark.parametrize(
    ("build", "bound"),
    [(graphs.lstm(200), 1.0), (graphs.lstm(1060), 3.0), (graphs.chain(50_000), 5.0)],
    ids=["3,200 boxes of an LSTM", "17,000 boxes of an LSTM", "a chain of 50,000"],
)
def test_large_graphs_are_placed_in_seconds(build: graphs.Builder, bound: float) -> None:
    assert seconds(build) < bound


def test_the_time_per_box_hardly_grows_from_1000_to_50000() -> None:
    small = seconds(graphs.chain(1_000)) / 1_000
    large = seconds(graphs.chain(50_000)) / 50_000
    assert large < 1.5 * small
