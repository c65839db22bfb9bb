"""Numbered PNG files: one for each step, for slides and other programs. The name holds the number: `step-%03d.png`."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from gradviz.errors import ExportError, UsageError
from gradviz.export.files import check_writable
from gradviz.export.job import Job, Made, stills, ticks
from gradviz.export.raster import paint, png_bytes, to_pillow
from gradviz.texts import tr

_NUMBER = re.compile(r"%0?\d*d")
_USUAL_SCALE = 2.0


def is_pattern(path: Path) -> bool:
    """Whether a file name has a place for a number."""
    return _NUMBER.search(path.name) is not None


def export_frames(job: Job, path: Path) -> Made:
    """Write one PNG file a step (with `fps`: that many a second), numbered from 0; all of them or none.

    Raises:
        UsageError: the name has no place for a number, or several.
    """
    if len(_NUMBER.findall(path.name)) != 1 or path.name.replace("%%", "").count("%") != 1:
        raise UsageError(tr("Numbered pictures need a name with a place for the number, such as step-%03d.png."))
    options, picture = job.options, job.picture
    if options.fps is None:
        moments = list(stills(picture))
    else:
        moments = [tick.t for tick in ticks(picture, options, options.fps)]
    scale, note = picture.scale(options, _USUAL_SCALE)
    names = [path.with_name(path.name % index) for index in range(len(moments))]
    for name in names:
        check_writable(name, options.force)
    folder = Path(tempfile.mkdtemp(prefix=".gradviz-", dir=path.parent))
    try:
        for index, (t, name) in enumerate(zip(moments, names, strict=True)):
            job.advance(index, len(moments))
            image = to_pillow(paint(picture.at(t, scale), scale), options.transparent)
            (folder / name.name).write_bytes(png_bytes(image, options.dpi))
        for name in names:
            (folder / name.name).replace(name)
    except OSError as error:
        raise ExportError(tr("{path!r} cannot be written: {why}.", path=str(path), why=error.strerror)) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    job.advance(len(moments), len(moments))
    return Made(len(moments), note)
