"""The graph of a call as rows of the recording: equal graphs of a training loop are stored once.

What costs most is to ask each node for the types and shapes of its outputs. Where all else is as in a graph that was
met shortly before, these are expected to be, too; the hooks then compare each gradient with what was expected of it,
and where one differs, or not all were seen, the graph is stored anew when the call has ended (`Templates.confirmed`).
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from gradviz.store.codec import columns_of
from gradviz.store.writer import EdgeRow, NodeRow, Writer, stack_json
from gradviz.worker.facts import Facts
from gradviz.worker.reading import dtype_name, sizes_of
from gradviz.worker.saved import Entry
from gradviz.worker.walk import LEAF, Walk

if TYPE_CHECKING:
    from gradviz.worker.trace import Tracer

# More entries than this are only met where every call has a graph of its own; the caches then start anew.
_CACHE = 200_000
# Graphs that are compared as they are: a few, of so many edges, some 10 MB.
_RECENT = 4
_COMPARED_UP_TO = 50_000
_PREFIX = "torch::autograd::"
_REAL = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.bool)

Spec = tuple[int, int, int, int, int, int, int]
"""A node but for its rank, in small numbers: op, kind, site, name, outputs, saved (0: none), derivative order.

The name of an operation is a row of the tracer, that of a leaf minus the row of its text.
"""


TensorKind = tuple[torch.dtype, torch.Size]
Columns = tuple[list[int], list[int], list[int], list[int], list[int], list[int]]
"""The specs of all nodes of a graph, but for their outputs: a list for each part."""
_OUTPUTS = 4  # their place in a spec


class Look(NamedTuple):
    """All but the outputs that tells whether two graphs have the same template.

    Sequence numbers go from the lowest one; `retained` are outputs that retain their gradient.
    """

    columns: Columns
    edges: list[EdgeRow]
    sequences: list[int]
    retained: set[tuple[int, int]]


class Stored(NamedTuple):
    """The template of a call's graph, and what its outputs take: elements of one output -> bytes of all such.

    `plain`: all outputs are real and on the CPU. `kinds` are the dtypes and shapes that occur, `outputs` which of them
    each node's outputs have. `is_expected`: the nodes were not asked for their outputs.
    """

    graph: int
    sizes: dict[int, int]
    plain: bool
    kinds: tuple[TensorKind, ...]
    outputs: list[list[int]]
    is_expected: bool = False


class Met(NamedTuple):
    """A graph that was met before: `outputs` are the rows of its nodes' outputs."""

    look: Look
    outputs: list[int]
    stored: Stored


class Templates:
    """Makes rows; each text, each site and each whole row is spelled out once."""

    def __init__(self, writer: Writer, tracer: Tracer | None) -> None:
        self._writer = writer
        self._tracer = tracer
        self._specs: dict[Spec, int] = {}  # -> its number
        self._rows: list[NodeRow] = []  # by number of the spec, with rank 0
        self._lines: list[int] = []  # by number of the spec: a number that is equal for equal op and line
        self._keys: dict[Any, int] = {}
        self._texts: dict[Any, int] = {}
        self._ops: dict[str, int] = {}
        self._shapes: dict[int, list[tuple[Any, Any, Any]]] = {}  # row of outputs -> shape, dtype, device of each
        self._recent: list[Met] = []

    def store(self, walk: Walk, facts: Facts, watched: bool) -> Stored:
        """Return the template of a graph, storing it when no earlier call had the same.

        `watched`: the call will not compare each gradient with what is expected.
        """
        if len(self._specs) + len(self._texts) + len(self._keys) > _CACHE:
            for cache in (self._specs, self._texts, self._keys, self._recent):
                cache.clear()
            self._rows.clear()
            self._lines.clear()
        # Equal columns make equal rows: the graph of a training step is compared, not spelled out again.
        look = self._look(walk, facts)
        met = None if watched else next((met for met in self._recent if met.look == look), None)
        if met is not None and met.stored.plain and all(met.stored.outputs):
            return met.stored._replace(is_expected=True)
        return self._asked(walk, look)

    def confirmed(self, walk: Walk, facts: Facts) -> Stored:
        """The template of a graph of which another one was expected, perhaps wrongly: its nodes are asked."""
        return self._asked(walk, self._look(walk, facts))

    def _look(self, walk: Walk, facts: Facts) -> Look:
        return Look(self._columns(walk, facts), walk.edges, _relative(walk.sequences), facts.retained)

    def _asked(self, walk: Walk, look: Look) -> Stored:
        outputs = self._all_outputs(walk.nodes, look.retained)
        met = next((met for met in self._recent if met.look == look and met.outputs == outputs), None)
        if met is None:
            numbers = self._numbers(look.columns, outputs)
            met = Met(look, outputs, self._stored(self._find_or_add(walk, numbers), outputs))
        self._remember(met)
        return met.stored

    def _remember(self, met: Met) -> None:
        """The latest one comes first: of several that differ in their outputs only it is expected next."""
        if len(met.look.edges) <= _COMPARED_UP_TO:
            self._recent = [met, *(other for other in self._recent if other is not met)][:_RECENT]

    def _stored(self, graph: int, rows: list[int]) -> Stored:
        """`rows` are those of the nodes' outputs."""
        sizes: dict[int, int] = {}
        kinds: dict[TensorKind, int] = {}
        of_row: dict[int, list[int]] = {}
        plain = True
        for row, times in Counter(rows).items():
            of_row[row] = []
            for shape, dtype, device in self._shapes[row]:
                elements = math.prod(sizes_of(shape))
                sizes[elements] = sizes.get(elements, 0) + times * elements * dtype.itemsize
                plain = plain and device.type == "cpu" and dtype in _REAL
                of_row[row].append(kinds.setdefault((dtype, torch.Size(sizes_of(shape))), len(kinds)))
        return Stored(graph, sizes, plain, tuple(kinds), [of_row[row] for row in rows])

    def _find_or_add(self, walk: Walk, numbers: list[int]) -> int:
        different = {number: at for at, number in enumerate(dict.fromkeys(numbers))}
        columns = columns_of([self._rows[number] for number in different])
        spread = [different[number] for number in numbers]
        nodes = [array("i", map(column.tolist().__getitem__, spread)) for column in columns]
        if nodes:  # a root without a graph has none
            nodes[NodeRow._fields.index("rank")] = array("i", self._ranks(walk.sequences, numbers))
        flat = array("i", itertools.chain.from_iterable(walk.edges))
        edges = [flat[at::4] for at in range(4)]
        digest = _digest(*nodes, *edges)
        graph = self._writer.find_graph(digest)
        return self._writer.add_graph(digest, nodes, edges) if graph is None else graph

    def _columns(self, walk: Walk, facts: Facts) -> Columns:
        """The nodes' specs, column by column."""
        ops, located = self._ops, facts.located
        names = list(located.names)
        for at, text in facts.leaf_names.items():
            names[at] = 0 if text is None else -self._writer.intern(text)
        saved = [0] * len(names)
        if facts.saved is not None:
            saved = [self._saved(entries) if entries else 0 for entries, _ in facts.saved]
        return (
            [ops.get(name) or self._op(name) for name in walk.names],
            list(walk.kinds),
            located.sites,
            names,
            saved,
            list(walk.orders),
        )

    def _numbers(self, columns: Columns, outputs: list[int]) -> list[int]:
        """The number of each node's spec."""
        specs = self._specs
        numbers = []
        for spec in zip(*columns[:_OUTPUTS], outputs, *columns[_OUTPUTS:], strict=True):
            number = specs.get(spec)
            numbers.append(self._add_spec(spec) if number is None else number)
        return numbers

    def _add_spec(self, spec: Spec) -> int:
        op, kind, site_row, name, outputs, saved, order = spec
        intern = self._writer.intern
        site = self._tracer.spell(site_row, 0, max(name, 0)) if site_row and self._tracer is not None else None
        name_row = -name if name < 0 else None
        where: tuple[int | None, int | None, int | None] = (None, None, None)
        more: tuple[int | None, int | None, int | None] = (None, None, None)
        if site is not None:
            name_row = intern(site.name) if name > 0 and site.name is not None else name_row
            where = intern(site.place.file), site.place.line, intern(site.place.function)
            stack = intern(stack_json(site.stack)) if len(site.stack) > 1 else None
            module = None if site.module is None else intern(site.module)
            more = stack, module, None if site.module_class is None else intern(site.module_class)
        number = self._specs[spec] = len(self._rows)
        self._rows.append(NodeRow(op, kind, name_row, *where, 0, *more, outputs, saved or None, order))
        # Leaves go by name where they have one (see store.graphs.node_key).
        key = name if kind == LEAF and name else (op, where[0], where[1])
        self._lines.append(self._keys.setdefault(key, len(self._keys)))
        return number

    def _ranks(self, sequences: list[int], numbers: list[int]) -> list[int]:
        """The j of each node's key: its rank by sequence number among the nodes of its op and line."""
        ranks = [0] * len(numbers)
        counts: dict[int, Iterator[int]] = defaultdict(itertools.count)
        lines = self._lines
        for at in sorted(range(len(numbers)), key=sequences.__getitem__):
            ranks[at] = next(counts[lines[numbers[at]]])
        return ranks

    def _op(self, name: str) -> int:
        row = self._ops.get(name)
        if row is None:
            row = self._ops[name] = self._writer.intern(name.removeprefix(_PREFIX))
        return row

    def _all_outputs(self, nodes: Sequence[Any], retained: set[tuple[int, int]]) -> list[int]:
        """The rows of the nodes' outputs."""
        texts, rows = self._texts, []
        for node in nodes:
            key: tuple[Any, ...] = ()
            try:
                metadata = node._input_metadata
                if len(metadata) == 1:  # most of them: a flat key is made in half the time
                    (m,) = metadata
                    key = (*m.shape, m.dtype, m.device)
                    if key not in texts:
                        texts[key] = self._outputs(((tuple(m.shape), m.dtype, m.device),))
                else:
                    key = tuple([(tuple(m.shape), m.dtype, m.device) for m in metadata])
            except (AttributeError, RuntimeError):  # an older torch; a nested tensor, which has no shape
                key = ()
            rows.append(texts.get(key) or self._outputs(key))
        for at in {at for at, _ in retained}:
            metadata = getattr(nodes[at], "_input_metadata", ())
            key = tuple([(tuple(m.shape), m.dtype, m.device) for m in metadata])
            key += tuple([number for number in range(len(key)) if (at, number) in retained])
            rows[at] = texts.get(key) or self._outputs(key)
        return rows

    def _outputs(self, key: tuple[Any, ...]) -> int:
        row = self._text(key, lambda: _outputs_json(key))
        self._shapes[row] = [item for item in key if not isinstance(item, int)]
        return row

    def _saved(self, entries: tuple[Entry, ...]) -> int:
        row = self._texts.get(entries)
        return self._text(entries, lambda: json.dumps(entries)) if row is None else row

    def _text(self, key: Any, text: Callable[[], str]) -> int:
        row = self._texts[key] = self._writer.intern(text())
        return row


def _digest(*columns: array[int]) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for column in columns:
        digest.update(len(column).to_bytes(8, "little"))
        digest.update(column.tobytes())
    return digest.digest()


def _relative(sequences: list[int]) -> list[int]:
    """Sequence numbers from the lowest one: equal for the same forward pass run again."""
    first = min((number for number in sequences if number >= 0), default=0)
    return [number if number < 0 else number - first for number in sequences]


def _outputs_json(key: tuple[Any, ...]) -> str:
    """The outputs; numbers after the outputs name those that retain their gradient."""
    kept = {item for item in key if isinstance(item, int)}
    outputs = [item for item in key if not isinstance(item, int)]
    return json.dumps(
        [
            [sizes_of(shape), dtype_name(dtype), str(device), number in kept]
            for number, (shape, dtype, device) in enumerate(outputs)
        ]
    )
