"""The clock moves with the time that it is given, and only with that."""

from __future__ import annotations

import pytest

from gradviz.playback import Clock
from gradviz.playback.easing import between, ease_in, ease_in_out, ease_out, linear


class Now:
    """A time that stands until it is moved."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_play_pause_speed_seek() -> None:
    now = Now()
    clock = Clock(10.0, now)
    now.seconds += 5
    assert clock.seconds == 0.0 and not clock.playing
    clock.play()
    now.seconds += 2
    assert clock.seconds == 2.0 and clock.playing
    clock.speed = 3.0
    now.seconds += 1
    assert clock.seconds == 5.0
    clock.pause()
    now.seconds += 50
    assert clock.seconds == 5.0 and not clock.playing
    clock.seek(9.0)
    clock.play()
    now.seconds += 1
    assert clock.seconds == 10.0 and not clock.playing
    clock.play()  # from the start again
    assert clock.seconds == 0.0 and clock.playing


def test_backwards_stops_at_the_start_and_seek_is_limited() -> None:
    now = Now()
    clock = Clock(10.0, now)
    clock.seek(99.0)
    assert clock.seconds == 10.0
    clock.speed = -2.0
    clock.play()
    now.seconds += 3
    assert clock.seconds == 4.0 and clock.playing
    now.seconds += 30
    assert clock.seconds == 0.0 and not clock.playing


@pytest.mark.parametrize("ease", [linear, ease_in, ease_out, ease_in_out])
def test_easing_keeps_the_ends_and_never_goes_back(ease: object) -> None:
    assert callable(ease)
    values = [ease(k / 50) for k in range(-10, 61)]
    assert values[10] == 0.0 and values[60] == 1.0
    assert values == sorted(values) and min(values) == 0.0 and max(values) == 1.0


def test_between() -> None:
    assert [between(x, 0.2, 0.6) for x in (0.0, 0.2, 0.4, 0.6, 1.0)] == pytest.approx([0.0, 0.0, 0.5, 1.0, 1.0])
