"""GIF, APNG and WebP: the playback as moving pictures, written by Pillow.

A GIF has one palette for all its frames, and of each frame it holds only what changed.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from gradviz.export.files import write
from gradviz.export.film import Film, film_of
from gradviz.export.job import Job, Made, Tick
from gradviz.export.raster import to_pillow
from gradviz.render import Theme
from gradviz.render.theme import rgb

GIF_FPS = 12.5
SMOOTH_FPS = 20.0
USUAL_WIDTH = 800
_COLORS = 255  # one entry stays free for "as before"
_SAMPLES = 12

Colors = npt.NDArray[np.uint8]


def export_gif(job: Job, path: Path) -> Made:
    """Write the playback as a GIF that plays for ever."""
    frames, shown, note = _frames(job, GIF_FPS, alpha=False)
    indexed = indexed_frames(frames, palette_of(frames, _flat_colors(job.picture.theme)))
    write(path, _saved(indexed, "GIF", duration=shown, loop=0, disposal=1, optimize=False), job.options.force)
    return Made(len(frames), note)


def export_apng(job: Job, path: Path) -> Made:
    """Write the playback as an animated PNG that plays for ever."""
    frames, shown, note = _frames(job, SMOOTH_FPS, alpha=job.options.transparent)
    write(path, _saved(frames, "PNG", duration=shown, loop=0, default_image=False), job.options.force)
    return Made(len(frames), note)


def export_webp(job: Job, path: Path) -> Made:
    """Write the playback as an animated WebP, without loss, that plays for ever."""
    frames, shown, note = _frames(job, SMOOTH_FPS, alpha=job.options.transparent)
    write(path, _saved(frames, "WEBP", duration=shown, loop=0, lossless=True, method=4), job.options.force)
    return Made(len(frames), note)


def painted(job: Job, film: Film, moments: Sequence[Tick], alpha: bool) -> Iterator[Image.Image]:
    """The frames one after the other, with progress told."""
    for index, tick in enumerate(moments):
        job.advance(index, len(moments))
        yield to_pillow(film.image(tick), alpha)
    job.advance(len(moments), len(moments))


def _frames(job: Job, usual_fps: float, alpha: bool) -> tuple[list[Image.Image], list[int], str | None]:
    """Frames and their milliseconds; a frame that looks like the one before only prolongs it."""
    film = film_of(job, 1.0, USUAL_WIDTH)
    moments = film.ticks(job.options.fps or usual_fps)
    frames: list[Image.Image] = []
    shown: list[int] = []
    last = b""
    for tick, image in zip(moments, painted(job, film, moments, alpha), strict=True):
        pixels = image.tobytes()
        if frames and pixels == last:
            shown[-1] += tick.milliseconds
            continue
        frames.append(image)
        shown.append(tick.milliseconds)
        last = pixels
    return frames, shown, film.note


def palette_of(frames: Sequence[Image.Image], flat: Sequence[tuple[int, int, int]]) -> Colors:
    """One palette `(n, 3) uint8` for all frames, from some of them laid under each other.

    The colours of large areas (`flat`) are in it exactly; quantisation alone would shift the paper by a shade.
    """
    step = max(1, len(frames) // _SAMPLES)
    some = [*frames[::step], frames[-1]]
    width, height = frames[0].size
    sheet = Image.new("RGB", (width, height * len(some)))
    for place, image in enumerate(some):
        sheet.paste(image, (0, height * place))
    mixed = sheet.quantize(_COLORS - len(flat), method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    found = np.array(mixed.getpalette() or [], dtype=np.uint8).reshape(-1, 3)[: _COLORS - len(flat)]
    return np.concatenate([np.array(flat, dtype=np.uint8), found])


def indexed_frames(frames: Sequence[Image.Image], palette: Colors) -> list[Image.Image]:
    """The frames in the colours of the palette, each pixel in the nearest one.

    Pillow's own way to a given palette looks at the upper six bits of a colour only.
    """
    nearest: dict[int, int] = {}
    table = palette.astype(np.int32)
    found = []
    for image in frames:
        pixels = np.asarray(image, dtype=np.int32).reshape(-1, 3)
        packed, inverse = np.unique((pixels[:, 0] << 16) | (pixels[:, 1] << 8) | pixels[:, 2], return_inverse=True)
        for color in packed.tolist():
            if color not in nearest:
                difference = table - np.array((color >> 16, color >> 8 & 255, color & 255))
                nearest[color] = int((difference * difference).sum(axis=1).argmin())
        indices = np.array([nearest[color] for color in packed.tolist()], dtype=np.uint8)[inverse]
        made = Image.frombytes("P", image.size, indices.tobytes())
        made.putpalette(palette.tobytes())
        found.append(made)
    return found


def _flat_colors(colors: Theme) -> list[tuple[int, int, int]]:
    """The grounds and lines of a theme."""
    names = ("paper", "card", "ink", "accent", "accent_fill", "leaf_fill", "root_fill", "group_fill", "retained_fill")
    return [rgb(getattr(colors, name)) for name in names]


def _saved(frames: Sequence[Image.Image], kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    frames[0].save(buffer, kind, save_all=True, append_images=list(frames[1:]), **options)
    return buffer.getvalue()
