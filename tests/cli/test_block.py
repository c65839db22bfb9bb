"""`gradviz info` and `gradviz explain` on a recorded block of a running program."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from gradviz.worker.in_process import record
from tests.recorded import gradviz


def ends() -> None:
    y = torch.ones(2, requires_grad=True).mul(2).sum()
    y.backward()


def raises() -> None:
    y = torch.ones(2, requires_grad=True).mul(2)
    y.backward()


def leaves() -> None:
    ends()
    raise SystemExit(3)


def interrupted() -> None:
    ends()
    raise KeyboardInterrupt


LINE = raises.__code__.co_firstlineno + 2
NO_SCALAR = "RuntimeError: grad can be implicitly created only for scalar outputs"


@pytest.mark.parametrize(
    ("block", "said"),
    [
        (ends, "ran to its end."),
        (raises, f"raised {NO_SCALAR} (line {LINE})"),
        (leaves, "was left by SystemExit with status 3."),
        (interrupted, f"raised KeyboardInterrupt (line {interrupted.__code__.co_firstlineno + 2})"),
    ],
)
def test_how_a_block_ended_is_said(block: Callable[[], None], said: str, tmp_path: Path) -> None:
    path = tmp_path / "r.gradviz"
    try:
        with record(path):
            block()
    except BaseException as error:
        assert block is not ends and isinstance(error, (RuntimeError, SystemExit, KeyboardInterrupt))
    info, explain = gradviz("info", str(path)), gradviz("explain", str(path))
    assert (info.returncode, explain.returncode) == (0, 0)
    first, _, sentence = info.stdout.splitlines()[:3]
    assert first == __file__
    assert sentence == explain.stdout.splitlines()[0] == f"The recorded block of test_block.py {said}"
    if block is raises:
        assert f"error    scalar-only  (line {LINE}, call 1)" in explain.stdout


def test_the_document_tells_a_block_from_a_script(tmp_path: Path) -> None:
    with record(tmp_path / "r.gradviz"):
        ends()
    found = json.loads(gradviz("info", str(tmp_path / "r.gradviz"), "--json").stdout)
    assert found["in_process"] is True and found["script"] == __file__ and found["argv"] == []
    assert found["outcome"]["kind"] == "finished"
