"""The way into the window from the command line."""

from __future__ import annotations

from collections.abc import Sequence


def open_window(paths: str | Sequence[str] | None, python: str | None = None, script_args: Sequence[str] = ()) -> int:
    """Open the window on scripts or recordings and return its exit status when it is closed.

    Args:
        paths: one file, several, or none.
        python: the interpreter that runs scripts; None: the one chosen before, else gradviz's own.
        script_args: arguments of the scripts that are opened here.
    """
    from gradviz.app.application import run

    files = [paths] if isinstance(paths, str) else list(paths or ())
    return run(files, python, script_args)
