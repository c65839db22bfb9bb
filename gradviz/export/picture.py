"""A recording under export options: the scene, and the whole picture at any moment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from PySide6.QtGui import QImage

from gradviz.errors import ExportError, UsageError
from gradviz.export.options import ExportOptions
from gradviz.export.raster import paint
from gradviz.layout.engines import place_export
from gradviz.model import Recording, ViewState
from gradviz.model.groups import GroupTree
from gradviz.model.suggestions import suggested
from gradviz.playback import Frame, Timeline, story
from gradviz.render import (
    Around,
    Display,
    DisplayList,
    Scene,
    Theme,
    compose,
    ensure_gui,
    legend_list,
    plan_scene,
    theme,
)
from gradviz.render.far import FAR_ZOOM
from gradviz.render.scene import MARGIN
from gradviz.render.shapes import Bounds, united
from gradviz.render.swarm import paint_far
from gradviz.texts import tr

MOST_PIXELS = 80_000_000  # a picture of 320 MB in memory; larger ones are scaled down
USUAL_PIXELS = 20_000_000  # unless somebody asks for more: one of 80 million takes seconds to write
MOST_SIDE = 32_000  # QPainter's raster engine ends at 32,767
_CM = 2.54
_LEGIBLE = 0.8  # pixels per unit at which title and legend are read easily


@dataclass(frozen=True)
class Picture:
    """A scene with what stands around it. `first` and `last` are the span (in beats) that an animation plays."""

    timeline: Timeline
    scene: Scene
    theme: Theme
    around: Around
    first: float
    last: float
    transparent: bool

    @staticmethod
    def of(recording: Recording, options: ExportOptions) -> Picture:
        """Read, plan and lay out.

        Raises:
            UsageError: there is no such call, theme or group.
            ExportError: there is nothing to draw, or there is no font.
        """
        ensure_gui()
        view = view_of(options)
        if not recording.calls:
            raise ExportError(_nothing(recording))
        timeline = Timeline(recording, told_together(recording, view.call), view.order)
        plan = plan_scene(timeline, view)
        _check_groups(plan.tree, (*options.expand, *options.fold))
        scene = Scene(plan, place_export(plan.layout_graph(), options.engine))
        first, last = 0.0, float(timeline.length)
        if options.call is not None:
            start, end = timeline.call_span(recording.call_by_label(options.call).number)
            first, last = float(start), float(end)
        area, colors = _area(scene, view, options), theme(view.theme)
        larger = _larger(scene, area, colors, options)
        around = Around(view.title, view.captions, view.legend, area, view.steps, larger)
        return Picture(timeline, scene, colors, around, first, last, options.transparent)

    @cached_property
    def _displays(self) -> dict[bool, Display]:
        return {}

    def _display(self, zoom: float) -> Display:
        """From far, boxes are drawn without text: a picture of very many is not made of what no one sees."""
        far = zoom < FAR_ZOOM
        if far not in self._displays:
            self._displays[far] = Display(self.scene, self.theme, zoom)
        return self._displays[far]

    def frame(self, t: float) -> Frame:
        """The frame at `t` beats; at the end of the span the end of that call, not the start of the next one."""
        if t >= self.last and self.timeline.beats:
            return self.timeline.end_of(self.timeline.beats[int(self.last) - 1].call)
        return self.timeline.state_at(t)

    def at(self, t: float, zoom: float = 1.0) -> DisplayList:
        """The whole picture at `t` beats, to be seen at `zoom` pixels per scene unit."""
        frame = self.frame(t)
        whole = compose(self.scene, self._display(zoom).at(frame), frame, self.theme, self.around)
        return replace(whole, background=None) if self.transparent else whole

    def bounds_of(self, words: Iterable[str]) -> Bounds:
        """What holds the boxes with these names: of nodes (or their keys) and of groups, with a margin.

        Raises:
            UsageError: none of them is in the picture.
        """
        by_id, wanted = self.timeline.stage.graph.by_id, set(words)
        found = [
            self.scene.reach(box)
            for box in self.scene.plan.boxes
            if box.card.title in wanted or any({by_id[n].key, by_id[n].name} & wanted for n in box.nodes)
        ]
        found += [outline.bounds for outline in self.scene.outlines if outline.group.label in wanted]
        if not found:
            raise UsageError(tr("Nothing in this picture is called {names}.", names=", ".join(sorted(wanted))))
        return _with_margin(united(found))

    def image(self, t: float, zoom: float) -> QImage:
        """The whole picture at `t` beats as pixels; from far the scene is painted without an item for each box."""
        if zoom >= FAR_ZOOM:
            return paint(self.at(t, zoom), zoom)
        frame = self.frame(t)
        around = compose(self.scene, DisplayList((), self.scene.bounds), frame, self.theme, self.around)
        if self.transparent:
            around = replace(around, background=None)
        return paint(around, zoom, lambda painter: paint_far(painter, self.scene, frame, self.theme, zoom))

    def moment(self, options: ExportOptions) -> float:
        """The moment (in beats) that a still picture shows.

        Raises:
            UsageError: the step is not there, or both a step and a time are asked for.
        """
        if options.step is not None and options.time is not None:
            raise UsageError(tr("Choose either a step or a time, not both."))
        if options.time is not None:
            return self.timeline.beat_at(self.timeline.second_at(self.first) + options.time)
        if options.step is not None:
            return self._step(options.step)
        if options.view.time is not None:
            return options.view.time
        return self.last

    def _step(self, step: int) -> float:
        call = self.frame(self.last).call
        assert call is not None
        own = [beat for beat in self.timeline.beats if beat.call == call.number]
        kind = "seed" if step == 0 else "execution"
        found = next((b for b in own if b.kind == kind and (step == 0 or (b.step or 0) >= step)), None)
        if found is None:
            steps = sum(beat.kind == "execution" for beat in own)
            raise UsageError(tr("Call {label} has no step {k}: it has {n}.", label=call.label, k=step, n=steps))
        return self.timeline.still(found.index)

    def scale(self, options: ExportOptions, usual: float, usual_width: int | None = None) -> tuple[float, str | None]:
        """Pixels per scene unit, and a note when the picture had to be made smaller than asked."""
        width, height = self.size
        wanted = _asked(options, width)
        if wanted is None:
            wanted = usual if usual_width is None else min(usual, usual_width / width)
            most = min(MOST_SIDE / width, MOST_SIDE / height, (USUAL_PIXELS / (width * height)) ** 0.5)
            if wanted > most:
                return most, tr(
                    "The picture is large; it was drawn at {scale:.3g}. --scale draws it larger.", scale=most
                )
        if not wanted > 0:
            raise UsageError(tr("The size of a picture must be above zero."))
        most = min(MOST_SIDE / width, MOST_SIDE / height, (MOST_PIXELS / (width * height)) ** 0.5)
        if wanted <= most:
            return wanted, None
        note = tr("The picture is too large for that scale; it was drawn at {scale:.3g}.", scale=most)
        return most, note

    def legible(self, zoom: float) -> Picture:
        """The picture with title and legend as large as they must be to be read at `zoom`."""
        grown = _grown(self.scene, self.around.area, self.theme, zoom)
        return self if grown <= self.around.grown else replace(self, around=replace(self.around, grown=grown))

    @cached_property
    def size(self) -> tuple[float, float]:
        """Width and height in scene units; the same at every moment."""
        empty = DisplayList((), self.scene.bounds)
        whole = compose(self.scene, empty, self.frame(self.first), self.theme, self.around)
        return whole.width, whole.height


def _nothing(recording: Recording) -> str:
    """Why there is no picture, and what to do."""
    script, outcome = recording.header.script, recording.outcome
    if recording.damage:
        return tr("No backward call can be read. {damage}", damage=recording.damage)
    if outcome.kind == "raised":
        why = f"{outcome.type}: {outcome.message}"
        return tr("{script!r} ended before any backward call ({why}): correct it first.", script=script, why=why)
    return tr("{script!r} made no backward call, so there is no gradient to draw: call backward().", script=script)


def view_of(options: ExportOptions) -> ViewState:
    """The view with what the options say instead."""
    view = options.view
    if options.theme is not None:
        theme(options.theme)
        view = replace(view, theme=options.theme)  # type: ignore[arg-type]  # checked by the line above
    if options.call is not None:
        view = replace(view, call=options.call)
    if options.expand:
        view = replace(view, expanded=tuple(dict.fromkeys((*view.expanded, *options.expand))))
    if options.fold:
        view = replace(view, folded=tuple(dict.fromkeys((*view.folded, *options.fold))))
    return view


def _check_groups(tree: GroupTree, words: Iterable[str]) -> None:
    """Refuse names that no group has. Those of a saved view may name what another call had; these were just written."""
    for word in words:
        if word == "*" or tree.named(word):
            continue
        known = suggested(word, (group.label for group in tree.groups[1:]))
        if not known:
            raise UsageError(tr("There is no group {word!r}: this picture has no groups.", word=word))
        raise UsageError(tr("There is no group {word!r} in this picture. It has: {known}", word=word, known=known))


def _area(scene: Scene, view: ViewState, options: ExportOptions) -> Bounds | None:
    """The part of the scene that is wanted; None for all of it.

    Raises:
        UsageError: nothing of what is selected is in the picture.
    """
    if options.area == "whole":
        return None
    if options.area == "view":
        if view.camera is None:
            return None  # the window fits all into the view
        width, height = (side / view.camera.zoom / 2 for side in options.viewport)
        return view.camera.x - width, view.camera.y - height, view.camera.x + width, view.camera.y + height
    plan, wanted = scene.plan, set(view.selected)
    nodes = {node.id for node in plan.timeline.stage.graph.nodes if node.key in wanted}
    for key in wanted & plan.tree.by_key.keys():  # a group, folded or not
        nodes.update(plan.tree.members(plan.tree.by_key[key].index))
    chosen = [box for box in plan.boxes if not nodes.isdisjoint(box.nodes)]
    if not chosen:
        raise UsageError(tr("Nothing that is selected is in this picture."))
    return _with_margin(united(scene.reach(box) for box in chosen))


def _asked(options: ExportOptions, width: float) -> float | None:
    """Pixels per scene unit that the options ask for, of a picture `width` units wide; None where they do not."""
    if options.width_cm is not None:
        return options.width_cm / _CM * (options.dpi or 150.0) / width
    return options.scale if options.width is None else options.width / width


def _larger(scene: Scene, area: Bounds | None, colors: Theme, options: ExportOptions) -> float:
    """How many times larger title and legend must be to be read, where the scene is drawn very small."""
    left, top, right, bottom = area or scene.bounds
    width, height = right - left, bottom - top
    usual = (USUAL_PIXELS / (width * height)) ** 0.5
    return _grown(scene, area, colors, min(_asked(options, width) or usual, MOST_SIDE / width, MOST_SIDE / height))


def _grown(scene: Scene, area: Bounds | None, colors: Theme, zoom: float) -> float:
    """The same at a known zoom."""
    if zoom >= FAR_ZOOM:
        return 1.0
    left, _, right, _ = area or scene.bounds
    width = right - left
    return max(1.0, min(_LEGIBLE / zoom, width / legend_list(scene.plan, colors).width))


def _with_margin(bounds: Bounds) -> Bounds:
    left, top, right, bottom = bounds
    return left - MARGIN, top - MARGIN, right + MARGIN, bottom + MARGIN


def told_together(recording: Recording, label: str | None) -> tuple[int, ...]:
    """The calls of the timeline that shows the call `label`.

    Raises:
        UsageError: there is no such call.
    """
    try:
        return story(recording, label)
    except KeyError as error:
        known = ", ".join(call.label for call in recording.calls[:20])
        raise UsageError(tr("There is no call {label!r}: there are {known}.", label=label, known=known)) from error
