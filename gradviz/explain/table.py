"""The table of codes: one row for each, in the order in which people should read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gradviz.explain import (
    accumulated,
    exploding,
    grad_none,
    graph_grows,
    hook_changed,
    in_place,
    legacy_api,
    no_graph,
    nonfinite,
    opaque,
    retain_grad,
    scalar_only,
    second_time,
    seed_is_value,
    seed_shape,
    summed_outputs,
    vanishing,
    zero_gradient,
)
from gradviz.explain.facts import Facts
from gradviz.explain.page import Page
from gradviz.model import Code, Finding


@dataclass(frozen=True)
class Row:
    """A code: its page, and the function that finds it."""

    page: Page
    find: Callable[[Facts], Iterator[Finding]]

    @property
    def code(self) -> Code:
        """The code."""
        return self.page.code


ROWS = tuple(
    Row(module.PAGE, module.find)
    for module in (
        scalar_only,
        seed_shape,
        seed_is_value,
        summed_outputs,
        second_time,
        in_place,
        no_graph,
        grad_none,
        accumulated,
        retain_grad,
        nonfinite,
        zero_gradient,
        vanishing,
        exploding,
        legacy_api,
        opaque,
        hook_changed,
        graph_grows,
    )
)
