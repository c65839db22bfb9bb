"""Scenes of recordings made by hand, and ways to ask what is in them."""

from __future__ import annotations

from collections.abc import Iterator

from gradviz.layout.engines import place_now
from gradviz.model import Recording, ViewState
from gradviz.playback import Timeline, story
from gradviz.render import DisplayList, Item, Scene, build_display_list, plan_scene, theme
from gradviz.render.shapes import Text


def scene_of(recording: Recording, view: ViewState | None = None) -> Scene:
    """The scene of a recording, laid out by our own engine."""
    view = view or ViewState()
    timeline = Timeline(recording, story(recording), view.order)
    plan = plan_scene(timeline, view)
    return Scene(plan, place_now(plan.layout_graph()))


def scene_of_all(recording: Recording) -> Scene:
    """The scene of a recording with every group unfolded."""
    return scene_of(recording, ViewState(expanded=("*",)))


def display_at(scene: Scene, t: float, name: str = "light") -> DisplayList:
    """The display list of a moment, from scratch."""
    return build_display_list(scene, scene.plan.timeline.state_at(t), theme(name))


def words(item: Item) -> list[str]:
    """The texts of an item."""
    return [shape.text for shape in item.shapes if isinstance(shape, Text)]


def moments(scene: Scene, each: int = 3) -> Iterator[float]:
    """Moments over the whole timeline."""
    length = scene.plan.timeline.length
    for k in range(length * each + 1):
        yield k / each
