"""Display lists as pixels, by way of `paint_frame`."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from dataclasses import replace

from PIL import Image
from PySide6.QtGui import QImage, QPainter

from gradviz.errors import ExportError
from gradviz.render import DisplayList, paint_frame
from gradviz.texts import tr


def paint(display: DisplayList, scale: float, ground: Callable[[QPainter], None] | None = None) -> QImage:
    """The picture as an image of `ceil(size * scale)` pixels, transparent where nothing is painted.

    `ground` paints something, in scene units, below the items.

    Raises:
        ExportError: there is not enough memory.
    """
    width, height = pixel_size(display, scale)
    image = QImage(width, height, QImage.Format.Format_ARGB32_Premultiplied)
    if image.isNull():
        raise ExportError(tr("A picture of {w} x {h} pixels does not fit into memory.", w=width, h=height))
    image.fill(0)
    painter = QPainter(image)
    painter.scale(scale, scale)
    painter.translate(-display.bounds[0], -display.bounds[1])
    if ground is not None:
        paint_frame(painter, replace(display, items=()), zoom=scale)
        ground(painter)
        display = replace(display, background=None)
    paint_frame(painter, display, zoom=scale)
    painter.end()
    return image


def pixel_size(display: DisplayList, scale: float) -> tuple[int, int]:
    """Width and height in pixels."""
    return max(1, round(display.width * scale)), max(1, round(display.height * scale))


def to_pillow(image: QImage, alpha: bool) -> Image.Image:
    """The image for Pillow, as RGBA or RGB."""
    kind = QImage.Format.Format_RGBA8888 if alpha else QImage.Format.Format_RGB888
    converted = image.convertToFormat(kind)
    mode = "RGBA" if alpha else "RGB"
    size = (converted.width(), converted.height())
    # `frombytes` copies, so that nothing points into the QImage when it is gone.
    return Image.frombytes(mode, size, converted.constBits(), "raw", mode, converted.bytesPerLine(), 1)


def png_bytes(image: Image.Image, dpi: float | None = None, *, quick: bool = False) -> bytes:
    """The image as a PNG file, without any time or comment in it; `dpi` is written into it.

    `quick`: in half the time, for a picture of very many small things a tenth larger.
    """
    buffer = io.BytesIO()
    options: dict[str, object] = {} if dpi is None else {"dpi": (dpi, dpi)}
    if quick:
        options["compress_type"] = zlib.Z_RLE
    image.save(buffer, "PNG", **options)
    return buffer.getvalue()
