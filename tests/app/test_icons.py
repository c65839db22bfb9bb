"""Icons: the colours of the look for each state, as many pixels as are asked for, one painting for each kind."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QIcon, QImage
from pytestqt.qtbot import QtBot

from gradviz.app.icons import forget_icons, icon
from gradviz.app.look import Look, make_look


@pytest.fixture
def look(qtbot: QtBot) -> Look:
    forget_icons()
    return make_look("light")


def strokes(image: QImage) -> set[str]:
    """The colours of the pixels that are wholly covered."""
    pixels = [image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height())]
    return {pixel.name() for pixel in pixels if pixel.alpha() == 255}


def near(colours: set[str], wanted: str) -> bool:
    """Whether one of the colours is the wanted one, but for the rounding of premultiplied pixels."""
    ours = QColor(wanted).getRgb()
    return any(max(abs(a - b) for a, b in zip(QColor(colour).getRgb(), ours, strict=True)) <= 2 for colour in colours)


@pytest.mark.parametrize("size", [16, 20, 22, 24])
def test_each_size_has_its_own_pixels(look: Look, size: int) -> None:
    made = icon("play", look)
    assert made.pixmap(QSize(size, size)).size() == QSize(size, size)
    assert QSize(size, size) in made.availableSizes()


def test_the_colour_tells_the_state(look: Look) -> None:
    made = icon("loop", look)
    size = QSize(24, 24)
    normal = strokes(made.pixmap(size).toImage())
    on = strokes(made.pixmap(size, QIcon.Mode.Normal, QIcon.State.On).toImage())
    disabled = strokes(made.pixmap(size, QIcon.Mode.Disabled).toImage())
    assert near(normal, look.ink.name())
    assert near(on, look.accent.name())
    assert disabled and not near(disabled, look.ink.name())


def test_a_colour_of_its_own(look: Look) -> None:
    assert near(strokes(icon("play", look, "#ffffff").pixmap(24, 24).toImage()), "#ffffff")


def test_the_same_icon_is_painted_once(look: Look) -> None:
    assert icon("play", look).cacheKey() == icon("play", look).cacheKey()
    assert icon("play", look).cacheKey() != icon("pause", look).cacheKey()
