"""Parts of the window that need no window: search, matrices, settings, recovery, highlighting, cameras, writing."""

from __future__ import annotations

import configparser
import io
import os
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PySide6.QtCore import QSettings
from PySide6.QtGui import QFileOpenEvent, QFont, QFontMetrics

from gradviz.app import desktop
from gradviz.app.dialogs.command_palette import score
from gradviz.app.files import write_whole
from gradviz.app.graph import camera as lens
from gradviz.app.inspector_facts import node_facts
from gradviz.app.panels.grad_bars import fitted, shares
from gradviz.app.panels.highlight import Span, highlight
from gradviz.app.panels.matrix import array_of, as_csv, as_npy, as_torch, histogram, slice_of
from gradviz.app.recovery import Recovery
from gradviz.app.search import search
from gradviz.app.settings import Settings
from gradviz.errors import ExportError, GradvizError
from gradviz.model import CallDetail, Camera, Edge, Graph, TensorValue
from gradviz.playback import Timeline
from gradviz.resources import resource
from gradviz.store.schema import APPLICATION_ID
from tests.recordings import (
    call,
    execution,
    fan_in,
    from_edges,
    leaf,
    loop,
    node,
    recording,
    returned,
    root,
    tensor,
    two_calls,
)


class TestSearch:
    def found(self, text: str) -> list[str]:
        return [match.title for match in search(Timeline(fan_in(), (1,)), 1, text).shown]

    def test_words_are_looked_for_everywhere(self) -> None:
        assert self.found("mul") == ["b", "a", "y"]
        assert self.found("mul line:4") == ["y"]
        assert self.found("name:x") == ["x"]
        assert self.found("nothing") == []
        assert self.found("  ") == []

    def test_filters_look_at_gradients(self) -> None:
        assert self.found("is:leaf") == ["x"]
        assert self.found("is:retained") == ["y"]
        # By hand: 7 arrives at y, 21 at x; 1 at c, and what c hands on.
        assert self.found("is:largest")[:2] == ["x", "y"]
        assert self.found("is:nan") == []
        assert self.found("is:zero") == []
        assert self.found("is:unreached") == []

    def test_what_a_filter_found_is_told(self) -> None:
        """An operation that makes nan of what arrived is found; so is the leaf where nan arrived, and it reads nan."""
        x, y = leaf(1, "x", tensor(0.0)), node(0, "SqrtBackward0", "y", value=tensor(0.0))
        nan, one = tensor(float("nan")), tensor(1.0)
        runs = (execution(0, 0, [one], [nan]), execution(1, 1, [nan]))
        sqrt = recording([(call(1, [root(y, one)], 2), Graph((y, x), (Edge(0, 0, 1, 0),)), CallDetail(runs))])
        shown = search(Timeline(sqrt, (1,)), 1, "is:nonfinite").shown
        assert [(match.title, match.detail.rsplit(" · ", 1)[1]) for match in shown] == [
            ("y", "‖g‖ 1 → nan"),
            ("x", "‖g‖ nan"),
        ]

    def test_a_leaf_that_was_returned_did_get_something(self) -> None:
        """`torch.autograd.grad` runs no leaf; by hand 1 arrives at y, 6 at x."""
        line = Timeline(returned(), (1,))
        found = {text: search(line, 1, text).shown for text in ("is:unreached", "is:largest", "is:zero")}
        assert [match.title for match in found["is:unreached"]] == []
        assert [match.title for match in found["is:largest"]] == ["x", "y"]
        assert found["is:largest"][0].detail.endswith("‖g‖ 6")
        assert found["is:zero"] == ()

    def test_nodes_of_one_line_are_told_apart(self) -> None:
        """By which time the line ran; a name that is the op is not said twice."""
        second = node(0, "TanhBackward0", line=10, iteration=2)
        first = node(1, "TanhBackward0", line=10, iteration=1)
        one = tensor(1.0)
        runs = (execution(0, 0, [one], [one]), execution(1, 1, [one]))
        made = recording(
            [(call(1, [root(second, one)], 2), Graph((second, first), (Edge(0, 0, 1, 0),)), CallDetail(runs))]
        )
        shown = search(Timeline(made, (1,)), 1, "tanh").shown
        assert [(match.title, match.detail) for match in shown] == [
            ("Tanh", "line 10 #2 · () · ‖g‖ 1"),
            ("Tanh", "line 10 · () · ‖g‖ 1"),
        ]

    def test_the_largest_are_twenty(self) -> None:
        recording = from_edges([(k, k + 1) for k in range(60)], 61)
        assert search(Timeline(recording, (1,)), 1, "is:largest").total == 20


class TestMatrix:
    def test_slices_of_more_than_two_dimensions(self) -> None:
        value = tensor([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]])
        cells = slice_of(value, (1,))
        assert cells is not None
        assert (cells.rows, cells.columns, list(cells.numbers)) == (2, 2, [5.0, 6.0, 7.0, 8.0])
        assert cells.most == 8.0

    def test_a_vector_is_one_row_and_a_scalar_one_cell(self) -> None:
        row, cell = slice_of(tensor([1.0, 2.0, 3.0])), slice_of(tensor(4.0))
        assert row is not None
        assert cell is not None
        assert (row.rows, row.columns) == (1, 3)
        assert (cell.rows, cell.columns) == (1, 1)

    def test_bfloat16_is_read_exactly(self) -> None:
        value = TensorValue((2,), "bfloat16", data=bytes.fromhex("803f00c0"))  # 1.0, -2.0
        assert array_of(value).tolist() == [1.0, -2.0]  # type: ignore[union-attr]

    def test_a_histogram_counts_all_finite_elements(self) -> None:
        counts, low, high = histogram(tensor([0.0, 1.0, 1.0, 2.0, float("nan"), float("inf")]), bins=2)
        assert (counts, low, high) == ([1, 3], 0.0, 2.0)

    def test_the_text_for_torch_is_the_same_tensor(self) -> None:
        value = tensor([[0.1, float("inf")], [float("nan"), -2.5]])
        text = as_torch(value).replace("dtype=torch.float32", "").replace("torch.tensor", "np.float32")
        again = eval(text.rstrip(", )") + ")", {"np": np})
        np.testing.assert_array_equal(again, array_of(value))

    def test_csv_and_npy_hold_the_numbers(self) -> None:
        value = tensor([[1.5, 2.0], [3.0, 4.0]])
        assert as_csv(value) == "1.5,2.0\n3.0,4.0"
        np.testing.assert_array_equal(np.load(io.BytesIO(as_npy(value))), [[1.5, 2.0], [3.0, 4.0]])

    def test_a_summary_cannot_be_saved(self) -> None:
        with pytest.raises(ExportError, match="summary"):
            as_npy(TensorValue((3,), "float32"))


class TestSettings:
    def test_trust_of_a_file_and_of_a_folder(self, settings: Settings, tmp_path: Path) -> None:
        script, other = str(tmp_path / "a.py"), str(tmp_path / "deep" / "b.py")
        assert not settings.trusts(script)
        settings.trust_file(script)
        assert settings.trusts(script)
        assert not settings.trusts(other)
        settings.trust_folder(str(tmp_path))
        assert settings.trusts(other)
        assert not settings.trusts(str(tmp_path) + "-elsewhere/c.py")
        settings.forget_trust()
        assert not settings.trusts(script)

    def test_it_is_still_known_at_the_next_start(self, tmp_path: Path) -> None:
        path, kind = str(tmp_path / "s.ini"), QSettings.Format.IniFormat
        first = QSettings(path, kind)
        settings = Settings(first)
        settings.trust_file("/x/one.py")
        settings.set_interpreter("/x/one.py", "/opt/python")
        settings.add_recent("/x/one.py")
        settings.theme = "dark"
        first.sync()
        again = Settings(QSettings(path, kind))
        assert again.trusts("/x/one.py")
        assert again.interpreter("/x/one.py") == "/opt/python"
        assert again.recent == ("/x/one.py",)
        assert again.theme == "dark"

    def test_a_damaged_file_does_no_harm(self, tmp_path: Path) -> None:
        path = tmp_path / "s.ini"
        path.write_text("[look]\ntheme=purple\nfont=many\n[trust]\nfiles=@Invalid()\n")
        settings = Settings(QSettings(str(path), QSettings.Format.IniFormat))
        assert settings.theme == "system"
        assert settings.font_percent == 100
        assert not settings.trusts("/x.py")

    def test_recent_files_are_few_and_newest_first(self, settings: Settings) -> None:
        for number in range(20):
            settings.add_recent(f"/{number}.py")
        settings.add_recent("/15.py")
        assert settings.recent[:3] == ("/15.py", "/19.py", "/18.py")
        assert len(settings.recent) == 12


class TestRecovery:
    def test_what_a_living_window_has_open_is_not_offered(self, tmp_path: Path) -> None:
        recovery = Recovery(str(tmp_path))
        path = recovery.new_path("/x/train.py")
        Path(path).write_bytes(b"x")
        assert recovery.kept() == ()
        recovery.release(path)
        (kept,) = recovery.kept()
        assert (kept.name, kept.crashed) == ("train", False)

    def test_what_a_crash_left_is_told_apart_and_kept(self, tmp_path: Path) -> None:
        recovery = Recovery(str(tmp_path))
        path = recovery.new_path("train.py")
        Path(path).write_bytes(b"x")
        Path(path + ".open").write_text("4194304")  # above the largest process id
        (kept,) = recovery.kept()
        assert kept.crashed
        recovery.tidy(kept.seconds + 1e9)
        assert os.path.exists(path)
        recovery.discard(path)
        assert os.listdir(tmp_path) == []

    def test_old_ones_go(self, tmp_path: Path) -> None:
        recovery = Recovery(str(tmp_path))
        path = recovery.new_path("train.py")
        Path(path).write_bytes(b"x")
        recovery.release(path)
        now = os.stat(path).st_mtime
        recovery.tidy(now + 86_400)
        assert os.path.exists(path)
        recovery.tidy(now + 30 * 86_400)
        assert not os.path.exists(path)

    def test_two_runs_in_one_second_have_two_files(self, tmp_path: Path) -> None:
        recovery = Recovery(str(tmp_path))
        assert len({recovery.new_path("a.py") for _ in range(5)}) == 5


class TestSmallThings:
    def test_python_is_told_apart(self) -> None:
        (line,) = highlight("x = 'ä' # ü")
        assert line == (Span(4, 3, "string"), Span(8, 3, "comment"))
        assert highlight('"""a\nb"""\n')[1] == (Span(0, 4, "string"),)

    def test_lengths_are_those_of_qt(self) -> None:
        (line,) = highlight("'😀' + 1")  # two UTF-16 units
        assert line == (Span(0, 4, "string"), Span(7, 1, "number"))

    def test_fit_shows_everything_and_never_too_large(self) -> None:
        small = lens.fit((0, 0, 100, 100), (1000, 800))
        assert small.zoom == lens.LARGEST_FIT
        wide = lens.fit((0, 0, 10_000, 100), (1000, 800))
        left, _, right, _ = lens.seen(wide, (1000, 800))
        assert left <= 0
        assert right >= 10_000

    def test_a_glide_ends_where_it_should(self) -> None:
        a, b = Camera(0, 0, 1), Camera(100, 50, 4)
        assert lens.between(a, b, 0) == a
        assert lens.between(a, b, 1) == b
        assert lens.between(a, b, 0.5).zoom == pytest.approx(2)

    def test_shares_fill_the_room(self) -> None:
        widths = shares([tensor(4.0), tensor(20.0), None], 200)
        assert sum(widths) == pytest.approx(200)
        assert widths[1] > widths[0] > widths[2]
        assert sum(shares([tensor(float("nan")), tensor(1.0)], 50)) == pytest.approx(50)

    def test_the_palette_prefers_beginnings(self) -> None:
        assert score("zo", "Zoom in") == (0, 0)
        assert score("in", "Zoom in") == (1, 4)
        assert score("oo", "Zoom in") == (2, 1)
        assert score("zmi", "Zoom in") is not None
        assert score("q", "Zoom in") is None

    def test_a_file_is_whole_or_not_there(self, tmp_path: Path) -> None:
        path = tmp_path / "x.bin"
        write_whole(str(path), b"one")
        write_whole(str(path), b"two")
        assert path.read_bytes() == b"two"
        with pytest.raises(ExportError, match="cannot be written"):
            write_whole(str(tmp_path / "missing" / "x.bin"), b"")
        assert os.listdir(tmp_path) == ["x.bin"]

    def test_the_two_calls_are_played_on_one_picture(self) -> None:
        assert search(Timeline(two_calls(), (1, 2)), 2, "is:retained").total == 2


class TestDesktop:
    def test_the_files_of_a_linux_desktop(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "")
        said = desktop.register(tmp_path)
        assert "menu" in said
        entry = configparser.ConfigParser(interpolation=None)
        entry.optionxform = str  # type: ignore[assignment,method-assign]
        entry.read(tmp_path / "applications" / "gradviz.desktop", encoding="utf-8")
        section = entry["Desktop Entry"]
        assert section["Exec"] == f"{sys.executable} -m gradviz %F"
        assert desktop.MIME in section["MimeType"]
        kind = ElementTree.parse(tmp_path / "mime" / "packages" / "gradviz.xml").getroot()[0]
        assert kind.get("type") == desktop.MIME
        assert (tmp_path / "icons" / "hicolor" / "scalable" / "apps" / "gradviz.svg").exists()

    def test_the_magic_number_is_that_of_recordings(self) -> None:
        assert f"0x{APPLICATION_ID:X}" in resource("desktop", "gradviz.xml").read_text()

    def test_a_folder_that_cannot_be_written_is_told(self, tmp_path: Path) -> None:
        (tmp_path / "applications").write_text("in the way")
        with pytest.raises(GradvizError, match="cannot be written"):
            desktop.register(tmp_path)

    def test_windows_opens_recordings_by_their_suffix(self) -> None:
        keys = desktop.windows_keys()
        assert keys[".gradviz"] == "gradviz.recording"
        assert keys["gradviz.recording\\shell\\open\\command"].endswith('-m gradviz "%1"')

    def test_macos_says_what_to_open(self) -> None:
        opened: list[str] = []
        opener = desktop.FileOpener(opened.append)
        assert opener.eventFilter(opener, QFileOpenEvent("/x/run.gradviz"))
        assert opened == ["/x/run.gradviz"]


def test_of_many_calls_the_nearest_are_told() -> None:
    """w gets k in call k of a loop, by hand; of 20 calls the eight nearest ones, and how many more there are."""
    line = Timeline(loop(20), tuple(range(1, 21)))
    leaf_id = next(n.id for n in line.stage.graph.nodes if n.kind == "leaf")
    rows = [(fact.label, fact.text) for fact in node_facts(line, 15, leaf_id).facts]
    start = next(place for place, (label, _) in enumerate(rows) if label == "arrived, call 11")
    told = [f"arrived, call {k}" for k in (11, 12, 13, 14, 16, 17, 18, 19)]
    assert rows[start : start + 9] == [*((label, label[-2:]) for label in told), ("", "and 11 more")]
    assert not any(label == "arrived, call 1" for label, _ in rows)


def test_the_name_beside_a_bar_is_cut_last(qapp: object) -> None:
    """`.grad` is what the heading says already; the name tells the bars apart."""
    metrics = QFontMetrics(QFont("monospace"))
    letter = metrics.horizontalAdvance("m")
    assert fitted("t1.grad", metrics, 36 * letter) == "t1.grad"
    assert fitted("lm.embed.weight.grad", metrics, 36 * letter) == "lm.embed.weight"
    assert fitted("model.encoder.lm.embed.weight.grad", metrics, 36 * letter).endswith("embed.weight")
