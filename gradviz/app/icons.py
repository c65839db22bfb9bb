"""The icons: strokes in `resources/icons`, in the colours of the look, as pixels of every size that is asked for."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from gradviz.app.look import Look
from gradviz.render.theme import mix
from gradviz.resources import resource

_SIZES = (16, 20, 22, 24)  # menus, rows and buttons; between two sizes Qt takes the larger one and scales it down


def icon(name: str, look: Look, colour: str | None = None) -> QIcon:
    """The icon `name` (a file of `resources/icons`) in the ink of the look, or in `colour`."""
    normal = colour or look.ink.name()
    disabled = mix(look.muted.name(), look.panel.name(), 0.6)
    finest = QGuiApplication.devicePixelRatio(cast("QGuiApplication", QGuiApplication.instance()))
    return _painted(name, (normal, disabled, colour or look.accent.name()), finest)


def application_icon() -> QIcon:
    """The icon of the program itself."""
    return QIcon(str(resource("icons", "gradviz.svg")))


def forget_icons() -> None:
    """Let go of all that has been painted: pixels may not outlive the application."""
    _painted.cache_clear()


# An icon engine of our own, in Python, would paint at any size; but C++ looks up such an object without the lock of the
# interpreter when it deletes it, and the interpreter died of that while a thread painted. Pixels belong to Qt alone.
@lru_cache(maxsize=256)
def _painted(name: str, colours: tuple[str, str, str], ratio: float) -> QIcon:
    """An icon for screens of up to `ratio` pixels to a point."""
    made = QIcon()
    normal, disabled, on = colours
    modes, states = QIcon.Mode, QIcon.State
    kinds = [(normal, modes.Normal, states.Off), (disabled, modes.Disabled, states.Off)]
    if on != normal:
        kinds.append((on, modes.Normal, states.On))
    for colour, mode, state in kinds:
        renderer = _renderer(name, colour)
        for size in _SIZES:
            made.addPixmap(_pixels(renderer, round(size * ratio)), mode, state)
    return made


def _renderer(name: str, colour: str) -> QSvgRenderer:
    text = resource("icons", f"{name}.svg").read_text("utf-8").replace("currentColor", colour)
    return QSvgRenderer(QByteArray(text.encode()))


def _pixels(renderer: QSvgRenderer, size: int) -> QPixmap:
    pixmap = QPixmap(size, size)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter)
    painter.end()
    return pixmap
