"""Building the tree of groups: modules, functions, loops and their iterations, lines, repeated structure.

An operation's place in the tree is its module path, else the user's functions that were running; inside that the
iteration of the loop, inside that the line. A module that was called several times, with other work in between, is
one group for each of its calls. A leaf lives in the innermost group that holds all its consumers.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gradviz.model.graph import Graph, Node
from gradviz.model.group_paths import Paths, Segment
from gradviz.model.groups import Group, GroupKind, GroupTree

MOST_LEAVES = 20
MOST_CHILDREN = 60  # a group with more is cut into ranges, so that opening it stays readable
_FEWEST_REPEATS = 3
_CONTAINERS = ("Sequential", "ModuleList", "ModuleDict")
_DENSE = 0.5  # a line belongs to a loop when it ran in at least this share of its iterations


@dataclass(eq=False, slots=True)
class _Draft:
    """A group that is still being built."""

    kind: GroupKind
    key: str
    label: str
    detail: str = ""
    groups: list[_Draft] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    leaves: list[int] = field(default_factory=list)

    @property
    def entries(self) -> int:
        return len(self.groups) + len(self.nodes) + len(self.leaves)


def build_groups(graph: Graph) -> GroupTree:
    """The tree of groups of a graph; in order of recording, so that equal graphs have equal trees."""
    operations = [node for node in graph.nodes if node.kind != "leaf"]
    top = _Draft("all", "", "")
    _fill(top, operations, Paths(operations), 0)
    _place_leaves(top, graph)
    _simplify(top)
    return _finished(top)


def _fill(draft: _Draft, nodes: Sequence[Node], paths: Paths, depth: int) -> None:
    """Put nodes, whose first `depth` segments lead to `draft`, into it and its groups. Depth is limited by stacks."""
    loops = _loops(nodes, paths, depth)
    rest: list[Node] = []
    iterations: dict[int, dict[int, list[Node]]] = defaultdict(lambda: defaultdict(list))
    for node in nodes:
        last = loops.get(node.id)
        if last is None:
            rest.append(node)
        else:
            iterations[last][node.iteration or 0].append(node)
    for last, members in iterations.items():
        draft.groups.append(_loop(draft, last, members, paths, depth))
    here = [node for node in rest if len(paths[node.id]) <= depth]
    for (kind, key, label), run, members_here in _scopes(rest, paths, depth) if len(here) < len(rest) else ():
        child = _Draft(kind, _under(draft, key) + run, label + run, _class_of(members_here, key))
        draft.groups.append(child)
        _fill(child, members_here, paths, depth + 1)
    _lines(draft, here, paths)


def _scopes(nodes: Sequence[Node], paths: Paths, depth: int) -> Iterator[tuple[Segment, str, list[Node]]]:
    """The nodes in each inner scope of this depth, in order; of each call of a module apart (`""`, then `" #2"`).

    One box for a module that is called before and after other work would lie in a cycle, and hide what it does.
    """
    scope_of: dict[int, tuple[Segment, int]] = {}
    runs: dict[Segment, int] = {}
    last: Segment | None = None
    for node in sorted(nodes, key=lambda node: node.sequence or 0):
        path = paths[node.id]
        scope = path[depth] if len(path) > depth else None
        if scope is not None:
            if scope not in runs:
                runs[scope] = 1
            elif scope != last and scope[0] == "module":
                runs[scope] += 1
            scope_of[node.id] = scope, runs[scope]
        last = scope
    found: dict[tuple[Segment, int], list[Node]] = {}
    for node in nodes:
        if node.id in scope_of:
            found.setdefault(scope_of[node.id], []).append(node)
    for (scope, run), members in found.items():
        yield scope, "" if run == 1 else f" #{run}", members


def _under(draft: _Draft, key: str) -> str:
    """A key that is unique in the tree: that of the group around in front where this alone does not tell."""
    return f"{draft.key}/{key}" if draft.kind in ("iteration", "function") else key


def _class_of(nodes: Sequence[Node], key: str) -> str:
    """The class of a module, told by a node that was made directly in it."""
    name = key.removeprefix("module:")
    return next((node.module_class for node in nodes if node.module == name and node.module_class), "")


def _loops(nodes: Sequence[Node], paths: Paths, depth: int) -> dict[int, int]:
    """Node -> the last iteration of the loop that it belongs to at this depth.

    Lines that ran equally often belong to one loop; a whole inner scope does when all its lines did. A loop that lies
    in one inner scope alone is left to that scope.
    """
    runs: dict[int, set[int]] = defaultdict(set)
    lines = paths.lines
    for node in nodes:
        if node.iteration is not None and node.place is not None:
            runs[lines[node.id]].add(node.iteration)
    last_of_line = {
        key: max(found)
        for key, found in runs.items()
        if len(found) > 1 and len(found) >= _DENSE * (max(found) - min(found) + 1)
    }
    if not last_of_line:
        return {}
    members: dict[tuple[Segment | None, int], list[int]] = {}
    for node in nodes:
        number = node.id
        path = paths[number]
        scope = path[depth] if len(path) > depth else None
        members.setdefault((scope, last_of_line.get(lines[number], 0)), []).append(number)
    scopes = Counter(scope for scope, _ in members)
    whole = {scope: last for scope, last in members if scope is not None and scopes[scope] == 1}
    parts = Counter(last for last in whole.values() if last)
    found: dict[int, int] = {}
    for (scope, last), numbers in members.items():
        if last and (scope is None or scope in whole) and ((None, last) in members or parts[last] > 1):
            found.update(dict.fromkeys(numbers, last))
    return found


def _loop(draft: _Draft, last: int, members: dict[int, list[Node]], paths: Paths, depth: int) -> _Draft:
    lines = [node.place.line for nodes in members.values() for node in nodes if node.place is not None]
    key = f"{draft.key}/loop:{min(lines)}-{max(lines)}"
    loop = _Draft("loop", key, f"line {min(lines)}" if min(lines) == max(lines) else f"lines {min(lines)}–{max(lines)}")
    loop.detail = f"× {len(members)}"
    for number in sorted(members):
        step = _Draft("iteration", f"{key}#{number}", f"step {number}")
        loop.groups.append(step)
        _fill_once(step, members[number], paths, depth)
    return loop


def _fill_once(draft: _Draft, nodes: Sequence[Node], paths: Paths, depth: int) -> None:
    """As `_fill` inside one iteration, where no line runs twice."""
    here = [node for node in nodes if len(paths[node.id]) <= depth]
    for (kind, key, label), run, members in _scopes(nodes, paths, depth) if len(here) < len(nodes) else ():
        child = _Draft(kind, f"{draft.key}/{key}{run}", label + run, _class_of(members, key))
        draft.groups.append(child)
        _fill_once(child, members, paths, depth + 1)
    _lines(draft, here, paths)


def _lines(draft: _Draft, nodes: Sequence[Node], paths: Paths) -> None:
    """Nodes of one statement, all under one path, become a group that bears the name which the statement bound."""
    by_line: dict[tuple[int, int | None], list[Node]] = {}
    for node in nodes:
        by_line.setdefault((paths.lines[node.id], node.iteration), []).append(node)
    for (_, iteration), members in by_line.items():
        place = members[0].place
        if place is None or len(members) < 2:
            draft.nodes.extend([node.id for node in members])
            continue
        name = next((node.name for node in members if node.name), None)
        again = "" if iteration in (None, 1) else f"#{iteration}"
        key, word = f"{draft.key}/line:{place.file}:{place.line}{again}", f"line {place.line}"
        draft.groups.append(_Draft("line", key, name or word, word, [], [node.id for node in members]))


def _place_leaves(top: _Draft, graph: Graph) -> None:
    """Each leaf into the innermost group that holds all its consumers."""
    parent: dict[int, _Draft | None] = {id(top): None}
    level: dict[int, int] = {id(top): 0}
    home: dict[int, _Draft] = {}
    waiting = [top]
    while waiting:
        draft = waiting.pop()
        for node in draft.nodes:
            home[node] = draft
        for child in draft.groups:
            parent[id(child)], level[id(child)] = draft, level[id(draft)] + 1
            waiting.append(child)
    for leaf in graph.nodes:
        if leaf.kind != "leaf":
            continue
        common: _Draft | None = None
        for edge in graph.incoming.get(leaf.id, ()):
            other = home.get(edge.source, top)
            common = other if common is None else _common(common, other, parent, level)
        (common or top).leaves.append(leaf.id)


def _common(a: _Draft, b: _Draft, parent: dict[int, _Draft | None], level: dict[int, int]) -> _Draft:
    while a is not b:
        if level[id(a)] < level[id(b)]:
            a, b = b, a
        up = parent[id(a)]
        assert up is not None
        a = up
    return a


def _simplify(top: _Draft) -> None:
    """Take out groups that group nothing, gather what repeats, cut what is too long. Iterative, from the bottom."""
    order = [top]
    for draft in order:
        order.extend(draft.groups)
    for draft in reversed(order):
        if draft.groups:
            draft.groups = [kept for child in draft.groups for kept in _worth_keeping(child, draft)]
            _gather_repeats(draft)
        if draft.leaves:
            _gather_leaves(draft)
        if draft.groups or len(draft.nodes) > MOST_CHILDREN:  # not the tens of thousands of steps with a node or two
            _cut(draft)


def _worth_keeping(child: _Draft, parent: _Draft) -> list[_Draft]:
    """The child; its only group in its place; nothing when its single node moved up."""
    if child.entries > 1 or child.kind == "iteration":
        return [child]
    if child.groups:
        inner = child.groups[0]
        if child.kind == "module" and inner.kind == "module":
            inner.label = _joined(child.label, inner.label)
        elif child.kind in ("module", "function") and inner.kind == "line":
            child.groups, child.nodes, child.leaves = [], inner.nodes, child.leaves + inner.leaves
            return [child]
        elif child.kind in ("module", "function") and inner.kind in ("loop", "repeat"):
            inner.label = child.label
            _rename_steps(inner, child.label)
        return [inner]
    parent.nodes.extend(child.nodes)
    return []


def _joined(outer: str, inner: str) -> str:
    """`layer1` and `conv` make `layer1.conv`; `layer1` and `layer1.0` make `layer1.0`."""
    tail = outer.rsplit(".", 1)[-1]
    return outer + inner.removeprefix(tail) if inner.startswith(f"{tail}.") else f"{outer}.{inner}"


def _rename_steps(loop: _Draft, name: str) -> None:
    """The iterations of a function's loop are its runs: `Block.forward 7`, not `step 7`."""
    waiting = list(loop.groups) if loop.kind == "loop" else []
    while waiting:
        draft = waiting.pop()
        if draft.kind in ("iteration", "range") and draft.label.startswith("step "):
            draft.label = f"{name} {draft.label.removeprefix('step ')}"
            waiting.extend(draft.groups)


def _gather_repeats(draft: _Draft) -> None:
    """Neighbours of one class and one structure become one group with their count: `Block × 48`.

    Where they are all that there is in a group, that group itself gets the count.
    """
    found: list[_Draft] = []
    for _, run in itertools.groupby(draft.groups, _shape):
        members = list(run)
        if len(members) < _FEWEST_REPEATS or members[0].kind not in ("module", "function"):
            found.extend(members)
            continue
        first, last = members[0], members[-1]
        name = first.detail or first.label
        if len(members) == draft.entries and draft.kind in ("module", "function"):
            draft.kind, draft.detail = "repeat", f"{name} × {len(members)}" if first.detail else f"× {len(members)}"
            return
        repeat = _Draft("repeat", f"{first.key}…{last.key}", name, f"× {len(members)}", members)
        _cut(repeat)
        found.append(repeat)
    draft.groups = found


def _gather_leaves(draft: _Draft) -> None:
    """Very many leaves become one group."""
    if len(draft.leaves) > MOST_LEAVES and draft.entries > len(draft.leaves):
        leaves = _Draft("leaves", f"{draft.key}/leaves", f"{len(draft.leaves)} leaves", "", [], draft.leaves)
        _cut(leaves)
        draft.groups.append(leaves)
    else:
        draft.nodes.extend(draft.leaves)
    draft.leaves = []


def _shape(draft: _Draft) -> tuple[object, ...]:
    """What two groups have in common when they repeat: the class of a module of the user's, else the inner structure.

    Names of children tell structure, lines and counts do not. The first block of a stage may have a part more.
    """
    if draft.detail and draft.detail not in _CONTAINERS:
        return draft.kind, draft.detail
    inner = tuple((child.kind, child.label) for child in draft.groups if child.kind != "line")
    return draft.kind, draft.detail, inner


def _cut(draft: _Draft) -> None:
    """Cut a group with very many children into ranges of ten, a hundred, ...; nothing is left out."""
    leaves = [group for group in draft.groups if group.kind == "leaves"]
    groups = [group for group in draft.groups if group.kind != "leaves"]
    while len(groups) > MOST_CHILDREN:
        groups = _ranges(draft, groups)
    draft.groups = groups + leaves
    if len(draft.nodes) > MOST_CHILDREN and len(draft.nodes) + len(draft.groups) > MOST_CHILDREN:
        nodes = draft.nodes
        draft.nodes = []
        pieces = [_Draft("range", "", "", "", [], [node]) for node in nodes]
        while len(pieces) > MOST_CHILDREN:
            pieces = _ranges(draft, pieces)
        draft.groups.extend(pieces)


def _ranges(draft: _Draft, children: list[_Draft]) -> list[_Draft]:
    found = []
    for start in range(0, len(children), 10):
        part = children[start : start + 10]
        if not part[0].key:  # single nodes, not yet in a range
            nodes = [node for piece in part for node in piece.nodes]
            label = f"{start + 1}–{start + len(nodes)}"
            found.append(_Draft("range", f"{draft.key}/nodes:{start}", label, "", [], nodes))
            continue
        first, last = part[0], part[-1]
        label = _range_label(first.label, last.label)
        found.append(_Draft("range", f"{first.key}…{last.key}", label, "", part))
    return found


def _range_label(first: str, last: str) -> str:
    """`step 1` and `step 20` make `step 1–20`."""
    head = first.rsplit(" ", 1)[0]
    if " " in first and last.startswith(head + " "):
        low = first.removeprefix(head + " ").split("–")[0]
        return f"{head} {low}–{last.removeprefix(head + ' ').split('–')[-1]}"
    return first if first == last else f"{first} – {last}"


def _finished(top: _Draft) -> GroupTree:
    order: list[tuple[_Draft, int | None]] = [(top, None)]
    places: dict[int, int] = {}
    children: list[list[int]] = []
    for index, (draft, parent) in enumerate(order):
        places[id(draft)] = index
        children.append([])
        if parent is not None:
            children[parent].append(index)
        order.extend((child, index) for child in draft.groups)
    sizes = [len(draft.nodes) for draft, _ in order]
    for index in range(len(order) - 1, 0, -1):
        parent = order[index][1]
        assert parent is not None
        sizes[parent] += sizes[index]
    return GroupTree(
        tuple(
            Group(i, d.key, d.kind, d.label, d.detail, parent, tuple(children[i]), tuple(d.nodes), sizes[i])
            for i, (d, parent) in enumerate(order)
        )
    )
