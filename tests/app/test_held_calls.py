"""Held calls in the window: live snapshots of a run, the script run again, consent, Stop, and nothing left behind."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from gradviz.app.held_calls import HeldCalls
from gradviz.app.main_window import MainWindow
from gradviz.runner.experiments import Held
from gradviz.store.reader import close_recording
from tests.app.test_running import open_trusted, run_to_end, script
from tests.holding import read

# By hand: y = 3 x, so a seed v brings 3 v; five calls, of which the last three are held.
FIVE = """import sys, torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
for k in range(5):
    y = 3 * x
    y.sum().backward()
    x.grad = None
"""


class Answer:
    """What came of a question."""

    def __init__(self, calls: HeldCalls, label: str, work: Callable[[Held], Any]) -> None:
        self.value: Any = None
        self.why = ""
        self.question = calls.start(label, lambda held, _: work(held), self._done, self._failed)

    def _done(self, value: Any) -> None:
        self.value = value

    def _failed(self, why: str) -> None:
        self.why = why

    @property
    def there(self) -> bool:
        return self.value is not None or self.why != ""


def ask(qtbot: QtBot, calls: HeldCalls, label: str, work: Callable[[Held], Any]) -> Answer:
    answer = Answer(calls, label, work)
    qtbot.waitUntil(lambda: answer.there, timeout=60_000)
    return answer


def gradient(held: Held) -> Any:
    return read(held.run(["one_hot(1)"], ["y"]).recording).grad("x")


def process(held: Held) -> int:
    assert held.process is not None
    return held.process


def is_gone(number: int) -> bool:
    """Ended; perhaps nobody has asked for its status yet."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_the_last_calls_of_a_run_are_held(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    calls = run_to_end(window, qtbot, script(tmp_path, FIVE)).held_calls
    assert calls.live() == ("3", "4", "5")
    assert calls.readiness("4") == "live"
    assert calls.readiness("4?1") == "live"
    assert ask(qtbot, calls, "4", gradient).value == [0.0, 3.0]
    answer = ask(qtbot, calls, "4", lambda held: held.run(["[1, 2, 3]"]))
    assert "The root is a scalar" in answer.why


def test_another_call_is_reached_by_running_again(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    tab = run_to_end(window, qtbot, script(tmp_path, FIVE))
    told: list[str] = []
    differed: list[str] = []
    tab.held_calls.told.connect(told.append)
    tab.held_calls.differed.connect(lambda label, words: differed.append(words))
    assert tab.held_calls.readiness("1") == "again"
    assert ask(qtbot, tab.held_calls, "1", gradient).value == [0.0, 3.0]
    assert told[0] == "Running script.py again to call 1 …"
    assert told[-1] == ""
    assert differed == []
    assert tab.held_calls.readiness("1") == "live"


def test_what_came_out_else_is_told(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    text = FIVE.replace("3 * x", "x * (3 if k else 4 + open('n', 'a').write('x') + len(open('n').read()))")
    tab = run_to_end(window, qtbot, script(tmp_path, text))
    with qtbot.waitSignal(tab.held_calls.differed, timeout=60_000) as blocker:
        ask(qtbot, tab.held_calls, "1", gradient)
    assert blocker.args is not None
    assert blocker.args[0] == "1"
    assert "is not what it was: " in blocker.args[1]


def test_a_script_that_does_not_come_there_again(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = script(tmp_path, FIVE)
    tab = run_to_end(window, qtbot, path)
    script(tmp_path, "print('changed')")
    answer = ask(qtbot, tab.held_calls, "2", gradient)
    assert answer.why.startswith("The script did not come to call 2 again.")


def test_running_again_can_be_stopped(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = script(tmp_path, FIVE)
    tab = run_to_end(window, qtbot, path)
    script(tmp_path, "import time, torch\ntime.sleep(600)\n")
    told: list[str] = []
    tab.held_calls.told.connect(told.append)
    answer = Answer(tab.held_calls, "1", gradient)
    assert not answer.there
    tab.held_calls.stop()
    qtbot.waitUntil(lambda: answer.there, timeout=60_000)
    assert answer.why == "The script was stopped before it came to call 1."
    other = Answer(tab.held_calls, "2", gradient)
    other.question.cancel()
    assert other.why == "Cancelled."


def test_a_recording_that_was_closed_meanwhile(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    """As when all threads are busy, and an experiment that ends puts another recording into its place."""
    tab = run_to_end(window, qtbot, script(tmp_path, FIVE))
    told: list[str] = []
    tab.held_calls.told.connect(told.append)
    assert tab.session.loaded is not None
    close_recording(tab.session.loaded.recording)
    assert ask(qtbot, tab.held_calls, "1", gradient).why == "The script was not run again."
    assert told[-1] == ""
    tab.session.open_recording(tab.session.loaded.path)
    qtbot.waitUntil(lambda: not tab.session.reading, timeout=60_000)
    assert ask(qtbot, tab.held_calls, "1", gradient).value == [0.0, 3.0]


def test_while_the_script_runs_it_is_not_run_twice(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    tab = open_trusted(window, script(tmp_path, FIVE + "print('there', flush=True)\ninput()\n"))
    qtbot.waitUntil(lambda: [line.text for line in tab.running.lines.lines] == ["there"], timeout=60_000)
    assert tab.held_calls.readiness("1") == "running"
    assert ask(qtbot, tab.held_calls, "5", gradient).value == [0.0, 3.0]  # held while the script waits
    assert "is still running" in ask(qtbot, tab.held_calls, "1", gradient).why


def test_a_recording_from_elsewhere_asks_once(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    tab = run_to_end(window, qtbot, script(tmp_path, FIVE))
    assert tab.session.loaded is not None
    shutil.copyfile(tab.session.loaded.path, tmp_path / "copy.gradviz")
    window.tabs.close(tab)
    window.open_path(str(tmp_path / "copy.gradviz"))
    opened = window.current
    assert opened is not None
    qtbot.waitUntil(lambda: opened.session.recording is not None, timeout=20_000)

    def box() -> QMessageBox:
        found = window.findChildren(QMessageBox)
        assert len(found) == 1
        return found[0]

    refused = Answer(opened.held_calls, "1", gradient)
    assert str(tmp_path / "script.py") in box().text()
    qtbot.keyClick(box(), Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: refused.why == "The script was not run again.")
    qtbot.waitUntil(lambda: window.findChildren(QMessageBox) == [])
    agreed = Answer(opened.held_calls, "1", gradient)
    qtbot.keyClick(box(), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: agreed.there, timeout=60_000)
    assert agreed.value == [0.0, 3.0]
    assert ask(qtbot, opened.held_calls, "2", gradient).value == [0.0, 3.0]  # no second question


def test_nothing_is_left_behind(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    tab = run_to_end(window, qtbot, script(tmp_path, FIVE))
    calls = tab.held_calls
    numbers = [ask(qtbot, calls, label, process).value for label in ("3", "4", "1", "5")]
    assert len(set(numbers)) == 4
    qtbot.waitUntil(lambda: is_gone(numbers[0]), timeout=10_000)  # the oldest made room for call 1
    assert not any(map(is_gone, numbers[1:]))
    with qtbot.waitSignal(calls.changed, timeout=10_000):
        calls.end("4")
    qtbot.waitUntil(lambda: is_gone(numbers[1]), timeout=10_000)
    qtbot.keyClick(window, Qt.Key.Key_W, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: all(map(is_gone, numbers)), timeout=10_000)


def processes_of(path: str) -> list[int]:
    """All processes that are alive and run this script: the script itself, snapshots, and their experiments."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if path.encode() in words and not is_gone(int(number)):
            found.append(int(number))
    return found


def test_closing_the_window_leaves_no_process(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = script(tmp_path, FIVE + "print('there', flush=True)\ninput()\n")
    tab = open_trusted(window, path)
    qtbot.waitUntil(lambda: [line.text for line in tab.running.lines.lines] == ["there"], timeout=60_000)
    ask(qtbot, tab.held_calls, "5", gradient)
    assert len(processes_of(path)) >= 4  # the script and three snapshots
    Answer(tab.held_calls, "5", lambda held: held.run(["sum(iter(int, 1))"]))  # nobody waits for its end
    window.close()
    qtbot.waitUntil(lambda: processes_of(path) == [], timeout=20_000)


def test_a_snapshot_that_dies_is_run_again(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    calls = run_to_end(window, qtbot, script(tmp_path, FIVE)).held_calls
    number = ask(qtbot, calls, "5", process).value
    os.kill(number, 9)
    assert "is gone" in ask(qtbot, calls, "5", gradient).why
    assert calls.readiness("5") == "again"
    answer = ask(qtbot, calls, "5", gradient)
    assert answer.value == [0.0, 3.0], answer.why
