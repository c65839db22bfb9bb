"""What recording costs: forward and backward recorded and plain, side by side in one process, and torchlens' cost.

Plain and recorded steps take turns, so that other load on the machine meets both; medians are compared. What is
recorded is what users get by default: lines, names, values, the file. Attaching and detaching are left out; the first
call of a recording, whose graph is spelled out and stored, has a column of its own.

All three ratios have the plain step below them, as it was measured in the same process: "recorded / plain" is that of
a later call of a recording, and `limit` is what it may be; "first / plain" is that of the first call; "torchlens /
plain" is torchlens' own step, in a process of its own, over a plain step there.
"""

from __future__ import annotations

import gc
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import torch
from torch import nn

import gradviz
from gradviz.store.reader import close_recording, open_recording
from tests.benchmarks import networks
from tests.benchmarks.table import print_table

ROUNDS = 3
SLOW = 1.0  # seconds of a plain step; of a network that takes longer there is one recording
TORCHLENS_SECONDS = 25


@dataclass(frozen=True)
class Work:
    """A model, what it is given, and the loss of its output."""

    model: nn.Module
    inputs: tuple[torch.Tensor, ...]
    loss: Callable[[torch.Tensor], torch.Tensor]

    def step(self) -> None:
        """One training step: gradients cleared, forward, backward."""
        self.model.zero_grad()
        self.loss(self.model(*self.inputs)).backward()


def resnet() -> Work:
    labels = torch.randint(0, 10, (8,))
    return Work(
        networks.ResNet50(), (torch.randn(8, 3, 64, 64),), lambda found: nn.functional.cross_entropy(found, labels)
    )


def gpt() -> Work:
    model = networks.GPT(layers=12, width=192, heads=6, block=64, vocabulary=256)
    tokens = torch.randint(0, 256, (8, 65))
    wanted = tokens[:, 1:].flatten()
    return Work(model, (tokens[:, :-1],), lambda found: nn.functional.cross_entropy(found.flatten(0, 1), wanted))


def lstm() -> Work:
    model = networks.Unrolled(inputs=16, hidden=64)
    return Work(model, (torch.randn(1000, 8, 16),), lambda found: found.square().mean())


def scalars() -> Work:
    model = networks.ScalarMLP(sizes=(8, 32, 32, 32, 16, 1), samples=1)
    return Work(model, (), lambda found: found)


# Name -> what makes it, and the ratio that it may have.
WORKS: dict[str, tuple[Callable[[], Work], float]] = {
    "ResNet-50, 64 channels, 64x64": (resnet, 1.3),
    "GPT, 12 layers": (gpt, 2.5),
    "LSTM cell, 1,000 steps": (lstm, 2.5),
    "scalar MLP, 7,600 nodes": (scalars, 4.0),
}


@dataclass
class Row:
    """What one network costs. Times are medians in seconds; ratios are to the plain step."""

    name: str
    nodes: int
    plain: float
    recorded: float
    first: float
    limit: float
    torchlens: str

    def cells(self) -> tuple[object, ...]:
        """As the table shows it."""
        ratios = self.recorded / self.plain, self.first / self.plain
        return self.name, self.nodes, self.plain, self.recorded, ratios[0], self.limit, ratios[1], self.torchlens


def rows() -> Iterator[Row]:
    """Measure each network."""
    for name, (make, limit) in WORKS.items():
        torch.manual_seed(0)
        work = make()
        work.step()
        plain, first, recorded = [], [], []
        nodes = 0
        rounds = ROUNDS if seconds(work.step) < SLOW else 1
        for _ in range(rounds):
            plain.append(seconds(work.step))
            with tempfile.TemporaryDirectory() as folder:
                path = str(Path(folder) / "bench.gradviz")
                with gradviz.record(path):
                    # From one line, as the steps of a training loop: of another one the graph has other call stacks.
                    for times in (first, recorded):
                        times.append(seconds(work.step))
                nodes = _nodes(path)
            plain.append(seconds(work.step))
        print(f"{name}: {statistics.median(recorded) / statistics.median(plain):.3g}", file=sys.stderr, flush=True)
        yield Row(name, nodes, *map(statistics.median, (plain, recorded, first)), limit, _torchlens(make.__name__))


def seconds(step: Callable[[], object]) -> float:
    """How long a step takes; garbage of earlier ones is collected outside the measured time."""
    gc.collect()
    start = perf_counter()
    step()
    return perf_counter() - start


def _nodes(path: str) -> int:
    recording = open_recording(path)
    try:
        return recording.calls[-1].node_count
    finally:
        close_recording(recording)


def _torchlens(name: str) -> str:
    """The ratio for torchlens, in a process of its own (it wraps all of torch's functions), or why there is none."""
    words = [sys.executable, "-m", "tests.benchmarks.rival", name]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=TORCHLENS_SECONDS)
    except subprocess.TimeoutExpired:
        return f"over {TORCHLENS_SECONDS} s"
    return done.stdout.strip().splitlines()[-1] if done.returncode == 0 else "fails"


def main() -> None:
    """Print the table."""
    header = (
        *("forward + backward", "nodes", "plain s", "recorded s", "recorded / plain", "limit", "first / plain"),
        "torchlens / plain",
    )
    title = (
        f"Recorded and plain in turns: medians of {ROUNDS} recordings, of 1 where a plain step takes over {SLOW:g} s"
    )
    print_table(title, header, [row.cells() for row in rows()])
