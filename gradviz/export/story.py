"""Stories: a small file of views, durations and captions; the camera moves between the views.

    {"story": 1, "width": 960, "height": 540, "scenes": [
        {"view": {...}, "seconds": 3, "caption": "..."},
        {"view": {"call": "2"}, "play": true, "focus": ["t1", "t2"], "seconds": 5},
        {"view": {"call": "2", "time": 3, ...}, "until": 7, "seconds": 5}]}

`view` is a `ViewState` in its JSON form: call, folding, camera (left out: all is seen), time in beats. With `play` the
scene plays the view's call (without one: all calls), with `until` (beats) from the view's time to there. `focus` names
nodes or groups that the camera sees instead of all. A still picture shows the end of scene number `poster` (from 1;
left out: the last). Sizes are scene units; options of an export scale them.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

from PySide6.QtGui import QColor, QImage, QPainter

from gradviz.errors import UsageError
from gradviz.export.options import ExportOptions
from gradviz.export.picture import Picture, told_together
from gradviz.model import Camera, Recording, ViewState
from gradviz.playback import Frame
from gradviz.playback.easing import ease_in_out
from gradviz.render import Display, fit_camera, fonts, legend_list, morphed, paint_frame, title_list
from gradviz.render.captions import LEGEND_HEIGHT, TITLE_HEIGHT, TITLE_LINE
from gradviz.render.far import FAR_ZOOM
from gradviz.render.fonts import BODY
from gradviz.render.scene import MARGIN
from gradviz.render.shapes import DisplayList, Item, Rect, Text, moved
from gradviz.texts import tr

_MOVE_SECONDS = 0.8
_CAPTION = 44.0
_MOST_SIDE = 4096
_INSTANT = 1e-6  # the end of a scene stands just before the next one


@dataclass(frozen=True)
class StoryScene:
    """One scene: a view that is shown for `seconds`.

    It is played until the beat `until` where that is given, with `play` as a whole. The camera of a view goes before
    `focus`.
    """

    view: ViewState
    seconds: float
    until: float | None = None
    caption: str = ""
    play: bool = False
    focus: tuple[str, ...] = ()


@dataclass(frozen=True)
class Story:
    """Scenes in a frame of `width` x `height` scene units; `poster` is the place of the one that stands for all."""

    scenes: tuple[StoryScene, ...]
    width: int = 960
    height: int = 540
    poster: int = -1


def read_story(text: str) -> Story:
    """Read a story file; unknown fields are ignored.

    Raises:
        UsageError: the text is no story, or a scene of it is none.
    """
    try:
        raw = json.loads(text)
        if not isinstance(raw, dict) or raw.get("story") != 1:
            raise ValueError('"story": 1 is missing')
        scenes = tuple(_scene(entry) for entry in raw["scenes"])
        width, height = int(raw.get("width", Story.width)), int(raw.get("height", Story.height))
        poster = int(raw.get("poster", len(scenes)))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UsageError(tr("This is not a story of gradviz: {why}.", why=error)) from error
    if not scenes or not (100 <= width <= _MOST_SIDE and 100 <= height <= _MOST_SIDE):
        raise UsageError(tr("A story needs scenes, and a width and height from 100 to {most}.", most=_MOST_SIDE))
    if not 0 < poster <= len(scenes):
        raise UsageError(tr("The poster of a story must be one of its scenes, from 1 to {n}.", n=len(scenes)))
    return Story(scenes, width, height, poster - 1)


def _scene(entry: dict[str, Any]) -> StoryScene:
    seconds = float(entry.get("seconds", 3.0))
    if not 0.0 < seconds <= 600.0:
        raise ValueError("seconds must be above 0 and at most 600")
    until = entry.get("until")
    view = ViewState.from_json(json.dumps({"view": 1, **entry.get("view", {})}))
    focus = entry.get("focus", [])
    if not isinstance(focus, list) or not all(isinstance(word, str) for word in focus):
        raise ValueError("focus must be a list of names")
    caption, play = str(entry.get("caption", "")), bool(entry.get("play", False))
    return StoryScene(view, seconds, None if until is None else float(until), caption, play, tuple(focus))


@dataclass(frozen=True)
class StoryPicture:
    """A story of one recording, drawn at any second."""

    recording: Recording
    story: Story
    options: ExportOptions

    @property
    def seconds(self) -> float:
        """How long the story takes."""
        return sum(scene.seconds for scene in self.story.scenes)

    @property
    def poster(self) -> float:
        """The second that stands for the story in a still picture."""
        ends = list(accumulate(scene.seconds for scene in self.story.scenes))
        return ends[self.story.poster] - _INSTANT

    @cached_property
    def _pictures(self) -> tuple[Picture, ...]:
        """The picture of each scene; scenes that differ only in time, camera and call of one timeline share one."""
        known: dict[tuple[ViewState, tuple[int, ...]], Picture] = {}
        found = []
        for scene in self.story.scenes:
            told = told_together(self.recording, scene.view.call)
            plain = replace(scene.view, time=None, camera=None, title=None)
            kept = plain if "call-only" in plain.filters else replace(plain, call=None)
            if (kept, told) not in known:
                options = replace(self.options, view=plain, story=None, call=None, step=None, time=None)
                known[kept, told] = Picture.of(self.recording, options)
            found.append(known[kept, told])
        return tuple(found)

    @property
    def first(self) -> Picture:
        """The picture of the first scene."""
        return self._pictures[0]

    @cached_property
    def _displays(self) -> dict[tuple[int, float | None], Display]:
        return {}

    def image(self, second: float, scale: float) -> QImage:
        """What is shown at this second of the story, `scale` pixels per scene unit."""
        place, within = self._place(second)
        story, scene = self.story, self.story.scenes[place]
        picture = self._pictures[place]
        share = within / scene.seconds
        frame = self._frame(place, share)
        moving = min(_MOVE_SECONDS, scene.seconds / 3)
        alpha = 1.0 if place == 0 else ease_in_out(min(within / moving, 1.0))
        drawn, camera = self._drawn(place, frame, alpha, scale)
        image = QImage(round(story.width * scale), round(story.height * scale), QImage.Format.Format_RGB32)
        image.fill(QColor(picture.theme.paper))
        painter = QPainter(image)
        painter.translate(image.width() / 2, image.height() / 2)
        painter.scale(camera.zoom * scale, camera.zoom * scale)
        painter.translate(-camera.x, -camera.y)
        paint_frame(painter, drawn, zoom=camera.zoom * scale)
        painter.resetTransform()
        painter.scale(scale, scale)
        for strip in self._strips(place, picture, frame):
            paint_frame(painter, strip, zoom=scale)
        painter.end()
        return image

    def _place(self, second: float) -> tuple[int, float]:
        """The scene at a second, and how many seconds it has been there."""
        rest = second
        for place, scene in enumerate(self.story.scenes[:-1]):
            if rest < scene.seconds:
                return place, rest
            rest -= scene.seconds
        return len(self.story.scenes) - 1, min(rest, self.story.scenes[-1].seconds)

    def _moment(self, place: int, share: float) -> float:
        """The moment in beats: at an even speed in seconds of the playback."""
        scene, picture = self.story.scenes[place], self._pictures[place]
        start, until = scene.view.time, scene.until
        if scene.play:
            first, last = self._span(place)
            start, until = first if start is None else start, last if until is None else until
        if until is None:
            return self._span(place)[1] if start is None else start
        if share >= 1.0 - _INSTANT:
            return until
        timeline = picture.timeline
        begin, end = timeline.second_at(start or 0.0), timeline.second_at(until)
        return timeline.beat_at(begin + (end - begin) * share)

    def _span(self, place: int) -> tuple[float, float]:
        """First beat and end of the call of a scene's view, of all calls where it names none."""
        label, timeline = self.story.scenes[place].view.call, self._pictures[place].timeline
        if label is None:
            return 0.0, float(timeline.length)
        first, last = timeline.call_span(self.recording.call_by_label(label).number)
        return float(first), float(last)

    def _frame(self, place: int, share: float) -> Frame:
        """The frame of a scene; at the end of a call that call's end, not the start of the next one."""
        picture, t = self._pictures[place], self._moment(place, share)
        first, last = self._span(place)
        if t >= last and first < last:
            return picture.timeline.end_of(picture.timeline.beats[int(last) - 1].call)
        return picture.frame(t)

    def _drawn(self, place: int, frame: Frame, alpha: float, scale: float) -> tuple[DisplayList, Camera]:
        """The scene on its way from the one before, and the camera on its way too."""
        picture, camera = self._pictures[place], self._camera(place)
        if alpha >= 1.0:
            return self._display(place, scale).at(frame), camera
        before = self._camera(place - 1)
        zoom = math.exp(math.log(before.zoom) + (math.log(camera.zoom) - math.log(before.zoom)) * alpha)
        way = Camera(before.x + (camera.x - before.x) * alpha, before.y + (camera.y - before.y) * alpha, zoom)
        old, new = self._pictures[place - 1].scene, picture.scene
        if old is new:
            return self._display(place, scale).at(frame), way
        return Display(morphed(old, new, alpha), picture.theme, zoom * scale).at(frame), way

    def _display(self, place: int, scale: float) -> Display:
        picture, zoom = self._pictures[place], self._camera(place).zoom * scale
        # The pictures live as long as this object. What is seen from far is made for one zoom.
        key = (id(picture), zoom if zoom < FAR_ZOOM else None)
        if key not in self._displays:
            self._displays[key] = Display(picture.scene, picture.theme, zoom)
        return self._displays[key]

    def _camera(self, place: int) -> Camera:
        """The camera of a scene: its own, or one that sees all between title and caption."""
        scene, picture = self.story.scenes[place], self._pictures[place]
        if scene.view.camera is not None:
            return scene.view.camera
        bounds = picture.bounds_of(scene.focus) if scene.focus else picture.scene.bounds
        above = TITLE_HEIGHT + TITLE_LINE if scene.view.captions else 0.0
        below = (_CAPTION if scene.caption else 0.0) + (LEGEND_HEIGHT if scene.view.legend else 0.0)
        lap = MARGIN / 2  # the margin of a scene is empty
        left, top, right, bottom = bounds
        inner = (left + lap, top + lap, right - lap, bottom - lap)
        camera = fit_camera(inner, float(self.story.width), self.story.height - above - below, 1.6)
        return replace(camera, y=camera.y + (below - above) / 2 / camera.zoom)

    def _strips(self, place: int, picture: Picture, frame: Frame) -> list[DisplayList]:
        """Title above, caption below, legend in the corner above the caption."""
        scene, story = self.story.scenes[place], self.story
        width, paper = float(story.width), picture.theme.paper
        found = []
        if scene.view.captions:
            head = title_list(frame, picture.theme, fonts(), width, scene.view.title, scene.view.steps)
            found.append(replace(head, background=paper))
        if scene.view.legend and picture.scene.plan.scale.used:
            legend = legend_list(picture.scene.plan, picture.theme)
            low = story.height - (_CAPTION if scene.caption else 0.0) - legend.height
            found.append(_strip(legend, low, width, paper))
        if scene.caption:
            found.append(_caption(scene.caption, picture, width, float(story.height)))
        return found


def _strip(display: DisplayList, top: float, width: float, paper: str) -> DisplayList:
    """A display list moved down to `top`, on paper over the whole width."""
    items = tuple(moved(item, 0.0, top) for item in display.items)
    return DisplayList(items, (0.0, top, width, top + display.height), paper)


def _caption(text: str, picture: Picture, width: float, height: float) -> DisplayList:
    """A strip with the caption in its middle."""
    known, colors = fonts(), picture.theme
    line = known.elide(text, BODY, width - 48.0)
    size = known.width(line, BODY)
    bounds = (0.0, height - _CAPTION, width, height)
    ground = Rect(0.0, height - _CAPTION, width, _CAPTION, 0.0, colors.accent_fill)
    run = Text(width / 2, height - _CAPTION / 2 + 5.0, line, BODY, colors.ink, size, "middle")
    return DisplayList((Item("caption", "caption", text, bounds, (ground, run)),), bounds)
