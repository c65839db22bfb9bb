"""From a story and a view to pictures: plans, places and paints away from the event loop, one thing at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage, QPainter

from gradviz.app.background import Background, Errands, Task
from gradviz.app.graph.change import Change
from gradviz.app.loading import Story
from gradviz.app.session import Session
from gradviz.app.texts import tr
from gradviz.layout import Placement
from gradviz.layout.client import LayoutCancelledError, LayoutClient
from gradviz.model import Camera, ViewState
from gradviz.model.groups import Group
from gradviz.model.view import Theme as ThemeName
from gradviz.playback import Frame
from gradviz.render import Box, Scene, ScenePlan, Theme, legend_list, paint_frame, plan_scene, theme
from gradviz.render.canvas import Canvas, fit_camera
from gradviz.render.shapes import Bounds

# The fields of a view that change which boxes there are, or where; the others only how they look.
MAP_SIZE = (200, 130)
_WORTH_A_MAP = 20  # boxes; fewer are found without one
_PLAN_FIELDS = ("expanded", "folded", "filters", "direction", "scale_range")


@dataclass(frozen=True)
class Request:
    """A picture that is wanted: this frame, seen by this camera, `width` x `height` pixels at `ratio`."""

    frame: Frame
    camera: Camera
    width: int
    height: int
    ratio: float


@dataclass(frozen=True)
class Painted:
    """A picture that was painted, with what it shows."""

    image: QImage
    request: Request
    scene: Scene


class Drawing(QObject):
    """The picture of one session. `studio` is a single thread: fonts and painters stay in it.

    Signals:
        scene_changed(): `scene` is another one, or None.
        painted(Painted): a picture is ready.
        legend_changed(): `legend` is another picture.
        map_changed(): `map`, the whole graph in small, is another picture.
        busy_changed(str): what is being computed, in words; empty when nothing is.
        failed(str): the picture cannot be made; a sentence.
    """

    scene_changed = Signal()
    painted = Signal(object)
    legend_changed = Signal()
    map_changed = Signal()
    busy_changed = Signal(str)
    failed = Signal(str)

    def __init__(
        self, session: Session, studio: Background, layout: LayoutClient, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._studio = Errands(studio)
        self._layout = layout
        self._task: Task[Any] | None = None
        self._canvas: Canvas | None = None
        self._theme: ThemeName = session.view.theme
        self._wanted: Request | None = None
        self._painting = False
        self.scene: Scene | None = None
        self.change: Change | None = None
        self.legend: QImage | None = None
        self.map: QImage | None = None
        self.ratio = 1.0
        session.story_changed.connect(self.plan)
        session.view_changed.connect(self._follow_view)

    # -- the scene -----------------------------------------------------------------------------------------------------

    def plan(self) -> None:
        """Plan and place the boxes of the session's story anew."""
        story, view = self._session.story, self._session.view
        self._cancel()
        if story is None:
            self._take(None)
            return
        self._task = self._studio.submit(
            lambda task: plan_scene(story.timeline, view), lambda plan: self._place(story, plan), self._fail
        )
        self.busy_changed.emit(tr("Drawing the graph …"))

    @property
    def working(self) -> bool:
        """Whether boxes are being planned or placed."""
        return self._task is not None

    def cancel(self) -> None:
        """Stop planning and placing; the picture stays as it is."""
        self._cancel()
        self.busy_changed.emit("")

    def close(self) -> None:
        """Let go of everything."""
        self._cancel()
        self._studio.close()
        self._wanted = None
        self._canvas = self.scene = self.change = None

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._layout.cancel()
        self._task = None

    def _place(self, story: Story, plan: ScenePlan) -> None:
        anchors = self._anchors(plan)
        self._task = self._session.background.submit(
            lambda task: self._placed(task, plan, anchors), lambda placement: self._build(plan, placement), self._fail
        )
        self.busy_changed.emit(tr("Placing {n} boxes …", n=f"{len(plan.boxes):,}"))

    def _anchors(self, plan: ScenePlan) -> tuple[tuple[float, float] | None, ...]:
        """Where the boxes of the new plan are now: what stays must not jump."""
        if self.scene is None or self.scene.plan.timeline is not plan.timeline:
            return ()
        if self.scene.plan.view.direction != plan.view.direction:
            return ()
        places = {box.id: self.scene.placement.positions[box.index] for box in self.scene.plan.boxes}
        return tuple(places.get(box.id) for box in plan.boxes)

    def _placed(self, task: Task[Any], plan: ScenePlan, anchors: tuple[tuple[float, float] | None, ...]) -> Placement:
        graph = plan.layout_graph(anchors)
        while True:
            try:
                return self._layout.place(graph)
            except LayoutCancelledError:
                task.check()  # otherwise another tab's layout was meant: the client serves all of them

    def _build(self, plan: ScenePlan, placement: Placement) -> None:
        name = self._theme
        self._task = self._studio.submit(lambda task: build_scene(plan, placement, name), self._take, self._fail)

    def _take(self, made: tuple[Scene, Canvas] | None) -> None:
        self._task = None
        before = self.scene
        self.scene, self._canvas = (None, None) if made is None else made
        still = self._session.player.reduced_motion
        self.change = None if still else Change.between(before, self.scene)
        self.busy_changed.emit("")
        self.map = None
        self.scene_changed.emit()
        self._paint_around()

    def _paint_around(self) -> None:
        """The small pictures beside the large one, after it."""
        scene, colors, ratio, frame = self.scene, theme(self._theme), self.ratio, self._session.player.frame
        if scene is not None:
            self._studio.submit(lambda task: _legend(scene, colors, ratio), self._take_legend, self.failed.emit)
        if scene is not None and frame is not None and len(scene.plan.boxes) >= _WORTH_A_MAP:
            self._studio.submit(lambda task: _map(scene, colors, ratio, frame), self._take_map, self.failed.emit)

    def _take_map(self, image: QImage) -> None:
        self.map = image
        self.map_changed.emit()

    def _take_legend(self, image: QImage) -> None:
        self.legend = image
        self.legend_changed.emit()

    def _fail(self, why: str) -> None:
        self._task = None
        self.busy_changed.emit("")
        self.failed.emit(why)

    def _follow_view(self, old: ViewState) -> None:
        view = self._session.view
        if any(getattr(old, name) != getattr(view, name) for name in _PLAN_FIELDS):
            self.plan()

    # -- boxes and keys ------------------------------------------------------------------------------------------------

    def key_of(self, box: Box) -> str | None:
        """The key by which a box is selected: that of its group or of its node; roots without a node have none."""
        if self.scene is None:
            return None
        plan = self.scene.plan
        if box.kind == "group":
            return self.group_of(box).key
        return plan.timeline.stage.graph.by_id[box.nodes[0]].key if box.nodes else None

    def group_of(self, box: Box) -> Group:
        """The group that a folded box stands for."""
        assert self.scene is not None
        tree = self.scene.plan.tree
        return tree.groups[int(box.id.removeprefix("group-"))]

    def boxes_of(self, keys: Iterable[str]) -> tuple[Box, ...]:
        """The boxes that show what has these keys; of an unfolded group all that are in it."""
        if self.scene is None or self._session.story is None:
            return ()
        plan, by_key = self.scene.plan, self._session.story.by_key
        found: dict[int, Box] = {}
        for key in keys:
            group = plan.tree.by_key.get(key)
            nodes = [by_key[key]] if key in by_key else plan.tree.members(group.index) if group is not None else []
            for node in nodes:
                if (box := plan.box_of_node.get(node)) is not None:
                    found[box.index] = box
        return tuple(found.values())

    # -- pictures ------------------------------------------------------------------------------------------------------

    @property
    def theme_name(self) -> ThemeName:
        """The theme in which pictures are painted."""
        return self._theme

    def set_theme(self, name: ThemeName) -> None:
        """Paint in another theme from now on."""
        self._theme = name
        if self.scene is not None:
            self._canvas = Canvas(self.scene, theme(name))
            self.scene_changed.emit()
            self._paint_around()

    def set_ratio(self, ratio: float) -> None:
        """Paint small pictures for a screen of so many device pixels per logical pixel."""
        if ratio != self.ratio:
            self.ratio = ratio
            self._paint_around()

    def want(self, request: Request) -> None:
        """Ask for a picture. When one is being painted the newest request waits, older ones are dropped."""
        self._wanted = request
        self._paint_next()

    def _paint_next(self) -> None:
        request, canvas, scene = self._wanted, self._canvas, self.scene
        if self._painting or request is None or canvas is None or scene is None:
            return
        if request.frame.timeline is not scene.plan.timeline:
            return
        self._wanted = None
        self._painting = True
        if self.change is not None and self.change.over:
            self.change = None
        paint = _painter(canvas, scene, request)
        if self.change is not None:
            paint = _moving_painter(self.change, canvas.theme, request)
        self._studio.submit(paint, lambda painted: self._show(painted, canvas), self._fail_painting)

    def _show(self, painted: Painted, canvas: Canvas) -> None:
        self._painting = False
        if canvas is self._canvas:  # else it is of another scene or in another theme by now
            self.painted.emit(painted)
            if self.change is not None and self._wanted is None:
                self._wanted = painted.request
        self._paint_next()

    def _fail_painting(self, why: str) -> None:
        self._painting = False
        self.failed.emit(why)


def build_scene(plan: ScenePlan, placement: Placement, name: ThemeName) -> tuple[Scene, Canvas]:
    """The scene of a plan, and what paints it; for another thread than that of the event loop."""
    scene = Scene(plan, placement)
    # Computed in this thread, so that the event loop does not pay for it.
    _ = scene.cards, scene.routes, scene.bounds, plan.box_of_node
    return scene, Canvas(scene, theme(name))


def _legend(scene: Scene, colors: Theme, ratio: float) -> QImage:
    shown = legend_list(scene.plan, colors)
    image = QImage(
        math.ceil(shown.width * ratio), math.ceil(shown.height * ratio), QImage.Format.Format_ARGB32_Premultiplied
    )
    image.fill(0)
    painter = QPainter(image)
    try:
        painter.scale(ratio, ratio)
        paint_frame(painter, shown, zoom=ratio)
    finally:
        painter.end()
    image.setDevicePixelRatio(ratio)
    return image


def map_camera(bounds: Bounds) -> Camera:
    """The camera that shows a whole scene in the map."""
    return fit_camera(bounds, *MAP_SIZE)


def _map(scene: Scene, colors: Theme, ratio: float, frame: Frame) -> QImage:
    return Canvas(scene, colors).image(frame, map_camera(scene.bounds), MAP_SIZE, ratio)


def _moving_painter(change: Change, colors: Theme, request: Request) -> Callable[[Task[Painted]], Painted]:
    def paint(task: Task[Painted]) -> Painted:
        """Paint boxes on their way."""
        scene = change.scene()
        image = Canvas(scene, colors).image(
            request.frame, request.camera, (request.width, request.height), request.ratio
        )
        return Painted(image, request, scene)

    return paint


def _painter(canvas: Canvas, scene: Scene, request: Request) -> Callable[[Task[Painted]], Painted]:
    def paint(task: Task[Painted]) -> Painted:
        """Paint one row."""
        image = canvas.image(request.frame, request.camera, (request.width, request.height), request.ratio)
        return Painted(image, request, scene)

    return paint
