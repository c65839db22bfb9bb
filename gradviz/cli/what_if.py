"""An experiment as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradviz.cli.describe import describe_call, short
from gradviz.model import TensorValue
from gradviz.model.numbers import number_text
from gradviz.runner.experiments import JacobianFound, WhatIf
from gradviz.store.reader import close_recording, open_recording
from gradviz.texts import tr

_MOST_ROWS = 32


def lines_of(what_if: WhatIf) -> list[str]:
    """What the experiment did: its roots and seeds, and every gradient that it gave."""
    recording = open_recording(what_if.recording)
    try:
        call = recording.call(1)
        lines = list(describe_call(recording, call))
    finally:
        close_recording(recording)
    title = tr("what if, on call {label}: seed {seed}", label=what_if.label, seed=call.note or tr("as in the script"))
    return [title, *lines[1:], *(f"  {note}" for note in what_if.notes)]


def jacobian_lines(found: JacobianFound, input: str) -> list[str]:
    """The rows of a Jacobian, one line each: the element of the root, then d of it / d input."""
    recording = open_recording(found.what_if.recording)
    try:
        (matrix,) = recording.detail(1).returned or (None,)
        root = recording.call(1).roots[0].name or tr("root")
    finally:
        close_recording(recording)
    head = f"d {root} / d {input}: {list(found.root_shape)} x {list(found.input_shape)}"
    if matrix is None:
        return [head]
    shown = list(_rows(found, matrix, root))
    rest = len(found.rows) - len(shown)
    return [head, *shown, *([f"  ... {rest}"] if rest > 0 else [])]


def _rows(found: JacobianFound, matrix: TensorValue, root: str) -> Iterator[str]:
    numbers = matrix.nested()
    for position, row in enumerate(found.rows[:_MOST_ROWS]):
        index = ",".join(map(str, _index(row, found.root_shape)))
        yield f"  {root}[{index}]  " + (short(matrix) if numbers is None else _text(numbers[position]))


def _index(flat: int, shape: tuple[int, ...]) -> list[int]:
    index = []
    for size in reversed(shape):
        index.append(flat % size)
        flat //= size
    return index[::-1]


def _text(values: Any) -> str:
    if isinstance(values, list):
        return "[" + ", ".join(map(_text, values)) + "]"
    return number_text(values)
