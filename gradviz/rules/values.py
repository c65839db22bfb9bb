"""Between recorded values and what formulas are computed on: numpy arrays in double precision, and options."""

from __future__ import annotations

import ast
import re

import numpy as np

from gradviz.model import Gradient, Node, TensorValue
from gradviz.rules.evaluate import Array, Value
from gradviz.rules.tree import Plain

# What the recorder says of a tensor that it could not read.
_NOT_READ = ("freed", "behind a hook", "not readable in this torch")
_LISTED = re.compile(r"^(\w+)\[(\d+)\]$")


def saved_of(node: Node) -> tuple[dict[str, Plain], dict[str, Value]]:
    """Options and tensors that a node saved; `indices[0]`, `indices[1]` become one tuple."""
    plain: dict[str, Plain] = {}
    values: dict[str, Value] = {}
    lists: dict[str, dict[int, Array | None]] = {}
    for saved in node.saved:
        listed = _LISTED.match(saved.name)
        value = array_of(saved.value)
        if listed is not None:
            lists.setdefault(listed[1], {})[int(listed[2])] = value
        elif value is not None:
            values[saved.name] = value
        elif saved.text is not None and saved.text not in _NOT_READ:
            plain[saved.name] = _option(saved.text)
    values.update({name: tuple(parts[k] for k in sorted(parts)) for name, parts in lists.items()})
    return plain, values


def _option(text: str) -> Plain:
    """An option from its `repr`; torch shows negative dimensions as unsigned 64-bit numbers."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    if isinstance(value, tuple | list):
        return tuple(_signed(part) for part in value)
    return _signed(value) if isinstance(value, int) else value


def _signed(value: int) -> int:
    return value - (1 << 64) if isinstance(value, int) and value >= 1 << 63 else value


def array_of(value: Gradient) -> Array | None:
    """A recorded tensor as a numpy array in double precision; None where its elements were not kept."""
    if value is None or value.batch or value.numbers is None:
        return None
    numbers = np.array(value.numbers).reshape(value.full_shape)
    if numbers.dtype.kind == "f":
        return numbers.astype(np.float64)
    return numbers


def value_of(array: Array) -> TensorValue:
    """An array as a recorded tensor."""
    kinds = {"f": ("float64", "<f8"), "c": ("complex128", "<c16"), "i": ("int64", "<i8"), "b": ("bool", "?")}
    dtype, code = kinds[array.dtype.kind]
    return TensorValue(tuple(map(int, array.shape)), dtype, data=np.ascontiguousarray(array).astype(code).tobytes())
