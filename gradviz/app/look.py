"""How the window looks: colours and fonts derived from one theme of the pictures, and the style sheet made of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontInfo, QPalette

from gradviz.model.view import Theme as ThemeName
from gradviz.render.fonts import BODY, CELL, fonts
from gradviz.render.theme import Theme, call_shade, contrast, ink_on, mix, theme
from gradviz.resources import resource

_READABLE = 4.5  # WCAG 2.2, contrast of text


@dataclass(frozen=True)
class Look:
    """Named colours and fonts of the window. `colors` is the table that they come from."""

    name: ThemeName
    colors: Theme
    paper: QColor
    panel: QColor
    line: QColor
    ink: QColor
    muted: QColor
    faint: QColor
    accent: QColor
    accent_ink: QColor
    accent_soft: QColor
    leaf: QColor
    leaf_soft: QColor
    hover: QColor
    focus: QColor
    error: QColor
    warning: QColor
    code: dict[str, QColor]
    text_font: QFont
    small_font: QFont
    title_font: QFont
    badge_font: QFont
    code_font: QFont

    @property
    def dark(self) -> bool:
        """Whether text is light on dark."""
        return self.panel.lightness() < 128

    def call_colour(self, place: int) -> QColor:
        """The colour of the call at this place (from 0) of the story."""
        return QColor(call_shade(self.colors, place))

    def on(self, ground: QColor) -> QColor:
        """A colour for text on `ground`."""
        return QColor(ink_on(ground.name(), "#ffffff"))

    def palette(self) -> QPalette:
        """The palette, for all that the style sheet does not name."""
        palette = QPalette()
        role = QPalette.ColorRole
        for which, colour in (
            (role.Window, self.panel),
            (role.WindowText, self.ink),
            (role.Base, self.panel),
            (role.AlternateBase, self.paper),
            (role.Text, self.ink),
            (role.Button, self.paper),
            (role.ButtonText, self.ink),
            (role.BrightText, self.error),
            (role.ToolTipBase, self.panel),
            (role.ToolTipText, self.ink),
            (role.PlaceholderText, self.muted),
            (role.Highlight, self.leaf_soft),
            (role.HighlightedText, self.ink),
            (role.Link, self.leaf),
            (role.LinkVisited, self.leaf),
            (role.Mid, self.line),
            (role.Midlight, self.line),
            (role.Dark, self.line),
            (role.Shadow, self.line),
        ):
            palette.setColor(which, colour)
        for which in (role.WindowText, role.Text, role.ButtonText):
            palette.setColor(
                QPalette.ColorGroup.Disabled, which, QColor(mix(self.muted.name(), self.panel.name(), 0.4))
            )
        return palette

    def style_sheet(self) -> str:
        """The style sheet of the window: `resources/themes/window.qss` with this look's colours and sizes put in."""
        text = resource("themes", "window.qss").read_text("utf-8")
        values = {
            f.name: getattr(self, f.name).name() for f in fields(self) if isinstance(getattr(self, f.name), QColor)
        }
        values |= {
            "icons": resource("icons").as_posix(),
            "primary": self.accent_ink.name(),
            "on_primary": self.on(self.accent_ink).name(),
            "tick": "light" if self.on(self.accent_ink).lightness() > 128 else "dark",
            "disabled": mix(self.muted.name(), self.panel.name(), 0.4),
            "text_size": f"{self.text_font.pixelSize()}px",
            "small_size": f"{self.small_font.pixelSize()}px",
            "title_size": f"{self.title_font.pixelSize()}px",
            "code_family": '", "'.join(self.code_font.families()),
            "code_size": f"{self.code_font.pixelSize()}px",
        }
        return re.sub(r"@(\w+)", lambda found: values[found[1]], text)


def make_look(name: ThemeName, font_percent: int = 100) -> Look:
    """The look of the theme `name`, its fonts `font_percent` of the system's size. Needs a QGuiApplication."""
    colors = theme(name)
    card = colors.card
    base = max(12, round(QFontInfo(QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)).pixelSize()))
    size = min(base, 16) * font_percent / 100
    plain, code = fonts().families(BODY), fonts().families(CELL)

    def text_colour(color: str) -> QColor:
        return QColor(_readable(color, colors.ink, card))

    return Look(
        name=name,
        colors=colors,
        paper=QColor(colors.paper),
        panel=QColor(card),
        line=QColor(colors.hairline),
        ink=QColor(colors.ink),
        muted=QColor(colors.soft_ink),
        faint=QColor(_readable(mix(colors.soft_ink, card, 0.35), colors.soft_ink, card)),
        accent=QColor(colors.accent),
        accent_ink=text_colour(colors.accent_ink),
        accent_soft=QColor(colors.accent_fill),
        leaf=text_colour(colors.leaf_line),
        leaf_soft=QColor(colors.leaf_fill),
        hover=QColor(mix(card, colors.ink, 0.04)),
        focus=QColor(colors.leaf_line),
        error=text_colour(colors.error_ink),
        warning=text_colour(colors.retained_ink),
        code={
            "keyword": text_colour(colors.leaf_line),
            "string": text_colour(colors.root_line),
            "comment": QColor(colors.soft_ink),
            "number": text_colour(colors.accent_ink),
            "function": text_colour(colors.custom_line),
            "decorator": text_colour(colors.custom_line),
            "builtin": text_colour(mix(colors.leaf_line, colors.ink, 0.3)),
        },
        text_font=_font(plain, size),
        small_font=_font(plain, size - 1.5),
        title_font=_font(plain, size + 5, bold=True),
        badge_font=_font(plain, size - 1.5, bold=True),
        code_font=_font(code, size - 0.5, QFont.StyleHint.Monospace),
    )


def _font(
    families: list[str], size: float, hint: QFont.StyleHint = QFont.StyleHint.SansSerif, bold: bool = False
) -> QFont:
    font = QFont(families)
    font.setPixelSize(max(9, round(size)))
    font.setStyleHint(hint)
    font.setBold(bold)
    return font


def _readable(color: str, ink: str, ground: str) -> str:
    """`color`, moved towards `ink` until it can be read on `ground`."""
    for share in range(11):
        mixed = mix(color, ink, share / 10)
        if contrast(mixed, ground) >= _READABLE:
            return mixed
    return ink
