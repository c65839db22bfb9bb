"""What a line may write into without binding a name: `.grad` of a tensor, and values by ways that no version tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from gradviz.worker.bytecode import LOADS, SHUFFLES, Token, before
from gradviz.worker.locals import Slot

_LONGEST = 8  # steps of an expression
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
_CONSTANTS = ("LOAD_CONST", "LOAD_SMALL_INT")
# How a line writes: perhaps (a function is given `w.grad`); by itself (`w.grad = None`, `w.grad.zero_()`); by itself
# and so that no version tells (`w.grad.data.zero_()`).
PERHAPS, DIRECT, HIDDEN = range(3)


class Step(NamedTuple):
    """One step of an expression: an attribute, an item with a constant key, or one whose key is a variable.

    `slot` is where that variable lies, `()` for a global.
    """

    kind: str  # "attribute", "item" or "variable"
    value: Any
    slot: Slot = ()


class Write:
    """The tensor at the end of an expression (`model.layers[i].weight`), into which a line may write.

    `gradient`: into its `.grad`, else into its value. `how`: see below. `misses` counts how often the expression led to
    no tensor.
    """

    __slots__ = ("base", "gradient", "how", "misses", "slot", "steps")

    def __init__(self, base: str, steps: tuple[Step, ...], gradient: bool, how: int) -> None:
        self.base, self.steps = base, steps
        self.gradient, self.how = gradient, how
        self.slot: Slot = ()
        self.misses = 0

    def place(self, slots: dict[str, Slot]) -> None:
        """Note where the variables of a function lie."""
        self.slot = slots.get(self.base, ())
        self.steps = tuple(
            step._replace(slot=slots.get(step.value, ())) if step.kind == "variable" else step for step in self.steps
        )


def writes_in(tokens: Sequence[Token]) -> tuple[Write, ...]:
    """The writes of one line, each expression once."""
    found: dict[tuple[Any, ...], Write] = {}
    for base, steps, how in (*_by_attribute(tokens), *_by_item(tokens)):
        gradient = bool(steps) and steps[-1] == _GRAD
        if gradient:
            steps = steps[:-1]
        known = found.setdefault((base, steps, gradient), Write(base, steps, gradient, how))
        known.how = max(known.how, how)
    return tuple(found.values())


_GRAD = Step("attribute", "grad")
_Found = tuple[str, tuple[Step, ...], int]


def _by_attribute(tokens: Sequence[Token]) -> Iterator[_Found]:
    """`w.grad` wherever it stands, `w.data` where it is written into, and what an in-place method is called on."""
    for at, token in enumerate(tokens):
        if token.op in ("STORE_ATTR", "DELETE_ATTR", *_ATTRIBUTES) and token.value == "grad":
            owner = _owner(tokens, at)
            if owner is not None:
                yield owner[0], (*owner[1], _GRAD), PERHAPS if token.op in _ATTRIBUTES else DIRECT
        elif token.op == "STORE_ATTR" and token.value == "data":
            owner = _owner(tokens, at)
            if owner is not None:
                yield *owner, HIDDEN
        elif token.op in _ATTRIBUTES and _is_in_place(token.value):
            yield from _written(_expression(tokens, before(tokens, at)))


def _by_item(tokens: Sequence[Token]) -> Iterator[_Found]:
    """`w.data[0] = x`, `ws[i] -= x`."""
    augmented = any(token.op.startswith("INPLACE_") or token.text.endswith("=") for token in tokens)
    for at, token in enumerate(tokens):
        if token.op == "STORE_SUBSCR" and at > 1 and tokens[at - 1].op in (*_CONSTANTS, *LOADS):
            yield from _written(_expression(tokens, at - 2))
        elif augmented and _is_item(token):
            found = _expression(tokens, at)
            if found is not None:
                yield *found, PERHAPS


def _written(found: tuple[str, tuple[Step, ...]] | None) -> Iterator[_Found]:
    """What is written into by writing into an expression: by `w.data` the value of `w`, whose version stays."""
    if found is None:
        return
    base, steps = found
    if steps and steps[-1] == Step("attribute", "data"):
        yield base, steps[:-1], HIDDEN
    elif steps and (steps[-1] == _GRAD or any(step.kind != "attribute" for step in steps)):
        yield base, steps, DIRECT  # other plain paths are looked at as what the line uses


def _is_in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__") and not name.startswith("_")


def _is_item(token: Token) -> bool:
    return token.op == "BINARY_SUBSCR" or (token.op == "BINARY_OP" and token.text == "[]")


def _owner(tokens: Sequence[Token], at: int) -> tuple[str, tuple[Step, ...]] | None:
    """The expression whose attribute the instruction `at` reads, sets or deletes."""
    if tokens[at].op == "STORE_ATTR" and at and tokens[at - 1].op.startswith(SHUFFLES):
        read = (i for i in range(at - 1, -1, -1) if tokens[i].op in _ATTRIBUTES and tokens[i].value == tokens[at].value)
        at = next(read, -1)
    return _expression(tokens, before(tokens, at))


def _expression(tokens: Sequence[Token], at: int) -> tuple[str, tuple[Step, ...]] | None:
    """Variable and steps of the expression that ends with instruction `at`, None for any that is less plain."""
    steps: list[Step] = []
    while at >= 0 and len(steps) < _LONGEST:
        token = tokens[at]
        if token.op in LOADS:
            return token.value, tuple(reversed(steps))
        if token.op in _ATTRIBUTES:
            steps.append(Step("attribute", token.value))
        elif _is_item(token):
            at = before(tokens, at)
            key = tokens[at]
            if key.op in _CONSTANTS and type(key.value) in (int, str):
                steps.append(Step("item", key.value))
            elif key.op in LOADS:
                steps.append(Step("variable", key.value))
            else:
                return None
        else:
            return None
        at = before(tokens, at)
    return None
