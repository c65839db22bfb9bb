"""Seeds as texts: what the buttons, the grid and the clipboard write into the line of a seed. No Qt.

A seed is always an expression, as in `gradviz seed --seed`: a word (`ones`, `one_hot(0, 1)`), numbers, or code over the
script's variables. It is evaluated where the script is held, never here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

from gradviz.model import Root
from gradviz.model.dtypes import is_complex

MOST_WRITTEN = 4096  # elements of a seed that can be typed into the grid
_MOST_SHOWN = 64  # elements of the script's own seed that are written out
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?inf\b|nan\b")


def one_hot(index: Sequence[int]) -> str:
    """1 at one element, 0 elsewhere; a scalar has only one."""
    return f"one_hot({', '.join(map(str, index))})" if index else "ones"


def first_seed(root: Root | None) -> str:
    """What stands in the line at first: the seed of the script where it gave one that fits, else ones."""
    seed = None if root is None or not root.seed_given else root.seed
    if seed is None or root is None or root.shape is None or seed.full_shape != root.shape:
        return "ones"
    if seed.numbers is None or seed.numel > _MOST_SHOWN or is_complex(seed.dtype):
        return "ones"
    return literal(seed.nested())


def literal(values: Any) -> str:
    """Nested lists of numbers as an expression: `[[0, 1.5], [float('nan'), 2]]`."""
    if isinstance(values, list | tuple):
        return f"[{', '.join(map(literal, values))}]"
    number = float(values)
    if not math.isfinite(number):
        return f"float('{number}')"
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def pasted(text: str, shape: Sequence[int]) -> str | None:
    """Numbers from the clipboard as an expression; None where there are none.

    They come as lists (JSON or Python), a printed tensor, or rows as a spreadsheet or CSV has them; where their count
    is that of the root they take its shape, else they stay as they came and the check says what differs.
    """
    text = text.strip()
    lists = _bracketed(text)
    rows = lists if lists is not None else [_numbers(line) for line in text.splitlines() if _numbers(line)]
    flat = _flat(rows)
    if not flat:
        return None
    if len(flat) == math.prod(shape):
        return literal(shaped(flat, shape))
    return literal(rows[0] if lists is None and len(rows) == 1 else rows)


def shaped(flat: Sequence[Any], shape: Sequence[int]) -> Any:
    """A flat list as nested lists of a shape."""
    if not shape:
        return flat[0]
    step = len(flat) // shape[0] if shape[0] else 0
    return [shaped(flat[k * step : (k + 1) * step], shape[1:]) for k in range(shape[0])]


def flat_numbers(values: Any) -> list[float]:
    """Nested lists as one."""
    return [float(number) for number in _flat(values)]


def _flat(values: Any) -> list[Any]:
    return [number for part in values for number in _flat(part)] if isinstance(values, list) else [values]


def _numbers(line: str) -> list[float]:
    return [float(found) for found in _NUMBER.findall(line)]


def _bracketed(text: str) -> list[Any] | None:
    """`[[1, 2], [3, 4]]`, also inside `tensor(...)`; None where there are no lists of numbers."""
    start, end = text.find("["), text.rfind("]")
    if start < 0 or end < start:
        return None
    plain = re.sub(r"(?<![\d.])\.(\d)", r"0.\1", text[start : end + 1])  # as torch prints: `1.` and `.5`
    plain = re.sub(r"(\d)\.(?!\d)", r"\1.0", plain)
    plain = re.sub(r"\bnan\b", "NaN", re.sub(r"\binf\b", "Infinity", plain))
    try:
        found = json.loads(re.sub(r",(\s*\])", r"\1", plain))
    except ValueError:
        return None
    is_numbers = all(isinstance(number, int | float) for number in _flat(found))
    return found if is_numbers else None
