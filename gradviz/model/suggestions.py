"""What there is, for a person who asked for something by a name that is not there."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

MOST = 12
_LOOKED_AT = 2000  # comparing words takes time


def suggested(wanted: str, words: Iterable[str]) -> str:
    """At most a dozen of `words`, those that are like `wanted` first: `'attention', 'block', …`."""
    known = list(dict.fromkeys(words))
    near = dict.fromkeys((*get_close_matches(wanted, known[:_LOOKED_AT]), *islice(known, MOST)))
    return ", ".join([repr(word) for word in islice(near, MOST)]) + (", …" if len(known) > MOST else "")
