"""Scripts that really run in the window: trust, state, output, input, Stop, crashes, and what is recorded."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from pytestqt.qtbot import QtBot

from gradviz.app.main_window import MainWindow
from gradviz.app.settings import Settings
from gradviz.app.workspace import Workspace
from tests.app.watchdog import Watchdog

TWO_CALLS = """import torch
t1 = torch.tensor(3.0, requires_grad=True)
t2 = t1 * 4
t2.retain_grad()
t2.backward(retain_graph=True)
t3 = t2 * 5
t3.retain_grad()
t3.backward()
print("t1.grad", t1.grad.item())
"""


def script(folder: Path, text: str, name: str = "script.py") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def open_trusted(window: MainWindow, path: str) -> Workspace:
    """Open a script that needs no question."""
    window.services.settings.trust_file(path)
    window.open_path(path)
    tab = window.current
    assert tab is not None
    return tab


def run_to_end(window: MainWindow, qtbot: QtBot, path: str) -> Workspace:
    """Run a script and wait until its recording is shown."""
    tab = open_trusted(window, path)
    wait_for_end(tab, qtbot)
    return tab


def wait_for_end(tab: Workspace, qtbot: QtBot) -> None:
    def ended() -> bool:
        loaded = tab.session.loaded
        return not tab.running.alive and loaded is not None and not loaded.live

    qtbot.waitUntil(ended, timeout=60_000)


def output(tab: Workspace) -> list[str]:
    return [line.text for line in tab.running.lines.lines]


class TestTrust:
    def test_nothing_runs_before_the_answer(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        path = script(tmp_path, "open('ran', 'w')")
        window.open_path(path)
        tab = window.current
        assert tab is not None
        assert tab.middle.page == "ask"
        assert tab.middle.ask.question.text() == "Run script.py?"
        assert tab.middle.ask.chosen_python == sys.executable
        assert tab.middle.ask.folder.text() == str(tmp_path)
        qtbot.waitUntil(lambda: tab.source.view.toPlainText() == "open('ran', 'w')")  # it can be read before
        qtbot.mouseClick(tab.middle.ask.cancel, Qt.MouseButton.LeftButton)
        assert tab.middle.page == "words"
        assert not tab.running.alive
        assert not (tmp_path / "ran").exists()

    def test_run_is_asked_once(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        path = script(tmp_path, "open('ran', 'a').write('x')")
        window.open_path(path)
        tab = window.current
        assert tab is not None
        qtbot.mouseClick(tab.middle.ask.run, Qt.MouseButton.LeftButton)
        wait_for_end(tab, qtbot)
        qtbot.keyClick(window, Qt.Key.Key_F5)
        assert tab.middle.page != "ask"
        wait_for_end(tab, qtbot)
        qtbot.waitUntil(lambda: (tmp_path / "ran").read_text() == "xx", timeout=60_000)

    def test_enter_runs_and_escape_does_not(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        window.open_path(script(tmp_path, "open('ran', 'w')"))
        tab = window.current
        assert tab is not None
        assert tab.middle.ask.run.hasFocus()
        qtbot.keyClick(tab.middle.ask.run, Qt.Key.Key_Escape)
        assert tab.middle.page == "words"
        qtbot.keyClick(window, Qt.Key.Key_F5)
        assert tab.middle.ask.run.hasFocus()
        tab.middle.ask.cancel.setFocus()
        qtbot.keyClick(tab.middle.ask.cancel, Qt.Key.Key_Return)
        assert tab.middle.page == "words"
        assert not (tmp_path / "ran").exists()
        qtbot.keyClick(window, Qt.Key.Key_F5)
        qtbot.keyClick(tab.middle.ask.run, Qt.Key.Key_Return)
        wait_for_end(tab, qtbot)
        assert (tmp_path / "ran").exists()

    def test_always_for_this_folder(self, window: MainWindow, qtbot: QtBot, tmp_path: Path, settings: Settings) -> None:
        window.open_path(script(tmp_path, "pass"))
        tab = window.current
        assert tab is not None
        tab.middle.ask.always.click()
        qtbot.mouseClick(tab.middle.ask.run, Qt.MouseButton.LeftButton)
        wait_for_end(tab, qtbot)
        assert settings.trusts(str(tmp_path / "another.py"))

    def test_arguments_and_folder_can_be_changed(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        other = tmp_path / "other"
        other.mkdir()
        window.open_path(script(tmp_path, "import os, sys\nprint(sys.argv[1:], os.path.basename(os.getcwd()))"))
        tab = window.current
        assert tab is not None
        qtbot.keyClicks(tab.middle.ask.arguments, "--lr 0.1 'two words'")
        tab.middle.ask.folder.setText(str(other))
        qtbot.keyClick(tab.middle.ask.arguments, Qt.Key.Key_Return)
        wait_for_end(tab, qtbot)
        assert output(tab)[0] == "['--lr', '0.1', 'two words'] other"

    def test_an_open_quotation_is_not_run(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        window.open_path(script(tmp_path, "pass"))
        tab = window.current
        assert tab is not None
        qtbot.keyClicks(tab.middle.ask.arguments, "'open")
        qtbot.keyClick(tab.middle.ask.arguments, Qt.Key.Key_Return)
        assert tab.middle.page == "ask"
        assert not tab.running.alive

    def test_interpreters_are_offered_with_their_torch(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        window.open_path(script(tmp_path, "pass"))
        tab = window.current
        assert tab is not None
        box = tab.middle.ask.python
        qtbot.waitUntil(lambda: "torch 2." in box.itemText(0), timeout=20_000)
        assert tab.middle.ask.chosen_python == sys.executable


class TestRuns:
    def test_the_two_calls(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab = run_to_end(window, qtbot, script(tmp_path, TWO_CALLS))
        qtbot.waitUntil(lambda: tab.drawing.scene is not None and tab.session.findings != (), timeout=30_000)
        assert output(tab)[0] == "t1.grad 24.0"
        assert [entry.title for entry in tab.session.entries] == ["t2.backward(retain_graph=True)", "t3.backward()"]
        assert "accumulated" in {finding.code for finding in tab.session.findings}
        recording = tab.session.recording
        assert recording is not None
        left = {entry.name: entry.left for entry in recording.detail(2).accumulations}
        assert left["t1"] is not None
        assert left["t1"].item() == 24.0

    def test_a_second_run_keeps_what_was_looked_at(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        path = script(tmp_path, TWO_CALLS)
        tab = run_to_end(window, qtbot, path)
        session = tab.session
        qtbot.waitUntil(lambda: session.story is not None)
        session.select(["t1"])
        session.player.seek(1.5)
        first = session.recording
        qtbot.keyClick(window, Qt.Key.Key_F5)
        wait_for_end(tab, qtbot)
        qtbot.waitUntil(
            lambda: session.story is not None and session.story.timeline.recording is session.recording, timeout=20_000
        )
        assert session.recording is not first
        assert session.view.selected == ("t1",)
        assert session.player.t == pytest.approx(1.5)

    def test_a_script_without_backward_is_told_what_to_do(
        self, window: MainWindow, qtbot: QtBot, tmp_path: Path
    ) -> None:
        tab = run_to_end(window, qtbot, script(tmp_path, "print(1)"))
        assert tab.middle.page == "words"
        assert "ran to its end" in tab.middle.words.title.text()
        assert "requires_grad" in tab.middle.words.words.text()
        assert output(tab)[0] == "1"

    def test_a_script_that_does_not_parse(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab = run_to_end(window, qtbot, script(tmp_path, "x = (1,\n"))
        assert "SyntaxError" in tab.middle.words.title.text()
        assert any("SyntaxError" in line for line in output(tab))

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
            ("import os; os._exit(7)", "status 7"),
            ("raise ValueError('what')", "ValueError: what (line 1)"),
        ],
    )
    def test_a_crash_is_a_sentence(
        self, window: MainWindow, qtbot: QtBot, tmp_path: Path, text: str, words: str
    ) -> None:
        tab = run_to_end(window, qtbot, script(tmp_path, text))
        assert words in tab.middle.words.title.text()
        assert words in output(tab)[-1]

    def test_stop_ends_a_script_that_never_ends(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        text = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('on', flush=True)\nwhile True: pass"
        tab = open_trusted(window, script(tmp_path, text))
        qtbot.waitUntil(lambda: output(tab) == ["on"], timeout=30_000)
        assert tab.middle.page == "words"
        assert tab.middle.words.button.text() == "Stop"
        began = time.monotonic()
        qtbot.mouseClick(tab.middle.words.button, Qt.MouseButton.LeftButton)
        wait_for_end(tab, qtbot)
        assert time.monotonic() - began < 5.0
        assert "was stopped" in tab.middle.words.title.text()

    def test_input_is_answered(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab = open_trusted(window, script(tmp_path, "print('hello', input('name? '))"))
        qtbot.waitUntil(lambda: output(tab) == ["name? "], timeout=30_000)
        line = tab.console.input
        assert line.isVisible()
        qtbot.keyClicks(line, "Ada")
        qtbot.keyClick(line, Qt.Key.Key_Return)
        wait_for_end(tab, qtbot)
        assert "hello Ada" in output(tab)

    def test_input_that_nobody_reads_does_not_hold_the_window(
        self, window: MainWindow, qtbot: QtBot, tmp_path: Path
    ) -> None:
        """A pipe takes 64 KB; the write after that would have waited for the script, and the window with it."""
        tab = open_trusted(window, script(tmp_path, "import time\nprint('on', flush=True)\ntime.sleep(600)"))
        qtbot.waitUntil(lambda: output(tab) == ["on"], timeout=30_000)
        adapter = tab.running.adapter
        assert adapter is not None
        for _ in range(3):
            adapter.send_line("x" * 20_000)
        qtbot.waitUntil(lambda: "was not sent" in output(tab)[-1])
        assert sum(line.startswith("xxx") for line in output(tab)) == 2

    def test_streams_are_told_apart(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        text = "import sys\nprint('out', flush=True)\nprint('err', file=sys.stderr)"
        tab = run_to_end(window, qtbot, script(tmp_path, text))
        streams = {line.text: line.stream for line in tab.running.lines.lines}
        assert (streams["out"], streams["err"]) == ("stdout", "stderr")

    def test_a_hundred_megabytes_do_not_hold_the_window(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        text = "input()\nline = 'x' * 99\nfor k in range(10_000): print(line + ('\\n' + line) * 99)\nprint('last')"
        tab = open_trusted(window, script(tmp_path, text))
        qtbot.waitUntil(lambda: tab.running.adapter is not None and tab.running.adapter.state.pid is not None)
        with Watchdog() as dog:  # opening has a watchdog of its own, in test_large
            qtbot.keyClick(tab.console.input, Qt.Key.Key_Return)
            wait_for_end(tab, qtbot)
            qtbot.waitUntil(lambda: "last" in tab.console.view.toPlainText(), timeout=60_000)
        assert dog.worst < 0.25  # see LONGEST in test_large
        assert tab.console.view.blockCount() <= 10_000

    def test_closing_the_tab_ends_the_script(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab = open_trusted(window, script(tmp_path, "import time\nprint('on', flush=True)\ntime.sleep(600)"))
        qtbot.waitUntil(lambda: output(tab) == ["on"], timeout=30_000)
        adapter = tab.running.adapter
        assert adapter is not None
        qtbot.waitUntil(lambda: adapter.state.pid is not None)
        pid = adapter.state.pid
        assert pid is not None
        with qtbot.waitSignal(adapter.ended, timeout=10_000):
            qtbot.keyClick(window, Qt.Key.Key_W, Qt.KeyboardModifier.ControlModifier)
            assert window.current is None
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)

    def test_calls_appear_while_the_script_runs(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        text = TWO_CALLS + "input()\n"
        tab = open_trusted(window, script(tmp_path, text))
        qtbot.waitUntil(lambda: len(tab.session.entries) == 2 and tab.running.alive, timeout=60_000)
        qtbot.waitUntil(lambda: tab.drawing.scene is not None, timeout=30_000)
        assert "2 calls so far" in window.state_label.text()
        tab.running.stop()
        wait_for_end(tab, qtbot)
        assert len(tab.session.entries) == 2

    def test_a_python_that_is_not_there(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        path = script(tmp_path, "pass")
        window.services.settings.trust_file(path)
        with qtbot.waitSignal(window.tabs.said, timeout=20_000):
            window.open_path(path, str(tmp_path / "no-python"))
        tab = window.current
        assert tab is not None
        assert tab.middle.page == "words"
        assert "cannot be started" in tab.middle.words.words.text()


class TestOpening:
    def test_a_dropped_file_is_opened(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        path = script(tmp_path, "pass")
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(path)])
        left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        window.dropEvent(QDropEvent(QPointF(50, 50), Qt.DropAction.CopyAction, data, left, none))
        assert window.current is not None
        assert window.current.title == "script.py"
        assert window.current.middle.page == "ask"

    def test_a_file_that_is_no_recording(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        path = tmp_path / "x.gradviz"
        path.write_bytes(b"hello")
        window.open_path(str(path))
        tab = window.current
        assert tab is not None
        qtbot.waitUntil(lambda: "not a gradviz recording" in tab.middle.words.words.text(), timeout=10_000)

    def test_a_script_that_is_not_there(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        window.open_path(str(tmp_path / "missing.py"))
        tab = window.current
        assert tab is not None
        qtbot.waitUntil(lambda: "cannot be read" in tab.middle.words.words.text(), timeout=10_000)

    def test_the_same_file_is_opened_once(self, window: MainWindow, tmp_path: Path) -> None:
        path = script(tmp_path, "pass")
        window.open_path(path)
        window.open_path(path)
        window.open_path(script(tmp_path, "pass", "other.py"))
        assert window.pages.count() == 2
        window.open_path(path)
        assert window.current is not None
        assert window.current.title == "script.py"

    def test_recent_files_are_remembered(self, window: MainWindow, settings: Settings, tmp_path: Path) -> None:
        path = script(tmp_path, "pass")
        window.open_path(path)
        assert settings.recent == (path,)


class TestChanges:
    def test_a_changed_script_is_offered_to_run_again(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        path = script(tmp_path, "print(1)")
        tab = run_to_end(window, qtbot, path)
        banner = tab.middle.banner
        assert not banner.isVisible()
        # As editors do it: another file takes the place of the old one.
        script(tmp_path, "print(2)", "script.py.new")
        os.replace(tmp_path / "script.py.new", path)
        qtbot.waitUntil(banner.isVisible, timeout=10_000)
        assert "has changed on the disk" in banner.words.text()
        qtbot.mouseClick(banner.button, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: not tab.running.alive and "2" in output(tab), timeout=30_000)
        assert not banner.isVisible()

    def test_saving_without_a_change_is_not_told(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        path = script(tmp_path, "print(1)")
        tab = run_to_end(window, qtbot, path)
        with qtbot.waitSignal(tab.watch.looked, timeout=10_000):
            script(tmp_path, "print(1)")
        assert not tab.middle.banner.isVisible()
