"""What a subcommand is: a class whose docstring is its help text, with two methods."""

from __future__ import annotations

import argparse
from typing import Protocol


class Command(Protocol):
    """One subcommand. The first line of the docstring is what `gradviz --help` says of it."""

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        ...

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it and return the exit status. `arguments.theirs` holds the words after `--`: the script's own.

        Raises:
            GradvizError: with a text for the user; `main` prints it and returns 2.
        """
        ...
