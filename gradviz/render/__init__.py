"""Drawing: (scene, frame, theme) -> a frozen display list, and `paint_frame` that paints it. QtCore and QtGui only.

How it is used::

    app = ensure_gui()                                  # keeps or makes a QGuiApplication (offscreen); fonts need one
    plan = plan_scene(timeline, view)                   # boxes with measured sizes; `view` is a model.ViewState
    placement = layout.place_now(plan.layout_graph())   # or the helper process, later; the plan stays the same
    scene = Scene(plan, placement)                      # where everything is
    frame = timeline.state_at(t)
    display = build_display_list(scene, frame, theme(view.theme))        # items in scene units, y down
    paint_frame(painter, display, clip=None, zoom=1.0)  # the painter is scaled and moved by the caller

For a window `Canvas(scene, theme)` keeps the picture between frames and repaints what changed:
`canvas.paint(painter, frame, camera, (width, height), ratio=1.0, hurry=False)`; `fit_camera(scene.bounds, w, h)`.

`Display(scene, theme).at(frame)` gives the lists of many frames and makes only the items that may have changed.
`title_list(frame, theme, fonts(), width)` and `legend_list(plan, theme)` are display lists of their own (origin at
their top left), so that a window can paint them over the view; `compose(scene, display, frame, theme, Around())` puts
all of them into one picture for an export.

`scene.bounds` (left, top, right, bottom); `scene.box_at(x, y) -> Box | None`; `scene.box_of(node) -> Box | None`;
`box.nodes` are ids of `timeline.stage.graph`; `scene.cards[box.index]` is its card's bounds;
`scene.link_at(x, y, within) -> Link | None`, `link.edges` are indices of `timeline.stage.graph.edges`.
When a group is folded or unfolded: `plan.layout_graph(anchors(plan, old_scene))` keeps what stays about where it was,
and `morphed(old_scene, new_scene, alpha)` is a scene on the way between the two.

Items of a display list: `id` ("node-4", "edge-7", "seed-0", ...), `kind` (CSS-like classes), `title` (the tooltip),
`bounds`, `shapes`. `changed_items(old, new)` names the items that differ, for repainting and for HTML.

Without any font Qt draws no text at all: `ensure_gui` raises `ExportError` saying so; `fonts().description` names
the fonts that are used.
"""

from gradviz.render.canvas import Canvas, fit_camera
from gradviz.render.captions import Around, compose, legend_list, title_list
from gradviz.render.display import Display, build_display_list, changed_items
from gradviz.render.fonts import Fonts, ensure_gui, fonts
from gradviz.render.morph import anchors, morphed
from gradviz.render.paint import paint_frame, paint_items
from gradviz.render.plan import Box, Link, ScenePlan, plan_scene
from gradviz.render.scene import Scene
from gradviz.render.shapes import DisplayList, Item
from gradviz.render.theme import THEMES, Theme, call_shade, theme

__all__ = [
    "THEMES",
    "Around",
    "Box",
    "Canvas",
    "Display",
    "DisplayList",
    "Fonts",
    "Item",
    "Link",
    "Scene",
    "ScenePlan",
    "Theme",
    "anchors",
    "build_display_list",
    "call_shade",
    "changed_items",
    "compose",
    "ensure_gui",
    "fit_camera",
    "fonts",
    "legend_list",
    "morphed",
    "paint_frame",
    "paint_items",
    "plan_scene",
    "theme",
    "title_list",
]
