"""Frozen values from JSON: a dataclass is built only when each field has the type that it declares."""

from __future__ import annotations

import types
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")


def built(kind: type[T], raw: object) -> T:
    """Build the dataclass `kind` from a JSON object; lists become tuples, fields that it has not are ignored.

    Raises:
        ValueError: `raw` is not an object, a field is missing, or a value has another type.
    """
    if not isinstance(raw, dict):
        raise ValueError(f"an object is wanted, not {raw!r:.40}")
    hints = _hints(cast(Any, kind))
    given = {name: _checked(hint, raw[name], name) for name, hint in hints.items() if name in raw}
    try:
        return kind(**given)
    except TypeError as error:
        raise ValueError(str(error)) from error


@cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _checked(hint: Any, value: object, name: str) -> Any:
    """Return `value` as `hint` wants it (an int where a float is declared becomes one)."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _first_fit(get_args(hint), value, name)
    if origin is Literal and value in get_args(hint) and isinstance(value, str):
        return value
    if origin is tuple and isinstance(value, list):
        return _tuple(get_args(hint), value, name)
    if is_dataclass(hint) and isinstance(hint, type):
        return built(hint, value)
    if hint is float and type(value) is int:
        return _as_float(value, name)
    if isinstance(hint, type) and type(value) is hint:
        return value
    raise ValueError(f"{name!r} cannot be {value!r:.40}")


def _first_fit(hints: tuple[Any, ...], value: object, name: str) -> Any:
    for hint in hints:
        try:
            return _checked(hint, value, name)
        except ValueError:
            continue
    raise ValueError(f"{name!r} cannot be {value!r:.40}")


def _tuple(hints: tuple[Any, ...], values: list[Any], name: str) -> tuple[Any, ...]:
    if len(hints) == 2 and hints[1] is Ellipsis:
        return tuple(_checked(hints[0], value, name) for value in values)
    if len(hints) != len(values):
        raise ValueError(f"{name!r} needs {len(hints)} values, not {len(values)}")
    return tuple(_checked(hint, value, name) for hint, value in zip(hints, values, strict=True))


def _as_float(value: int, name: str) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError(f"{name!r} cannot be {value!r:.40}") from error


def made(kind: type[T], fields: dict[str, Any]) -> T:
    """An instance of a frozen dataclass without slots from its fields, unchecked; those left out have their defaults.

    Its own `__init__` sets each field through `object.__setattr__`, which took half of the time of reading a recording.
    """
    instance = object.__new__(kind)
    object.__setattr__(instance, "__dict__", fields)
    return instance
