"""Paragraphs for a terminal, in scripts with and without spaces between words."""

from __future__ import annotations

import unicodedata

from gradviz.texts import pieces


def wrapped(text: str, lead: str, width: int) -> list[str]:
    """`text` in lines of at most `width` columns, the first after `lead`, the others after as many spaces."""
    rest = " " * len(lead)
    lines, line, begun = [], lead, False
    for piece in pieces(" ".join(text.split())):
        if begun and columns((line + piece).rstrip()) > width:
            lines.append(line.rstrip())
            line = rest
        line, begun = line + piece, True
    return [*lines, line.rstrip()] if begun else lines


def columns(text: str) -> int:
    """How many columns of a terminal a text takes: an ideograph takes two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def padded(text: str, width: int) -> str:
    """`text` followed by spaces up to `width` columns."""
    return text + " " * max(0, width - columns(text))
