"""Starting, stopping and reading scripts: plain subprocesses and hand-counted bytes are the oracles."""

from __future__ import annotations

import os
import select
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradviz.protocol import CallCommitted, CallStarted, Hello, Message, Started, encode
from gradviz.runner import Callbacks, Connection, Run, Target, sentence
from gradviz.runner.listener import Listener
from gradviz.runner.output import KEPT
from tests.worker.running import HOSTILE, info_of


def run(script: Path, folder: Path, callbacks: Callbacks | None = None, *arguments: str) -> Run:
    target = Target(script=script.name, argv=arguments, cwd=str(script.parent))
    return Run(target, str(folder / "r.gradviz"), callbacks or Callbacks())


def stopped_after(word: bytes, script: str, folder: Path) -> tuple[Run, float, bytes]:
    """Start a script, stop it when it has printed `word`; return the run, the seconds that took, and its output."""
    printed, seen = bytearray(), threading.Event()

    def output(stream: str, seconds: float, data: bytes) -> None:
        printed.extend(data)
        if word in printed:
            seen.set()

    started = run(HOSTILE / script, folder, Callbacks(output=output))
    stopper: list[float] = []

    def stop() -> None:
        assert seen.wait(60)
        stopper.append(time.monotonic())
        started.stop()

    thread = threading.Thread(target=stop)
    thread.start()
    ended = started.run()
    took = time.monotonic() - stopper[0]
    thread.join()
    assert ended.outcome.kind == "stopped"
    assert sentence(ended.outcome, script) == f"{script} was stopped."
    return started, took, bytes(printed)


def test_a_run_that_is_over_touches_no_descriptor_when_it_is_stopped(tmp_path: Path) -> None:
    """Their numbers belong to others by then: each of these is read where it could have been written."""
    (tmp_path / "script.py").write_text("print('done')\n")
    over = run(tmp_path / "script.py", tmp_path)
    over.run()
    pairs = [socket.socketpair() for _ in range(20)]
    over.stop()
    ends = [end for pair in pairs for end in pair]
    assert select.select(ends, [], [], 0)[0] == []
    for end in ends:
        end.close()


def test_a_loop_without_end_stops_and_keeps_its_calls(tmp_path: Path) -> None:
    started, took, _ = stopped_after(b"going on", "never_ends.py", tmp_path)
    assert took < 2.5
    info = info_of(Path(started.recording))
    assert info["outcome"]["kind"] == "stopped"
    assert sum(call["complete"] for call in info["calls"]) >= 5


def test_a_script_that_ignores_signals_is_killed_with_its_children(tmp_path: Path) -> None:
    started, took, printed = stopped_after(b"child ", "ignores_signals.py", tmp_path)
    assert 1.9 < took < 4.5
    child = int(printed.split()[1])
    assert not _is_running(child)
    info = info_of(Path(started.recording))
    assert [call["complete"] for call in info["calls"]] == [True]
    assert (info["outcome"]["kind"], info["outcome"]["signal"]) == ("stopped", 9)


def _is_running(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_messages_come_in_order_and_only_from_the_worker(tmp_path: Path) -> None:
    script = tmp_path / "two.py"
    script.write_text(
        "import torch\nx = torch.ones(2, requires_grad=True)\n"
        "for k in range(2):\n    (x * k).sum().backward()\nprint('done')\n"
    )
    heard: list[Message] = []
    pids: list[int] = []

    def message(connection: Connection, what: Message) -> None:
        heard.append(what)

    ended = run(script, tmp_path, Callbacks(started=pids.append, message=message)).run()
    assert (ended.outcome.kind, ended.exit_code, ended.seen_torch) == ("finished", 0, True)
    hello, started = heard[0], heard[1]
    assert isinstance(hello, Hello) and hello.pid == pids[0]
    assert isinstance(started, Started)
    kinds = [(type(m), m.call) for m in heard if isinstance(m, CallStarted | CallCommitted)]
    assert kinds == [(CallStarted, 1), (CallCommitted, 1), (CallStarted, 2), (CallCommitted, 2)]


@pytest.mark.parametrize("line", [encode(Hello(token="wrong", pid=1)), b"GET / HTTP/1.1\r\n\r\n", encode(Started())])
def test_strangers_are_not_heard(line: bytes) -> None:
    listener = Listener()
    with socket.create_connection(("127.0.0.1", listener.port)) as stranger:
        connection = _until(listener.accept)
        stranger.sendall(line)
        assert _until(lambda: connection.receive() is None)
    listener.close()


def _until(ask: Callable[[], Any]) -> Any:
    """Ask until the answer is true; the operating system hands connections over in its own time."""
    end = time.monotonic() + 10
    while not (answer := ask()):
        assert time.monotonic() < end
        os.sched_yield()
    return answer


def test_output_of_100_mb_is_copied_and_its_ends_are_kept(tmp_path: Path) -> None:
    total = 0
    tail = bytearray()

    def output(stream: str, seconds: float, data: bytes) -> None:
        nonlocal total
        if stream == "stdout":
            total += len(data)
            tail.extend(data)
            del tail[:-200]

    ended = run(HOSTILE / "prints_much.py", tmp_path, Callbacks(output=output)).run()
    assert ended.exit_code == 0
    head = b"\xff\xfe\x00\x1b[31m 5%\r10%\r\n" + b'{"v": 1, "id": 1, "type": "finished", "result": null}\n'
    last = b"last line 60.0\n"
    assert total == len(head) + 100 * 1024 * 1024 + len(last)
    assert tail.endswith(b"0123456789abcde\n" + last)
    chunks = kept(ended.recording)
    first = b"".join(data for stream, omitted, data in chunks if stream == "stdout")
    assert len(first) == 2 * KEPT
    assert first.startswith(head + b"0123456789abcde\n") and first.endswith(last)
    assert sum(omitted for _, omitted, _ in chunks) == total - 2 * KEPT
    assert [data for stream, _, data in chunks if stream == "stderr"] == [b"warm\n"]
    assert Path(ended.recording).stat().st_size < 3_000_000
    assert len(info_of(Path(ended.recording))["calls"]) == 1


def kept(path: str) -> list[tuple[str, int, bytes]]:
    from gradviz.store.reader import close_recording, open_recording

    recording = open_recording(path)
    chunks = [(chunk.stream, chunk.omitted_before, chunk.data) for chunk in recording.source.output()]
    close_recording(recording)
    return chunks


def test_a_daemon_that_keeps_printing_does_not_hold_the_run(tmp_path: Path) -> None:
    script = tmp_path / "daemon.py"
    script.write_text(
        "import os, time, sys\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    end = time.monotonic() + 30\n"
        "    while time.monotonic() < end and os.getppid() != 0:\n"
        "        try:\n            os.write(1, b'.')\n        except OSError:\n            os._exit(0)\n"
        "        time.sleep(0.05)\n"
        "    os._exit(0)\n"
        "print('parent ends')\n"
    )
    began = time.monotonic()
    ended = run(script, tmp_path).run()
    assert ended.outcome.kind == "finished"
    assert time.monotonic() - began < 15
    assert b"parent ends" in b"".join(data for _, _, data in kept(ended.recording))
