"""`gradviz export` as it is typed: its words, its bar on a terminal, and what a Ctrl-C leaves."""

from __future__ import annotations

import argparse
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from gradviz.cli.export import Export, options_of
from gradviz.errors import UsageError
from gradviz.export import ExportOptions
from gradviz.resources import resource
from tests.recorded import gradviz

EXAMPLES = Path(str(resource("examples")))
TEXT = "{http://www.w3.org/2000/svg}text"


def options(*words: str) -> ExportOptions:
    """What the words of the command mean."""
    parser = argparse.ArgumentParser()
    Export().prepare(parser)
    return options_of(parser.parse_args(["a.gradviz", "-o", "a.png", *words]))


def drawn(path: Path, *words: str) -> tuple[list[str], set[str]]:
    """The texts and the ids of an SVG of the first example that the command wrote."""
    done = gradviz("export", str(EXAMPLES / "accumulate.gradviz"), "-o", str(path), *words)
    assert done.returncode == 0, done.stderr
    root = ET.parse(path).getroot()
    return [element.text or "" for element in root.iter(TEXT)], {element.get("id", "") for element in root.iter()}


def test_words_about_the_view() -> None:
    asked = options("--filter", "no-grad", "fold-leaves", "--fold", "encoder", "--range", "-6", "0", "--no-steps")
    assert asked.view.filters == ("no-grad", "fold-leaves")
    assert (asked.fold, asked.view.scale_range, asked.view.steps) == (("encoder",), (-6.0, 0.0), False)
    assert options("--fold", "all").fold == ("*",) and options("--expand", "all").expand == ("*",)
    assert options("--no-legend", "--no-captions", "--title", "T").view.title == "T"
    with pytest.raises(UsageError, match="decade"):
        options("--range", "0", "-6")


def test_a_part_of_the_graph_with_a_title_of_its_own(tmp_path: Path) -> None:
    texts, ids = drawn(tmp_path / "a.svg", "--filter", "between:t2|t1", "--title", "My figure", "--no-steps")
    assert {"node-0", "node-1"} <= ids and "node-2" not in ids
    assert "My figure" in texts and not any("engine step" in text for text in texts)
    assert "legend" in ids and "t1.grad = 24" in texts


def test_captions_and_legend_can_go(tmp_path: Path) -> None:
    _, ids = drawn(tmp_path / "a.svg", "--no-captions", "--no-legend", "--theme", "print")
    assert ids.isdisjoint({"title", "legend"}) and "node-0" in ids


@pytest.mark.parametrize(
    ("source", "output", "says"),
    [
        ("kept.gradviz", "kept.gradviz", "is what the picture is made from"),
        ("kept.gradviz", "link.png", "is what the picture is made from"),
        ("x.py", "x.py", "is what the picture is made from"),
        ("x.py", "pipe", "is a device or a pipe"),
        ("x.py", "nowhere/x.png", "There is no folder"),
        ("x.py", "x.bmp", "not a format of ours"),
    ],
)
def test_force_spares_what_is_no_output(source: str, output: str, says: str, tmp_path: Path) -> None:
    """Each is said before the script runs, and nothing that was there is touched."""
    kept = (EXAMPLES / "accumulate.gradviz").read_bytes()
    (tmp_path / "kept.gradviz").write_bytes(kept)
    (tmp_path / "link.png").symlink_to("kept.gradviz")
    (tmp_path / "x.py").write_text("print('never')\n")
    os.mkfifo(tmp_path / "pipe")
    before = sorted(os.listdir(tmp_path))
    words = [] if output.endswith(".bmp") else ["--format", "png"]
    done = gradviz("export", str(tmp_path / source), "-o", str(tmp_path / output), "--force", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("gradviz: ") and says in done.stderr and done.stderr.count("\n") == 1
    assert sorted(os.listdir(tmp_path)) == before
    assert (tmp_path / "kept.gradviz").read_bytes() == kept
    assert (tmp_path / "x.py").read_text() == "print('never')\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--time", "nan"), "is no number"),
        (("--hold", "inf"), "is no number"),
        (("--range", "0", "inf"), "is no number"),
        (("--time=-5",), "at least 0"),
        (("--step=-1",), "from 0"),
        (("--dpi", "0"), "above 0"),
        (("--width-cm=-1",), "above 0"),
        (("--width", "0"), "from 1"),
        (("--scale", "0"), "above 0"),
        (("--fps", "0"), "above 0"),
    ],
)
def test_numbers_that_mean_nothing(words: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    Export().prepare(parser)
    with pytest.raises(SystemExit) as ended:
        parser.parse_args(["a.gradviz", "-o", "a.png", *words])
    assert ended.value.code == 2
    assert says in capsys.readouterr().err


def test_a_wrong_filter_names_those_that_there_are(tmp_path: Path) -> None:
    path = EXAMPLES / "accumulate.gradviz"
    done = gradviz("export", str(path), "-o", str(tmp_path / "a.png"), "--filter", "nonsense")
    assert done.returncode == 2 and "between:KEY" in done.stderr and list(tmp_path.iterdir()) == []


def on_a_terminal(*words: str, until: str, then: signal.Signals | None = None) -> tuple[int, str]:
    """Run the command with a terminal as stderr; after `until` has been seen send a signal."""
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "gradviz", *words]
    running = subprocess.Popen(command, stdin=slave, stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    seen, sent, end = "", False, time.monotonic() + 120
    while time.monotonic() < end:
        ready, _, _ = select.select([master], [], [], 0.5)
        try:
            seen += os.read(master, 65536).decode() if ready else ""
        except OSError:  # the other side is closed: it has ended
            break
        if then is not None and not sent and re.search(until, seen):
            running.send_signal(then)
            sent = True
    os.close(master)
    return running.wait(timeout=60), seen


def test_a_terminal_sees_a_bar_that_fills(tmp_path: Path) -> None:
    words = ("export", str(EXAMPLES / "leaf_root.gradviz"), "-o", str(tmp_path / "a.gif"), "--width", "200")
    code, seen = on_a_terminal(*words, until="never")
    bars = re.findall(r"\[(#*)(\.*)\] (\d+)/(\d+)", seen)
    assert code == 0 and len(bars) > 3
    assert all(len(done) + len(rest) == 30 for done, rest, _, _ in bars)
    assert (bars[0][0], bars[-1][1]) == ("", "") and bars[-1][2] == bars[-1][3]


def test_a_pipe_sees_no_bar(tmp_path: Path) -> None:
    done = gradviz("export", str(EXAMPLES / "leaf_root.gradviz"), "-o", str(tmp_path / "a.png"))
    assert "[#" not in done.stderr and "wrote" in done.stderr


@pytest.mark.parametrize("name", ["a.gif", "a.html", "a-%03d.png"])
def test_control_c_leaves_no_half_file(tmp_path: Path, name: str) -> None:
    words = ("export", str(EXAMPLES / "training.gradviz"), "-o", str(tmp_path / name), "--scale", "2")
    code, seen = on_a_terminal(*words, until=r"\] [1-9]\d*/", then=signal.SIGINT)
    assert code == 130 and "nothing was written" in seen
    assert list(tmp_path.iterdir()) == []
