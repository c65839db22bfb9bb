"""Makes the recordings and pictures that the project shows of itself: `python -m tests.gallery [NAME ...]`.

Each script of `resources/examples` has a story beside it. It gets a portable recording there, and in `resources/docs`
the story as an animation and as a picture, and all are shown on a page, `gallery.md`. `--pictures` keeps the recordings
as they are. Without names the window and the pictures of the findings are made as well: all that README and docs show.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
from pathlib import Path

from tests import findings_pages

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "resources" / "examples"
PICTURES = ROOT / "resources" / "docs"
FAILING = {"no_seed", "in_place", "second_time"}  # they show errors
WIDTH = 800


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--pictures", action="store_true", help="make the pictures only")
    parser.add_argument("--output", type=Path, default=PICTURES, help="the folder of the pictures")
    arguments = parser.parse_args()
    for name in arguments.names or sorted(path.stem for path in EXAMPLES.glob("*.py")):
        if not arguments.pictures:
            record(name)
        draw(name, arguments.output)
    (arguments.output / "gallery.md").write_text(page(), encoding="utf-8")
    if not arguments.names:
        window(arguments.output)
        findings_pages.main([])
    return 0


def page() -> str:
    """The gallery as a page: what each example is about, by its own first line, and its story."""
    parts = ["# Gallery", "Made by `python -m tests.gallery` from the scripts and stories in `resources/examples`."]
    for script in sorted(EXAMPLES.glob("*.py")):
        about = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
        parts.append(f"## {script.stem.replace('_', ' ')}")
        parts.append(f"{about} [{script.name}](../examples/{script.name})")
        parts.append(f"![{about}]({script.stem}.gif)")
    return "\n\n".join(parts) + "\n"


def window(folder: Path) -> None:
    """The window with the first example, with another seed tried on one, and the Jacobian of a batch."""
    look, example = ("light", "en"), str(EXAMPLES / "accumulate.gradviz")
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    for words in (
        ("tests.app.shot", *look, str(folder / "window.png"), example),
        ("tests.app.shot_seed", *look, str(folder / "try_seed.png")),
        ("tests.app.shot_jacobian", *look, str(folder / "batch_jacobian.png")),
    ):
        subprocess.run([sys.executable, "-m", *words], cwd=ROOT, env=environment, check=True, capture_output=True)


def record(name: str) -> None:
    """Record one example, in its own folder and without a trace of this machine."""
    words = ("record", f"{name}.py", "-o", f"{name}.gradviz", "--force", "--portable")
    _run(*words, expected=1 if name in FAILING else 0)


def draw(name: str, folder: Path) -> None:
    """Tell the story of one example: as an animation, and its end as a picture."""
    told = ("export", f"{name}.gradviz", "--story", f"{name}.story.json", "--force")
    _run(*told, "-o", str(folder / f"{name}.gif"), "--width", str(WIDTH))
    _run(*told, "-o", str(folder / f"{name}.png"), "--width", str(2 * WIDTH))


def _run(*words: str, expected: int = 0) -> None:
    done = subprocess.run([sys.executable, "-m", "gradviz", *words], cwd=EXAMPLES, capture_output=True, text=True)
    if done.returncode != expected:
        raise SystemExit(f"gradviz {' '.join(words)} ended with {done.returncode}:\n{done.stderr}")


if __name__ == "__main__":
    sys.exit(main())
