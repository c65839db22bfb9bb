"""A recorded script cannot tell that it is recorded; plain python is the oracle."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.worker.running import FAITHFUL, environment, info_of, run_both

# An address, and the numbers of our own descriptors, which lie above those that scripts use.
ADDRESS = re.compile(r"0x[0-9a-f]+")


def test_the_environment_is_the_same(tmp_path: Path) -> None:
    both = run_both(FAITHFUL / "environment.py", tmp_path, ("a", "b c", "--flag"))
    plain, recorded = (json.loads(ADDRESS.sub("0x", run[1].decode())) for run in (both.plain, both.recorded))
    recorded["descriptors"] = [number for number in recorded["descriptors"] if number < 400]
    assert plain.keys() == recorded.keys()
    for name, value in plain.items():
        assert recorded[name] == value, name
    assert plain["argv"] == ["environment.py", "a", "b c", "--flag"]


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("uncaught_in_module", 0),
        ("uncaught_in_backward", 1),
        ("formats_itself", 4),
        ("proxies", 6),
        ("lifetimes", 104),
        ("processes", 3),
        ("own_tracers", 1),
        ("debuggers", 8),
        ("nested_tensors", 4),
        ("odd_tensors", 5),
        ("caught_elsewhere", 13),
        ("broken_library", 5),
    ],
)
def test_output_tracebacks_and_status_are_the_same(name: str, calls: int, tmp_path: Path) -> None:
    both = run_both(FAITHFUL / f"{name}.py", tmp_path)
    assert both.recorded == both.plain
    info = both.info()
    assert len(info["calls"]) == calls and info["notes"] == []


def test_lines_are_followed_again_when_the_scripts_own_tracer_goes(tmp_path: Path) -> None:
    script = tmp_path / "traced.py"
    script.write_text(
        "import sys, torch\nx = torch.ones(2, requires_grad=True)\n"
        "def own(frame, event, arg):\n    return own\n"
        "before = sys.gettrace()\nsys.settrace(own)\nhidden = (x * 2).sum()\nsys.settrace(before)\n"
        "shown = (x * 3).sum()\nsys.settrace(None)\n"
        "both = shown + hidden\nboth.backward()\nprint(x.grad, sys.gettrace())\n"
    )
    both = run_both(script, tmp_path)
    assert both.recorded == both.plain
    assert {(node["op"], node["line"]) for node in both.info()["nodes"] if node["kind"] == "operation"} == {
        ("AddBackward0", 11),
        *((name, line) for name in ("SumBackward0", "MulBackward0") for line in (9, None)),
    }


def test_a_node_made_under_the_scripts_own_tracer_has_no_line_of_another_threads(tmp_path: Path) -> None:
    info = run_both(FAITHFUL / "odd_tensors.py", tmp_path).info()
    nodes = {node["id"]: node for node in info["nodes"]}
    assert [(nodes[at]["op"], nodes[at]["line"]) for at in info["calls"][0]["nodes"]] == [
        *(("SumBackward0", None), ("MulBackward0", None), ("AccumulateGrad", None)),
    ]


def test_a_block_in_a_script_that_is_recorded_itself(tmp_path: Path) -> None:
    script = tmp_path / "outer.py"
    script.write_text(
        "import gradviz, os, torch\nx = torch.ones(2, requires_grad=True)\n(x * 2).sum().backward()\n"
        "with gradviz.record(f'{os.getpid()}.gradviz'):\n    (x * 4).exp().sum().backward()\n"
        "(x * 5).sum().backward()\nprint(x.grad)\n"
    )
    both = run_both(script, tmp_path)
    assert both.recorded == both.plain
    inner = [info_of(path) for path in sorted(tmp_path.glob("*.gradviz")) if path != both.path]
    assert [[call["nodes"] for call in info["calls"]] for info in inner] == [[[0, 1, 2, 3]]] * 2
    assert [call["nodes"] for call in both.info()["calls"]] == [[0, 1, 2], [3, 4, 5, 2], [6, 7, 2]]


def test_input_and_encoding(tmp_path: Path) -> None:
    both = run_both(FAITHFUL / "stdin_and_encoding.py", tmp_path, stdin=b"Ann\n1 2.5\n")
    assert both.recorded == both.plain
    assert b"Ann [2.0, 2.0]" in both.plain[1]


def test_all_ways_out_are_recorded(tmp_path: Path) -> None:
    both = run_both(FAITHFUL / "ways_out.py", tmp_path)
    assert both.recorded == both.plain
    assert both.plain[0] == 5
    info = both.info()
    assert [(call["thread"] == "MainThread", call["complete"]) for call in info["calls"]] == [
        (False, True),
        (True, True),
    ]
    assert info["outcome"]["kind"] == "exited"
    assert [call["accumulations"][0]["after"]["values"] for call in info["calls"]] == [6.0, 33.0]


def test_a_module_of_a_package(tmp_path: Path) -> None:
    package = tmp_path / "work" / "app" / "sub"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("")
    (package / "tool.py").write_text("def twice(x):\n    return x * 2\n")
    (package / "train.py").write_text(
        "import sys\nimport torch\nfrom .tool import twice\n"
        "print(__name__, __package__, __spec__.name, sys.argv, sys.path[0])\n"
        "x = torch.ones(2, requires_grad=True)\ntwice(x).sum().backward()\nprint(x.grad)\nraise KeyError('end')\n"
    )
    both = run_both(tmp_path / "work", tmp_path, ("one",), module="app.sub.train")
    assert both.recorded == both.plain
    assert both.plain[0] == 1
    info = both.info()
    assert {node["file"] and Path(node["file"]).name for node in info["nodes"]} == {"train.py", "tool.py", None}
    assert (info["outcome"]["type"], info["outcome"]["line"]) == ("KeyError", 8)


def test_state_for_a_second_run_is_in_the_recording(tmp_path: Path) -> None:
    script = tmp_path / "draws.py"
    script.write_text(
        "import random, torch, sys\n"
        "print(random.getstate()[1][:3], torch.get_rng_state()[:8].tolist(), hash('word'), torch.get_num_threads())\n"
    )
    both = run_both(script, tmp_path)
    shown = both.recorded[1].decode()
    database = sqlite3.connect(both.path)
    meta = {key: json.loads(value) for key, value in database.execute("SELECT key, value FROM meta")}
    database.close()
    assert shown.startswith(str(tuple(meta["random"]["random"][1][:3])))
    assert f"] {_hash_with(meta['header']['hash_seed'])} {meta['header']['threads']}\n" in shown


def _hash_with(seed: str) -> str:
    words = [sys.executable, "-c", "print(hash('word'))"]
    done = subprocess.run(words, env={**environment(), "PYTHONHASHSEED": seed}, capture_output=True, text=True)
    return done.stdout.strip()


def test_a_signal_reaches_the_script_and_the_recording_is_closed(tmp_path: Path) -> None:
    script = tmp_path / "waits.py"
    script.write_text(
        "import time, torch\nx = torch.ones(2, requires_grad=True)\n(x * 2).sum().backward()\n"
        "try:\n    print('waiting', flush=True)\n    time.sleep(60)\n"
        "except KeyboardInterrupt:\n    (x * 3).sum().backward()\n    print('interrupted')\n    raise SystemExit(7)\n"
    )
    path = tmp_path / "waits.gradviz"
    words = [sys.executable, "-m", "gradviz", "record", str(script), "-o", str(path)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    assert process.stdout is not None
    assert process.stdout.readline() == b"waiting\n"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (7, b"interrupted\n")
    info = info_of(path)
    assert [call["complete"] for call in info["calls"]] == [True, True]


def test_a_terminal_stays_a_terminal(tmp_path: Path) -> None:
    script = tmp_path / "tty.py"
    script.write_text(
        "import os, sys, shutil, torch\n"
        "print([os.isatty(n) for n in (0, 1, 2)], tuple(shutil.get_terminal_size()), sys.stdout.line_buffering)\n"
        "sys.stderr.write('to the error stream\\n')\n"
        "for i in range(3):\n    print(f'\\r{i}', end='')\nprint()\n"
    )
    plain = _in_terminal([sys.executable, str(script)], tmp_path)
    recorded = _in_terminal(
        [sys.executable, "-m", "gradviz", "record", str(script), "-o", str(tmp_path / "t.gradviz")], tmp_path
    )
    ours = recorded.index(b"gradviz: ")
    assert recorded[:ours] == plain
    assert b"[True, True, True] (91, 33) True\r\n" in plain
    database = sqlite3.connect(tmp_path / "t.gradviz")
    kept = database.execute("SELECT stream, data FROM output").fetchall()
    database.close()
    assert b"".join(data for _, data in kept).replace(b"\n", b"\r\n") == plain


def test_two_streams_to_one_file_keep_their_order(tmp_path: Path) -> None:
    script = tmp_path / "both.py"
    script.write_text(
        "import os\nfor i in range(200):\n    os.write(1, b'out %d\\n' % i)\n    os.write(2, b'error %d\\n' % i)\n"
    )
    words = [sys.executable, "-m", "gradviz", "record", str(script), "-o", str(tmp_path / "b.gradviz")]
    with open(tmp_path / "log", "wb") as log:
        subprocess.run(words, stdout=log, stderr=subprocess.STDOUT, env=environment(), check=True)
    shown = (tmp_path / "log").read_text().splitlines()[:400]
    assert shown == [f"{name} {i}" for i in range(200) for name in ("out", "error")]


def _in_terminal(words: list[str], cwd: Path) -> bytes:
    """Run a command on a terminal of 91 x 33 and return all that it shows."""
    import fcntl
    import os
    import struct
    import termios

    parent, child = os.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 91, 0, 0))
    variables: dict[str, Any] = {name: v for name, v in environment().items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(words, stdin=child, stdout=child, stderr=child, cwd=cwd, env=variables)
    os.close(child)
    shown = b""
    while True:
        try:
            part = os.read(parent, 65536)
        except OSError:  # nobody holds the other side any more
            break
        if not part:
            break
        shown += part
    process.wait(timeout=60)
    os.close(parent)
    return shown


def test_an_interrupt_while_we_work_shows_nothing_of_ours(tmp_path: Path) -> None:
    """Most of them come while a call is looked at or written: no frame of ours, and none of what we call."""
    both = run_both(FAITHFUL / "interrupted_backward.py", tmp_path)
    assert both.recorded == both.plain
    info = both.info()
    assert info["calls"][-1]["accumulations"][0]["after"]["values"] == [3.0, 3.0] and info["notes"] == []


def test_an_interrupt_hits_the_scripts_own_lines(tmp_path: Path) -> None:
    """However often Ctrl-C comes: no frame of ours is in a traceback, and the lines go on being followed."""
    both = run_both(FAITHFUL / "interrupted.py", tmp_path)
    assert both.recorded == both.plain
    assert both.plain[:2] == (0, b"['interrupted.py']\n")
    node = next(node for node in both.info()["nodes"] if node["op"] == "MulBackward0")
    assert (node["name"], node["line"]) == ("after", 39)
