"""The console: lines as a terminal would show them, bounded, from any thread; the panel that shows them."""

from __future__ import annotations

import threading
from itertools import pairwise

from pytestqt.qtbot import QtBot

from gradviz.app.console_lines import MOST_LINES, ConsoleLines, Line
from gradviz.app.look import make_look
from gradviz.app.panels.console_panel import ConsolePanel


def texts(lines: ConsoleLines) -> list[str]:
    return [line.text for line in lines.lines]


def test_pieces_of_a_line_are_joined() -> None:
    lines = ConsoleLines()
    for piece in (b"on", b"e\ntw", b"o\n", b"\n", b"four"):
        lines.feed("stdout", piece)
    assert texts(lines) == ["one", "two", "", "four"]


def test_a_character_may_be_cut_between_two_pieces() -> None:
    lines = ConsoleLines()
    data = "∂L/∂x = 2\n".encode()
    lines.feed("stdout", data[:1])
    lines.feed("stdout", data[1:2])
    lines.feed("stdout", data[2:])
    assert texts(lines) == ["∂L/∂x = 2"]


def test_a_carriage_return_starts_the_line_anew() -> None:
    lines = ConsoleLines()
    for step in range(5):
        lines.feed("stderr", f"\r{step} of 4".encode())
    lines.feed("stderr", b"\ndone\r\n")
    assert texts(lines) == ["4 of 4", "done"]


def test_colours_of_terminals_are_left_out() -> None:
    lines = ConsoleLines()
    lines.feed("stdout", b"\x1b[31mred\x1b[0m \x1b]0;title\x07plain\x00\n")
    assert texts(lines) == ["red plain\N{REPLACEMENT CHARACTER}"]


def test_streams_are_not_mixed_in_one_line() -> None:
    lines = ConsoleLines()
    lines.feed("stdout", b"a question? ")
    lines.feed("stderr", b"a warning\n")
    lines.feed("stdout", b"an answer\n")
    assert lines.lines == (Line("stdout", "a question? "), Line("stderr", "a warning"), Line("stdout", "an answer"))


def test_only_the_last_lines_are_kept() -> None:
    lines = ConsoleLines()
    lines.feed("stdout", b"".join(b"%d\n" % n for n in range(30_000)))
    assert len(lines.lines) == MOST_LINES
    assert texts(lines)[-1] == "29999"


def test_news_is_what_came_since_the_last_look() -> None:
    lines = ConsoleLines()
    lines.feed("stdout", b"one\ntw")
    first = lines.news()
    assert [line.text for line in first.lines] == ["one", "tw"]
    assert not first.replaces_last
    lines.feed("stdout", b"o\nthree\n")
    second = lines.news()
    assert [line.text for line in second.lines] == ["two", "three"]
    assert second.replaces_last
    assert lines.news().lines == ()


def test_several_threads_may_feed() -> None:
    lines = ConsoleLines(most=100_000)
    threads = [
        threading.Thread(target=lambda name=name: [lines.feed(name, b"x\n") for _ in range(2000)])
        for name in ("stdout", "stderr")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lines.lines) == 4000


def test_who_looks_is_not_starved_by_who_feeds() -> None:
    lines = ConsoleLines()
    over = threading.Event()
    chunk = b"".join(b"line %d\n" % n for n in range(4000))

    def pour() -> None:
        while not over.is_set():
            lines.feed("stdout", chunk)

    threads = [threading.Thread(target=pour) for _ in range(2)]
    for thread in threads:
        thread.start()
    # Between two looks a feeder gets one turn, seldom two: the lines that come between do not pile up.
    counts = []
    for _ in range(40):
        counts.append(lines.fed)
        lines.news()
    over.set()
    for thread in threads:
        thread.join()
    turns = [(after - before) / 4000 for before, after in pairwise(counts)]
    assert sum(turns) / len(turns) < 4


class TestPanel:
    def panel(self, qtbot: QtBot) -> tuple[ConsolePanel, ConsoleLines]:
        lines = ConsoleLines()
        made = ConsolePanel(lines, make_look("light"))
        qtbot.addWidget(made)
        return made, lines

    def shown(self, panel: ConsolePanel, qtbot: QtBot, expected: str) -> None:
        panel.wake()
        qtbot.waitUntil(lambda: panel.view.toPlainText() == expected)

    def test_it_follows_what_is_fed(self, qtbot: QtBot) -> None:
        panel, lines = self.panel(qtbot)
        lines.feed("stdout", b"\nsecond\nhal")
        self.shown(panel, qtbot, "\nsecond\nhal")
        lines.feed("stdout", b"f\nnext\n")
        self.shown(panel, qtbot, "\nsecond\nhalf\nnext")
        lines.feed("stdout", b"1%")
        self.shown(panel, qtbot, "\nsecond\nhalf\nnext\n1%")
        lines.feed("stdout", b"\r2%")
        self.shown(panel, qtbot, "\nsecond\nhalf\nnext\n2%")

    def test_a_single_line_that_grows(self, qtbot: QtBot) -> None:
        panel, lines = self.panel(qtbot)
        lines.feed("stdout", b"a")
        self.shown(panel, qtbot, "a")
        lines.feed("stdout", b"b")
        self.shown(panel, qtbot, "ab")

    def test_errors_can_be_seen_alone(self, qtbot: QtBot) -> None:
        panel, lines = self.panel(qtbot)
        lines.feed("stdout", b"fine\n")
        lines.feed("stderr", b"bad\n")
        panel.filter.setCurrentIndex(panel.filter.findData("stderr"))
        self.shown(panel, qtbot, "bad")

    def test_more_than_is_kept_shows_the_end(self, qtbot: QtBot) -> None:
        panel, lines = self.panel(qtbot)
        lines.feed("stdout", b"old\n")
        self.shown(panel, qtbot, "old")
        lines.feed("stdout", b"".join(b"%d\n" % n for n in range(25_000)))
        panel.wake()
        qtbot.waitUntil(lambda: panel.view.toPlainText().endswith("24999"), timeout=20_000)
        assert panel.view.blockCount() == MOST_LINES
        assert panel.view.toPlainText().startswith("15000\n")
