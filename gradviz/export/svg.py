"""SVG: a display list written as text, with ids and classes for styling and `<title>`s for reading.

Text stays text: it can be selected and searched. Fonts are named with general ones to fall back on; where another
font is used, `textLength` keeps each run as wide as it was measured.
"""

from __future__ import annotations

import base64
from functools import lru_cache
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from PIL import Image

from gradviz.export.files import write
from gradviz.export.job import Job, Made
from gradviz.export.raster import png_bytes
from gradviz.render import DisplayList, Fonts, Item, fonts
from gradviz.render.fonts import Style
from gradviz.render.shapes import Circle, Curve, Pen, Point, Polygon, Raster, Rect, Shape, Text
from gradviz.texts import tr_picture as tr

_FALLBACKS = {"sans": "sans-serif", "mono": "monospace"}
_LONG = 12  # shorter runs cannot go far wrong in another font


def export_svg(job: Job, path: Path) -> Made:
    """Write the chosen moment of the picture as an SVG file."""
    options, picture = job.options, job.picture
    t = picture.moment(options)
    display = picture.at(t)
    scale, note = picture.scale(options, 1.0)
    frame = picture.frame(t)
    job.advance(0, 1)
    text = svg_text(display, scale, frame.title, frame.sentence)
    write(path, text.encode("utf-8"), options.force)
    job.advance(1, 1)
    return Made(1, note)


def svg_text(display: DisplayList, scale: float, title: str, description: str) -> str:
    """A whole SVG document."""
    left, top, _, _ = display.bounds
    box = f"{number(left)} {number(top)} {number(display.width)} {number(display.height)}"
    width, height = number(display.width * scale), number(display.height * scale)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="{box}">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(description)}</desc>",
        f"<style>{style_sheet(display)}</style>",
    ]
    if display.background is not None:
        lines.append(_rect(Rect(left, top, display.width, display.height, 0.0, display.background)))
    lines.extend(item_text(item) for item in display.items)
    lines.append(tr("<!-- drawn by gradviz with {fonts} -->", fonts=fonts().description.replace("--", "-")))
    return "\n".join((*lines, "</svg>", ""))


def item_text(item: Item) -> str:
    """An item as a group with id, classes and title."""
    title = f"<title>{escape(item.title)}</title>" if item.title else ""
    shapes = "".join(map(shape_text, item.shapes))
    return f"<g id={quoteattr(item.id)} class={quoteattr(item.kind)}>{title}{shapes}</g>"


def style_sheet(display: DisplayList) -> str:
    """The styles of the texts in use, as classes."""
    used = sorted({text.style for text in display.texts()}, key=style_class)
    return style_rules(used)


def style_rules(styles: list[Style]) -> str:
    """CSS for these styles, and what all texts and hairlines have in common."""
    known: Fonts = fonts()
    rules = ["text{white-space:pre}image{image-rendering:pixelated}path,polyline{fill:none}"]
    for style in styles:
        names = ",".join(f"'{name}'" for name in known.families(style))
        family = f"{names},{_FALLBACKS[style.family]}"
        weight = "700" if style.bold else "400"
        rules.append(f".{style_class(style)}{{font:{weight} {style.size}px {family}}}")
    return "".join(rules)


def style_class(style: Style) -> str:
    """The class of a style: `m17b` is mono, 17 pixels, bold."""
    return f"{style.family[0]}{style.size}{'b' if style.bold else ''}"


def shape_text(shape: Shape) -> str:
    """A shape as an SVG element."""
    if isinstance(shape, Text):
        return _text(shape)
    if isinstance(shape, Rect):
        return _rect(shape)
    if isinstance(shape, Curve):
        return f'<path d="{_path(shape.points)}"{_stroke(shape.pen)}/>'
    if isinstance(shape, Polygon):
        points = " ".join(f"{number(x)},{number(y)}" for x, y in shape.points)
        if shape.fill is None:
            return f'<polyline points="{points}"{_stroke(shape.pen)}/>'
        return f'<polygon points="{points}"{_fill(shape.fill, shape.opacity)}{_stroke(shape.pen)}/>'
    if isinstance(shape, Circle):
        place = f'cx="{number(shape.x)}" cy="{number(shape.y)}" r="{number(shape.radius)}"'
        return f"<circle {place}{_fill(shape.fill, shape.opacity)}{_stroke(shape.pen)}/>"
    return _image(shape)


def number(value: float) -> str:
    """A length with at most two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _text(text: Text) -> str:
    anchor = "" if text.anchor == "start" else f' text-anchor="{text.anchor}"'
    length = f' textLength="{number(text.width)}"' if len(text.text) >= _LONG else ""
    place = f'x="{number(text.x)}" y="{number(text.y)}"'
    head = f'<text class="{style_class(text.style)}" {place} fill="{text.color}"{anchor}{length}>'
    return f"{head}{escape(text.text)}</text>"


def _rect(rect: Rect) -> str:
    radius = f' rx="{number(rect.radius)}"' if rect.radius else ""
    place = f'x="{number(rect.x)}" y="{number(rect.y)}" width="{number(rect.width)}" height="{number(rect.height)}"'
    return f"<rect {place}{radius}{_fill(rect.fill, rect.opacity)}{_stroke(rect.pen)}/>"


def _fill(fill: str | None, opacity: float) -> str:
    if fill is None:
        return ' fill="none"'
    return f' fill="{fill}"' + ("" if opacity == 1.0 else f' fill-opacity="{number(opacity)}"')


def _stroke(pen: Pen | None) -> str:
    if pen is None:
        return ""
    parts = [f' stroke="{pen.color}"']
    if pen.width != 1.0:
        parts.append(f' stroke-width="{number(pen.width)}"')
    if pen.dash:
        parts.append(f' stroke-dasharray="{" ".join(map(number, pen.dash))}"')
        if pen.dash[0] < 2:
            parts.append(' stroke-linecap="round"')
    if pen.opacity != 1.0:
        parts.append(f' stroke-opacity="{number(pen.opacity)}"')
    return "".join(parts)


def _path(points: tuple[Point, ...]) -> str:
    words = [f"M{number(points[0][0])},{number(points[0][1])}"]
    for start in range(1, len(points) - 2, 3):
        three = points[start : start + 3]
        words.append("C" + " ".join(f"{number(x)},{number(y)}" for x, y in three))
    return "".join(words)


@lru_cache(maxsize=4096)
def _image(raster: Raster) -> str:
    pixels = Image.frombytes("RGB", (raster.columns, raster.rows), raster.rgb)
    data = base64.b64encode(png_bytes(pixels)).decode("ascii")
    place = f'x="{number(raster.x)}" y="{number(raster.y)}"'
    size = f'width="{number(raster.width)}" height="{number(raster.height)}"'
    return f'<image {place} {size} preserveAspectRatio="none" href="data:image/png;base64,{data}"/>'
