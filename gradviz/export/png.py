"""PNG: one moment as pixels."""

from __future__ import annotations

from pathlib import Path

from gradviz.export.files import write
from gradviz.export.job import Job, Made
from gradviz.export.raster import png_bytes, to_pillow
from gradviz.export.story import StoryPicture

USUAL_SCALE = 2.0
MANY = 1000  # nodes: a picture of more is wanted soon, and is large either way


def export_png(job: Job, path: Path) -> Made:
    """Write the chosen moment of the picture as a PNG file; of a story its poster, or what it shows at a second."""
    options, picture = job.options, job.picture
    if job.story is not None:
        return _export_story(job, job.story, path)
    scale, note = picture.scale(options, USUAL_SCALE)
    job.advance(0, 1)
    image = to_pillow(picture.image(picture.moment(options), scale), options.transparent)
    dpi = options.dpi or (150.0 if options.width_cm is not None else None)
    write(path, png_bytes(image, dpi, quick=len(picture.timeline.stage.graph.nodes) > MANY), options.force)
    job.advance(1, 1)
    return Made(1, note)


def _export_story(job: Job, told: StoryPicture, path: Path) -> Made:
    options = job.options
    scale = (options.width or told.story.width * (options.scale or USUAL_SCALE)) / told.story.width
    job.advance(0, 1)
    second = told.poster if options.time is None else options.time
    write(path, png_bytes(to_pillow(told.image(second, scale), alpha=False), options.dpi), options.force)
    job.advance(1, 1)
    return Made(1)
