"""Executions as entries of the recording: what a neighbour sent is not stored twice, what a hook changed is shown."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence

from gradviz.store.codec import UNDEFINED, WHOLE, pack_execution, pack_same
from gradviz.store.runs import execution, sent_on, simple
from gradviz.worker.capture import HEAD
from gradviz.worker.flow import FROM_SEED, Flow
from gradviz.worker.gathered import Gathered
from gradviz.worker.intake import Item, packed
from gradviz.worker.walk import LEAF, Walk

_ARRAY_CODES = {"float32": "f", "float64": "d"}
_SUM_UP_TO = 64


class Encoder:
    """Encodes the executions of one call, in pieces where the call is long. All items must be settled."""

    def __init__(self, walk: Walk, flow: Flow, dtype_of: Callable[[bytes], str | None]) -> None:
        self._walk = walk
        self._flow = flow
        self._dtype_of = dtype_of
        self._orders = [-1] * len(walk.nodes)
        self._left: list[list[bytes] | None] = [None] * len(walk.nodes)
        self._done = 0

    def encode(self, gathered: Gathered, calm: bool = False) -> list[bytes]:
        """The executions that are new since the last time, each an entry of `store.runs`.

        `calm`: nothing but torch's own nodes can run, so nobody changes what arrives.
        """
        ran, sums, computed = gathered.ran, gathered.sums, gathered.computed
        entries = []
        ids, orders, lefts, only = self._walk.ids, self._orders, self._left, self._flow.only
        new = ran[self._done :] if self._done else ran
        for order, (index, outputs, inputs, finished) in enumerate(new, self._done):
            if len(inputs) == 1:
                (item,) = inputs
                data = item if item.__class__ is bytes else item.packed  # type: ignore[union-attr]
                left = [data]
            else:
                left = [item if item.__class__ is bytes else item.packed for item in inputs]  # type: ignore[union-attr]
                data = b"".join(left)
            term = only[index]
            if outputs is None and finished and term is not None and index not in computed:  # most of them
                source, slot = term
                entries.append(sent_on(order, ids[index], orders[source], slot, len(left), data))
            elif calm and finished:  # then nobody has set hooks
                entries.append(simple(order, ids[index], self._untouched(index, outputs), len(left), data))
            else:
                got, arrived = self._got(index, outputs, sums)
                own = [packed(item) for item in computed[index]] if index in computed else left
                data = pack_execution(got, left, arrived, finished, None if own == left else own)
                entries.append(execution(order, ids[index], data))
            orders[index] = order
            lefts[index] = left
        self._done = len(ran)
        return entries

    def _got(
        self, index: int, outputs: Sequence[Item] | None, sums: Mapping[int, Item]
    ) -> tuple[list[bytes], list[bytes] | None]:
        """The outputs of an execution as they are stored, and what arrived where a hook has changed it."""
        if outputs is None:
            return self._untouched(index, None), None
        got = [packed(item) for item in outputs]
        if index in sums:
            came = packed(sums[index])
            return got, None if self._equal(came, got[0]) else [came]
        return self._compare(index, got)

    def _untouched(self, index: int, outputs: Sequence[Item] | None) -> list[bytes]:
        """The outputs of an execution as they are stored, where nobody changes what arrives."""
        terms = self._flow.terms[index]
        if outputs is None:
            return [pack_same(self._orders[source], slot) for _, source, slot in terms]
        if len(terms) == 1 == len(outputs):
            return self._compare(index, [packed(outputs[0])])[0]
        return [packed(item) for item in outputs]

    def incoming(self, index: int) -> bytes:
        """What the only term of a node that was fed by one brought."""
        ((_, source, slot),) = self._flow.terms[index]
        return self._came(source, slot) or UNDEFINED

    def flowed(self, index: int) -> list[bytes]:
        """What must have arrived at the outputs of a node by now, as far as it can be told."""
        count = 1 + max((term[0] for term in self._flow.terms[index]), default=0)
        return [self._sum(self._terms(index, number)) or UNDEFINED for number in range(count)]

    def ran(self, index: int) -> bool:
        """Tell whether a node has run to its end."""
        return self._orders[index] >= 0

    def ready(self, index: int) -> bool:
        """Tell whether all that flows into a node has been produced."""
        return all(source == FROM_SEED or self.ran(source) for _, source, _ in self._flow.terms[index])

    def _compare(self, index: int, outputs: list[bytes]) -> tuple[list[bytes], list[bytes] | None]:
        """The outputs as they are stored, and what arrived where a hook has changed it."""
        terms = self._flow.terms[index]
        if index in self._flow.twins:
            return outputs, None
        if len(terms) == 1 and len(outputs) == 1:
            _, source, slot = terms[0]
            came = self._came(source, slot)
            if came == outputs[0]:
                is_small = len(came) <= HEAD or source == FROM_SEED
                return (outputs if is_small else [pack_same(self._orders[source], slot)]), None
            return outputs, None if came is None else [came]
        if len(outputs) == 1 and outputs[0][0] != WHOLE and self._is_sum(terms):
            return outputs, None  # statistics of a sum tell nothing of its terms
        # Grouped at one go: `unbind` of 50,000 rows is a node with 50,000 outputs.
        grouped: dict[int, list[tuple[int, int, int]]] = {number: [] for number in range(len(outputs))}
        for term in terms:
            grouped.setdefault(term[0], []).append(term)
        sums = [self._sum(self._terms(index, number, grouped[number])) for number in range(len(outputs))]
        if all(total is None or self._equal(total, output) for total, output in zip(sums, outputs, strict=True)):
            return outputs, None
        return outputs, [output if total is None else total for total, output in zip(sums, outputs, strict=True)]

    def _came(self, source: int, slot: int) -> bytes | None:
        """What a source sent along a slot, None where that is not known."""
        if source == FROM_SEED:
            return self._flow.seeds[slot][2]
        left = self._left[source]
        return None if left is None or slot >= len(left) else left[slot]

    def _is_sum(self, terms: Sequence[tuple[int, int, int]]) -> bool:
        """Tell whether at least two of the terms are defined, or one is not known."""
        defined = 0
        for _, source, slot in terms:
            came = self._came(source, slot)
            defined += came != UNDEFINED
            if came is None or defined > 1:
                return True
        return False

    def _terms(
        self, index: int, output_nr: int, terms: Sequence[tuple[int, int, int]] | None = None
    ) -> list[bytes] | None:
        """What flowed into one output in the order in which the engine added it: seeds, then by execution."""
        found = []
        for number, source, slot in self._flow.terms[index] if terms is None else terms:
            if number == output_nr:
                came = self._came(source, slot)
                if came is None:
                    return None
                found.append((FROM_SEED if source == FROM_SEED else self._orders[source], slot, came))
        if len(found) > 1:
            found.sort(key=lambda term: term[:2])
        return [came for _, _, came in found]

    def _sum(self, terms: list[bytes] | None) -> bytes | None:
        """The sum as the engine makes it, None where it cannot be told from packed values."""
        if terms is None:
            return None
        defined = [term for term in terms if term != UNDEFINED]
        if len(defined) < 2:
            return defined[0] if defined else UNDEFINED
        head = defined[0][:HEAD]
        dtype = self._dtype_of(head) if head[0] == WHOLE else None
        code = _ARRAY_CODES.get(dtype or "")
        if code is None or any(term[:HEAD] != head for term in defined):
            return None
        return _add(head, code, defined)

    def _equal(self, total: bytes, output: bytes) -> bool:
        """Byte-equal, or equal but for the bits of a nan."""
        if total == output:
            return True
        head = output[:HEAD]
        if total[:HEAD] != head or head[:1] != bytes([WHOLE]):
            return False
        code = _ARRAY_CODES.get(self._dtype_of(head) or "")
        if code is None:
            return False
        pairs = zip(array(code, total[HEAD:]), array(code, output[HEAD:]), strict=True)
        return all(a == b or (a != a and b != b) for a, b in pairs)


def _add(head: bytes, code: str, terms: list[bytes]) -> bytes | None:
    """Add packed values element by element.

    A sum of two float32 made in float64 and rounded back is the float32 sum: 53 bits are more than 2 * 24 + 2.
    """
    total = array(code, terms[0][HEAD:])
    if len(total) > _SUM_UP_TO:
        return None
    for term in terms[1:]:
        for at, number in enumerate(array(code, term[HEAD:])):
            total[at] += number
    return head + total.tobytes()


def failing(walk: Walk, gathered: Gathered, encoder: Encoder, needed: set[int] | None) -> int | None:
    """The index of the node at which a run failed, None where it failed outside any node.

    A node written in Python has told that it started. Of the others it is the one that the engine takes first of all
    that are ready: the highest sequence number, leaves before all.
    """
    unfinished = [index for index in gathered.started if not encoder.ran(index)]
    if unfinished:
        return unfinished[-1]
    ready = [index for index in _candidates(walk, needed) if not encoder.ran(index) and encoder.ready(index)]
    return max(ready, key=lambda index: _priority(walk, index), default=None)


def _candidates(walk: Walk, needed: set[int] | None) -> Iterable[int]:
    return range(len(walk.nodes)) if needed is None else sorted(needed)


def _priority(walk: Walk, index: int) -> tuple[bool, int]:
    number: int = walk.nodes[index]._sequence_nr()
    return walk.kinds[index] == LEAF, number
