"""The list of calls as a tree: loops folded, nested calls under theirs, what-ifs apart. No Qt widgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gradviz.app.call_words import call_words
from gradviz.app.texts import tr, trn
from gradviz.model import Call, Recording, Root
from gradviz.model.numbers import brief, shape_text
from gradviz.playback.words import statement, tried

EntryKind = Literal["call", "loop", "round", "heading"]
LONGEST_PERIOD = 8  # backward calls in one round of a loop (a GAN has 2 or 3)
FEWEST_ROUNDS = 4  # fewer are read at a glance without folding


@dataclass(frozen=True)
class Entry:
    """A row: `title` in the script's own words, `detail` under it.

    `number` is the call's number; of a loop or a round that of its first call, of a heading None.
    """

    kind: EntryKind
    title: str
    detail: str
    number: int | None
    label: str = ""
    failed: bool = False
    what_if: bool = False
    children: tuple[Entry, ...] = ()


def call_tree(recording: Recording, sources: Mapping[str, str]) -> tuple[Entry, ...]:
    """The rows of all calls of a recording, in order."""
    lines = {file: text.splitlines() for file, text in sources.items()}
    entries: dict[int, Entry] = {}
    nested: dict[int, list[Entry]] = {}
    # A nested call has a higher number than the call that started it: from the last one back, all are ready in time.
    for call in sorted(recording.calls, key=lambda call: -call.number):
        entry = _entry(call, lines, tuple(reversed(nested.get(call.number, ()))))
        entries[call.number] = entry
        if call.parent is not None:
            nested.setdefault(call.parent, []).append(entry)
    own = [call for call in recording.calls if call.parent is None and not call.what_if]
    tried = tuple(entries[call.number] for call in recording.calls if call.parent is None and call.what_if)
    rows = _folded(own, entries)
    if tried:
        rows.append(Entry("heading", tr("What-ifs"), tr("not in the script"), None, what_if=True, children=tried))
    return tuple(rows)


def repetition(places: Sequence[object], start: int) -> tuple[int, int]:
    """The period with which `places` repeat from `start` on, and the rounds: (1, 1) when it is no loop."""
    best = (1, 1)
    for period in range(1, LONGEST_PERIOD + 1):
        end = min(start + period, len(places))
        while end < len(places) and places[end] == places[end - period]:
            end += 1
        rounds = (end - start) // period
        if rounds >= FEWEST_ROUNDS and rounds * period > best[0] * best[1]:
            best = (period, rounds)
    return best


def call_title(call: Call, lines: Mapping[str, Sequence[str]]) -> str:
    """The statement of the script that made the call, else the call as it would be written."""
    if call.place is not None:
        text = lines.get(call.place.file, ())
        if 0 < call.place.line <= len(text):
            return statement(text[call.place.line - 1], call)
    roots = ", ".join(root.name or "?" for root in call.roots)
    function = call.api.rsplit(".", 1)[-1]
    return f"{roots}.{function}()" if call.api.startswith("torch.Tensor.") else f"{function}({roots})"


def _folded(calls: Sequence[Call], entries: Mapping[int, Entry]) -> list[Entry]:
    places = [(call.place.file, call.place.line) if call.place else call.number for call in calls]
    found: list[Entry] = []
    start = 0
    while start < len(calls):
        period, rounds = repetition(places, start)
        end = start + period * rounds
        members = [entries[call.number] for call in calls[start:end]]
        found.extend(members if rounds < FEWEST_ROUNDS else [_loop(members, calls[start:end], period, rounds)])
        start = end
    return found


def _loop(members: Sequence[Entry], calls: Sequence[Call], period: int, rounds: int) -> Entry:
    lines = sorted({call.place.line for call in calls if call.place is not None})
    where = ", ".join(map(str, lines))
    detail = trn("line {where}", "lines {where}", len(lines), where=where)
    children: tuple[Entry, ...] = tuple(members)
    if period > 1:
        cut = [tuple(members[i : i + period]) for i in range(0, len(members), period)]
        children = tuple(_round(place, part) for place, part in enumerate(cut, 1))
    title = members[0].title if period == 1 else tr("{n} calls in turn", n=period)
    failed = any(entry.failed for entry in members)
    return Entry("loop", title, f"× {rounds} · {detail}", members[0].number, failed=failed, children=children)


def _round(place: int, members: tuple[Entry, ...]) -> Entry:
    failed = any(entry.failed for entry in members)
    detail = trn("{n} call", "{n} calls", len(members))
    return Entry("round", tr("round {n}", n=place), detail, members[0].number, failed=failed, children=members)


def _entry(call: Call, lines: Mapping[str, Sequence[str]], nested: tuple[Entry, ...]) -> Entry:
    parts = []
    if call.what_if:
        parts.append(call_words(call.label))
    elif call.place is not None:
        parts.append(tr("line {n}", n=call.place.line))
    if not call.whole:
        parts.append(tr("summary") if call.detail == "summary" else tr("left out"))
    parts += [_seed(root) for root in call.roots[:1] if root.seed is not None or root.seed_given]
    if call.error is not None:
        parts.append(call.error.type)
    elif not call.complete:
        parts.append(tr("did not finish"))
    if call.node_count:
        parts.append(trn("{n} node", "{n} nodes", call.node_count))
    return Entry(
        kind="call",
        title=tried(call) if call.what_if else call_title(call, lines),
        detail=" · ".join(parts),
        number=call.number,
        label=call.label,
        failed=call.error is not None,
        what_if=call.what_if,
        children=nested,
    )


def _seed(root: Root) -> str:
    if root.seed is not None and (root.seed.item() is not None or root.seed.numel <= 3):
        return tr("seed {value}", value=brief(root.seed))
    if root.shape is not None:
        return tr("seed {value}", value=shape_text(root.shape))
    return tr("seed {value}", value=brief(root.seed))
