"""What lies in the texts of a recording: JSON, checked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from gradviz.model import Output, Place, Saved
from gradviz.store.codec import checked_shape, damaged


def json_of(text: str) -> Any:
    """Parse JSON that the writer made.

    Raises:
        DamagedRecordingError: it is not JSON.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise damaged() from error


def shape_of(text: str) -> tuple[int, ...]:
    """A shape, written as a JSON list."""
    return checked_shape(json_of(text))


def places_of(text: str | None) -> tuple[Place, ...]:
    """Read what `writer.stack_json` wrote."""
    entries = [] if text is None else _list(json_of(text))
    return tuple([Place(*_typed(entry, (str, int, str))) for entry in entries])


def outputs_of(text: str) -> tuple[Output, ...]:
    """The outputs of a node, JSON `[[shape, dtype, device, retains_grad], ...]`."""
    found = []
    for entry in _list(json_of(text)):
        shape, dtype, device, kept = _typed(entry, (list, str, str, (bool, int)))
        found.append(Output(checked_shape(shape), dtype, device, bool(kept)))
    return tuple(found)


def saved_of(text: str | None) -> tuple[Saved, ...]:
    """What a node saves, JSON `[[name, shape or null, text or null], ...]`; values are kept per call."""
    found = []
    for entry in [] if text is None else _list(json_of(text)):
        name, shape, plain = _typed(entry, (str, (list, type(None)), (str, type(None))))
        found.append(Saved(name, None if shape is None else checked_shape(shape), None, plain))
    return tuple(found)


def names_of(text: str) -> tuple[str, ...]:
    """A JSON list of texts."""
    names = _list(json_of(text))
    if not all(isinstance(name, str) for name in names):
        raise damaged()
    return tuple(names)


def inputs_of(text: str) -> list[tuple[str | None, int | None, int]]:
    """JSON `[[name or null, node or null, output_nr], ...]`."""
    kinds = ((str, type(None)), (int, type(None)), int)
    return [tuple(_typed(entry, kinds)) for entry in _list(json_of(text))]


def norms_of(text: str) -> tuple[tuple[float | None, float | None], ...]:
    """JSON `[[before, after], ...]` of numbers or null."""
    kind = (float, int, type(None))
    return tuple([tuple(_typed(entry, (kind, kind))) for entry in _list(json_of(text))])


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise damaged()
    return value


def _typed(entry: object, kinds: Sequence[Any]) -> list[Any]:
    if not isinstance(entry, list) or len(entry) != len(kinds):
        raise damaged()
    if not all(isinstance(item, kind) for item, kind in zip(entry, kinds, strict=True)):
        raise damaged()
    return entry
