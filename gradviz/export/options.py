"""What a person may choose about an export, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gradviz.errors import ExportError
from gradviz.model import ViewState

if TYPE_CHECKING:
    from gradviz.export.story import Story

Progress = Callable[[int, int], None]  # (done, of how many)
Cancelled = Callable[[], bool]


class ExportCancelledError(ExportError):
    """The export was called off; nothing was written."""


@dataclass(frozen=True)
class ExportOptions:
    """How a picture or an animation is made. What is None follows from the format and the view.

    Attributes:
        format: "png", "svg", "pdf", "gif", "apng", "webp", "mp4", "html", "dot", "frames"; None: by the suffix.
        call: the label of a call; of a still picture its end is shown, an animation plays this call only.
        step: the k-th engine step of the call (0: the seed enters), shown half-way.
        time: a moment in seconds of the animation at speed 1, instead of a step.
        expand: keys or labels of groups to unfold, `("*",)` for all; added to those of the view.
        fold: as `expand`, of groups to fold.
        view: folding, direction, order, theme, legend, captions, title, colour range.
        theme: "light", "dark", "print" or "contrast" instead of the view's.
        scale: pixels per scene unit.
        width: width of the picture in pixels; goes before `scale`.
        width_cm: width on paper, with `dpi` dots per inch; goes before `width`.
        dpi: written into PNG files; 150 where only `width_cm` is given.
        area: "whole" picture, "view" (what the view's camera sees in `viewport`) or "selection" (the selected boxes).
        viewport: width and height of what is seen, in pixels at the camera's zoom.
        story: a story to be told instead of one view; moving formats only.
        transparent: no ground (PNG, SVG, APNG, WebP, PDF).
        engine: layout engine, see `gradviz.layout`.
        fps: frames per second of an animation; None: what the format plays well.
        speed: how much faster than usual.
        hold: seconds for which an animation shows its end.
        force: whether an existing file may be replaced.
    """

    format: str | None = None
    call: str | None = None
    step: int | None = None
    time: float | None = None
    expand: tuple[str, ...] = ()
    fold: tuple[str, ...] = ()
    view: ViewState = field(default_factory=ViewState)
    theme: str | None = None
    scale: float | None = None
    width: int | None = None
    width_cm: float | None = None
    dpi: float | None = None
    area: Literal["whole", "view", "selection"] = "whole"
    viewport: tuple[int, int] = (1200, 800)
    story: Story | None = None
    transparent: bool = False
    engine: str = "auto"
    fps: float | None = None
    speed: float = 1.0
    hold: float = 2.0
    force: bool = False


@dataclass(frozen=True)
class ExportResult:
    """What was written. `notes` are sentences for the user (a smaller scale, another layout engine)."""

    path: Path
    size: int
    fonts: str
    pictures: int = 1
    notes: tuple[str, ...] = ()
