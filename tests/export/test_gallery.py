"""The gallery: each example has script, recording, story and pictures, and its story can be told from the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from gradviz.export import ExportOptions, export, read_story
from gradviz.export.story import StoryPicture
from gradviz.store.reader import close_recording, open_recording
from tests.gallery import EXAMPLES, PICTURES, WIDTH

NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py"))


def test_there_are_enough_examples() -> None:
    assert len(NAMES) >= 12
    assert {"accumulate", "gpt_block", "shared_weight", "double_backward", "custom_function", "vanishing"} <= set(NAMES)
    assert {path.name.removesuffix(".story.json") for path in EXAMPLES.glob("*.story.json")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_its_pictures_show_the_story(name: str) -> None:
    story = read_story((EXAMPLES / f"{name}.story.json").read_text(encoding="utf-8"))
    assert all(scene.caption for scene in story.scenes)
    with Image.open(PICTURES / f"{name}.png") as still:
        assert still.width == 2 * WIDTH
    path = PICTURES / f"{name}.gif"
    assert path.stat().st_size <= 1_000_000
    with Image.open(path) as moving:
        assert moving.size == (WIDTH, round(story.height * WIDTH / story.width))
        total = 0
        for index in range(getattr(moving, "n_frames", 1)):
            moving.seek(index)
            total += moving.info.get("duration", 0)
    seconds = sum(scene.seconds for scene in story.scenes)
    assert total == pytest.approx(seconds * 1000, abs=100) or getattr(moving, "n_frames", 1) == 1


@pytest.mark.parametrize("name", NAMES)
def test_the_story_can_be_told_again(name: str, tmp_path: Path) -> None:
    recording = open_recording(str(EXAMPLES / f"{name}.gradviz"))
    try:
        story = read_story((EXAMPLES / f"{name}.story.json").read_text(encoding="utf-8"))
        told = StoryPicture(recording, story, ExportOptions())
        ends = [sum(scene.seconds for scene in story.scenes[: k + 1]) - 1e-6 for k in range(len(story.scenes))]
        images = [told.image(second, 0.25) for second in ends]
        assert {(image.width(), image.height()) for image in images} == {(story.width // 4, story.height // 4)}
        paper = images[0].pixelColor(0, 0)
        for image in images:
            rows = range(image.height() * 2 // 10, image.height() * 7 // 10, 3)
            assert any(image.pixelColor(x, y) != paper for y in rows for x in range(0, image.width(), 3))
        for file in ("a.png", "b.png"):
            export(recording, tmp_path / file, ExportOptions(story=story, width=400))
        assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    finally:
        close_recording(recording)
