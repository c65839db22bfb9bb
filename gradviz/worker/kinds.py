"""What an object of the user's is and holds, without running code of theirs.

`isinstance` asks an object for its `__class__`, a set of types asks a type for its hash, `kind.__mro__` asks a
metaclass: each may be computed by the user. A proxy of a web framework even computes its `__dict__`, and raises outside
of a request. So types are told apart by identity here, and what they have is read past metaclass and class.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

_MRO: Any = type.__dict__["__mro__"].__get__
_MODULE: Any = type.__dict__["__module__"].__get__
_OWN: Any = type.__dict__["__dict__"].__get__
_ATOMS = frozenset(map(id, (str, int, float, bool, bytes, complex, type(None), range, slice)))
_MISSING = object()


def is_atom(value: Any) -> bool:
    """Whether it is a number, a text or the like, which holds nothing."""
    return id(type(value)) in _ATOMS


def is_key(value: Any) -> bool:
    """Whether it is a plain text or whole number."""
    kind = type(value)
    return kind is str or kind is int


def module_of(value: Any) -> str:
    """Where its type was made."""
    module = _MODULE(type(value))
    return module if type(module) is str else ""


def fields_of(value: Any) -> tuple[str, ...] | None:
    """The fields of a named tuple, None for anything else."""
    fields = _found(type(value), "_fields") if issubclass(type(value), tuple) else None
    return fields if type(fields) is tuple and all(type(field) is str for field in fields) else None


def attributes(value: Any) -> dict[str, Any]:
    """The object's own dict; an empty one where it has none, or where its class computes it."""
    reader = _found(type(value), "__dict__")
    # The class that adds a dict to its objects has a descriptor of Python's for it; one of the user's is left alone.
    held = reader.__get__(value) if _is_pythons(reader) else None
    return held if type(held) is dict else {}


def slots(value: Any) -> Iterator[tuple[str, Any]]:
    """The attributes of classes with `__slots__`, those that are set."""
    for base in _MRO(type(value)):
        held = _OWN(base)
        for key, member in held.items() if "__slots__" in held else ():
            if type(member) is MemberDescriptorType and type(key) is str:
                try:
                    yield key, member.__get__(value)
                except AttributeError:
                    continue


def _found(kind: type, name: str) -> Any:
    """What a class or one of its bases has under a name."""
    for base in _MRO(kind):
        found = _OWN(base).get(name, _MISSING)
        if found is not _MISSING:
            return found
    return None


def _is_pythons(descriptor: Any) -> bool:
    """Whether a descriptor is one of Python's own. A type of the user's may have any `__eq__`."""
    kind = type(descriptor)
    return kind is GetSetDescriptorType or kind is MemberDescriptorType
