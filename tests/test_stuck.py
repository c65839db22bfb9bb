"""The process beside the tests looks into one that stands still, and leaves others alone."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from tests.stuck import Witness

LOOKER = "echo"  # says what it was asked to look into


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "stacks" / "1.txt"


def test_a_process_that_goes_on_is_left_alone(file: Path) -> None:
    witness = Witness(file, 60.0, LOOKER)
    witness.begin()
    witness.close()
    assert not file.exists()


def test_one_that_stands_still_is_looked_into_once(file: Path) -> None:
    witness = Witness(file, 0.1, LOOKER)
    waiting, end = threading.Event(), time.monotonic() + 60
    while not file.exists() and time.monotonic() < end:
        waiting.wait(0.05)
    waiting.wait(0.5)
    witness.close()
    assert file.read_text().count(f"-p {os.getpid()}") == 1
