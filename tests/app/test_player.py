"""Playing on a timeline, with a clock that only moves when the test says so."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from gradviz.app.player import Player
from gradviz.playback import Timeline
from tests.recordings import two_calls


class Now:
    """Time that stands until it is moved."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def now() -> Now:
    return Now()


@pytest.fixture
def player(qtbot: QtBot, now: Now) -> Player:
    made = Player(None, now)
    made.load(Timeline(two_calls(), (1, 2)), None, None)
    return made


def test_the_end_is_shown_first(player: Player) -> None:
    assert player.at_end
    assert not player.playing


def test_a_call_is_shown_at_its_own_end(qtbot: QtBot, now: Now) -> None:
    player = Player(None, now)
    player.load(Timeline(two_calls(), (1, 2)), None, "1")
    assert player.frame is not None
    assert player.frame.call is not None
    assert player.frame.call.number == 1


def test_playing_moves_with_the_clock(player: Player, now: Now, qtbot: QtBot) -> None:
    player.seek(0.0)
    player.play()
    timeline = player.timeline
    assert timeline is not None
    now.seconds += timeline.seconds / 2
    with qtbot.waitSignal(player.moved):
        pass
    assert player.t == pytest.approx(timeline.beat_at(timeline.seconds / 2))
    now.seconds += timeline.seconds
    with qtbot.waitSignal(player.playing_changed):
        pass
    assert player.at_end
    assert not player.playing


def test_a_loop_begins_again(player: Player, now: Now, qtbot: QtBot) -> None:
    player.set_loop(True)
    player.seek(3.0)
    player.play()
    now.seconds += 1000.0
    with qtbot.waitSignal(player.moved):
        pass
    assert player.t == 0.0
    assert player.playing
    player.stop()


def test_reduced_motion_shows_stills(player: Player, now: Now, qtbot: QtBot) -> None:
    player.reduced_motion = True
    player.seek(0.0)
    with qtbot.waitSignal(player.moved):
        player.play()
    assert player.t == 0.5
    player.stop()


def test_steps_stop_where_a_step_is_best_looked_at(player: Player) -> None:
    player.seek(0.0)
    seen = []
    for _ in range(3):
        player.step(1)
        seen.append(player.t)
    player.step(-1)
    seen.append(player.t)
    assert seen == [0.5, 1.5, 2.5, 1.5]


def test_steps_end_at_the_ends(player: Player) -> None:
    player.step(1)
    assert player.at_end
    player.seek(0.2)
    player.step(-1)
    assert player.t == 0.0


def test_speed_changes_on_the_way(player: Player, now: Now, qtbot: QtBot) -> None:
    player.seek(0.0)
    player.set_speed(2.0)
    player.play()
    now.seconds += 1.0
    with qtbot.waitSignal(player.moved):
        pass
    timeline = player.timeline
    assert timeline is not None
    assert player.t == pytest.approx(timeline.beat_at(2.0))
    player.stop()
