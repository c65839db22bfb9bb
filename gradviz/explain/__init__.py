"""Findings: why a call failed, why a gradient is None, why it is twice what was expected.

`findings(recording)` is all that others need; `page(code)` gives the page of a code. Each code is one module with a
`PAGE` and a `find(facts)`, and one row in `table.ROWS`. Nothing here runs anything of the script.
"""

from __future__ import annotations

from collections.abc import Callable

from gradviz.explain.facts import Facts
from gradviz.explain.page import Page
from gradviz.explain.table import ROWS
from gradviz.model import Code, Finding, Recording

_LEVELS = ("error", "warning", "info")


def findings(recording: Recording, check: Callable[[], None] = lambda: None) -> tuple[Finding, ...]:
    """All findings of a recording, by call (those of none last), level, place and code.

    `check` is called now and then; it raises when nobody waits for them any more.
    """
    facts = Facts(recording)
    found: list[Finding] = []
    for row in ROWS:
        check()
        found.extend(row.find(facts))
    return tuple(sorted(dict.fromkeys(found), key=_order))


def page(code: Code) -> Page:
    """The page of a code."""
    return next(row.page for row in ROWS if row.code == code)


def _order(finding: Finding) -> tuple[bool, int, int, str, int, str, str]:
    place = finding.place
    return (
        finding.call is None,
        finding.call or 0,
        _LEVELS.index(finding.level),
        "" if place is None else place.file,
        0 if place is None else place.line,
        finding.code,
        finding.message,
    )
