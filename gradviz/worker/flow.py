"""How gradient flows between the nodes of one call: which terms add up at which output, and of which kind they are."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence

from gradviz.worker.walk import Walk

Seed = tuple[int, int, bytes]  # index of the root's node, output number, packed seed
Term = tuple[int, int, int]  # output number, source (or FROM_SEED), slot (or number of the seed)
FROM_SEED = -1
SHARED = -1  # in `slots`: the slot leads nowhere, or to an output that others lead to as well
ANY = -1  # a kind of which nothing is known before


class Flow:
    """The terms at each node, and what hooks want to know of each slot.

    `slots` holds for each slot of a node which of the graph's kinds of tensors (dtype and shape) flows along it, and
    the place of the output that gets all its gradient from there: outputs are counted through all nodes, `places` has
    the first one of each. Of nodes in `separate` each output is such a one, and there are several. `arriving` tells
    which kind comes to a node with one output. `no_views`
    is noted by the hooks: of these nodes it is known that they send no view of what they get.
    It depends on the graph and the roots only: `again` gives that of another run through an equal graph.
    """

    def __init__(self, walk: Walk, seeds: Sequence[Seed], outputs: Sequence[Sequence[int]]) -> None:
        """`outputs` are the kinds of each node's outputs."""
        self.seeds = seeds
        self.terms: list[list[Term]] = [[] for _ in walk.nodes]
        self.arriving = [kinds[0] if len(kinds) == 1 else ANY for kinds in outputs]
        self.slots = [[(ANY, SHARED)] * slots for slots in walk.slots]
        self.places = list(itertools.accumulate((max(1, len(kinds)) for kinds in outputs), initial=0))
        self.separate: set[int] = set()
        self.no_views = [False] * len(walk.nodes)
        self.twins = {index for index, _ in walk.twins}
        terms = self.terms
        for number, (index, output_nr, _) in enumerate(seeds):
            terms[index].append((output_nr, FROM_SEED, number))
        for source, slot, target, output_nr in walk.edges:
            terms[target].append((output_nr, source, slot))
            kinds = outputs[target]
            if output_nr < len(kinds):
                self.slots[source][slot] = kinds[output_nr], SHARED
        for index, found in enumerate(terms):
            count = max(1, len(outputs[index]))
            if len(found) == count and index not in self.twins:
                self._separate(index, found)

    def _separate(self, index: int, found: list[Term]) -> None:
        """Note the places of a node where each of its outputs gets one term, and none of them is a seed."""
        found.sort()
        if any(term[0] != number or term[1] == FROM_SEED for number, term in enumerate(found)):
            return
        for number, source, slot in found:
            self.slots[source][slot] = self.slots[source][slot][0], self.places[index] + number
        if len(found) > 1:
            self.separate.add(index)

    def again(self, seeds: Sequence[Seed]) -> Flow:
        """The flow of another run through an equal graph, from the same roots."""
        other = copy.copy(self)
        other.seeds = seeds
        return other
