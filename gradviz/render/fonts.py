"""The fonts of the pictures: which ones, how wide a text is, and the QGuiApplication that they need."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Literal, NamedTuple

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QFont, QFontDatabase, QFontMetricsF, QGuiApplication

from gradviz.errors import ExportError
from gradviz.texts import ENGLISH, picture_language, pieces, tr

Family = Literal["sans", "mono"]

# The first one that is there is used; the order is by how well the digits read at 11 pixels.
_SANS = ("Liberation Sans", "Arial", "Helvetica Neue", "Segoe UI", "Noto Sans", "DejaVu Sans", "Ubuntu", "Cantarell")
_MONO = ("DejaVu Sans Mono", "Menlo", "Consolas", "Liberation Mono", "Noto Sans Mono", "Noto Mono", "Courier New")
# For texts in Chinese, after the family of the style. Without a choice of ours the system may take Japanese shapes.
_CHINESE = ("Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "PingFang SC", "Microsoft YaHei")
_ELLIPSIS = "…"

_application: QGuiApplication | None = None


class Style(NamedTuple):
    """A style of text: size in scene units (pixels at zoom 1)."""

    family: Family
    size: int
    bold: bool = False


NAME = Style("sans", 17, True)
OP_NAME = Style("sans", 17)
TAG = Style("sans", 12)
LABEL = Style("sans", 11)
SEGMENT = Style("sans", 11, True)
TOTAL = Style("sans", 13, True)
BODY = Style("sans", 13)
HEAD = Style("sans", 14, True)
NUMBER = Style("mono", 17)
NUMBER_BOLD = Style("mono", 17, True)
CELL = Style("mono", 12)
PILL = Style("mono", 13, True)


class Fonts:
    """The two families in use and the widths of texts in them. Needs a QGuiApplication.

    `more` are families for what those two have no letters for, in the language of the pictures.
    """

    def __init__(self, language: str = ENGLISH) -> None:
        known = set(QFontDatabase.families())
        if not known:
            raise ExportError(
                tr(
                    "There is no font on this machine, so no text can be drawn. Install one, for example with "
                    "`apt-get install fonts-dejavu-core`."
                )
            )
        system = QFontDatabase.systemFont
        self.sans = _first(_SANS, known) or system(QFontDatabase.SystemFont.GeneralFont).family()
        self.mono = _first(_MONO, known) or system(QFontDatabase.SystemFont.FixedFont).family()
        self.more = () if language == ENGLISH else _chinese(known)
        self._fonts: dict[Style, QFont] = {}
        self._metrics: dict[Style, QFontMetricsF] = {}
        self._widths: dict[tuple[Style, str], float] = {}
        self._digits: dict[Style, float | None] = {}

    @property
    def description(self) -> str:
        """The fonts that a picture is drawn with; they are part of its identity."""
        return ", ".join((self.sans, self.mono, *self.more))

    def families(self, style: Style) -> list[str]:
        """The families that a style is drawn in, each for the letters that those before it do not have."""
        return [self.mono if style.family == "mono" else self.sans, *self.more]

    def font(self, style: Style) -> QFont:
        """The Qt font of a style, without hinting, so that a text has the same width at every zoom."""
        font = self._fonts.get(style)
        if font is None:
            font = QFont(self.families(style))
            font.setPixelSize(style.size)
            font.setBold(style.bold)
            font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
            font.setStyleHint(QFont.StyleHint.Monospace if style.family == "mono" else QFont.StyleHint.SansSerif)
            self._fonts[style] = font
        return font

    def metrics(self, style: Style) -> QFontMetricsF:
        """Metrics of a style in scene units."""
        metrics = self._metrics.get(style)
        if metrics is None:
            metrics = self._metrics[style] = QFontMetricsF(self.font(style))
        return metrics

    def width(self, text: str, style: Style) -> float:
        """How far `text` reaches to the right, in scene units. Cheap for numbers in the fixed-width font."""
        if style.family == "mono" and text.isascii():
            advance = self._digit(style)
            if advance is not None:
                return len(text) * advance
        width = self._widths.get((style, text))
        if width is None:
            width = self._widths[style, text] = self.metrics(style).horizontalAdvance(text)
        return width

    def elide(self, text: str, style: Style, room: float) -> str:
        """`text`, or its beginning and end around an ellipsis where it is wider than `room`.

        A path or a qualified name is told by its end as much as by its beginning, so the middle goes.
        """
        if self.width(text, style) <= room:
            return text
        low, high = 0, len(text)
        while low < high:  # the most characters that fit
            keep = (low + high + 1) // 2
            if self.metrics(style).horizontalAdvance(_middle_cut(text, keep)) <= room:
                low = keep
            else:
                high = keep - 1
        return _middle_cut(text, low)

    def wrap(self, text: str, style: Style, room: float, lines: int) -> list[str]:
        """`text` broken between words into at most `lines` lines of width `room`; the last one is elided."""
        found: list[str] = []
        line = ""
        words = pieces(" ".join(text.split()))
        for place, word in enumerate(words):
            longer = line + word
            if not line or self.width(longer.rstrip(), style) <= room:
                line = longer
                continue
            if len(found) == lines - 1:
                line = "".join([line, *words[place:]])
                break
            found.append(self.elide(line.rstrip(), style, room))
            line = word
        return [*found, self.elide(line.rstrip(), style, room)] if line else found

    def _digit(self, style: Style) -> float | None:
        """The width of any character of a fixed-width font; None when the font is none."""
        if style not in self._digits:
            widths = {round(self.metrics(style).horizontalAdvance(c * 8), 3) for c in "0iW- .e"}
            self._digits[style] = widths.pop() / 8 if len(widths) == 1 else None
        return self._digits[style]


def ensure_gui() -> QGuiApplication:
    """Return the running QGuiApplication, or make one that needs no screen.

    Raises:
        ExportError: a QCoreApplication without graphics is running, or there is no font at all.
    """
    global _application
    running = QCoreApplication.instance()
    if running is not None and not isinstance(running, QGuiApplication):
        raise ExportError(tr("A Qt application without graphics runs in this process: start gradviz in its own."))
    if running is None:
        # Elsewhere the offscreen plug-in does not see the system's fonts, and the usual one needs no screen.
        arguments = ["gradviz", "-platform", "offscreen"] if sys.platform.startswith("linux") else ["gradviz"]
        _application = running = QGuiApplication(arguments)
    fonts()
    return running


def fonts() -> Fonts:
    """The fonts for the language of pictures. Raises ExportError when there is no font at all, or none for Chinese."""
    return _fonts(picture_language())


@lru_cache(maxsize=2)
def _fonts(language: str) -> Fonts:
    return Fonts(language)


def _chinese(known: set[str]) -> tuple[str]:
    """The family for Simplified Chinese.

    Raises:
        ExportError: there is none.
    """
    able = QFontDatabase.families(QFontDatabase.WritingSystem.SimplifiedChinese)
    found = _first(_CHINESE, known) or next(iter(able), None)
    if found is None:
        raise ExportError(
            tr(
                "There is no font with Chinese letters on this machine. Install one, for example with "
                "`apt-get install fonts-noto-cjk`, or choose English."
            )
        )
    return (found,)


def _first(wanted: tuple[str, ...], known: set[str]) -> str | None:
    return next((name for name in wanted if name in known), None)


def _middle_cut(text: str, keep: int) -> str:
    if keep >= len(text):
        return text
    head = (keep + 1) // 2
    return text[:head] + _ELLIPSIS + text[len(text) - (keep - head) :]
