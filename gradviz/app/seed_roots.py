"""Where a gradient can start at a held call: its roots, the script's tensors, the nodes of its graph. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gradviz.app.seed_texts import first_seed
from gradviz.app.texts import tr
from gradviz.errors import RecordingError
from gradviz.model import Call, Graph, Node, Recording
from gradviz.model.numbers import shape_text
from gradviz.playback.words import short_name
from gradviz.runner.experiments import NamedTensor

_MOST_NODES = 400  # more cannot be looked through in a list; a node is then chosen on the graph
_MOST_CALLS = 200  # before a failed one are looked through
_FREED = "Trying to backward through the graph a second time"


@dataclass(frozen=True)
class RootChoice:
    """A tensor that can be a root. `text` is how it is asked for, `seed` what its line says at first."""

    text: str
    words: str
    shape: tuple[int, ...] | None
    seed: str = "ones"


def own_choices(call: Call) -> tuple[RootChoice, ...]:
    """The roots that the script itself gave the call."""
    found = []
    for place, root in enumerate(call.roots):
        words = _words(root.name or tr("root {n}", n=place + 1), root.shape, tr("the call's own root"))
        found.append(RootChoice(f"root[{place}]", words, root.shape, first_seed(root)))
    return tuple(found)


def tensor_choices(names: Iterable[NamedTensor]) -> tuple[RootChoice, ...]:
    """The script's tensors, results before leaves."""
    others = [tensor for tensor in names if not tensor.is_root]
    found = []
    for tensor in sorted(others, key=lambda tensor: tensor.is_leaf):
        kind = tr("leaf") if tensor.is_leaf else (tensor.grad_fn or "").removesuffix("0").removesuffix("Backward")
        found.append(RootChoice(tensor.name, _words(tensor.name, tensor.shape, kind), tensor.shape))
    return tuple(found)


def node_choices(recording: Recording, call: Call) -> tuple[RootChoice, ...]:
    """The nodes of the call's graph, from the root on; those of a large graph are chosen on the picture."""
    try:
        nodes = recording.graph(call.number).nodes
    except (RecordingError, KeyError):
        return ()
    return tuple(node_choice(node) for node in nodes[:_MOST_NODES] if node.kind != "leaf")


def node_choice(node: Node) -> RootChoice:
    """Output 0 of a node."""
    where = "" if node.place is None else tr("line {n}", n=node.place.line)
    shape = node.outputs[0].shape if node.outputs else None
    words = _words(short_name(node), shape, " ".join(filter(None, (tr("node of the graph"), where))))
    return RootChoice(f"#{node.id}", words, shape)


def freed_by(recording: Recording, call: Call) -> str | None:
    """The label of the earlier call that freed the graph of this one, where that is why it failed."""
    if call.error is None or _FREED not in call.error.message:
        return None
    mine = _ran(recording.graph(call.number))
    frees = [c for c in recording.calls if c.engine and not (c.retain_graph or c.what_if)]
    for earlier in [c for c in reversed(frees) if c.number < call.number][:_MOST_CALLS]:
        if mine & _ran(recording.graph(earlier.number)):
            return earlier.label
    return None


def _ran(graph: Graph) -> set[int]:
    return {node.id for node in graph.nodes if node.kind != "leaf"}


def _words(name: str, shape: Sequence[int] | None, kind: str) -> str:
    return " · ".join([name, *([] if shape is None else [shape_text(tuple(shape))]), kind])
