"""Three scripts and more of each kind, and one that looks alike but is fine: the right findings and no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gradviz.explain import findings
from gradviz.explain.table import ROWS
from gradviz.model import Code
from gradviz.store.reader import close_recording, open_recording
from tests.explain.forked import record_all
from tests.explain_table import CASES, Case, cases, examine, table

SCRIPTS = tuple(cases(CASES / "explain"))


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Path]:
    """All scripts, recorded once."""
    scripts = [case.script for case in SCRIPTS]
    return dict(zip(scripts, record_all(scripts, tmp_path_factory.mktemp("explain")), strict=True))


@pytest.mark.parametrize("case", SCRIPTS, ids=lambda case: f"{case.script.parent.name}/{case.script.stem}")
def test_findings(case: Case, recordings: dict[Path, Path]) -> None:
    result = examine(case, recordings[case.script])
    assert result.right, table([result], CASES / "explain", loud=True)


def test_each_code_has_three_scripts_and_a_fine_one() -> None:
    folders: dict[str, list[Case]] = {}
    for case in SCRIPTS:
        folders.setdefault(case.script.parent.name, []).append(case)
    for code, of_code in folders.items():
        telling = [case for case in of_code if any(wanted["code"] == code for wanted in case.must)]
        fine = [case for case in of_code if not case.must]
        assert len(telling) >= 3 and fine, code


def test_each_message_that_the_pages_name_is_met_and_explained(recordings: dict[Path, Path]) -> None:
    """What PyTorch really says in a case: the table of messages in the README names no message that does not exist."""
    said: dict[Code, str] = {}
    for path in recordings.values():
        recording = open_recording(str(path))
        texts = [call.error.message for call in recording.calls if call.error is not None]
        texts += [recording.outcome.message or "", *(warning.message for warning in recording.warnings)]
        for code in {finding.code for finding in findings(recording)}:
            said[code] = "\n".join([said.get(code, ""), *texts])
        close_recording(recording)
    missing = [
        (row.code, message)
        for row in ROWS
        for message, _ in row.page.errors
        if not _pattern(message).search(said.get(row.code, ""))
    ]
    assert missing == []


def _pattern(message: str) -> re.Pattern[str]:
    """A message with any number for its numbers and any function for its `Square`."""
    return re.compile(re.sub(r"\\?\d+", r"\\d+", re.escape(message)).replace("Square", r"\w+"))
