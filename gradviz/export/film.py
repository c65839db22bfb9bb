"""A film: the pictures of an animation one after the other, of one view or of a story."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from PySide6.QtGui import QImage

from gradviz.export.job import Job, Tick, ticks
from gradviz.export.raster import paint
from gradviz.export.story import StoryPicture


class Film(Protocol):
    """Pictures of one size, each shown for a while."""

    @property
    def note(self) -> str | None:
        """What the user should know, in a sentence."""
        ...

    def ticks(self, fps: float) -> list[Tick]:
        """The moments that are shown."""
        ...

    def image(self, tick: Tick) -> QImage:
        """The picture of a moment."""
        ...


@dataclass(frozen=True)
class ViewFilm:
    """The playback of one view."""

    job: Job
    scale: float
    note: str | None

    def ticks(self, fps: float) -> list[Tick]:
        """Evenly spaced moments in beats, the end held."""
        return ticks(self.job.picture, self.job.options, fps)

    def image(self, tick: Tick) -> QImage:
        """The whole picture at a moment."""
        return paint(self.job.picture.at(tick.t, self.scale), self.scale)


@dataclass(frozen=True)
class StoryFilm:
    """A story; its moments are seconds from its start."""

    picture: StoryPicture
    scale: float
    note: str | None = None

    def ticks(self, fps: float) -> list[Tick]:
        """Evenly spaced moments in seconds."""
        count = max(1, round(self.picture.seconds * fps))
        ends = [round(index * 100.0 / fps) * 10 for index in range(count + 1)]
        return [Tick(index / fps, ends[index + 1] - ends[index]) for index in range(count)]

    def image(self, tick: Tick) -> QImage:
        """What the story shows at a moment."""
        return self.picture.image(tick.t, self.scale)


def film_of(job: Job, usual_scale: float, usual_width: int) -> Film:
    """The film that a job asks for."""
    if job.story is not None:
        width = job.options.width or min(round(job.story.story.width * usual_scale), usual_width)
        return StoryFilm(job.story, width / job.story.story.width)
    scale, note = job.picture.scale(job.options, usual_scale, usual_width)
    return ViewFilm(replace(job, picture=job.picture.legible(scale)), scale, note)
