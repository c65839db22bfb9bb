"""The pages of the codes as Markdown, for the command, the window and the docs: `python -m gradviz.explain.pages DIR`.

Page and finding come from the same `PAGE`, so they cannot drift apart.
"""

from __future__ import annotations

import sys
from pathlib import Path

from gradviz.explain.page import Page
from gradviz.explain.table import ROWS
from gradviz.texts import tr

PICTURES = "pictures"


def page_text(page: Page, picture: str | None = None) -> str:
    """One page. `picture` is the path of a picture of the example, relative to the page."""
    lines = [f"# {page.code}: {tr(page.title)}", "", tr(page.cause), ""]
    if page.errors:
        lines += [tr("PyTorch says:"), "", *(f"- {_code(message)}" for message, _ in page.errors), ""]
    lines += [f"## {tr('Example')}", "", "```python", page.example.rstrip("\n"), "```", ""]
    if picture is not None:
        lines += [f"![{page.code}]({picture})", ""]
    lines += [f"## {tr('What to do')}", "", tr(page.remedy), "", "```python", page.fixed.rstrip("\n"), "```", ""]
    return "\n".join(lines)


def index_text() -> str:
    """The list of all pages."""
    lines = [f"# {tr('Findings')}", "", tr("What `gradviz explain` can say, with the reason and the remedy."), ""]
    lines += [f"- [{row.code}]({row.code}.md): {tr(row.page.title)}" for row in ROWS]
    return "\n".join([*lines, ""])


def error_table() -> str:
    """PyTorch's messages and the code that explains each, as a Markdown table."""
    lines = [f"| {tr('PyTorch says')} | {tr('gradviz says')} | {tr('page')} |", "|---|---|---|"]
    for row in ROWS:
        link = f"[{row.code}](resources/docs/findings/{row.code}.md)"
        lines += [f"| {_code(message)} | {tr(says)} | {link} |" for message, says in row.page.errors]
    return "\n".join([*lines, ""])


def _code(message: str) -> str:
    """A message as code; with backticks of its own it needs two around it."""
    return f"`` {message} ``" if "`" in message else f"`{message}`"


def write_pages(folder: Path, pictures: str = PICTURES) -> list[Path]:
    """Write all pages and the index into `folder`, in the language of messages.

    A page shows `CODE.png` of the folder `pictures`, relative to `folder`, where that is there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / "README.md"]
    written[0].write_text(index_text(), encoding="utf-8")
    for row in ROWS:
        picture = f"{pictures}/{row.code}.png"
        path = folder / f"{row.code}.md"
        path.write_text(page_text(row.page, picture if (folder / picture).exists() else None), encoding="utf-8")
        written.append(path)
    return written


if __name__ == "__main__":
    for target in write_pages(Path(sys.argv[1] if len(sys.argv) > 1 else "resources/docs/findings")):
        sys.stdout.write(f"{target}\n")
