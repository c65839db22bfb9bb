"""What `gradviz record --hold` does after the script has ended: asks for seeds, line by line."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from gradviz.cli.what_if import lines_of
from gradviz.errors import GradvizError
from gradviz.runner.experiments import Held
from gradviz.runner.keeping import keep
from gradviz.runner.snapshots import Snapshots
from gradviz.texts import tr

_END = ("q", "quit", "end", "exit")


def ask_for_seeds(snapshots: Snapshots, recording: str, lines: Iterable[str] | None = None) -> None:
    """Ask on the terminal; each experiment is printed and kept in the recording, beside the script's own calls.

    A line is a seed (for the newest call that is held), or a call's label, a colon and a seed: `2: one_hot(0)`.
    """
    _say(tr("Held: call {labels}. Type a seed (ones, one_hot(0), 2*G ...), or CALL: SEED; an empty line ends.",
            labels=", ".join(snapshots.labels())))  # fmt: skip
    for line in _typed() if lines is None else lines:
        label, seed = _split(line, snapshots)
        held = snapshots.find(label)
        if not seed or seed in _END or held is None:
            return
        _try(held, seed, recording)


def _try(held: Held, seed: str, recording: str) -> None:
    try:
        found = held.run([seed])
        keep(recording, found)
    except GradvizError as error:
        _say(str(error))
        return
    sys.stdout.write("".join(f"{line}\n" for line in lines_of(found)))
    sys.stdout.flush()


def _split(line: str, snapshots: Snapshots) -> tuple[str, str]:
    """`2: ones` -> call 2; a line without a label is for the newest call."""
    label, colon, seed = line.strip().partition(":")
    if colon and label.strip() in snapshots.labels():
        return label.strip(), seed.strip()
    return snapshots.labels()[-1], line.strip()


def _typed() -> Iterable[str]:
    while True:
        sys.stderr.write("seed> ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        if not line.strip():
            return
        yield line


def _say(text: str) -> None:
    sys.stderr.write(f"gradviz: {text}\n")
