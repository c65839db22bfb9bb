"""Inputs that need no gradient in the picture: pale, with name and value, and nothing flows to them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gradviz.model import Recording, ViewState
from gradviz.render import THEMES, Scene, theme
from gradviz.render.shapes import Rect
from gradviz.render.theme import contrast
from gradviz.store.reader import close_recording, open_recording
from tests.recorded import record_text
from tests.render.pictures import display_at, scene_of, words

SCRIPT = """
import torch

x = torch.tensor([1.0, 2.0])
target = torch.tensor(0.5)
w = torch.tensor([0.3, -0.2], requires_grad=True)
loss = ((x * w).sum() - target) ** 2
loss.backward()

codes = torch.arange(40)
torch.nn.functional.nll_loss((torch.ones(40, 50, requires_grad=True) * 2).log_softmax(1), codes).backward()
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    opened = open_recording(str(record_text(SCRIPT, tmp_path_factory.mktemp("constants")).path))
    yield opened
    close_recording(opened)


def pictured(recording: Recording, call: str, **more: object) -> tuple[Scene, dict[str, list[str]]]:
    """The scene of a call, and title -> all words of each pale card at its end."""
    timeline_call = recording.call_by_label(call)
    one = Recording(recording.header, recording.outcome, (timeline_call,), (), (), recording.source)
    scene = scene_of(one, ViewState(**more))  # type: ignore[arg-type]
    display = display_at(scene, float(scene.plan.timeline.length))
    cards = [display.by_id[box.id] for box in scene.plan.boxes if box.kind == "constant"]
    return scene, {words(card)[0]: words(card) for card in cards}


def test_a_pale_card_tells_name_and_value(recording: Recording) -> None:
    _, cards = pictured(recording, "1")
    assert cards["x"] == ["x", "no grad", "1", "2"]
    assert cards["target"] == ["target", "no grad", "shape ()"]  # a difference saves neither side
    assert len(cards) == 2


def test_classes_are_no_map_of_sizes(recording: Recording) -> None:
    _, cards = pictured(recording, "2")
    assert cards == {"codes": ["codes", "no grad", "shape (40,)"]}


def test_nothing_flows_to_it_and_its_way_ends_at_a_bar(recording: Recording) -> None:
    scene, _ = pictured(recording, "1")
    display = display_at(scene, float(scene.plan.timeline.length))
    links = [link for link in scene.plan.links if not link.edges]
    assert len(links) == 2
    for link in links:
        item = display.by_id[link.id]
        assert item.kind == "edge constant" and "no gradient" in item.title
        target = scene.cards[link.target]
        end = scene.routes[link.index].points[-1]
        assert end[0] in (target[0], target[2]) and target[1] <= end[1] <= target[3]
        assert scene.plan.boxes[link.source].card.title in ("Mul", "Sub")
        assert scene.plan.flow(link, scene.plan.timeline.state_at(1.0)).phase not in ("flowing", "done")


def test_it_can_be_left_out(recording: Recording) -> None:
    scene, cards = pictured(recording, "1", filters=("no-constants",))
    assert cards == {} and all(link.edges for link in scene.plan.links)


@pytest.mark.parametrize("name", THEMES)
def test_it_is_pale_and_readable_in_every_theme(recording: Recording, name: str) -> None:
    scene, _ = pictured(recording, "1")
    display = display_at(scene, 0.0, name)
    box = next(box for box in scene.plan.boxes if box.kind == "constant")
    ground = display.by_id[box.id].shapes[0]
    assert isinstance(ground, Rect) and ground.fill == theme(name).constant_fill and ground.pen is not None
    assert ground.pen.dash and contrast(theme(name).soft_ink, theme(name).constant_fill) >= 4.5
    assert contrast(theme(name).constant_fill, theme(name).paper) < 1.3
