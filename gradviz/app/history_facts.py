"""The history of a `.grad` as the window shows it: rows of a table and columns of a chart. No widgets."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from dataclasses import dataclass

from gradviz.app.texts import tr, trn
from gradviz.model import Gradient, Recording
from gradviz.model.numbers import brief, number_text
from gradviz.playback.history import GradHistory, HistoryEntry, as_if_cleared, grad_histories

_MOST_PARTS = 8  # of a column; what is older is one part


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a column: the call that brought it (None: several, or not known) and its norm."""

    call: int | None
    norm: float


@dataclass(frozen=True, slots=True)
class Column:
    """What `.grad` held after an entry: its norm, and the parts that it consists of, the oldest first."""

    norm: float
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Shown:
    """A history that is shown. `other` is what it would have been with a clearing before call `cleared`.

    `rows` pairs each entry with the one in `other` where that differs; `columns` and `other_columns` belong to the
    rows.
    """

    history: GradHistory
    rows: tuple[tuple[HistoryEntry, HistoryEntry | None], ...]
    columns: tuple[Column, ...]
    other_columns: tuple[Column | None, ...]
    cleared: HistoryEntry | None = None
    other: GradHistory | None = None

    @property
    def summary(self) -> str:
        """What has happened, counted."""
        kinds = [entry.kind for entry in self.history.entries]
        parts = [trn("{n} call brought something", "{n} calls brought something", kinds.count("brought"))]
        if "cleared" in kinds:
            parts.append(trn("cleared once", "cleared {n} times", kinds.count("cleared")))
        else:
            parts.append(tr("never cleared"))
        if "step" in kinds:
            parts.append(trn("{n} optimizer step", "{n} optimizer steps", kinds.count("step")))
        if "assigned" in kinds:
            parts.append(trn("changed otherwise once", "changed otherwise {n} times", kinds.count("assigned")))
        if self.history.unread:
            parts.append(tr("damaged: call {labels}", labels=", ".join(self.history.unread)))
        return " · ".join(parts)

    @property
    def supposition(self) -> str:
        """What would have been, in a sentence; empty while nothing is supposed."""
        if self.cleared is None:
            return ""
        pair = self._compared()
        if pair is None:
            return tr("Cleared before call {label}, it would be the same: nothing was there.", label=self.cleared.label)
        was, would = pair
        words = {
            "step": tr("Cleared before call {label}, the optimizer would find {would} instead of {was}."),
            "cleared": tr("Cleared before call {label}, it would grow to {would} instead of {was}."),
        }.get(was.kind, tr("Cleared before call {label}, it would be {would} at the end instead of {was}."))
        found = brief(would.after) if would.known else tr("something that is not known (too large to be kept)")
        last = was.before if was.kind == "cleared" else was.after
        if was.kind == "cleared":
            found = brief(would.before)
        return words.format(label=self.cleared.label, would=found, was=brief(last))

    def _compared(self) -> tuple[HistoryEntry, HistoryEntry] | None:
        """Where the two histories are held against each other: at the next step or clearing, else at the end."""
        later = [(was, would) for was, would in self.rows if would is not None]
        last = later[-1] if later else None
        return next((pair for pair in later if pair[0].kind in ("step", "cleared")), last)


def histories_of(recording: Recording, check: Callable[[], None]) -> dict[tuple[int, int], GradHistory]:
    """All histories of a recording by node and output."""
    found = grad_histories(recording, check=check)
    return {(history.node, history.output_nr): history for history in found}


def shown(history: GradHistory) -> Shown:
    """A history as it was."""
    columns = _columns(history)
    return Shown(history, tuple((entry, None) for entry in history.entries), columns, (None,) * len(columns))


def supposed(history: GradHistory, row: int) -> Shown | None:
    """With a clearing before the first call at or after a row; None where none comes any more."""
    entry = next((entry for entry in history.entries[row:] if entry.kind == "brought"), None)
    if entry is None or entry.call is None:
        return None
    place = history.entries.index(entry)
    other = as_if_cleared(history, entry.call)
    # The supposed clearing has no row of its own: it lies between two of them.
    entries = other.entries[:place] + other.entries[place + 1 :]
    columns = _columns(other)
    columns = columns[:place] + columns[place + 1 :]
    rows = tuple(
        (was, would if k >= place and _differ(was, would) else None)
        for k, (was, would) in enumerate(zip(history.entries, entries, strict=True))
    )
    others = tuple(column if would is not None else None for column, (_, would) in zip(columns, rows, strict=True))
    return Shown(history, rows, _columns(history), others, entry, other)


def _differ(was: HistoryEntry, would: HistoryEntry) -> bool:
    """Whether `.grad` around an entry would have been another."""
    if not would.known:
        return True
    return not (_equal(was.before, would.before) and _equal(was.after, would.after))


def _equal(a: Gradient, b: Gradient) -> bool:
    """Equal as far as sums in another order can be."""
    if a is None or b is None:
        return a is b
    first, second = a.numbers, b.numbers
    if first is None or second is None:
        return a.norm == b.norm
    return all(cmath.isclose(x, y, rel_tol=1e-6) or x == y for x, y in zip(first, second, strict=True))


def _columns(history: GradHistory) -> tuple[Column, ...]:
    columns = []
    parts: tuple[Part, ...] = ()
    for entry in history.entries:
        if entry.kind == "brought":
            parts = (*parts, Part(entry.call, _norm(entry.incoming)))
            if len(parts) > _MOST_PARTS:
                parts = (Part(None, parts[0].norm + parts[1].norm), *parts[2:])
        elif entry.kind == "cleared":
            parts = ()
        elif entry.kind in ("assigned", "missed"):
            parts = (Part(None, _norm(entry.after)),)
        columns.append(Column(_norm(entry.after), parts))
    return tuple(columns)


def _norm(value: Gradient) -> float:
    norm = None if value is None else value.norm
    return norm if norm is not None and math.isfinite(norm) else 0.0


def what(entry: HistoryEntry) -> str:
    """What an entry is, in a word or two."""
    return {
        "brought": tr("brought"),
        "cleared": tr("cleared"),
        "assigned": tr("changed"),
        "step": tr("step"),
        "missed": tr("not kept"),
    }[entry.kind]


def held(entry: HistoryEntry | None) -> str:
    """What `.grad` was after an entry."""
    if entry is None:
        return ""
    return short(entry.after) if entry.known or entry.after is not None else "?"


def short(value: Gradient) -> str:
    """A number, or the norm where there are several."""
    if value is None or value.item() is not None or value.norm is None:
        return brief(value)
    return f"‖{number_text(value.norm)}‖"
