"""Which line wrote into a tensor in place, and how it is written."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from gradviz.explain.facts import Facts
from gradviz.explain.history import happened_before, plain
from gradviz.explain.source import dotted, is_constant, prefixes, targets, text_of
from gradviz.model import Binding, Call, Event, Place


@dataclass(frozen=True)
class Writer:
    """A line that changed a tensor: `name` is what it was called there, `step` the optimizer step where it was one.

    `module` is the code of a module that works in place, where the writing is inside it; `is_leaf` tells a parameter,
    `limited` the weight of an embedding with `max_norm=`.
    """

    place: Place | None
    name: str | None
    statement: ast.stmt | None = None
    step: Event | None = None
    module: str | None = None
    is_leaf: bool = False
    limited: bool = False


def writer_of(
    facts: Facts,
    call: Call,
    shape: tuple[int, ...],
    versions: tuple[int, int],
    names: tuple[str, ...],
    storages: frozenset[int],
) -> Writer | None:
    """The line that raised a tensor of this shape beyond its expected version (`versions`: expected and found).

    `names` are what the victim's tensors are called, likeliest first, `storages` their memory where bindings tell.
    Order of trust: the memory in the error, the memory of the victim, an optimizer step on one of `names`, a write to
    one of them, any write that fits, a statement of the source that writes to one.
    """
    expected, found = versions
    error = call.error
    writes = [
        b for b in facts.history.all if b.cause == "written" and happened_before(b, call) and b.version > expected
    ]
    fitting = [b for b in writes if b.shape == shape and b.version <= found]
    if error is not None and error.storage is not None:
        known = [b for b in writes if b.storage == error.storage]
    else:
        same = [b for b in writes if b.storage in storages and b.version <= found]
        known = [b for b in same if b.shape == shape] or same  # a view that was saved has another shape
    if known:
        return _of_binding(facts, known[0])
    step = step_on(facts, call, names)
    if step is not None:
        return Writer(step.place, step.names[0] if step.names else None, None, step)
    likely = [b for b in fitting if b.name in names] or fitting
    return _of_binding(facts, likely[-1]) if likely else _written_in_source(facts, call, names)


def _of_binding(facts: Facts, binding: Binding) -> Writer:
    is_leaf = binding.is_leaf and binding.requires_grad
    source = facts.source(binding.place)
    found = [] if source is None else source.statements(binding.place.line)
    writing = [statement for statement in found if binding.name in written_names(statement)]
    return Writer(binding.place, binding.name, next(reversed(writing or found), None), is_leaf=is_leaf)


def in_chain(facts: Facts, place: Place | None) -> Writer | None:
    """The line that made a tensor, where it writes to it before that has a name: `y = torch.tanh(x).mul_(2)`."""
    statement = facts.statement(place)
    for node in () if statement is None else ast.walk(statement):
        if isinstance(node, ast.Call) and _nameless(node) is not None:
            return Writer(place, None, statement)
    return None


def on_the_line(facts: Facts, place: Place | None) -> Writer | None:
    """The statement that writes to what another one on its line has just bound: `h = x.exp(); h *= 2`.

    Lines are looked at when they have run, so of this one it is only known that it made a tensor.
    """
    source = facts.source(place)
    bound: set[str] = set()
    for statement in () if source is None or place is None else source.statements(place.line):
        name = next((name for name in written_names(statement) if name in bound), None)
        if name is not None:
            return Writer(place, name, statement)
        if isinstance(statement, ast.Assign):
            bound.update(name for name, _ in targets(statement))
    return None


def _nameless(node: ast.Call) -> ast.Call | None:
    """The call whose result, never bound to a name, an in-place method is called on."""
    inner = node.func.value if isinstance(node.func, ast.Attribute) and in_place_method(node.func.attr) else None
    return inner if isinstance(inner, ast.Call) else None


def in_place_module(facts: Facts) -> Writer | None:
    """The first module that the script makes with `inplace=True`: it writes where no line of the script does."""
    for source in facts.sources.values():
        for node in source.walk(ast.Call):
            if not isinstance(node, ast.Call):
                continue
            name = (dotted(node.func) or "").rsplit(".", 1)[-1]
            flags = [k for k in node.keywords if k.arg == "inplace" and is_constant(k.value, True)]
            shown = text_of(node)
            if name == "ReLU" and node.args and is_constant(node.args[0], True):
                flags = [ast.keyword("inplace", node.args[0])]
            if flags and name[:1].isupper():
                return Writer(Place(source.file, node.lineno), None, module=shown)
    return None


def embedding_lookup(facts: Facts, call: Call) -> Writer | None:
    """The last use, above the call, of an embedding with `max_norm=`: it rescales its weight in place."""
    source = facts.source(call.place)
    if source is None or call.place is None:
        return None
    limited = {
        target
        for statement in source.walk(ast.Assign)
        if isinstance(statement, ast.Assign)
        for target, value in targets(statement)
        if isinstance(value, ast.Call) and any(k.arg == "max_norm" for k in value.keywords)
    }
    uses = [
        node
        for node in source.walk(ast.Call)
        if isinstance(node, ast.Call) and dotted(node.func) in limited and node.lineno <= call.place.line
    ]
    if not uses:
        return None
    last = max(uses, key=lambda node: node.lineno)
    place = Place(source.file, last.lineno)
    return Writer(place, f"{dotted(last.func)}.weight", source.statement(last.lineno), limited=True)


def step_on(facts: Facts, call: Call, names: tuple[str, ...]) -> Event | None:
    """The last optimizer step before `call` that changed one of these parameters."""
    steps = [
        event
        for event in facts.recording.events
        if event.kind in ("optimizer_step", "value_changed")
        and event.before_call is not None
        and event.before_call <= call.number
        and any(name in event.names for name in names)
        and not _past_the_version(facts, event)
    ]
    return steps[-1] if steps else None


def _past_the_version(facts: Facts, event: Event) -> bool:
    """Tell whether a change was made through `.data`, which has a version of its own: no backward fails of that."""
    statement = facts.statement(event.place) if event.kind == "value_changed" else None
    return statement is not None and any(
        isinstance(node, ast.Attribute) and node.attr == "data" for node in ast.walk(statement)
    )


def _written_in_source(facts: Facts, call: Call, names: tuple[str, ...]) -> Writer | None:
    """The last statement above the call that writes in place to one of `names`."""
    source = facts.source(call.place)
    if source is None or call.place is None:
        return None
    wanted = {plain(name) for name in names}
    found = [
        (statement, name)
        for statement in source.walk(ast.stmt)
        if isinstance(statement, ast.stmt) and statement.lineno <= call.place.line
        for name in written_names(statement)
        if plain(name) in wanted
    ]
    if not found:
        return None
    statement, name = max(found, key=lambda pair: pair[0].lineno)
    return Writer(Place(call.place.file, statement.lineno), name, statement)


def written_names(statement: ast.stmt) -> Iterator[str]:
    """The names that a simple statement writes to in place."""
    if isinstance(statement, ast.AugAssign):
        yield from _owner(statement.target)
    elif isinstance(statement, ast.Assign):
        for target in statement.targets:
            if isinstance(target, ast.Subscript):
                yield from _owner(target)
    if isinstance(statement, ast.Expr | ast.Assign | ast.Return):
        for node in ast.walk(statement):
            yield from _called_in_place(node)


def _called_in_place(node: ast.AST) -> Iterator[str]:
    if not isinstance(node, ast.Call):
        return
    if isinstance(node.func, ast.Attribute) and in_place_method(node.func.attr):
        yield from _owner(node.func.value)
    for keyword in node.keywords:
        if keyword.arg == "inplace" and is_constant(keyword.value, True) and node.args:
            yield from _owner(node.args[0])
        elif keyword.arg == "out":
            yield from _owner(keyword.value)


def in_place_method(name: str) -> bool:
    """Tell whether a method's name says that it works in place (`add_`, not `requires_grad_`, not `__add__`)."""
    return name.endswith("_") and not name.endswith("__") and name not in ("requires_grad_", "retain_grad_")


def _owner(target: ast.AST) -> Iterator[str]:
    while isinstance(target, ast.Subscript):
        name = dotted(target)
        if name is not None:
            yield from prefixes(name)
            return
        target = target.value
    name = dotted(target)
    if name is not None:
        yield name


def base_written(statement: ast.stmt | None) -> str | None:
    """The tensor that a statement writes to, without the index: `res` of `res[0][0] = ...`."""
    targets = [] if statement is None else list(written_names(statement))
    return targets[0].split("[", 1)[0] if targets else None


_FILLS = ("copy_", "set_", "normal_", "uniform_", "random_", "bernoulli_", "exponential_", "fill_", "zero_")


def _made_anew(owner: str, method: str, call: ast.Call) -> str | None:
    """`x = x.clamp(min=0)` for `x.clamp_(min=0)`; what overwrites all values has a function of its own, or none."""
    given = [*(text_of(a) for a in call.args), *(f"{k.arg}={text_of(k.value)}" for k in call.keywords)]
    if method == "zero_":
        return f"{owner} = torch.zeros_like({owner})"
    if method == "fill_" and given:
        return f"{owner} = torch.full_like({owner}, {given[0]})"
    if method in _FILLS:
        return None
    return f"{owner} = {owner}.{method[:-1]}({', '.join(given)})"


def module_in_place(facts: Facts, statement: ast.stmt | None) -> Place | None:
    """The line that made a module with `inplace=True` which a statement calls: `self.relu` of `self.relu(h)`."""
    for call in () if statement is None else ast.walk(statement):
        name = dotted(call.func) if isinstance(call, ast.Call) else None
        for source in facts.sources.values() if name is not None else ():
            for made in source.walk(ast.Assign):
                assert isinstance(made, ast.Assign)
                for target, value in targets(made):
                    flags = value.keywords if isinstance(value, ast.Call) else []
                    if target == name and any(k.arg == "inplace" and is_constant(k.value, True) for k in flags):
                        return Place(source.file, made.lineno)
    return None


def read_while_filled(statement: ast.stmt | None) -> str | None:
    """`h[t]` of `h[t + 1] = f(h[t])`: a part of the very tensor that the statement fills."""
    base = base_written(statement) if isinstance(statement, ast.Assign) else None
    for node in ast.walk(statement.value) if base is not None and isinstance(statement, ast.Assign) else ():
        if isinstance(node, ast.Subscript) and dotted(node.value) == base:
            return text_of(node)
    return None


def out_of_place(statement: ast.stmt | None, name: str | None) -> str | None:
    """The statement written without changing its tensor, where that is a plain rewriting."""
    if isinstance(statement, ast.AugAssign) and dotted(statement.target) is not None:
        target = text_of(statement.target)
        operation = ast.BinOp(ast.Name(target), statement.op, statement.value)
        return f"{target} = {text_of(operation)}"
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript) and name:
        base = base_written(statement) or name
        return f"{base} = {base}.clone()"
    if not isinstance(statement, ast.Expr | ast.Assign | ast.Return) or statement.value is None:
        return None
    for node in ast.walk(statement.value):
        is_chain = isinstance(node, ast.Call) and _nameless(node) is not None
        if is_chain and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            method = node.func.attr
            return text_of(statement, 80).replace(f".{method}(", f".{method[:-1]}(") if method not in _FILLS else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and in_place_method(node.func.attr):
            owner = dotted(node.func.value)
            if owner is not None:
                return _made_anew(owner, node.func.attr, node)
        if isinstance(node, ast.Call) and any(k.arg == "inplace" and is_constant(k.value, True) for k in node.keywords):
            kept = [text_of(a) for a in node.args]
            kept += [f"{k.arg}={text_of(k.value)}" for k in node.keywords if k.arg != "inplace"]
            owner = dotted(node.args[0]) if node.args else None
            call = f"{text_of(node.func)}({', '.join(kept)})"
            return f"{owner} = {call}" if owner and isinstance(statement, ast.Expr) else call
    return None
