"""The bundled examples: scripts with their recordings, and small pictures of them for the welcome page. No widgets."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QImage, QPainter

from gradviz.app.background import Task
from gradviz.errors import GradvizError
from gradviz.layout import place_now
from gradviz.model import ViewState
from gradviz.playback import Timeline, story
from gradviz.render import Scene, build_display_list, paint_frame, plan_scene, theme
from gradviz.resources import resource
from gradviz.store.reader import close_recording, open_recording


@dataclass(frozen=True, slots=True)
class Example:
    """A bundled script: its path, a title, and the first line of its docstring; the words in English."""

    path: str
    title: str
    words: str


def bundled() -> tuple[Example, ...]:
    """Every example script, those to look at first before the others."""
    try:
        folder = resource("examples")
    except GradvizError:
        return ()  # the window works without them
    found = []
    for path in sorted(folder.glob("*.py"), key=_place):
        words = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        title = _TITLES.get(path.stem, path.stem.replace("_", " "))
        found.append(Example(str(path), title, words.partition("\n")[0]))
    return tuple(found)


def _place(path: Path) -> tuple[int, str]:
    places = list(_TITLES)
    return (places.index(path.stem) if path.stem in places else len(places), path.name)


def _mark(text: str) -> str:
    """Marks a text for translation; it is translated when it is shown."""
    return text


N = _mark

# In the order in which they are best looked at; others follow by name.
_TITLES = {
    "accumulate": N("Two calls add up"),
    "fan_in": N("Two contributions meet"),
    "seed_vector": N("A vector needs a seed"),
    "no_seed": N("The error without a seed"),
    "leaf_root": N("x.backward(x)"),
    "grad_outputs": N("grad() returns gradients"),
    "jacobian": N("Rows of a Jacobian"),
    "training": N("A training loop"),
    "double_backward": N("The gradient of a gradient"),
    "custom_function": N("A function of your own"),
    "in_place": N("A value was overwritten"),
    "second_time": N("Backward a second time"),
    "shared_weight": N("One weight, many steps"),
    "vanishing": N("A gradient that vanishes"),
    "gpt_block": N("A block of a GPT"),
}


def is_bundled(path: str) -> bool:
    """Whether a file is one of our own examples, which may run without a question."""
    try:
        folder = os.path.realpath(resource("examples"))
    except GradvizError:
        return False
    return os.path.realpath(path).startswith(folder + os.sep)


def recording_of(script: str) -> str | None:
    """The recording that lies beside a bundled script."""
    path = os.path.splitext(script)[0] + ".gradviz"
    return path if is_bundled(script) and os.path.exists(path) else None


def thumbnail(path: str, size: QSize, ratio: float, theme_name: str, task: Task[QImage]) -> QImage:
    """The last moment of a recording as a small picture. Belongs into the thread that paints."""
    recording = open_recording(path)
    try:
        timeline = Timeline(recording, story(recording))
        task.check()
        plan = plan_scene(timeline, replace(ViewState(), theme="dark" if theme_name == "dark" else "light"))
        scene = Scene(plan, place_now(plan.layout_graph()))
        display = build_display_list(scene, timeline.state_at(timeline.length), theme(theme_name))
    finally:
        close_recording(recording)
    task.check()
    image = QImage(size * ratio, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(QColor(theme(theme_name).paper))
    scale = min(image.width() / display.width, image.height() / display.height)
    painter = QPainter(image)
    try:
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        left, top, _, _ = display.bounds
        painter.translate((image.width() - display.width * scale) / 2, (image.height() - display.height * scale) / 2)
        painter.scale(scale, scale)
        painter.translate(-left, -top)
        paint_frame(painter, display, zoom=scale)
    finally:
        painter.end()
    image.setDevicePixelRatio(ratio)
    return image
