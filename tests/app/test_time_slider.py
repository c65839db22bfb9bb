"""The marks and names of the time line."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter

from gradviz.app.graph.time_slider import TimeSlider, seen_marks
from gradviz.app.main_window import MainWindow
from gradviz.playback import Timeline
from gradviz.playback.beats import Mark
from tests import recordings as made


def test_of_marks_in_the_same_pixel_calls_are_seen() -> None:
    marks = [
        Mark(0, "call", "1", 1),
        Mark(9, "cleared", "clear", 1),
        Mark(10, "call", "2", 2),
        Mark(500, "cleared", "c", 2),
    ]
    assert seen_marks(marks, lambda t: t / 50) == [marks[0], marks[3]]
    assert seen_marks(marks, lambda t: t / 10) == [marks[0], marks[2], marks[3]]
    assert seen_marks(marks, lambda t: t) == marks
    error = Mark(499, "error", "RuntimeError", 2)
    assert error in seen_marks([*marks, error], lambda t: t / 50)


def test_names_stand_under_the_track_only_where_each_beat_has_room(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str] = []
    plain = QPainter.drawText

    def draw(painter: QPainter, place: QPointF, words: str) -> None:
        if threading.current_thread() is threading.main_thread():  # others paint the welcome page's pictures
            drawn.append(words)
        plain(painter, place, words)

    monkeypatch.setattr(QPainter, "drawText", draw)
    slider = TimeSlider(window.look)
    slider.resize(900, 60)
    for count in (2, 200):
        timeline = Timeline(made.loop(count), tuple(range(1, count + 1)))
        slider.set_timeline(timeline)
        slider.set_time(float(timeline.length), "")
        drawn.clear()
        slider.grab()
        names = [word for word in drawn if not word.startswith("call ")]
        labels = [beat.label for beat in timeline.beats]
        # The name of the current beat is painted first, and is always there.
        assert names == [labels[-1], *(labels[:-1] if count == 2 else ())]
