"""Parameters that no call of the script ever reached."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from gradviz.explain import words
from gradviz.explain.facts import Facts
from gradviz.explain.history import plain
from gradviz.explain.reads import Read, grad_reads
from gradviz.explain.reasons import Reason, cut_between, reason_in
from gradviz.explain.source import Source, dotted, parameters_of
from gradviz.model import Call, Finding, Level
from gradviz.texts import tr, trn

_MOST_NAMES = 8


def unused(facts: Facts, told: Iterable[str]) -> Iterator[Finding]:
    """One finding for the parameters that lie behind one cut, one for those that nothing depends on."""
    calls = [call for call in facts.user_calls if call.error is None and call.engine and call.accumulates]
    if not calls or len(facts.looked_at) < len(facts.user_calls):
        return  # with calls left unopened nothing can be said of all of them
    reached = _reached(facts)
    if not facts.is_whole:  # told by what was read
        return
    reads = [read for read in grad_reads(facts) if _owner(read) is not None]
    owners = _optimized(facts)
    groups: dict[object, tuple[list[str], Reason | None]] = {}
    known = {plain(name) for name in told}
    asked, used = {_parent(other) for other in known}, {_parent(other) for other in reached}
    for name in _idle(facts, known, reached):
        read = _read_of(reads, name)
        if read is None and owners and not _below(owners, name):
            continue  # an optimizer leaves it out, too: it is not meant to be trained
        if (read is None or read.died) and _parent(name) in asked:
            continue  # its layer was told when the script asked for (or died of) another of its parameters
        if read is None and not owners and _parent(name) in used:
            continue  # nobody asks, and a layer of which a part is used is no layer that was forgotten
        reason = _reason(facts, calls[-1], name)
        groups.setdefault((reason and reason.place, read and read.place), ([], reason))[0].append(name)
    for names, reason in groups.values():
        yield _finding(facts, calls[-1], names, reason, _read_of(reads, names[0]), _below(owners, names[0]))


def _finding(
    facts: Facts, call: Call, names: list[str], reason: Reason | None, read: Read | None, trained: bool
) -> Finding:
    shown = words.codes(names, _MOST_NAMES)
    if reason is not None:
        message = trn("{names} has no gradient: {why}", "{names} have no gradient: {why}", len(names), names=shown,
                      why=reason.text)  # fmt: skip
        advice, place = reason.advice, reason.place
    else:
        message = trn(
            "{names} has no gradient: it is in no graph of this script, so nothing that was differentiated depends on "
            "it.",
            "{names} have no gradient: they are in no graph of this script, so nothing that was differentiated depends "
            "on them.",
            len(names),
            names=shown,
        )
        advice = tr(
            "Check whether the forward pass was meant to use it; if not, leave it out of the optimizer and the module."
        )
        place = call.place if read is None else read.place
    level: Level = "error" if read is not None and read.died else "warning" if read or trained else "info"
    return Finding("grad-none", level, call.number, None, place, message, advice)


def _reached(facts: Facts) -> set[str]:
    """The names of all leaves of all calls."""
    return {
        plain(node.name)
        for call in facts.calls
        for node in facts.graph(call.number).nodes
        if node.kind == "leaf" and node.name is not None
    }


def _parent(name: str) -> str:
    return plain(name).rpartition(".")[0]


def _idle(facts: Facts, told: set[str], reached: set[str]) -> list[str]:
    """Parameters that require grad, are in no graph, and belong to a module of which something is in one."""
    frozen = {b.name for b in (*facts.history.all, *facts.history.parameters) if b.is_leaf and not b.requires_grad}
    names = dict.fromkeys([*(b.name for b in facts.history.parameters if b.requires_grad), *_stepped(facts)])
    used = {_module(facts, name) for name in reached} | {_module(facts, name) for name in _stepped(facts)}
    owners = _optimized(facts)
    return [
        name
        for name in names
        if plain(name) not in reached | told
        and name not in frozen
        and (_module(facts, name) in used or _below(owners, name))
    ]


def _reason(facts: Facts, call: Call, name: str) -> Reason | None:
    """The cut that a parameter lies behind, None where nothing depends on it."""
    return reason_in(facts, call, name) if cut_between(facts, call, name) is not None else None


def _module(facts: Facts, name: str) -> str:
    """`net` of `net.layer.weight`; of `self.net.layer.weight`, where `self` holds several, `self.net`."""
    parts = name.split(".")
    return ".".join(parts[:2]) if parts[0] == "self" else parts[0]


def _stepped(facts: Facts) -> list[str]:
    """Names of all parameters that an optimizer has stepped."""
    found = [n for event in facts.recording.events if event.kind == "optimizer_step" for n in event.names]
    return list(dict.fromkeys(found))


def _optimized(facts: Facts) -> set[str]:
    """`net` for each `SGD(net.parameters())`."""
    return {
        owner
        for source in facts.sources.values()
        for call in source.walk(ast.Call)
        if isinstance(call, ast.Call) and _is_optimizer(source, call)
        for argument in [*call.args, *(keyword.value for keyword in call.keywords)]
        for owner in parameters_of(argument)
    }


def _is_optimizer(source: Source, call: ast.Call) -> bool:
    name = dotted(call.func) or ""
    imported = {
        alias.asname or alias.name
        for node in source.walk(ast.ImportFrom)
        if isinstance(node, ast.ImportFrom) and node.module == "torch.optim"
        for alias in node.names
    }
    return "optim." in name or name in imported


def _below(owners: set[str], name: str) -> bool:
    return any(plain(name).startswith(f"{plain(owner)}.") for owner in owners)


def _owner(read: Read) -> str | None:
    """The module whose parameters a loop goes through around `p.grad`, `p` being its variable."""
    for ancestor in read.source.ancestors(read.node):
        loops = [ancestor] if isinstance(ancestor, ast.For) else list(getattr(ancestor, "generators", ()))
        for loop in loops:
            variables = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
            if read.name in variables:
                return next(parameters_of(loop.iter), None)
    return None


def _read_of(reads: list[Read], name: str) -> Read | None:
    return next((read for read in reads if (owner := _owner(read)) and _below({owner}, name)), None)
