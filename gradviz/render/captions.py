"""The title line and the legend, and the whole picture with them around the scene."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gradviz.model.numbers import number_text
from gradviz.playback import Frame
from gradviz.render.fonts import BODY, HEAD, LABEL, Fonts
from gradviz.render.plan import ScenePlan
from gradviz.render.scene import Scene
from gradviz.render.shapes import (
    Bounds,
    DisplayList,
    Item,
    Pen,
    Polygon,
    Raster,
    Rect,
    Shape,
    Text,
    grown,
    moved,
    overlap,
)
from gradviz.render.theme import Theme, rgb
from gradviz.texts import tr_picture as tr

TITLE_HEIGHT = 46.0
TITLE_LINE = 22.0
LEGEND_HEIGHT = 34.0
_SIDE = 24.0
_BAR = 180.0
_STEPS = 60
_LEAST_WIDTH = 620.0


@dataclass(frozen=True, slots=True)
class Around:
    """What stands around a scene in a picture.

    `title` replaces the call's own title; `area` is the part of the scene that is wanted (None: all); `steps` whether
    the sentence counts them. `grown` is how many times larger title and legend are than usual, where the scene is seen
    from far.
    """

    title: str | None = None
    captions: bool = True
    legend: bool = True
    area: Bounds | None = None
    steps: bool = True
    grown: float = 1.0


def title_list(
    frame: Frame, theme: Theme, fonts: Fonts, width: float, title: str | None = None, steps: bool = True
) -> DisplayList:
    """The title and the sentence of a frame in a strip of this width, origin at its top left.

    Both stand on one line where they fit, as two lines otherwise.
    """
    head = fonts.elide(title or frame.title, HEAD, width - 2 * _SIDE)
    head_width = fonts.width(head, HEAD)
    shapes: list[Shape] = [Text(_SIDE, 30.0, head, HEAD, theme.ink, head_width)]
    left = _SIDE + head_width + 28.0
    sentence = frame.sentence if steps else frame.plain_sentence
    body_width = fonts.width(sentence, BODY)
    height = TITLE_HEIGHT
    if left + body_width + _SIDE <= width:
        shapes.append(Text(left, 30.0, sentence, BODY, theme.soft_ink, body_width))
    else:
        body = fonts.elide(sentence, BODY, width - 2 * _SIDE)
        shapes.append(Text(_SIDE, 30.0 + TITLE_LINE, body, BODY, theme.soft_ink, fonts.width(body, BODY)))
        height += TITLE_LINE
    bounds = (0.0, 0.0, width, height)
    return DisplayList((Item("title", "title", sentence, bounds, tuple(shapes)),), bounds)


def legend_list(plan: ScenePlan, theme: Theme) -> DisplayList:
    """The scale of the colours and the marks for what has no place on it, origin at the top left."""
    if theme.name not in plan.legends:
        plan.legends[theme.name] = _legend(plan, theme)
    return plan.legends[theme.name]


def _legend(plan: ScenePlan, theme: Theme) -> DisplayList:
    fonts, scale = plan.fonts, plan.scale
    shapes: list[Shape] = []
    x, base = _SIDE, 20.0

    def text(words: str, gap: float) -> None:
        nonlocal x
        width = fonts.width(words, LABEL)
        shapes.append(Text(x, base, words, LABEL, theme.soft_ink, width))
        x += width + gap

    text(tr("colour: log10 ‖gradient‖"), 16.0)
    text(_decade(scale.low), 6.0)
    places = ((step + 0.5) / _STEPS for step in range(_STEPS))
    colors = [scale.tint(10.0 ** (scale.low + (scale.high - scale.low) * place), theme) for place in places]
    pixels = b"".join(bytes(rgb(color)) for color in colors)
    shapes.append(Raster(x, base - 10, _BAR, 11.0, 1, _STEPS, pixels))
    x += _BAR + 6.0
    text(_decade(scale.high), 22.0)
    for color, words, pen in _marks(plan, theme):
        if pen is None:
            shapes.append(Rect(x, base - 10, 14, 11, 2.0, color, Pen(theme.hairline)))
        else:
            shapes.append(Polygon(((x, base - 4), (x + 22, base - 4)), None, pen))
            x += 8.0
        x += 20.0
        text(words, 18.0)
    bounds = (0.0, 0.0, x, LEGEND_HEIGHT)
    return DisplayList((Item("legend", "legend", tr("How colours are to be read"), bounds, tuple(shapes)),), bounds)


def compose(scene: Scene, display: DisplayList, frame: Frame, theme: Theme, around: Around) -> DisplayList:
    """The scene with its title above and the legend below, as one list. Its bounds do not depend on the frame."""
    left, top, right, bottom = area = around.area or scene.bounds
    plan, by = scene.plan, around.grown
    legend = legend_list(plan, theme) if around.legend and plan.scale.used else None
    widest = max(right - left, by * max(_LEAST_WIDTH if around.captions else 0.0, legend.width if legend else 0.0))
    slack = (widest - (right - left)) / 2
    left, right = left - slack, right + slack
    items = [item for item in display.items if around.area is None or overlap(item.bounds, (left, top, right, bottom))]
    if around.captions:
        # Always two lines high: the picture must not jump from step to step.
        head = title_list(frame, theme, plan.fonts, widest / by, around.title, around.steps)
        height = by * (TITLE_HEIGHT + (TITLE_LINE if _needs_two_lines(plan, widest / by, around.title) else 0.0))
        lap = 10.0 if around.area is None else 0.0  # the margin of a whole scene is empty
        if around.area is not None:
            items.append(_strip("above", left, area[1] - height, widest, height, theme))
        items.extend(moved(_larger(item, by), left, top - height + lap) for item in head.items)
        top -= height - lap
    if legend is not None:
        lap = 6.0 if around.area is None else 0.0
        if around.area is not None:
            items.append(_strip("below", left, area[3], widest, by * LEGEND_HEIGHT, theme))
        items.extend(moved(_larger(item, by), left, bottom - lap) for item in legend.items)
        bottom += by * LEGEND_HEIGHT - lap
    return DisplayList(tuple(items), (left, top, right, bottom), theme.paper)


def _larger(item: Item, by: float) -> Item:
    return item if by == 1.0 else grown(item, by)


def _strip(name: str, left: float, top: float, width: float, height: float, theme: Theme) -> Item:
    """Paper over what of the scene reaches out of the wanted area."""
    bounds = (left, top, left + width, top + height)
    return Item(name, "strip", "", bounds, (Rect(left, top, width, height, 0.0, theme.paper),))


def _needs_two_lines(plan: ScenePlan, width: float, title: str | None) -> bool:
    """Whether any beat's sentence does not fit beside the title (looked at for short stories only)."""
    timeline, fonts = plan.timeline, plan.fonts
    if timeline.length > 200:
        return True
    if (width, title) not in plan.two_lines:
        frames = [timeline.state_at(timeline.still(index)) for index in range(timeline.length + 1)]
        plan.two_lines[width, title] = any(
            2 * _SIDE + 28.0 + fonts.width(title or frame.title, HEAD) + fonts.width(frame.sentence, BODY) > width
            for frame in frames
        )
    return plan.two_lines[width, title]


def _decade(value: float) -> str:
    return number_text(round(value, 2) + 0.0)


def _marks(plan: ScenePlan, theme: Theme) -> list[tuple[str, str, Pen | None]]:
    """The signs of elements, zero, undefined and non-finite, where they occur in what is played."""
    runs = [execution for act in plan.timeline.acts for execution in act.detail.executions]
    arrived = [value for run in runs for value in run.grad_outputs]
    values = [value for value in (*arrived, *[v for run in runs for v in run.grad_inputs[:1]]) if value is not None]
    norms = {value.norm for value in values}
    zero, undefined = 0.0 in norms, any(value is None for value in arrived)
    nonfinite = any(norm is not None and not math.isfinite(norm) for norm in norms)
    several = any(value.numel > 1 for value in values)
    found: list[tuple[str, str, Pen | None]] = []
    if several:
        found += [(theme.negative, tr("elements below 0"), None), (theme.positive, tr("above 0"), None)]
    if zero:
        found.append((theme.zero, tr("exactly 0"), None))
    if undefined:
        found.append((theme.edge, tr("undefined (None)"), Pen(theme.edge, 1.8, (1.5, 4.5))))
    if nonfinite:
        found.append((theme.nonfinite, tr("nan or inf"), None))
    return found
