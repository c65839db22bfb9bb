"""gradviz: see what `backward()` does.

`with gradviz.record("x.gradviz"):` records in the running process; everything else is a command (`gradviz --help`).
"""

from __future__ import annotations

# As `typing` has it: under `python -m gradviz` a typing.py in the current folder would be imported here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradviz.worker.in_process import record as record

__version__ = "0.1.0"
__all__ = ["__version__", "record"]


def __getattr__(name: str) -> Any:
    """Import `record` on first use: the application must be importable without torch."""
    if name == "record":
        from gradviz.worker.in_process import record

        return record
    raise AttributeError(f"module 'gradviz' has no attribute {name!r}")
