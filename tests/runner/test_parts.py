"""The parts of the runner: interpreters, names of recordings, kept output, sentences."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradviz.errors import InterpreterError, RecordingError, ScriptError, UsageError
from gradviz.model import Outcome
from gradviz.runner import Target, sentence
from gradviz.runner.interpreter import ask, check_interpreter
from gradviz.runner.naming import claim
from gradviz.runner.outcome import decide
from gradviz.runner.output import KEPT, Kept, merged


def executable(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def test_an_interpreter_says_what_it_is() -> None:
    import torch

    found = ask(sys.executable)
    assert found.python == sys.version_info[:3]
    assert found.torch == torch.__version__


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("#!/bin/sh\necho hello\n", "is not a Python 3"),
        ('#!/bin/sh\necho \'{"python": [3, 8, 2], "torch": "2.4.1"}\'\n', "gradviz records with Python 3.10 or newer"),
        ('#!/bin/sh\necho \'{"python": [3, 11, 2], "torch": "1.13.1"}\'\n', "gradviz records with torch 2.1 or newer"),
        ('#!/bin/sh\necho \'{"python": [3, 11, 2], "torch": null}\'\n', "has no torch"),
    ],
)
def test_an_interpreter_that_cannot_do_it_is_refused(text: str, words: str, tmp_path: Path) -> None:
    path = executable(tmp_path / "python", text)
    with pytest.raises(InterpreterError, match=words) as caught:
        check_interpreter(path)
    assert "--python" in str(caught.value)


def test_a_real_environment_without_torch_is_refused(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
    with pytest.raises(InterpreterError, match="has no torch"):
        check_interpreter(str(tmp_path / "bare" / "bin" / "python"))


def test_a_missing_interpreter_and_one_that_may_not_run(tmp_path: Path) -> None:
    with pytest.raises(InterpreterError, match="There is no Python"):
        check_interpreter(str(tmp_path / "nowhere"))
    (tmp_path / "plain").write_text("x")
    with pytest.raises(InterpreterError, match="cannot be executed"):
        check_interpreter(str(tmp_path / "plain"))


def test_a_torch_beside_the_caller_is_not_taken_for_the_interpreters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torch.py").write_text("__version__ = '9.9'")
    monkeypatch.chdir(tmp_path)
    assert ask(sys.executable).torch != "9.9"


@pytest.mark.parametrize(
    ("name", "words"),
    [("missing.py", "There is no script"), (".", "without a __main__.py"), ("x.ipynb", "no notebook")],
)
def test_what_cannot_run_is_refused(name: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "x.ipynb").write_text("{}")
    with pytest.raises(ScriptError, match=words):
        Target(script=name, cwd=str(tmp_path)).check()


def test_names_count_up_and_never_take_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = [os.path.basename(claim(None, "train.py", False, {})) for _ in range(3)]
    assert names == ["train.gradviz", "train-2.gradviz", "train-3.gradviz"]
    assert os.path.basename(claim(None, "pkg.train", False, {})) == "pkg.train.gradviz"
    (tmp_path / "mine.gradviz").write_text("precious")
    with pytest.raises(UsageError, match="--force"):
        claim("mine.gradviz", "train.py", False, {})
    assert (tmp_path / "mine.gradviz").read_text() == "precious"
    assert Path(claim("mine.gradviz", "train.py", True, {})).read_bytes() == b""
    with pytest.raises(RecordingError, match="-o"):
        claim("nowhere/x.gradviz", "train.py", False, {})
    with pytest.raises(UsageError, match="folder"):
        claim(str(tmp_path), "train.py", True, {})


def test_ranks_have_names_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    two = {"RANK": "1", "WORLD_SIZE": "2"}
    assert os.path.basename(claim(None, "train.py", False, two)) == "train.rank1.gradviz"
    assert os.path.basename(claim("out.gradviz", "train.py", False, two)) == "out.rank1.gradviz"
    assert os.path.basename(claim("alone.gradviz", "x.py", False, {"RANK": "0", "WORLD_SIZE": "1"})) == "alone.gradviz"


def test_kept_output_is_the_first_and_last_megabyte() -> None:
    out, error = Kept("stdout"), Kept("stderr")
    whole = bytearray()
    for turn in range(300):
        data = bytes([turn % 251]) * 10_007
        out.add(turn * 0.01, data)
        whole += data
    error.add(1.005, b"oops")
    chunks = merged(out, error)
    text = b"".join(chunk.data for chunk in chunks if chunk.stream == "stdout")
    assert text == bytes(whole[:KEPT] + whole[-KEPT:])
    assert sum(chunk.omitted_before for chunk in chunks) == len(whole) - 2 * KEPT
    assert [chunk.seconds for chunk in chunks] == sorted(chunk.seconds for chunk in chunks)


def test_single_characters_do_not_become_a_million_chunks() -> None:
    out = Kept("stdout")
    for turn in range(100_000):
        out.add(turn * 1e-5, b".")
    chunks = out.chunks()
    assert b"".join(chunk.data for chunk in chunks) == b"." * 100_000
    assert len(chunks) < 40


ERROR = {"type": "ValueError", "message": "bad\nworse", "file": "/x/a.py", "line": 3, "traceback": "..."}


@pytest.mark.parametrize(
    ("status", "words", "stopped", "outcome", "text"),
    [
        (0, {"error": None}, False, Outcome("finished", 0), "a.py ran to its end."),
        (
            1,
            {"error": ERROR},
            False,
            Outcome("raised", 1, None, *ERROR.values()),
            "a.py raised ValueError: bad (line 3)",
        ),
        (1, {"error": None}, False, Outcome("exited", 1), "a.py exited with status 1."),
        (7, None, False, Outcome("exited", 7), "a.py exited with status 7."),
        (-11, None, False, Outcome("killed", 139, 11), "a.py was ended by SIGSEGV (it crashed: a segmentation fault)."),
        (-9, None, True, Outcome("stopped", 137, 9), "a.py was stopped."),
    ],
)
def test_outcomes(status: int, words: dict[str, object] | None, stopped: bool, outcome: Outcome, text: str) -> None:
    assert decide(status, words, stopped) == outcome
    assert sentence(outcome, "a.py") == text
