"""Names of tensors as the script knows them, at the moment of a call: `t2`, `self.w`, `ws[3]`, `model.0.weight`.

Identity decides: a name is right when it leads to that very tensor object.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple

import torch

from gradviz.worker import locals as variables
from gradviz.worker.bytecode import LOADS, tokens_of
from gradviz.worker.kinds import attributes, fields_of, is_atom, is_key, module_of, slots
from gradviz.worker.userfiles import UserFiles

# A name, then `.part` (a number below a module) or `[index]`.
_STEPS = re.compile(r"^\w+|\.\w+|\[[^\]]*\]")
# Objects looked at for one call. A script can hold a million tensors in a list; the names nearest to the call win.
LIMIT = 20_000
DEPTH = 6
# A container of more items that does not hold tensors (a data set, say) is looked into last, and so many items of it.
LARGE = 256
# How good a name is: of two for one tensor the better one counts, of equal ones the shorter.
LOOP, ITEM, GOOD = range(3)


class Scope(NamedTuple):
    """Variables in sight. `loops` are those that only a `for` binds: they go from one tensor to the next."""

    variables: dict[str, Any]
    loops: frozenset[str]


class Found(NamedTuple):
    """A tensor that a name leads to."""

    name: str
    tensor: torch.Tensor
    rank: int


class Names:
    """The tensors that can be reached from the user's frames; searched only when the first name is asked for.

    It holds them, so it must not outlive the call that it was made for.
    """

    def __init__(self, frames: list[FrameType]) -> None:
        self._scopes = _scopes(frames)
        self._mentioned = _mentioned(frames[0].f_code).get(frames[0].f_lineno, ()) if frames else ()
        self._found: dict[int, Found] | None = None

    def of(self, tensor: torch.Tensor) -> str | None:
        """The qualified name of a tensor, None when no variable leads to it."""
        found = self._searched().get(id(tensor))
        return None if found is None else found.name

    def of_all(self, tensors: Mapping[int, torch.Tensor]) -> dict[int, str | None]:
        """The qualified names of tensors, which go by number."""
        named = {key: found.name for key, found in self._searched().items()}
        return {number: named.get(id(tensor)) for number, tensor in tensors.items()}

    def as_called(self, tensor: torch.Tensor) -> str | None:
        """The variable by which the calling line itself names a tensor, else its qualified name."""
        for name in self._mentioned:
            if any(scope.variables.get(name) is tensor for scope in self._scopes):
                return name
        return self.of(tensor)

    def parameters(self) -> list[tuple[str, torch.Tensor]]:
        """The parameters of all modules in sight."""
        every = self._searched().values()
        return [(f.name, f.tensor) for f in every if "." in f.name and issubclass(type(f.tensor), torch.nn.Parameter)]

    def results(self) -> list[torch.Tensor]:
        """The tensors in sight that operations may have made."""
        every = (found.tensor for found in self._searched().values())
        return [tensor for tensor in every if not issubclass(type(tensor), torch.nn.Parameter)]

    def tensors(self) -> dict[str, torch.Tensor]:
        """All tensors in sight, each by its best name."""
        return {found.name: found.tensor for found in self._searched().values()}

    def variables(self) -> dict[str, Any]:
        """All variables in sight by name; the innermost function's win."""
        merged: dict[str, Any] = {}
        for scope in reversed(self._scopes):
            merged.update(scope.variables)
        return merged

    def _searched(self) -> dict[int, Found]:
        if self._found is None:
            self._found = {}
            for found in _search(self._scopes):
                known = self._found.get(id(found.tensor))
                if known is None or known.rank < found.rank:
                    self._found[id(found.tensor)] = found
        return self._found


def reached(name: str, variables: dict[str, Any]) -> Any:
    """What a qualified name leads to (`ws[3]`, `self.w`, `model.0.weight`), None where it leads nowhere."""
    parts = _STEPS.findall(name)
    if not parts or "".join(parts) != name:
        return None
    first, *steps = parts
    value: Any = variables.get(first)
    for step in steps:
        try:
            value = value[ast.literal_eval(step[1:-1])] if step.startswith("[") else getattr(value, step[1:])
        except (AttributeError, LookupError, TypeError, ValueError, SyntaxError):
            return None
    return value


def names_at(frame: FrameType | None, files: UserFiles) -> Names:
    """The names that are in sight at `frame`: its own, those of the user's callers, and the globals.

    Use the result at once and let it go: it must not outlive the call that it was made for.
    """
    frames = []
    while frame is not None:
        if frame.f_code.co_filename in files:
            frames.append(frame)
        frame = frame.f_back
    return Names(frames)


def _scopes(frames: list[FrameType]) -> list[Scope]:
    """Variables by scope: locals of the innermost function first, then the modules' globals."""
    scopes: list[Scope] = []
    modules: dict[int, tuple[dict[str, Any], set[str]]] = {}
    for frame in frames:
        _, loops = modules.setdefault(id(frame.f_globals), (frame.f_globals, set()))
        if frame.f_code.co_flags & variables.OPTIMIZED:
            scopes.append(Scope(variables.read_all(frame), _loops(frame.f_code)))
        else:
            loops |= _loops(frame.f_code)
    return scopes + [Scope(dict(held), frozenset(loops)) for held, loops in modules.values()]


@lru_cache(maxsize=1024)
def _loops(code: CodeType) -> frozenset[str]:
    """The variables that a `for` binds and nothing else does."""
    bound: set[str] = set()
    otherwise: set[str] = set()
    open_targets = 0  # of the `for` statement whose targets come now
    for token in tokens_of(code):
        if token.op == "FOR_ITER":
            open_targets = 1
        elif open_targets and token.op.startswith("UNPACK_"):
            open_targets += int(token.value) - 1
        elif token.op in _STORES:
            (bound if open_targets else otherwise).add(token.value)
            open_targets = max(open_targets - 1, 0)
        elif open_targets and token.op not in ("EXTENDED_ARG", "CACHE", "NOP"):
            open_targets = 0
    return frozenset(bound - otherwise)


_STORES = ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF")


@lru_cache(maxsize=1024)
def _mentioned(code: CodeType) -> dict[int, tuple[str, ...]]:
    """Line -> the variables that it reads."""
    found: dict[int, dict[str, None]] = {}
    for token in tokens_of(code):
        if token.op in LOADS:
            found.setdefault(token.line, {})[token.value] = None
    return {line: tuple(names) for line, names in found.items()}


_Held = tuple[str, Any, int]  # name, object, rank of the names that begin there


def _search(scopes: list[Scope]) -> Iterator[Found]:
    """Names and tensors, breadth first, so that the shortest way to a tensor comes first; nearer scopes win."""
    level: list[_Held] = []
    for scope in scopes:
        for name, value in scope.variables.items():
            # Not `isinstance`: it asks others for their `__class__`, which a proxy of the user's computes.
            if isinstance(name, str) and not name.startswith("__") and not issubclass(type(value), ModuleType):
                level.append((name, value, LOOP if name in scope.loops else GOOD))
    late: list[_Held] = []
    budget = LIMIT
    seen: set[tuple[int, int]] = set()
    for depth in range(DEPTH + 1):
        if depth == DEPTH:
            level = [held for large in late for held in islice(_below(*large), LARGE)]
        following: list[_Held] = []
        for name, value, rank in level:
            budget -= 1
            if budget < 0:
                return
            if issubclass(type(value), torch.Tensor):
                is_item = name.endswith("]") and issubclass(type(value), torch.nn.Parameter)
                yield Found(name, value, min(rank, ITEM if is_item else GOOD))
            elif not is_atom(value) and (id(value), rank) not in seen:
                seen.add((id(value), rank))
                if _is_large(value):
                    late.append((name, value, rank))
                else:
                    following.extend(_below(name, value, rank))
        level = following


def _below(name: str, value: Any, rank: int) -> Iterator[_Held]:
    return ((part, item, rank) for part, item in _inside(name, value))


def _is_large(value: Any) -> bool:
    """Whether this is a large container of something else than tensors and modules."""
    kind = type(value)
    if issubclass(kind, dict):
        count, items = dict.__len__(value), dict.values(value)
    elif kind is list or kind is tuple:
        count, items = len(value), value
    else:
        return False
    return count > LARGE and not issubclass(type(next(iter(items))), (torch.Tensor, torch.nn.Module))


def _inside(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """What one object holds, without running any code of the user's (no property, no `__getattr__`)."""
    kind = type(value)
    if issubclass(kind, torch.nn.Module):
        yield from _of_module(name, value)
    elif kind is list or kind is tuple or fields_of(value) is not None:
        fields = fields_of(value)
        plain: Any = list if kind is list else tuple
        for index, item in enumerate(plain.__getitem__(value, slice(LIMIT))):
            if not is_atom(item):
                yield f"{name}.{fields[index]}" if fields and index < len(fields) else f"{name}[{index}]", item
    elif issubclass(kind, dict):
        for key, item in list(dict.items(value)):  # a copy: other threads go on
            if is_key(key) and not is_atom(item):
                yield f"{name}[{key!r}]", item
    elif (module := module_of(value)) not in _SEALED and not module.startswith("gradviz."):
        for key, item in (*list(attributes(value).items()), *slots(value)):
            if not is_atom(item):
                yield f"{name}.{key}", item


def _of_module(name: str, module: torch.nn.Module) -> Iterator[tuple[str, Any]]:
    """Parameters and buffers of a module and of all below it, with their dotted paths, at one depth."""
    waiting = [(name, module)]
    seen: set[int] = set()
    while waiting:
        path, current = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        held = dict(attributes(current))
        for table in ("_parameters", "_buffers"):
            for key, tensor in (held.get(table) or {}).items():
                yield f"{path}.{key}", tensor
        for key, item in held.items():
            if key not in _MODULE_TABLES and not is_atom(item):
                yield f"{path}.{key}", item
        for key, child in reversed((held.get("_modules") or {}).items()):
            if child is not None:
                waiting.append((f"{path}.{key}", child))


_MODULE_TABLES = frozenset(vars(torch.nn.Module())) | {"_modules", "_parameters", "_buffers"}
_SEALED = frozenset({"builtins", "threading", "_thread", "logging", "io", "_io", "re", "pathlib", "datetime", "random"})
