"""From a recording to a picture, beside torchviz with `dot -Tsvg` on the same graph.

All seconds are seconds of processor time (other programs on the machine do not count), without the start of either
program: what is loaded once is loaded before. A picture of ours is a PNG of 1,600 pixels, folded as it is first seen,
and unfolded so that every node is there; "window" is the way of the window (a helper process lays out) instead of that
of the command line.
"""

from __future__ import annotations

import itertools
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import process_time

import torch
import torchviz
from torch import nn

import gradviz
from gradviz.app.background import Task
from gradviz.app.graph.drawing import build_scene
from gradviz.app.loading import make_story
from gradviz.export import ExportOptions, export
from gradviz.layout.client import LayoutClient
from gradviz.model import ViewState
from gradviz.render import ensure_gui, fit_camera, plan_scene
from gradviz.store.reader import close_recording, open_recording
from tests.benchmarks import networks
from tests.benchmarks.table import print_table

DOT_LIMIT_S = 60.0
SIZE = (1600, 1000)
BEST_OF = 3
GROWTH = (1_000, 50_000)
GROWTH_LIMIT = 1.5
Loss = Callable[[], torch.Tensor]
Row = tuple[str, int, float, float, float, float, float | str, float | str, float | None]


@dataclass(frozen=True)
class Model:
    """What is drawn; `limit` is the most seconds that its picture with every node may take."""

    loss: Loss
    limit: float | None = None


def models() -> dict[str, Model]:
    """Name -> model."""
    torch.manual_seed(0)
    images, tokens = torch.randn(2, 3, 64, 64), torch.randint(0, 256, (2, 33))
    gpt = {layers: networks.GPT(layers, 48, 3, 32, 256) for layers in (12, 48)}
    return {
        "MLP, 8 layers": Model(lambda: _mlp()(torch.randn(16, 32)).square().mean()),
        "ResNet-50": Model(lambda: networks.ResNet50()(images).logsumexp(1).mean()),
        "U-Net, 4 levels": Model(lambda: UNet(8, 4)(images).square().mean()),
        "GPT, 12 blocks": Model(lambda: _next_token(gpt[12], tokens)),
        "GPT, 48 blocks": Model(lambda: _next_token(gpt[48], tokens)),
        "scalar MLP": Model(lambda: networks.ScalarMLP((8, 32, 32, 32, 16, 1), 1)()),
        "LSTM, 200 steps": Model(lambda: _lstm(200), 1.0),
        "LSTM, 1,000 steps": Model(lambda: _lstm(1_000), 3.0),
        "chain of 1,000": Model(lambda: _chain(1_000)),
        "chain of 50,000": Model(lambda: _chain(50_000), 5.0),
    }


class UNet(nn.Module):
    """Convolutions down and up again, each level joined to its opposite by a skip connection."""

    def __init__(self, channels: int, levels: int) -> None:
        super().__init__()
        widths = [channels << level for level in range(levels + 1)]
        steps = list(itertools.pairwise(widths))
        self.first = nn.Conv2d(3, channels, 3, padding=1)
        self.down = nn.ModuleList(nn.Conv2d(a, b, 3, 2, 1) for a, b in steps)
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in reversed(steps))
        self.join = nn.ModuleList(nn.Conv2d(2 * a, a, 3, padding=1) for a, _ in reversed(steps))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        levels = [torch.relu(self.first(x))]
        for down in self.down:
            levels.append(torch.relu(down(levels[-1])))
        x = levels.pop()
        for up, join in zip(self.up, self.join, strict=True):
            x = torch.relu(join(torch.cat([up(x), levels.pop()], dim=1)))
        return x


def _mlp() -> nn.Module:
    return nn.Sequential(*(layer for _ in range(8) for layer in (nn.Linear(32, 32), nn.ReLU())))


def _next_token(model: nn.Module, tokens: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())


def _lstm(steps: int) -> torch.Tensor:
    """A cell written out: 17 nodes a step, the weights are used by all steps."""
    inputs, state = nn.Linear(4, 32), nn.Linear(8, 32)
    h = c = torch.zeros(2, 8)
    for x in torch.randn(steps, 2, 4):
        i, f, g, o = (inputs(x) + state(h)).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
    return h.sum()


def _chain(length: int) -> torch.Tensor:
    x = torch.ones((), requires_grad=True)
    for _ in range(length - 1):
        x = x * 1.0001
    return x


# -- ours --------------------------------------------------------------------------------------------------------------


def command_seconds(path: str, *, unfolded: bool) -> float:
    """Seconds of `gradviz export RECORDING -o picture.png --width 1600`."""
    options = ExportOptions(expand=("*",) if unfolded else (), width=SIZE[0], force=True)
    start = process_time()
    recording = open_recording(path)
    export(recording, Path(path).with_suffix(".png"), options)
    took = process_time() - start
    close_recording(recording)
    return took


def window_seconds(path: str, client: LayoutClient, *, unfolded: bool) -> float:
    """Seconds of what the window does until the whole graph is seen, those of its helper process too."""
    view = ViewState(expanded=("*",) if unfolded else ())
    before = helper_seconds(client)
    start = process_time()
    recording = open_recording(path)
    story = make_story(recording, None, "engine", _task())
    plan = plan_scene(story.timeline, view)
    scene, canvas = build_scene(plan, client.place(plan.layout_graph()), view.theme)
    canvas.image(story.timeline.state_at(story.timeline.length), fit_camera(scene.bounds, *SIZE), SIZE)
    took = process_time() - start + helper_seconds(client) - before
    close_recording(recording)
    return took


def helper_seconds(client: LayoutClient) -> float:
    """Processor time that helpers have used so far: those that live, and those that were late and killed."""
    ticks = 0
    for number in client.process_ids:
        fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])  # utime, stime
    return ticks / os.sysconf("SC_CLK_TCK") + children_seconds()


def children_seconds() -> float:
    """Processor time of child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _task() -> Task[object]:
    return Task(lambda task: None, lambda result: None, lambda why: None, None)


# -- the others --------------------------------------------------------------------------------------------------------


def torchviz_seconds(loss: torch.Tensor) -> tuple[str | None, float | str]:
    """Return the DOT text that torchviz makes and its seconds, or what it raises instead."""
    start = process_time()
    try:
        text = torchviz.make_dot(loss).source
    except RecursionError:
        return None, "RecursionError"
    return text, process_time() - start


def dot_seconds(text: str) -> float | str:
    """Seconds of `dot -Tsvg`; it is killed after a minute."""
    program = shutil.which("dot")
    if program is None:
        return "no dot"
    before = children_seconds()
    try:
        subprocess.run([program, "-Tsvg"], input=text.encode(), capture_output=True, timeout=DOT_LIMIT_S, check=True)
    except subprocess.TimeoutExpired:
        return f"> {DOT_LIMIT_S:.0f}"
    except subprocess.CalledProcessError as error:
        return f"exit {error.returncode}"
    return children_seconds() - before


# -- tables ------------------------------------------------------------------------------------------------------------


def rows(client: LayoutClient, folder: str) -> Iterator[Row]:
    """Yield (model, nodes, command folded, unfolded, window folded, unfolded, torchviz, dot, limit of unfolded)."""
    for number, (name, model) in enumerate(models().items()):
        path = str(Path(folder) / f"{number}.gradviz")
        with gradviz.record(path):
            loss = model.loss()
            loss.backward()
        opened = open_recording(path)
        nodes = opened.calls[0].node_count
        close_recording(opened)
        ours = (
            *(best(partial(command_seconds, path, unfolded=unfolded)) for unfolded in (False, True)),
            *(best(partial(window_seconds, path, client, unfolded=unfolded)) for unfolded in (False, True)),
        )
        text, seconds = torchviz_seconds(model.loss())
        row: Row = (name, nodes, *ours, seconds, "-" if text is None else dot_seconds(text), model.limit)
        print("  ".join(map(str, row)), file=sys.stderr, flush=True)  # dot may take minutes
        yield row


def best(measured: Callable[[], float]) -> float:
    """The least of a few: what it takes when nothing disturbs."""
    return min(measured() for _ in range(BEST_OF))


def main() -> None:
    """Print the tables."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    ensure_gui()
    with LayoutClient() as client, tempfile.TemporaryDirectory() as folder:
        client.wait_until_warm()
        table = list(rows(client, folder))
    header = ("model", "nodes", "folded", "unfolded", "window", "w. unfolded", "torchviz", "dot -Tsvg", "limit")
    print_table("From a recording to a picture, seconds of processor time", header, table)
    small, large = (next(row for row in table if row[1] == length) for length in GROWTH)
    print_table(
        "Time per node, microseconds",
        ("unfolded", *(f"{length:,}" for length in GROWTH), "ratio", "limit"),
        [_growth(name, column, small, large) for name, column in (("command", 3), ("window", 5))],
    )


def _growth(name: str, column: int, small: Row, large: Row) -> tuple[object, ...]:
    each = [1e6 * float(row[column]) / row[1] for row in (small, large)]  # type: ignore[arg-type]
    return name, *each, each[1] / each[0], GROWTH_LIMIT


if __name__ == "__main__":
    main()
