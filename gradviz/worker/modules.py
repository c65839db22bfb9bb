"""Which `torch.nn.Module` runs, seen from the frames of `Module.__call__`: no hooks, which torch.compile would see."""

from __future__ import annotations

import weakref
from types import CodeType, FrameType
from typing import Any

import torch

from gradviz.worker.locals import ABSENT, slots_of, value_at, variables_of
from gradviz.worker.sites import Sites

CALL: CodeType | None = getattr(getattr(torch.nn.Module, "_call_impl", None), "__code__", None)
FILE = CALL.co_filename if CALL is not None else ""
_SELF = slots_of(CALL)[CALL.co_varnames[0]] if CALL is not None else ()


class ModuleNames:
    """Paths of modules from the outermost one that runs. Tables hold weak references only."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self._named: dict[int, tuple[weakref.ref[Any], str]] = {}
        self._rows: dict[tuple[int, int], tuple[weakref.ref[Any], int]] = {}
        self._trees: dict[int, tuple[weakref.ref[Any], dict[int, str]]] = {}

    def bound(self, module: Any, name: str) -> None:
        """A variable of the script's holds `module`; the first name stays."""
        known = self._named.get(id(module))
        if known is None or known[0]() is not module:
            self._named[id(module)] = (weakref.ref(module), name.split("[")[0].rsplit(".", 1)[-1])

    def row(self, module: Any, root: int, around: int) -> int:
        """The row of a module that runs inside the outermost one with id `root`; `around` is the row just outside."""
        known = self._rows.get((id(module), root))
        if known is not None and known[0]() is module:
            return known[1]
        path = self._name(module) if id(module) == root else self._path(module, root, around)
        row = self._sites.module(path, type(module).__name__)
        self._rows[id(module), root] = (weakref.ref(module), row)
        return row

    def start(self, root: Any) -> None:
        """An outermost module begins to run: learn the tree below it once."""
        known = self._trees.get(id(root))
        if known is None or known[0]() is not root:
            self._trees[id(root)] = (weakref.ref(root), _tree(root))

    def forget(self) -> None:
        """Drop all weak references."""
        self._named.clear()
        self._rows.clear()
        self._trees.clear()

    def _name(self, module: Any) -> str:
        known = self._named.get(id(module))
        return known[1] if known is not None and known[0]() is module else ""

    def _path(self, module: Any, root: int, around: int) -> str:
        reference, paths = self._trees.get(root, (None, {}))
        top = None if reference is None else reference()
        path = paths.get(id(module))
        if path is None and top is not None:  # added since the tree was learnt
            paths.update(_tree(top))
            path = paths.get(id(module))
        outer = self._sites.module_text(around)[0]
        if path is None:  # not registered anywhere: a module in a plain list
            return f"{outer}.{type(module).__name__}".lstrip(".")
        name = self._name(top)
        return f"{name}.{path}" if name else path


def _tree(root: Any) -> dict[int, str]:
    """Id -> dotted path of all modules below `root`; a shared one by the path that `named_modules` gives it."""
    found: dict[int, str] = {}
    waiting = [("", root)]
    while waiting:
        path, module = waiting.pop()
        if id(module) in found:
            continue
        found[id(module)] = path
        children = (module.__dict__.get("_modules") or {}).items()
        waiting += [(f"{path}.{name}".lstrip("."), child) for name, child in reversed(children) if child is not None]
    return found


class ModuleStack:
    """The modules that run in one thread. `current` is the row of the innermost one, 0 outside."""

    def __init__(self, names: ModuleNames) -> None:
        self.current = 0
        self._names = names
        self._root = 0
        self._frames: list[tuple[int, int]] = []  # frame id, row outside

    def enter(self, frame: FrameType) -> None:
        """`Module._call_impl` starts."""
        module = value_at(variables_of(frame), _SELF)
        if module is ABSENT:
            return
        if not self._frames:
            self._root = id(module)
            self._names.start(module)
        self._frames.append((id(frame), self.current))
        self.current = self._names.row(module, self._root, self.current)

    def leave(self, frame: FrameType) -> None:
        """It ends; inner ones whose end was not seen have ended, too."""
        wanted, frames = id(frame), self._frames
        if frames and frames[-1][0] == wanted:
            self.current = frames.pop()[1]
        elif any(number == wanted for number, _ in frames):
            while frames:
                number, self.current = frames.pop()
                if number == wanted:
                    return

    def clear(self) -> None:
        """Nothing is known any more: somebody else's tracer was set."""
        self._frames.clear()
        self.current = 0
