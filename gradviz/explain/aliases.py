"""One tensor, two names: `m.layers[0].weight` is `m.layers.0.weight`, `net.hidden` is `self.hidden` inside of `Net`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gradviz.explain.facts import Facts
from gradviz.explain.history import plain
from gradviz.explain.scopes import is_comprehension
from gradviz.explain.source import dotted, targets
from gradviz.model import Binding, Call, Place


def last_held(facts: Facts, name: str, call: Call | None = None, where: Place | None = None) -> Binding | None:
    """The last binding of `name`; of an attribute that only a method of its object's class binds, that one."""
    found = facts.history.last(name, call, where)
    if found is not None:
        return found
    own = held(facts, name)
    return own[-1] if own else None


def held(facts: Facts, name: str) -> list[Binding]:
    """The bindings of `net.hidden` under the name that the methods of its class have for it, `self.hidden`.

    `Net.table` is what the body of the class calls `table`.
    """
    owner, _, rest = name.partition(".")
    if body := [b for b in facts.history.named(rest) if b.place.function == owner]:
        return body
    classes = set(_classes_of(facts, owner)) if rest else set()
    return [b for b in facts.history.named(f"self.{rest}") if b.place.function.split(".")[0] in classes]


def names_of(facts: Facts, name: str) -> set[str]:
    """A name and what the methods of its object's class call it."""
    owner, _, rest = name.partition(".")
    return {name, f"self.{rest}"} if rest and any(_classes_of(facts, owner)) else {name}


def is_variable(facts: Facts, binding: Binding) -> bool:
    """Tell whether a name goes through many tensors (`for p in model.parameters()`), each of which may have its own."""
    if is_comprehension(binding.place.function):
        return True
    return isinstance(facts.statement(binding.place), ast.For | ast.AsyncFor)


def own_binding(facts: Facts, binding: Binding) -> Binding:
    """For the variable of a loop the tensor under a name of its own (`W1` of `for p in [W1, b1]`), where it has one."""
    if not is_variable(facts, binding):
        return binding
    same = [b for b in facts.history.of_tensor(binding.tensor) if b.order < binding.order and b.cause == "assigned"]
    own = [b for b in same if not is_variable(facts, b)]
    plain_names = [b for b in own if "[" not in b.name]
    modules = [b for b in facts.history.parameters if b.tensor == binding.tensor]
    return (plain_names[-1:] or own[-1:] or modules[-1:] or [binding])[0]


def parameter(facts: Facts, name: str) -> Binding | None:
    """What a call noted of a module's parameter that its graph does not hold."""
    return next((b for b in facts.history.parameters if plain(b.name) == plain(name)), None)


def _classes_of(facts: Facts, owner: str) -> Iterator[str]:
    """The classes of the script that `owner` is made from: `Net` of `net = Net(3)`, also of `Net(3).to(device)`."""
    if not re.fullmatch(r"\w+", owner) or owner == "self":
        return
    own = {node.name for source in facts.sources.values() for node in source.walk(ast.ClassDef)
           if isinstance(node, ast.ClassDef)}  # fmt: skip
    for source in facts.sources.values():
        for statement in source.walk(ast.Assign):
            assert isinstance(statement, ast.Assign)
            for target, value in targets(statement):
                if target == owner:
                    made = [dotted(node.func) for node in ast.walk(value) if isinstance(node, ast.Call)]
                    yield from (name for name in made if name in own)
