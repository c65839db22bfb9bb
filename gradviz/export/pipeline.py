"""From a recording to a file: the table of formats and the one function that every caller uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gradviz.errors import UsageError
from gradviz.export.animation import export_apng, export_gif, export_webp
from gradviz.export.dot import export_dot
from gradviz.export.files import check_writable
from gradviz.export.frames import export_frames, is_pattern
from gradviz.export.html import export_html
from gradviz.export.job import Job, Made
from gradviz.export.mp4 import export_mp4
from gradviz.export.options import Cancelled, ExportOptions, ExportResult, Progress
from gradviz.export.pdf import export_pdf
from gradviz.export.picture import Picture
from gradviz.export.png import export_png
from gradviz.export.story import StoryPicture
from gradviz.export.svg import export_svg
from gradviz.model import Recording
from gradviz.render import fonts
from gradviz.texts import tr


@dataclass(frozen=True, slots=True)
class Exporter:
    """A format: the function that writes it and whether it moves."""

    write: Callable[[Job, Path], Made]
    moving: bool


EXPORTERS: dict[str, Exporter] = {
    "png": Exporter(export_png, False),
    "svg": Exporter(export_svg, False),
    "gif": Exporter(export_gif, True),
    "apng": Exporter(export_apng, True),
    "webp": Exporter(export_webp, True),
    "pdf": Exporter(export_pdf, False),
    "html": Exporter(export_html, True),
    "dot": Exporter(export_dot, False),
    "mp4": Exporter(export_mp4, True),
    "frames": Exporter(export_frames, True),
}


STORIES = ("gif", "apng", "webp", "mp4", "png")


def export(
    recording: Recording,
    output: Path,
    options: ExportOptions | None = None,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> ExportResult:
    """Write `output`; nothing is left behind when that fails or is called off.

    Raises:
        UsageError: the options do not fit together or name what is not there.
        ExportError: nothing to draw, no font, or the file cannot be written.
        ExportCancelledError: `cancelled` returned True.
    """
    options = options or ExportOptions()
    exporter = EXPORTERS[check_output(output, options)]
    story = None if options.story is None else StoryPicture(recording, options.story, options)
    picture = Picture.of(recording, options) if story is None else story.first
    made = exporter.write(Job(picture, options, progress, cancelled, story), output)
    notes = tuple(note for note in (picture.scene.placement.note, made.note) if note)
    size = output.stat().st_size if output.exists() else 0
    return ExportResult(output, size, fonts().description, made.pictures, notes)


def check_output(output: Path, options: ExportOptions) -> str:
    """The format that is asked for, where a file of it may be written; asked before a script runs for nothing.

    Raises:
        UsageError: there is no such format, or its options do not fit.
        ExportError: the file exists and is not to be replaced, or cannot be written.
    """
    name = format_of(output, options)
    if name != "frames":
        check_writable(output, options.force)
    return name


def format_of(output: Path, options: ExportOptions) -> str:
    """The format that is asked for, by option or by suffix.

    Raises:
        UsageError: there is no such format, or its options do not fit.
    """
    suffix = "frames" if is_pattern(output) else output.suffix.lstrip(".")
    name = (options.format or suffix).lower()
    if name not in EXPORTERS:
        known = ", ".join(EXPORTERS)
        raise UsageError(tr("{name!r} is not a format of ours: use one of {known}.", name=name, known=known))
    if EXPORTERS[name].moving and (options.step is not None or options.time is not None):
        raise UsageError(tr("A step or a time chooses a still picture; {name} moves.", name=name))
    if options.story is not None and name not in STORIES:
        raise UsageError(
            tr(
                "A story is told by moving pictures (or one of its moments): use one of {known}.",
                known=", ".join(STORIES),
            )
        )
    if not options.speed > 0 or (options.fps is not None and not 0 < options.fps <= 100) or options.hold < 0:
        raise UsageError(tr("Speed, frames per second and hold must be above zero (at most 100 frames)."))
    return name
