"""GIF, APNG, WebP, MP4, numbered pictures and HTML, read back by readers that are not ours."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from gradviz.errors import UsageError
from gradviz.export import ExportCancelledError, ExportOptions, export
from gradviz.export.animation import USUAL_WIDTH
from gradviz.export.film import ViewFilm, film_of
from gradviz.export.job import Job, ticks
from gradviz.export.picture import Picture
from gradviz.export.svg import svg_text
from gradviz.model import Recording, ViewState
from gradviz.render import theme
from gradviz.render.far import FAR_ZOOM
from gradviz.render.shapes import Text
from gradviz.render.theme import rgb
from tests import recordings as made
from tests.layout import graphs


def durations(path: Path) -> list[float]:
    found = []
    with Image.open(path) as image:
        for index in range(image.n_frames):
            image.seek(index)
            image.load()
            found.append(float(image.info["duration"]))
    return found


def last_frame(path: Path) -> np.ndarray:  # type: ignore[type-arg]
    with Image.open(path) as image:
        image.seek(image.n_frames - 1)
        return np.asarray(image.convert("RGB")).astype(int)


@pytest.mark.parametrize("suffix", ["gif", "apng", "webp"])
def test_moving_pictures_last_as_long_as_the_story(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    result = export(made.two_calls(), path, ExportOptions(width=400, hold=1.5))
    shown = durations(path)
    seconds = Picture.of(made.two_calls(), ExportOptions()).timeline.seconds
    assert sum(shown) / 1000 == pytest.approx(seconds + 1.5, abs=0.1)
    assert shown[-1] >= 1500
    assert len(shown) == result.pictures > 30
    with Image.open(path) as image:
        assert image.info["loop"] == 0 and image.size[0] == 400


@pytest.mark.parametrize("suffix", ["gif", "apng", "webp"])
def test_the_last_frame_is_the_end(tmp_path: Path, suffix: str) -> None:
    export(made.two_calls(), tmp_path / f"a.{suffix}", ExportOptions(width=800))
    export(made.two_calls(), tmp_path / "end.png", ExportOptions(width=800))
    with Image.open(tmp_path / "end.png") as image:
        wanted = np.asarray(image.convert("RGB")).astype(int)
    difference = np.abs(last_frame(tmp_path / f"a.{suffix}") - wanted)
    assert difference.max() <= (0 if suffix != "gif" else 90)
    assert difference.mean() < 0.25


def test_gif_of_the_first_example_is_small_and_has_one_palette(tmp_path: Path) -> None:
    result = export(made.two_calls(), tmp_path / "a.gif")
    assert result.size <= 1_000_000
    data = (tmp_path / "a.gif").read_bytes()
    assert data[10] & 0x80  # a global colour table
    with Image.open(tmp_path / "a.gif") as image:
        assert image.size[0] == 800
        small = 0
        for index in range(image.n_frames):
            image.seek(index)
            box = image.tile[0][1] if image.tile else (0, 0, 1, 1)
            small += (box[2] - box[0]) * (box[3] - box[1]) < 0.5 * image.size[0] * image.size[1]
            assert image.convert("RGB").getpixel((2, 2)) == rgb(theme("light").paper)
    assert small > 0.7 * result.pictures  # only what changed is written


def test_a_call_can_be_played_alone_and_faster(tmp_path: Path) -> None:
    export(made.two_calls(), tmp_path / "a.gif", ExportOptions(call="1", width=300, hold=0.0))
    export(made.two_calls(), tmp_path / "b.gif", ExportOptions(call="1", width=300, hold=0.0, speed=2.0))
    one, two = sum(durations(tmp_path / "a.gif")), sum(durations(tmp_path / "b.gif"))
    assert one == pytest.approx(2 * two, rel=0.1)
    assert one < sum(durations_of_all(tmp_path))


def durations_of_all(folder: Path) -> list[float]:
    export(made.two_calls(), folder / "all.gif", ExportOptions(width=300, hold=0.0))
    return durations(folder / "all.gif")


def test_ticks_are_even_and_add_up() -> None:
    picture = Picture.of(made.two_calls(), ExportOptions())
    for fps in (7.0, 12.5, 24.0, 60.0):
        found = ticks(picture, ExportOptions(hold=0.5), fps)
        assert sum(t.milliseconds for t in found[:-1]) / 1000 == pytest.approx(picture.timeline.seconds, abs=0.6 / fps)
        assert all(t.milliseconds % 10 == 0 for t in found)
        assert found[0].t == 0.0 and found[-1].t == picture.timeline.length


def test_mp4_is_read_by_ffmpeg(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    result = export(made.two_calls(), path, ExportOptions(width=401, hold=0.4, fps=10.0))
    frames, seconds = imageio_ffmpeg.count_frames_and_secs(str(path))
    assert frames == result.pictures
    assert seconds == pytest.approx(Picture.of(made.two_calls(), ExportOptions()).timeline.seconds + 0.4, abs=0.25)
    size = next(imageio_ffmpeg.read_frames(str(path)))["source_size"]
    assert size[0] == 402 and size[1] % 2 == 0


def test_numbered_pictures_are_one_a_step(tmp_path: Path) -> None:
    result = export(made.two_calls(), tmp_path / "step-%03d.png", ExportOptions(width=300))
    names = sorted(p.name for p in tmp_path.iterdir())
    assert names == [f"step-{k:03d}.png" for k in range(8)]  # seven beats and the end
    assert result.pictures == 8
    with pytest.raises(UsageError, match="number"):
        export(made.two_calls(), tmp_path / "x.png", ExportOptions(format="frames"))


def many_calls() -> Recording:
    """About 300 nodes and 10 calls on the same graph, made by retain_graph; gradients are matrices."""
    build = graphs.lstm(18)
    one = made.from_edges(build.edges, len(build.sizes), (6, 6))
    head, graph, detail = one.calls[0], one.graph(1), one.detail(1)
    calls = [made.call(k, head.roots, head.node_count, retain_graph=True) for k in range(1, 11)]
    return made.recording([(c, graph, made.CallDetail(detail.executions)) for c in calls])


class Page:
    """What the script of an HTML export does, in Python: it puts markup into groups."""

    def __init__(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        found = re.search(r'<script id="story"[^>]*>([^<]*)</script>', text)
        assert found is not None
        self.text = text
        self.story = json.loads(gzip.decompress(base64.b64decode(found[1])))
        inner = re.search(r"<svg.*?</svg>", text, re.DOTALL)
        assert inner is not None
        self.svg = inner[0]

    def groups_at(self, index: int) -> dict[str, str]:
        """Id -> markup of every group that is not empty, after the changes up to a view."""
        state = [0] * len(self.story["ids"])
        for step in self.story["steps"][: index + 1]:
            for place, markup in zip(step[::2], step[1::2], strict=True):
                state[place] = markup
        known = zip(self.story["ids"], self.story["pools"], state, strict=True)
        return {name: re.sub(r'href="#(\d+)"', self._image, pool[markup]) for name, pool, markup in known if markup}

    def _image(self, match: re.Match[str]) -> str:
        return f'href="{self.story["images"][int(match[1])]}"'


def matrices() -> Recording:
    """A few nodes whose gradients are seen as heat maps."""
    return made.from_edges([(0, 1), (0, 2), (1, 3), (2, 3)], 4, (6, 7))


@pytest.mark.parametrize("maker", [made.two_calls, matrices])
def test_html_plays_to_the_same_pictures_as_svg(tmp_path: Path, maker: Callable[[], Recording]) -> None:
    path = tmp_path / "a.html"
    export(maker(), path)
    page = Page(path)
    assert len(page.story["images"]) == len(set(page.story["images"]))
    assert len(page.story["images"]) > 1 or maker is not matrices  # the legend is one, too
    picture = Picture.of(maker(), ExportOptions())
    stops = [k for k, view in enumerate(page.story["views"]) if view[1] >= 0]
    count = picture.timeline.length
    assert len(stops) == count + 1
    for stop, t in zip(stops, [*(picture.timeline.still(k) for k in range(count)), picture.last], strict=True):
        whole = ET.fromstring(svg_text(picture.at(t), 1.0, "", ""))
        groups = {g.get("id"): g for g in whole.iter("{http://www.w3.org/2000/svg}g")}
        shown = page.groups_at(stop)
        assert shown.keys() == groups.keys()
        for name, markup in shown.items():
            kind, inside = markup.split("\n", 1)
            assert kind == groups[name].get("class")
            mine = ET.fromstring(f'<g xmlns="http://www.w3.org/2000/svg" id="{name}" class="{kind}">{inside}</g>')
            assert ET.canonicalize(ET.tostring(mine)) == ET.canonicalize(ET.tostring(groups[name]).decode().strip())
    total = sum(view[0] for view in page.story["views"][:-1]) / 1000
    assert total == pytest.approx(picture.timeline.seconds, rel=0.05)


def test_html_needs_no_network_and_draws_in_the_order_of_painting(tmp_path: Path) -> None:
    export(made.two_calls(), tmp_path / "a.html")
    page = Page(tmp_path / "a.html")
    assert not re.findall(r"(?:src|href)=[\"']https?:", page.text)
    assert "default-src 'none'" in page.text
    ids = re.findall(r'<g id="([^"]+)"', page.svg)
    assert ids == page.story["ids"]
    heads = [name.split("-")[0] for name in ids]
    assert heads == sorted(heads, key=["edge", "node", "seed", "label", "pulse", "title", "legend"].index)


def test_html_of_300_nodes_and_ten_calls_is_below_two_megabytes(tmp_path: Path) -> None:
    recording = many_calls()
    assert recording.calls[0].node_count >= 290
    view = ViewState(expanded=("*",))
    result = export(recording, tmp_path / "a.html", ExportOptions(view=view, engine="layered"))
    assert result.pictures > 2900
    assert result.size < 2_000_000


def test_html_plays_in_a_browser(tmp_path: Path) -> None:
    """In a real browser where there is one; that the page holds the right pictures is tested above without."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    export(made.two_calls(), tmp_path / "a.html")
    if browser is None:
        return
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    press = "<script>onload=()=>setTimeout(()=>{for(let k=0;k<20;k++)document.getElementById('forward').click()},800)"
    (tmp_path / "b.html").write_text(text + press + "</script>", encoding="utf-8")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    command += ["--virtual-time-budget=5000", "--dump-dom", (tmp_path / "b.html").as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
    assert 'data-ready="yes"' in shown
    assert not re.findall(r'href="#\d', shown)
    assert "= 24</text>" in shown and "1 + 5 = 6</text>" in shown
    assert re.search(r'<output id="number">8 / 8</output>', shown)


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.gif", "a.html", "a.mp4", "a.pdf", "a-%d.png"])
def test_calling_off_leaves_nothing(tmp_path: Path, name: str) -> None:
    asked = []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) > (0 if name in ("a.png", "a.svg", "a.pdf") else 2)

    with pytest.raises(ExportCancelledError):
        export(made.two_calls(), tmp_path / name, ExportOptions(width=300), cancelled=cancelled)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a.png", "a.gif", "a.html", "a-%d.png"])
def test_progress_goes_from_nothing_to_all(tmp_path: Path, name: str) -> None:
    told: list[tuple[int, int]] = []
    export(made.two_calls(), tmp_path / name, ExportOptions(width=300), lambda done, of: told.append((done, of)))
    assert told[0][0] == 0 and told[-1][0] == told[-1][1] > 0
    assert told == sorted(told)


def test_a_step_of_a_moving_picture_is_refused(tmp_path: Path) -> None:
    for options in (
        ExportOptions(step=1),
        ExportOptions(time=1.0),
        ExportOptions(speed=0.0),
        ExportOptions(fps=1000.0),
    ):
        with pytest.raises(UsageError):
            export(made.two_calls(), tmp_path / "a.gif", options)


def test_a_job_without_listeners_runs() -> None:
    Job(Picture.of(made.two_calls(), ExportOptions()), ExportOptions()).advance(1, 2)


def test_the_title_of_a_long_graph_can_be_read() -> None:
    """At the usual width of an animation a long graph is drawn so small that its title must be larger."""
    options = ExportOptions(expand=("*",))
    picture = Picture.of(made.chain(60), options)
    film = film_of(Job(picture, options), 1.0, USUAL_WIDTH)
    assert isinstance(film, ViewFilm) and film.scale < FAR_ZOOM
    items = film.job.picture.at(picture.last, film.scale).items
    texts = [shape for item in items for shape in item.shapes if isinstance(shape, Text)]
    title = next(text for text in texts if text.text.startswith("Call 1"))
    (legend,) = (text for text in texts if text.text.startswith("colour:"))
    assert min(title.style.size, legend.style.size) * film.scale >= 8  # pixels
