"""A finding: one thing worth knowing about a recording, in two sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gradviz.model.graph import Place

Level = Literal["error", "warning", "info"]
Code = Literal[
    "scalar-only",
    "seed-shape",
    "seed-is-value",
    "summed-outputs",
    "second-time",
    "in-place",
    "no-graph",
    "grad-none",
    "accumulated",
    "retain-grad",
    "nonfinite",
    "zero-gradient",
    "vanishing",
    "exploding",
    "legacy-api",
    "opaque",
    "hook-changed",
    "graph-grows",
]


@dataclass(frozen=True, slots=True)
class Finding:
    """`message` says what happened with the script's own names and numbers, `advice` what to do.

    `show` holds the ids of the nodes that "show me" selects; `experiment` the seed expression that proves it.
    """

    code: Code
    level: Level
    call: int | None
    node: int | None
    place: Place | None
    message: str
    advice: str
    show: tuple[int, ...] = ()
    experiment: str | None = None
