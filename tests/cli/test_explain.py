"""`gradviz explain` as a user types it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.recorded import CASES, gradviz, record

VECTOR = CASES / "explain" / "scalar-only" / "grad_of_vector.py"
FINE = CASES / "explain" / "scalar-only" / "fine.py"


def test_a_script_is_run_and_explained() -> None:
    done = gradviz("explain", str(VECTOR))
    assert done.returncode == 0
    assert "scalar-only  (line 5, call 1)" in done.stdout and "`height` has shape (4,)" in done.stdout
    assert "1 error, 0 warnings, 0 notes" in done.stdout


def test_strict_is_for_ci(tmp_path: Path) -> None:
    recorded = record(VECTOR, tmp_path)
    assert gradviz("explain", str(recorded.path)).returncode == 0
    assert gradviz("explain", str(recorded.path), "--strict").returncode == 1
    fine = gradviz("explain", str(record(FINE, tmp_path).path), "--strict")
    assert (fine.returncode, fine.stdout.strip().splitlines()[-1]) == (0, "Nothing to say: no finding.")


def test_json_is_alone_on_stdout() -> None:
    done = gradviz("explain", str(FINE), "--json")
    assert json.loads(done.stdout)["findings"] == []
    assert "tensor(" in done.stderr  # what the script printed
    (finding,) = json.loads(gradviz("explain", str(VECTOR), "--json").stdout)["findings"]
    assert (finding["code"], finding["level"], finding["call"], finding["line"]) == ("scalar-only", "error", 1, 5)
    assert finding["file"] == str(VECTOR)


def test_a_script_that_does_not_parse(tmp_path: Path) -> None:
    """Python's own words and the line; not of a SyntaxError that the script raises, nor of code that it compiles."""
    for name, text in (
        ("bad.py", "import torch\nx = torch.ones(2, requires_grad=True\nx.sum().backward()\n"),
        ("mine.py", "import torch\nraise SyntaxError('of mine')\n"),
        ("old.py", "import torch\nprint torch.ones(2)\n"),
    ):
        (tmp_path / name).write_text(text)
    bad, mine, old = (gradviz("explain", str(tmp_path / name)).stdout for name in ("bad.py", "mine.py", "old.py"))
    what = "SyntaxError: '(' was never closed (bad.py, line 2)"
    with pytest.raises(SyntaxError) as oracle:
        compile((tmp_path / "bad.py").read_text(), "bad.py", "exec")
    assert f"SyntaxError: {oracle.value}" == what
    assert bad.startswith(f"bad.py raised {what}\n")
    assert f"No finding: the script does not parse: {what[13:]}, at `x = torch.ones(2, requires_grad=True`" in " ".join(
        bad.split()
    )
    assert mine.endswith("Nothing to say: no finding.\n")
    assert "legacy-api  (line 2)" in old and "Write `print(torch.ones(2))`" in old


def test_words_after_the_dashes_are_the_scripts(tmp_path: Path) -> None:
    script = tmp_path / "args.py"
    script.write_text("import sys, torch\nprint(sys.argv[1:])\ntorch.ones(1, requires_grad=True).backward()\n")
    assert "['--epochs', '3']" in gradviz("explain", str(script), "--", "--epochs", "3").stdout


def test_the_page_of_a_code() -> None:
    done = gradviz("explain", "--page", "second-time")
    assert done.stdout.startswith("# second-time: ") and "## Example" in done.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("explain",), "Name a recording or a script"),
        (("explain", "--page", "nonsense"), "There is no code 'nonsense'"),
        (("explain", "missing.py"), "missing.py"),
        (("explain", "missing.gradviz"), "missing.gradviz"),
    ],
)
def test_what_cannot_be_explained(words: tuple[str, ...], says: str) -> None:
    done = gradviz(*words)
    assert done.returncode == 2 and says in done.stderr and "Traceback" not in done.stderr


def test_explaining_imports_no_torch(tmp_path: Path) -> None:
    recorded = record(VECTOR, tmp_path)
    code = (
        "import sys\nfrom gradviz.explain import findings\nfrom gradviz.store.reader import open_recording\n"
        f"assert findings(open_recording({str(recorded.path)!r}))\n"
        "assert not {'torch', 'numpy', 'networkx', 'PySide6'} & set(sys.modules)\n"
    )
    import subprocess

    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
