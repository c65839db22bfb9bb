"""Prints the tables of the benchmarks named on the command line, or of all."""

from __future__ import annotations

import importlib
import sys

BENCHMARKS = ("record", "draw", "layout", "frames")


def main() -> int:
    chosen = sys.argv[1:] or BENCHMARKS
    unknown = [name for name in chosen if name not in BENCHMARKS]
    if unknown:
        print(f"no benchmark called {', '.join(unknown)}; there are: {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    for name in chosen:
        importlib.import_module(f"tests.benchmarks.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main())
