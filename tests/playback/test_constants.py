"""Inputs that need no gradient, told from recordings of real scripts: what is one, how it is called, what it held."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gradviz.model import Recording
from gradviz.playback import Timeline, story
from gradviz.playback.constants import Constant, constants
from gradviz.store.reader import close_recording, open_recording
from tests import recordings as made
from tests.recorded import record_text

SCRIPT = """
import torch
from torch import nn

x = torch.tensor([1.0, 2.0])
scale = torch.tensor(3.0)
target = torch.tensor(0.5)
w = torch.tensor([0.3, -0.2], requires_grad=True)
y = (x * w).sum() * scale
z = 2 * y - target
z += target
loss = z * 4 + z * torch.tensor(7.0)
loss.backward()

layer = nn.Linear(2, 3)
rows = torch.ones(5, 2)
labels = torch.tensor([0, 2, 1, 1, 0])
nn.functional.cross_entropy(layer(rows), labels).backward()

a = torch.tensor([1.0, 1.0], requires_grad=True)
b = torch.tensor([2.0, 2.0], requires_grad=True)
(a * b + a / b).sum().backward()

i = torch.tensor([4, 3, 2, 1, 0])
nn.functional.cross_entropy(nn.Linear(2, 3)(rows[i]), labels[i]).backward()
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    opened = open_recording(str(record_text(SCRIPT, tmp_path_factory.mktemp("constants")).path))
    yield opened
    close_recording(opened)


def found(recording: Recording, label: str) -> tuple[Timeline, dict[str | None, Constant]]:
    timeline = Timeline(recording, story(recording, label))
    graph = timeline.stage.graph
    return timeline, {c.name: c for c in constants(recording, graph, [node.id for node in graph.nodes])}


def users(timeline: Timeline, constant: Constant) -> list[str]:
    return [timeline.stage.graph.by_id[node].short_op for node in constant.users]


def test_operands_of_operators_are_told_by_the_script(recording: Recording) -> None:
    timeline, known = found(recording, "1")
    assert set(known) == {"x", "scale", "target"}  # no numbers: neither 2 and 4 nor the nameless tensor(7.0)
    assert (known["x"].shape, users(timeline, known["x"])) == ((2,), ["Mul"])
    assert (known["scale"].shape, users(timeline, known["scale"])) == ((), ["Mul"])
    assert sorted(users(timeline, known["target"])) == ["Add", "Sub"]  # one tensor, taken twice
    node = timeline.stage.graph.by_id[known["x"].users[0]]
    saved = next(kept.value for kept in node.saved if kept.name == known["x"].saved)
    assert saved is not None and saved.numbers == (1.0, 2.0)
    assert known["target"].saved is None  # neither operation keeps it: its value is not known


def test_inside_a_module_the_shape_tells_the_name(recording: Recording) -> None:
    timeline, known = found(recording, "2")
    assert {name: (c.shape, users(timeline, c)) for name, c in known.items()} == {
        "rows": ((5, 2), ["Addmm"]),
        "labels": ((5,), ["NllLoss"]),
    }


def test_what_needs_gradient_is_none(recording: Recording) -> None:
    assert found(recording, "3")[1] == {}


def test_an_index_is_no_input(recording: Recording) -> None:
    _, known = found(recording, "4")  # `i` has the shape of the target, and is another tensor
    assert set(known) == {None}


def test_without_source_and_bindings_nothing_is_told() -> None:
    recording = made.two_calls()
    timeline = Timeline(recording, story(recording))
    assert constants(recording, timeline.stage.graph, [node.id for node in timeline.stage.graph.nodes]) == ()
