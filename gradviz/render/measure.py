"""How large a card must be so that it holds everything that the timeline will ever show in it.

A card keeps its size while gradients come and go, so that nothing moves but what has a meaning.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from gradviz.model import Call, Gradient, Node, Root
from gradviz.model.groups import Group
from gradviz.model.numbers import shape_text
from gradviz.playback import GradState, Timeline
from gradviz.playback.ledger import Track
from gradviz.playback.sums import MOST_TERMS as SUMMED
from gradviz.playback.sums import total
from gradviz.playback.words import short_name
from gradviz.render.cells import cell_kind, cell_size
from gradviz.render.fonts import LABEL, NAME, OP_NAME, PILL, TAG, TOTAL, Fonts, Style
from gradviz.render.labels import badge_text, edge_text, hook_text, segment_widths, tag_text, terms_text, total_text
from gradviz.render.likeness import Alike
from gradviz.texts import tr_picture as tr
from gradviz.texts import trn_picture as trn

Role = Literal["operation", "leaf", "root", "custom", "opaque", "group", "constant"]
Size = tuple[float, float]

PAD = 16.0
HEADER = 40.0
LABEL_LINE = 18.0
ROW_PAD = 14.0
COLUMN_GAP = 14.0
TERMS_LINE = 16.0
BAR = 18.0
BADGE = 26.0
BADGE_GAP = 9.0
SEED_ARROW = 52.0
SEED_GAP = 14.0
ERROR_LINE = 17.0
ERROR_WIDTH = 280.0
ERROR_LINES = 5
MOST_OUTPUTS = 4
_LEAST_WIDTH = 150.0
_MOST_TITLE = 230.0
_MOST_TAG = 130.0
GROUP_HEIGHT = 118.0
_GROUP_GRID = 24.0
CELL_BOLD = Style("mono", 13, True)


@dataclass(frozen=True, slots=True)
class Row:
    """One output of a node: where its row starts below the card's top, and the sizes of its two columns.

    `data` is None when the forward value is not known. `terms` tells that there is room for the terms of a fan-in.
    """

    output_nr: int
    top: float
    height: float
    label: str
    data: Size | None
    gradient: Size
    terms: bool


@dataclass(frozen=True, slots=True)
class GradRow:
    """The `.grad` of a leaf below its rows: a bar of parts (its width), then the cell of the sum (None: a number)."""

    top: float
    bar: float
    cell: Size | None


@dataclass(frozen=True, slots=True)
class SeedPlan:
    """The box of one seed: what it says and its size. `missing` is the shape that a missing seed needs."""

    label: str
    note: str
    missing: str | None
    size: Size


@dataclass(frozen=True, slots=True)
class GroupPart:
    """What only the card of a folded group has: what it holds, where its columns stand, whether it is a stack."""

    group: Group
    contents: str
    column: float
    leaves: int
    stack: bool


@dataclass(frozen=True, slots=True)
class LeafLine:
    """A leaf that is folded into its operation: its node (stage id) and its name, elided."""

    node: int
    title: str


@dataclass(frozen=True)
class Card:
    """The measures of a node's card. `badges` are the widths of the retained badges, by place in `frame.retained`.

    `seeds` maps a call's number to the seeds that enter here, by place in `call.roots`. `errors` maps it to the
    lines of its error. `leaves` are those that are folded into the operation.
    """

    width: float
    height: float
    title: str
    style: Style
    tag: str
    role: Role
    rows: tuple[Row, ...]
    hidden_outputs: int
    grad: GradRow | None
    badges: tuple[float, ...]
    seeds: dict[int, dict[int, SeedPlan]]
    errors: dict[int, tuple[str, ...]]
    group: GroupPart | None = None
    leaves: tuple[LeafLine, ...] = ()

    @property
    def below(self) -> float:
        """Height of what hangs below the card: badges and an error."""
        lines = max(map(len, self.errors.values()), default=0)
        error = BADGE_GAP + lines * ERROR_LINE + 14.0 if lines else 0.0
        return len(self.badges) * (BADGE + BADGE_GAP) + error

    @property
    def core_width(self) -> float:
        """Width of the card with its badges and error."""
        return max([self.width, *self.badges, ERROR_WIDTH if self.errors else 0.0])

    @property
    def seed_size(self) -> Size:
        """Width and height of the widest row of seeds; (0, 0) when none enters here."""
        rows = [[plan.size for plan in plans.values()] for plans in self.seeds.values()]
        width = max((sum(w for w, _ in row) + SEED_GAP * (len(row) - 1) for row in rows), default=0.0)
        return width, max((h for row in rows for _, h in row), default=0.0)

    def outer(self, horizontal: bool) -> Size:
        """The size that a layout must keep free, symmetrical around the card, so that chains stay straight.

        Seeds stand above the card where gradients flow sideways, else to its right.
        """
        if not (self.seeds or self.badges or self.errors):
            return self.width, self.height
        seed_width, seed_height = self.seed_size
        above = seed_height + SEED_ARROW if seed_height and horizontal else 0.0
        beside = seed_width + SEED_ARROW if seed_width and not horizontal else 0.0
        wide = max(self.core_width, seed_width if horizontal else self.width + 2 * beside)
        return wide, self.height + 2 * max(above, self.below)


class Measurer:
    """Measures the cards of one timeline."""

    def __init__(self, timeline: Timeline, fonts: Fonts) -> None:
        self._timeline, self._fonts = timeline, fonts
        self._roots = _by_stage_node(timeline)
        self._failing = any(act.failing for act in timeline.acts)
        self._alike: Alike[tuple[tuple[Row, ...], float, float]] = Alike(timeline, fonts)
        self._titles: dict[tuple[str, Style], tuple[str, float]] = {}  # few words, many nodes

    def card(self, node: Node) -> Card:
        """The card of a stage node."""
        fonts = self._fonts
        rows, bottom, columns = self._alike.once(node, self._rows)
        seeds = self._seeds(node.id)
        role: Role = node.kind
        style = NAME if node.name or role == "leaf" else OP_NAME
        title, title_width = self._title(short_name(node), style)
        tag = fonts.elide(tag_text(node), TAG, _MOST_TAG)
        grad, bottom = self._grad_row(node.id, bottom)
        header = PAD + title_width + 22.0 + fonts.width(tag, TAG) + 14.0
        inner = max(grad.bar, grad.cell[0] if grad.cell else 0.0) if grad else 0.0
        width = float(round(max(_LEAST_WIDTH, header, columns, inner + 2 * PAD)))
        tracks = self._retained(node.id)
        badges = tuple([max(width - 4.0, self._badge_width(track.states)) for track in tracks]) if tracks else ()
        hidden = max(0, len(node.outputs) - MOST_OUTPUTS)
        errors = self._errors(node.id) if self._failing else {}
        return Card(width, float(round(bottom)), title, style, tag, role, rows, hidden, grad, badges, seeds, errors)

    def group_card(self, group: Group, members: Sequence[int]) -> Card:
        """The card of a folded group: its border's norms, how many nodes it holds, `.grad` of its leaves."""
        fonts = self._fonts
        by_id = self._timeline.stage.graph.by_id
        leaves = sum(by_id[node].kind == "leaf" for node in members)
        ops = len(members) - leaves
        counted = ((trn("{n} op", "{n} ops", ops), ops), (trn("{n} leaf", "{n} leaves", leaves), leaves))
        contents = " · ".join(words for words, count in counted if count)
        tag = fonts.elide(group.detail, TAG, _MOST_TAG)
        title = fonts.elide(group.title, NAME, _MOST_TITLE)
        has_grad = any(node in self._timeline.leaves for node in members)
        columns = 3 if has_grad else 2
        column = fonts.width("0.0000e-00", CELL_BOLD) + 16.0
        header = PAD + fonts.width(title, NAME) + 22.0 + fonts.width(tag, TAG) + 34.0
        width = max(_LEAST_WIDTH, header, columns * column + 2 * PAD, fonts.width(contents, LABEL) + 2 * PAD)
        width = math.ceil(width / _GROUP_GRID) * _GROUP_GRID  # groups of a kind are as wide as each other
        part = GroupPart(group, contents, (width - 2 * PAD) / columns, leaves if has_grad else 0, bool(_repeats(group)))
        seeds: dict[int, dict[int, SeedPlan]] = {}
        errors: dict[int, tuple[str, ...]] = {}
        for node in members:
            for call, plans in self._seeds(node).items():
                seeds.setdefault(call, {}).update(plans)
            errors |= self._errors(node)
        return Card(width, GROUP_HEIGHT, title, NAME, tag, "group", (), 0, None, (), seeds, errors, part)

    def root_card(self, root: Root, call: Call, place: int) -> Card:
        """The card of a root without a node: it has no `grad_fn`, or only a summary of its call was kept."""
        fonts = self._fonts
        title = fonts.elide(root.name or tr("root {n}", n=place + 1), NAME, _MOST_TITLE)
        tag = tr("no grad_fn") if call.whole else tr("summary only")
        data = None if root.value is None else cell_size([root.value], fonts)
        height = LABEL_LINE + (data[1] if data else 24.0) + ROW_PAD
        row = Row(0, HEADER, height, "gradient", data, cell_size([root.seed], fonts), False)
        width = max(_LEAST_WIDTH, PAD + fonts.width(title, NAME) + 36.0 + fonts.width(tag, TAG), _row_width(row, fonts))
        seeds = {call.number: {place: self._seed(root, call.whole)}}
        rows = (row,)
        errors = self._error_of(call.number, root.node is None)
        return Card(round(width), round(HEADER + height), title, NAME, tag, "root", rows, 0, None, (), seeds, errors)

    def label(self, values: Iterable[Gradient]) -> Size:
        """The size of an edge's label that carries these gradients at different times."""
        widest = max((self._fonts.width(edge_text(value), PILL) for value in values), default=0.0)
        return (widest + 20.0, 24.0) if widest else (0.0, 0.0)

    def norm_label(self) -> Size:
        """The size of the label of a link that stands for several edges: a norm."""
        return self._fonts.width("‖0.000e-00‖", PILL) + 20.0, 24.0

    def _title(self, name: str, style: Style) -> tuple[str, float]:
        """A name, elided, and its width."""
        found = self._titles.get((name, style))
        if found is None:
            title = self._fonts.elide(name, style, _MOST_TITLE)
            found = self._titles[name, style] = title, self._fonts.width(title, style)
        return found

    def _rows(self, node: Node) -> tuple[tuple[Row, ...], float, float]:
        """The rows of a node, where they end, and how wide the widest is."""
        rows: list[Row] = []
        top = HEADER
        count = min(len(node.outputs), MOST_OUTPUTS) or 1
        for nr in range(count):
            values, terms = self._arrivals(node, nr)
            most_terms = max(map(len, terms), default=0)
            gradient = cell_size(values, self._fonts)
            data = self._data_size(node) if nr == 0 else None
            label = tr("gradient") if count == 1 else tr("gradient {n}", n=nr)
            wide, high = max(gradient[0], self._fonts.width(label, LABEL)), gradient[1]
            if most_terms > 1:
                progress = tr("{n} of {all} terms", n=most_terms, all=most_terms)
                wide = max(wide, self._terms_width(terms), self._fonts.width(progress, LABEL))
                high += TERMS_LINE
            hooks = [self._fonts.width(hook_text(value), LABEL) for value in self._before_hooks(node.id, nr)]
            if hooks:
                wide, high = max(wide, *hooks), high + TERMS_LINE
            height = LABEL_LINE + max(high, data[1] if data else 0.0) + ROW_PAD
            rows.append(Row(nr, top, height, label, data, (wide, high), most_terms > 1))
            top += height
        return tuple(rows), top, max((_row_width(row, self._fonts) for row in rows), default=0.0)

    def _data_size(self, node: Node) -> Size | None:
        values = [recorded.value for recorded in self._recorded(node.id) if recorded.value is not None]
        if not values:
            return None
        width, height = cell_size(values, self._fonts)
        return max(width, self._fonts.width(tr("data"), LABEL)), height

    def _recorded(self, node: int) -> list[Node]:
        found = (act.recorded.get(node) for act in self._timeline.acts)
        return [recorded for recorded in found if recorded is not None]

    def _arrivals(self, node: Node, nr: int) -> tuple[list[Gradient], list[list[Gradient]]]:
        """All that is ever shown at an output (partial sums too), and the terms that come together, call by call."""
        values: list[Gradient] = []
        together: list[list[Gradient]] = []
        for act in self._timeline.acts:
            recorded = act.recorded.get(node.id)
            if recorded is None:
                continue
            coming = act.graph.incoming.get(recorded.id, ())
            execution = act.execution(node.id)
            if len(coming) < 2 and execution is not None and node.id not in self._roots:
                # By far the most frequent case, in graphs of very many nodes: one edge brings one gradient.
                values.extend(execution.grad_outputs[nr : nr + 1])
                continue
            arrival = act.node_state(node.id, float(act.end)).gradient(nr)
            if arrival is None:
                continue
            values.append(arrival.value)
            together.append([term.value for term in arrival.terms])
            terms = together[-1][:SUMMED]
            if len(terms) > 1:
                values.extend(total(terms[:count])[0] for count in range(1, len(terms)))
        return values, together

    def _before_hooks(self, node: int, nr: int) -> list[Gradient]:
        """What came to an output in the calls in which a hook changed it."""
        runs = (act.execution(node) for act in self._timeline.acts)
        return [run.arrived[nr] for run in runs if run is not None and run.arrived and nr < len(run.arrived)]

    def _terms_width(self, together: Iterable[Sequence[Gradient]]) -> float:
        """The width of the widest line of terms."""
        return max((self._fonts.width(terms_text(terms), LABEL) for terms in together if len(terms) > 1), default=0.0)

    def _grad_row(self, node: int, top: float) -> tuple[GradRow | None, float]:
        track = self._timeline.leaves.get(node)
        if track is None:
            return None, top
        states = track.states
        scalars = all(state.total is None or cell_kind(state.total) == "scalar" for state in states)
        bar = max((self._bar_width(state, scalars) for state in states), default=60.0)
        if scalars:
            return GradRow(top, bar, None), top + LABEL_LINE + BAR + ROW_PAD
        cell = cell_size([state.total for state in states], self._fonts)
        several = any(len(state.parts) > 1 for state in states)
        height = LABEL_LINE + (BAR + 8.0 if several else 0.0) + cell[1] + ROW_PAD
        return GradRow(top, bar if several else 0.0, cell), top + height

    def _bar_width(self, state: GradState, scalars: bool) -> float:
        segments = sum(segment_widths(state, self._fonts))
        tail = self._fonts.width(total_text(state), TOTAL) + 10.0 if scalars else 0.0
        return segments + tail

    def _retained(self, node: int) -> Sequence[Track]:
        return self._timeline.retained.get(node, ())

    def _badge_width(self, states: Sequence[GradState]) -> float:
        label = self._fonts.width(tr("retained .grad"), TAG)
        return label + max((self._fonts.width(badge_text(state), PILL) for state in states), default=0.0) + 46.0

    def _seeds(self, node: int) -> dict[int, dict[int, SeedPlan]]:
        found: dict[int, dict[int, SeedPlan]] = {}
        for call, place, root in self._roots.get(node, ()):
            found.setdefault(call, {})[place] = self._seed(root)
        return found

    def _seed(self, root: Root, stranded: bool = False) -> SeedPlan:
        """How a seed is drawn; one that is `stranded` at a root without a graph is not what is missing there."""
        fonts = self._fonts
        missing = None
        if root.seed is None:
            wanted = "?" if root.shape is None else shape_text(root.shape)
            missing = tr("has no graph to enter") if stranded else tr("needs shape {shape}", shape=wanted)
            label, note = tr("seed v"), "" if stranded else tr("not given")
            cell = (fonts.width(missing, TAG), 20.0)
        else:
            label = tr("seed v   shape {shape}", shape=shape_text(root.seed.shape))
            note = (root.seed_name or "") if root.seed_given else tr("implicit")
            cell = cell_size([root.seed], fonts)
        inside = cell[0] + (fonts.width(note, TAG) + 24.0 if note else 0.0)
        width = max(fonts.width(label, TAG), inside) + 28.0
        return SeedPlan(label, note, missing, (max(130.0, float(round(width))), float(round(cell[1] + 34.0))))

    def _errors(self, node: int) -> dict[int, tuple[str, ...]]:
        found: dict[int, tuple[str, ...]] = {}
        for act in self._timeline.acts:
            if node in act.failing:
                found |= self._error_of(act.call.number, True)
        return found

    def _error_of(self, call: int, here: bool) -> dict[int, tuple[str, ...]]:
        error = next(act.call.error for act in self._timeline.acts if act.call.number == call)
        if error is None or not here:
            return {}
        lines = self._fonts.wrap(error.message, TAG, ERROR_WIDTH - 28.0, ERROR_LINES - 1)
        return {call: (error.type.rsplit(".", 1)[-1], *lines)}


def _by_stage_node(timeline: Timeline) -> dict[int, list[tuple[int, int, Root]]]:
    """Stage node -> (call, place in its roots, root) of the roots that are there."""
    found: dict[int, list[tuple[int, int, Root]]] = {}
    for act in timeline.acts:
        for place, root in enumerate(act.call.roots):
            if root.node is not None:
                found.setdefault(timeline.stage.stand_in(root.node), []).append((act.call.number, place, root))
    return found


def _repeats(group: Group) -> bool:
    return group.kind in ("repeat", "loop", "range")


def _row_width(row: Row, fonts: Fonts) -> float:
    gradient = max(row.gradient[0], fonts.width(row.label, LABEL))
    data = 0.0 if row.data is None else row.data[0] + 2 * COLUMN_GAP
    return 2 * PAD + data + gradient
