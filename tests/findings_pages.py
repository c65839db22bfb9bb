"""Makes the pages of the findings with their pictures: `python -m tests.findings_pages [CODE ...]`.

The example of each page is recorded and exported by the product itself; text and picture land in
resources/docs/findings.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from gradviz.explain.pages import PICTURES, write_pages
from gradviz.explain.table import ROWS, Row
from gradviz.resources import resource
from gradviz.texts import ENGLISH, use_language

FOLDER = Path(__file__).resolve().parent.parent / "resources" / "docs" / "findings"
LONG = ("vanishing", "exploding")  # chains of many operations: at twice the size they are wider than any screen


def main(codes: Sequence[str]) -> int:
    wanted = codes or [row.code for row in ROWS]
    (FOLDER / PICTURES).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="gradviz-") as folder:
        for row in ROWS:
            if row.code in wanted:
                picture(row, Path(folder))
    write_all()
    return 0


def write_all() -> None:
    """Write the pages in every language; they share the pictures, whose few words are English."""
    write_pages(FOLDER)
    use_language("zh_CN", resource("translations"))
    write_pages(FOLDER / "zh_CN", f"../{PICTURES}")
    use_language(ENGLISH, resource("translations"))


def picture(row: Row, folder: Path) -> None:
    """Record the example (which may fail: that is its point) and export the picture; none where there is no call."""
    script = folder / f"{row.code}.py"
    script.write_text(row.page.example, encoding="utf-8")
    target = FOLDER / PICTURES / f"{row.code}.png"
    recording = script.with_suffix(".gradviz")
    _run("record", script.name, "-o", recording.name, "--force", cwd=folder)
    words = ("export", recording.name, "-o", str(target), "--force")
    done = _run(*words, *(("--scale", "1") if row.code in LONG else ()), cwd=folder)
    if done.returncode:
        target.unlink(missing_ok=True)
        sys.stderr.write(f"{row.code}: no picture: {done.stderr.strip()}\n")


def _run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "gradviz", *words], cwd=cwd, capture_output=True, text=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
