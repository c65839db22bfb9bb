"""Other kinds of scripts: notebooks, folders, jobs of several ranks, deep graphs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from gradviz.worker.notebook import read_notebook
from tests.worker.running import FAITHFUL, HOSTILE, environment, info_of, recorded, run_both

CELLS = [
    "%matplotlib inline\n!pip install something\nimport torch",
    "x = torch.ones(2, requires_grad=True)\n\ndef triple(t):\n    return t * 3\n\ny = triple(x)",
    "%%bash\nrm -rf /nowhere",
    "%%time\ny.sum().backward()\nx.grad",
    'text = """\n%not a magic\n!nor this\n"""\nfiles = !ls\nif True:\n    %timeit y\nprint(text.count("%"), files)',
    "import inspect, pickle, sys\nclass Point: pass\nprint(inspect.getsource(triple), sys.argv[1:], __name__)\n"
    "pickle.loads(pickle.dumps(Point()));",
    "triple(1)\nraise ValueError('in the last cell')",
    "print('never')",
]


def notebook(path: Path, cells: list[str]) -> Path:
    code = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell.splitlines(True)} for cell in cells]
    words = {"cell_type": "markdown", "metadata": {}, "source": ["# A title"]}
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [words, *code]}))
    return path


def test_a_notebook_runs_cell_by_cell(tmp_path: Path) -> None:
    notebook(tmp_path / "lesson.ipynb", CELLS)
    code, out, error = recorded(["record", "lesson.ipynb", "--", "one"], tmp_path)
    assert code == 1
    assert out.decode() == ("tensor([3., 3.])\n1 None\ndef triple(t):\n    return t * 3\n ['one'] __main__\n")
    shown = error.decode().split("gradviz: ")[0]
    assert shown == (
        'Traceback (most recent call last):\n  File "<lesson.ipynb, cell 7>", line 2, in <module>\n'
        "ValueError: in the last cell\n"
    )
    info = info_of(tmp_path / "lesson.gradviz")
    assert (info["outcome"]["file"], info["outcome"]["line"]) == ("<lesson.ipynb, cell 7>", 2)
    (call,) = info["calls"]
    assert (call["file"], call["line"]) == ("<lesson.ipynb, cell 4>", 2)
    triple = next(node for node in info["nodes"] if node["op"] == "MulBackward0")
    assert (triple["file"], triple["line"], triple["name"]) == ("<lesson.ipynb, cell 2>", 4, "y")
    skipped = [note for note in info["notes"] if note.startswith("Skipped in lesson.ipynb")]
    assert [note.split(": ", 1) for note in skipped] == [
        ["Skipped in lesson.ipynb, cell 1", "%matplotlib inline"],
        ["Skipped in lesson.ipynb, cell 1", "!pip install something"],
        ["Skipped in lesson.ipynb, cell 3", "%%bash"],
        ["Skipped in lesson.ipynb, cell 4", "%%time"],
        ["Skipped in lesson.ipynb, cell 5", "files = !ls"],
        ["Skipped in lesson.ipynb, cell 5", "%timeit y"],
    ]


AWAITING = [
    "import asyncio, torch\nasync def later(t):\n    await asyncio.sleep(0)\n    return t * 2",
    "w = torch.ones(2, requires_grad=True)\ntask = asyncio.ensure_future(later(w))",
    "y = await task\n(await later(y)).sum().backward()\nawait later(w.grad)",
    "await later(None)",
]


def test_a_notebook_may_await_outside_of_functions(tmp_path: Path) -> None:
    notebook(tmp_path / "wait.ipynb", AWAITING)
    code, out, error = recorded(["record", "wait.ipynb"], tmp_path)
    assert (code, out.decode()) == (1, "tensor([8., 8.])\n")
    assert error.decode().split("gradviz: ")[0] == (
        'Traceback (most recent call last):\n  File "<wait.ipynb, cell 4>", line 1, in <module>\n'
        '  File "<wait.ipynb, cell 1>", line 4, in later\n'
        "TypeError: unsupported operand type(s) for *: 'NoneType' and 'int'\n"
    )
    info = info_of(tmp_path / "wait.gradviz")
    (call,) = info["calls"]
    assert (call["file"], call["line"]) == ("<wait.ipynb, cell 3>", 2)
    lines = {(node["file"], node["line"]) for node in info["nodes"] if node["op"] == "MulBackward0"}
    assert lines == {("<wait.ipynb, cell 1>", 4)}


def test_an_older_notebook_and_what_is_none(tmp_path: Path) -> None:
    old = {"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": ["a = 1\n", "b = 2"]}]}]}
    (tmp_path / "old.ipynb").write_text(json.dumps(old))
    (cell,) = read_notebook(str(tmp_path / "old.ipynb")).cells
    assert (cell.name, cell.text) == ("<old.ipynb, cell 1>", "a = 1\nb = 2")
    (tmp_path / "r.ipynb").write_text(json.dumps({"cells": [], "metadata": {"kernelspec": {"language": "R"}}}))
    code, _, error = recorded(["record", "r.ipynb"], tmp_path)
    assert (code, b"notebook in r" in error) == (2, True)


def test_a_folder_with_a_main(tmp_path: Path) -> None:
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "part.py").write_text("import torch\ndef loss(x): return (x * x).sum()\n")
    (folder / "__main__.py").write_text(
        "import sys, torch\nfrom part import loss\nprint(sys.argv, sys.path[0], __name__, __spec__.origin)\n"
        "loss(torch.ones(2, requires_grad=True)).backward()\n"
    )
    both = run_both(folder, tmp_path)
    assert both.recorded == both.plain
    assert [call["line"] for call in both.info()["calls"]] == [4]


def run_job(words: list[str], folder: Path) -> str:
    """The output of a torchrun job. A rank of gloo aborts now and then while it ends, under plain python too."""
    for _ in range(3):
        done = subprocess.run(words, cwd=folder, env=environment(), capture_output=True, text=True, timeout=100)
        if done.returncode == 0:
            return done.stdout
        for path in folder.glob("ranks.rank*.gradviz"):
            path.unlink()
    raise AssertionError(done.stderr)


def test_each_rank_of_a_job_has_its_recording(tmp_path: Path) -> None:
    (tmp_path / "ranks.py").write_text((FAITHFUL / "ranks.py").read_text())
    job = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone"]
    outputs = []
    for words in ([*job, "ranks.py"], [*job, "-m", "gradviz", "record", "ranks.py"]):
        outputs.append(sorted(run_job(words, tmp_path).splitlines()))
    assert outputs[0] == outputs[1] == ["rank 0 [[1.5, 1.5]]", "rank 1 [[1.5, 1.5]]"]
    for rank in (0, 1):
        info = info_of(tmp_path / f"ranks.rank{rank}.gradviz")
        (call,) = info["calls"]
        (entry,) = call["accumulations"]
        assert entry["incoming"]["values"] == [[rank + 1.0, rank + 1.0]]
        assert any("before the all-reduce" in note for note in info["notes"])


def test_deep_graphs_are_let_go(tmp_path: Path) -> None:
    both = run_both(HOSTILE / "deep_graphs.py", tmp_path)
    assert both.recorded == both.plain
    assert both.plain[0] == 0
    assert b"same limit for children True 0\n" in both.plain[1]
    calls: list[dict[str, Any]] = both.info()["calls"]
    assert [len(call["nodes"]) for call in calls] == [60_001, 60_001]
