"""Graphs to lay out, in the direction of gradients: box 0 is the root, leaves come last on a path."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from gradviz.layout import LayoutGraph

OPERATION = (140.0, 72.0)
LEAF = (150.0, 104.0)
LABEL = (44.0, 20.0)


@dataclass
class Builder:
    """Collects boxes and edges."""

    sizes: list[tuple[float, float]] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)

    def operation(self, *sources: int) -> int:
        """Add an operation that receives gradients from `sources`."""
        return self._add(OPERATION, sources)

    def leaf(self, *sources: int) -> int:
        """Add a leaf that receives gradients from `sources`."""
        return self._add(LEAF, sources)

    def join(self, source: int, target: int) -> None:
        """Let gradients flow from one box to another."""
        self.edges.append((source, target))

    def graph(self, *, labels: bool = False, direction: str = "RL") -> LayoutGraph:
        """Return what was collected."""
        edge_labels = (LABEL,) * len(self.edges) if labels else ()
        return LayoutGraph(tuple(self.sizes), tuple(self.edges), edge_labels, direction)

    def _add(self, size: tuple[float, float], sources: tuple[int, ...]) -> int:
        self.sizes.append(size)
        number = len(self.sizes) - 1
        self.edges += [(source, number) for source in sources]
        return number


def chain(length: int) -> Builder:
    """One path."""
    build = Builder()
    box = build.operation()
    for _ in range(length - 1):
        box = build.operation(box)
    return build


def diamond() -> Builder:
    """A root, two ways, one leaf."""
    build = Builder()
    root = build.operation()
    build.leaf(build.operation(root), build.operation(root))
    return build


def square() -> Builder:
    """`x * x` under a sum: two parallel edges."""
    build = Builder()
    product = build.operation(build.operation())
    build.leaf(product, product)
    return build


def mlp(layers: int) -> Builder:
    """Linear layers: each addmm has a bias, the way on, and a weight behind a transpose."""
    build = Builder()
    at = build.operation()
    for _ in range(layers):
        at = build.operation(at)
        build.leaf(at)
        build.leaf(build.operation(at))
        at = build.operation(at)
    build.leaf(at)
    return build


def residual(blocks: int) -> Builder:
    """Blocks `x + f(x)` with a weight in each of the two steps of f."""
    build = Builder()
    at = build.operation()
    for _ in range(blocks):
        add = build.operation(at)
        step = add
        for _ in range(2):
            step = build.operation(step)
            build.leaf(step)
        at = build.operation(add, step)
    build.leaf(at)
    return build


def unet(levels: int) -> Builder:
    """Convolutions down and up again, each level joined to its opposite by a skip connection."""
    build = Builder()
    box = build.operation()
    joints = []
    for _ in range(levels):
        convolution = build.operation(box)
        build.leaf(convolution)
        joints.append(build.operation(convolution))
        box = build.operation(joints[-1])
        build.leaf(box)
    for joint in reversed(joints):
        convolution = build.operation(build.operation(box, joint))
        build.leaf(convolution)
        box = convolution
    build.leaf(box)
    return build


def lstm(steps: int) -> Builder:
    """A cell with shared weights, 17 boxes a step, and a loss that sums over time."""
    build = Builder()
    loss = build.operation()
    terms = [build.operation(loss) for _ in range(steps)]
    weights = [build.leaf() for _ in range(4)]
    hidden: list[int] = []
    cell: list[int] = []
    for step in range(steps):
        output = build.operation(terms[step], *hidden)
        tanh = build.operation(output)
        state = build.operation(tanh, *cell)
        gates = [build.operation(output)]
        gates.append(build.operation(state))
        product = build.operation(state)
        gates += [build.operation(product), build.operation(product)]
        chunk = build.operation(*gates)
        total = build.operation(chunk)
        first, second = build.operation(total), build.operation(total)
        for matrix, weight, bias in ((first, 0, 1), (second, 2, 3)):
            build.join(build.operation(matrix), weights[weight])
            build.join(matrix, weights[bias])
        hidden, cell = [second], [gates[1]]
        build.leaf(first)
    return build


def fan(width: int) -> Builder:
    """A sum of many leaves."""
    build = Builder()
    root = build.operation()
    for _ in range(width):
        build.leaf(build.operation(root))
    return build


def random_dag(boxes: int, edges: int, seed: int) -> Builder:
    """Each box has a random earlier source; further edges at random, mostly short."""
    random_ = random.Random(seed)
    build = Builder()
    build.operation()
    for number in range(1, boxes):
        build.operation(max(0, number - 1 - int(random_.expovariate(0.3))))
    for _ in range(edges - boxes + 1):
        target = random_.randrange(1, boxes)
        build.join(max(0, target - 1 - int(random_.expovariate(0.2))), target)
    return build


def transformer(blocks: int) -> Builder:
    """Pre-norm blocks: attention with q, k and v, a feed-forward part, two residual sums each."""
    build = Builder()
    at = build.operation()
    for _ in range(blocks):
        at = _feed_forward(build, at)
        at = _attention(build, at)
    build.leaf(at)
    return build


def _linear(build: Builder, *sources: int) -> int:
    matrix = build.operation(*sources)
    build.leaf(matrix)
    build.leaf(build.operation(matrix))
    return matrix


def _norm(build: Builder, *sources: int) -> int:
    norm = build.operation(*sources)
    build.leaf(norm)
    build.leaf(norm)
    return norm


def _feed_forward(build: Builder, at: int) -> int:
    add = build.operation(at)
    norm = _norm(build, _linear(build, build.operation(_linear(build, add))))
    return build.operation(add, norm)


def _attention(build: Builder, at: int) -> int:
    add = build.operation(at)
    mix = build.operation(_linear(build, add))
    scores = build.operation(build.operation(mix))
    value, query = _linear(build, mix), _linear(build, scores)
    key = _linear(build, build.operation(scores))
    return build.operation(add, _norm(build, value, query, key))


SMALL: dict[str, Builder] = {
    "chain": chain(8),
    "diamond": diamond(),
    "square": square(),
    "mlp": mlp(3),
    "residual": residual(3),
    "lstm": lstm(3),
    "fan": fan(9),
    "random": random_dag(40, 60, 1),
    "transformer": transformer(1),
    "unet": unet(4),
}
