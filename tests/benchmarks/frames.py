"""Frame times of the whole-graph animation of about 17,000 boxes on a view of 1600 x 1000 pixels.

Side by side in one run: playing, panning and zooming against one plain `drawRects` of all the boxes, which is the
least that a tool that paints everything on every frame would need. Milliseconds are of processor time: what other
programs on the machine do does not count.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

from gradviz.layout.engines import place_now
from gradviz.model import Camera, ViewState
from gradviz.playback import Timeline, story
from gradviz.render import Canvas, Scene, ensure_gui, fit_camera, plan_scene, theme
from tests import recordings
from tests.benchmarks.table import print_table
from tests.layout import graphs

SIZE = (1600, 1000)
FRAMES = 300


def main() -> None:
    """Print the table."""
    ensure_gui()
    build = graphs.lstm(1060)
    recording = recordings.from_edges(build.edges, len(build.sizes))
    timeline = Timeline(recording, story(recording))
    plan = plan_scene(timeline, ViewState(expanded=("*",)))
    scene = Scene(plan, place_now(plan.layout_graph()))
    whole = fit_camera(scene.bounds, *SIZE)
    first = scene.cards[0]
    near = Camera((first[0] + first[2]) / 2, (first[1] + first[3]) / 2, 1.0)
    plain = [_plain(scene, whole) for _ in range(20)]
    rows = [_row("one drawRects of all boxes", plain, None)]
    limit = statistics.median(plain)
    seconds = timeline.seconds
    for name, camera in (("playing, whole graph", whole), ("playing, 100%", near)):
        moments = [timeline.beat_at(seconds * k / FRAMES) for k in range(FRAMES)]
        rows.append(_row(name, _measured(scene, lambda k, m=moments, c=camera: (m[k], c, False)), limit))
    rows.append(_row("panning, whole graph", _measured(scene, lambda k: (900.0, _panned(whole, k), False)), limit))
    rows.append(_row("panning, 100%", _measured(scene, lambda k: (900.0, _panned(near, k), False)), limit))
    rows.append(_row("zooming, whole graph", _measured(scene, lambda k: (900.0, _zoomed(whole, k), True)), limit))
    title = f"frames: {len(plan.boxes)} boxes, {len(plan.links)} links, {SIZE[0]} x {SIZE[1]} pixels"
    print_table(title, ("what", "median ms", "99% ms", "worst ms", "median / drawRects"), rows)


def _measured(scene: Scene, shown: Callable[[int], tuple[float, Camera, bool]]) -> list[float]:
    """Milliseconds of each frame; the first painting, which opens the picture, is not among them."""
    canvas = Canvas(scene, theme("light"))
    image = QImage(*SIZE, QImage.Format.Format_ARGB32_Premultiplied)
    found = []
    for k in range(FRAMES):
        t, camera, hurry = shown(k)
        frame = scene.plan.timeline.state_at(t)
        start = time.thread_time()
        painter = QPainter(image)
        canvas.paint(painter, frame, camera, SIZE, hurry=hurry)
        painter.end()
        found.append((time.thread_time() - start) * 1000)
    return found[1:]


def _panned(camera: Camera, k: int) -> Camera:
    return Camera(camera.x + 7 * k / camera.zoom, camera.y + 3 * k / camera.zoom, camera.zoom)


def _zoomed(camera: Camera, k: int) -> Camera:
    return Camera(camera.x, camera.y, camera.zoom * 1.003**k)


def _plain(scene: Scene, camera: Camera) -> float:
    """Milliseconds of one drawRects of all cards where they are in the view."""
    image = QImage(*SIZE, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0xFFFFFFFF)
    rects = [QRectF(left, top, right - left, bottom - top) for left, top, right, bottom in scene.cards]
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(SIZE[0] / 2, SIZE[1] / 2)
    painter.scale(camera.zoom, camera.zoom)
    painter.translate(-camera.x, -camera.y)
    start = time.thread_time()
    painter.drawRects(rects)
    took = (time.thread_time() - start) * 1000
    painter.end()
    return took


def _row(name: str, times: Sequence[float], limit: float | None) -> tuple[object, ...]:
    ordered = sorted(times)
    median, late = statistics.median(ordered), ordered[int(len(ordered) * 0.99)]
    return name, median, late, ordered[-1], None if limit is None else median / limit
