"""The canvas shows what a fresh painting would show, pixel by pixel, whatever it was shown before."""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtGui import QImage, QPainter

from gradviz.model import Camera
from gradviz.render import Canvas, Scene, build_display_list, fit_camera, paint_frame, theme
from gradviz.render.far import far_box, far_name, far_seed
from gradviz.render.fonts import Style, fonts
from gradviz.render.shapes import Text
from tests import recordings as made
from tests.layout import graphs
from tests.render.pictures import scene_of, scene_of_all

SIZE = (640, 420)


def pixels(image: QImage) -> npt.NDArray[np.int16]:
    converted = image.convertToFormat(QImage.Format.Format_RGB32)
    data = np.frombuffer(bytes(converted.constBits()), dtype=np.uint8)
    return data.reshape(converted.height(), converted.width(), 4)[:, :, :3].astype(np.int16)


def alike(one: QImage, other: QImage) -> bool:
    """Equal but for a few glyphs that were antialiased from another eighth of a pixel."""
    difference = np.abs(pixels(one) - pixels(other)).max(axis=2)
    return bool((difference > 40).mean() < 0.0001 and (difference > 2).mean() < 0.001)


def fresh(scene: Scene, t: float, camera: Camera) -> QImage:
    """A painting from scratch, with the camera on whole pixels as the canvas puts it."""
    image = QImage(*SIZE, QImage.Format.Format_RGB32)
    image.fill(theme("light").paper)
    painter = QPainter(image)
    painter.translate(SIZE[0] // 2, SIZE[1] // 2)
    painter.scale(camera.zoom, camera.zoom)
    painter.translate(-round(camera.x * camera.zoom) / camera.zoom, -round(camera.y * camera.zoom) / camera.zoom)
    display = build_display_list(scene, scene.plan.timeline.state_at(t), theme("light"), camera.zoom)
    paint_frame(painter, display, zoom=camera.zoom)
    painter.end()
    return image


@pytest.mark.parametrize("make", [made.two_calls, made.fan_in, lambda: made.loop(5)])
def test_frames_in_any_order_look_like_fresh_ones(make: object) -> None:
    assert callable(make)
    scene = scene_of(make())
    camera = fit_camera(scene.bounds, *SIZE)
    canvas = Canvas(scene, theme("light"))
    length = scene.plan.timeline.length
    rng = random.Random(1)
    for t in [k / 4 for k in range(4 * length)] + [rng.uniform(0, length) for _ in range(30)]:
        assert alike(canvas.image(scene.plan.timeline.state_at(t), camera, SIZE), fresh(scene, t, camera)), t


def test_moving_the_camera_shifts_the_picture_without_a_trace() -> None:
    scene = scene_of(made.fan_in())
    canvas = Canvas(scene, theme("light"))
    camera = fit_camera(scene.bounds, *SIZE)
    rng = random.Random(2)
    for _ in range(40):
        camera = Camera(camera.x + rng.uniform(-90, 90), camera.y + rng.uniform(-70, 70), camera.zoom)
        t = rng.uniform(0, scene.plan.timeline.length)
        assert alike(canvas.image(scene.plan.timeline.state_at(t), camera, SIZE), fresh(scene, t, camera))


def test_from_far_the_boxes_are_there_in_their_tints() -> None:
    build = graphs.lstm(30)
    scene = scene_of(made.from_edges(build.edges, len(build.sizes)))
    opened = scene_of_all(made.from_edges(build.edges, len(build.sizes)))
    assert len(scene.plan.boxes) < len(opened.plan.boxes) == len(build.sizes)
    camera = fit_camera(opened.bounds, *SIZE)
    assert camera.zoom < 0.27
    canvas = Canvas(opened, theme("light"))
    length = opened.plan.timeline.length
    for t in (0.0, length / 3, length / 2, float(length)):
        shown = pixels(canvas.image(opened.plan.timeline.state_at(t), camera, SIZE))
        wanted = pixels(fresh(opened, t, camera))
        # Overpainting leaves traces of antialiasing at borders, never another colour of a box.
        assert (np.abs(shown - wanted).max(axis=2) > 60).mean() < 0.002


def test_from_far_a_wide_box_bears_its_name_and_its_number_whole() -> None:
    scene = scene_of(made.two_calls())
    frame = scene.plan.timeline.state_at(float(scene.plan.timeline.length))
    words = {}
    for zoom in (0.4, 0.2, 0.05):
        box = next(box for box in scene.plan.boxes if box.card.title == "t1")
        item = far_box(scene, box, frame, theme("light"), zoom)
        words[zoom] = [shape.text for shape in item.shapes if isinstance(shape, Text)]
        for shape in item.shapes:
            if isinstance(shape, Text):
                assert item.bounds[0] <= shape.left and shape.left + shape.width <= item.bounds[2]
    # 20 came to t1 in the second call; at 0.05 the box is narrower than two letters.
    assert words == {0.4: ["t1", "20"], 0.2: ["t1", "20"], 0.05: []}


def test_from_far_a_seed_bears_its_value() -> None:
    scene = scene_of(made.two_calls())
    frame = scene.plan.timeline.state_at(float(scene.plan.timeline.length))
    assert frame.call is not None
    (box,) = scene.plan.boxes_with_seeds[frame.call.number]
    ((place, (rect, plan)),) = scene.seed_rects(box, frame.call.number).items()
    words = {}
    for zoom in (0.4, 0.25, 0.1):
        item = far_seed("seed-0-0", rect, plan, frame.seeds[place], theme("light"), zoom)
        texts = [shape for shape in item.shapes if isinstance(shape, Text)]
        words[zoom] = [shape.text for shape in texts]
        for shape in texts:
            assert rect[0] <= shape.left and shape.left + shape.width <= rect[2]
    assert words == {0.4: ["seed: 1"], 0.25: ["seed: 1"], 0.1: []}


def test_from_far_a_seed_that_is_missing_says_what_it_needs() -> None:
    recording = made.no_seed()
    scene = scene_of(recording)
    frame = scene.plan.timeline.state_at(float(scene.plan.timeline.length))
    assert frame.call is not None
    (box,) = scene.plan.boxes_with_seeds[frame.call.number]
    ((place, (rect, plan)),) = scene.seed_rects(box, frame.call.number).items()
    item = far_seed("seed-0-0", rect, plan, frame.seeds[place], theme("light"), 0.4)
    (text,) = [shape for shape in item.shapes if isinstance(shape, Text)]
    assert plan.missing is not None and plan.missing in text.text and text.color == theme("light").error_ink


def test_from_far_the_box_that_runs_bears_its_number() -> None:
    """The last moment of a call that is shown: 20 is what came to t1, which runs."""
    scene = scene_of(made.two_calls())
    frame = scene.plan.timeline.state_at(scene.plan.timeline.length - 1e-6)
    box = next(box for box in scene.plan.boxes if box.card.title == "t1")
    item = far_box(scene, box, frame, theme("light"), 0.4)
    assert "active" in item.kind
    assert [shape.text for shape in item.shapes if isinstance(shape, Text)] == ["t1", "20"]


def test_from_far_a_name_is_written_smaller_before_it_is_cut() -> None:
    words: dict[int, tuple[str, int]] = {}
    for width in range(30, 120):
        (text, style) = far_name("net.0.weight", float(width), 1.0)
        assert fonts().width(text, style) <= width
        words[width] = text, style.size
    whole = [width for width, (text, _) in words.items() if text == "net.0.weight"]
    assert {size for text, size in words.values() if text == "0.weight"} == {10, 9, 8, 7}
    assert words[119] == ("net.0.weight", 10) and whole == list(range(whole[0], 120))
    # `weight` alone would not be told from that of another layer: only where not even small letters have room.
    assert min(w for w, (text, _) in words.items() if text == "0.weight") > max(
        (w for w, (text, _) in words.items() if text == "weight"), default=0
    )
    least = fonts().width("Addmm", Style("sans", 7))
    assert far_name("Addmm", least, 1.0) == ("Addmm", Style("sans", 7))
    assert "…" in far_name("Addmm", least - 1.0, 1.0)[0]


def test_another_zoom_may_be_shown_scaled_first() -> None:
    scene = scene_of(made.two_calls())
    canvas = Canvas(scene, theme("light"))
    frame = scene.plan.timeline.state_at(5.5)
    image = QImage(*SIZE, QImage.Format.Format_RGB32)

    def paint(camera: Camera, hurry: bool) -> bool:
        painter = QPainter(image)
        done = canvas.paint(painter, frame, camera, SIZE, hurry=hurry)
        painter.end()
        return done

    camera = fit_camera(scene.bounds, *SIZE)
    assert paint(camera, True)  # nothing to scale yet: painted at once
    closer = Camera(camera.x, camera.y, camera.zoom * 1.5)
    assert not paint(closer, True)
    rough = pixels(image)
    assert paint(closer, False)
    assert alike(image, fresh(scene, 5.5, closer))
    assert np.abs(rough - pixels(image)).mean() < 12  # the same picture, only blurred


def test_an_empty_view_is_no_error() -> None:
    scene = scene_of(made.two_calls())
    image = QImage(4, 4, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    assert Canvas(scene, theme("light")).paint(painter, scene.plan.timeline.state_at(0), Camera(), (0, 10))
    painter.end()


def test_fitting() -> None:
    camera = fit_camera((0.0, 0.0, 1000.0, 100.0), 500.0, 500.0)
    assert (camera.x, camera.y, camera.zoom) == (500.0, 50.0, 0.5)
    assert fit_camera((0.0, 0.0, 10.0, 10.0), 500.0, 500.0).zoom == 1.0
