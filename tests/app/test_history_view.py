"""The history of `.grad` in the inspector: rows and columns against sums by hand and against a second run of torch."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from gradviz.app.history_facts import shown, supposed
from gradviz.app.main_window import MainWindow
from gradviz.app.panels.history_view import HistoryView
from gradviz.app.workspace import Workspace
from gradviz.model import Event, Place, Recording
from gradviz.playback.history import grad_histories
from gradviz.store.reader import close_recording, open_recording
from gradviz.worker.in_process import record
from tests import recordings
from tests.app.conftest import Open
from tests.app.test_window import click, key
from tests.recordings import loop, two_calls


def choose(qtbot: QtBot, tab: Workspace, name: str) -> HistoryView:
    """Click a node and wait for its history."""
    click(qtbot, tab, name)
    view = tab.inspector.history
    qtbot.waitUntil(lambda: view.history is not None)
    qtbot.waitUntil(lambda: view.isHidden() or view.chart.height() >= view.chart.sizeHint().height())  # laid out
    return view


def rows(view: HistoryView) -> list[list[str]]:
    model = view.model
    return [
        [model.data(model.index(row, column)) for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def click_row(qtbot: QtBot, view: HistoryView, row: int) -> None:
    view.table.scrollTo(view.model.index(row, 0))
    area = view.table.visualRect(view.model.index(row, 1))
    qtbot.mouseClick(view.table.viewport(), Qt.MouseButton.LeftButton, pos=area.center())


class TestTable:
    def test_a_leaf_over_two_calls(self, opened: Open, qtbot: QtBot) -> None:
        view = choose(qtbot, opened(two_calls()), "t1")
        assert rows(view) == [["1", "brought", "4", "4"], ["2", "brought", "20", "24"]]
        assert view.summary.text() == "2 calls brought something · never cleared"

    def test_a_retained_tensor(self, opened: Open, qtbot: QtBot) -> None:
        view = choose(qtbot, opened(two_calls()), "t2")
        assert rows(view) == [["1", "brought", "1", "1"], ["2", "brought", "5", "6"]]

    def test_one_call_that_brought_everything_has_none(self, opened: Open, qtbot: QtBot) -> None:
        assert choose(qtbot, opened(two_calls()), "t3").isHidden()

    def test_clearings_and_steps_are_rows(self, opened: Open, qtbot: QtBot) -> None:
        events = [Event("optimizer_step", 2, ("t1",)), Event("grad_cleared", 2, ("t1",), Place(recordings.SCRIPT, 9))]
        view = choose(qtbot, opened(two_calls(events)), "t1")
        assert [(row[0], row[1], row[3]) for row in rows(view)] == [
            *(("1", "brought", "4"), ("", "step", "4"), ("", "cleared", "None"), ("2", "brought", "20"))
        ]
        assert view.summary.text() == "2 calls brought something · cleared once · 1 optimizer step"
        tip = view.model.data(view.model.index(2, 1), Qt.ItemDataRole.ToolTipRole)
        assert tip == f"{recordings.SCRIPT}:9"

    def test_enter_shows_the_call_of_a_row(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(two_calls())
        view = choose(qtbot, tab, "t1")
        assert tab.session.current_call is not None
        assert tab.session.current_call.number == 2
        click_row(qtbot, view, 0)
        view.table.setFocus()
        qtbot.keyClick(view.table, Qt.Key.Key_Return)
        assert tab.session.current_call.number == 1

    def test_a_call_that_cannot_be_read_is_told(self, opened: Open, qtbot: QtBot) -> None:
        from tests.playback.test_history import torn

        recording = torn(loop(4), 2)
        assert shown(grad_histories(recording)[0]).summary.endswith("damaged: call 2")


class TestChart:
    def test_a_click_on_a_column_selects_its_row(self, opened: Open, qtbot: QtBot) -> None:
        view = choose(qtbot, opened(loop(6)), "w")
        at = QPoint(int(view.chart.step * 3.5), 20)
        qtbot.mouseClick(view.chart, Qt.MouseButton.LeftButton, pos=at)
        assert view.table.currentIndex().row() == 3
        assert view.chart.words_at(at.x()).startswith("call 4: brought 4")

    def test_columns_are_as_high_as_what_is_held(self, opened: Open, qtbot: QtBot) -> None:
        """w.grad is 1, 3, 6 after three calls: the painted heights stand in that relation."""
        view = choose(qtbot, opened(loop(3)), "w")
        image = view.chart.grab().toImage()
        paper = image.pixelColor(image.width() - 2, 2)
        heights = []
        for column in range(3):
            x = int((column + 0.5) * view.chart.step)
            heights.append(sum(image.pixelColor(x, y) != paper for y in range(view.chart.height() - 14)))
        assert heights[2] > 60
        assert heights[0] == pytest.approx(heights[2] / 6, abs=2)
        assert heights[1] == pytest.approx(heights[2] / 2, abs=2)

    def test_the_parts_wear_the_colours_of_their_calls(self, opened: Open, qtbot: QtBot, window: MainWindow) -> None:
        tab = opened(two_calls())
        view = choose(qtbot, tab, "t1")
        image = view.chart.grab().toImage()
        x = int(1.5 * view.chart.step)
        assert image.pixelColor(x, 10) == window.look.call_colour(1)  # call 2 brought most of it, on top


class TestAsIf:
    def test_what_would_have_been_is_said_and_shown(self, opened: Open, qtbot: QtBot) -> None:
        tab = opened(two_calls())
        view, seen = choose(qtbot, tab, "t1"), tab.inspector.viewport()
        click_row(qtbot, view, 1)
        qtbot.mouseClick(view.suppose, Qt.MouseButton.LeftButton)
        assert view.words.text() == "Cleared before call 2, it would be 20 at the end instead of 24."
        qtbot.waitUntil(lambda: seen.rect().contains(view.words.mapTo(seen, view.words.rect().bottomLeft())))
        assert rows(view) == [["1", "brought", "4", "4", ""], ["2", "brought", "20", "24", "20"]]
        qtbot.mouseClick(view.undo, Qt.MouseButton.LeftButton)
        assert view.words.isHidden()
        assert len(rows(view)[0]) == 4

    def test_no_heading_is_cut(self, opened: Open, qtbot: QtBot) -> None:
        """Also beside a row that is chosen, whose headings would otherwise be bold."""
        view = choose(qtbot, opened(two_calls()), "t1")
        click_row(qtbot, view, 1)
        qtbot.mouseClick(view.suppose, Qt.MouseButton.LeftButton)
        header = view.table.horizontalHeader()
        assert not header.highlightSections()
        qtbot.waitUntil(lambda: header.count() == 5)
        for column in range(5):
            heading = view.model.headerData(column, Qt.Orientation.Horizontal)
            assert header.fontMetrics().horizontalAdvance(heading) + 6 <= header.sectionSize(column)

    def test_before_the_first_call_nothing_was_there(self, opened: Open, qtbot: QtBot) -> None:
        view = choose(qtbot, opened(two_calls()), "t1")
        click_row(qtbot, view, 0)
        qtbot.mouseClick(view.suppose, Qt.MouseButton.LeftButton)
        assert "nothing was there" in view.words.text()

    def test_behind_the_last_call_nothing_can_be_supposed(self, opened: Open, qtbot: QtBot) -> None:
        view = choose(qtbot, opened(two_calls([Event("optimizer_step", None, ("t1",))])), "t1")
        click_row(qtbot, view, 2)
        assert not view.suppose.isEnabled()

    def test_it_is_what_torch_gives_with_the_clearing(self, tmp_path: Path) -> None:
        def train(cleared: int | None) -> torch.Tensor:
            torch.manual_seed(0)
            w = torch.randn(3, dtype=torch.float64, requires_grad=True)
            for k in range(4):
                if k == cleared:
                    w.grad = None
                (w.sin() * (k + 1)).sum().backward()
            assert w.grad is not None
            return w.grad

        with record(tmp_path / "r.gradviz"):
            train(None)
        recording = open_recording(str(tmp_path / "r.gradviz"))
        (history,) = grad_histories(recording)
        for call in range(1, 4):
            found = supposed(history, call)
            assert found is not None
            assert found.other is not None
            assert found.other.final is not None
            assert found.other.final.nested() == pytest.approx(train(call).tolist(), rel=1e-12)
        close_recording(recording)


def thousand(steps: int = 1000) -> Recording:
    """`loop`, cleared before every fourth call, an optimizer step before each clearing."""
    made = loop(steps)
    events = []
    for number in range(5, steps + 1, 4):
        events += [Event("optimizer_step", number, ("w",)), Event("grad_cleared", number, ("w",))]
    source = made.source
    assert isinstance(source, recordings.MemorySource)
    held = None
    for number, detail in source.details.items():
        entry = detail.accumulations[0]
        assert entry.incoming is not None
        before = None if number % 4 == 1 else held
        total = entry.incoming.nested() + (0.0 if before is None else before.nested())
        held = recordings.tensor(total)
        source.details[number] = replace(detail, accumulations=(replace(entry, before=before, after=held, left=held),))
    return replace(made, events=tuple(events))


def test_a_thousand_steps_stay_readable_and_fast(opened: Open, qtbot: QtBot) -> None:
    tab = opened(thousand())
    with qtbot.waitSignal(tab.inspector.shown):
        tab.session.select_nodes([key(tab, "w")])
    view = tab.inspector.history
    qtbot.waitUntil(lambda: view.history is not None, timeout=30_000)
    assert view.model.rowCount() == 1000 + 2 * 249
    assert view.summary.text() == "1000 calls brought something · cleared 249 times · 249 optimizer steps"
    assert view.table.height() < 12 * view.table.rowHeight(0)
    image = view.chart.grab().toImage()
    foot = view.chart.height() - 9
    assert len({image.pixelColor(x, foot).name() for x in range(300)}) > 1  # the ticks of the steps are apart
    began = time.process_time()
    for row in range(0, 1400, 100):
        view.table.setCurrentIndex(view.model.index(row, 0))
        view.grab()
    assert (time.process_time() - began) / 14 < 0.1  # of this process: other load does not count
