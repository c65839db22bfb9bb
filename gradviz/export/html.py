"""HTML: one file that plays by itself: the first SVG, and for each further picture the items that differ.

The page's script puts ready-made markup into groups by their ids; it knows nothing about drawing. Every id that ever
occurs has its place in the SVG from the start, in painter's order, so nothing is ever inserted.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from gradviz.export.files import write
from gradviz.export.job import Job, Made
from gradviz.export.page import PAGE
from gradviz.export.svg import item_text, number, shape_text, style_class, style_rules
from gradviz.playback.beats import LEAVES
from gradviz.render import DisplayList, Item
from gradviz.render.fonts import Style
from gradviz.render.shapes import Text
from gradviz.texts import picture_language
from gradviz.texts import tr_picture as tr

_HEAT_MAP = re.compile('href="(data:image/png;base64,[^"]*)"')
_SMOOTH_BEATS = 60  # longer stories show each step once: the file must stay small
_BETWEEN = (0.0, LEAVES + 0.08, 0.35, 0.5, 0.62, 0.74, 0.9)


@dataclass(frozen=True)
class View:
    """A picture of the page: its moment, how long it is shown at speed 1, and whether it is a step of its own."""

    t: float
    milliseconds: int
    step: int | None


def export_html(job: Job, path: Path) -> Made:
    """Write the playback as a page that needs nothing but a browser."""
    picture = job.picture
    scale, note = picture.scale(job.options, 1.0)
    views = page_views(job)
    lists = []
    for index, view in enumerate(views):
        job.advance(index, len(views))
        lists.append(picture.at(view.t))
    text = page_text(lists, views, scale, job)
    write(path, text.encode("utf-8"), job.options.force)
    job.advance(len(views), len(views))
    return Made(len(views), note)


def page_views(job: Job) -> list[View]:
    """The pictures of the page: every step, of short stories also what is between the steps."""
    picture, timeline = job.picture, job.picture.timeline
    first, last = int(picture.first), int(picture.last)
    smooth = last - first <= _SMOOTH_BEATS
    views: list[View] = []
    for beat in range(first, last):
        length = (timeline.second_at(beat + 1) - timeline.second_at(beat)) * 1000 / job.options.speed
        shares = _BETWEEN if smooth else (0.5,)
        for place, share in enumerate(shares):
            until = shares[place + 1] if place + 1 < len(shares) else 1.0
            step = beat - first if share == 0.5 else None
            views.append(View(beat + share, max(16, round(length * (until - share if smooth else 1.0))), step))
    views.append(View(picture.last, round(job.options.hold * 1000), last - first))
    return views


def page_text(lists: Sequence[DisplayList], views: Sequence[View], scale: float, job: Job) -> str:
    """The whole page."""
    order = _order(lists)
    pools: list[dict[str, int]] = [{"": 0} for _ in order]
    steps = _differences(lists, order, pools)
    images = _images(pools)
    story = {
        "ids": order,
        # By item, so that what looks alike stands together: the packing finds it within 32 KB only.
        "pools": [list(pool) for pool in pools],
        "images": images,
        "views": [[view.milliseconds, -1 if view.step is None else view.step] for view in views],
        "steps": steps,
    }
    packed = gzip.compress(json.dumps(story, ensure_ascii=False, separators=(",", ":")).encode(), 9, mtime=0)
    timeline = job.picture.timeline
    title = timeline.state_at(views[0].t).title
    fills = {
        "language": picture_language().replace("_", "-"),
        "title": escape(title),
        "svg": _svg(lists[0], order, scale, title, _styles(lists)),
        "data": base64.b64encode(packed).decode("ascii"),
        "paper": job.picture.theme.paper,
        "ink": job.picture.theme.ink,
        "accent": job.picture.theme.accent,
        "line": job.picture.theme.hairline,
        "play": escape(tr("Play")),
        "pause": escape(tr("Pause")),
        "back": escape(tr("Step back")),
        "forward": escape(tr("Step forward")),
        "position": escape(tr("Step")),
        "old": escape(tr("This browser is too old to play the picture; it shows the first step.")),
    }
    page = PAGE
    for name, value in fills.items():
        page = page.replace(f"[[{name}]]", value)
    return page


def _new_items(lists: Sequence[DisplayList]) -> Iterator[Item]:
    """Each item once, though most are in thousands of lists: a new frame has the same objects where nothing changed."""
    seen: set[int] = set()
    for display in lists:
        for item in display.items:
            if id(item) not in seen:  # the lists keep the items alive, so ids stay unique
                seen.add(id(item))
                yield item


def _order(lists: Sequence[DisplayList]) -> list[str]:
    """All ids in an order that agrees with each list's own: layer by layer, as lists are built."""
    layers: dict[int, dict[str, None]] = {}
    for item in _new_items(lists):
        layers.setdefault(_layer(item), {})[item.id] = None
    return [name for layer in sorted(layers) for name in layers[layer]]


def _layer(item: Item) -> int:
    head = item.kind.split(" ", 1)[0]
    return {"outline": -1, "edge": 0, "node": 1, "group": 1, "seed": 2, "label": 3, "pulse": 4}.get(head, 5)


def _differences(
    lists: Sequence[DisplayList], order: Sequence[str], pools: Sequence[dict[str, int]]
) -> list[list[int]]:
    """For each picture a flat list id, markup, id, markup, ...: what differs from the one before (0: gone).

    Ids are places in `order`, markups places in the id's own pool.
    """
    place = {name: index for index, name in enumerate(order)}
    known: dict[str, Item] = {}
    shown = dict.fromkeys(order, 0)
    steps = []
    for display in lists:
        now = {item.id: item for item in display.items}
        changes: list[int] = []
        for name, item in now.items():
            if known.get(name) is item:
                continue
            pool = pools[place[name]]
            markup = pool.setdefault(_inside(item), len(pool))
            if markup != shown[name]:
                shown[name] = markup
                changes += [place[name], markup]
        for name in sorted(known.keys() - now.keys()):
            shown[name] = 0
            changes += [place[name], 0]
        known = now
        steps.append(changes)
    return steps


def _images(pools: Sequence[dict[str, int]]) -> list[str]:
    """Take the heat maps out of the markups; in their places stand numbers. They occur again and again, far apart."""
    found: dict[str, int] = {}

    def numbered(match: re.Match[str]) -> str:
        return f'href="#{found.setdefault(match[1], len(found))}"'

    for pool in pools:
        markups = [_HEAT_MAP.sub(numbered, markup) for markup in pool]
        pool.clear()
        pool.update((markup, index) for index, markup in enumerate(markups))
    return list(found)


def _inside(item: Item) -> str:
    """Kind and markup of an item, in one string: the script splits it at the first newline."""
    title = f"<title>{escape(item.title)}</title>" if item.title else ""
    return f"{item.kind}\n{title}{''.join(map(shape_text, item.shapes))}"


def _svg(display: DisplayList, order: Iterable[str], scale: float, title: str, rules: str) -> str:
    left, top, _, _ = display.bounds
    box = f"{number(left)} {number(top)} {number(display.width)} {number(display.height)}"
    groups = []
    for name in order:
        item = display.by_id.get(name)
        groups.append(f"<g id={quoteattr(name)}/>" if item is None else item_text(item))
    ground = ""
    if display.background is not None:
        size = f'width="{number(display.width)}" height="{number(display.height)}"'
        ground = f'<rect x="{number(left)}" y="{number(top)}" {size} fill="{display.background}"/>'
    width = number(display.width * scale)
    head = f'<svg id="picture" role="img" viewBox="{box}" style="width:{width}px">'
    return f"{head}<title>{escape(title)}</title><style>{rules}</style>{ground}{''.join(groups)}</svg>"


def _styles(lists: Sequence[DisplayList]) -> str:
    shapes = (shape for item in _new_items(lists) for shape in item.shapes)
    styles: set[Style] = {shape.style for shape in shapes if isinstance(shape, Text)}
    return style_rules(sorted(styles, key=style_class))
