"""One finding for a line that runs many times."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator
from dataclasses import replace

from gradviz.explain.facts import Facts
from gradviz.explain.words import again
from gradviz.model import Finding


class Repeats:
    """Keeps the first finding of each key and counts the others."""

    def __init__(self, facts: Facts) -> None:
        self._complete = len(facts.looked_at) == len(facts.user_calls)
        self._first: dict[Hashable, Finding] = {}
        self._count: dict[Hashable, int] = {}

    def add(self, key: Hashable, finding: Finding) -> None:
        """Note a finding; `key` is usually its place."""
        self._first.setdefault(key, finding)
        self._count[key] = self._count.get(key, 0) + 1

    def has(self, key: Hashable) -> bool:
        """Tell whether a finding with this key was noted."""
        return key in self._first

    def findings(self, without: Collection[Hashable] = ()) -> Iterator[Finding]:
        """The first finding of each key, saying how many more there were where all calls were opened."""
        for key, finding in self._first.items():
            if key in without:
                continue
            count = self._count[key] if self._complete else 1
            yield replace(finding, message=finding.message + again(count))
