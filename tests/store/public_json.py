"""The public JSON, format 1, as a validator: each field that DESIGN promises, and what holds between fields."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any, str], None]
WORDS = ("nan", "inf", "-inf")


def validate(document: object) -> None:
    """Raise AssertionError with the path of the first field that is not as promised."""
    HEAD(document, "$")
    assert isinstance(document, dict)
    nodes = [node["id"] for node in document["nodes"]]
    assert len(nodes) == len(set(nodes)), "nodes have unique ids"
    edges = [(edge["source"], edge["slot"]) for edge in document["edges"]]
    assert len(edges) == len(set(edges)), "an edge is its source and slot"
    for edge in document["edges"]:
        assert {edge["source"], edge["target"]} <= set(nodes), f"an edge between nodes: {edge}"
    keys = {node["id"]: node["key"] for node in document["nodes"]}
    numbers = [call["number"] for call in document["calls"]]
    assert numbers == sorted(set(numbers)), "calls in the order in which they start"
    for call in document["calls"]:
        _validate_call(call, keys, numbers)


def _validate_call(call: dict[str, Any], keys: Mapping[int, str], numbers: list[int]) -> None:
    where = f"call {call['number']}"
    assert call["parent"] is None or (call["parent"] in numbers and call["parent"] < call["number"]), where
    members = set(call["nodes"])
    assert members <= keys.keys(), where
    assert len({keys[node] for node in members}) == len(members), f"{where}: keys are unique in a call"
    orders = [run["order"] for run in call["executions"]]
    assert orders == sorted(set(orders)), f"{where}: executions in the engine's order"
    for run in call["executions"]:
        assert run["node"] in members, f"{where}: {run['node']} is not a node of the call"
        if run["arrived"] is not None:
            assert len(run["arrived"]) == len(run["grad_outputs"]), where


def fields(**wanted: Check) -> Check:
    """An object that has these fields, and perhaps others."""

    def check(value: Any, path: str) -> None:
        assert isinstance(value, dict), f"{path} is an object"
        for name, inner in wanted.items():
            assert name in value, f"{path}.{name} is missing"
            inner(value[name], f"{path}.{name}")

    return check


def many(inner: Check) -> Check:
    def check(value: Any, path: str) -> None:
        assert isinstance(value, list), f"{path} is a list"
        for index, item in enumerate(value):
            inner(item, f"{path}[{index}]")

    return check


def maybe(inner: Check) -> Check:
    def check(value: Any, path: str) -> None:
        if value is not None:
            inner(value, path)

    return check


def one_of(*values: object) -> Check:
    def check(value: Any, path: str) -> None:
        assert value in values, f"{path} is one of {values}, not {value!r}"

    return check


def text(value: Any, path: str) -> None:
    assert isinstance(value, str), f"{path} is a text"


def integer(value: Any, path: str) -> None:
    assert type(value) is int, f"{path} is an int, not {value!r}"


def truth(value: Any, path: str) -> None:
    assert type(value) is bool, f"{path} is true or false, not {value!r}"


def number(value: Any, path: str) -> None:
    assert value in WORDS or (type(value) in (int, float) and math.isfinite(value)), f"{path} is a number: {value!r}"


def scalar(value: Any, path: str) -> None:
    if type(value) is not bool:
        number(value, path)


def real(value: Any) -> float:
    return float(value)


def tensor(value: Any, path: str) -> None:
    """TENSOR: its fields, the shape of its values, its statistics worked out from them."""
    _TENSOR(value, path)
    if value["values"] is None:
        return
    flat = _flat(value["values"], [*value.get("batch", []), *value["shape"]], path)
    if value["dtype"].startswith("complex"):
        assert all(isinstance(item, list) and len(item) == 2 for item in flat), f"{path}: [re, im]"
        assert value["min"] is value["max"] is value["mean"] is None, path
        return
    for item in flat:
        scalar(item, path)
    reals = [real(item) for item in flat]
    finite = [item for item in reals if math.isfinite(item)]
    assert value["nan"] == sum(map(math.isnan, reals)), path
    assert value["inf"] == sum(map(math.isinf, reals)), path
    assert value["zero"] == reals.count(0.0), path
    if finite:
        assert (value["min"], value["max"]) == (min(finite), max(finite)), path
        assert math.isclose(value["mean"], math.fsum(finite) / len(finite), rel_tol=1e-9, abs_tol=1e-300), path
    else:
        assert value["min"] is value["max"] is value["mean"] is None, path
    if not value["nan"]:
        assert real(value["norm"]) == math.hypot(*reals), path


def _flat(values: Any, shape: list[int], path: str) -> list[Any]:
    level = [values]
    for size in shape:
        assert all(isinstance(part, list) and len(part) == size for part in level), f"{path}.values have the shape"
        level = [item for part in level for item in part]
    return level


_TENSOR = fields(
    shape=many(integer), dtype=text, device=text, norm=maybe(number), min=maybe(number), max=maybe(number),
    mean=maybe(number), nan=maybe(integer), inf=maybe(integer), zero=maybe(integer), values=lambda value, path: None,
)  # fmt: skip
WHERE: dict[str, Check] = {"file": maybe(text), "line": maybe(integer)}
OUTPUT = fields(shape=many(integer), dtype=text, device=text, retains_grad=truth)
SAVED = fields(name=text, shape=maybe(many(integer)), value=maybe(tensor))
NODE = fields(
    id=integer, key=text, op=text, kind=one_of("operation", "leaf", "custom", "opaque"), name=maybe(text),
    iteration=maybe(integer), module=maybe(text), outputs=many(OUTPUT), value=maybe(tensor), saved=many(SAVED),
    stack=many(fields(file=text, line=integer, function=text)), **WHERE,
)  # fmt: skip
EDGE = fields(source=integer, slot=integer, target=integer, output_nr=integer)
ROOT = fields(
    kind=one_of("tensor", "edge"), name=maybe(text), node=maybe(integer), output_nr=integer, seed=maybe(tensor),
    seed_given=truth,
)  # fmt: skip
INPUT = fields(name=maybe(text), node=maybe(integer), output_nr=integer)
EXECUTION = fields(
    order=integer, node=integer, grad_outputs=many(maybe(tensor)), grad_inputs=many(maybe(tensor)),
    arrived=maybe(many(maybe(tensor))),
)  # fmt: skip
_GRAD = {name: maybe(tensor) for name in ("before", "incoming", "after", "left")}
ACCUMULATION = fields(name=maybe(text), node=integer, **_GRAD)
RETAINED = fields(name=maybe(text), node=integer, output_nr=integer, **_GRAD)
CALL = fields(
    number=integer, label=text, api=text, parent=maybe(integer), parent_node=maybe(integer), engine=truth,
    what_if=truth, complete=truth, detail=one_of("full", "summary", "none"), thread=text, retain_graph=truth,
    create_graph=truth, accumulates=truth, roots=many(ROOT), inputs=maybe(many(INPUT)), nodes=many(integer),
    executions=many(EXECUTION), accumulations=many(ACCUMULATION), retained=many(RETAINED),
    returned=maybe(many(maybe(tensor))), error=maybe(fields(type=text, message=text)), failed_node=maybe(integer),
    damage=maybe(text), **WHERE,
)  # fmt: skip
EVENT = fields(
    kind=one_of("grad_cleared", "grad_assigned", "value_changed", "optimizer_step"), before_call=maybe(integer),
    names=many(text), line=maybe(integer),
)  # fmt: skip
FINDING = fields(
    code=text, level=one_of("error", "warning", "info"), call=maybe(integer), node=maybe(integer), message=text,
    advice=text, **WHERE,
)  # fmt: skip
OUTCOME = fields(
    kind=one_of("finished", "raised", "exited", "killed", "stopped", "lost", "running"), exit_code=maybe(integer),
    signal=maybe(integer), type=maybe(text), message=maybe(text), **WHERE,
)  # fmt: skip
HEAD = fields(
    format=one_of(1), script=text, argv=many(text), python=text, torch=maybe(text), outcome=OUTCOME, nodes=many(NODE),
    edges=many(EDGE), calls=many(CALL), events=many(EVENT), findings=many(FINDING), damage=maybe(text),
)  # fmt: skip
