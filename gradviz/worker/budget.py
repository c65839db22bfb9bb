"""How much of each call is recorded, so that a long training run stays a small file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gradviz.model.calls import Detail
from gradviz.texts import trn

FULL_CALLS = 64
FULL_BYTES = 100_000_000
SUMMARY_BYTES = 25_000_000
SIZE_LIMIT = 195_000_000
MAX_VALUES = 4096


@dataclass(frozen=True)
class Options:
    """What the user asked for. `calls` are numbers of top-level calls to keep whole, None for the default budget.

    `max_values` is the number of elements up to which a tensor is kept whole, `size_limit` is in bytes.
    """

    max_calls: int | None = None
    calls: tuple[range, ...] | None = None
    max_values: int = MAX_VALUES
    size_limit: int | None = None
    max_nodes: int = 2_000_000


class Budget:
    """Decides the detail of each top-level call; nested calls share that of the call around them.

    `size` tells the bytes of the recording. The first calls and a 1-2-5 series are full while there is room. The
    others are summaries, every one at first, then every second, fourth and so on: each time that
    `SUMMARY_BYTES` more are written. So the curves of a run of any length stay whole at a coarser step.
    """

    def __init__(self, options: Options, size: Callable[[], int]) -> None:
        self._options = options
        self._size = size
        self._stride = 1
        self._mark: int | None = None
        self.skipped = 0  # calls that are not in the recording at all
        self.ended = False  # whether all further calls will be left out

    def detail(self, ordinal: int) -> Detail | None:
        """The detail of the `ordinal`-th top-level call, None where it is left out."""
        options, size = self._options, self._size()
        limit = SIZE_LIMIT if options.size_limit is None else options.size_limit
        if (options.max_calls is not None and ordinal > options.max_calls) or size >= limit:
            self._end()
            return None
        if options.calls is not None:
            return self._chosen(ordinal, options.calls)
        if size < min(FULL_BYTES, limit // 2) and (ordinal <= FULL_CALLS or is_in_series(ordinal)):
            return "full"
        return self._thinned(ordinal, size)

    def note(self) -> str | None:
        """What is said of the calls that are not in the recording, None where all are."""
        if not self.skipped:
            return None
        return trn(
            "{n} more call was not recorded: the limit was reached.",
            "{n} more calls were not recorded: the limit was reached.",
            self.skipped,
        )

    def _chosen(self, ordinal: int, chosen: tuple[range, ...]) -> Detail | None:
        if any(ordinal in part for part in chosen):
            return "full"
        if any(ordinal < part.stop for part in chosen):
            return "none"
        self._end()
        return None

    def _end(self) -> None:
        self.skipped += 1
        self.ended = True

    def _thinned(self, ordinal: int, size: int) -> Detail:
        if self._mark is None:
            self._mark = size
        if size - self._mark > SUMMARY_BYTES:
            self._mark, self._stride = size, 2 * self._stride
        return "summary" if ordinal % self._stride == 0 else "none"


def is_in_series(ordinal: int) -> bool:
    """Tell whether a number is 1, 2 or 5 times a power of ten."""
    digits = str(ordinal)
    return digits[0] in "125" and set(digits[1:]) <= {"0"}
