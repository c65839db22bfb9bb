"""Questions about recorded tensors that several rules ask."""

from __future__ import annotations

import math
from collections.abc import Iterable

from gradviz.model import Execution, Gradient, TensorValue


def bad(value: Gradient) -> bool:
    """Tell whether a tensor holds a nan or an infinity."""
    found = None if value is None else value.statistics
    return found is not None and (found.nan > 0 or found.inf > 0)


def has_nan(value: Gradient) -> bool:
    """Tell whether a tensor holds a nan."""
    found = None if value is None else value.statistics
    return found is not None and found.nan > 0


def all_zero(value: Gradient) -> bool:
    """Tell whether a tensor is known to hold zeros only (and at least one)."""
    return value is not None and value.numel > 0 and value.norm == 0


def some(value: Gradient) -> bool:
    """Tell whether a tensor is known to hold something finite that is not zero."""
    return value is not None and value.norm is not None and value.norm > 0 and not bad(value)


def norm_of(values: Iterable[Gradient]) -> float | None:
    """The norm of several tensors together; None where one is unreadable or none is there."""
    norms = [value.norm for value in values if value is not None]
    if not norms or any(norm is None for norm in norms):
        return None
    return math.hypot(*(norm for norm in norms if norm is not None))


def arrived(execution: Execution) -> tuple[Gradient, ...]:
    """What arrived at a node before hooks."""
    return execution.arrived if execution.arrived is not None else execution.grad_outputs


def finite_sample(value: TensorValue | None) -> tuple[float, ...]:
    """All real numbers of a small tensor, () where they are not known."""
    if value is None or value.numbers is None:
        return ()
    return tuple(float(number) for number in value.numbers if not isinstance(number, complex))
