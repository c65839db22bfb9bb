"""Calls of which only a summary was kept: what is said of them, and the way to one that was kept whole."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradviz.app.call_tree import call_tree
from gradviz.app.short_calls import nearest_whole
from gradviz.layout.engines import place_now
from gradviz.model import CallDetail, Graph, Recording, ViewState
from gradviz.playback import Timeline, story
from gradviz.render import Scene, plan_scene
from gradviz.render.shapes import Text
from tests import recordings as made
from tests.app.conftest import Open
from tests.render.pictures import display_at


def training(count: int, whole: int) -> Recording:
    """The loop whose calls after the first `whole` ones are summaries, as the recorder writes them."""
    recording = made.loop(count)
    source = recording.source
    assert isinstance(source, made.MemorySource)
    calls = []
    for call in recording.calls:
        if call.number > whole:
            roots = tuple(replace(root, node=None) for root in call.roots)
            call = replace(call, detail="summary", roots=roots)
            source.graphs[call.number] = Graph((), ())
            source.details[call.number] = CallDetail((), source.details[call.number].accumulations)
        calls.append(call)
    return replace(recording, calls=tuple(calls))


def test_without_a_choice_the_last_call_with_a_graph_is_told() -> None:
    recording = training(5, 3)
    assert 3 in story(recording) and 5 not in story(recording)
    assert story(recording, "5") == (5,)
    assert 5 in story(made.loop(5))


def test_the_list_says_which_calls_are_summaries() -> None:
    recording = training(4, 3)
    entries = [entry for top in call_tree(recording, {}) for entry in (top.children or (top,))]
    assert [entry.detail.startswith("line 5 · summary · ") for entry in entries] == [False, False, False, True]


def test_its_root_does_not_say_that_it_had_no_graph(qapp: QApplication) -> None:
    timeline = Timeline(training(4, 3), (4,))
    plan = plan_scene(timeline, ViewState())
    shown = display_at(Scene(plan, place_now(plan.layout_graph())), float(timeline.length))
    words = {shape.text for item in shown.items for shape in item.shapes if isinstance(shape, Text)}
    titles = " ".join(item.title for item in shown.items)
    assert "summary only" in words and "no grad_fn" not in words
    assert "only a summary was kept" in titles and "grad_fn" not in titles
    assert timeline.state_at(float(timeline.length)).sentence == "w.grad = 10"


def test_the_nearest_whole_call_of_the_same_line_is_offered() -> None:
    recording = training(9, 3)
    near = nearest_whole(recording, recording.call(8))
    assert near is not None and near.number == 3
    first = recording.calls[0]
    assert first.place is not None
    moved = (replace(call, place=replace(first.place, line=99)) for call in recording.calls[1:3])
    elsewhere = replace(recording, calls=(first, *moved, *recording.calls[3:]))
    near = nearest_whole(elsewhere, elsewhere.call(8))
    assert near is not None and near.number == 1
    assert nearest_whole(training(3, 0), recording.call(3)) is None


def test_the_strip_leads_there_and_goes_away_with_the_call(opened: Open, qtbot: QtBot) -> None:
    tab = opened(training(5, 3))
    banner = tab.middle.banner
    call = tab.session.current_call
    assert call is not None and call.number == 3 and not banner.isVisible()
    tab.session.show_call(5)
    qtbot.waitUntil(banner.isVisible, timeout=20_000)
    assert "call 5" in banner.words.text() and banner.button.text() == "Show call 3"
    assert "--calls 5" in banner.words.toolTip()
    tab.session.show_call(4)
    qtbot.waitUntil(lambda: "call 4" in banner.words.text(), timeout=20_000)
    QTest.mouseClick(banner.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: tab.session.current_call is not None and tab.session.current_call.number == 3)
    qtbot.waitUntil(lambda: not banner.isVisible())
