"""What holds for every test: offscreen, no network, no process and no message left behind."""

from __future__ import annotations

import logging
import os
import subprocess
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.stuck import Witness, can_witness

_WITNESS = pytest.StashKey[Witness]()
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["GRADVIZ_LANGUAGE"] = "en"  # also on the machine of a developer whose desktop speaks another one
settings.register_profile("unhurried", deadline=None)  # an example may take a second on a machine that has more to do
settings.load_profile("unhurried")


def pytest_configure(config: pytest.Config) -> None:
    """Beside each process that runs tests stands one that looks into it when it is stuck."""
    runs_tests = hasattr(config, "workerinput") or not config.getoption("numprocesses", None)
    if runs_tests and can_witness():
        config.stash[_WITNESS] = Witness(config.rootpath / ".pytest_cache" / "stuck" / f"{os.getpid()}.txt")


def pytest_unconfigure(config: pytest.Config) -> None:
    """All tests have ended."""
    if (witness := config.stash.get(_WITNESS, None)) is not None:
        witness.close()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test begins."""
    if (witness := item.config.stash.get(_WITNESS, None)) is not None:
        witness.begin()


@pytest.fixture(autouse=True)
def no_unexpected_log(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A line of WARNING or worse in the log fails the test; none of ours is expected."""
    yield
    records = [record for when in ("setup", "call") for record in caplog.get_records(when)]
    loud = [record.getMessage() for record in records if record.levelno >= logging.WARNING]
    assert not loud, f"unexpected log lines: {loud}"


@pytest.fixture(autouse=True)
def no_process_left() -> Iterator[None]:
    """Processes that a test started have ended when it ends."""
    before = _children()
    yield
    left = {number: words for number, words in _children().items() if number not in before}
    assert not left, f"processes left behind: {left}"


def _children() -> dict[int, str]:
    """Running children of this process, zombies apart: process id -> command line."""
    listed = subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "pid=,stat=,args="], capture_output=True, text=True
    ).stdout.splitlines()
    found = {}
    for line in listed:
        number, state, words = line.split(None, 2)
        if not state.startswith("Z") and "ps --ppid" not in words:
            found[int(number)] = words
    return found
