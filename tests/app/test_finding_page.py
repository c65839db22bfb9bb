"""The page of a finding: reached from its card and from the menu, with its picture and links."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from gradviz.app.code_spans import rich
from gradviz.app.dialogs.finding_page import FindingPage
from gradviz.app.main_window import MainWindow
from gradviz.errors import RecordingError
from gradviz.explain.table import ROWS
from gradviz.model import Finding, Place, Recording
from tests.app.conftest import Open
from tests.recordings import SCRIPT, two_calls


def test_why_leads_from_a_card_to_the_page_and_on(opened: Open, window: MainWindow, qtbot: QtBot) -> None:
    tab = opened(two_calls())
    qtbot.waitUntil(lambda: tab.findings.cards != ())
    why = next(b for b in tab.findings.cards[0].findChildren(QPushButton) if b.text() == "Why?")
    qtbot.mouseClick(why, Qt.MouseButton.LeftButton)
    page = window.findChild(FindingPage)
    assert isinstance(page, FindingPage)
    assert "accumulated" in page.text.toPlainText()
    qtbot.mouseClick(page.all, Qt.MouseButton.LeftButton)
    assert all(row.code in page.text.toPlainText() for row in ROWS)
    page.text.anchorClicked.emit(QUrl("in-place.md"))
    assert page.text.toPlainText().startswith("in-place")
    page.close()


def test_each_page_has_its_picture(qtbot: QtBot) -> None:
    page = FindingPage()
    qtbot.addWidget(page)
    for row in ROWS:
        page.turn_to(row.code)
        assert "\ufffc" in page.text.toPlainText(), row.code  # an object in the text: the picture
        image = page.text.loadResource(2, QUrl(f"pictures/{row.code}.png"))
        assert image.width() / image.devicePixelRatio() == 620
        assert image.height() > 60


def test_code_in_a_sentence_is_set_as_code() -> None:
    assert rich("`a<b` & c", "Mono") == "<span style=\"font-family:'Mono'\">a&lt;b</span> &amp; c"


def test_the_cards_show_no_backticks(opened: Open, qtbot: QtBot) -> None:
    tab = opened(two_calls())
    qtbot.waitUntil(lambda: tab.findings.cards != ())
    labels = [label.text() for label in tab.findings.cards[0].findChildren(QLabel)]
    assert any("t1.grad</span>" in text for text in labels)
    assert not any("`" in text for text in labels)


def test_findings_that_fail_are_not_waited_for(
    opened: Open, window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Recording) -> tuple[Finding, ...]:
        raise RecordingError("a damaged row")

    monkeypatch.setattr("gradviz.app.session.findings", broken)
    tab = opened(two_calls())
    qtbot.waitUntil(lambda: tab.findings.empty.text().startswith("The findings could not be computed"))
    assert tab.findings.cards == ()


def test_show_me_tints_the_line_that_is_meant(opened: Open, window: MainWindow, qtbot: QtBot) -> None:
    """A cut graph has no node to select, and its line is often in sight: the line alone must be seen to be meant."""
    tab = opened(two_calls())
    view = tab.source.view
    assert 1 not in view.tints
    tab.findings.shown.emit(Finding("no-graph", "error", None, None, Place(SCRIPT, 1), "cut", "mend", ()))
    assert view.tints[1] == window.look.leaf_soft
    tab.session.player.step(-1)  # something else is shown
    assert 1 not in view.tints
