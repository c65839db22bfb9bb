"""One call from its start to its end: what is looked at before the engine runs, and what is written after."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gradviz.model import CallError, Place
from gradviz.store.codec import UNDEFINED, pack_values
from gradviz.store.writer import AccumulationRow, CallEnd, CallStart, Writer
from gradviz.worker import accumulate, facts
from gradviz.worker.arenas import Arenas
from gradviz.worker.bare_leaves import bare_leaves, seen_since
from gradviz.worker.budget import FULL_BYTES, MAX_VALUES
from gradviz.worker.capture import SMALL, Capture
from gradviz.worker.entry import Entry
from gradviz.worker.events import Changes
from gradviz.worker.executions import Encoder, failing
from gradviz.worker.expected import Expected
from gradviz.worker.flow import Flow, Seed
from gradviz.worker.frames import place_of, user_frame
from gradviz.worker.gathered import Gathered, Ran, Retained
from gradviz.worker.heads import Ends, call_of, ends_of, is_tensor, resolved
from gradviz.worker.hooks import Hooks
from gradviz.worker.identity import Identities, Known
from gradviz.worker.intake import Intake
from gradviz.worker.limits import make_room
from gradviz.worker.orders import mark_made
from gradviz.worker.pause import Pause
from gradviz.worker.ranks import Family, Rank
from gradviz.worker.saved import SavedReader
from gradviz.worker.sources import Sources
from gradviz.worker.tasks import Task
from gradviz.worker.template import Stored, Templates
from gradviz.worker.threads import sequence_now
from gradviz.worker.walk import Walk, node_of, reaching, walk

if TYPE_CHECKING:
    from gradviz.worker.names import Names
    from gradviz.worker.trace import Tracer

# In a summary a tensor up to this size is kept whole: its numbers take no more room than its statistics.
SUMMARY_VALUES = 4
PICTURES_UP_TO = 2_000  # nodes: of larger graphs nobody looks at each heat map
LARGE_GRAPH_BYTES = 1_000_000  # of gradients that are kept whole in one call of a large graph
MOST_IDLE = 500  # parameters outside of the graphs that are noted


@dataclass(slots=True)
class Active:
    """A call that is going on. Nothing of it outlives the call."""

    family: Family
    entry: Entry
    walk: Walk
    intake: Intake | None = None
    flow: Flow | None = None  # only where executions are recorded
    encoder: Encoder | None = None
    retained: list[Retained] = field(default_factory=list)
    needed: set[int] | None = None
    task: Task | None = None
    hooks: Hooks | None = None
    pause: Pause | None = None
    expected: Expected | None = None  # the graph, where it is not known for sure
    sequences: Sequence[int] = ()
    first_sequence: int = 0  # the number that the next node of this thread would have got before the engine ran
    started: float = field(default_factory=time.perf_counter)
    clean: bool = False  # none of our hooks is set any more

    @property
    def rank(self) -> Rank:
        """Where it stands among the others."""
        return self.family.rank

    def forget(self) -> None:
        """Let go of nodes, tensors and values."""
        if self.hooks is not None:
            self.hooks.forget()
        self.walk = Walk()
        self.task = None
        self.intake = self.flow = self.encoder = self.hooks = self.expected = None
        self.retained = []
        self.needed = None
        self.sequences = ()

    @property
    def gathered(self) -> Gathered:
        """What the hooks brought together (nothing where there were none)."""
        return Gathered() if self.hooks is None else self.hooks.gathered

    @property
    def calm(self) -> bool:
        """Whether nothing but torch's own nodes can run."""
        return self.hooks is not None and self.hooks.calm


class Scribe:
    """Reads what a call needs and writes it; knows nothing of patches or of other calls."""

    def __init__(self, writer: Writer, max_values: int, max_nodes: int, tracer: Tracer | None) -> None:
        self._writer = writer
        self._max_nodes = max_nodes
        self._tracer = tracer
        self.identities = Identities()
        self._templates = Templates(writer, tracer)
        self._sites_with_source: set[int] = set()
        self._last_flow: tuple[Any, Flow | None] = None, None
        self._saved = SavedReader()
        self._idle: set[str] = set()  # names of parameters that a call did not reach
        self._sources = Sources(writer)
        self._max_values = max_values
        self._arenas = Arenas()
        self._since = seen_since()
        self.capture = Capture(writer, max_values)
        # The numbers of a large parameter are wanted at each call, a picture of it would cost more than they do.
        self._plain = Capture(writer, max_values, thumbnails=False)
        self.changes = Changes(writer, self.capture, self.identities, tracer)
        self._brief = Capture(writer, min(SUMMARY_VALUES, max_values), thumbnails=False)

    def capture_for(self, rank: Rank) -> Capture:
        """How tensors of a call are packed."""
        return self.capture if rank.detail == "full" else self._brief

    # -- before ----------------------------------------------------------------------------------------------------

    def begin(self, rank: Rank, entry: Entry, names: Names, engine: bool) -> Active:
        """Look at the graph and write the first transaction."""
        if rank.detail == "none":
            self._head_only(rank, entry, engine)
            return Active(Family(rank), entry, Walk())
        ends = ends_of(entry)
        full = rank.detail == "full"
        roots = [node for node, _ in ends.roots]
        is_alone = self._tracer is not None and self._tracer.is_alone()
        is_freed = not (entry.retain_graph or entry.create_graph) if is_alone else None
        found = walk(roots, self.identities, self._max_nodes, only_leaves=not full, is_freed=is_freed)
        ends = resolved(entry, ends, found)
        make_room(len(found.nodes))
        self._note_retaining_inputs(entry, names)
        return (self._begin_full if full else self._begin_summary)(rank, entry, ends, found, names, engine)

    def begin_group(self, rank: Rank, entry: Entry) -> None:
        """First transaction of a call that runs no engine itself: it only groups others."""
        self._sources.add(entry.stack)
        self._head_only(rank, entry, engine=False)

    def end_group(self, rank: Rank, error: BaseException | None) -> None:
        """Second transaction of a grouping call."""
        self._writer.end_call(CallEnd(rank.number, error=None if error is None else describe(error, ())))

    def _head_only(self, rank: Rank, entry: Entry, engine: bool) -> None:
        bare = replace(entry, outputs=(), seeds=(), given=None, inputs=None)
        self._writer.begin_call(CallStart(call_of(rank, bare, Ends((), ()), Walk(), None, engine), (), ()))

    def _begin_full(self, rank: Rank, entry: Entry, ends: Ends, found: Walk, names: Names, engine: bool) -> Active:
        retained = self._retained(found, names)
        kept = {(kept.index, kept.output_nr) for kept in retained}
        known = facts.look(found, names, self._tracer, self._saved, kept)
        if rank.parent is None:
            self._note_idle(rank, entry, found, names)
        stored = self._templates.store(found, known, entry.watched or entry.batched or entry.inputs is not None)
        self.capture.whole_up_to = self._whole_up_to(stored.sizes, len(found.nodes))
        self._add_sources(known.located.sites)
        self._sources.add(entry.stack)
        pack = self.capture.pack
        packed = [pack(seed) for seed in entry.seeds]
        values = [pack(output) if is_tensor(output) else UNDEFINED for output in entry.outputs]
        call = call_of(rank, entry, ends, found, names, engine)
        details = facts.node_values(found, known, entry, ends, names, self.capture, self._leaf_values)
        columns = found.ids, known.located.iterations, found.sequences
        start = CallStart(call, packed, values, stored.graph, *columns, details)
        self._writer.begin_call(start)
        flow = self._flow(stored, found, _seeds(ends, found, packed))
        encoder = Encoder(found, flow, self.capture.dtype_of)
        plain = stored.plain and not entry.watched and not entry.batched
        intake = Intake(self.capture, plain, len(found.nodes) <= PICTURES_UP_TO, stored.kinds, self._arenas)
        active = Active(Family(rank), entry, found, intake, flow, encoder, retained, self._needed(entry, ends, found))
        active.expected = Expected(start, known) if stored.is_expected else None
        active.sequences, active.first_sequence = found.sequences, sequence_now()
        return active

    def _note_idle(self, rank: Rank, entry: Entry, found: Walk, names: Names) -> None:
        """Note the parameters of modules in sight that the graph does not reach, each once: why has it no gradient?"""
        if self._tracer is None or not entry.stack:
            return
        reached = {id(tensor) for tensor in found.leaves.values()}
        for name, tensor in names.parameters():
            if id(tensor) not in reached and name not in self._idle and len(self._idle) < MOST_IDLE:
                self._idle.add(name)
                self._tracer.holds(name, tensor, entry.stack[0], rank.number)

    def _leaf_values(self, leaves: Mapping[int, Any], known: Mapping[int, Known]) -> dict[int, bytes]:
        return self.changes.leaf_values(leaves, known, self._plain.pack)

    def _flow(self, stored: Stored, found: Walk, seeds: list[Seed]) -> Flow:
        """How gradient flows; of a graph that the call before had, too, it is known."""
        roots = [(index, output_nr) for index, output_nr, _ in seeds]
        key = stored.graph, roots, [index for index, _ in found.twins]
        last, flow = self._last_flow
        if flow is None or last != key:
            flow = Flow(found, seeds, stored.outputs)
            self._last_flow = key, flow
        return flow.again(seeds)

    def _add_sources(self, sites: Sequence[int]) -> None:
        if self._tracer is not None:
            rows = set(sites) - self._sites_with_source - {0}
            self._sites_with_source |= rows
            for row in rows:
                self._sources.add(self._tracer.spell(row, 0, 0).stack)

    def _begin_summary(self, rank: Rank, entry: Entry, ends: Ends, found: Walk, names: Names, engine: bool) -> Active:
        facts.name_new_leaves(found, names)
        pack = self._brief.pack
        packed = [pack(seed) for seed in entry.seeds]
        values = [pack(output) if is_tensor(output) else UNDEFINED for output in entry.outputs]
        self._writer.begin_call(CallStart(call_of(rank, entry, ends, found, names, engine), packed, values))
        intake = Intake(self._brief, not entry.watched, thumbnails=False, arenas=self._arenas)
        return Active(Family(rank), entry, found, intake)

    def _whole_up_to(self, sizes: dict[int, int], nodes: int) -> int:
        """Up to how many elements tensors are kept whole in a call, so that a large graph leaves room for others.

        `sizes` maps the elements of one output to the bytes of all such outputs of the graph.
        """
        if self._max_values != MAX_VALUES:  # the user has chosen
            return self._max_values
        room = LARGE_GRAPH_BYTES
        if nodes <= PICTURES_UP_TO:
            room = max(room, (FULL_BYTES - self._writer.size()) // 8)
        limit = SMALL
        for elements, size in sorted(sizes.items()):
            room -= size
            if room < 0:
                break
            limit = max(limit, elements)
        else:
            limit = self._max_values
        return min(limit, self._max_values)

    def hooks(
        self, active: Active, pause: Pause, flush: Callable[[], None] | None = None, disturbed: bool = True
    ) -> Hooks:
        """The hooks of a call that has begun and has a task; they are not registered yet.

        `disturbed`: code of the user's may run inside the engine.
        """
        assert active.task is not None and active.intake is not None
        bare = None if disturbed else bare_leaves(active.entry, active.walk, active.flow, active.intake, self._since)
        active.hooks = Hooks(active.walk, active.intake, active.task, active.retained, pause, active.flow, bare, flush)
        return active.hooks

    def _note_retaining_inputs(self, entry: Entry, names: Names) -> None:
        """`backward(inputs=[y])` makes a non-leaf `y` retain its gradient, for good."""
        if not entry.accumulates:
            return
        for item in entry.inputs or ():
            if is_tensor(item) and not item.is_leaf and self.identities.retained.find(item) is None:
                self.identities.retained.add(item, 0).name = names.of(item)

    def _retained(self, found: Walk, names: Names) -> list[Retained]:
        ends = []
        for tensor, known in self.identities.retained.alive():
            known.name = names.of(tensor) or known.name
            ends.append((tensor, *node_of(tensor)))
        return accumulate.find_retained(found, ends, self.capture)

    def _needed(self, entry: Entry, ends: Ends, found: Walk) -> set[int] | None:
        if entry.inputs is None:
            return None
        indices = {index for node, _ in ends.inputs if (index := found.index_of(node)) is not None}
        needed = reaching(found, indices)
        if not entry.accumulates:
            # `torch.autograd.grad` takes the gradient before the node of an input, which runs only for another input.
            needed &= {source for source, _, target, _ in found.edges if target in needed}
        return needed

    # -- after -----------------------------------------------------------------------------------------------------

    def flush(self, active: Active) -> None:
        """Write what a long call has done so far."""
        if active.encoder is not None and active.intake is not None:
            active.intake.settle()
            entries = active.encoder.encode(active.gathered, active.calm)
            self._writer.add_executions(active.rank.number, entries)
            self._writer.flush()

    def end(self, active: Active, result: Any, error: BaseException | None) -> None:
        """Write the second transaction."""
        rank, gathered = active.rank, active.gathered
        if active.hooks is not None:
            active.hooks.settle(error)
        if active.intake is not None:
            active.intake.settle()
        if active.expected is not None and active.intake is not None:
            has_failed = error is not None
            active.expected.confirm(active.walk, active.intake, gathered, has_failed, self._templates, self._writer)
        failed = None if active.encoder is None else self._finish_executions(active, active.encoder, error)
        capture = self.capture_for(rank)
        returned = None
        if rank.detail == "full" and error is None and not active.entry.accumulates and isinstance(result, tuple):
            returned = pack_values([capture.pack(value) for value in result])
        sent = _nothing_sent if active.encoder is None else active.encoder.incoming
        rows = accumulate.rows_of(active.walk, gathered, active.retained, capture, self.identities, sent)
        if active.hooks is not None and active.hooks.bare is not None:
            rows += active.hooks.bare.rows(sent)
            rows.sort(key=_when)
        if rank.detail == "full":
            if active.entry.create_graph:
                mark_made(active.walk, active.first_sequence, result, self.identities)
            self.write_bindings(active)
        trouble = gathered.trouble
        self._settle(active, rows)
        self._writer.end_call(
            CallEnd(
                rank.number,
                rows,
                returned,
                None if error is None else describe(error, active.entry.stack),
                None if failed is None else active.walk.ids[failed],
                time.perf_counter() - active.started,
                None if trouble is None else f"{type(trouble).__name__} while recording: {trouble}",
            )
        )

    def _settle(self, active: Active, rows: Sequence[AccumulationRow]) -> None:
        if active.rank.detail == "none":
            self.changes.forget()
        else:
            left = {row.node: row.left for row in rows if not row.retained}
            self.changes.settle(zip(active.walk.leaves.values(), active.walk.known.values(), strict=True), left)

    def write_bindings(self, active: Active | None) -> None:
        """Write the bindings that are new, with the nodes of the call that has just ended (None: at the end)."""
        if self._tracer is None:
            return
        by_sequence = {} if active is None else dict(zip(active.sequences, active.walk.ids, strict=False))

        def resolve(sequence: int | None, tensor: Any) -> int | None:
            if tensor is not None:
                known = self.identities.leaves.find(tensor)
                if known is not None:
                    return known.node
            return None if sequence is None else by_sequence.get(sequence)

        bindings = self._tracer.drain_bindings(resolve, final=active is None)
        self._sources.add(binding.place for binding in bindings)  # a helper's file may have made no node: the cut
        self._writer.add_bindings(bindings)

    def _finish_executions(self, active: Active, encoder: Encoder, error: BaseException | None) -> int | None:
        """Queue the executions that are not written yet; return the index of the node that failed."""
        gathered = active.gathered
        entries = encoder.encode(gathered, active.calm)
        failed = None
        if error is not None and active.hooks is not None:
            failed = failing(active.walk, gathered, encoder, active.needed)
        if failed is not None:
            arrived = gathered.started.get(failed) or encoder.flowed(failed)
            gathered.ran.append(Ran(failed, list(arrived), [], finished=False))
            entries += encoder.encode(gathered, active.calm)
        self._writer.add_executions(active.rank.number, entries)
        return failed


def _when(row: AccumulationRow) -> float:
    return math.inf if row.order is None else row.order


def _nothing_sent(index: int) -> bytes:
    return UNDEFINED


def _seeds(ends: Ends, found: Walk, packed: list[bytes]) -> list[Seed]:
    return [
        (index, output_nr, seed)
        for (node, output_nr), seed in zip(ends.roots, packed, strict=True)
        if (index := found.index_of(node)) is not None
    ]


def describe(error: BaseException, stack: Sequence[Place]) -> CallError:
    """An exception as it is recorded; its place is the innermost line of the user's on its way, or that of the call."""
    trace, place = error.__traceback__, stack[0] if stack else None
    while trace is not None:
        if user_frame(trace.tb_frame) is trace.tb_frame:
            where = place_of(trace.tb_frame)
            place = type(where)(where.file, trace.tb_lineno or where.line, where.function)
        trace = trace.tb_next
    try:
        message = str(error)
    except Exception as unprintable:
        message = f"(no message: {type(unprintable).__name__})"
    return CallError(type(error).__name__, message, place)
