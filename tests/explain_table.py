"""Every case script of a folder through `gradviz record` and `findings`: what was expected, what was found.

    python -m tests.explain_table [FOLDER] [--expect FILE] [--keep FOLDER] [--all]

What is expected stands in an `expect.json` beside the scripts: script -> list of findings that must be there, each
with some of code, line, call, level, node (its name), op, says (words of message or advice); or
{"must": [...], "may": [codes that are true but not asked for]}. `--expect` names one file for a folder of case
folders that have none of their own: "case/script" -> the same. A script that is not named is not run, unless --all.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradviz.errors import GradvizError
from gradviz.explain import findings
from gradviz.model import Finding, Recording
from gradviz.runner import Run, Target
from gradviz.store.reader import close_recording, open_recording

CASES = Path(__file__).resolve().parent / "cases"


@dataclass(frozen=True)
class Case:
    """A script and what is to be found in it (None: not said)."""

    script: Path
    must: tuple[dict[str, Any], ...]
    may: frozenset[str]
    said: bool = True


@dataclass(frozen=True)
class Result:
    """What came of a case: findings, what is missing, what is too much."""

    case: Case
    found: tuple[Finding, ...]
    missing: tuple[dict[str, Any], ...]
    wrong: tuple[Finding, ...]
    trouble: str = ""

    @property
    def right(self) -> bool:
        return not (self.missing or self.wrong or self.trouble)


def cases(folder: Path, expectations: Path | None = None, everything: bool = False) -> Iterator[Case]:
    """The cases below `folder`, in order of their paths."""
    shared = {} if expectations is None else json.loads(expectations.read_text(encoding="utf-8"))
    for script in sorted(folder.rglob("*.py")):
        own = script.parent / "expect.json"
        table = json.loads(own.read_text(encoding="utf-8")) if own.exists() else shared
        key = script.name if own.exists() else script.relative_to(folder).as_posix()
        if key in table:
            yield _case(script, table[key])
        elif everything and script.name != "__init__.py":
            yield Case(script, (), frozenset(), said=False)


def _case(script: Path, wanted: Any) -> Case:
    if isinstance(wanted, dict):
        return Case(script, tuple(wanted.get("must", ())), frozenset(wanted.get("may", ())))
    return Case(script, tuple(wanted), frozenset())


def record(script: Path, folder: Path) -> Path:
    """Record a script in its own folder and return the recording."""
    path = folder / f"{script.parent.name}-{script.stem}.gradviz"
    path.unlink(missing_ok=True)
    Run(Target(script.name, cwd=str(script.parent)), str(path)).run()
    return path


def examine(case: Case, path: Path) -> Result:
    """Compare the findings of a recording with what the case asks for."""
    recording = open_recording(str(path))
    try:
        found = findings(recording)
        missing = tuple(w for w in case.must if not any(fits(w, finding, recording) for finding in found))
        asked = {entry["code"] for entry in case.must} | case.may
        wrong = tuple(f for f in found if case.said and f.code not in asked)
        strays = tuple(f for f in found if f.code in asked - case.may and not _wanted(case, f, recording))
        return Result(case, found, missing, wrong + strays)
    finally:
        close_recording(recording)


def _wanted(case: Case, finding: Finding, recording: Recording) -> bool:
    """Tell whether a finding of an expected code is one of those expected, not the same code elsewhere."""
    return any(fits(wanted, finding, recording) for wanted in case.must)


def fits(wanted: dict[str, Any], finding: Finding, recording: Recording) -> bool:
    """Tell whether a finding is the wanted one in all that is said of it."""
    place = finding.place
    node = _node(finding, recording)
    text = f"{finding.message} {finding.advice}"
    have = {
        "code": finding.code,
        "level": finding.level,
        "call": finding.call,
        "line": None if place is None else place.line,
        "node": _names(finding, node, recording),
        "op": None if node is None else node.op,
    }
    return all(_equal(key, value, have, text) for key, value in wanted.items())


def _equal(key: str, value: Any, have: dict[str, Any], text: str) -> bool:
    if key == "says":
        return all(word in text for word in value)
    return value in have["node"] if key == "node" else have.get(key) == value


def _names(finding: Finding, node: Any, recording: Recording) -> set[str | None]:
    """All names that the script has for the finding's node: its own, as a root, as a variable."""
    if node is None:
        return {None}
    roots = {root.name for call in recording.calls for root in call.roots if root.node == node.id}
    bound = {b.name for b in recording.source.bindings() if b.node == node.id}
    return {node.name} | roots | bound


def _node(finding: Finding, recording: Recording) -> Any:
    if finding.node is None:
        return None
    numbers = [finding.call] if finding.call is not None else [call.number for call in recording.calls]
    for number in numbers:
        node = recording.graph(number).by_id.get(finding.node)
        if node is not None:
            return node
    return None


def table(results: Sequence[Result], folder: Path, loud: bool) -> str:
    """The table as text: one row for each script."""
    rows = []
    for result in results:
        name = result.case.script.relative_to(folder).as_posix()
        mark = "ok   " if result.right and result.case.said else ("     " if not result.case.said else "WRONG")
        wanted = ", ".join(_short(entry) for entry in result.case.must) or "-"
        found = ", ".join(_brief(finding) for finding in result.found) or "-"
        rows.append(f"{mark} {name:<52} {wanted:<46} {found}")
        if result.trouble:
            rows.append(f"        {result.trouble}")
        for finding in result.found if loud or not result.right else ():
            rows.append(f"        {finding.level} {_brief(finding)}: {finding.message}")
            rows.append(f"            > {finding.advice}")
    said = [result for result in results if result.case.said]
    rows.append(f"{sum(result.right for result in said)} of {len(said)} right")
    return "\n".join(rows) + "\n"


def _short(entry: dict[str, Any]) -> str:
    return entry["code"] + (f"@{entry['line']}" if "line" in entry else "")


def _brief(finding: Finding) -> str:
    return finding.code + ("" if finding.place is None else f"@{finding.place.line}")


def run(folder: Path, expectations: Path | None, keep: Path, everything: bool) -> Iterator[Result]:
    """Record and examine each case; a recording that is there already (newer than its script) is used again."""
    for case in cases(folder, expectations, everything):
        path = keep / f"{case.script.parent.name}-{case.script.stem}.gradviz"
        try:
            if not path.exists() or path.stat().st_mtime < case.script.stat().st_mtime:
                record(case.script, keep)
            yield examine(case, path)
        except GradvizError as error:
            yield Result(case, (), case.must, (), f"{type(error).__name__}: {error}")


def main(words: Sequence[str] | None = None) -> int:
    """Print the table; exit status 1 when something is not as expected."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=CASES)
    parser.add_argument("--expect", type=Path)
    parser.add_argument("--keep", type=Path, help="keep the recordings here and use them again")
    parser.add_argument("--all", action="store_true", help="run scripts of which nothing is said, too")
    parser.add_argument("-v", action="store_true", help="print the texts of all findings")
    arguments = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="gradviz-") as temporary:
        keep = arguments.keep or Path(temporary)
        keep.mkdir(parents=True, exist_ok=True)
        results = list(run(arguments.folder, arguments.expect, keep, arguments.all))
    sys.stdout.write(table(results, arguments.folder, arguments.v))
    return 0 if all(result.right for result in results if result.case.said) else 1


if __name__ == "__main__":
    raise SystemExit(main())
