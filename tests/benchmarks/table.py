"""A table of measurements as text."""

from __future__ import annotations

from collections.abc import Sequence


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a title and aligned columns; numbers get three significant digits, None is a dash."""
    cells = [list(header), *([_text(value) for value in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    print(f"\n{title}")
    for row in cells:
        names = row[0].ljust(widths[0])
        print("  ".join([names, *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]))


def _text(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
