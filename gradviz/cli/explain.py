"""`gradviz explain`: why it failed, why it is None, why it is twice what was expected."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import get_args

from gradviz.cli.opened import opened
from gradviz.cli.wrapping import padded, wrapped
from gradviz.errors import UsageError
from gradviz.explain import findings, page
from gradviz.explain.pages import page_text
from gradviz.model import Code, Finding, Outcome, Recording
from gradviz.runner import ending
from gradviz.store.json_view import FORMAT, finding_view
from gradviz.texts import tr, trn

FOUND_ERRORS = 1  # exit status with --strict
_SYNTAX = ("SyntaxError", "IndentationError", "TabError")


class Explain:
    """Say what went wrong, or may surprise, in a recording or a script: findings with line, reason and remedy.

    A script is run and recorded first (into a temporary file). With --strict the exit status is 1 when there is a
    finding of level error, for CI. `--page CODE` prints what a code means, with an example.

    examples:
      gradviz explain train.gradviz
      gradviz explain train.py --strict -- --epochs 1
      gradviz explain --page second-time
    """

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument("path", nargs="?", metavar="RECORDING|SCRIPT")
        parser.add_argument("--json", action="store_true", help=tr("the findings as JSON on stdout"))
        parser.add_argument("--strict", action="store_true", help=tr("exit status 1 when there is an error"))
        parser.add_argument("--python", metavar="PATH", help=tr("the Python that runs the script"))
        parser.add_argument("--page", metavar="CODE", help=tr("print the page of a code"))

    def run(self, arguments: argparse.Namespace) -> int:
        """Print the findings."""
        if arguments.page is not None:
            sys.stdout.write(_page(arguments.page))
            return 0
        if arguments.path is None:
            raise UsageError(tr("Name a recording or a script: `gradviz explain RECORDING|SCRIPT`."))
        with opened(arguments, script_output_to_stderr=arguments.json) as recording:
            found = findings(recording)
            if arguments.json:
                view = {"format": FORMAT, "script": recording.header.script, "findings": list(map(finding_view, found))}
                json.dump(view, sys.stdout, allow_nan=False)
                sys.stdout.write("\n")
            else:
                sys.stdout.write(describe_findings(recording, found))
        sys.stdout.flush()
        return FOUND_ERRORS if arguments.strict and any(f.level == "error" for f in found) else 0


def describe_findings(recording: Recording, found: Sequence[Finding], width: int | None = None) -> str:
    """The findings for a terminal, ending with a line feed."""
    width = width or min(110, shutil.get_terminal_size((100, 24)).columns)
    lines = [ending(recording), ""]
    for finding in found:
        lines += [_head(recording, finding), *wrapped(finding.message, "  ", width)]
        lines += [*wrapped(finding.advice, "  > ", width), ""]
    unread = None if found else unparsable(recording.outcome, recording.source.sources().get)
    lines.append(_counted(found) if unread is None else tr("No finding: {what}. Mend that line first.", what=unread))
    if recording.damage:
        lines.append(recording.damage)
    return "\n".join(lines) + "\n"


def brief_findings(recording: Recording, most: int = 3) -> list[str]:
    """One line for each of the first errors and warnings: what `gradviz record` prints when the script has ended."""
    found = [finding for finding in findings(recording) if finding.level != "info"]
    found.sort(key=lambda finding: finding.level != "error")
    lines = [f"{finding.code} ({_where(recording, finding)}): {finding.message}" for finding in found[:most]]
    if len(found) > most:
        lines.append(trn("... and {n} more finding", "... and {n} more findings", len(found) - most))
    return lines


def unparsable(outcome: Outcome, text_of: Callable[[str], str | None]) -> str | None:
    """Which line Python could not read, and why; None where the script did not end of that.

    `text_of` gives the text of a file, None where that is not known.
    """
    if outcome.type not in _SYNTAX or outcome.file is None or outcome.line is None:
        return None
    if not (outcome.message or "").endswith(f"line {outcome.line})"):  # raised by the script itself
        return None
    text = "".join((text_of(outcome.file) or "").splitlines()[outcome.line - 1 : outcome.line])
    text = "".join(filter(str.isprintable, text)).strip()  # a null byte is one of the reasons
    # Python's own sentence ends with the file's name and the line.
    return tr("the script does not parse: {why}, at `{text}`", why=outcome.message, text=text) if text else None


def _head(recording: Recording, finding: Finding) -> str:
    level = {"error": tr("error"), "warning": tr("warning"), "info": tr("info")}[finding.level]
    return f"{padded(level, 8)} {finding.code}  ({_where(recording, finding)})"


def _where(recording: Recording, finding: Finding) -> str:
    parts = []
    if finding.place is not None:
        base = os.path.basename(finding.place.file)
        own = base == os.path.basename(recording.header.script)
        parts.append(tr("line {line}", line=finding.place.line) if own else f"{base}:{finding.place.line}")
    if finding.call is not None:
        parts.append(tr("call {label}", label=_label(recording, finding.call)))
    return ", ".join(parts) or tr("the whole script")


def _label(recording: Recording, number: int) -> str:
    return recording.call(number).label


def _counted(found: Sequence[Finding]) -> str:
    if not found:
        return tr("Nothing to say: no finding.")
    counts = {level: sum(finding.level == level for finding in found) for level in ("error", "warning", "info")}
    words = [
        trn("{n} error", "{n} errors", counts["error"]),
        trn("{n} warning", "{n} warnings", counts["warning"]),
        trn("{n} note", "{n} notes", counts["info"]),
    ]
    first = found[0].code
    counted, more = tr(", ").join(words), tr("More on a code: gradviz explain --page {code}", code=first)
    return tr("{counted}. {more}", counted=counted, more=more)


def _page(code: str) -> str:
    codes = get_args(Code)
    if code not in codes:
        raise UsageError(tr("There is no code {code!r}. Codes are: {codes}.", code=code, codes=", ".join(codes)))
    return page_text(page(next(known for known in codes if known == code)))
