"""The bindings of a recording, asked by name, by tensor and by moment."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from gradviz.explain.scopes import MODULE, around, class_of, is_comprehension
from gradviz.explain.source import prefixes
from gradviz.model import Binding, Call, Place

_INDEX = re.compile(r"\[(\d+)\]")


def plain(name: str) -> str:
    """A qualified name with numbers as parts: `m.layers[0].weight` and `m.layers.0.weight` are one parameter."""
    return _INDEX.sub(r".\1", name)


class History:
    """All bindings in the order in which they happened."""

    def __init__(self, bindings: Iterable[Binding]) -> None:
        found = sorted(bindings, key=lambda b: b.order)
        self.all = tuple(b for b in found if b.cause != "parameter")
        self.parameters = tuple(b for b in found if b.cause == "parameter")  # of modules, outside of a call's graph
        self._by_name: dict[str, list[Binding]] = defaultdict(list)
        self._by_tensor: dict[int, list[Binding]] = defaultdict(list)
        self._by_storage: dict[int, list[Binding]] = defaultdict(list)
        for binding in self.all:
            self._by_name[binding.name].append(binding)
            self._by_tensor[binding.tensor].append(binding)
            if binding.storage is not None:
                self._by_storage[binding.storage].append(binding)

    def named(self, name: str) -> list[Binding]:
        """All bindings of a name."""
        return self._by_name.get(name, [])

    def of_tensor(self, tensor: int) -> list[Binding]:
        """All bindings of a tensor object."""
        return self._by_tensor.get(tensor, [])

    def of_storage(self, storage: int) -> list[Binding]:
        """All bindings of tensors on one memory: the tensor, its views and its detached twins."""
        return self._by_storage.get(storage, [])

    def of_node(self, node: int) -> list[Binding]:
        """The names that held the output of a node."""
        return [binding for binding in self.all if binding.node == node and not binding.is_leaf]

    def last(
        self, name: str, call: Call | None = None, where: Place | None = None, below: int | None = None
    ) -> Binding | None:
        """The last binding of `name` before `call` started (or before order `below`), as `where` sees the name."""
        found = [b for b in self.named(name) if happened_before(b, call) and (below is None or b.order < below)]
        chosen = seen_from(found, where)
        return chosen[-1] if chosen else None

    def resolve(
        self, name: str, call: Call | None = None, where: Place | None = None, below: int | None = None
    ) -> Binding | None:
        """As `last`, for the longest part of a dotted expression that names a tensor (`x` of `x.T.data`)."""
        for part in prefixes(name):
            if (found := self.last(part, call, where, below)) is not None:
                return found
        return None

    def first_of(self, binding: Binding) -> Binding:
        """The first binding of the same tensor object: where it was made, whatever it was called there."""
        return self.of_tensor(binding.tensor)[0]


def happened_before(binding: Binding, call: Call | None) -> bool:
    """Tell whether a binding happened before `call` started; with None, before the script's end (always)."""
    return call is None or (binding.before_call is not None and binding.before_call <= call.number)


def seen_from(bindings: list[Binding], where: Place | None) -> list[Binding]:
    """Those of some bindings of one name that a scope means by it; of no scope (None) all.

    The innermost scope around that binds the name has it; an attribute of `self` is that of all methods of a class.
    Where no scope around binds it, it came from elsewhere, by an import say, and all count.
    """
    if where is None or not bindings:
        return bindings
    if bindings[0].name.startswith("self."):
        return [b for b in bindings if _same_class(b.place, where)] or bindings
    for scope in around(where.function):
        own = [b for b in bindings if b.place.file == where.file and b.place.function == scope]
        own = own or [b for b in bindings if b.place.file == where.file and _short(b.place.function, scope)]
        if own:
            return own
    if is_comprehension(where.function):
        return []
    files = [b for b in bindings if b.place.function == MODULE]
    return files or [b for b in bindings if not is_comprehension(b.place.function)]


def _same_class(one: Place, other: Place) -> bool:
    return one.file == other.file and class_of(one.function) == class_of(other.function) != ""


def _short(recorded: str, scope: str) -> bool:
    """Tell whether a recorded function is `scope` without its class: Python 3.10 knows `forward` of `Net.forward`."""
    return recorded == scope.rpartition(".")[2]
