"""The tree of groups, for the kinds of programs that it must fold, and its first view."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest

from gradviz.model import Edge, Graph, Node, Place
from gradviz.model.grouping import build_groups
from gradviz.model.groups import MOST_BOXES, Group, GroupTree
from tests import recordings as made

FILE = "/home/me/train.py"


class Program:
    """Nodes in the order of the forward pass, joined in a chain; the graph has them the other way round."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self._number = itertools.count()
        self.last: int | None = None

    def op(
        self,
        name: str,
        line: int,
        iteration: int = 1,
        module: str | None = None,
        kind: str | None = None,
        functions: Iterable[str] = (),
        leaves: Iterable[int] = (),
    ) -> int:
        number = next(self._number)
        stack = tuple(Place(FILE, line + depth, function) for depth, function in enumerate(functions))
        place = stack[0] if stack else Place(FILE, line)
        made_node = Node(
            number,
            f"{name}#{number}",
            f"{name}Backward0",
            "operation",
            None,
            (),
            place,
            stack,
            iteration,
            module,
            kind,
            sequence=number,
        )
        self.nodes.append(made_node)
        if self.last is not None:
            self.edges.append(Edge(number, 0, self.last, 0))
        self.edges += [Edge(number, 1 + slot, leaf, 0) for slot, leaf in enumerate(leaves)]
        self.last = number
        return number

    def leaf(self, name: str) -> int:
        number = next(self._number)
        self.nodes.append(made.leaf(number, name))
        return number

    def tree(self) -> GroupTree:
        return build_groups(Graph(tuple(reversed(self.nodes)), tuple(self.edges)))


def gpt(blocks: int) -> Program:
    program = Program()
    program.op("Embedding", 10, module="tok", kind="Embedding", leaves=[program.leaf("tok.weight")])
    for k in range(blocks):
        for part in ("norm1", "attn", "norm2", "mlp"):
            weight = program.leaf(f"blocks.{k}.{part}.weight")
            path = f"blocks.{k}.{part}"
            program.op("Addmm", 20, module=path, kind="Linear", leaves=[weight])
            program.op("View", 20, module=path, kind="Linear")
        program.op("Add", 21, k + 1, module=f"blocks.{k}", kind="Block")
    program.op("Addmm", 30, module="head", kind="Linear", leaves=[program.leaf("head.weight")])
    program.op("LogSoftmax", 40)
    program.op("NllLoss", 40)
    return program


def lstm(steps: int) -> Program:
    program = Program()
    weight, bias, out = (program.leaf(name) for name in ("weight", "bias", "out"))
    for step in range(1, steps + 1):
        for line in (5, 5, 6, 7, 7):
            program.op("Mul", line, step, functions=["Cell.forward", "<module>"], leaves=[weight, bias])
        program.op("Mm", 50, step, leaves=[out])
        program.op("Add", 51, step)
    return program


def scalars(count: int) -> Program:
    program = Program()
    leaves = [program.leaf(f"w{k}") for k in range(count // 10)]
    for k in range(count):
        program.op("Mul", 3, k + 1, functions=["Value.__mul__", "<module>"], leaves=[leaves[k % len(leaves)]])
    return program


def chain(length: int) -> Program:
    program = Program()
    for _ in range(length):
        program.nodes.append(made.node(next(program._number), "MulBackward0"))
    program.edges = [Edge(k + 1, 0, k, 0) for k in range(length - 1)]
    return program


def groups_of(tree: GroupTree, kind: str) -> list[Group]:
    return [group for group in tree.groups if group.kind == kind]


def label(tree: GroupTree, word: str) -> Group:
    return next(group for group in tree.groups if group.label == word)


@pytest.mark.parametrize(
    "program",
    [gpt(48), lstm(40), scalars(300), chain(200), Program()],
    ids=["gpt", "lstm", "scalars", "chain", "empty"],
)
def test_every_node_is_in_exactly_one_place(program: Program) -> None:
    tree = program.tree()
    ids = sorted(node.id for node in program.nodes)
    assert sorted(tree.members(0)) == ids
    assert sorted(node for group in tree.groups for node in group.nodes) == ids
    assert len({group.key for group in tree.groups}) == len(tree.groups)
    for group in tree.groups:
        assert group.size == len(tree.members(group.index))
        assert all(tree.groups[child].parent == group.index for child in group.groups)


@pytest.mark.parametrize(
    "program", [gpt(48), gpt(200), lstm(1000), scalars(30_000), chain(50_000), gpt(6)], ids=lambda p: str(len(p.nodes))
)
def test_the_first_view_holds_12_to_80_boxes_or_little_less(program: Program) -> None:
    tree = program.tree()
    boxes = tree.visible(tree.first_view)
    assert 5 <= len(boxes) <= MOST_BOXES
    covered = [node for box in boxes for node in ([box] if isinstance(box, int) else tree.members(box.index))]
    assert sorted(covered) == sorted(node.id for node in program.nodes)


def test_repeated_blocks_fold_once_with_their_count() -> None:
    program = gpt(48)
    for line in range(60, 72):
        program.op("Mul", line)
    tree = program.tree()
    repeat = next(group for group in tree.groups if group.kind == "repeat")
    assert (repeat.label, repeat.detail) == ("blocks", "Block × 48")
    assert repeat.index not in tree.first_view
    opened = tree.open_groups([repeat.key], [])
    shown = [box.label for box in tree.visible(opened) if isinstance(box, Group)]
    assert [word for word in shown if word.startswith("blocks.")] == [f"blocks.{k}" for k in reversed(range(48))]


def test_one_block_can_be_opened_alone() -> None:
    tree = gpt(48).tree()
    repeat = next(group for group in tree.groups if group.kind == "repeat")
    seventh = next(group for group in tree.groups if group.parent == repeat.index and group.label == "blocks.7")
    shown = tree.visible(tree.open_groups([repeat.key, seventh.key], []))
    assert seventh not in shown
    assert sum(isinstance(box, Group) and box.parent == repeat.index for box in shown) == 47
    assert any(isinstance(box, Group) and box.parent == seventh.index for box in shown)


def test_neighbours_of_one_structure_are_gathered_beside_others() -> None:
    program = Program()
    for k in range(5):
        for line in range(14):
            program.op("Addmm", line, module=f"net.{k}", kind="Linear" if k < 4 else "Other")
    tree = program.tree()
    repeat = next(group for group in tree.groups if group.kind == "repeat")
    assert (repeat.label, repeat.detail, len(repeat.groups)) == ("Linear", "× 4", 4)


def test_ops_of_one_statement_are_a_group() -> None:
    tree = gpt(48).tree()
    loss = next(group for group in tree.groups if group.kind == "line" and group.detail == "line 40")
    assert loss.size == 2


def test_iterations_of_a_loop_hold_what_ran_in_them_together() -> None:
    tree = lstm(40).tree()
    loop = next(group for group in tree.groups if group.kind == "loop")
    assert loop.detail == "× 40"
    steps = groups_of(tree, "iteration")
    assert len(steps) == 40
    assert {step.size for step in steps} == {7}
    assert sorted(tree.groups[loop.parent or 0].nodes + loop.nodes) == [0, 1, 2]  # shared weights stay outside


def test_many_iterations_are_cut_into_ranges_and_none_is_lost() -> None:
    tree = lstm(1000).tree()
    loop = next(group for group in tree.groups if group.kind == "loop")
    assert len(loop.groups) <= 60
    ranges = [tree.groups[index] for index in loop.groups]
    assert ranges[0].label == "step 1–100" and ranges[-1].label == "step 901–1000"
    assert len(groups_of(tree, "iteration")) == 1000


def test_many_leaves_are_gathered() -> None:
    tree = scalars(3000).tree()
    leaves = next(group for group in tree.groups if group.kind == "leaves")
    assert (leaves.label, leaves.size) == ("300 leaves", 300)


def test_a_small_graph_is_shown_whole() -> None:
    tree = gpt(2).tree()
    assert all(isinstance(box, int) for box in tree.visible(tree.first_view))


def test_folding_goes_by_key_and_star_means_all() -> None:
    tree = gpt(48).tree()
    assert all(isinstance(box, int) for box in tree.visible(tree.open_groups(["*"], [])))
    assert tree.open_groups([], ["*"]) == {0}
    other = gpt(48).tree()
    assert [group.key for group in other.groups] == [group.key for group in tree.groups]
    key = tree.groups[tree.groups[0].groups[0]].key
    assert tree.by_key[key].index not in tree.open_groups([], [key])
    assert tree.open_groups(["no such group"], []) == tree.first_view
    assert tree.by_key["module:blocks.7"].index in tree.open_groups(["blocks.7"], [])


def test_time_to_build_is_linear() -> None:
    import time

    def cost(steps: int) -> float:
        program = lstm(steps)
        graph = Graph(tuple(reversed(program.nodes)), tuple(program.edges))

        def once() -> float:
            start = time.perf_counter()
            build_groups(graph)
            return time.perf_counter() - start

        return min(once() for _ in range(3)) / steps

    assert cost(2000) < 3 * cost(200)


def test_blocks_of_one_class_repeat_though_the_first_has_a_part_more() -> None:
    program = Program()
    program.op("Convolution", 5, module="net.stem", kind="Conv2d")
    program.op("Relu", 5, module="net.stem", kind="Conv2d")
    for k in range(36):
        path = f"net.layer3.{k}"
        for part in ("conv1", "conv2", *(("downsample.0", "downsample.1") if k == 0 else ())):
            program.op(
                "Convolution", 10, module=f"{path}.{part}", kind="Conv2d", leaves=[program.leaf(f"{path}.{part}")]
            )
        program.op("Add", 11, module=path, kind="Bottleneck")
    tree = program.tree()
    assert [(g.label, g.detail, len(g.groups)) for g in groups_of(tree, "repeat")] == [
        ("layer3", "Bottleneck × 36", 36)
    ]


def test_a_module_called_between_other_work_is_no_box_in_a_cycle() -> None:
    """A bottleneck's one `relu` runs three times: as one box it would get gradients from what it gives them to."""
    program = Program()
    for k in range(3):
        program.op("Convolution", 10 + k, module=f"net.conv{k}", kind="Conv2d")
        program.op("Bias", 10 + k, module=f"net.conv{k}", kind="Conv2d")
        for _ in range(2):
            program.op("Relu", 10 + k, module="net.relu", kind="ReLU")
    tree = program.tree()
    relus = [group for group in tree.groups if group.label.startswith("relu")]
    assert sorted((group.label, group.size) for group in relus) == [("relu", 2), ("relu #2", 2), ("relu #3", 2)]
    assert_no_cycle(program, tree)


def assert_no_cycle(program: Program, tree: GroupTree) -> None:
    """No group of the lowest level is left and entered again."""
    home = tree.home
    ways = {(home[edge.source], home[edge.target]) for edge in program.edges} - {(g, g) for g in home.values()}
    for start in set(home.values()):
        seen, waiting = set(), [start]
        while waiting:
            here = waiting.pop()
            for source, target in ways:
                if source == here and target not in seen:
                    seen.add(target)
                    waiting.append(target)
        assert start not in seen
