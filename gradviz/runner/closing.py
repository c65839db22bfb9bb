"""Finishes a recording after the worker has ended: output, outcome, one plain file."""

from __future__ import annotations

import os
import sqlite3
import tokenize
from collections.abc import Sequence
from typing import Any

from gradviz.errors import RecordingError
from gradviz.model import Header, Outcome, OutputChunk
from gradviz.store import replace
from gradviz.store.reader import close_recording, open_recording
from gradviz.store.writer import Writer
from gradviz.texts import tr

_MOST_SOURCE = 4_000_000  # bytes; more is data, not a script


def finish_recording(
    path: str, header: Header, outcome: Outcome, output: Sequence[OutputChunk], last_words: dict[str, Any] | None
) -> list[str]:
    """Write what the parent knows. Where the worker wrote nothing (no torch, no valid script) make the recording.

    Returns:
        Sentences about what is missing from the recording, empty when all is there.
    """
    problems = [str(text) for text in (last_words or {}).get("problems", ())]
    try:
        begun = os.path.exists(path) and os.path.getsize(path) > 0
        known = _known_sources(path) if begun else set[str]()
        writer = Writer(path, None if begun else header)
        writer.set_outcome(outcome)
        writer.add_output(output)
        _add_script(writer, header, outcome, known)
        if not writer.flush() and writer.stopped is not None:
            problems.append(writer.stopped)
        writer.close()
        replace.finish(path)
    except (RecordingError, sqlite3.Error, OSError) as error:
        problems.append(tr("The recording {path!r} is not complete: {why}", path=path, why=error))
    return problems


def _known_sources(path: str) -> set[str]:
    """The files whose text the worker has kept: as they were then, so they are not read again."""
    recording = open_recording(path, live=True)
    try:
        return set(recording.source.sources())
    finally:
        close_recording(recording)


def _add_script(writer: Writer, header: Header, outcome: Outcome, known: set[str]) -> None:
    """Keep the text of the script, and of the file where it failed, where the worker met no node or call in them.

    Findings explain from the text why a script failed before its first backward, or did not parse at all.
    """
    for file in dict.fromkeys((header.script, outcome.file)):
        if file is None or not file.endswith((".py", ".pyw")):
            continue
        path = os.path.abspath(os.path.join(header.cwd, file))
        try:
            if path not in known and os.path.getsize(path) <= _MOST_SOURCE:
                with tokenize.open(path) as stream:
                    writer.add_source(path, stream.read())
        except (OSError, SyntaxError, ValueError):
            continue
