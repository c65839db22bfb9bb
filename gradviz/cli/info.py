"""`gradviz info`: what is in a recording."""

from __future__ import annotations

import argparse
import sys

from gradviz.cli.describe import describe
from gradviz.explain import findings
from gradviz.store.json_view import json_text
from gradviz.store.reader import close_recording, open_recording
from gradviz.texts import tr


class Info:
    """Say what is in a recording: calls, roots, seeds and gradients.

    With --json the whole recording as JSON (format 1, documented in the README).

    examples:
      gradviz info train.gradviz
      gradviz info train.gradviz --json | jq '.calls[0].accumulations'
    """

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument("recording", metavar="RECORDING")
        parser.add_argument("--json", action="store_true", help=tr("everything, as JSON on stdout"))

    def run(self, arguments: argparse.Namespace) -> int:
        """Print it."""
        recording = open_recording(arguments.recording)
        try:
            if arguments.json:
                sys.stdout.writelines(json_text(recording, findings(recording)))
                sys.stdout.write("\n")
            else:
                sys.stdout.write(describe(recording))
        finally:
            close_recording(recording)
        sys.stdout.flush()
        return 0
