"""The table of subcommands: one row each, its module imported only when it is chosen."""

from __future__ import annotations

import importlib

from gradviz.cli.command import Command

# Name -> module of this package and class in it.
COMMANDS: dict[str, tuple[str, str]] = {
    "record": ("record", "Record"),
    "info": ("info", "Info"),
    "seed": ("seed", "Seed"),
    "export": ("export", "Export"),
    "explain": ("explain", "Explain"),
}


def load(name: str) -> Command:
    """The subcommand with this name."""
    module, kind = COMMANDS[name]
    command: Command = getattr(importlib.import_module(f"gradviz.cli.{module}"), kind)()
    return command
