"""What a line of a code object binds and uses, from its bytecode: no source file is needed."""

from __future__ import annotations

import dis
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, NamedTuple

from gradviz.worker.bytecode import LOADS, SHUFFLES, Token, before, tokens_of
from gradviz.worker.locals import OPTIMIZED, Slot, plain_positions, slots_of
from gradviz.worker.writing import Write, writes_in

DEPTH = 3  # names are followed through so many attributes: `self.cell.gate.w`
# Of the items that a target binds so many have bindings of their own; the others share, as the turns of a loop do.
MOST_ITEMS = 64
LAST = object()  # as a key: the element that `append` has just added
_STORES = ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF")
_WRITERS = ("CALL", "PRECALL", "INPLACE_", "STORE_SUBSCR")


class Key(NamedTuple):
    """The `[...]` of a target: a constant, the value of a variable (which lies at `slot`), or LAST."""

    value: Any
    is_name: bool
    slot: Slot = ()


class Cold:
    """In place of a log's entry: there is none yet."""

    is_warm = False


COLD = Cold()


class Target:
    """Something on a line that can hold a tensor: `y`, `self.w`, `ws[3]`, `ws[i]`.

    `slot` is where its variable lies, `()` for a global; `position` is 0 or more for what is a variable of its own and
    nothing more. `use` is the same thing among the line's uses. `misses` counts how often it was looked at and held no
    tensor. `row` is the row of its name. `entry` is where the log keeps its bindings, `items` are those that have their
    own, by key.
    """

    __slots__ = ("attributes", "base", "entry", "items", "key", "misses", "position", "row", "slot", "text", "use")

    def __init__(self, path: Sequence[str], key: Key | None = None) -> None:
        self.base, self.attributes = path[0], tuple(path[1:])
        self.key = key
        self.text = ".".join(path)
        self.slot: Slot = ()
        self.position = -1
        self.use: Target | None = None
        self.misses = 0
        self.row = 0
        self.entry: Any = COLD
        self.items: dict[Any, Any] = {}


class Line:
    """What a line binds, in the order of the code, and what it reads, empty unless it may write into that.

    Both get shorter while the script runs: what never holds a tensor is looked at no more. Where all that is left are
    plain variables and there are no `writes`, `quick_stores` and `quick_uses` hold them once more, with their positions
    (and with the use of the same name).
    """

    __slots__ = ("quick_stores", "quick_uses", "stores", "uses", "writes")

    def __init__(self, stores: Sequence[Target], uses: Sequence[Target], writes: tuple[Write, ...] = ()) -> None:
        self.stores, self.uses, self.writes = tuple(stores), tuple(uses), writes
        self.quick_stores: tuple[tuple[Target, int, Target | None], ...] | None = None
        self.quick_uses: tuple[tuple[Target, int], ...] | None = None

    def shorten(self, dull_store: float, dull_use: float) -> None:
        """Leave out what was looked at so often and held no tensor."""
        self.stores = tuple(store for store in self.stores if store.misses < dull_store)
        self.uses = tuple(use for use in self.uses if use.misses < dull_use)
        if not self.writes and all(target.position >= 0 for target in self.stores):
            self.quick_stores = tuple((store, store.position, store.use) for store in self.stores)
        if not self.writes and all(target.position >= 0 for target in self.uses):
            self.quick_uses = tuple((use, use.position) for use in self.uses)


EMPTY = Line((), ())


class Step:
    """A line as it is entered at one of its instructions. `count` says how often it was.

    `where` is a stack, a module, and the row of the site that this line is below them.
    """

    __slots__ = ("count", "line", "look", "where")

    def __init__(self, line: int, look: Line) -> None:
        self.line = line
        self.look = look
        self.count = 0
        self.where = (-1, -1, 0)


@dataclass(slots=True)
class CodeInfo:
    """A code object of the user's. `steps` are by the offset of an instruction, `starts` by line, before any step."""

    id: int
    code: CodeType
    lines: dict[int, Line]
    is_function: bool
    arguments: list[Target]
    first_offset: (
        int  # of the instruction at which a call's event comes: later ones are those of a generator that goes on
    )
    steps: dict[int, Step] = field(default_factory=dict)
    starts: dict[int, Step] = field(default_factory=dict)

    def step(self, offset: int, line: int) -> Step:
        """The step at an offset that was not met before."""
        return self.steps.setdefault(offset, Step(line, self.lines.get(line, EMPTY)))

    def start(self, line: int) -> Step:
        """Where a function stands before its first step."""
        return self.starts.get(line) or self.starts.setdefault(line, Step(line, EMPTY))


def code_info(number: int, code: CodeType) -> CodeInfo:
    """Read a code object once; `number` is its id in the tracer's tables."""
    is_function = bool(code.co_flags & OPTIMIZED)
    count = code.co_argcount + code.co_kwonlyargcount
    arguments = [Target((name,)) for name in code.co_varnames[:count]] if is_function else []
    lines = _lines(code)
    if is_function:
        slots, plain = slots_of(code), plain_positions(code)
        for target in arguments:
            _place(target, slots, plain)
        for line in lines.values():
            for target in (*line.stores, *line.uses):
                _place(target, slots, plain)
            for write in line.writes:
                write.place(slots)
            line.shorten(math.inf, math.inf)
    return CodeInfo(number, code, lines, is_function, arguments, _first_offset(code))


def _first_offset(code: CodeType) -> int:
    """The offset of the first RESUME (3.11 and newer), -1 before any instruction."""
    if sys.version_info < (3, 11):
        return -1
    return next((i.offset for i in dis.get_instructions(code) if i.opname == "RESUME"), -1)


def _place(target: Target, slots: dict[str, Slot], plain: dict[str, int]) -> None:
    """Note where a function's variables lie that a target names."""
    target.slot = slots.get(target.base, ())
    if target.key is not None and target.key.is_name:
        target.key = target.key._replace(slot=slots.get(target.key.value, ()))
    elif target.key is None and not target.attributes:
        target.position = plain.get(target.base, -1)


def _lines(code: CodeType) -> dict[int, Line]:
    by_line: dict[int, list[Token]] = {}
    for token in tokens_of(code):
        by_line.setdefault(token.line, []).append(token)
    found = {}
    for number, tokens in by_line.items():
        line = _line(tokens)
        if line.stores or line.uses or line.writes:
            found[number] = line
    return found


def _line(tokens: list[Token]) -> Line:
    stores: dict[tuple[Any, ...], Target] = {}
    uses: dict[tuple[str, ...], Target] = {}
    for at in range(len(tokens)):
        target = _stored(tokens, at)
        if target is not None:
            stores[target.base, target.attributes, target.key] = target
        path = _path(tokens, at)
        if path is not None and len(path) <= DEPTH:
            uses.setdefault(path, Target(path))
    writes = any(token.op.startswith(_WRITERS) or token.text.endswith("=") for token in tokens)
    if not writes:
        uses = {}
    for store in stores.values():
        store.use = None if store.key is not None else uses.get((store.base, *store.attributes))
    return Line(tuple(stores.values()), tuple(uses.values()), writes_in(tokens))


def _stored(tokens: list[Token], at: int) -> Target | None:
    """What the instruction binds, if it binds something that has a name."""
    token = tokens[at]
    if token.op in _STORES:
        return Target((token.value,))
    if token.op == "STORE_ATTR":
        path = _path(tokens, at - 1) or _augmented(tokens, at, ("LOAD_ATTR",), token.value)
        return None if path is None or len(path) >= DEPTH else Target((*path, token.value))
    if token.op == "STORE_SUBSCR":
        shuffled = at > 0 and tokens[at - 1].op.startswith(SHUFFLES)
        end = _last(tokens, at, ("BINARY_SUBSCR", "BINARY_OP")) if shuffled else at
        return None if end is None else _item(tokens, before(tokens, end))
    if token.op in ("LOAD_METHOD", "LOAD_ATTR") and token.value == "append":
        path = _path(tokens, at - 1)
        return None if path is None else Target(path, Key(LAST, False))
    return None


def _item(tokens: list[Token], at: int) -> Target | None:
    """The target `container[key]` whose key's instruction is `at`."""
    if at < 1:
        return None
    key = tokens[at]
    path = _path(tokens, at - 1)
    if path is None:
        return None
    if key.op in ("LOAD_CONST", "LOAD_SMALL_INT") and type(key.value) in (int, str):
        return Target(path, Key(key.value, False))
    return Target(path, Key(key.value, True)) if key.op in LOADS else None


def _augmented(tokens: list[Token], at: int, ops: tuple[str, ...], value: str) -> tuple[str, ...] | None:
    """The object of `self.w -= x`: the one whose attribute was read earlier on the line."""
    for index in range(at - 1, 0, -1):
        if tokens[index].op in ops and tokens[index].value == value:
            return _path(tokens, before(tokens, index))
    return None


def _path(tokens: list[Token], at: int) -> tuple[str, ...] | None:
    """`("self", "w")` where the instructions that end at `at` load `self.w`."""
    names: list[str] = []
    while at >= 0:
        token = tokens[at]
        if token.op in LOADS:
            return (token.value, *reversed(names))
        if token.op != "LOAD_ATTR":
            return None
        names.append(token.value)
        at = before(tokens, at)
    return None


def _last(tokens: list[Token], at: int, ops: tuple[str, ...]) -> int | None:
    return next((i for i in range(at - 1, -1, -1) if tokens[i].op in ops and tokens[i].text in ("", "[]")), None)
