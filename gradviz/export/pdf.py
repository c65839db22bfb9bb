"""PDF: one moment as vectors with embedded fonts."""

from __future__ import annotations

import datetime
import hashlib
import os
import re
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QHashSeed, QIODevice, QMarginsF, QSizeF
from PySide6.QtGui import QPageSize, QPainter, QPdfWriter

from gradviz.errors import ExportError
from gradviz.export.files import write
from gradviz.export.job import Job, Made
from gradviz.render import DisplayList, paint_frame
from gradviz.texts import tr

_POINTS = 0.75  # a scene unit is a CSS pixel: 96 to the inch, 72 points to the inch
_RESOLUTION = 1200
_MOST_POINTS = 14_400.0  # the largest page that readers accept (ISO 32000-1, annex C)


def export_pdf(job: Job, path: Path) -> Made:
    """Write the chosen moment of the picture as a PDF page of its size."""
    options, picture = job.options, job.picture
    t = picture.moment(options)
    display = picture.at(t)
    if options.width_cm is not None:
        scale, note = options.width_cm / 2.54 * 96.0 / display.width, None
    else:
        scale, note = picture.scale(options, 1.0)
    job.advance(0, 1)
    data = pdf_bytes(display, scale, picture.frame(t).title)
    write(path, data, options.force)
    job.advance(1, 1)
    return Made(1, note)


def pdf_bytes(display: DisplayList, scale: float, title: str) -> bytes:
    """A PDF file with one page. The time in it is `SOURCE_DATE_EPOCH`, where that is set, else the time now.

    Raises:
        ExportError: the page would be larger than readers accept.
    """
    width, height = display.width * scale * _POINTS, display.height * scale * _POINTS
    if max(width, height) > _MOST_POINTS:
        raise ExportError(tr("The picture is too large for a PDF page: choose a smaller scale, or fold more groups."))
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    # The order in which fonts are written follows hash tables, which have another seed in every process.
    QHashSeed.setDeterministicGlobalSeed()
    writer = QPdfWriter(buffer)
    writer.setCreator("gradviz")
    writer.setTitle(title)
    writer.setResolution(_RESOLUTION)
    writer.setPageSize(QPageSize(QSizeF(width, height), QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    painter = QPainter(writer)
    factor = scale * _POINTS * _RESOLUTION / 72.0
    painter.scale(factor, factor)
    painter.translate(-display.bounds[0], -display.bounds[1])
    paint_frame(painter, display, zoom=max(scale, 1.0))
    painter.end()
    buffer.close()
    QHashSeed.resetRandomGlobalSeed()
    return _at_time(bytes(data.data()), _moment())


def _moment() -> datetime.datetime:
    """The time that is written into files. Raises ExportError when `SOURCE_DATE_EPOCH` is no number."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        return datetime.datetime.now(datetime.timezone.utc)
    try:
        return datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc)
    except (ValueError, OverflowError, OSError) as error:
        raise ExportError(tr("SOURCE_DATE_EPOCH is {value!r}: it must be seconds since 1970.", value=epoch)) from error


def _at_time(data: bytes, moment: datetime.datetime) -> bytes:
    """The file with this time and an id of its contents in place of Qt's; all lengths (and so offsets) stay."""
    stamp = moment.strftime("%Y%m%d%H%M%S").encode()
    iso = moment.strftime("%Y-%m-%dT%H:%M:%S").encode()
    data = re.sub(rb"(/(?:Creation|Mod)Date \(D:)\d{14}([^)]*)\)", lambda m: m[1] + stamp + _utc(m[2]) + b")", data)
    data = re.sub(
        rb'(xmp:\w+Date=")\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([^"]*)"', lambda m: m[1] + iso + _iso_utc(m[2]) + b'"', data
    )
    uuid = rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    bare = re.sub(rb"/ID \[[^\]]*\]", b"", re.sub(uuid, b"", data))
    digest = hashlib.sha256(bare).hexdigest().encode()
    name = b"-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]))
    data = re.sub(uuid, name, data)
    return re.sub(rb"(?<=/ID \[ <)[0-9a-f]+(?:> <[0-9a-f]+)?", lambda m: _refilled(m[0], digest), data)


def _utc(zone: bytes) -> bytes:
    """A time zone of the same length that says UTC."""
    return b"Z" + zone[1:].translate(bytes.maketrans(b"123456789", b"000000000")) if zone else zone


def _iso_utc(zone: bytes) -> bytes:
    return zone if zone in (b"", b"Z") else b"+" + zone[1:].translate(bytes.maketrans(b"123456789", b"000000000"))


def _refilled(ids: bytes, digest: bytes) -> bytes:
    """Hexadecimal ids of the same lengths made from a digest."""
    return re.sub(rb"[0-9a-f]{8,}", lambda m: (digest * 4)[: len(m[0])], ids)
