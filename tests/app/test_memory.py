"""Cycles are freed on the event loop and never in a thread of the pool; what was loaded is not looked at."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable

from pytestqt.qtbot import QtBot

from gradviz.app.application import Application
from gradviz.app.memory import Collector


class Litter:
    """An object in a cycle with itself."""

    def __init__(self) -> None:
        self.itself = self


def litter(count: int) -> None:
    """Leave so many cycles behind."""
    for _ in range(count):
        Litter()


def watched(freed_in: list[threading.Thread]) -> None:
    """Leave a cycle behind that tells in which thread it is freed."""
    weakref.finalize(Litter(), lambda: freed_in.append(threading.current_thread()))


def in_a_thread(work: Callable[[], None]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_a_thread_that_makes_many_objects_frees_nothing(application: Application, qtbot: QtBot) -> None:
    freed_in: list[threading.Thread] = []
    gc.freeze()
    watched(freed_in)
    in_a_thread(lambda: litter(20_000))
    assert freed_in == []
    qtbot.waitUntil(lambda: freed_in == [threading.main_thread()])  # the timer's look


def test_the_collector_is_as_before_when_the_application_has_ended() -> None:
    assert gc.isenabled()
    made = Collector()
    assert not gc.isenabled()
    made.close()
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_what_was_loaded_is_put_out_of_sight() -> None:
    made = Collector()
    kept = [[number] for number in range(100_000)]
    before = gc.get_freeze_count()
    made.look()
    assert gc.get_freeze_count() - before >= len(kept)
    made.close()


def test_few_objects_are_looked_at_and_go_on_being_looked_at() -> None:
    made = Collector()
    freed_in: list[threading.Thread] = []
    watched(freed_in)
    before = gc.get_freeze_count()
    litter(10_000)
    made.look()
    assert freed_in == [threading.main_thread()]
    assert gc.get_freeze_count() == before
    made.close()
