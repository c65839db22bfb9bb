"""The page of a code keeps its word: its example leads to the finding, the script put right does not."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from gradviz.explain import findings, page
from gradviz.explain.pages import PICTURES, error_table, page_text
from gradviz.explain.table import ROWS, Row
from gradviz.model import Code
from gradviz.resources import resource
from gradviz.store.reader import close_recording, open_recording
from gradviz.texts import ENGLISH, use_language
from tests.explain.forked import record_all

DOCS = Path(__file__).resolve().parent.parent.parent / "resources" / "docs" / "findings"
README = DOCS.parents[2] / "README.md"


def test_one_row_for_each_code() -> None:
    assert sorted(row.code for row in ROWS) == sorted(get_args(Code))
    assert page("second-time").code == "second-time"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Script name -> the codes that are found in it."""
    folder = tmp_path_factory.mktemp("pages")
    scripts = []
    for row in ROWS:
        for kind, text in (("example", row.page.example), ("fixed", row.page.fixed)):
            scripts.append(folder / f"{row.code}_{kind}.py")
            scripts[-1].write_text(text, encoding="utf-8")
    codes = {}
    for script, path in zip(scripts, record_all(scripts, folder), strict=True):
        recording = open_recording(str(path))
        codes[script.stem] = {finding.code for finding in findings(recording)}
        close_recording(recording)
    return codes


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.code)
def test_the_example_leads_to_the_finding_and_the_remedy_ends_it(row: Row, found: dict[str, set[str]]) -> None:
    assert row.code in found[f"{row.code}_example"]
    assert row.code not in found[f"{row.code}_fixed"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.code)
def test_the_docs_are_what_the_product_says(row: Row) -> None:
    picture = f"{PICTURES}/{row.code}.png"
    shown = picture if (DOCS / picture).exists() else None
    assert (DOCS / f"{row.code}.md").read_text(encoding="utf-8") == page_text(row.page, shown)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.code)
def test_the_docs_are_there_in_chinese_too(row: Row) -> None:
    picture = f"../{PICTURES}/{row.code}.png"
    shown = picture if (DOCS / "zh_CN" / picture).exists() else None
    use_language("zh_CN", resource("translations"))
    try:
        text = page_text(row.page, shown)
    finally:
        use_language(ENGLISH, resource("translations"))
    assert "## 怎么办" in text
    assert (DOCS / "zh_CN" / f"{row.code}.md").read_text(encoding="utf-8") == text


def test_the_readme_has_the_table_of_messages() -> None:
    assert error_table() in README.read_text(encoding="utf-8")
