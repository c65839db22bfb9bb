"""The helper process and its client: budgets, cancelling, and that nothing is left behind."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest

from gradviz.errors import LayoutError, ProtocolError
from gradviz.layout import LayoutGraph, place_now
from gradviz.layout.client import LayoutCancelledError, LayoutClient
from gradviz.layout.engines import graphviz_engine
from gradviz.layout.wire import (
    graph_from_json,
    graph_to_json,
    placement_from_json,
    placement_to_json,
    read_message,
    write_message,
)
from tests.layout import graphs

HARD = graphs.lstm(40).graph(labels=True)
"""Graphviz needs minutes for it."""


@pytest.fixture
def client() -> Iterator[LayoutClient]:
    with LayoutClient(graphviz_engine() or "layered") as client:
        assert client.wait_until_warm(60)
        yield client


def test_small_graphs_are_placed_by_graphviz_in_the_helper(client: LayoutClient) -> None:
    placement = client.place(graphs.SMALL["lstm"].graph(labels=True), 20.0)
    assert placement.engine == graphviz_engine()
    assert placement.note is None


def test_a_helper_that_is_late_is_killed_and_the_layered_engine_answers(client: LayoutClient) -> None:
    start = monotonic()
    placement = client.place(HARD, 0.3)
    assert monotonic() - start < 5
    assert (placement.positions, placement.engine) == (place_now(HARD).positions, "layered")
    assert placement.note is not None and "0.3 s" in placement.note
    assert client.wait_until_warm(60)
    assert client.place(graphs.diamond().graph(), 20.0).engine == graphviz_engine(), "another helper took over"


def test_cancel_ends_the_placement_at_once(client: LayoutClient) -> None:
    timer = threading.Timer(0.3, client.cancel)
    timer.start()
    start = monotonic()
    with pytest.raises(LayoutCancelledError):
        client.place(HARD, 60.0)
    assert monotonic() - start < 5
    timer.join()
    assert client.place(graphs.diamond().graph(), 20.0).positions


def test_auto_answers_before_graphviz_is_warm_and_after() -> None:
    graph = graphs.SMALL["transformer"].graph(labels=True)
    with LayoutClient() as client:
        first = client.place(graph)
        assert first.engine == "layered"
        assert client.wait_until_warm(60)
        then = client.place(graph, 20.0)
        assert then.note is None
        assert then.positions == first.positions, "Graphviz has more crossings here"


def test_a_large_graph_is_placed_in_the_helper_as_in_this_process() -> None:
    graph = graphs.lstm(60).graph()
    with LayoutClient("layered") as client:
        assert client.place(graph) == place_now(graph)


def test_an_unknown_engine_is_refused() -> None:
    with LayoutClient("neato") as client, pytest.raises(LayoutError, match="neato"):
        client.place(graphs.diamond().graph())


def test_a_helper_that_dies_is_replaced(client: LayoutClient) -> None:
    (process,) = client.process_ids[:1]

    def kill_at_work() -> None:
        while graphviz_engine() == "dot" and not any("dot -K" in words for words in of_group(process, 1)):
            continue  # the helper alone dies, while a native dot works for it
        os.kill(process, signal.SIGKILL)

    timer = threading.Timer(0.3, kill_at_work)
    timer.start()
    placement = client.place(HARD, 30.0)
    timer.join()
    assert placement.engine == "layered"
    assert placement.note is not None and "ended by itself" in placement.note
    assert of_group(process) == []  # a native dot would go on by itself, perhaps for ever


def of_group(leader: int, looks: int = 50) -> list[str]:
    """What runs in the process group of a process, zombies apart; asked again while something ends."""
    for _ in range(looks):
        lines = subprocess.run(["ps", "-eo", "pgid=,stat=,args="], capture_output=True, text=True, check=True).stdout
        words = [line.split(None, 2) for line in lines.splitlines()]
        found = [args for group, state, args in words if int(group) == leader and not state.startswith("Z")]
        if not found:
            break
    return found


def test_close_leaves_no_process_behind() -> None:
    before = set(children())
    client = LayoutClient(graphviz_engine() or "layered")
    assert client.wait_until_warm(60)
    worker = threading.Thread(target=place_quietly, args=(client,))
    worker.start()
    while not set(children()) - before:
        continue
    client.close()
    worker.join(10)
    assert not worker.is_alive()
    assert set(children()) <= before


def place_quietly(client: LayoutClient) -> None:
    try:
        client.place(HARD, 60.0)
    except LayoutCancelledError:
        return


def test_the_helper_ends_when_its_parent_dies() -> None:
    script = (
        "import os, sys; from gradviz.layout.client import LayoutClient; from tests.layout import test_client as t\n"
        "client = LayoutClient(t.graphviz_engine() or 'layered'); client.wait_until_warm(60)\n"
        "t.threading.Timer(0.5, lambda: (print(*t.children(), flush=True), os._exit(0))).start()\n"
        "client.place(t.HARD, 60.0)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, check=True)
    processes = [int(number) for number in done.stdout.split()]
    assert processes
    deadline = monotonic() + 10
    while any(is_running(process) for process in processes):
        assert monotonic() < deadline


def test_the_helper_ends_at_the_end_of_its_input() -> None:
    command = [sys.executable, "-m", "gradviz.layout.helper"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    assert done.returncode in (0, -signal.SIGKILL)
    assert read_message(io.BytesIO(done.stdout)) == {"type": "ready"}


def test_messages_survive_the_wire() -> None:
    graph = LayoutGraph(
        ((1.5, 2.0), (3.0, 4.0)), ((0, 1), (1, 1)), ((9.0, 8.0), None), "TB", ((1.0, 2.0), None), stub_span=3
    )
    placement = place_now(graphs.lstm(40).graph())
    assert any(curve.stub for curve in placement.curves)
    stream = io.BytesIO()
    write_message(stream, graph_to_json(graph))
    write_message(stream, placement_to_json(placement))
    stream.seek(0)
    first, second = read_message(stream), read_message(stream)
    assert first is not None and second is not None
    assert graph_from_json(first) == graph
    assert placement_from_json(second) == placement
    assert read_message(stream) is None


@pytest.mark.parametrize("body", [b"not json", b"[1]"])
def test_what_is_no_message_is_refused(body: bytes) -> None:
    with pytest.raises(ProtocolError):
        read_message(io.BytesIO(len(body).to_bytes(4, "big") + body))


def test_a_message_that_is_cut_off_is_the_end() -> None:
    assert read_message(io.BytesIO(b"\x00\x00\x00\x09{}")) is None
    with pytest.raises(ProtocolError):
        read_message(io.BytesIO(b"\xff\xff\xff\xff{}"))


def children() -> list[int]:
    """Return the processes that run and whose parent is this one."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid() and fields[0] != "Z":
            found.append(int(status.parent.name))
    return sorted(found)


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
