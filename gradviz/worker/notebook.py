"""Runs the code cells of a notebook in order, as `__main__`; what only Jupyter understands is skipped with a note.

Standard library only, and loaded without the rest of gradviz: it runs before the script has imported torch.
"""

from __future__ import annotations

import ast
import json
import linecache
import os
import re
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any, NamedTuple

# Cell magics whose body is Python all the same.
_TRANSPARENT = ("%%time", "%%timeit", "%%capture", "%%prun")
_MAGIC = re.compile(r"^(\s*)(?:([\w.,\s]+=)\s*)?([%!?].*|[\w.]+\?{1,2})\s*$")
_TIMED = re.compile(r"^(\s*)%(?:time|prun)\s+(.+)$")


class Cell(NamedTuple):
    """A code cell: its file name in tracebacks and recordings, its text, what of it was skipped."""

    name: str
    text: str
    skipped: tuple[str, ...] = ()


class Notebook(NamedTuple):
    """The code cells of a notebook."""

    cells: list[Cell]


def read_notebook(path: str) -> Notebook:
    """Read the code cells of a notebook file (nbformat 3 and 4).

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no notebook.
    """
    with open(path, encoding="utf-8") as file:
        raw = json.load(file)
    sheets = [raw, *raw.get("worksheets", ())] if isinstance(raw, dict) else []
    found = [cell for sheet in sheets for cell in sheet.get("cells", ()) if cell.get("cell_type") == "code"]
    if not sheets or not ("cells" in raw or "worksheets" in raw):
        raise ValueError("no cells")
    name = os.path.basename(path)
    texts = ["".join(cell.get("source", cell.get("input", ""))) for cell in found]
    return Notebook([_cell(f"<{name}, cell {number}>", text) for number, text in enumerate(texts, 1)])


def _cell(name: str, text: str) -> Cell:
    """A cell without its magics. Each line stays where it is; only lines at which Python gives up are touched."""
    lines = text.split("\n")
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("%%") and not first.startswith(_TRANSPARENT):
        return Cell(name, "", (first,))
    skipped: list[str] = []
    while (at := _first_fault("\n".join(lines))) is not None and at < len(lines):
        plain = _without_magic(lines[at])
        if plain is None:  # a real mistake: it is reported when the cell runs
            break
        skipped.append(lines[at].strip())
        lines[at] = plain
    return Cell(name, "\n".join(lines), tuple(skipped))


def _without_magic(line: str) -> str | None:
    """What Python can do instead of a line that only Jupyter understands; None when it is no such line."""
    timed, magic = _TIMED.match(line), _MAGIC.match(line)
    if timed is not None:
        return timed[1] + timed[2]
    if magic is None:
        return None
    return f"{magic[1]}{magic[2]} None" if magic[2] else f"{magic[1]}pass"


def _first_fault(text: str) -> int | None:
    """The line (from 0) at which the text stops being Python, None when all of it is."""
    try:
        ast.parse(text)
    except SyntaxError as error:
        return (error.lineno or 1) - 1
    except ValueError:  # a null byte
        return None
    return None


def run(space: dict[str, Any]) -> None:
    """Be the notebook whose path is `sys.argv[1]`. `space` is the dict of `__main__`, ours until now."""
    path = sys.argv.pop(1)
    sys.argv[0] = path
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    cells = read_notebook(path).cells
    space.clear()
    space.update(__name__="__main__", __builtins__=__builtins__, __doc__=None, display=display)
    execute = _executor(cells)
    for cell in cells:
        lines = [line + "\n" for line in cell.text.split("\n")]
        linecache.cache[cell.name] = (len(cell.text), None, lines, cell.name)
        try:
            for code in _compiled(cell):
                execute(code, space)
        except SystemExit:
            raise
        except BaseException as error:
            _report(error)


def _executor(cells: list[Cell]) -> Callable[[CodeType, dict[str, Any]], None]:
    """What runs a part of a cell: where one of them awaits, in an event loop that goes on, as in a notebook."""
    if not any(map(_awaits, cells)):
        return exec
    import asyncio

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)

    async def execute(code: CodeType, space: dict[str, Any]) -> None:
        waiting = eval(code, space)
        if code.co_flags & _COROUTINE:
            await waiting

    return lambda code, space: loop.run_until_complete(execute(code, space))


_COROUTINE = 0x80  # CO_COROUTINE


def _awaits(cell: Cell) -> bool:
    try:
        return any(code.co_flags & _COROUTINE for code in _compiled(cell))
    except (SyntaxError, ValueError):  # reported when the cell runs
        return False


def display(*values: Any) -> None:
    """What `display` of a notebook shows, as text."""
    for value in values:
        print(repr(value))


def _compiled(cell: Cell) -> list[CodeType]:
    """The cell's code; the value of a last expression is shown, as a notebook does, unless `;` ends it."""
    tree = ast.parse(cell.text, cell.name)
    shown: list[Any] = []
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not cell.text.rstrip().endswith(";"):
        shown = [ast.Interactive([tree.body.pop()])]
    parts = [(tree, "exec"), *((part, "single") for part in shown)]
    return [compile(part, cell.name, mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True) for part, mode in parts]


def _is_between(file: str) -> bool:
    """Whether a frame stands between Python and a cell: ours, and the event loop's."""
    return file == __file__ or os.path.basename(os.path.dirname(file)) == "asyncio"


def _report(error: BaseException) -> None:
    """Show an uncaught exception as Python does, without our own frame, and end with its exit status."""
    trace = error.__traceback__
    while trace is not None and _is_between(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    error.__traceback__ = trace
    if isinstance(error, KeyboardInterrupt):
        raise error
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace
    sys.excepthook(type(error), error, trace)
    sys.exit(1)
