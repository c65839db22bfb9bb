"""How gradient flows between the nodes of one call: which terms add up at which output, and of which kind they are."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence

from gradviz.worker.walk import OPERATION, Walk

Seed = tuple[int, int, bytes]  # index of the root's node, output number, packed seed
Term = tuple[int, int, int]  # output number, source (or FROM_SEED), slot (or number of the seed)
FROM_SEED = -1
SHARED = -1  # in `slots`: the slot leads nowhere, or to an output that others lead to as well
ANY = -1  # a kind of which nothing is known before
_MOST_ALONE = 2  # leaves after one node: of more the engine's heap does not take the first one first


class Flow:
    """The terms at each node, and what hooks want to know of each slot. It depends on the graph and the roots only.

    only: source and slot of the term of a node that has one.
    kinds: those of each node's outputs: numbers of dtypes and shapes of the graph.
    arriving: which kind comes to a node with one output.
    places: outputs are counted through all nodes; this is the place of each node's first one.
    slots: for each slot of a node the kind of what flows along it, and the place of the output that gets all its
        gradient from there.
    separate: nodes with several outputs, each of which gets all its gradient from one slot.
    alone: from nodes of torch's to the leaves, in the order in which they run, that get gradient from there only, where
        no other leaf gets any from there.
    no_views: noted by the hooks: it is known of these nodes that they send no view of what they get.
    """

    def __init__(self, walk: Walk, seeds: Sequence[Seed], outputs: Sequence[Sequence[int]]) -> None:
        """`outputs` are the kinds of each node's outputs."""
        self.seeds = seeds
        self.kinds = outputs
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
        for index, found in enumerate(terms):
            self._note_slots(index, found, outputs[index])
        self.only = [found[0][1:] if len(found) == 1 else None for found in terms]
        self.alone = self._alone(walk)

    def _alone(self, walk: Walk) -> dict[int, tuple[int, ...]]:
        found: dict[int, list[tuple[int, int]]] = {}
        shared = {FROM_SEED}
        for index in walk.leaves:
            terms = self.terms[index]
            if len(terms) == 1 and index not in self.twins:
                _, source, slot = terms[0]
                found.setdefault(source, []).append((slot, index))
            else:
                shared.update(source for _, source, _ in terms)
        return {
            source: tuple(index for _, index in sorted(leaves))
            for source, leaves in found.items()
            if len(leaves) <= _MOST_ALONE and source not in shared and walk.kinds[source] == OPERATION
        }

    def _note_slots(self, index: int, found: list[Term], kinds: Sequence[int]) -> None:
        """Note what flows along the slots that lead to a node, and where each of its outputs gets one term."""
        slots, count = self.slots, max(1, len(kinds))
        if len(found) == count and index not in self.twins:
            if count > 1:
                found.sort()
            if [number for number, source, _ in found if source != FROM_SEED] == list(range(count)):
                place = self.places[index]
                for number, source, slot in found:
                    slots[source][slot] = kinds[number] if kinds else ANY, place + number
                if count > 1:
                    self.separate.add(index)
                return
        for number, source, slot in found:
            if source != FROM_SEED and number < len(kinds):
                slots[source][slot] = kinds[number], SHARED

    def again(self, seeds: Sequence[Seed]) -> Flow:
        """The flow of another run through an equal graph, from the same roots."""
        other = copy.copy(self)
        other.seeds = seeds
        return other
