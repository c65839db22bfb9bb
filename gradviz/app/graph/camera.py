"""Where a point of the scene is on the widget, and back; what "fit" means. Pure functions over `Camera`."""

from __future__ import annotations

from collections.abc import Iterable

from gradviz.model import Camera
from gradviz.render.shapes import Bounds, united

SMALLEST_ZOOM = 0.004
LARGEST_ZOOM = 8.0
LARGEST_FIT = 1.25  # a graph of four nodes is not blown up to fill the window
FIT_MARGIN = 16.0


def to_widget(camera: Camera, size: tuple[float, float], x: float, y: float) -> tuple[float, float]:
    """A point of the scene (units, y down) in pixels of a widget of `size`."""
    return size[0] / 2 + (x - camera.x) * camera.zoom, size[1] / 2 + (y - camera.y) * camera.zoom


def to_scene(camera: Camera, size: tuple[float, float], x: float, y: float) -> tuple[float, float]:
    """A pixel of the widget as a point of the scene."""
    return camera.x + (x - size[0] / 2) / camera.zoom, camera.y + (y - size[1] / 2) / camera.zoom


def seen(camera: Camera, size: tuple[float, float]) -> Bounds:
    """The part of the scene that a widget of `size` shows."""
    half_width, half_height = size[0] / 2 / camera.zoom, size[1] / 2 / camera.zoom
    return camera.x - half_width, camera.y - half_height, camera.x + half_width, camera.y + half_height


def fit(bounds: Bounds, size: tuple[float, float], largest: float = LARGEST_FIT) -> Camera:
    """The camera that shows `bounds` in a widget of `size`."""
    left, top, right, bottom = bounds
    width, height = max(right - left, 1.0), max(bottom - top, 1.0)
    room = max(size[0] - 2 * FIT_MARGIN, 1.0), max(size[1] - 2 * FIT_MARGIN, 1.0)
    zoom = min(room[0] / width, room[1] / height, largest)
    return Camera((left + right) / 2, (top + bottom) / 2, limited(zoom))


def zoomed(camera: Camera, size: tuple[float, float], factor: float, x: float, y: float) -> Camera:
    """Zoom so that the point of the scene under the pixel (x, y) stays there."""
    zoom = limited(camera.zoom * factor)
    at_x, at_y = to_scene(camera, size, x, y)
    return Camera(at_x - (x - size[0] / 2) / zoom, at_y - (y - size[1] / 2) / zoom, zoom)


def panned(camera: Camera, dx: float, dy: float) -> Camera:
    """Move the picture by (dx, dy) pixels."""
    return Camera(camera.x - dx / camera.zoom, camera.y - dy / camera.zoom, camera.zoom)


def between(a: Camera, b: Camera, share: float) -> Camera:
    """A camera on the way from `a` to `b`; the zoom changes by equal factors in equal times."""
    zoom = a.zoom * (b.zoom / a.zoom) ** share
    return Camera(a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share, zoom)


def around(cards: Iterable[Bounds], margin: float = 60.0) -> Bounds:
    """What holds these cards with some room around them."""
    left, top, right, bottom = united(cards)
    return left - margin, top - margin, right + margin, bottom + margin


def limited(zoom: float) -> float:
    """A zoom that can still be worked with."""
    return min(max(zoom, SMALLEST_ZOOM), LARGEST_ZOOM)
