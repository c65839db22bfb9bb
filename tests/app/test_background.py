"""Work in threads: results come back on the event loop, and nobody is called who has closed."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gradviz.app.background import Background, Cancelled, Errands, Task
from gradviz.errors import ScriptError
from gradviz.explain import findings
from gradviz.store.reader import close_recording, open_recording
from tests.recordings import two_calls
from tests.store.samples import write


@pytest.fixture
def background(qtbot: QtBot) -> Iterator[Background]:
    made = Background(threads=1)
    yield made
    made.close()


def test_the_result_comes_back_on_the_event_loop(background: Background, qtbot: QtBot) -> None:
    seen: list[tuple[bool, bool]] = []
    here = threading.get_ident()
    background.submit(
        lambda task: threading.get_ident() != here,
        lambda elsewhere: seen.append((elsewhere, threading.get_ident() == here)),
        lambda why: None,
    )
    qtbot.waitUntil(lambda: seen == [(True, True)])


def test_what_was_asked_of_a_recording_that_is_closed_is_moot(
    background: Background, qtbot: QtBot, tmp_path: Path
) -> None:
    write(two_calls(), tmp_path / "two.gradviz")
    recording = open_recording(str(tmp_path / "two.gradviz"))
    recording.detail(1)
    close_recording(recording)
    said: list[object] = []
    task = background.submit(lambda task: recording.detail(2), said.append, said.append)
    background.submit(lambda task: "next", said.append, said.append)
    qtbot.waitUntil(lambda: said != [])
    assert said == ["next"] and task.cancelled


def test_our_errors_are_sentences_and_others_are_told_whole(background: Background, qtbot: QtBot) -> None:
    said: list[str] = []

    def refuse(task: Task[None]) -> None:
        raise ScriptError("There is no script 'x'.")

    def break_down(task: Task[None]) -> None:
        raise ZeroDivisionError("oh")

    for work in (refuse, break_down):
        background.submit(work, lambda _: None, said.append)
    qtbot.waitUntil(lambda: len(said) == 2)
    assert said[0] == "There is no script 'x'."
    assert "ZeroDivisionError: oh" in said[1]


def test_a_cancelled_task_calls_nobody(background: Background, qtbot: QtBot) -> None:
    begun, go_on = threading.Event(), threading.Event()
    calls: list[object] = []

    def work(task: Task[int]) -> int:
        begun.set()
        go_on.wait(10)
        return 1

    task = background.submit(work, calls.append, calls.append)
    assert begun.wait(10)
    task.cancel()
    go_on.set()
    qtbot.waitUntil(lambda: task.over)
    assert calls == []


def test_an_owner_that_has_closed_is_not_called(background: Background, qtbot: QtBot) -> None:
    go_on = threading.Event()
    calls: list[object] = []
    errands = Errands(background)
    tasks = [errands.submit(lambda task: go_on.wait(10), calls.append, calls.append) for _ in range(3)]
    errands.close()
    go_on.set()
    other: list[int] = []
    background.submit(lambda task: 7, other.append, lambda why: None)
    qtbot.waitUntil(lambda: other == [7])  # another owner's work goes on
    assert all(task.over for task in tasks)
    assert calls == []


def test_what_the_work_holds_is_let_go_on_the_event_loop(background: Background, qtbot: QtBot) -> None:
    gone_in: list[int] = []
    entered, go_on = threading.Event(), threading.Event()

    class Widget:
        def work(self, task: Task[None]) -> None:
            entered.set()
            assert go_on.wait(20)
            task.check()

    def submit() -> Task[None]:
        widget = Widget()
        weakref.finalize(widget, lambda: gone_in.append(threading.get_ident()))
        return background.submit(widget.work, lambda _: None, lambda why: None)

    task = submit()
    assert entered.wait(20)
    task.cancel()  # its owner has closed: only the task still holds the widget
    go_on.set()
    qtbot.waitUntil(lambda: gone_in == [threading.get_ident()])


def test_findings_that_nobody_waits_for_are_given_up() -> None:
    """Closing the window waits for what is at work."""
    asked: list[int] = []

    def check() -> None:
        asked.append(1)
        if len(asked) == 3:
            raise Cancelled

    with pytest.raises(Cancelled):
        findings(two_calls(), check)
    assert len(asked) == 3
