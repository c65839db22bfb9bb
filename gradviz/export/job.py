"""A running export: picture, options, and how it tells its progress and is called off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gradviz.export.options import Cancelled, ExportCancelledError, ExportOptions, Progress
from gradviz.export.picture import Picture
from gradviz.export.story import StoryPicture
from gradviz.texts import tr


@dataclass(frozen=True)
class Made:
    """How many pictures went into the file, and what the user should know about it."""

    pictures: int
    note: str | None = None


@dataclass(frozen=True)
class Job:
    """What an exporter gets. With a story, `picture` is that of its first scene."""

    picture: Picture
    options: ExportOptions
    progress: Progress | None = None
    cancelled: Cancelled | None = None
    story: StoryPicture | None = None

    def advance(self, done: int, of: int) -> None:
        """Tell the progress.

        Raises:
            ExportCancelledError: the export was called off.
        """
        if self.cancelled is not None and self.cancelled():
            raise ExportCancelledError(tr("The export was called off; nothing was written."))
        if self.progress is not None:
            self.progress(done, of)


@dataclass(frozen=True, slots=True)
class Tick:
    """A frame of an animation: its moment in beats and for how many milliseconds it is seen."""

    t: float
    milliseconds: int


def ticks(picture: Picture, options: ExportOptions, fps: float) -> list[Tick]:
    """The frames of an animation: evenly spaced in time, with the end held."""
    timeline = picture.timeline
    start, end = timeline.second_at(picture.first), timeline.second_at(picture.last)
    duration = (end - start) / options.speed
    count = max(1, round(duration * fps))
    each = 1000.0 / fps
    found = []
    for index in range(count):
        # Whole hundredths, as GIF counts them; rounding the ends keeps the sum right.
        shown = round((index + 1) * each / 10.0) * 10 - round(index * each / 10.0) * 10
        found.append(Tick(timeline.beat_at(start + index / fps * options.speed), shown))
    found.append(Tick(picture.last, max(round(options.hold * 100) * 10, 10)))
    return found


def stills(picture: Picture) -> Iterator[float]:
    """The moments at which each beat is best looked at, and the end."""
    for index in range(int(picture.first), int(picture.last)):
        yield picture.timeline.still(index)
    yield picture.last
