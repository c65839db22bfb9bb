"""Stories: views, durations and captions; the camera moves between them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from PySide6.QtGui import QImage

from gradviz.errors import UsageError
from gradviz.export import ExportOptions, Story, StoryScene, export, read_story
from gradviz.export.story import StoryPicture
from gradviz.model import Camera, ViewState
from gradviz.render import theme
from gradviz.render.theme import rgb
from tests import recordings as made
from tests.layout import graphs

TEXT = json.dumps(
    {
        "story": 1,
        "width": 640,
        "height": 400,
        "scenes": [
            {"view": {"time": 0}, "seconds": 1.0, "caption": "Two calls"},
            {"view": {"time": 0, "camera": {"x": 100, "y": 200, "zoom": 2.0}}, "until": 7, "seconds": 4.0},
            {"view": {"theme": "light", "legend": False}, "seconds": 1.0, "later": "ignored"},
        ],
    }
)


def pixels(image: QImage) -> npt.NDArray[np.int16]:
    converted = image.convertToFormat(QImage.Format.Format_RGB32)
    data = np.frombuffer(bytes(converted.constBits()), dtype=np.uint8)
    return data.reshape(converted.height(), converted.width(), 4)[:, :, 2::-1].astype(np.int16)


def test_a_story_file_is_read() -> None:
    story = read_story(TEXT)
    assert (story.width, story.height, len(story.scenes)) == (640, 400, 3)
    assert story.scenes[1] == StoryScene(ViewState(time=0, camera=Camera(100, 200, 2.0)), 4.0, 7.0)
    assert story.scenes[0].caption == "Two calls"


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        "[]",
        "{}",
        '{"story": 1}',
        '{"story": 1, "scenes": []}',
        '{"story": 1, "scenes": [{"seconds": 0}]}',
        '{"story": 1, "scenes": [{"seconds": "x"}]}',
        '{"story": 1, "scenes": [{"view": {"theme": 7}}]}',
        '{"story": 1, "width": 9, "scenes": [{}]}',
        '{"story": 1, "scenes": [7]}',
    ],
)
def test_what_is_no_story_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        read_story(text)


def test_a_story_lasts_as_long_as_its_scenes(tmp_path: Path) -> None:
    path = tmp_path / "a.gif"
    export(made.two_calls(), path, ExportOptions(story=read_story(TEXT), width=320))
    with Image.open(path) as image:
        assert image.size == (320, 200)
        total = 0.0
        for index in range(image.n_frames):
            image.seek(index)
            total += image.info["duration"]
    assert total == pytest.approx(6000, abs=50)


def test_the_camera_moves_and_the_caption_is_there() -> None:
    picture = StoryPicture(made.two_calls(), read_story(TEXT), ExportOptions())
    first, moving, near = (pixels(picture.image(second, 1.0)) for second in (0.5, 1.4, 3.0))
    colors = theme("light")

    def share(image: npt.NDArray[np.int16], color: str) -> float:
        return float((image == np.array(rgb(color))).all(axis=2).mean())

    assert share(first[-40:], colors.accent_fill) > 0.8
    assert share(near[-40:], colors.accent_fill) < 0.1
    assert np.abs(first - moving).mean() > 1.0 and np.abs(moving - near).mean() > 1.0
    late = pixels(picture.image(4.9, 1.0))  # t1 runs, seen at twice its size
    assert share(late, colors.leaf_fill) > 0.05 > share(near, colors.leaf_fill)


def test_opening_a_group_moves_the_boxes() -> None:
    build = graphs.lstm(20)
    recording = made.from_edges(build.edges, len(build.sizes))
    views = [ViewState(), ViewState(expanded=("*",))]
    story = Story(tuple(StoryScene(view, 1.5) for view in views), 640, 400)
    picture = StoryPicture(recording, story, ExportOptions(engine="layered"))
    images = [pixels(picture.image(second, 1.0)) for second in (1.4, 1.7, 2.9)]
    assert np.abs(images[0] - images[1]).mean() > 0.5 and np.abs(images[1] - images[2]).mean() > 0.5


def test_a_story_needs_a_moving_format(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="moving"):
        export(made.two_calls(), tmp_path / "a.svg", ExportOptions(story=read_story(TEXT)))


def test_a_scene_plays_its_call_and_looks_at_what_it_names() -> None:
    scenes = [
        {"view": {"call": "1"}, "play": True, "seconds": 2.0},
        {"view": {"call": "2"}, "play": True, "seconds": 2.0},
        {"view": {"call": "2"}, "focus": ["t1"], "seconds": 2.0},
    ]
    story = read_story(json.dumps({"story": 1, "scenes": scenes, "poster": 2}))
    assert (story.poster, story.scenes[2].focus) == (1, ("t1",))
    told = StoryPicture(made.two_calls(), story, ExportOptions())
    frames = [told._frame(place, share) for place, share in ((0, 0.0), (0, 1.0), (1, 0.0), (1, 1.0))]
    assert [frame.call.label for frame in frames if frame.call] == ["1", "1", "2", "2"]
    totals = [state.total.item() if (state := frame.leaf(1)) and state.total else None for frame in frames]
    assert totals == [None, 4.0, 4.0, 24.0]
    assert len({id(picture) for picture in told._pictures}) == 1  # calls of one timeline: nothing jumps
    near, scene = told._camera(2), told.first.scene
    left, top, right, bottom = scene.cards[scene.plan.box_of_node[1].index]
    half = story.width / near.zoom / 2
    assert near.zoom > told._camera(0).zoom
    assert near.x - half <= left and right <= near.x + half and top < near.y < bottom + 60


@pytest.mark.parametrize("wrong", [{"poster": 0}, {"poster": 3}, {"scenes": [{"focus": "t1"}]}])
def test_a_wrong_poster_or_focus_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        read_story(json.dumps({"story": 1, "scenes": [{}, {}], **wrong}))


def test_a_focus_that_is_not_there_is_named() -> None:
    story = read_story(json.dumps({"story": 1, "scenes": [{"focus": ["t9"]}]}))
    with pytest.raises(UsageError, match="t9"):
        StoryPicture(made.two_calls(), story, ExportOptions()).image(0.0, 0.2)


def test_a_still_of_a_story_is_its_poster(tmp_path: Path) -> None:
    export(made.two_calls(), tmp_path / "a.png", ExportOptions(story=read_story(TEXT), width=320))
    with Image.open(tmp_path / "a.png") as image:
        assert image.size == (320, 200)
