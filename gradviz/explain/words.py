"""Phrases that many findings share: lines, lists, nodes, shapes."""

from __future__ import annotations

from collections.abc import Sequence

from gradviz.explain.facts import Facts
from gradviz.model import Call, Node, Place
from gradviz.texts import tr, trn


def code(text: str) -> str:
    """A name or an expression, marked as code."""
    return f"`{text}`"


def line(facts: Facts, place: Place | None) -> str:
    """`line 14`, with the file's name where it is not the script; `an unknown line` where it is not known."""
    if place is None:
        return tr("an unknown line")
    script = facts.recording.header.script
    base = _base(place.file)
    if base == _base(script) or not script:
        return tr("line {line}", line=place.line)
    return tr("line {line} of {file}", line=place.line, file=base)


def listed(items: Sequence[str], most: int = 4) -> str:
    """`a`, `a and b`, `a, b and c`, `a, b, c and 7 more`."""
    if not items:
        return ""
    shown = list(items[:most])
    if len(items) > most:
        rest = trn("{n} more", "{n} more", len(items) - most)
        shown.append(rest)
    if len(shown) == 1:
        return shown[0]
    return tr("{first} and {last}", first=tr(", ").join(shown[:-1]), last=shown[-1])


def codes(names: Sequence[str], most: int = 4) -> str:
    """A list of names, each marked as code."""
    shown = [code(name) for name in names[:most]]
    return listed([*shown, *names[most:]], most)


def node_text(facts: Facts, node: Node) -> str:
    """A node for a sentence: `` `h` (Sqrt, line 7) `` or `Sqrt (line 7)`."""
    where = line(facts, node.place) if node.place is not None else ""
    if node.name:
        inside = ", ".join(part for part in (node.short_op if node.kind != "leaf" else "", where) if part)
        return f"{code(node.name)} ({inside})" if inside else code(node.name)
    return f"{node.short_op} ({where})" if where else node.short_op


def call_word(call: Call) -> str:
    """`call 2`."""
    return tr("call {label}", label=call.label)


def call_at(facts: Facts, call: Call) -> str:
    """`call 1 (line 8)`."""
    return f"{call_word(call)} ({line(facts, call.place)})"


def start(text: str) -> str:
    """`text` as the start of a sentence."""
    return text[:1].upper() + text[1:]


def again(count: int) -> str:
    """A closing sentence for a finding that stands for several calls of the same line; empty for one."""
    return "" if count < 2 else " " + trn("The same at {n} more call.", "The same at {n} more calls.", count - 1)


def _base(file: str) -> str:
    return file.replace("\\", "/").rsplit("/", 1)[-1]
