"""Themes: one table of named colours each. Hues are those of Okabe and Ito (colour-blind safe).

M. Okabe, K. Ito, "Color Universal Design", 2008: blue #0072b2, vermilion #d55e00, bluish green #009e73,
orange #e69f00, reddish purple #cc79a7, sky blue #56b4e9. Where text needs more contrast the hue is kept, darker.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from gradviz.errors import UsageError
from gradviz.texts import tr


@dataclass(frozen=True, slots=True)
class Theme:
    """Named colours. `..._ink` are for text, `..._line` for borders, `..._fill` for grounds."""

    name: str
    paper: str
    card: str
    hairline: str
    ink: str
    soft_ink: str
    accent: str
    accent_ink: str
    accent_fill: str
    operation_line: str
    operation_fill: str
    leaf_line: str
    leaf_fill: str
    root_line: str
    root_fill: str
    custom_line: str
    custom_fill: str
    opaque_line: str
    opaque_fill: str
    group_line: str
    group_fill: str
    constant_line: str
    constant_fill: str
    retained_line: str
    retained_fill: str
    retained_ink: str
    error_line: str
    error_fill: str
    error_ink: str
    edge: str
    edge_zero: str
    pill: str
    scale_low: str
    scale_high: str
    negative: str
    positive: str
    neutral: str
    zero: str
    nonfinite: str
    unknown_part: str
    calls: tuple[str, ...]


_LIGHT = Theme(
    name="light",
    paper="#fbfaf7",
    card="#ffffff",
    hairline="#e3e1db",
    ink="#1f2430",
    soft_ink="#5b6270",
    accent="#d55e00",
    accent_ink="#a63f00",
    accent_fill="#fcebe0",
    operation_line="#a3a9b3",
    operation_fill="#ffffff",
    leaf_line="#0072b2",
    leaf_fill="#e6f1f8",
    root_line="#00805d",
    root_fill="#e3f3ee",
    custom_line="#a04f7d",
    custom_fill="#f7eaf2",
    opaque_line="#6b7280",
    opaque_fill="#ececea",
    group_line="#7d8592",
    group_fill="#f4f3ef",
    constant_line="#b9bdc4",
    constant_fill="#f7f5f0",
    retained_line="#b87a00",
    retained_fill="#fdf1d7",
    retained_ink="#7d5200",
    error_line="#8c1d50",
    error_fill="#fae6ef",
    error_ink="#8c1d50",
    edge="#b4b9c1",
    edge_zero="#d5d2ca",
    pill="#ffffff",
    scale_low="#fce3d2",
    scale_high="#b84600",
    negative="#0072b2",
    positive="#d55e00",
    neutral="#f6f4ef",
    zero="#eeece6",
    nonfinite="#cc79a7",
    unknown_part="#9aa0a6",
    calls=("#7fb3d5", "#d55e00", "#4fa58b", "#b07aa1", "#d9a521", "#3d6a99"),
)
_DARK = Theme(
    name="dark",
    paper="#15181e",
    card="#1f242d",
    hairline="#363d49",
    ink="#eceef2",
    soft_ink="#a8b0bd",
    accent="#ff8a3d",
    accent_ink="#ffa566",
    accent_fill="#3a2719",
    operation_line="#59626f",
    operation_fill="#1f242d",
    leaf_line="#56b4e9",
    leaf_fill="#16303f",
    root_line="#2fc295",
    root_fill="#15352c",
    custom_line="#d893b8",
    custom_fill="#3a2432",
    opaque_line="#8d95a1",
    opaque_fill="#2a2f38",
    group_line="#7f8997",
    group_fill="#262c36",
    constant_line="#4d5562",
    constant_fill="#1a1e25",
    retained_line="#e69f00",
    retained_fill="#382b10",
    retained_ink="#f5be4b",
    error_line="#ff8fb8",
    error_fill="#451a2d",
    error_ink="#ffb3d0",
    edge="#5a6370",
    edge_zero="#3b424d",
    pill="#1f242d",
    scale_low="#4a2f1c",
    scale_high="#ff9e57",
    negative="#56b4e9",
    positive="#ff8a3d",
    neutral="#2b313b",
    zero="#2b313b",
    nonfinite="#d893b8",
    unknown_part="#7d8694",
    calls=("#7fb3d5", "#f0822f", "#4fb896", "#c08fb2", "#e0b33a", "#5f8fc4"),
)
# Paper white, and every kind of node also tells itself apart without colour (tag, border, badge).
_PRINT = replace(
    _LIGHT,
    name="print",
    paper="#ffffff",
    hairline="#cfcfcf",
    ink="#000000",
    soft_ink="#454545",
    accent="#b84a00",
    accent_ink="#933900",
    operation_line="#5f5f5f",
    constant_line="#8f8f8f",
    constant_fill="#ffffff",
    edge="#8a8a8a",
    edge_zero="#c4c4c4",
)
_CONTRAST = replace(
    _LIGHT,
    name="contrast",
    paper="#ffffff",
    hairline="#707070",
    ink="#000000",
    soft_ink="#262626",
    accent="#a63f00",
    accent_ink="#7a2d00",
    accent_fill="#ffffff",
    operation_line="#000000",
    leaf_line="#00497a",
    leaf_fill="#ffffff",
    root_line="#00573f",
    root_fill="#ffffff",
    custom_line="#6f2a52",
    custom_fill="#ffffff",
    opaque_line="#000000",
    opaque_fill="#ffffff",
    group_line="#000000",
    group_fill="#ffffff",
    constant_line="#505050",
    constant_fill="#ffffff",
    retained_line="#7d5200",
    retained_fill="#ffffff",
    retained_ink="#5e3d00",
    error_line="#7a0038",
    error_fill="#ffffff",
    error_ink="#7a0038",
    edge="#404040",
    edge_zero="#909090",
)
THEMES = {theme.name: theme for theme in (_LIGHT, _DARK, _PRINT, _CONTRAST)}


def theme(name: str) -> Theme:
    """The theme with this name.

    Raises:
        UsageError: there is no such theme.
    """
    if name not in THEMES:
        raise UsageError(tr("There is no theme {name!r}: choose one of {all}.", name=name, all=", ".join(THEMES)))
    return THEMES[name]


def rgb(color: str) -> tuple[int, int, int]:
    """`#rrggbb` as three numbers in 0..255."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


@lru_cache(maxsize=8192)
def mix(low: str, high: str, share: float) -> str:
    """The colour at `share` in [0, 1] of the way from `low` to `high` (in sRGB)."""
    pairs = zip(rgb(low), rgb(high), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, 1 to 21 (WCAG 2.2, "contrast ratio")."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@lru_cache(maxsize=4096)
def ink_on(ground: str, *wanted: str) -> str:
    """The first of `wanted` that reads well (4.5:1) on `ground`, else white or black, whichever is better."""
    for ink in wanted:
        if contrast(ink, ground) >= 4.5:
            return ink
    return max("#ffffff", "#000000", key=lambda ink: contrast(ink, ground))


def call_shade(colors: Theme, place: int) -> str:
    """The shade of the call at this place (from 0) of a timeline."""
    return colors.calls[place % len(colors.calls)]


def _luminance(color: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in rgb(color))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
