"""Where an operation belongs: the path of modules, or of the user's functions, that lead to it."""

from __future__ import annotations

from collections.abc import Sequence

from gradviz.model.graph import Node
from gradviz.model.groups import GroupKind

Segment = tuple[GroupKind, str, str]  # kind, key part, label


class Paths(dict[int, tuple[Segment, ...]]):
    """Node -> its path; `lines` has a number for each node, equal for nodes of the same line under the same path."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        super().__init__()
        self.lines: dict[int, int] = {}
        numbers: dict[tuple[object, ...], int] = {}
        # Nodes of one line share stack and place, as objects: thousands of steps of a loop are worked out once.
        known: dict[tuple[str | None, int, int], tuple[tuple[Segment, ...], int]] = {}
        for node in nodes:
            same = (node.module, id(node.stack), id(node.place))
            if same not in known:
                path, place = _path(node), node.place
                line = (path, None if place is None else (place.file, place.line))
                known[same] = path, numbers.setdefault(line, len(numbers))
            self[node.id], self.lines[node.id] = known[same]


def _path(node: Node) -> tuple[Segment, ...]:
    """Modules from outside to inside, else functions from outside to inside."""
    if node.module:
        parts = node.module.split(".")
        names = [".".join(parts[: depth + 1]) for depth in range(len(parts))]
        labels = [_module_label(parts, depth) for depth in range(len(parts))]
        return tuple(("module", f"module:{name}", label) for name, label in zip(names, labels, strict=True))
    stack = node.stack or ((node.place,) if node.place is not None else ())
    functions = [place for place in reversed(stack) if not place.function.startswith("<")]
    return tuple(("function", f"function:{p.file}:{p.function}", _function_label(p.function)) for p in functions)


def _module_label(parts: Sequence[str], depth: int) -> str:
    """The name of a module in the one around it; a mere number is told with that one's: `layer4.1`."""
    return f"{parts[depth - 1]}.{parts[depth]}" if depth and parts[depth].isdecimal() else parts[depth]


def _function_label(name: str) -> str:
    """`Block.forward` of `train.<locals>.Block.forward`: the function and the class that it belongs to."""
    parts = [part for part in name.split(".") if not part.startswith("<")]
    return ".".join(parts[-2:]) if "<locals>" not in name.split(".")[-2:-1] else parts[-1]
